// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Panels -> a script for gnuplot: the block of text, the terminal, title, panels in a grid, key and
 * notes. In text one panel comes after the other, and title, key and notes are ours.
 */
#include "reports/plot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/panel.h"

/* Pixels. Letters of the fonts below take about so many. */
enum {
	TITLE = 17,
	LINE = 18,
	LETTER = 7,
	MARGIN = 14,
	PANEL = 300,
	PANEL_LIST = 90, /* of a list of rows, without them */
	LIST_ROW = 11,
};
enum { KEY_LIMIT = 60 }; /* letters of a name */

void plot_result_release(struct plot_result *r)
{
	strbuf_release(&r->script);
	strbuf_release(&r->head);
	strbuf_release(&r->tail);
}

const struct plot_kind *plot_kind_find(const char *name)
{
	const struct plot_kind *const *k;

	registry_for_each (plot_kind, k)
		if (!strcmp((*k)->name, name))
			return *k;
	return NULL;
}

const struct plot_kind *plot_kind_choose(const struct comparison *c)
{
	const struct plot_kind *const *k, *best = NULL;

	registry_for_each (plot_kind, k)
		if ((*k)->rank && (!best || (*k)->rank > best->rank) && (*k)->fits(c))
			best = *k;
	return best ? best : plot_kind_find("strip");
}

/* ---- what stands above and below ---- */

static const char *title_of(struct plot *p)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct comparison *c = p->c;
	size_t i;

	for (i = 0; i < p->view.n; i++) {
		const char *name = p->view.tables[i].benchmark;

		if (!plot_wants_table(p, &p->view.tables[i]) || strstr(strbuf_str(&sb), name))
			continue;
		strbuf_addf(&sb, "%s%s", sb.len ? ", " : "", name);
	}
	if (c->n_variants == 1)
		strbuf_addf(&sb, ": %s", text_ascii(p->a, c->variants[0].name));
	else if (c->n_variants == 2)
		strbuf_addf(&sb, ": %s against %s", text_ascii(p->a, c->variants[1].name),
			    text_ascii(p->a, c->variants[0].name));
	else
		strbuf_addf(&sb, ": %zu kernels, A is the baseline", c->n_variants);
	return arena_strdup(p->a, strbuf_str(&sb));
}

/* "5 boots each; guests of QEMU without KVM: compare ratios"; what every reader has to know. */
static void note_facts(struct plot *p)
{
	const struct comparison *c = p->c;
	const char *units = c->n_variants > 1 ? view_units_text(c, p->a) : "";

	if (comparison_limit(c))
		plot_note(p, "%c%s.", toupper(*comparison_limit(c)), comparison_limit(c) + 1);
	if (c->done < c->planned)
		plot_note(p, "UNFINISHED: %d of %d runs done.", c->done, c->planned);
	if (c->n_variants > 1)
		plot_note(p, "%s%s%s%s", *units ? units : "runs not stated",
			  *units ? view_a_side(c) : "", *c->machine ? "; " : "",
			  text_ascii(p->a, c->machine));
}

static const char *key_name(struct plot *p, size_t column)
{
	const struct comparison *c = p->c;
	const char *id = view_column_name(c, p->a, column);

	const char *name = column < c->n_variants ? text_ascii(p->a, c->variants[column].name)
						  : "the one against the other";

	return arena_printf(p->a, "%s  %.*s%s", id, KEY_LIMIT, name,
			    strlen(name) > KEY_LIMIT ? "..." : "");
}

/* ---- pictures ---- */

static void emit_texts(struct plot *p, struct strbuf *out)
{
	const char *end = "END_TEXT", **t;
	bool taken = true;

	/* a word that no line starts with */
	while (taken) {
		taken = false;
		array_for_each (t, &p->texts)
			taken |= str_starts(*t, end);
		if (taken)
			end = arena_printf(p->a, "%s_", end);
	}
	if (!p->texts.n)
		return;
	strbuf_addf(out, "$text << %s\n", end);
	array_for_each (t, &p->texts)
		strbuf_addf(out, "%s\n", *t);
	strbuf_addf(out, "%s\n", end);
}

/* width: characters of a title */
static void emit_words(struct plot *p, const struct panel *n, int width, struct strbuf *out)
{
	bool text = plot_is_text(p);

	if (n->title && *n->title)
		strbuf_addf(out, "set title %s%s\n", plot_text_within(p, n->title, width),
			    text ? "" : plot_font(p, 14, "#222222"));
	if (n->xlabel)
		strbuf_addf(out, "set xlabel %s\n", plot_text(p, n->xlabel));
	if (n->ylabel)
		strbuf_addf(out, "set ylabel %s\n", plot_text(p, n->ylabel));
}

static void emit_panel(struct plot *p, const struct panel *n, int width, struct strbuf *out)
{
	strbuf_addf(out, "\n%s", strbuf_str(&n->data));
	strbuf_adds(out, "reset\nset key off\nset tics nomirror\n");
	if (plot_is_text(p))
		strbuf_adds(out, "set bars 0\n");
	else
		strbuf_adds(out, "set border 3 lc rgb '#666666'\n"
				 "set tics out scale 0.5 textcolor rgb '#222222'\n"
				 "set grid xtics ytics lc rgb '#e4e4e4' lt 1 lw 0.6\n"
				 "set bars 0.4\nset pointintervalbox 0\n");
	emit_words(p, n, width, out);
	strbuf_adds(out, strbuf_str(&n->set));
}

static void emit_plot(const struct panel *n, struct strbuf *out)
{
	strbuf_addf(out, "plot %s\n", strbuf_str(&n->draw));
}

static size_t key_length(struct plot *p)
{
	size_t i, most = p->others ? strlen("other kernels") : 0;

	for (i = 0; i < view_columns(p->c); i++)
		if (p->keyed[i])
			most = MAX(most, strlen(key_name(p, i)));
	return most;
}

struct frame {
	int width, height, head, foot; /* pixels */
	int columns, rows, panel;
};

static void frame_label(struct plot *p, const struct frame *f, struct strbuf *out, const char *text,
			double x, double y, const char *rest)
{
	strbuf_addf(out, "set label %s at screen %.4f, screen %.4f %s\n",
		    plot_text_within(p, text, f->width / 5), x / f->width, 1 - y / f->height, rest);
}

/* Notes wrapped to the width of the picture, one line each. */
static void notes_wrap(struct plot *p, int columns, struct strbuf *out)
{
	struct text t = {p->a, out, columns, false};
	const char **note;

	array_for_each (note, &p->notes)
		text_wrap(&t, "", 0, *note);
}

static void frame_plan(struct plot *p, struct frame *f, const struct strbuf *notes)
{
	size_t n = p->panels.n, keys = (size_t)p->others, i, per_line;
	const char *s;
	int rows = 0;

	f->width = p->opt->width;
	f->columns = p->columns ? p->columns : n < 2 ? 1 : n < 5 ? 2 : 3;
	f->columns = MIN(f->columns, (int)n);
	f->rows = ((int)n + f->columns - 1) / f->columns;
	for (i = 0; i < n; i++)
		rows = MAX(rows, p->panels.items[i]->rows);
	for (i = 0; i < view_columns(p->c); i++)
		keys += p->keyed[i];
	per_line = MAX((size_t)1, (size_t)(f->width - 2 * MARGIN) / ((key_length(p) + 4) * LETTER));
	f->head = 2 * MARGIN + LINE / 2;
	f->foot = MARGIN + LINE / 2 + LINE * (int)((keys + per_line - 1) / per_line);
	for (s = strbuf_str(notes); *s; s++)
		f->foot += *s == '\n' ? LINE - 3 : 0;
	f->panel = rows ? PANEL_LIST + rows * LIST_ROW : PANEL;
	f->height = p->opt->height ? p->opt->height : f->head + f->foot + f->rows * f->panel;
	f->panel = MAX(1, (f->height - f->head - f->foot) / f->rows);
}

/* Title, key and notes are labels at places of the whole picture. */
static void emit_frame(struct plot *p, const struct frame *f, const struct strbuf *notes,
		       struct strbuf *out)
{
	size_t step = (key_length(p) + 4) * LETTER, i;
	double x = MARGIN, y = f->height - f->foot + LINE;
	struct span rest = {strbuf_str(notes), notes->len}, line;

	frame_label(p, f, out, p->title, f->width / 2.0, MARGIN + 4,
		    arena_printf(p->a, "center%s", plot_font(p, TITLE, "#111111")));
	for (i = 0; i < view_columns(p->c) + p->others; i++) {
		bool other = i == view_columns(p->c);

		if (!other && !p->keyed[i])
			continue;
		if (x > MARGIN && x + step > f->width) {
			x = MARGIN;
			y += LINE;
		}
		frame_label(p, f, out, other ? "other kernels" : key_name(p, i), x + 8, y,
			    arena_printf(p->a, "left offset 1,0 point %s",
					 other ? "pt 7 ps 0.6 lc rgb '#bbbbbb'"
					       : plot_style(p, i, true)));
		x += (double)step;
	}
	y += x > MARGIN ? LINE : 0;
	while (span_next_line(&rest, &line, NULL)) {
		frame_label(p, f, out, arena_strndup(p->a, line.s, line.len), MARGIN, y,
			    arena_printf(p->a, "left%s", plot_font(p, 11, "#555555")));
		y += LINE - 3;
	}
}

static void emit_picture(struct plot *p, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	struct frame f = {0};
	size_t i;

	notes_wrap(p, (p->opt->width - 2 * MARGIN) / 6, &notes);
	frame_plan(p, &f, &notes);
	strbuf_addf(out,
		    "set terminal %s size %d,%d noenhanced background rgb 'white' font '%s'%s\n",
		    p->opt->format == PLOT_PNG ? "pngcairo" : "svg", f.width, f.height,
		    p->opt->format == PLOT_PNG ? "sans,9" : "sans-serif,12",
		    p->opt->format == PLOT_PNG ? "" : " name 'kdelta'");
	strbuf_adds(out, "set multiplot\n");
	for (i = 0; i < p->panels.n; i++) {
		const struct panel *n = p->panels.items[i];
		double y = 1 - (double)(f.head + f.panel * ((int)i / f.columns + 1)) / f.height;

		emit_panel(p, n, f.width / f.columns / (LETTER + 2), out);
		strbuf_addf(out, "set size %.4f,%.4f\nset origin %.4f,%.4f\n", 1.0 / f.columns,
			    (double)f.panel / f.height, (double)((int)i % f.columns) / f.columns,
			    y);
		if (!i)
			emit_frame(p, &f, &notes, out);
		emit_plot(n, out);
	}
	strbuf_adds(out, "unset multiplot\n");
}

/* ---- text ---- */

static void text_tail(struct plot *p, struct strbuf *out)
{
	struct text t = {p->a, out, p->opt->width, false};
	size_t i;

	for (i = 0; i < view_columns(p->c); i++)
		if (p->keyed[i])
			text_wrap(&t, "", 3, text_ascii(p->a, key_name(p, i)));
	if (p->others)
		text_wrap(&t, "", 0, "o  other kernels");
	notes_wrap(p, p->opt->width, out);
}

static void emit_text(struct plot *p, struct plot_result *r)
{
	struct text head = {p->a, &r->head, p->opt->width, false};
	size_t i, lines = 0;
	const char *s;

	text_wrap(&head, "", 0, p->title);
	text_tail(p, &r->tail);
	for (s = strbuf_str(&r->tail); *s; s++)
		lines += *s == '\n';
	for (i = 0; i < p->panels.n; i++) {
		const struct panel *n = p->panels.items[i];
		int room = p->opt->height - (int)lines - 3;

		/* a list takes the lines it needs, a graph what the window has */
		room = n->rows ? n->rows + 5 : MAX(14, p->panels.n > 1 ? MIN(room, 22) : room);
		strbuf_addf(&r->script, "set terminal dumb %s noenhanced nofeed size %d,%d\n",
			    p->opt->color ? "ansi256" : "mono", p->opt->width, room);
		emit_panel(p, n, p->opt->width - 12, &r->script);
		emit_plot(n, &r->script);
	}
}

/* ---- the whole ---- */

int plot_render(const struct plot_kind *kind, const struct comparison *c, void *data,
		const struct plot_options *opt, struct plot_result *result, struct err *e)
{
	struct plot p = {.a = c->arena, .c = c, .opt = opt, .data = data};
	struct strbuf body = STRBUF_INIT;
	struct panel **n;

	view_init(&p.view, c, p.a, 0);
	p.keyed = arena_alloc_array(p.a, view_columns(c) + 1, sizeof(*p.keyed));
	kind->draw(&p);
	if (p.panels.n) {
		p.title = p.title ? p.title : title_of(&p);
		note_facts(&p);
		if (opt->format == PLOT_TEXT)
			emit_text(&p, result);
		else
			emit_picture(&p, &result->script);
		body = result->script;
		result->script = (struct strbuf)STRBUF_INIT;
		strbuf_adds(&result->script,
			    "# picture by kdelta: gnuplot -d THIS_FILE >PICTURE\n");
		emit_texts(&p, &result->script);
		strbuf_add(&result->script, body.buf, body.len);
		strbuf_release(&body);
	}
	result->panels = (int)p.panels.n;
	result->left_out = p.left_out;
	array_for_each (n, &p.panels)
		panel_free(*n);
	ARRAY_FREE(&p.panels);
	ARRAY_FREE(&p.texts);
	ARRAY_FREE(&p.notes);
	return result->panels ? 0 : err_add(e, -ENOENT, "nothing to draw: %s", kind->nothing);
}

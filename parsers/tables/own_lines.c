// SPDX-License-Identifier: GPL-2.0-or-later
/* Headers and rows of the tables of our own mails: words from the end of a line to its label. */
#include "parsers/tables/own.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/num.h"

bool own_split(struct span line, struct own_words *out)
{
	struct span word;

	out->n = 0;
	while (span_next_word(&line, &word)) {
		if (out->n == OWN_MAX_WORDS)
			return false;
		out->w[out->n++] = word;
	}
	return out->n > 0;
}

char *own_words_join(struct arena *a, const struct own_words *w, size_t from, size_t to)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (; from < to; from++) {
		if (sb.len)
			strbuf_addc(&sb, ' ');
		strbuf_add(&sb, w->w[from].s, w->w[from].len);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/* ---- cells ---- */

static bool is_mark(char c)
{
	return c && strchr("*!sc=?.", c);
}

void own_set_value(struct own_report *rp, struct table_cell *c, struct span s, int line)
{
	double v;

	if (!num_parse(s, &v))
		return;
	c->has_value = true;
	c->value = v;
	c->value_text = arena_strndup(rp->a, s.s, s.len);
	c->line = line;
}

void own_set_change(struct table_cell *c, double percent, int line)
{
	c->has_change = true;
	c->change = fabs(percent) < 1e-12 ? 0 : percent;
	c->line = line;
}

/* "0.4%": a spread; a change has a sign */
static bool is_spread(struct span s, double *v)
{
	return s.len > 1 && isdigit((unsigned char)s.s[0]) && s.s[s.len - 1] == '%' &&
	       num_parse((struct span){s.s, s.len - 1}, v);
}

/* "+7.93*", "-33.50%": true; "failed.", ".", "-?": true without a change */
static bool is_change(struct span s, struct table_cell *c, int line)
{
	double v;

	if (span_is(s, "failed.") || span_is(s, ".") || span_is(s, "-") ||
	    (s.len == 2 && s.s[0] == '-' && is_mark(s.s[1])))
		return true;
	if (s.len < 3 || (s.s[0] != '+' && s.s[0] != '-') ||
	    (s.s[s.len - 1] != '%' && !is_mark(s.s[s.len - 1])) ||
	    !num_parse((struct span){s.s + (s.s[0] == '+'), s.len - 1 - (s.s[0] == '+')}, &v))
		return false;
	own_set_change(c, v, line);
	c->mark = strchr("*!sc", s.s[s.len - 1]) != NULL;
	return true;
}

/* ---- headers ---- */

bool own_columns_read(const struct own_report *rp, const struct own_words *w, size_t i,
		      struct own_head *h)
{
	int last = h->n ? h->columns[h->n - 1] : -1;

	for (; i < w->n; i++) {
		struct span s = w->w[i];
		const char *slash = memchr(s.s, '/', s.len);
		int id = own_id(&rp->facts, s);

		if (h->n == OWN_MAX_COLUMNS)
			return false;
		if (i + 1 == w->n && span_is(s, "cv") && h->n) {
			h->cv = true;
		} else if (id > last && last > -2) {
			h->columns[h->n++] = last = id;
		} else if (slash &&
			   own_id(&rp->facts, (struct span){s.s, (size_t)(slash - s.s)}) >= 0) {
			h->columns[h->n++] = -1;
			last = -2;
		} else {
			return false;
		}
	}
	return h->n > 0;
}

/* "clients A, MB/s B C D/C cv" */
static bool wide_head(struct own_report *rp, const struct own_words *w, struct own_head *h)
{
	size_t i, k;

	for (i = 0; i < w->n && !span_is(w->w[i], "A") && !span_is(w->w[i], "A,"); i++)
		;
	for (k = i + 1; k < w->n; k++) {
		*h = (struct own_head){.kind = OWN_HEAD_WIDE,
				       .axis = own_words_join(rp->a, w, 0, i)};
		h->columns[h->n++] = 0;
		if (own_columns_read(rp, w, k, h))
			break;
		if (w->w[i].len == 1)
			return false;
	}
	if (k >= w->n || (w->w[i].len == 2) != (k > i + 1))
		return false;
	if (k > i + 1)
		h->unit = own_unit(rp->a, span_of(own_words_join(rp->a, w, i + 1, k)));
	return true;
}

/*
 * "clients mean cv mean cv change range, % verdict"
 * "A, n=3 B, n=1 change next run of A, 95% verdict"
 */
static bool pair_head(struct own_report *rp, const struct own_words *w, struct own_head *h)
{
	size_t i, change, first, means = 0;

	if (!span_is(w->w[w->n - 1], "verdict"))
		return false;
	for (change = 0; change < w->n && !span_is(w->w[change], "change"); change++)
		;
	*h = (struct own_head){.kind = OWN_HEAD_PAIR, .range = change + 2 < w->n};
	for (i = 0, first = change; i < change; i++) {
		bool side = span_is(w->w[i], "mean") || span_is(w->w[i], "A") ||
			    span_is(w->w[i], "A,") ||
			    (means && (span_is(w->w[i], "B") || span_is(w->w[i], "B,")));

		if (side && !means)
			first = i;
		means += side;
		h->cv |= span_is(w->w[i], "cv");
	}
	h->axis = own_words_join(rp->a, w, 0, first);
	h->other = means == 2;
	return change < w->n && (means == 1 || means == 2) && rp->facts.n == 2;
}

/* "clients A %std B %std", "groups A [pct imp](CV) B [pct imp](CV)" */
static bool style_head(struct own_report *rp, const struct own_words *w, struct own_head *h)
{
	bool block = rp->facts.style == OWN_BLOCK;
	size_t step = block ? 3 : 2, i, first;
	int id;

	*h = (struct own_head){.kind = block ? OWN_HEAD_BLOCK : OWN_HEAD_NORM};
	for (first = w->n; first >= step; first -= step) {
		i = first - step;
		id = own_id(&rp->facts, w->w[i]);
		if (id < 0 || !span_is(w->w[i + 1], block ? "[pct" : "%std") ||
		    (block && !span_is(w->w[i + 2], "imp](CV)")))
			break;
	}
	h->axis = own_words_join(rp->a, w, 0, first);
	for (i = first; i < w->n && h->n < OWN_MAX_COLUMNS; i += step)
		h->columns[h->n++] = own_id(&rp->facts, w->w[i]);
	return h->n >= 2 && h->columns[0] == 0;
}

bool own_head_read(struct own_report *rp, size_t i, struct own_head *h)
{
	struct own_words w;

	if (!own_split(rp->text->lines[i].text, &w))
		return false;
	if (rp->facts.style != OWN_TABLE)
		return style_head(rp, &w, h);
	return pair_head(rp, &w, h) || wide_head(rp, &w, h);
}

/* ---- rows ---- */

/* A change off the last of *n words into *c; a difference has its unit behind it: "+10 MB/s?" */
static bool drop_change(const struct own_words *w, struct table_cell *c, int line, size_t *n)
{
	size_t back;
	double v;

	for (back = 1; back <= 4 && back <= *n; back++) {
		struct span s = w->w[*n - back];

		if ((back == 1 && is_change(s, c, line)) ||
		    (back > 1 && (s.s[0] == '+' || s.s[0] == '-') &&
		     num_parse((struct span){s.s + 1, s.len - 1}, &v))) {
			*n -= back;
			return true;
		}
	}
	return false;
}

static bool wide_row(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		     int line, struct own_line *r)
{
	size_t n = w->n, i;
	double v;

	if (h->cv && is_spread(w->w[n - 1], &v))
		n--;
	for (i = h->n; i-- > 1;) {
		struct table_cell spare, *c = h->columns[i] < 0 ? &spare : &r->cells[h->columns[i]];

		if (!drop_change(w, c, line, &n))
			return false;
	}
	if (!n)
		return false;
	n--;
	if (!span_is(w->w[n], ".") && !span_is(w->w[n], "failed") && !num_parse(w->w[n], &v))
		return false;
	own_set_value(rp, &r->cells[0], w->w[n], line);
	r->label = n;
	return true;
}

static bool is_verdict(struct span s)
{
	static const char *const words[] = {"better",  "worse",	 "same",  "unsure", "changed",
					    "missing", "failed", "small", "(m)"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (span_is(s, words[i]))
			return true;
	return false;
}

/* Words without the verdict at the end, "failed (panic)"; 0: there is none. */
static size_t drop_verdict(const struct own_words *w)
{
	size_t n = w->n, i;

	if (w->w[n - 1].s[w->w[n - 1].len - 1] == ')') {
		for (i = n; i-- && w->w[i].s[0] != '(';)
			;
		if (i < n && i && span_is(w->w[i - 1], "failed"))
			n = i;
	}
	i = n;
	while (n && is_verdict(w->w[n - 1]))
		n--;
	return n < i ? n : 0;
}

/* Takes the range off the end: "[-3.70,+1.32]", "[+1,+2] MB/s", "158.1..160.2", "-". */
static bool drop_range(const struct own_words *w, size_t *n)
{
	size_t back;

	for (back = 1; back <= 4 && back <= *n; back++) {
		struct span s = w->w[*n - back];

		if ((back == 1 && (span_is(s, "-") || span_find(s, ".."))) ||
		    (s.s[0] == '[' && s.s[s.len - 1] == ']')) {
			*n -= back;
			return true;
		}
	}
	return false;
}

static bool pair_side(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		      struct table_cell *c, int line, size_t *n)
{
	double v;

	if (h->cv && *n && is_spread(w->w[*n - 1], &v)) {
		c->has_deviation = true;
		c->deviation = v;
		--*n;
	}
	if (!*n || (!span_is(w->w[*n - 1], "-") && !num_parse(w->w[*n - 1], &v)))
		return false;
	own_set_value(rp, c, w->w[--*n], line);
	return true;
}

static bool pair_row(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		     int line, struct own_line *r)
{
	size_t n = drop_verdict(w);

	if (!n || (h->range && !drop_range(w, &n)))
		return false;
	if (!drop_change(w, &r->cells[1], line, &n))
		return false;
	if ((h->other && !pair_side(rp, h, w, &r->cells[1], line, &n)) ||
	    !pair_side(rp, h, w, &r->cells[0], line, &n))
		return false;
	r->label = n;
	return true;
}

/* Digits behind the point, -1 without one. */
static int places(struct span s)
{
	const char *dot = memchr(s.s, '.', s.len);

	return dot ? (int)(s.len - (size_t)(dot + 1 - s.s)) : -1;
}

/* "1.082*": three digits behind the point tell a ratio from a spread. */
static bool is_ratio(struct span s, double *v, bool *mark)
{
	*mark = s.len && strchr("*!sc", s.s[s.len - 1]);
	if (s.len && !isdigit((unsigned char)s.s[s.len - 1]))
		s.len--;
	return places(s) == 3 && num_parse(s, v);
}

/* Ratios; *ratio of each column, NAN where there is none. */
static bool norm_row(const struct own_head *h, const struct own_words *w, struct own_line *r,
		     double *ratio)
{
	size_t n = w->n, i;
	bool mark;
	double v;

	for (i = h->n; i-- > 0;) {
		struct table_cell *c = &r->cells[h->columns[i]];
		bool spread;

		ratio[i] = NAN;
		if (!n)
			return false;
		spread = places(w->w[n - 1]) == 2 && num_parse(w->w[n - 1], &v);
		if (n > 1 && (spread || span_is(w->w[n - 1], "-")) &&
		    is_ratio(w->w[n - 2], &ratio[i], &mark)) {
			c->has_deviation = spread;
			c->deviation = spread ? v : 0;
			c->mark = mark;
			n -= 2;
		} else if (w->w[n - 1].len == 1 &&
			   (is_mark(w->w[n - 1].s[0]) || w->w[n - 1].s[0] == '-')) {
			n--;
		} else {
			return false;
		}
	}
	r->label = n;
	return true;
}

struct scan {
	const char *p;
};

static bool scan_char(struct scan *s, char c)
{
	while (*s->p == ' ')
		s->p++;
	if (*s->p != c)
		return false;
	s->p++;
	return true;
}

static bool scan_number(struct scan *s, double *v)
{
	size_t len;

	while (*s->p == ' ')
		s->p++;
	len = strspn(s->p, "+-.0123456789e");
	if (!num_parse((struct span){s->p, len}, v))
		return false;
	s->p += len;
	return true;
}

/* "1.08 [  8.20]( 0.35)*", "-"; the improvement in *better, NAN: none */
static bool block_cell(struct scan *s, struct table_cell *c, double *better)
{
	double v;

	*better = NAN;
	while (*s->p == ' ')
		s->p++;
	if ((*s->p == '-' || is_mark(*s->p)) && (s->p[1] == ' ' || !s->p[1])) {
		s->p++;
		return true;
	}
	if (!scan_number(s, &v) || !scan_char(s, '[') || !scan_number(s, better) ||
	    !scan_char(s, ']') || !scan_char(s, '('))
		return false;
	c->has_deviation = scan_number(s, &v);
	c->deviation = c->has_deviation ? v : 0;
	if (!c->has_deviation && !scan_char(s, '-'))
		return false;
	if (!scan_char(s, ')'))
		return false;
	c->mark = *s->p && strchr("*!sc", *s->p);
	s->p += is_mark(*s->p);
	return true;
}

static bool block_row(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		      struct own_line *r, double *better)
{
	struct scan s;
	size_t i;

	for (i = 1; i < w->n && w->w[i].s[0] != '['; i++)
		;
	if (i >= w->n)
		return false;
	r->label = i - 1;
	s.p = own_words_join(rp->a, w, i - 1, w->n);
	for (i = 0; i < h->n; i++)
		if (!block_cell(&s, &r->cells[h->columns[i]], &better[i]))
			return false;
	return !*s.p;
}

bool own_line_read(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		   int line, struct own_line *r, double *x)
{
	switch (h->kind) {
	case OWN_HEAD_WIDE:
		return wide_row(rp, h, w, line, r);
	case OWN_HEAD_PAIR:
		return pair_row(rp, h, w, line, r);
	case OWN_HEAD_NORM:
		return norm_row(h, w, r, x);
	default:
		return block_row(rp, h, w, r, x);
	}
}

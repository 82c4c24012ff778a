// SPDX-License-Identifier: GPL-2.0-or-later
/* What changed, told once: a mail for each cause, and files for machines. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "core/json.h"
#include "hunt/nightly_news.h"
#include "net/net.h"
#include "reports/message.h"
#include "reports/selftest.h"

enum { COLUMNS = 72 };

/* A night's rows that belong to one mail; answers: the night whose mail it answers. */
struct cause {
	size_t night, answers;
	bool is_answer;
};

static bool is_of(const struct nightly_row *row, const struct cause *c)
{
	bool fixed = row->states[c->night].event == NIGHT_FIXED;

	return nightly_is_news(row, c->night) && fixed == c->is_answer &&
	       (!fixed || nightly_opened(row, c->night) == c->answers);
}

/* ---- the mail ---- */

static const char *short_commit(const struct nightly *n, size_t night)
{
	return arena_printf(n->a, "%.12s", n->nights[night].commit);
}

static void add_row(struct nightly *n, const struct nightly_row *row, const struct cause *c,
		    struct grid *g)
{
	const struct night_state *s = &row->states[c->night];
	struct grid_cell *cell = grid_row(g);
	double change = nightly_change(row, s);

	grid_set(&cell[0], nightly_word(row, c->night), COLOR_NONE);
	grid_set(&cell[1], text_ascii(n->a, arena_printf(n->a, "%s %s", row->test_case,
							 row->metric.name)), COLOR_NONE);
	grid_set(&cell[2], arena_printf(n->a, "%.6g", nightly_value(row, s->before)), COLOR_NONE);
	grid_set(&cell[3], arena_printf(n->a, "%.6g", nightly_value(row, s->after)), COLOR_NONE);
	grid_set(&cell[4], text_ascii(n->a, row->metric.unit), COLOR_NONE);
	grid_set(&cell[5], row->on_log ? text_percent(n->a, change, "%")
				       : arena_printf(n->a, "%+.6g", change), COLOR_NONE);
	cell[0].left = cell[1].left = cell[4].left = true;
}

/* Commits from the last night of the old level to the first of the new one. */
static void add_range(struct nightly *n, const struct nightly_row *row, size_t night,
		      struct text *t)
{
	size_t since = row->states[night].since, before = nightly_before(row, since);
	const char *subject = "";

	git_field(&n->git, n->nights[since].commit, "%s", &subject);
	if (row->states[night].event == NIGHT_ENVIRONMENT)
		text_block(t, "machine", "the baseline %.12s, measured in the same nights, moved as "
			   "much: not the kernel", n->nights[night].base);
	else if (since != before)
		text_block(t, "range", "%.12s..%.12s (%s)", n->nights[before].commit,
			   n->nights[since].commit, text_ascii(n->a, subject));
	if (row->states[night].event == NIGHT_DRIFTED)
		text_block(t, "drift", "a line describes %s better than a step: no commit did it",
			   row->metric.name);
}

/* The measured rate of the second arm. */
static void add_false_alarms(struct nightly *n, struct text *t)
{
	const struct selftest_options opt = {.splits = 1, .seed = 1};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct selftest *s;

	if (selftest_measure(n->db, n->a, &opt, &s, &ignored) || !s->all.arms.tests)
		text_block(t, "A/A", "too few nights for a rate of false alarms");
	else
		text_block(t, "A/A", "the same kernel under two names was marked in %d of %d tests "
			   "(%.1f%%, 95%% interval %.1f to %.1f%%)", s->all.arms.marked,
			   s->all.arms.tests, 100 * s->all.arms.rate, 100 * s->all.arms.low,
			   100 * s->all.arms.high);
}

static void write_body(struct nightly *n, const struct cause *c, struct strbuf *out)
{
	struct text t = {n->a, out, COLUMNS, false};
	const struct nightly_row *row, *first = NULL;
	_cleanup_grid_ struct grid g;

	text_block(&t, "night", "%s %zu, %.12s, campaign %s", n->config->name, c->night + 1,
		   n->nights[c->night].commit, n->nights[c->night].campaign->id);
	text_blank(&t);
	grid_init(&g, n->a, 6);
	for (row = n->rows; row < n->rows + n->n_rows; row++)
		if (is_of(row, c)) {
			first = first ? first : row;
			add_row(n, row, c, &g);
		}
	grid_print(&g, &t);
	text_blank(&t);
	add_range(n, first, c->night, &t);
	add_false_alarms(n, &t);
	text_block(&t, "look", "kdelta history %s", first->metric.name);
	text_block(&t, "quiet", "kdelta ignore %s --until DATE --reason TEXT", first->metric.name);
}

static const char *write_subject(struct nightly *n, const struct cause *c)
{
	const struct nightly_row *row, *first = NULL;
	int rows = 0;

	for (row = n->rows; row < n->rows + n->n_rows; row++)
		if (is_of(row, c)) {
			rows++;
			first = !first || (row->states[c->night].worse &&
					   !first->states[c->night].worse) ? row : first;
		}
	return arena_printf(n->a, "[%s] %s %s%s%s since %s", n->config->name,
			    first->metric.name, nightly_word(first, c->night),
			    first->on_log ? arena_printf(n->a, " %s", text_percent(n->a,
					nightly_change(first, &first->states[c->night]), "%")) : "",
			    rows > 1 ? arena_printf(n->a, " and %d more", rows - 1) : "",
			    short_commit(n, first->states[c->night].since));
}

static char *message_id(struct nightly *n, const char *from, const char *what, size_t night)
{
	return arena_printf(n->a, "%s.%.12s.%s%s", n->config->name, n->nights[night].commit, what,
			    strchr(from, '@'));
}

static int deliver(struct nightly *n, const struct message *m)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct nightly_options *o = &n->opt;
	struct net_mail mail = {.url = o->smtp, .from = m->from.mail};
	const struct net_options net = {.timeout = 0};
	int r = 0;

	message_write(m, &text);
	mail.to = arena_alloc_array(n->a, m->to.n, sizeof(*mail.to));
	for (; mail.n_to < m->to.n; mail.n_to++)
		mail.to[mail.n_to] = m->to.items[mail.n_to].mail;
	mail.message = (struct span){strbuf_str(&text), text.len};
	if (o->eml)
		r = file_make_dirs(o->eml, n->e);
	if (!r && o->eml)
		r = file_write_atomic(arena_printf(n->a, "%s/%s.eml", o->eml, m->id),
				      strbuf_str(&text), text.len, n->e);
	return r || !o->smtp ? r : net_send(&mail, &net, n->e);
}

int nightly_send(struct nightly *n, const struct nightly_mail *mail)
{
	struct message_addresses from = {NULL, 0, 0};
	struct message m = {.subject = mail->subject, .body = mail->body, .date = time(NULL)};
	size_t i;
	int r;

	if (!n->opt.n_to)
		return 0;
	r = message_add_addresses(n->a, "from", n->opt.from, &from, n->e);
	for (i = 0; !r && i < n->opt.n_to; i++)
		r = message_add_addresses(n->a, "to", n->opt.to[i], &m.to, n->e);
	if (!r) {
		m.from = from.items[0];
		m.id = message_id(n, m.from.mail, mail->what, mail->night);
		if (mail->answers)
			m.in_reply_to = message_id(n, m.from.mail, mail->answers,
						   mail->answers_night);
		r = deliver(n, &m);
	}
	ARRAY_FREE(&from);
	ARRAY_FREE(&m.to);
	return r;
}

static int send_cause(struct nightly *n, const struct cause *c)
{
	_cleanup_strbuf_ struct strbuf body = STRBUF_INIT;
	struct nightly_mail mail = {.subject = write_subject(n, c),
				    .what = c->is_answer ? "fixed" : "changed",
				    .night = c->night,
				    .answers = c->is_answer ? "changed" : NULL,
				    .answers_night = c->answers};

	write_body(n, c, &body);
	if (n->note)
		n->note(mail.subject);
	mail.body = (struct span){strbuf_str(&body), body.len};
	return nightly_send(n, &mail);
}

/* ---- all of it ---- */

static bool has_rows(const struct nightly *n, const struct cause *c)
{
	for (size_t k = 0; k < n->n_rows; k++)
		if (is_of(&n->rows[k], c))
			return true;
	return false;
}

static int tell_night(struct nightly *n, size_t night)
{
	struct cause c = {night, 0, false};
	int r = has_rows(n, &c) ? send_cause(n, &c) : 0;

	c.is_answer = true;
	for (c.answers = 0; !r && c.answers < night; c.answers++)
		if (has_rows(n, &c))
			r = send_cause(n, &c);
	if (!r)
		r = db_set_fact(n->db, "campaign", n->nights[night].campaign->id, "nightly.told",
				"1", n->e);
	if (r)
		return r;
	n->nights[night].told = true;
	nightly_post(n, night); /* last: while it is tried again, a kill must not repeat a mail */
	return 0;
}

int nightly_tell(struct nightly *n)
{
	int r = nightly_write_files(n); /* first: once told, a night is not looked at again */

	for (size_t i = 0; !r && i < n->n_nights; i++)
		if (!n->nights[i].told)
			r = tell_night(n, i);
	return r;
}

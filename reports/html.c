// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o html: one page for a browser, without script and without anything from elsewhere. The model
 * is in it as JSON, so that `kdelta import` reads it back.
 */
#include <string.h>

#include "reports/html.h"

__asm__(".pushsection .rodata\n"
	"report_html_css:\n"
	".incbin \"reports/html.css\"\n"
	".byte 0\n"
	".popsection\n");
extern const char report_html_css[] __attribute__((visibility("hidden")));

/* ---- writing ---- */

void html_addf(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(h->out, fmt, ap);
	va_end(ap);
}

/* Characters that cannot be seen, or that reorder what stands beside them. */
static bool is_unseen(uint32_t cp)
{
	return (cp < ' ' && cp != '\n' && cp != '\t') || (cp >= 0x7f && cp < 0xa0) || cp == 0xad ||
	       cp == 0x61c || (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || (cp & 0xfffe) == 0xfffe;
}

static const char *entity(uint32_t cp)
{
	switch (cp) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Length of what needs no second look. */
static size_t plain_length(struct span s)
{
	size_t n = 0;

	while (n < s.len && s.s[n] >= ' ' && s.s[n] < 0x7f && !entity((unsigned char)s.s[n]))
		n++;
	return n;
}

void html_text(struct html *h, const char *s)
{
	struct span rest = span_of(s);
	uint32_t cp = 0;
	size_t n;

	for (; rest.len; rest.s += n, rest.len -= n) {
		n = plain_length(rest);
		if (n) {
			strbuf_add(h->out, rest.s, n);
			continue;
		}
		n = span_utf8(rest, &cp);
		if (!n) {
			strbuf_addf(h->out, "\\x%02x", (unsigned char)*rest.s);
			n = 1;
		} else if (entity(cp)) {
			strbuf_adds(h->out, entity(cp));
		} else if (is_unseen(cp)) {
			strbuf_addf(h->out, "\\u{%x}", cp);
		} else {
			strbuf_add(h->out, rest.s, n);
		}
	}
}

void html_name(struct html *h, const char *s)
{
	strbuf_adds(h->out, "<bdi>");
	html_text(h, s);
	strbuf_adds(h->out, "</bdi>");
}

static void heading(struct html *h, const char *id, const char *words)
{
	html_addf(h, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, words);
}

/* ---- the verdict ---- */

/* Lines that limit what follows come before the verdict: another machine, an unfinished campaign.
 */
static int n_limits(const struct comparison *c)
{
	return (comparison_limit(c) != NULL) + (c->done < c->planned);
}

static void verdict(struct html *h)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	struct text t = {h->a, &words, 1 << 20, false};
	struct span rest, line;
	int limits = n_limits(h->c), n;

	words_print(&t, &h->v);
	rest = (struct span){strbuf_str(&words), words.len};
	for (n = 0; span_next_line(&rest, &line, NULL); n++) {
		const char *tag = n == limits ? "h1" : "p";

		html_addf(h, n < limits ? "<%s class=\"limit\">" : "<%s>", tag);
		html_text(h, arena_strndup(h->a, line.s, line.len));
		html_addf(h, "</%s>\n", tag);
	}
	if (n <= limits)
		strbuf_adds(h->out, "<h1>No verdict</h1>\n");
	if (h->c->n_warnings)
		html_addf(h, "<p><a href=\"#warnings\">%zu %s</a></p>\n", h->c->n_warnings,
			  h->c->n_warnings == 1 ? "warning" : "warnings");
}

/* ---- what was compared ---- */

/* One column of the table of variants, left out where no variant has it. */
struct variant_column {
	const char *title;
	size_t offset;
};
static const struct variant_column variant_columns[] = {
	{"kernel", offsetof(struct cmp_variant, release)},
	{"commit", offsetof(struct cmp_variant, commit)},
	{"build-id", offsetof(struct cmp_variant, build_id)},
	{"from", offsetof(struct cmp_variant, source)},
	{"besides the kernel", offsetof(struct cmp_variant, settings)},
};

static const char *variant_text(const struct cmp_variant *v, const struct variant_column *k)
{
	return *(const char *const *)((const char *)v + k->offset);
}

static bool column_is_used(const struct comparison *c, const struct variant_column *k)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		if (*variant_text(&c->variants[i], k))
			return true;
	return false;
}

static void variant_row(struct html *h, size_t i)
{
	const struct cmp_variant *v = &h->c->variants[i];
	size_t k;

	html_addf(h, "<tr><th scope=\"row\">%s</th><td>", v->id);
	html_name(h, v->name);
	if (!i)
		strbuf_adds(h->out, " <small>the baseline</small>");
	if (*v->description) {
		strbuf_adds(h->out, "<br><small>");
		html_name(h, v->description);
		strbuf_adds(h->out, "</small>");
	}
	strbuf_adds(h->out, "</td>");
	for (k = 0; k < ARRAY_SIZE(variant_columns); k++) {
		if (!column_is_used(h->c, &variant_columns[k]))
			continue;
		strbuf_adds(h->out, "<td>");
		if (*variant_text(v, &variant_columns[k]))
			html_name(h, variant_text(v, &variant_columns[k]));
		else
			strbuf_adds(h->out, "<span class=\"none\">not stated</span>");
		strbuf_adds(h->out, "</td>");
	}
	strbuf_adds(h->out, "</tr>\n");
}

/* Whether the variants are known to be set up alike but for their kernels. */
static void besides(struct html *h)
{
	const struct comparison *c = h->c;
	bool differ = false;
	size_t i;

	for (i = 1; i < c->n_variants; i++)
		differ |= strcmp(c->variants[i].settings, c->variants[0].settings) != 0;
	strbuf_adds(h->out, "<p>Besides the kernel: ");
	if (differ)
		strbuf_adds(h->out, "the variants differ in what the last column says.");
	else if (!strcmp(c->kind, "import"))
		strbuf_adds(h->out, "the source says nothing of other differences.");
	else if (*c->variants[0].settings)
		strbuf_adds(h->out, "all variants were set up in the same way.");
	else
		strbuf_adds(h->out, "nothing was set differently for any variant.");
	strbuf_adds(h->out, "</p>\n");
}

static void compared(struct html *h)
{
	size_t i, k;

	heading(h, "compared", "What was compared");
	besides(h);
	strbuf_adds(h->out, "<div class=\"scroll\" role=\"group\" aria-label=\"Variants\" "
			    "tabindex=\"0\">\n<table>\n<thead><tr><th scope=\"col\">id</th>"
			    "<th scope=\"col\">name</th>");
	for (k = 0; k < ARRAY_SIZE(variant_columns); k++)
		if (column_is_used(h->c, &variant_columns[k]))
			html_addf(h, "<th scope=\"col\">%s</th>", variant_columns[k].title);
	strbuf_adds(h->out, "</tr></thead>\n<tbody>\n");
	for (i = 0; i < h->c->n_variants; i++)
		variant_row(h, i);
	strbuf_adds(h->out, "</tbody>\n</table>\n</div>\n</section>\n");
}

/* ---- how to read it ---- */

/* What stands elsewhere on the page in another form. */
static bool fact_is_told(const struct comparison *c, const char *key)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		if (!strcmp(key, c->variants[i].id))
			return true;
	return !strcmp(key, "note");
}

static void fact_line(struct html *h, struct span line, bool *told)
{
	size_t indent = MIN(line.len, (size_t)TEXT_KEY);
	struct span key = span_trim((struct span){line.s, indent});
	const char *name = arena_strndup(h->a, key.s, key.len);

	if (key.len)
		*told = fact_is_told(h->c, name);
	if (*told)
		return;
	if (key.len)
		html_addf(h, "<dt>%s</dt>", strcmp(name, "marks") ? name : "marks of the mail");
	strbuf_adds(h->out, "<dd>");
	html_text(h, arena_strndup(h->a, line.s + indent, line.len - indent));
	strbuf_adds(h->out, "</dd>\n");
}

/* The lines that the mail has before its tables: a word, then its explanation. */
static void facts(struct html *h)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	struct text t = {h->a, &words, 1 << 20, false};
	struct span rest, line;
	bool told = false;

	facts_print(&t, &h->v);
	rest = (struct span){strbuf_str(&words), words.len};
	strbuf_adds(h->out, "<dl>\n");
	while (span_next_line(&rest, &line, NULL))
		fact_line(h, line, &told);
	strbuf_adds(h->out, "</dl>\n");
}

static void how_to_read(struct html *h)
{
	heading(h, "read", "How to read this");
	strbuf_adds(
		h->out,
		"<p>A change is the other kernel against the baseline, new / base &minus; 1: "
		"the sign says more or less, the shape and its word say better or worse. In the "
		"picture a line is the interval of the change; where it crosses zero, nothing "
		"is proven. Times are UTC. Rows open for every run, its order and its "
		"command.</p>\n");
	facts(h);
	strbuf_adds(h->out, "</section>\n");
}

static void warnings(struct html *h)
{
	size_t i;

	if (!h->c->n_warnings)
		return;
	heading(h, "warnings", "Warnings");
	strbuf_adds(h->out, "<ul>\n");
	for (i = 0; i < h->c->n_warnings; i++) {
		strbuf_adds(h->out, "<li>");
		html_text(h, h->c->warnings[i]);
		strbuf_adds(h->out, "</li>\n");
	}
	strbuf_adds(h->out, "</ul>\n</section>\n");
}

/* ---- how to reproduce ---- */

/* The commands of a benchmark's first test case stand for all; the rows hold each. */
static void commands(struct html *h)
{
	const struct comparison *c = h->c;
	bool any = false;
	size_t i, k;

	for (i = 0; i < c->n_tests; i++) {
		for (k = 0; k < i && strcmp(c->tests[k].benchmark, c->tests[i].benchmark); k++)
			;
		if (k < i || !*c->tests[i].command)
			continue;
		strbuf_adds(h->out, any ? ""
					: "<li>Run the commands of the test cases, one boot "
					  "each, kernels in turn: the rows hold them, "
					  "such as\n<pre>");
		any = true;
		html_text(h, c->tests[i].command);
		strbuf_addc(h->out, '\n');
	}
	strbuf_adds(h->out, any ? "</pre></li>\n"
				: "<li>The commands are not stated in the source.</li>\n");
}

static void reproduce(struct html *h)
{
	const struct comparison *c = h->c;
	bool imported = !strcmp(c->kind, "import");
	size_t i;

	heading(h, "reproduce", "How to reproduce");
	strbuf_adds(h->out,
		    "<ol>\n<li>Check the arithmetic: this page holds every value it is made "
		    "of. <pre>kdelta import report.html\nkdelta compare</pre></li>\n");
	for (i = 0; i < c->n_campaigns && !imported; i++) {
		strbuf_adds(h->out, "<li>Where it was measured: <pre>kdelta show ");
		html_text(h, c->campaigns[i]);
		strbuf_adds(h->out, "\nkdelta compare -c ");
		html_text(h, c->campaigns[i]);
		strbuf_adds(h->out, "</pre></li>\n");
	}
	strbuf_adds(h->out, "<li>Elsewhere: take the kernels and settings of <a "
			    "href=\"#compared\">the table of variants</a>.</li>\n");
	commands(h);
	strbuf_adds(h->out, "</ol>\n</section>\n");
}

static int mail(struct html *h, const struct report_options *opt, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct report_options plain = *opt;
	int r;

	plain.width = 0;
	plain.color = false;
	r = report_format_find("mail")->render(h->c, &plain, &text, e);
	if (r)
		return r;
	heading(h, "mail", "The same as a mail");
	strbuf_adds(h->out, "<p>Plain text for a list; one click selects all of it.</p>\n"
			    "<pre class=\"mail\" tabindex=\"0\" aria-label=\"Text of the mail\" "
			    "role=\"group\">\n");
	html_text(h, strbuf_str(&text));
	strbuf_adds(h->out, "</pre>\n</section>\n");
	return 0;
}

/* ---- the page ---- */

/* JSON knows '<' only in strings, where an escape says the same and no tag can begin. */
static int data(struct html *h, struct err *e)
{
	_cleanup_strbuf_ struct strbuf json = STRBUF_INIT;
	const char *p, *from;
	int r = report_json(h->c, true, &json, e);

	if (r)
		return r;
	strbuf_adds(h->out, "<script type=\"application/json\" id=\"kdelta-compare\">\n");
	for (from = strbuf_str(&json); (p = strchr(from, '<'));) {
		strbuf_add(h->out, from, (size_t)(p - from));
		strbuf_adds(h->out, "\\u003c");
		from = p + 1;
	}
	strbuf_adds(h->out, from);
	strbuf_adds(h->out, "</script>\n");
	return 0;
}

void html_open(struct html *h, const char *title, const char *css, bool script)
{
	strbuf_adds(h->out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; ");
	strbuf_adds(h->out, script ? "script-src 'unsafe-inline'; " : "");
	strbuf_adds(h->out,
		    "form-action 'none'\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<link rel=\"icon\" href=\"data:,\">\n<title>");
	html_text(h, title);
	strbuf_adds(h->out, "</title>\n<style>\n");
	strbuf_adds(h->out, report_html_css);
	strbuf_adds(h->out, css ? css : "");
	strbuf_adds(h->out, "</style>\n</head>\n<body>\n");
	html_shapes(h);
}

static int html_render(const struct comparison *c, const struct report_options *opt,
		       struct strbuf *out, struct err *e)
{
	struct html h = {.c = c, .a = c->arena, .out = out};
	const char *subject = report_subject(c, h.a);
	int r;

	view_init(&h.v, c, h.a, opt->split);
	h.v.width = h.v.label = 80;
	html_open(&h, str_starts(subject, "[kdelta] ") ? subject + 9 : subject, NULL, false);
	strbuf_adds(out, "<main>\n<header>\n");
	verdict(&h);
	strbuf_adds(out, "</header>\n");
	compared(&h);
	heading(&h, "changes", "Every row at a glance");
	html_strip(&h);
	strbuf_adds(out, "</section>\n");
	heading(&h, "numbers", "Numbers");
	html_tables(&h);
	strbuf_adds(out, "</section>\n");
	how_to_read(&h);
	warnings(&h);
	reproduce(&h);
	r = mail(&h, opt, e);
	strbuf_adds(out, "</main>\n");
	if (!r)
		r = data(&h, e);
	strbuf_adds(out, "</body>\n</html>\n");
	return r;
}

static const struct report_format html = {
	.name = "html",
	.summary = "one page for a browser, with every run; kdelta import reads it back",
	.render = html_render,
};
REGISTER(report_format, html);

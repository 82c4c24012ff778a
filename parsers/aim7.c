// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AIM Multiuser Benchmark, suite VII (multitask), and the later one with other columns; each line
 * is a run, the number of tasks its parameter:
 *
 *	Tasks	Jobs/Min	JTI	Real	CPU	Jobs/sec/task
 *	1	568.4		100	10.4	0.5	9.4737
 *	101	37148.0		87	16.1	48.0	6.1300
 *
 *	Tasks    jobs/min  jti  jobs/min/task      real       cpu
 *	    1      111.43  100       111.4281     52.23      0.88   Wed Dec 20 07:16:00 2006
 */
#include <string.h>
#include <strings.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason aim7_reasons[] = {
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"fork", "Resource temporarily unavailable", "resource_limit_proc"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"multitask: ", "child", "child_failed"},
	SCAN_REASONS_END,
};

enum { COLUMNS = 8 };
static const struct {
	const char *title, *metric, *unit;
	int decimals; /* always printed: fewer are a cut figure */
} columns[] = {
	{"tasks", "tasks", "", 0},
	{"jobs/min", "jobs-per-min", "jobs/min", 1},
	{"jti", "jti", "%", 0},
	{"real", "real", "s", 1},
	{"cpu", "cpu", "s", 1},
	{"jobs/sec/task", "jobs-per-sec-per-task", "jobs/s", 4},
	{"jobs/min/task", "jobs-per-min-per-task", "jobs/min", 4},
};

struct aim7 {
	struct scan s;
	size_t column[COLUMNS]; /* of columns[], in the order of the header */
	size_t n;		/* 0: no header yet */
};

static bool is_title(struct span word, const char *title)
{
	return word.len == strlen(title) && !strncasecmp(word.s, title, word.len);
}

static bool read_header(struct span line, size_t *column, size_t *n)
{
	struct span word;
	size_t i;

	*n = 0;
	while (*n < COLUMNS && span_next_word(&line, &word)) {
		for (i = 0; i < ARRAY_SIZE(columns) && !is_title(word, columns[i].title); i++)
			;
		if (i == ARRAY_SIZE(columns))
			break;
		column[(*n)++] = i;
	}
	return *n >= 3 && !column[0] && column[1] == 1;
}

static void read_row(struct aim7 *m)
{
	struct span rest = m->s.line, word;
	const char *error = NULL;
	size_t i;
	double v;

	if (!span_next_word(&rest, &word) || !num_parse(word, &v))
		return;
	scan_param(&m->s, word, "tasks");
	for (i = 1; i < m->n; i++) {
		size_t c = m->column[i];

		error = span_next_word(&rest, &word)
				? scan_figure(&m->s, word, columns[c].unit, columns[c].decimals, &v)
				: "truncated";
		if (!error && c == 1 && v == 0)
			error = "zero_result";
		if (error)
			break;
		scan_value(&m->s, ROLE_RESULT, columns[c].unit, v, "%s", columns[c].metric);
		m->s.figure |= c == 1;
	}
	if (error && strcmp(error, "truncated"))
		scan_error(&m->s, error);
	else if (error)
		m->s.partial = "the line is cut";
	scan_end_run(&m->s);
}

static void aim7_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	struct aim7 m = {.s = {.a = a,
			       .in = in,
			       .result = result,
			       .reasons = aim7_reasons,
			       .rest = in->text}};
	size_t column[COLUMNS], n;

	while (scan_line(&m.s)) {
		if (read_header(m.s.line, column, &n)) {
			memcpy(m.column, column, sizeof(column));
			m.n = n;
		} else if (!m.n || !scan_is_figure(span_trim(m.s.line))) {
			scan_find_reason(&m.s);
		} else {
			read_row(&m);
		}
	}
	scan_end_run(&m.s);
}

static int aim7_recognise(struct span text)
{
	struct span line;
	size_t column[COLUMNS], n;

	while (span_next_line(&text, &line, NULL))
		if (span_starts(span_trim(line), "Tasks") && read_header(line, column, &n))
			return 90;
	return 0;
}

static const struct parser aim7 = {
	.name = "aim7",
	.summary = "AIM suite VII: a run for each number of tasks",
	.recognise = aim7_recognise,
	.parse = aim7_parse,
};
REGISTER(parser, aim7);

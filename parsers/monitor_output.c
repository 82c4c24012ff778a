// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs beside a run printed (machine/mon_programs.c). turbostat --Summary, a column for
 * each counter of the processor, the names LKP's own:
 *
 *	Avg_MHz	Busy%	Bzy_MHz	IPC	IRQ	C6	C6%	CPU%c1	PkgTmp	PkgWatt
 *	812	29.10	2790	1.12	120311	40120	66.02	5.12	51	121.40
 *
 * perf stat: as parsers/perf_stat.c has it. Its counts become rates, since what it counts begins a
 * little before the run and ends a little after it; the ratios are those of the sums.
 */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "parsers/monitor_log.h"

static bool is_turbostat_header(struct span line)
{
	static const char *const names[] = {"Busy%", "%Busy", "%c0"};
	struct span word;
	size_t i;

	while (span_next_word(&line, &word))
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (span_is(word, names[i]))
				return true;
	return false;
}

static bool read_turbostat(struct arena *a, struct span text, struct parse_run *run)
{
	struct span header, line, name, word;
	double v;

	do {
		if (!span_next_line(&text, &header, NULL))
			return false;
	} while (!is_turbostat_header(header));
	if (!span_next_line(&text, &line, NULL))
		return false;
	while (span_next_word(&header, &name) && span_next_word(&line, &word))
		if (num_parse(word, &v))
			monitor_log_add(run, arena_printf(a, "turbostat.%.*s", (int)name.len, name.s), v);
	return true;
}

static const struct {
	const char *name;
	double factor;
	const char *of, *by;
} ratios[] = {
	{"ipc", 1, "instructions", "cpu-cycles"},
	{"cpi", 1, "cpu-cycles", "instructions"},
	{"MPKI", 1000, "cache-misses", "instructions"},
	{"cache-miss-rate%", 100, "cache-misses", "cache-references"},
	{"branch-miss-rate%", 100, "branch-misses", "branch-instructions"},
};

static double value_of(const struct parse_run *p, const char *metric)
{
	const struct parse_value *v;

	array_for_each (v, &p->values)
		if (!v->is_null && !strcmp(v->metric, metric))
			return v->value;
	return NAN;
}

static bool read_perf_stat(struct arena *a, struct span text, struct parse_run *run)
{
	const struct parse_input in = {.text = text, .exit_status = -1};
	const struct parse_run *p = parser_run(a, parser_find("perf-stat"), &in)->runs.items;
	const double elapsed = value_of(p, "elapsed");
	_cleanup_strbuf_ struct strbuf missing = STRBUF_INIT;
	const struct parse_value *v;
	size_t i;

	if (!(elapsed > 0))
		return false;
	array_for_each (v, &p->values) {
		if (v->is_null)
			strbuf_addf(&missing, "%s%s", missing.len ? ", " : "perf-stat: not counted here: ",
				    v->metric);
		else if (!strcmp(v->unit, "count"))
			monitor_log_add(run, arena_printf(a, "perf-stat.ps.%s", v->metric),
					v->value / elapsed);
	}
	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		monitor_log_add(run, arena_printf(a, "perf-stat.overall.%s", ratios[i].name),
				ratios[i].factor * value_of(p, ratios[i].of) /
					value_of(p, ratios[i].by));
	if (missing.len)
		monitor_log_note(a, run, (struct span){missing.buf, missing.len});
	return true;
}

void monitor_output_parse(struct arena *a, struct span program, struct span text,
			  struct parse_run *run)
{
	bool read = false;
	char *said, *p;

	if (span_is(program, "turbostat"))
		read = read_turbostat(a, text, run);
	else if (span_is(program, "perf-stat"))
		read = read_perf_stat(a, text, run);
	if (read)
		return;
	/* what it said instead of figures */
	text = span_trim(text);
	said = arena_strndup(a, text.s, MIN(text.len, (size_t)150));
	for (p = said; *p; p++)
		if (*p == '\n')
			*p = ' ';
	monitor_log_note(a, run,
			 span_of(arena_printf(a, "%.*s: %s", (int)program.len, program.s,
					      *said ? said : "it printed nothing")));
}

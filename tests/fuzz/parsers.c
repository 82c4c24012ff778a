// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every parser over any bytes. The first byte picks the parser, the second the exit status, the
 * third the signal, the fourth the command line; the rest is the output.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parsers/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const commands[] = {
	NULL,
	"tbench -t 10 --clients-per-process=2 2 127.0.0.1",
	"hackbench -g 2 --loops=10",
	"hackbench 2 process 10",
	"perf bench -f simple sched all",
	"schbench -m 1 -t 2 -r 8",
	"TIMEFORMAT='%R %3lU %S %P'; time make",
	"/usr/bin/time -f 'e=%e\\n%U %S %E %M %w' make",
	"time \"unfinished -f '%",
};

static void check(bool fine)
{
	if (!fine)
		abort();
}

static void check_run(const struct parse_run *run)
{
	const struct parse_value *v;
	const struct parse_series *s;
	size_t i;

	check((run->outcome == OUTCOME_ERROR) == (run->error != NULL));
	check((run->outcome == OUTCOME_OK) == (run->message == NULL));
	check(run->outcome != OUTCOME_ERROR || (!run->values.n && !run->series.n));
	check(run->outcome == OUTCOME_ERROR || run->values.n);
	array_for_each (v, &run->values) {
		check(v->metric && *v->metric);
		check(v->is_null || (v->unit && isfinite(v->value) && v->value >= 0));
	}
	array_for_each (s, &run->series)
		for (i = 0; i < s->n; i++)
			check(isfinite(s->v[i]) && s->v[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = (size_t)(__stop_reg_parser - __start_reg_parser);
	_cleanup_arena_ struct arena *a = arena_new();
	const struct parse_result *result;
	const struct parse_run *run;
	struct parse_input in;
	struct span text;

	if (size < 4)
		return 0;
	in.exit_status = data[1] == 255 ? -1 : data[1];
	in.signal = data[2] % 32;
	in.command = commands[data[3] % ARRAY_SIZE(commands)];
	text = (struct span){(const char *)data + 4, size - 4};
	in.text = data[0] & 128 ? parser_unquote(a, text) : text;
	parser_recognise(in.text);
	result = parser_run(a, __start_reg_parser[data[0] % n], &in);
	check(result->runs.n >= 1);
	check((result->outcome == OUTCOME_ERROR) == (result->error != NULL));
	array_for_each (run, &result->runs)
		check_run(run);
	return 0;
}

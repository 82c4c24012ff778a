// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every parser over any bytes. The first byte picks the parser (FUZZ_ONLY: that one) and whether the
 * text is unquoted first, the second the exit status, the third the signal, the fourth the command
 * line; the rest is the output.
 */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "parsers/parser.h"

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

static void check_run(const struct parse_run *run)
{
	const struct parse_value *v;
	const struct parse_series *s;
	size_t i;

	CHECK((run->outcome == OUTCOME_ERROR) == (run->error != NULL));
	CHECK((run->outcome == OUTCOME_OK) == (run->message == NULL));
	CHECK(run->outcome != OUTCOME_ERROR || (!run->values.n && !run->series.n));
	CHECK(run->outcome == OUTCOME_ERROR || run->values.n);
	array_for_each (v, &run->values) {
		CHECK(v->metric && *v->metric);
		CHECK(v->is_null || (v->unit && isfinite(v->value) && v->value >= 0));
	}
	array_for_each (s, &run->series)
		for (i = 0; i < s->n; i++)
			CHECK(isfinite(s->v[i]) && s->v[i] >= 0);
}

static const struct parser *pick(uint8_t byte)
{
	size_t n = (size_t)(__stop_reg_parser - __start_reg_parser);
	const struct parser *p = fuzz_only() ? parser_find(fuzz_only())
					     : __start_reg_parser[(byte & 127) % n];

	CHECK(p);
	return p;
}

static void fuzz_parser(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena *a = arena_new();
	const struct parse_result *result;
	const struct parse_run *run;
	struct parse_input in;
	struct span text;

	in.exit_status = data[1] == 255 ? -1 : data[1];
	in.signal = data[2] % 32;
	in.command = commands[data[3] % ARRAY_SIZE(commands)];
	text = (struct span){(const char *)data + 4, size - 4};
	in.text = data[0] & 128 ? parser_unquote(a, text) : text;
	parser_recognise(in.text);
	result = parser_run(a, pick(data[0]), &in);
	CHECK(result->runs.n >= 1);
	CHECK((result->outcome == OUTCOME_ERROR) == (result->error != NULL));
	array_for_each (run, &result->runs)
		check_run(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	fuzz_begin();
	fuzz_parser(data, size);
	fuzz_end();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of `make bench-scale` that are no command:
 *	scale fill DB YEARS	nights of ten test cases of 18 metrics: 985,500 samples a year
 *	scale decide DB		what a nightly makes of them; prints the rows that it judged
 */
#include <string.h>

#include "core/num.h"
#include "hunt/nightly_read.h"
#include "tests/fill.h"
#include "tests/random.h"

/* As much as a short output of a benchmark. */
static const char output[] =
	"Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\n"
	"Each sender will pass 100 messages of 100 bytes\nTime: 1.293\n"
	"min 0.001 p50 0.004 p90 0.011 p99 0.031 max 0.211\n";

static double value(void *data, size_t night, size_t commit, enum fill_arm arm, size_t metric)
{
	(void)data, (void)night, (void)arm;
	return (10 + (double)metric) * exp(0.01 * normal() + (commit % 300 >= 150 ? 0.03 : 0));
}

static int fill(const char *path, int64_t years)
{
	struct fill f = {.name = "linux", .n_cases = 10, .n_metrics = 18, .n_headlines = 2,
			 .raw = output, .value = value};

	fill_check(&f, db_open(path, DB_WRITE, &f.db, &f.e));
	for (size_t night = 0; night < 365 * (size_t)years; night++) {
		f.a = arena_new();
		fill_open(&f);
		fill_night(&f, night, night > NIGHTS_LAG ? night - NIGHTS_LAG : 0);
		arena_free(f.a);
	}
	db_close(f.db);
	return 0;
}

static int decide(const char *path)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_db_ struct db *db = NULL;
	struct campaign_config config = {.name = "linux"};
	struct nightly n = {.a = a, .e = &e, .config = &config, .opt = {.threshold = 0.01}};
	int r = db_open(path, DB_READ, &db, &e);

	n.db = db;
	if (!r)
		r = nightly_judge(&n);
	if (r)
		fprintf(stderr, "%s\n", err_text(&e));
	else
		printf("%zu rows of %zu nights\n", n.n_rows, n.n_nights);
	return r || !n.n_rows;
}

int main(int argc, char **argv)
{
	int64_t years;

	rng = 42;
	if (argc == 3 && !strcmp(argv[1], "decide"))
		return decide(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "fill") && num_parse_int(span_of(argv[3]), &years))
		return fill(argv[2], years);
	fprintf(stderr, "scale fill DB YEARS | scale decide DB\n");
	return 2;
}

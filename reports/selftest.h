/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * False alarms measured on what a database holds. The units of one variant of one campaign are
 * split into two halves, and the halves are judged as a comparison judges two kernels
 * (comparison_judge): nothing differs, so every mark is a false alarm. Units of one block stay in
 * one half, for all test cases, so that a split is a table as a campaign makes one.
 */
#ifndef REPORTS_SELFTEST_H
#define REPORTS_SELFTEST_H

#include "reports/comparison.h"
#include "reports/text.h"

struct selftest_options {
	int splits;	/* of each variant of each campaign */
	uint64_t seed;	/* the same seed gives the same splits, in whatever order things are stored */
	bool counters;	/* their metrics too */
};

/*
 * What the tests promise at a nominal 5 %: with few units the rate comes out a little above it, in
 * simulations of every kind of noise at most here. A rate is too high where its interval lies above.
 */
#define SELFTEST_MOST 0.06

enum selftest_verdict { SELFTEST_NONE, SELFTEST_CONSISTENT, SELFTEST_FEWER, SELFTEST_MORE };
/* "too little data", "consistent", "fewer", "too many" */
const char *selftest_verdict_name(enum selftest_verdict v);

/* How often p <= q came out, before correction, where nothing differed. */
struct selftest_rate {
	int cells;	   /* sets of values that share none: of one variant, test case and metric */
	int tests, marked; /* over all splits of them */
	double rate, low, high; /* its 95 % interval; NAN without a test */
	double worth;		/* independent tests that the tests are worth, see selftest.c */
	enum selftest_verdict verdict; /* of random: fewer: below q; too many: above SELFTEST_MOST */
	double squares;			/* of the cells' own rates, summed */
};

struct selftest_metric {
	const char *metric;
	int units_low, units_high;   /* of a cell, both halves together */
	struct selftest_rate random; /* random halves */
	/* The first half of the blocks against the second, once: too many, where random ones are not. */
	struct selftest_rate ordered;
	struct selftest_rate arms;    /* two variants that are one and the same: "same_as" */
};

struct selftest {
	struct selftest_options options;
	double nominal;		   /* q of a comparison */
	int campaigns, variants;   /* that gave a test */
	int most_units;		   /* of any cell, also where nothing could be tested */
	struct selftest_metric *metrics; /* sorted by name */
	size_t n_metrics;
	struct selftest_metric all; /* over all metrics; metric NULL */
	/* tables with any mark after correction, headline family; tests and cells count tables */
	struct selftest_metric tables;
};

/* Measures; a database without anything to test is no error. */
int selftest_measure(struct db *db, struct arena *a, const struct selftest_options *opt,
		     struct selftest **out, struct err *e);
/* Whether anything was tested at all. */
bool selftest_has_rate(const struct selftest *s);

/* For people, t->width columns of ASCII; as JSON, schema kdelta.selftest/1. */
void selftest_print(const struct selftest *s, struct text *t);
void selftest_add_json(const struct selftest *s, struct strbuf *out);

#endif

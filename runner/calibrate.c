// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `loops: auto`: how much work makes a run last as long as wanted. Measured once, on the baseline
 * where it can be entered, at the largest value of the parameter that the product is kept constant
 * with; these runs are no samples. The next campaign of that name takes the same, so that its test
 * cases stay the same and have a history.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "machine/host.h"
#include "runner/session.h"

/* Fact beside the products: the guest they were measured in. */
#define CALIBRATION_GUEST "calibration.guest"

char *session_auto_key(struct session *s, const struct bench_def *bench,
		       const struct bench_param *p)
{
	return arena_printf(s->a, "calibration.%s.%s", bench->name, p->name);
}

static bool is_open_auto(const struct test_case *c, const struct bench_def *bench,
			 const struct bench_param *p)
{
	return c->bench == bench && str_equal(case_param(c, p->name), "auto");
}

/* Number of the parameter that the product is constant with; 1 where there is none. */
static double partner(const struct test_case *c, const struct bench_param *p)
{
	const char *text = p->constant_with ? case_param(c, p->constant_with) : NULL;
	double v;

	return text && num_parse(span_of(text), &v) && v > 0 ? v : 1;
}

/* Seconds of a run: pairs are to be short, so that nothing drifts within them. */
#define FLIP_SECONDS 2.0
static double target(const struct session *s, const struct bench_param *p)
{
	return s->c->flip ? fmin(p->calibrate, FLIP_SECONDS) : p->calibrate;
}

void session_set_auto(struct session *s, const struct bench_def *bench, const struct bench_param *p,
		      double product)
{
	size_t i;

	for (i = 0; i < s->c->n_cases; i++) {
		struct test_case *c = &s->c->cases[i];

		if (!is_open_auto(c, bench, p))
			continue;
		case_set_param(s->a, c, p->name,
			       arena_printf(s->a, "%.0f", fmax(1, round(product / partner(c, p)))));
		if (c->stated <= 0)
			c->expected = target(s, p);
	}
}

int session_for_each_auto(struct session *s, session_auto_fn fn)
{
	size_t i, k;
	int ret = 0;

	for (i = 0; i < s->c->n_cases; i++) {
		const struct bench_def *bench = s->c->cases[i].bench;

		for (k = 0; !ret && k < bench->n_params; k++)
			if (is_open_auto(&s->c->cases[i], bench, &bench->params[k]) &&
			    !s->cases[i].missing)
				ret = fn(s, bench, &bench->params[k]);
	}
	return ret;
}

static double two_digits(double v)
{
	double unit = pow(10, floor(log10(v)) - 1);

	return v < 100 ? round(v) : round(v / unit) * unit;
}

/* Seconds of one run with so many loops; 0: it failed. */
static int time_run(struct session *s, struct visit *v, const struct test_case *c,
		    const struct bench_param *p, double loops, double *seconds)
{
	struct test_case trial = *c;
	struct job_result result = {0};
	int ret;

	trial.params = arena_copy(s->a, c->params, c->n_params, sizeof(*c->params));
	case_set_param(s->a, &trial, p->name, arena_printf(s->a, "%.0f", loops));
	ret = session_run_job(s, v, &trial, &result);
	*seconds = 0;
	if (!ret && result.proc.interrupted)
		ret = -EINTR;
	else if (!ret && !v->error && !result.error && result.proc.started &&
		 !result.proc.exit_status && !result.proc.signal)
		*seconds = result.proc.elapsed;
	job_result_release(&result);
	return ret;
}

/*
 * More loops until a run takes half of what is wanted and clearly longer than the one before; the
 * slope between these two leaves out what starting costs, which in an emulated guest is most of a
 * short run. *loops 0: a run failed.
 */
static int search(struct session *s, struct visit *v, const struct test_case *c,
		  const struct bench_param *p, double *loops)
{
	double n = 20, before = 0, seconds_before = 0, seconds, wanted = target(s, p);
	int i, ret;

	*loops = 0;
	for (i = 0; i < 16; i++) {
		ret = time_run(s, v, c, p, n, &seconds);
		if (ret || seconds <= 0)
			return ret;
		if (n >= 1e9 || (before > 0 && seconds >= wanted / 2 &&
				 seconds >= 1.5 * seconds_before)) {
			double slope = (seconds - seconds_before) / (n - before);

			*loops = slope > 0 ? two_digits(fmax(1, wanted / slope)) : n;
			return 0;
		}
		before = n;
		seconds_before = seconds;
		n = round(n * fmin(fmax(wanted / seconds, 2), 20));
	}
	return 0;
}

static const struct test_case *largest_case(struct session *s, const struct bench_def *bench,
					    const struct bench_param *p)
{
	const struct test_case *best = NULL;
	size_t i;

	for (i = 0; i < s->c->n_cases; i++)
		if (is_open_auto(&s->c->cases[i], bench, p) && !s->cases[i].missing &&
		    (!best || partner(&s->c->cases[i], p) > partner(best, p)))
			best = &s->c->cases[i];
	return best;
}

static int calibrate_in(struct session *s, int variant, const struct test_case *c,
			const struct bench_param *p, double *loops)
{
	struct visit v = {.variant = variant};
	int ret = s->backend.ops->boot(&s->backend, &v, s->e), left;

	*loops = 0;
	if (!ret && !v.error)
		ret = search(s, &v, c, p, loops);
	left = s->backend.ops->collect(&s->backend, &v, s->e);
	strbuf_release(&v.console);
	ARRAY_FREE(&v.facts);
	return ret ? ret : left;
}

/* Loops for a campaign none of whose variants could be calibrated: its runs tell why. */
enum { LOOPS_UNKNOWN = 1000 };

/* Kept in memory until the campaign has its row. */
static void take_product(struct session *s, const struct bench_def *bench,
			 const struct bench_param *p, double product)
{
	session_set_auto(s, bench, p, product);
	*ARRAY_PUSH(&s->calibrated) = (struct db_fact){
		.key = session_auto_key(s, bench, p),
		.value = arena_printf(s->a, "%.0f", product),
	};
}

static int calibrate(struct session *s, const struct bench_def *bench, const struct bench_param *p)
{
	const struct test_case *c = largest_case(s, bench, p);
	double loops = 0, share = partner(c, p);
	size_t i;
	int ret = 0;

	for (i = 0; i < s->c->n_variants && !ret && loops <= 0; i++) {
		if (s->variants[i].kernel.error ||
		    (s->backend.ops->is_running &&
		     !s->backend.ops->is_running(&s->backend, (int)i)))
			continue;
		if (s->opt->note)
			s->opt->note(arena_printf(s->a, "calibrating %s of %s on %s", p->name,
						  c->name, s->c->variants[i].name));
		ret = calibrate_in(s, (int)i, c, p, &loops);
	}
	if (ret)
		return ret;
	if (loops <= 0) {
		loops = LOOPS_UNKNOWN;
		if (s->opt->note)
			s->opt->note(arena_printf(s->a, "no variant could be calibrated; %s is %d",
						  p->name, LOOPS_UNKNOWN));
	}
	take_product(s, bench, p, loops * share);
	return 0;
}

/* ---- what is known from the last time ---- */

/* Guests of another size do not count as the same machine; pairs are of shorter runs. */
static char *guest_text(struct session *s)
{
	return arena_printf(s->a, "%s %d CPUs, %s%s", s->backend.ops->name, s->c->cpus,
			    s->c->memory, s->c->flip ? ", flip" : "");
}

static const char *find_fact(const struct db_fact *facts, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	return NULL;
}

/* Whether with this product every test case is one that the old campaign had. */
static bool cases_match(struct session *s, const struct bench_def *bench,
			const struct bench_param *p, double product, const struct db_case *old,
			size_t n)
{
	size_t i, k;

	for (i = 0; i < s->c->n_cases; i++) {
		struct test_case trial = s->c->cases[i];

		if (!is_open_auto(&trial, bench, p))
			continue;
		trial.params =
			arena_copy(s->a, trial.params, trial.n_params, sizeof(*trial.params));
		case_set_param(
			s->a, &trial, p->name,
			arena_printf(s->a, "%.0f", fmax(1, round(product / partner(&trial, p)))));
		for (k = 0; k < n && strcmp(old[k].identity, trial.identity); k++)
			;
		if (k == n)
			return false;
	}
	return true;
}

/* The product of one older campaign, 0 where it is no guide for this one. */
static int stored_product(struct session *s, const struct db_campaign *row,
			  const struct bench_def *bench, const struct bench_param *p,
			  double *product)
{
	struct db_machine now, then;
	struct db_fact *facts;
	struct db_case *cases;
	struct db_total *total;
	const char *text, *guest;
	size_t n, n_cases;
	int ret = db_get_facts(s->db, s->a, "campaign", row->id, &facts, &n, s->e);

	*product = 0;
	text = ret ? NULL : find_fact(facts, n, session_auto_key(s, bench, p));
	guest = text ? find_fact(facts, n, CALIBRATION_GUEST) : NULL;
	if (!text || !str_equal(guest, guest_text(s)))
		return ret;
	backend_read_machine(&s->backend, &now);
	ret = db_get_machine(s->db, s->a, row->machine_id, &then, s->e);
	if (!ret)
		ret = db_get_cases(s->db, s->a, row->id, &cases, &n_cases, s->e);
	if (!ret)
		ret = db_get_totals(s->db, s->a, row->id, &total, &n, s->e);
	if (ret || strcmp(now.fingerprint, then.fingerprint) || !n || !total->ok)
		return ret;
	if (num_parse(span_of(text), product) &&
	    !cases_match(s, bench, p, *product, cases, n_cases))
		*product = 0;
	return 0;
}

/* The newest campaign of this name and machine whose test cases these would be. */
static int reuse(struct session *s, const struct bench_def *bench, const struct bench_param *p,
		 double *product)
{
	struct db_campaign *list;
	size_t n, i;
	int ret = db_get_campaigns(s->db, s->a, &list, &n, s->e);

	*product = 0;
	for (i = 0; !ret && *product <= 0 && i < n; i++) {
		if (strcmp(list[i].kind, "run") || strcmp(list[i].name, s->c->name) ||
		    strcmp(list[i].backend, s->backend.ops->name) || !list[i].machine_id ||
		    strcmp(list[i].accelerator, or_empty(s->backend.accelerator)))
			continue;
		ret = stored_product(s, &list[i], bench, p, product);
		if (!ret && *product > 0 && s->opt->note)
			s->opt->note(arena_printf(s->a,
						  "%s of %s as in %s; --recalibrate measures anew",
						  p->name, bench->name, list[i].id));
	}
	return ret;
}

static int reuse_or_calibrate(struct session *s, const struct bench_def *bench,
			      const struct bench_param *p)
{
	double product = 0;
	int ret = s->opt->recalibrate ? 0 : reuse(s, bench, p, &product);

	if (ret)
		return ret;
	if (product <= 0)
		return calibrate(s, bench, p);
	take_product(s, bench, p, product);
	return 0;
}

int session_calibrate(struct session *s)
{
	int ret = session_for_each_auto(s, reuse_or_calibrate);

	if (!ret && s->calibrated.n)
		*ARRAY_PUSH(&s->calibrated) =
			(struct db_fact){.key = CALIBRATION_GUEST, .value = guest_text(s)};
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/store.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "jobs/count.h"
#include "parsers/monitor_log.h"

/* Names of the streams beside the output. */
#define MONITORS "monitors"
#define COUNT	 "count"

/* What a run is read with. */
struct reading {
	struct db *db;
	struct arena *a;
	const struct catalog *cat;
	const struct bench_def *def;
	struct err *e;
	struct parse_result *parsed; /* NULL: the text is still to be parsed */
};

static int put_metric(const struct reading *r, const char *metric, const char *unit,
		      enum value_role role, struct db_metric *m, int64_t *id)
{
	catalog_metric(r->cat, r->def->name, metric, unit, m);
	if (role == ROLE_DIAGNOSTIC)
		m->role = "diagnostic";
	return db_put_metric(r->db, m, id, r->e);
}

/*
 * An output with several results (a benchmark run in a loop) is one run and gives one value: the
 * metric's mean over them.
 */
static int store_value(const struct reading *r, int64_t run, const struct parse_result *result,
		       const struct parse_value *first)
{
	double *values = arena_alloc_array(r->a, result->runs.n, sizeof(*values)), mean;
	struct db_metric m;
	const struct parse_run *p;
	const struct parse_value *v;
	size_t n = 0;
	int64_t id;
	int ret;

	array_for_each (p, &result->runs)
		array_for_each (v, &p->values)
			if (!strcmp(v->metric, first->metric) && !v->is_null)
				values[n++] = v->value;
	ret = put_metric(r, first->metric, first->unit, first->role, &m, &id);
	if (ret)
		return ret;
	mean = n == 1 ? values[0] : stats_mean(m.mean_kind, values, n);
	return isfinite(mean) ? db_add_sample(r->db, run, id, mean, r->e) : 0;
}

static int store_fact(const struct reading *r, int64_t run, const char *what, const char *metric,
		      const char *value)
{
	return db_set_fact(r->db, "run", arena_printf(r->a, "%lld", (long long)run),
			   arena_printf(r->a, "series.%s.%s", what, metric), value, r->e);
}

/* What the seconds of a run look like is looked at once, here, and not in every comparison. */
static int store_shape(const struct reading *r, int64_t run, const struct parse_series *s)
{
	struct stats_shape shape = stats_series_shape(s->t, s->v, s->n);
	int ret = 0;

	if (shape.stalls)
		ret = store_fact(r, run, "stalls", s->metric,
				 arena_printf(r->a, "%zu of %zu", shape.stalls, shape.n));
	if (!ret && shape.warm_up != 0)
		ret = store_fact(r, run, "warm_up", s->metric,
				 arena_printf(r->a, "%.4f", shape.warm_up));
	if (!ret && shape.drift != 0)
		ret = store_fact(r, run, "drift", s->metric,
				 arena_printf(r->a, "%.4f", shape.drift));
	return ret;
}

static int store_series(const struct reading *r, int64_t run, const struct parse_run *p)
{
	const struct parse_series *s;
	struct db_metric m;
	int64_t id;
	int ret;

	array_for_each (s, &p->series) {
		ret = put_metric(r, s->metric, s->unit, ROLE_DIAGNOSTIC, &m, &id);
		if (!ret)
			ret = db_add_series(r->db, run, id, s->t, s->v, s->n, r->e);
		/* percentile blocks have no rate that could stall */
		if (!ret && m.direction == DIR_HIGHER)
			ret = store_shape(r, run, s);
		if (ret)
			return ret;
	}
	return 0;
}

static int store_values(const struct reading *r, int64_t run, const struct parse_result *result)
{
	const struct parse_run *first = result->runs.items;
	const struct parse_value *v;
	int ret = 0;

	array_for_each (v, &first->values) {
		if (!v->is_null)
			ret = store_value(r, run, result, v);
		if (ret)
			return ret;
	}
	return result->runs.n == 1 ? store_series(r, run, first) : 0;
}

/* Whether two parameters say the same: words as they are, numbers with the factor. */
static bool param_agrees(const struct bench_param *p, const char *asked, const char *found)
{
	double a, f;

	if (!num_parse(span_of(asked), &a) || !num_parse(span_of(found), &f))
		return !strcmp(asked, found);
	return fabs(a * p->check_factor - f) < 1e-9 * fmax(1, fabs(f));
}

/*
 * What was asked for against what the output says it did: hackbench 2.40 ignores the old
 * positional form and runs its defaults, exit 0. NULL: all that is named agrees.
 */
static const char *params_differ(const struct reading *r, const struct parse_run *run,
				 const struct param_value *params, size_t n)
{
	const struct parse_param *found;
	size_t i, k;

	for (i = 0; i < r->def->n_params; i++) {
		const struct bench_param *p = &r->def->params[i];

		for (k = 0; p->check && k < n; k++) {
			if (strcmp(params[k].name, p->name))
				continue;
			array_for_each (found, &run->params)
				if (!strcmp(found->name, p->check) &&
				    !param_agrees(p, params[k].value, found->text))
					return arena_printf(
						r->a, "asked for %s=%s, the output says %s %s",
						p->name, params[k].value, found->name, found->text);
		}
	}
	return NULL;
}

/* The times that the runner took itself, as if they had been printed. */
static struct parse_result *parse_clock(const struct reading *r, const struct db_run *run)
{
	const struct parse_value times[] = {
		{.metric = "real", .unit = "s", .value = run->elapsed},
		{.metric = "user", .unit = "s", .value = run->user_time},
		{.metric = "sys", .unit = "s", .value = run->sys_time},
	};
	struct parse_result *result = arena_alloc(r->a, sizeof(*result));
	struct parse_run *p = arena_alloc(r->a, sizeof(*p));

	if (run->signal || run->exit_status) {
		p->outcome = OUTCOME_ERROR;
		p->error = run->exit_status == 124 ? "hang" : "command_failed";
		p->message = run->signal ? arena_printf(r->a, "ended by signal %d", run->signal)
					 : arena_printf(r->a, "exit status %d", run->exit_status);
	} else {
		p->values.items = arena_copy(r->a, times, ARRAY_SIZE(times), sizeof(*times));
		p->values.n = p->values.alloc = ARRAY_SIZE(times);
	}
	*result = (struct parse_result){r->def->name, p->outcome, p->error, p->message, {p, 1, 1}};
	return result;
}

static int read_output(const struct reading *r, const struct db_run *run, struct span text,
		       struct parse_result **result)
{
	struct parse_input in = {
		.text = text,
		.exit_status = run->exit_status,
		.signal = run->signal,
		.command = run->command,
	};

	if (!strcmp(r->def->parser, "clock")) {
		*result = parse_clock(r, run);
		return 0;
	}
	if (r->parsed) {
		*result = r->parsed;
		return 0;
	}
	return catalog_parse(r->a, r->def, &in, result, r->e);
}

static int store_counters(const struct reading *r, int64_t run, const struct parse_run *counters)
{
	const struct parse_value *v;
	struct db_metric m;
	int64_t id;
	int ret = 0;

	array_for_each (v, &counters->values) {
		/* the unit is the catalog's */
		ret = put_metric(r, v->metric, NULL, ROLE_RESULT, &m, &id);
		if (!ret)
			ret = db_add_sample(r->db, run, id, v->value, r->e);
		if (ret)
			break;
	}
	return ret;
}

/*
 * The counts take the place of what the benchmark measured with a clock that counts instructions.
 * Where much of it is time in which nothing ran the run is suspect: *why.
 */
static void take_counts(const struct reading *r, struct span text, struct parse_result *result,
			const char **why)
{
	_cleanup_err_ struct err damage = ERR_INIT;
	struct parse_run *p = arena_alloc(r->a, sizeof(*p));
	struct count c;

	p->outcome = result->outcome;
	if (count_parse(text, &c, &damage)) {
		p->outcome = result->outcome = OUTCOME_ERROR;
		p->error = result->error = "no_count";
		p->message = result->message = arena_strdup(r->a, err_text(&damage));
	} else {
		const struct parse_value values[] = {
			{.metric = "kinsn", .unit = "kinsn", .value = (double)c.tsc / 1e3},
			{.metric = "kinsn_switches", .unit = "count", .value = (double)c.voluntary},
			{.metric = "kinsn_preemptions",
			 .unit = "count",
			 .value = (double)c.involuntary},
			{.metric = "kinsn_time", .unit = "ms", .value = (double)c.ns / 1e6},
			{.metric = "kinsn_idle",
			 .unit = "%",
			 .value = 100 * c.idle,
			 .is_null = isnan(c.idle)},
		};

		p->values.items = arena_copy(r->a, values, ARRAY_SIZE(values), sizeof(*values));
		p->values.n = p->values.alloc = ARRAY_SIZE(values);
	}
	if (c.idle > COUNT_IDLE_MAX)
		*why = arena_printf(r->a,
				    "%.0f %% of the count is time in which nothing ran: it waits more "
				    "than it computes",
				    100 * c.idle);
	result->runs.items = p;
	result->runs.n = result->runs.alloc = 1;
}

/* Parses and writes outcome and samples in one transaction. */
static int interpret(const struct reading *r, struct db_run *run, struct span text,
		     const struct run_output *beside, const struct param_value *params, size_t n)
{
	struct parse_result *result = NULL;
	struct parse_run counters;
	const char *differ = NULL;
	enum outcome outcome = OUTCOME_ERROR;
	int ret = db_begin(r->db, r->e);

	if (ret)
		return ret;
	ret = db_clear_samples(r->db, run->id, r->e);
	if (!ret && !run->error)
		ret = read_output(r, run, text, &result);
	if (!ret && result) {
		if (result->outcome == OUTCOME_OK)
			differ = params_differ(r, result->runs.items, params, n);
		if (result->outcome == OUTCOME_OK && beside->count.len)
			take_counts(r, beside->count, result, &differ);
		outcome = result->outcome;
		run->error = result->error;
		run->message = result->message;
	}
	monitor_log_parse(r->a, beside->monitors, &counters);
	if (!differ && outcome == OUTCOME_OK)
		differ = monitor_log_doubt(r->a, &counters);
	if (differ && outcome == OUTCOME_OK) {
		outcome = OUTCOME_SUSPECT;
		run->message = differ;
	}
	run->outcome = outcome_name(outcome);
	if (!ret && (outcome == OUTCOME_OK || outcome == OUTCOME_SUSPECT))
		ret = store_values(r, run->id, result);
	if (!ret && (outcome == OUTCOME_OK || outcome == OUTCOME_SUSPECT))
		ret = store_counters(r, run->id, &counters);
	if (!ret)
		ret = db_set_run_outcome(r->db, run->id, run->outcome, run->error, run->message,
					 r->e);
	if (ret) {
		db_rollback(r->db);
		return ret;
	}
	return db_commit(r->db, r->e);
}

static int store_raw(struct db *db, struct db_run *run, const struct run_output *output,
		     struct err *e)
{
	const struct {
		const char *stream;
		struct span text;
	} streams[] = {
		{"stdout", output->out},
		{"stderr", output->err},
		{MONITORS, output->monitors},
		{COUNT, output->count},
	};
	int ret = db_begin(db, e);
	size_t i;

	if (ret)
		return ret;
	run->outcome = "stored";
	ret = db_add_run(db, run, &run->id, e);
	for (i = 0; !ret && i < ARRAY_SIZE(streams); i++)
		if (streams[i].text.len)
			ret = db_add_raw(db, run->id, streams[i].stream, "", streams[i].text, NULL,
					 e);
	if (ret) {
		db_rollback(db);
		return ret;
	}
	return db_commit(db, e);
}

int store_run(struct db *db, struct arena *a, const struct catalog *cat,
	      const struct bench_def *def, struct db_run *run, const struct run_output *output,
	      const struct param_value *params, size_t n_params, struct err *e)
{
	const struct reading r = {db, a, cat, def, e, output->parsed};
	_cleanup_strbuf_ struct strbuf both = STRBUF_INIT;
	struct span text = output->out;
	int ret;

	run->parser = def->name;
	ret = store_raw(db, run, output, e);
	if (ret)
		return ret;
	if (output->err.len) {
		strbuf_add(&both, output->out.s, output->out.len);
		strbuf_add(&both, output->err.s, output->err.len);
		text = (struct span){strbuf_str(&both), both.len};
	}
	return interpret(&r, run, text, output, params, n_params);
}

/* Parameters of a test case as stored: {"clients":"2"} */
static int read_params(struct arena *a, const char *json, struct param_value **params, size_t *n,
		       struct err *e)
{
	json_t *j = json_loads(json, 0, NULL), *value;
	const char *key;

	if (!json_is_object(j)) {
		json_decref(j);
		return err_add(e, -EINVAL, "the stored parameters are not JSON: %s", json);
	}
	*params = arena_alloc_array(a, json_object_size(j) + 1, sizeof(**params));
	json_object_foreach(j, key, value) if (json_is_string(value))(*params)[(*n)++] =
		(struct param_value){arena_strdup(a, key),
				     arena_strdup(a, json_string_value(value)), false};
	json_decref(j);
	return 0;
}

static int find_case(struct db *db, struct arena *a, const struct db_run *run,
		     struct db_case *found, struct err *e)
{
	struct db_case *cases;
	size_t n, i;
	int ret = db_get_cases(db, a, run->campaign, &cases, &n, e);

	for (i = 0; !ret && i < n; i++) {
		if (cases[i].id == run->case_id) {
			*found = cases[i];
			return 0;
		}
	}
	return ret ? ret : err_add(e, -ENOENT, "run %lld has no test case", (long long)run->id);
}

static int read_streams(struct db *db, struct arena *a, int64_t run, struct strbuf *text,
			struct strbuf *monitors, struct strbuf *count, struct err *e)
{
	struct db_raw *raws;
	size_t n, i;
	int ret = db_get_raws(db, a, run, &raws, &n, e);

	for (i = 0; !ret && i < n; i++) {
		_cleanup_strbuf_ struct strbuf one = STRBUF_INIT;

		if (!strcmp(raws[i].stream, "console") || !strcmp(raws[i].stream, "source"))
			continue;
		ret = db_read_raw(db, raws[i].id, &one, e);
		strbuf_add(!strcmp(raws[i].stream, MONITORS) ? monitors
			   : !strcmp(raws[i].stream, COUNT)  ? count
							     : text,
			   strbuf_str(&one),
			   one.len);
	}
	return ret;
}

/*
 * Whether the runner itself refused the run: the output cannot say it. Everything else is judged
 * anew by the parser.
 */
static bool is_runner_error(const struct db_run *run)
{
	static const char *const kinds[] = {"hang", "server_lost", "output_full", NULL};
	size_t i;

	if (!run->error)
		return false;
	for (i = 0; kinds[i]; i++)
		if (!strcmp(kinds[i], run->error))
			return true;
	return run->exit_status == -1 && !run->signal;
}

int store_reparse(struct db *db, struct arena *a, const struct catalog *cat, struct db_run *run,
		  struct err *e)
{
	struct reading r = {db, a, cat, NULL, e, NULL};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, monitors = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf count = STRBUF_INIT;
	struct param_value *params = NULL;
	struct db_case c = {0};
	size_t n = 0;
	int ret = find_case(db, a, run, &c, e);

	if (!ret)
		ret = read_params(a, c.params, &params, &n, e);
	if (!ret)
		ret = read_streams(db, a, run->id, &text, &monitors, &count, e);
	/* The output of an imported run stands in its campaign's source: nothing to read. */
	if (!ret && !text.len && strcmp(run->outcome, "stored"))
		return 0;
	if (ret)
		return ret;
	if (!is_runner_error(run))
		run->error = run->message = NULL;
	r.def = catalog_find(cat, *run->parser ? run->parser : c.benchmark);
	if (!r.def)
		r.def = catalog_clock(a, c.benchmark);
	return interpret(&r, run, (struct span){strbuf_str(&text), text.len},
			 &(struct run_output){
				 .monitors = {strbuf_str(&monitors), monitors.len},
				 .count = {strbuf_str(&count), count.len},
			 },
			 params, n);
}

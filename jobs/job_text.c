// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs and their results as text, for the agent of a guest or target. */
#include "jobs/job.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"

#define JOB_TEXT_MAX (1u << 20)
#define LIST_MAX     4096 /* words of a command */

static const char *const job_errors[] = {"port_in_use",	  "not_found",	 "prepare_failed",
					 "server_failed", "server_lost", "no_count",
					 NULL};

const char *job_error_find(struct span word)
{
	const char *const *p;

	for (p = job_errors; *p; p++) {
		if (span_is(word, *p))
			return *p;
	}
	return NULL;
}

void job_result_release(struct job_result *r)
{
	proc_result_release(&r->proc);
	strbuf_release(&r->server_output);
	strbuf_release(&r->monitors);
	strbuf_release(&r->count);
	free(r->message);
	r->message = NULL;
}

/* One table each drives both ways. */
enum field_kind {
	FIELD_TEXT,  /* const char *, NULL: absent */
	FIELD_OWNED, /* char * of malloc */
	FIELD_WORD,  /* one of job_errors */
	FIELD_LIST,  /* NULL-terminated list of texts, one record each */
	FIELD_BYTES, /* struct strbuf */
	FIELD_BOOL,
	FIELD_INT,
	FIELD_LONG,
	FIELD_U64,
	FIELD_SECONDS, /* double */
	FIELD_TIME,    /* struct timeval, as microseconds */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
};

static const struct field job_fields[] = {
	{"argv", FIELD_LIST, offsetof(struct job, argv)},
	{"env", FIELD_LIST, offsetof(struct job, env)},
	{"dir", FIELD_TEXT, offsetof(struct job, dir)},
	{"cpus", FIELD_TEXT, offsetof(struct job, cpus)},
	{"server", FIELD_LIST, offsetof(struct job, server)},
	{"port", FIELD_INT, offsetof(struct job, port)},
	{"prepare", FIELD_LIST, offsetof(struct job, prepare)},
	{"drop_caches", FIELD_BOOL, offsetof(struct job, drop_caches)},
	{"policy", FIELD_TEXT, offsetof(struct job, policy)},
	{"nice", FIELD_INT, offsetof(struct job, nice)},
	{"count", FIELD_BOOL, offsetof(struct job, count)},
	{"deadline", FIELD_SECONDS, offsetof(struct job, deadline)},
	{"nofile", FIELD_U64, offsetof(struct job, nofile)},
	{"monitors", FIELD_LIST, offsetof(struct job, monitors)},
	{"monitor_interval", FIELD_SECONDS, offsetof(struct job, monitor_interval)},
	{"monitor_per_cpu", FIELD_BOOL, offsetof(struct job, monitor_per_cpu)},
};

static const struct field result_fields[] = {
	{"error", FIELD_WORD, offsetof(struct job_result, error)},
	{"message", FIELD_OWNED, offsetof(struct job_result, message)},
	{"started", FIELD_BOOL, offsetof(struct job_result, proc.started)},
	{"start_errno", FIELD_INT, offsetof(struct job_result, proc.start_errno)},
	{"exit_status", FIELD_INT, offsetof(struct job_result, proc.exit_status)},
	{"signal", FIELD_INT, offsetof(struct job_result, proc.signal)},
	{"timed_out", FIELD_BOOL, offsetof(struct job_result, proc.timed_out)},
	{"interrupted", FIELD_BOOL, offsetof(struct job_result, proc.interrupted)},
	{"output_full", FIELD_BOOL, offsetof(struct job_result, proc.output_full)},
	{"leftovers", FIELD_INT, offsetof(struct job_result, proc.leftovers)},
	{"elapsed", FIELD_SECONDS, offsetof(struct job_result, proc.elapsed)},
	{"user", FIELD_TIME, offsetof(struct job_result, proc.usage.ru_utime)},
	{"sys", FIELD_TIME, offsetof(struct job_result, proc.usage.ru_stime)},
	{"maxrss", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_maxrss)},
	{"minflt", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_minflt)},
	{"majflt", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_majflt)},
	{"inblock", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_inblock)},
	{"oublock", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_oublock)},
	{"nvcsw", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_nvcsw)},
	{"nivcsw", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_nivcsw)},
	{"stdout", FIELD_BYTES, offsetof(struct job_result, proc.out)},
	{"stderr", FIELD_BYTES, offsetof(struct job_result, proc.err)},
	{"server_output", FIELD_BYTES, offsetof(struct job_result, server_output)},
	{"monitors", FIELD_BYTES, offsetof(struct job_result, monitors)},
	{"count", FIELD_BYTES, offsetof(struct job_result, count)},
};

static void record_add(struct strbuf *out, const char *key, const void *data, size_t len)
{
	strbuf_addf(out, "%s %zu\n", key, len);
	strbuf_add(out, data, len);
	strbuf_addc(out, '\n');
}

static void record_add_text(struct strbuf *out, const char *key, const char *text)
{
	if (text)
		record_add(out, key, text, strlen(text));
}

static void record_add_int(struct strbuf *out, const char *key, int64_t v)
{
	_cleanup_free_ char *text = mem_printf("%lld", (long long)v);

	record_add_text(out, key, text);
}

static void field_encode(const struct field *f, const void *object, struct strbuf *out)
{
	const void *p = (const char *)object + f->offset;
	_cleanup_strbuf_ struct strbuf number = STRBUF_INIT;
	const char *const *item;

	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_OWNED:
	case FIELD_WORD:
		record_add_text(out, f->key, *(const char *const *)p);
		break;
	case FIELD_LIST:
		for (item = *(const char *const *const *)p; item && *item; item++)
			record_add_text(out, f->key, *item);
		break;
	case FIELD_BYTES:
		record_add(out, f->key, strbuf_str(p), ((const struct strbuf *)p)->len);
		break;
	case FIELD_BOOL:
		record_add_int(out, f->key, *(const bool *)p);
		break;
	case FIELD_INT:
		record_add_int(out, f->key, *(const int *)p);
		break;
	case FIELD_LONG:
		record_add_int(out, f->key, *(const long *)p);
		break;
	case FIELD_U64:
		record_add_int(out, f->key, (int64_t)MIN(*(const uint64_t *)p, INT64_MAX));
		break;
	case FIELD_SECONDS:
		num_add_exact(&number, *(const double *)p);
		record_add_text(out, f->key, number.buf);
		break;
	case FIELD_TIME:
		record_add_int(out, f->key,
			       ((const struct timeval *)p)->tv_sec * (int64_t)1000000 +
				       ((const struct timeval *)p)->tv_usec);
		break;
	}
}

static void fields_encode(const struct field *fields, size_t n, const void *object,
			  struct strbuf *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		field_encode(&fields[i], object, out);
	record_add(out, "end", "", 0);
}

/* Appends to an arena list that is grown at every power of two; false if it is too long. */
static bool list_append(struct arena *a, const char *const **list, const char *text)
{
	size_t n = 0;
	const char **grown;

	while (*list && (*list)[n])
		n++;
	if (n >= LIST_MAX)
		return false;
	if (!(n & (n + 1))) {
		grown = arena_alloc_array(a, 2 * n + 2, sizeof(*grown));
		if (n)
			memcpy(grown, *list, n * sizeof(*grown));
		*list = grown;
	}
	((const char **)(uintptr_t)*list)[n] = text;
	return true;
}

static bool parse_range(struct span value, int64_t min, int64_t max, int64_t *v)
{
	return num_parse_int(value, v) && *v >= min && *v <= max;
}

/* Numbers of a field; false if the value is none or out of its range. */
static bool number_decode(enum field_kind kind, void *p, struct span value)
{
	int64_t v;

	switch (kind) {
	case FIELD_BOOL:
		return parse_range(value, 0, 1, &v) && (*(bool *)p = v, true);
	case FIELD_INT:
		return parse_range(value, INT_MIN, INT_MAX, &v) && (*(int *)p = (int)v, true);
	case FIELD_LONG:
		return parse_range(value, LONG_MIN, LONG_MAX, &v) && (*(long *)p = v, true);
	case FIELD_U64:
		return parse_range(value, 0, INT64_MAX, &v) && (*(uint64_t *)p = (uint64_t)v, true);
	case FIELD_SECONDS:
		return num_parse(value, p) && *(double *)p >= 0;
	case FIELD_TIME:
		if (!parse_range(value, 0, INT64_MAX, &v))
			return false;
		*(struct timeval *)p = (struct timeval){v / 1000000, v % 1000000};
		return true;
	default:
		return false;
	}
}

static bool field_decode(const struct field *f, void *object, struct arena *a, struct span value)
{
	void *p = (char *)object + f->offset;
	const char **word = p;

	switch (f->kind) {
	case FIELD_BYTES:
		strbuf_reset(p);
		strbuf_add(p, value.s, value.len);
		return true;
	case FIELD_WORD:
		*word = job_error_find(value);
		return *word != NULL;
	case FIELD_TEXT:
	case FIELD_LIST:
	case FIELD_OWNED:
		if (memchr(value.s, '\0', value.len))
			return false;
		if (f->kind == FIELD_LIST)
			return list_append(a, p, arena_strndup(a, value.s, value.len));
		if (f->kind == FIELD_TEXT) {
			*word = arena_strndup(a, value.s, value.len);
		} else {
			free(*(char **)p);
			*(char **)p = mem_strndup(value.s, value.len);
		}
		return true;
	default:
		return number_decode(f->kind, p, value);
	}
}

/* Takes "key length\nbytes\n" off *rest. */
static bool record_next(struct span *rest, struct span *key, struct span *value)
{
	struct span line, number;
	bool complete;
	int64_t len;

	if (!span_next_line(rest, &line, &complete) || !complete)
		return false;
	if (!span_next_word(&line, key) || !span_next_word(&line, &number))
		return false;
	if (!num_parse_int(number, &len) || len < 0 || (uint64_t)len >= rest->len ||
	    rest->s[len] != '\n')
		return false;
	*value = (struct span){rest->s, (size_t)len};
	rest->s += len + 1;
	rest->len -= (size_t)len + 1;
	return true;
}

static int fields_decode(const struct field *fields, size_t n, struct span text, void *object,
			 struct arena *a, struct err *e)
{
	struct span rest = text, key, value;
	size_t i;

	while (record_next(&rest, &key, &value)) {
		if (span_is(key, "end") && !value.len && !rest.len)
			return 0;
		for (i = 0; i < n && !span_is(key, fields[i].key); i++)
			;
		if (i == n || !field_decode(&fields[i], object, a, value))
			break;
	}
	return err_add(e, -EBADMSG, "damaged message: %zu of %zu bytes make sense",
		       text.len - rest.len, text.len);
}

void job_encode(const struct job *job, struct strbuf *out)
{
	fields_encode(job_fields, ARRAY_SIZE(job_fields), job, out);
}

int job_decode(struct arena *a, struct span text, struct job *job, struct err *e)
{
	int r;

	memset(job, 0, sizeof(*job));
	if (text.len > JOB_TEXT_MAX)
		return err_add(e, -E2BIG, "a job of %zu bytes is too large", text.len);
	r = fields_decode(job_fields, ARRAY_SIZE(job_fields), text, job, a, e);
	if (!r && !job->argv)
		r = err_add(e, -EBADMSG, "damaged message: a job without a command");
	return r;
}

void job_result_encode(const struct job_result *r, struct strbuf *out)
{
	fields_encode(result_fields, ARRAY_SIZE(result_fields), r, out);
}

int job_result_decode(struct span text, struct job_result *r, struct err *e)
{
	int code;

	memset(r, 0, sizeof(*r));
	code = fields_decode(result_fields, ARRAY_SIZE(result_fields), text, r, NULL, e);
	if (code) {
		job_result_release(r);
		memset(r, 0, sizeof(*r));
	}
	return code;
}

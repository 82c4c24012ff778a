// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/num.h"
#include "machine/doctor_look.h"
#include "machine/doctor_usage.h"
#include "machine/knob.h"
#include "machine/rooted.h"

enum { TEXT_LIMIT = 1 << 20, MAX_PROCESSES = 32768, MAX_CPUS = 65536 };

const char *const doctor_state_names[DOCTOR_STATES] = {"FAIL", "warn", "info", "ok", "n/a"};

/* One word of doctor_check.good. */
static bool matches_word(const char *word, const char *value)
{
	double limit, v;
	bool most = str_starts(word, "<=");

	if (!most && !str_starts(word, ">="))
		return str_glob(word, value);
	return num_parse(span_of(word + 2), &limit) && num_parse(span_of(value), &v) &&
	       (most ? v <= limit : v >= limit);
}

bool doctor_matches(const char *words, const char *value)
{
	struct span rest = span_of(words), word;

	while (span_next_word(&rest, &word)) {
		_cleanup_free_ char *one = mem_strndup(word.s, word.len);

		if (matches_word(one, value))
			return true;
	}
	return false;
}

enum doctor_state doctor_judge(const struct doctor_check *c, const char *value)
{
	if (!c->good)
		return DOCTOR_INFO;
	if (doctor_matches(c->good, value))
		return DOCTOR_OK;
	if (c->blocker && doctor_matches(c->blocker, value))
		return DOCTOR_FAIL;
	return !c->poor || doctor_matches(c->poor, value) ? c->bad : DOCTOR_INFO;
}

/* ---- what files say ---- */

/* Why there is no value: the machine is virtual, we may not look, or there is no such thing. */
static const char *why_absent(struct doctor *d, const struct doctor_check *c, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int r = path ? rooted_read(d->root, path, 1, &sb) : -ENOENT;

	if (r == -EACCES || r == -EPERM)
		return geteuid() ? "only root may read it" : "the kernel lets nobody read it";
	if (c->hardware && d->hypervisor)
		return "not exposed to this virtual machine";
	if (r == -ENOENT && c->absent)
		return c->absent;
	if (r == -ENOENT)
		return c->path ? "this kernel has no such file" : "nothing here tells";
	return "what it says is no value";
}

static const char *chosen(struct doctor *d, const char *line)
{
	struct span value = knob_value(span_of(line));

	return arena_strndup(d->a, value.s, value.len);
}

/* All files of one pattern: the worst state of any; "powersave (6), performance (2)". */
static bool look_pattern(struct doctor *d, const struct doctor_check *c, const char *pattern,
			 struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n, i;
	struct rooted_count *list = rooted_lines(d->a, d->root, pattern, &n);

	r->state = DOCTOR_ABSENT;
	for (i = 0; i < n; i++) {
		const char *value = chosen(d, list[i].line);

		r->state = MIN(r->state, doctor_judge(c, value));
		strbuf_addf(&sb, "%s%s", i ? ", " : "", value);
		if (n > 1)
			strbuf_addf(&sb, " (%zu)", list[i].files);
	}
	r->value = arena_strdup(d->a, strbuf_str(&sb));
	return n > 0;
}

static bool is_empty(struct doctor *d, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	return !rooted_read(d->root, path, TEXT_LIMIT, &sb) &&
	       !span_trim((struct span){strbuf_str(&sb), sb.len}).len;
}

static void look_files(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	struct span rest = span_of(c->path), word;
	const char *path, *there = NULL;

	while (span_next_word(&rest, &word)) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

		path = arena_strndup(d->a, word.s, word.len);
		if (look_pattern(d, c, path, r))
			return;
		if (c->empty && is_empty(d, path)) {
			r->value = c->empty;
			r->state = doctor_judge(c, c->empty);
			return;
		}
		if (!there && rooted_read(d->root, path, 1, &sb) != -ENOENT)
			there = path;
	}
	r->state = DOCTOR_ABSENT;
	r->value = why_absent(d, c, there);
}

/* ---- the whole ---- */

static struct span read_text(struct doctor *d, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	rooted_read(d->root, path, TEXT_LIMIT, &sb);
	return (struct span){arena_strndup(d->a, strbuf_str(&sb), sb.len), sb.len};
}

static double count_cpus(struct doctor *d)
{
	const char *list = rooted_line(d->a, d->root, "/sys/devices/system/cpu/online");
	struct span rest = span_of(list ? list : "");
	int64_t first, last, n = 0;

	while (num_next_range(&rest, &first, &last, NULL) && last < MAX_CPUS)
		n += last - first + 1;
	return n ? (double)n : 1;
}

/* x86 has a flag for it; elsewhere the maker of the machine tells, as far as it is known. */
static const char *find_hypervisor(struct doctor *d)
{
	const char *type = rooted_line(d->a, d->root, "/sys/hypervisor/type");
	const char *maker = rooted_line(d->a, d->root, "/sys/class/dmi/id/sys_vendor");
	const char *flags = rooted_value(d->a, d->cpuinfo, "flags");

	if (type)
		return type;
	if (flags && strstr(flags, " hypervisor"))
		return maker ? maker : "a hypervisor is below";
	return maker && doctor_matches("QEMU* KVM*", maker) ? maker : NULL;
}

static void read_comms(struct doctor *d)
{
	size_t n, i;
	char **paths = rooted_glob(d->a, d->root, "/proc/[0-9]*/comm", MAX_PROCESSES, &n);

	d->comms = arena_alloc_array(d->a, n + 1, sizeof(*d->comms));
	for (i = 0; i < n; i++) {
		d->comms[d->n_comms] = rooted_line(d->a, d->root, paths[i]);
		d->n_comms += d->comms[d->n_comms] != NULL;
	}
}

static void look_one(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	char *text;

	r->check = c;
	if (!c->look) {
		look_files(d, c, r);
	} else {
		r->state = DOCTOR_OK;
		r->value = c->look(d, c, &r->state);
		if (!r->value) {
			r->state = DOCTOR_ABSENT;
			r->value = why_absent(d, c, c->path);
		}
	}
	text = arena_printf(d->a, "%.400s", r->value);
	str_mask_controls(text, strlen(text), '?');
	r->value = text;
}

static int compare_results(const void *x, const void *y)
{
	const struct doctor_result *a = x, *b = y;

	if (a->state != b->state)
		return (int)a->state - (int)b->state;
	if (a->check->weight != b->check->weight)
		return b->check->weight - a->check->weight;
	return (a->check > b->check) - (a->check < b->check);
}

struct doctor_result *doctor_look(struct arena *a, const struct doctor_options *opt, size_t *n)
{
	struct doctor_result *list = arena_alloc_array(a, n_doctor_checks, sizeof(*list));
	struct doctor d = {.a = a, .opt = opt, .root = opt->root};
	size_t i;

	d.cpus = count_cpus(&d);
	d.cpuinfo = read_text(&d, "/proc/cpuinfo");
	d.meminfo = read_text(&d, "/proc/meminfo");
	d.hypervisor = find_hypervisor(&d);
	read_comms(&d);
	if (!opt->quick)
		d.usage = doctor_watch(&d);
	*n = 0;
	for (i = 0; i < n_doctor_checks; i++)
		if (!opt->quick || !doctor_checks[i].slow)
			look_one(&d, &doctor_checks[i], &list[(*n)++]);
	qsort(list, *n, sizeof(*list), compare_results);
	return list;
}

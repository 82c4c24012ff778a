// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/boot_state.h"

#include <string.h>

#include "core/num.h"

static const char *const step_names[] = {
	[BOOT_PLANNED] = "planned",   [BOOT_ARMED] = "armed",	  [BOOT_BOOTING] = "booting",
	[BOOT_VERIFIED] = "verified", [BOOT_RUNNING] = "running", [BOOT_COLLECTED] = "collected",
	[BOOT_FAILED] = "failed",
};

const char *boot_step_name(enum boot_step step)
{
	return step_names[step];
}

static enum boot_action fail(struct boot_state *s, struct arena *a, const char *reason,
			     const char *fmt, ...) _printf_(4, 5);
static enum boot_action fail(struct boot_state *s, struct arena *a, const char *reason,
			     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	s->step = BOOT_FAILED;
	s->reason = reason;
	s->message = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return BOOT_DO_LEAVE;
}

/* The kernel did not come up: once more, or not. */
static enum boot_action again(struct boot_state *s, struct arena *a, const char *what)
{
	if (s->attempt >= BOOT_ATTEMPTS)
		return fail(s, a, "no_boot", "%s, in %d of %d attempts", what, s->attempt,
			    BOOT_ATTEMPTS);
	s->step = BOOT_PLANNED;
	return BOOT_DO_WAIT;
}

static bool is_wanted(const struct boot_state *s, const struct boot_sight *k)
{
	if (strcmp(k->release, s->release) || (*s->build_id && strcmp(k->build_id, s->build_id)))
		return false;
	/* An image's header ends with what `uname -v` says. */
	return !*s->version || str_ends(s->version, k->version);
}

/* The target has rebooted: into what? */
static enum boot_action judge(struct boot_state *s, struct arena *a, const struct boot_sight *k)
{
	bool ours = *k->token && !strcmp(k->token, s->token);

	if (ours && is_wanted(s, k)) {
		s->step = BOOT_VERIFIED;
		s->boot_id = arena_strdup(a, k->boot_id);
		return BOOT_DO_WAIT;
	}
	if (ours && strcmp(k->release, s->release))
		return fail(s, a, "wrong_kernel", "the target runs %s, asked for was %s",
			    k->release, s->release);
	if (ours)
		return fail(s, a, "wrong_kernel",
			    "the target runs another build of %s: build-id %s, version %s",
			    s->release, k->build_id, k->version);
	if (!*k->token && *s->safe && strcmp(k->release, s->safe) &&
	    !strcmp(k->release, s->release))
		return fail(s, a, "wrong_kernel",
			    "the target runs %s, but somebody else booted it: its command line is "
			    "not kdelta's",
			    k->release);
	if (*k->token || (*s->safe && strcmp(k->release, s->safe)))
		return fail(s, a, "wrong_kernel",
			    "the target came up in %s, which is neither %s nor its safe kernel %s",
			    k->release, s->release, *s->safe ? s->safe : "(unknown)");
	return again(s, a,
		     arena_printf(a, "%s did not boot: the target fell back to %s", s->release,
				  k->release));
}

static enum boot_action seen(struct boot_state *s, struct arena *a, const struct boot_sight *k)
{
	bool same = s->boot_id && !strcmp(s->boot_id, k->boot_id);

	switch (s->step) {
	case BOOT_PLANNED:
		s->step = BOOT_ARMED;
		s->attempt++;
		s->boot_id = arena_strdup(a, k->boot_id);
		return BOOT_DO_ARM;
	case BOOT_ARMED:
		/* killed while arming: that can be done again, unless the target has gone on */
		return same ? BOOT_DO_ARM : judge(s, a, k);
	case BOOT_BOOTING:
		return same ? BOOT_DO_WAIT : judge(s, a, k);
	case BOOT_VERIFIED:
	case BOOT_RUNNING:
		if (same)
			return BOOT_DO_MEASURE;
		return fail(s, a, "lost", "the target restarted in the middle of its work; it runs %s",
			    k->release);
	case BOOT_COLLECTED:
	case BOOT_FAILED:
		break;
	}
	return BOOT_DO_LEAVE;
}

static enum boot_action deadline(struct boot_state *s, struct arena *a)
{
	switch (s->step) {
	case BOOT_PLANNED:
	case BOOT_ARMED:
	case BOOT_VERIFIED:
	case BOOT_RUNNING:
		return fail(s, a, "lost", "the target cannot be reached");
	case BOOT_BOOTING:
		return fail(s, a, "hang",
			    "the target did not come back under %s: it needs its reset button",
			    s->release);
	case BOOT_COLLECTED:
	case BOOT_FAILED:
		break;
	}
	return BOOT_DO_LEAVE;
}

enum boot_action boot_state_step(struct boot_state *s, struct arena *a, enum boot_event event,
				 const struct boot_sight *sight)
{
	bool over = s->step == BOOT_COLLECTED || s->step == BOOT_FAILED;

	if (over)
		return BOOT_DO_LEAVE;
	switch (event) {
	case BOOT_SEEN:
		return seen(s, a, sight);
	case BOOT_REFUSED:
		if (s->step == BOOT_ARMED)
			return fail(s, a, "config_error", "the target cannot be made to boot %s",
				    s->release);
		if (s->step == BOOT_BOOTING)
			return again(s, a, "the target did not restart");
		break;
	case BOOT_READY:
		if (s->step == BOOT_ARMED) {
			s->step = BOOT_BOOTING;
			return BOOT_DO_RESTART;
		}
		if (s->step == BOOT_VERIFIED) {
			s->step = BOOT_RUNNING;
			return BOOT_DO_MEASURE;
		}
		break;
	case BOOT_DEADLINE:
		return deadline(s, a);
	case BOOT_BROKEN:
		if (s->step == BOOT_VERIFIED || s->step == BOOT_RUNNING)
			return deadline(s, a);
		break;
	case BOOT_END:
		if (s->step == BOOT_RUNNING || s->step == BOOT_VERIFIED) {
			s->step = BOOT_COLLECTED;
			return BOOT_DO_LEAVE;
		}
		break;
	}
	return BOOT_DO_WAIT;
}

/* ---- text ---- */

struct text_field {
	const char *key;
	size_t offset;
};

static const struct text_field fields[] = {
	{"token", offsetof(struct boot_state, token)},
	{"release", offsetof(struct boot_state, release)},
	{"version", offsetof(struct boot_state, version)},
	{"build_id", offsetof(struct boot_state, build_id)},
	{"safe", offsetof(struct boot_state, safe)},
	{"boot_id", offsetof(struct boot_state, boot_id)},
	{"reason", offsetof(struct boot_state, reason)},
	{"message", offsetof(struct boot_state, message)},
};

static const char **field_of(struct boot_state *s, size_t i)
{
	return (const char **)(void *)((char *)s + fields[i].offset);
}

char *boot_state_text(struct arena *a, const struct boot_state *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct boot_state copy = *s;
	size_t i;

	strbuf_addf(&sb, "step %s\nattempt %d\n", boot_step_name(s->step), s->attempt);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *value = *field_of(&copy, i);

		strbuf_addf(&sb, "%s %s\n", fields[i].key, value ? value : "");
	}
	return arena_strdup(a, sb.buf);
}

bool boot_state_read(struct arena *a, const char *text, struct boot_state *s)
{
	struct span rest = span_of(text), row, key;
	bool has_step = false;
	int64_t v;
	size_t i;

	*s = (struct boot_state){.step = BOOT_PLANNED};
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		*field_of(s, i) = "";
	while (span_next_line(&rest, &row, NULL)) {
		if (!span_next_word(&row, &key))
			continue;
		row = span_trim(row);
		for (i = 0; span_is(key, "step") && i < ARRAY_SIZE(step_names); i++) {
			if (span_is(row, step_names[i])) {
				s->step = (enum boot_step)i;
				has_step = true;
			}
		}
		if (span_is(key, "attempt") && num_parse_int(row, &v) && v >= 0 && v <= 100)
			s->attempt = (int)v;
		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (span_is(key, fields[i].key))
				*field_of(s, i) = arena_strndup(a, row.s, row.len);
	}
	return has_step;
}

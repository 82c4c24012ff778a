// SPDX-License-Identifier: GPL-2.0-or-later
/* Into a variant's kernel: boot_state.h decides, this acts on it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "kernels/kernel.h"
#include "runner/settings.h"
#include "targets/target.h"

#define ASK_SECONDS	60.0
#define PUT_SECONDS	60.0
#define PUT_RATE	(256 << 10) /* bytes a second that any line carries */
#define LOOK_SECONDS	15.0	    /* for one try to connect while the target boots */
#define LOOK_PAUSE	1000000	    /* microseconds between two */
#define RESTART_SECONDS 90.0	    /* until the old boot must be gone */
#define CONSOLE_MAX	(4 << 20)

/* ---- kernels ---- */

/* A kernel that is installed on the target under /boot. */
static int find_installed(struct target *t, const struct variant_config *vc, struct kernel_found *k,
			  struct err *e)
{
	struct arena *a = t->b->a;
	struct span type, body;
	int ret = target_connect(t, LOOK_SECONDS, e);

	if (!ret)
		ret = link_ask(&t->link, "kernel", span_of(vc->release), ASK_SECONDS, &type, &body,
			       e);
	if (ret)
		return ret;
	k->image = link_value(a, body, "image");
	k->image_sha256 = link_value(a, body, "sha256");
	k->identity = arena_strndup(a, k->image_sha256, 16);
	k->release = vc->release;
	k->source = arena_printf(a, "release %s", vc->release);
	return 0;
}

/* What of ours is copied there has names of its own. */
static int name_copies(struct target *t, int variant, const struct kernel_found *k, struct err *e)
{
	const struct variant_config *vc = &t->b->config->variants[variant];
	struct target_kernel *its = &t->kernels[variant];
	char hex[65];
	int ret;

	if (k->image_sha256)
		its->image_name =
			arena_printf(t->b->a, "kdelta-%.16s.vmlinuz", k->image_sha256);
	if (!vc->initrd)
		return 0;
	if (!file_exists(vc->initrd))
		return err_add(e, -ENOENT, "there is no initrd %s", vc->initrd);
	ret = file_sha256(vc->initrd, hex, e);
	its->initrd_name = arena_printf(t->b->a, "kdelta-%.16s.initrd", hex);
	return ret;
}

int target_find_kernel(struct backend *b, int variant, struct kernel_found *k, struct err *e)
{
	const struct variant_config *vc = &b->config->variants[variant];
	const struct kernel_options options = {.note = b->note, .peeks = b->peeks};
	struct target *t = b->priv;
	size_t before = e->list.n;
	int ret;

	*k = (struct kernel_found){0};
	if (vc->release)
		ret = find_installed(t, vc, k, e);
	else
		ret = kernel_find(b->a, b->config, vc, &options, k, e);
	if (!ret && !vc->release)
		ret = name_copies(t, variant, k, e);
	if (ret && e->list.n > before && (vc->release || vc->initrd))
		err_at(e, b->config->file, vc->line, vc->column);
	if (!ret && k->image_sha256 && b->known_build_id)
		k->build_id = b->known_build_id(b->data, k->image_sha256);
	t->kernels[variant].found = *k;
	return ret;
}

/* Whether the target's kernel folder holds a file of that name and size. */
static bool is_there(struct span list, const char *name, int64_t size)
{
	struct span row, word;
	int64_t there;

	while (span_next_line(&list, &row, NULL))
		if (span_next_word(&row, &word) && span_is(word, name) &&
		    num_parse_int(span_trim(row), &there) && there == size)
			return true;
	return false;
}

/* A file of ours goes there under that name, unless it is there; *path: where. */
static int put_file(struct target *t, const char *file, const char *name, const char **path,
		    struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct arena *a = t->b->a;
	struct span type, body;
	struct stat st;
	int ret = link_ask(&t->link, "list", span_of(""), ASK_SECONDS, &type, &body, e);

	*path = arena_printf(a, "%s/%s", target_kernel_folder(a, t->c), name);
	if (ret)
		return ret;
	if (stat(file, &st))
		return err_add_errno(e, "cannot look at %s", file);
	if (is_there(body, name, st.st_size))
		return 0;
	if (t->b->note)
		t->b->note(arena_printf(a, "copying %s to the target", file));
	strbuf_addf(&text, "%s\n", name);
	ret = file_read(file, 0, &text, e);
	return ret ? ret
		   : link_ask(&t->link, "put", (struct span){text.buf, text.len},
			      PUT_SECONDS + (double)text.len / PUT_RATE, &type, &body, e);
}

static int install(struct target *t, int variant, struct err *e)
{
	const struct variant_config *vc = &t->b->config->variants[variant];
	struct target_kernel *k = &t->kernels[variant];
	struct span type, body;
	int ret;

	if (vc->release) {
		ret = link_ask(&t->link, "kernel", span_of(vc->release), ASK_SECONDS, &type, &body,
			       e);
		if (ret)
			return ret;
		k->image = link_value(t->b->a, body, "image");
		k->initrd = link_value(t->b->a, body, "initrd");
		return 0;
	}
	k->initrd = "";
	ret = put_file(t, k->found.image, k->image_name, &k->image, e);
	if (!ret && vc->initrd)
		ret = put_file(t, vc->initrd, k->initrd_name, &k->initrd, e);
	return ret;
}

/* ---- the command line ---- */

/* Words that belong to one boot of one loader. */
static bool is_foreign(struct span word)
{
	return span_starts(word, "BOOT_IMAGE=") || span_starts(word, "initrd=") ||
	       span_starts(word, "kdelta.boot=");
}

/*
 * The machine's own words, those that end a panic, the variant's, and the token of this boot; what
 * stands behind "--" is init's.
 */
static char *command_line(struct target *t, int variant)
{
	const struct variant_config *vc = &t->b->config->variants[variant];
	struct arena *a = t->b->a;
	const char *base = t->c->cmdline ? t->c->cmdline : link_fact(a, &t->link, "safe_cmdline");
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(base), word = {NULL, 0};

	while (span_next_word(&rest, &word) && !span_is(word, "--"))
		if (!is_foreign(word))
			strbuf_addf(&sb, "%.*s ", (int)word.len, word.s);
	if (!strstr(base, "panic="))
		strbuf_adds(&sb, "panic=10 ");
	if (vc->cmdline && *vc->cmdline)
		strbuf_addf(&sb, "%s ", vc->cmdline);
	strbuf_addf(&sb, "kdelta.boot=%s", t->state.token);
	if (span_is(word, "--"))
		strbuf_addf(&sb, " --%.*s", (int)rest.len, rest.s);
	return arena_strdup(a, sb.buf);
}

/* As it is compared between boots: without the token. */
static char *shown_command_line(struct arena *a, const char *cmdline)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(cmdline), word;

	while (span_next_word(&rest, &word))
		if (!is_foreign(word))
			strbuf_addf(&sb, "%s%.*s", sb.len ? " " : "", (int)word.len, word.s);
	return arena_strdup(a, strbuf_str(&sb));
}

/* ---- what the target says besides ---- */

static void add_pstore(struct target *t, struct visit *v)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span type, body;

	if (t->link.open &&
	    !link_ask(&t->link, "pstore", span_of(""), ASK_SECONDS, &type, &body, &ignored))
		strbuf_add(&v->console, body.s, body.len);
}

static int64_t console_size(struct target *t)
{
	struct stat st;

	return t->c->console && !stat(t->c->console, &st) ? st.st_size : 0;
}

/* What came into the console's file since the visit began. */
static void add_console_file(struct target *t, struct visit *v)
{
	FILE *f = t->c->console ? fopen(t->c->console, "re") : NULL;
	int64_t size = console_size(t), from = MAX(t->console_at, size - CONSOLE_MAX);
	char buf[65536];
	size_t n;

	if (size < t->console_at) /* a new file */
		from = 0;
	if (f && !fseek(f, from, SEEK_SET))
		while ((n = fread(buf, 1, sizeof(buf), f)))
			strbuf_add(&v->console, buf, n);
	if (f)
		fclose(f);
	t->console_at = size;
}

void target_add_console(struct target *t, struct visit *v)
{
	add_console_file(t, v);
	if (v->error)
		add_pstore(t, v);
}

/* ---- the way ---- */

int target_keep(struct target *t, const struct visit *v, struct err *e)
{
	struct backend *b = t->b;
	bool over = t->state.step == BOOT_COLLECTED || t->state.step == BOOT_FAILED;

	if (!b->keep)
		return 0;
	return b->keep(b->data,
		       over ? NULL
			    : arena_printf(b->a, "variant %d\nblock %d\n%s", v->variant, v->block,
					   boot_state_text(b->a, &t->state)),
		       e);
}

/* What an earlier kdelta left in the middle of a visit; false: nothing that can be gone on. */
static bool read_kept(struct backend *b, int variant, int block, struct boot_state *s)
{
	const char *text = b->kept ? b->kept(b->data) : NULL;
	int64_t its_variant, its_block;

	return text && boot_state_read(b->a, text, s) &&
	       num_parse_int(span_of(link_value(b->a, span_of(text), "variant")), &its_variant) &&
	       num_parse_int(span_of(link_value(b->a, span_of(text), "block")), &its_block) &&
	       its_variant == variant && its_block == block && s->step != BOOT_PLANNED;
}

bool target_goes_on(struct backend *b, int variant, int block)
{
	struct boot_state s;

	return read_kept(b, variant, block, &s) &&
	       (s.step == BOOT_ARMED || s.step == BOOT_BOOTING);
}

static bool take_kept(struct target *t, const struct visit *v)
{
	struct boot_state s;

	if (!read_kept(t->b, v->variant, v->block, &s))
		return false;
	t->state = s;
	return true;
}

static void begin_state(struct target *t, const struct visit *v)
{
	const struct kernel_found *k = &t->kernels[v->variant].found;
	struct arena *a = t->b->a;

	t->state = (struct boot_state){
		.step = BOOT_PLANNED,
		.token = arena_printf(a, "%s-%d", t->nonce, ++t->visits),
		.release = k->release,
		.version = k->version ? k->version : "",
		.build_id = k->build_id ? k->build_id : "",
		.safe = link_fact(a, &t->link, "safe_release"),
		.boot_id = "",
		.reason = "",
		.message = "",
	};
}

static enum boot_action look(struct target *t)
{
	struct boot_sight sight = target_sight(t);

	return boot_state_step(&t->state, t->b->a, BOOT_SEEN, &sight);
}

/* Puts the kernel there and makes it the next one to boot. *how: the restart it takes. */
static int arm(struct target *t, int variant, const char **how, struct err *e)
{
	struct target_kernel *k = &t->kernels[variant];
	struct arena *a = t->b->a;
	struct span type, body;
	const char *text;
	int ret = install(t, variant, e);

	if (ret)
		return ret;
	text = arena_printf(a, "method %s\nimage %s\ninitrd %s\ncmdline %s\n", t->c->method,
			    k->image, k->initrd, command_line(t, variant));
	ret = link_ask(&t->link, "arm", span_of(text), 2 * ASK_SECONDS, &type, &body, e);
	if (!ret)
		*how = link_value(a, body, "restart");
	return ret;
}

static void run_reset(struct target *t)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct proc_spec spec = {.argv = t->c->reset, .deadline = ASK_SECONDS};
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct proc_result p;

	if (t->b->note)
		t->b->note("the target hangs: resetting it");
	if (!proc_run(&spec, &p, &why))
		proc_describe(&p, &how);
	if ((why.list.n || p.exit_status) && t->b->note)
		t->b->note(arena_printf(t->b->a, "the reset command failed: %s%s %s",
					err_text(&why), strbuf_str(&how), strbuf_str(&p.err)));
	proc_result_release(&p);
}

/* Until the target is seen in another boot, or for too long. Returns -EINTR, or what is final. */
static int wait_for_boot(struct target *t, struct err *e)
{
	double start = num_monotonic(), until = start + t->c->boot_deadline;
	bool reset = false;

	while (t->state.step == BOOT_BOOTING) {
		_cleanup_err_ struct err why = ERR_INIT;
		int ret;

		usleep(LOOK_PAUSE);
		if (proc_interrupted())
			return -EINTR;
		ret = target_connect(t, LOOK_SECONDS, &why);
		if (ret == -EKEYREJECTED || ret == -EBUSY)
			return err_add(e, ret, "after the restart: %s", err_text(&why));
		if (!ret && look(t) == BOOT_DO_WAIT && t->state.step == BOOT_BOOTING) {
			/* still the old boot: its next answer must be of a connection of its own */
			link_close(&t->link);
			if (num_monotonic() - start > MIN(RESTART_SECONDS, t->c->boot_deadline))
				boot_state_step(&t->state, t->b->a, BOOT_REFUSED, NULL);
		} else if (num_monotonic() > until) {
			if (!t->c->reset || reset)
				boot_state_step(&t->state, t->b->a, BOOT_DEADLINE, NULL);
			else
				run_reset(t);
			reset = true;
			until = num_monotonic() + t->c->boot_deadline;
		}
	}
	return 0;
}

static int restart(struct target *t, struct visit *v, const char *how, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	int ret = target_keep(t, v, e);

	if (ret)
		return ret;
	ret = link_tell(&t->link, "restart", how, ASK_SECONDS, &why);
	if (ret == -EREMOTEIO) {
		boot_state_step(&t->state, t->b->a, BOOT_REFUSED, NULL);
		return 0;
	}
	link_close(&t->link);
	return 0;
}

/* One step after another until the target is verified or has failed. */
static int drive(struct target *t, struct visit *v, struct err *e)
{
	enum boot_action action = look(t);
	const char *how = "reboot";
	int ret = 0;

	while (!ret && t->state.step != BOOT_VERIFIED && t->state.step != BOOT_FAILED) {
		_cleanup_err_ struct err why = ERR_INIT;

		if (action == BOOT_DO_ARM) {
			ret = target_keep(t, v, e);
			if (ret)
				break;
			ret = arm(t, v->variant, &how, &why);
			if (ret == -EINTR)
				break;
			if (ret) {
				target_fail(t, v, ret == -ENOTCONN || ret == -ETIMEDOUT ? "lost" :
					    "config_error", "%s", err_text(&why));
				boot_state_step(&t->state, t->b->a, BOOT_REFUSED, NULL);
				ret = 0;
				break;
			}
			action = boot_state_step(&t->state, t->b->a, BOOT_READY, NULL);
		}
		if (action == BOOT_DO_RESTART)
			ret = restart(t, v, how, e);
		if (!ret && t->state.step == BOOT_BOOTING)
			ret = wait_for_boot(t, e);
		if (!ret && t->state.step == BOOT_PLANNED) {
			target_add_console(t, v);
			add_pstore(t, v);
			ret = target_connect(t, LOOK_SECONDS, e);
			if (!ret)
				action = look(t);
		}
	}
	return ret;
}

static void take_sight(struct target *t, struct visit *v)
{
	struct boot_sight sight = target_sight(t);
	struct arena *a = t->b->a;

	v->boot_id = sight.boot_id;
	v->release = sight.release;
	v->version = sight.version;
	v->build_id = sight.build_id;
	v->clocksource = link_fact(a, &t->link, "clocksource");
	v->cmdline = shown_command_line(a, link_fact(a, &t->link, "cmdline"));
	visit_take_environment(t->b, v, (struct span){t->link.hello.buf, t->link.hello.len});
	visit_add_fact(t->b, v, "boot_method", t->c->method);
	visit_add_fact(t->b, v, "boot_attempts", arena_printf(a, "%d", t->state.attempt));
}

int target_apply(struct target *t, struct visit *v, struct err *e)
{
	const struct variant_config *vc = &t->b->config->variants[v->variant];
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span type, body;
	int ret;

	settings_encode(vc, &text);
	if (!text.len && !t->b->config->flip)
		return 0;
	ret = link_ask(&t->link, "set", (struct span){text.buf, text.len}, ASK_SECONDS, &type,
		       &body, e);
	if (!ret && body.len)
		target_fail(t, v, "config_error", "cannot set on the target: %.*s",
			    (int)span_trim(body).len, body.s);
	return ret;
}

/* Verified: what the visit saw, its settings, and the first job may come. */
static int enter(struct target *t, struct visit *v, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	int ret;

	take_sight(t, v);
	ret = target_keep(t, v, e);
	if (ret)
		return ret;
	ret = target_apply(t, v, &why);
	if (ret == -EINTR)
		return ret;
	if (ret)
		target_fail(t, v, "lost", "%s", err_text(&why));
	if (v->error)
		return 0;
	boot_state_step(&t->state, t->b->a, BOOT_READY, NULL);
	return target_keep(t, v, e);
}

static double uptime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int target_boot(struct backend *b, struct visit *v, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct target *t = b->priv;
	struct target_kernel *k = &t->kernels[v->variant];
	double begin = num_monotonic();
	int ret;

	if (k->failed) {
		target_fail(t, v, "no_boot", "%s; not tried again", k->failed);
		return 0;
	}
	if (!k->found.image) {
		target_fail(t, v, "no_kernel", "%s", k->found.message ? k->found.message : "");
		return 0;
	}
	t->console_at = console_size(t);
	if (t->link.open) /* since the visit before: is it still? */
		link_tell(&t->link, "programs", "", ASK_SECONDS, &why);
	err_release(&why);
	ret = target_reach(t, t->c->boot_deadline, &why);
	if (proc_interrupted())
		return 0;
	if (ret && ret != -ENOTCONN && ret != -ETIMEDOUT)
		return err_add(e, ret, "%s", err_text(&why));
	if (ret) {
		target_fail(t, v, "lost", "%s", err_text(&why));
		return 0;
	}
	/* What ran when we were killed is measured anew, unless the target went down with it. */
	if (!take_kept(t, v) || (t->state.step >= BOOT_VERIFIED && look(t) != BOOT_DO_LEAVE))
		begin_state(t, v);
	if (t->state.step != BOOT_FAILED)
		ret = drive(t, v, e);
	if (ret)
		return ret == -EINTR ? 0 : ret;
	/* we did not live through our own restart */
	v->seconds = t->local ? uptime() : num_monotonic() - begin;
	if (t->state.step == BOOT_VERIFIED && !v->error)
		return enter(t, v, e);
	target_fail(t, v, t->state.reason, "%s", t->state.message);
	if (!strcmp(v->error, "no_boot"))
		k->failed = v->message;
	return target_keep(t, v, e);
}

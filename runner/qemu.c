// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guests under QEMU: every visit boots the variant's kernel. A run counts only if the agent's
 * frame arrived whole, the console carries its promised line, and the guest runs the kernel that
 * was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "jobs/count.h"
#include "jobs/frame.h"
#include "kernels/kernel.h"
#include "machine/facts.h"
#include "machine/monitor.h"
#include "runner/backend.h"
#include "runner/guest.h"
#include "runner/initramfs.h"
#include "runner/link.h"
#include "runner/modules.h"
#include "runner/qemu.h"
#include "runner/settings.h"
#include "runner/share.h"

/* Seconds, on a machine with no more work than CPUs; see slowness(). */
#define BOOT_DEADLINE 120.0 /* Debian's kernels need 3 to 8 under TCG */
#define BOOT_SILENCE  15.0
#define SET_DEADLINE  20.0
#define RUN_GRACE     30.0 /* after the deadline that the agent enforces */
#define LINE_DEADLINE 10.0 /* for the console to catch up with the second line */
#define END_DEADLINE  30.0

#define BASE_CMDLINE "console=ttyS0 panic=-1 quiet"
#define SMALL_MEMORY 128 /* MiB: with 64 a Debian kernel dies without a word */

struct qemu {
	const char *program, *version, *initramfs;
	struct kernel_found *kernels; /* one per variant; image NULL: not found yet */
	struct qemu_modules {
		struct initramfs_file *files; /* one per module */
		size_t n;
	} *modules; /* one per variant */
	struct share share; /* kind NULL: nothing is built */
	struct guest guest;
	int runs; /* of this visit */
	double started;
};

/* How much longer things may take while the machine has more to do than CPUs: 1 to 5. */
static double slowness(void)
{
	double load, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (getloadavg(&load, 1) != 1 || cpus < 1)
		return 1;
	return MAX(1, MIN(5, load / cpus));
}

static bool kvm_works(void)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	bool works = fd >= 0 && ioctl(fd, KVM_GET_API_VERSION, 0) == KVM_API_VERSION;

	if (fd >= 0)
		close(fd);
	return works;
}

/* "QEMU emulator version 7.2.22 (Debian ...)" */
static int read_version(struct backend *b, struct qemu *q, struct err *e)
{
	const char *const argv[] = {q->program, "--version", NULL};
	struct proc_result p;
	int r = proc_run(&(struct proc_spec){.argv = argv, .deadline = 60}, &p, e);

	if (!r)
		q->version =
			arena_strndup(b->a, strbuf_str(&p.out), strcspn(strbuf_str(&p.out), "\n"));
	proc_result_release(&p);
	return r;
}

/*
 * A load file cut for guests makes another test case: its length and hash become a parameter, so
 * that its figures never meet those of the full file.
 */
static void mark_load(struct backend *b)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	const struct campaign_config *c = b->config;
	char sha256[65], *value;
	size_t i;

	if (initramfs_load(&text, sha256, &ignored))
		return;
	value = arena_printf(b->a, "%d-%.8s", INITRAMFS_LOAD_LINES, sha256);
	for (i = 0; i < c->n_cases; i++) {
		if (!strcmp(c->cases[i].bench->program, "tbench"))
			case_set_param(b->a, &c->cases[i], "load", value);
	}
}

/* So are builds: what is read comes over another way than on this machine. */
static void mark_share(struct backend *b, const struct share *share)
{
	const struct campaign_config *c = b->config;
	size_t i;

	for (i = 0; i < c->n_cases; i++)
		if (c->cases[i].bench->build)
			case_set_param(b->a, &c->cases[i], "share", share->kind);
}

/* Programs of the campaign's benchmarks and monitors, NULL-terminated. */
static const char *const *campaign_programs(struct backend *b)
{
	const struct campaign_config *c = b->config;
	const struct monitor *const *watchers = monitor_programs(b->a, c->monitors);
	const char **list;
	size_t i, n = 0;

	while (watchers[n])
		n++;
	list = arena_alloc_array(b->a, n + 2 * c->n_cases + 1, sizeof(*list));
	for (i = 0; i < n; i++)
		list[i] = watchers[i]->program[0];

	for (i = 0; i < c->n_cases; i++) {
		list[n++] = c->cases[i].program;
		if (c->cases[i].bench->server)
			list[n++] = c->cases[i].bench->server[0];
	}
	return list;
}

/*
 * "QEMU 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18), q35, cpu max, memory 512M, icount shift=0,sleep=off,
 * rtc base=2024-01-01T00:00:00,clock=vm, programs 0123456789abcdef"
 */
static void describe_counting(struct backend *b, const struct qemu *q)
{
	static const char prefix[] = "QEMU emulator version ";
	const char *name = strrchr(q->initramfs, '/') + 1;
	const char *version = q->version;

	if (str_starts(version, prefix))
		version = arena_printf(b->a, "QEMU %s", version + strlen(prefix));
	b->counting = arena_printf(b->a,
				   "%s, q35, cpu max, memory %s, icount %s, rtc %s, programs %.*s",
				   version, b->config->memory, GUEST_ICOUNT, GUEST_RTC,
				   (int)strcspn(name, "."), name);
}

static int qemu_prepare(struct backend *b, struct err *e)
{
	struct qemu *q = arena_alloc(b->a, sizeof(*q));
	int r;

	b->priv = q;
	q->guest = (struct guest)GUEST_INIT;
	q->kernels = arena_alloc_array(b->a, b->config->n_variants, sizeof(*q->kernels));
	q->modules = arena_alloc_array(b->a, b->config->n_variants, sizeof(*q->modules));
	q->program = path_program(b->a, "qemu-system-x86_64");
	if (!q->program) {
		err_add(e, -ENOENT, "qemu-system-x86_64 is not installed");
		err_hint(e, "apt-get install qemu-system-x86");
		return -ENOENT;
	}
	b->accelerator = b->config->counting ? COUNT_ACCELERATOR : kvm_works() ? "kvm" : "tcg";
	r = read_version(b, q, e);
	if (!r)
		r = initramfs_build(b->a, campaign_programs(b), &q->initramfs, e);
	if (!r)
		mark_load(b);
	if (!r && campaign_builds(b->config)) {
		share_choose(b->a, &q->share);
		mark_share(b, &q->share);
	}
	if (!r && b->config->counting)
		describe_counting(b, q);
	return r;
}

/* What guests of a variant load: as the campaign says, and what sharing files takes. */
static const char *const *modules_wanted(struct backend *b, const struct variant_config *vc)
{
	const struct qemu *q = b->priv;
	const char *const *const lists[] = {vc->load, q->share.modules};
	const char *const *p, **all;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (p = lists[i]; p && *p; p++)
			n++;
	all = arena_alloc_array(b->a, n + 1, sizeof(*all));
	for (i = n = 0; i < ARRAY_SIZE(lists); i++)
		for (p = lists[i]; p && *p; p++)
			all[n++] = *p;
	return all;
}

static int qemu_find_kernel(struct backend *b, int variant, struct kernel_found *k, struct err *e)
{
	const struct variant_config *vc = &b->config->variants[variant];
	const char *const *wanted = modules_wanted(b, vc);
	const struct kernel_options options = {.note = b->note,
					       .boots_vmlinux = true,
					       .modules = *wanted && !vc->modules,
					       .peeks = b->peeks};
	struct qemu *q = b->priv;
	struct qemu_modules *modules = &q->modules[variant];
	const char *folder;
	int r = kernel_find(b->a, b->config, vc, &options, k, e);

	if (!r && k->image_sha256 && b->known_build_id)
		k->build_id = b->known_build_id(b->data, k->image_sha256);
	folder = vc->modules ? vc->modules : k->modules;
	if (!r && folder) {
		r = modules_find(b->a, folder, wanted, &modules->files, &modules->n, e);
		if (r && q->share.kind)
			err_hint(e, "guests that build read this machine's files by virtiofs (virtiofsd, "
				    "run by root) or 9p; Debian's cloud kernels have no 9p");
		if (r)
			err_at(e, b->config->file, vc->kernel_line, vc->kernel_column);
	}
	if (!r)
		q->kernels[variant] = *k;
	return r;
}

/* ---- verdicts ---- */

/* Ends QEMU, if it still runs; the console goes to the visit. Returns its status. */
static int stop_guest(struct backend *b, struct visit *v)
{
	struct qemu *q = b->priv;
	struct guest *g = &q->guest;
	const struct rusage *u = &g->child.usage;
	int status = 0;

	if (!g->child.pid)
		return 0;
	guest_stop(g, &status);
	share_stop(&q->share);
	visit_add_fact(b, v, "host_cpu_seconds",
		   arena_printf(b->a, "%.2f",
				proc_seconds(u->ru_utime) + proc_seconds(u->ru_stime)));
	/* a visit that counts has a guest for every run */
	strbuf_add(&v->console, strbuf_str(&g->console), g->console.len);
	strbuf_release(&g->console);
	return status;
}

static const char *text_of(struct arena *a, const struct strbuf *sb)
{
	struct span s = span_trim((struct span){strbuf_str(sb), MIN(sb->len, 1000)});

	return arena_strndup(a, s.s, s.len);
}

/* "Kernel panic - not syncing: sysrq triggered crash" */
static const char *panic_line(struct backend *b, const struct strbuf *console)
{
	struct span s = {strbuf_str(console), console->len};
	const char *p = span_find(s, "Kernel panic");

	return p ? arena_strndup(b->a, p, strcspn(p, "\r\n")) : "Kernel panic";
}

/* QEMU ended by itself: never a verdict by its status alone, but a hint where to look. */
static void judge_end(struct backend *b, struct visit *v, bool booted)
{
	struct qemu *q = b->priv;
	int status = stop_guest(b, v);
	const char *said = text_of(b->a, &q->guest.errors);

	if (WIFSIGNALED(status))
		visit_fail(b, v, "lost", "QEMU was killed by signal %d", WTERMSIG(status));
	else if (booted)
		visit_fail(b, v, "truncated", "the guest went off in the middle of its work");
	else if (WEXITSTATUS(status))
		visit_fail(b, v, "config_error", "QEMU cannot start this kernel: %s", said);
	else
		visit_fail(b, v, "no_boot", "the guest ended before it began (memory: %s)%s%s",
			   v->console.len > 100 ? "see the console" : "too little?",
			   *said ? ": " : "", said);
}

/* What kept a frame from coming. An interruption is no failure of the visit. */
static void judge(struct backend *b, struct visit *v, enum guest_event event, bool booted)
{
	struct qemu *q = b->priv;

	switch (event) {
	case GUEST_FRAME:
		return;
	case GUEST_PANIC:
		visit_fail(b, v, "panic", "%s", panic_line(b, &q->guest.console));
		break;
	case GUEST_ENDED:
		judge_end(b, v, booted);
		break;
	case GUEST_SILENT:
		visit_fail(b, v, "hang", "the guest neither said nor did anything");
		break;
	case GUEST_DEADLINE:
		visit_fail(b, v, "hang", "the guest did not answer in time");
		break;
	case GUEST_DAMAGED:
		visit_fail(b, v, "truncated", "the answer of the guest came damaged");
		break;
	case GUEST_INTERRUPTED:
		break;
	}
	stop_guest(b, v);
}

/* ---- entering ---- */

static void take_hello(struct backend *b, struct visit *v, struct span hello)
{
	struct qemu *q = b->priv;
	const struct kernel_found *k = &q->kernels[v->variant];

	v->seconds = num_monotonic() - q->started;
	v->boot_id = link_value(b->a, hello, "boot_id");
	v->release = link_value(b->a, hello, "release");
	v->version = link_value(b->a, hello, "version");
	v->build_id = link_value(b->a, hello, "build_id");
	v->clocksource = link_value(b->a, hello, "clocksource");
	v->cmdline = link_value(b->a, hello, "cmdline");
	visit_add_fact(b, v, "guest_cpus", link_value(b->a, hello, "cpus"));
	visit_add_fact(b, v, "guest_memory_kb", link_value(b->a, hello, "memory_kb"));
	visit_take_environment(b, v, hello);
	visit_add_programs(b, v);
	visit_add_fact(b, v, "boot_seconds", arena_printf(b->a, "%.2f", v->seconds));
	if (*link_value(b->a, hello, "module_error"))
		visit_fail(b, v, "config_error", "the guest cannot load the module %s",
			   link_value(b->a, hello, "module_error"));
	else if (strcmp(v->release, k->release))
		visit_fail(b, v, "wrong_kernel", "the guest runs %s, its image says %s", v->release,
			   k->release);
	else if (k->build_id && strcmp(v->build_id, k->build_id))
		visit_fail(b, v, "wrong_kernel",
			   "the guest's build-id is %s, at the image's first boot it was %s",
			   v->build_id, k->build_id);
}

int qemu_guest_spec(struct backend *b, int variant, bool counts, struct guest_spec *spec,
		    struct err *e)
{
	const struct campaign_config *c = b->config;
	const struct variant_config *vc = &c->variants[variant];
	const char *memory = vc->memory ? vc->memory : c->memory ? c->memory : "512M";
	struct qemu *q = b->priv;
	int64_t bytes;

	if (!num_parse_size(memory, &bytes) || bytes < 1 << 20)
		return err_add(e, -EINVAL, "\"%s\" is no size of memory", memory);
	*spec = (struct guest_spec){
		.program = q->program,
		.accelerator = counts ? "tcg" : b->accelerator,
		.memory = bytes >> 20,
		.cpus = MAX(1, c->cpus),
		.nodes = c->numa,
		.kernel = q->kernels[variant].image,
		.initrd = vc->initrd ? vc->initrd : q->initramfs,
		/* The variant's words come last, so that they win. */
		.cmdline = arena_printf(b->a, BASE_CMDLINE "%s%s%s", counts ? " nokaslr" : "",
					vc->cmdline ? " " : "", vc->cmdline ? vc->cmdline : ""),
		.initrd_fd = -1,
	};
	return 0;
}

int qemu_add_files(struct backend *b, int variant, const struct strbuf *orders,
		   struct guest_spec *spec, struct err *e)
{
	const struct qemu *q = b->priv;
	const struct qemu_modules *m = &q->modules[variant];
	struct initramfs_file *files = arena_alloc_array(b->a, m->n + 1, sizeof(*files));
	size_t n = m->n;

	if (n)
		memcpy(files, m->files, n * sizeof(*files));
	if (orders)
		files[n++] = (struct initramfs_file){INITRAMFS_ORDERS,
						     {strbuf_str(orders), orders->len}};
	return n ? initramfs_with(spec->initrd, files, n, &spec->initrd_fd, e) : 0;
}

/* orders: frames for a guest that counts, NULL for one that listens. */
static int start_guest(struct backend *b, struct visit *v, const struct strbuf *orders,
		       struct err *e)
{
	const struct campaign_config *c = b->config;
	struct qemu *q = b->priv;
	struct guest_spec spec;
	int r = qemu_guest_spec(b, v->variant, orders, &spec, e);

	if (r)
		return r;
	visit_add_fact(b, v, "accelerator", b->accelerator);
	visit_add_fact(b, v, "qemu", q->version);
	visit_add_fact(b, v, "memory", arena_printf(b->a, "%lldM", (long long)spec.memory));
	if (spec.nodes > 1)
		visit_add_fact(b, v, "numa_nodes", arena_printf(b->a, "%d", spec.nodes));
	visit_add_fact(b, v, "image", spec.kernel);
	q->runs = 0;
	q->started = num_monotonic();
	guest_release(&q->guest);
	if (orders) {
		spec.seed = campaign_guest_seed(c, v->block);
		visit_add_fact(b, v, "seed", arena_printf(b->a, "%lld", (long long)spec.seed));
	}
	r = qemu_add_files(b, v->variant, orders, &spec, e);
	if (!r && q->share.kind)
		r = share_start(b->a, &q->share, &spec, e);
	if (!r)
		r = guest_start(&q->guest, &spec, e);
	if (spec.initrd_fd >= 0)
		close(spec.initrd_fd);
	return r;
}

/* One request that is answered by "done"; one that counts has it already. */
static void ask_guest(struct backend *b, struct visit *v, const char *request, struct span text)
{
	struct qemu *q = b->priv;
	struct span type, body;
	enum guest_event event;

	if (!b->counting)
		guest_send(&q->guest, request, text.s, text.len);
	event = guest_wait(&q->guest, SET_DEADLINE * slowness(), 0, &type, &body);
	if (event == GUEST_FRAME && body.len) {
		visit_fail(b, v, "config_error", "cannot %s in the guest: %.*s", request,
			   (int)span_trim(body).len, body.s);
		stop_guest(b, v);
	}
	judge(b, v, event, true);
}

static void apply_settings(struct backend *b, struct visit *v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	settings_encode(&b->config->variants[v->variant], &text);
	if (text.len || b->config->flip)
		ask_guest(b, v, "set", (struct span){strbuf_str(&text), text.len});
}

static int qemu_flip(struct backend *b, struct visit *v, struct err *e)
{
	(void)e;
	apply_settings(b, v);
	return 0;
}

static void encode_job(const struct job *job, struct strbuf *text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	/* programs lie in the guest's /bin */
	const struct job in_guest = job_without_paths(a, job);

	job_encode(&in_guest, text);
}

/* All that a guest which counts will do, for the file it finds. */
static void add_orders(const struct backend *b, const struct visit *v, const struct job *job,
		       struct strbuf *orders)
{
	_cleanup_strbuf_ struct strbuf settings = STRBUF_INIT, text = STRBUF_INIT;

	settings_encode(&b->config->variants[v->variant], &settings);
	if (settings.len)
		frame_encode("set", settings.buf, settings.len, orders);
	encode_job(job, &text);
	frame_encode("job", text.buf, text.len, orders);
	frame_encode("end", "", 0, orders);
}

/* job: what a guest that counts runs, NULL for one that listens. */
static int boot_guest(struct backend *b, struct visit *v, const struct job *job, struct err *e)
{
	_cleanup_strbuf_ struct strbuf orders = STRBUF_INIT;
	struct qemu *q = b->priv;
	struct span type, body;
	enum guest_event event;
	double slow = slowness();
	int r;

	if (job)
		add_orders(b, v, job, &orders);
	r = start_guest(b, v, job ? &orders : NULL, e);
	if (r)
		return r;
	event = guest_wait(&q->guest, BOOT_DEADLINE * slow, BOOT_SILENCE * slow, &type, &body);
	if (event != GUEST_FRAME) {
		judge(b, v, event, false);
		return 0;
	}
	take_hello(b, v, body);
	if (v->error)
		stop_guest(b, v);
	else
		apply_settings(b, v);
	return 0;
}

static int qemu_boot(struct backend *b, struct visit *v, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct qemu *q = b->priv;
	struct kernel_found k;

	if (!q->kernels[v->variant].image && qemu_find_kernel(b, v->variant, &k, &why)) {
		visit_fail(b, v, "config_error", "%s", err_text(&why));
		return 0;
	}
	if (!q->kernels[v->variant].image) {
		visit_fail(b, v, "no_kernel", "%s", q->kernels[v->variant].message);
		return 0;
	}
	return boot_guest(b, v, b->counting ? v->first : NULL, e);
}

/* ---- the end ---- */

/* Waits until the guest has ended as it should. */
static void end_guest(struct backend *b, struct visit *v)
{
	struct qemu *q = b->priv;
	_cleanup_free_ char *sentinel = mem_printf("KD end runs=%d", q->runs);
	struct guest *g = &q->guest;

	if (!g->child.pid)
		return;
	if (!b->counting)
		guest_send(g, "end", "", 0);
	if (!guest_wait_text(g, sentinel, END_DEADLINE * slowness()) && !proc_interrupted())
		visit_fail(b, v, guest_wait_end(g, 0) ? "truncated" : "hang",
			   "the guest did not end as it should: the console lacks \"%s\"",
			   sentinel);
	else
		guest_wait_end(g, END_DEADLINE * slowness());
	stop_guest(b, v);
}

/* ---- running ---- */

static int take_result(struct backend *b, struct visit *v, struct span type, struct span body,
		       struct job_result *result, struct err *e)
{
	_cleanup_err_ struct err damage = ERR_INIT;
	struct qemu *q = b->priv;
	_cleanup_free_ char *promised =
		mem_printf("KD run %d done bytes=%zu sum=%016llx", q->runs, body.len,
			   (unsigned long long)frame_sum(body.s, body.len));

	if (span_is(type, "failed"))
		return err_add(e, -EINVAL, "%.*s", (int)body.len, body.s);
	if (!span_is(type, "result") || job_result_decode(body, result, &damage))
		judge(b, v, GUEST_DAMAGED, true);
	else if (!guest_wait_text(&q->guest, promised, LINE_DEADLINE * slowness()) &&
		 !proc_interrupted()) {
		visit_fail(b, v, "truncated", "the console lacks \"%s\"", promised);
		stop_guest(b, v);
	}
	return 0;
}

/* Host seconds for a run. The deadline that the agent enforces is one of the guest's clock. */
static double run_deadline(const struct backend *b, const struct job *job)
{
	double deadline = job->deadline * (job->prepare ? 2 : 1) * (b->counting ? slowness() : 1);

	return deadline > 0 ? deadline + RUN_GRACE * slowness() : 0;
}

/*
 * A guest that counts is given its job before it boots, and every run a guest of its own: so a
 * count depends on nothing but the kernel, the command and the seed.
 */
static int qemu_run(struct backend *b, struct visit *v, const struct job *job,
		    struct job_result *result, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct qemu *q = b->priv;
	enum guest_event event;
	struct span type, body;
	int r = 0;

	*result = (struct job_result){.proc.exit_status = -1};
	if (b->counting && !v->error && !q->guest.child.pid && q->runs)
		r = boot_guest(b, v, job, e);
	if (!r && !v->error && q->guest.child.pid && q->share.kind)
		ask_guest(b, v, "share", span_of(q->share.kind));
	if (r || v->error || !q->guest.child.pid)
		goto broken;
	q->runs++;
	if (!b->counting) {
		encode_job(job, &text);
		guest_send(&q->guest, "job", text.buf, text.len);
	}
	event = guest_wait(&q->guest, run_deadline(b, job), 0, &type, &body);
	if (event == GUEST_FRAME)
		r = take_result(b, v, type, body, result, e);
	else
		judge(b, v, event, true);
	if (b->counting && !r)
		end_guest(b, v);
broken:
	if (proc_interrupted())
		result->proc.interrupted = true;
	if (v->error && !r) {
		job_result_release(result);
		*result = (struct job_result){.proc.exit_status = -1};
		result->error = v->error;
		result->message = mem_strdup(v->message);
	}
	return r;
}

static int qemu_collect(struct backend *b, struct visit *v, struct err *e)
{
	(void)e;
	end_guest(b, v);
	return 0;
}

static void qemu_release(struct backend *b)
{
	struct qemu *q = b->priv;

	if (!q)
		return;
	guest_release(&q->guest);
	share_stop(&q->share);
}

static const struct backend_ops qemu_backend = {
	.name = "qemu",
	.unit = "boot",
	.prepare = qemu_prepare,
	.find_kernel = qemu_find_kernel,
	.boot = qemu_boot,
	.flip = qemu_flip,
	.run = qemu_run,
	.collect = qemu_collect,
	.release = qemu_release,
};
REGISTER(backend_ops, qemu_backend);

// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "campaign/campaign.h"
#include "core/file.h"
#include "core/num.h"
#include "jobs/frame.h"

#define PANIC_TEXT     "Kernel panic - not syncing"
#define PANIC_PATIENCE 3.0 /* seconds for the rest of the trace; panic=-1 ends QEMU after 1 */
#define LINE_ROOM      (1 << 20) /* bytes a guest that counts can say while we do not listen */
#define SEND_PATIENCE  60.0
#define IDLE_SHARE     0.2 /* of a CPU: a halted guest under TCG takes a few per cent */

struct words {
	ARRAY_OF(const char *) list;
};

static void add_words(struct words *w, const char *const *words)
{
	for (; *words; words++)
		*ARRAY_PUSH(&w->list) = *words;
}

/* Memory is split like CPUs. A daemon that shares files has its part in it. */
static void add_nodes(struct words *w, struct arena *a, const struct guest_spec *spec)
{
	const bool shared = spec->share && *spec->share;
	int64_t memory = spec->memory / MAX(spec->nodes, 1);
	int nodes = spec->nodes > 1 ? spec->nodes : shared, i, first, last;

	for (i = 0; i < nodes; i++) {
		campaign_node_cpus(spec->cpus, spec->nodes, i, &first, &last);
		add_words(w, (const char *[]){
			"-object",
			arena_printf(a, "memory-backend-%s,id=node%d,size=%lldM",
				     shared ? "memfd,share=on" : "ram", i,
				     (long long)(i == nodes - 1 ? spec->memory - memory * i
								: memory)),
			"-numa",
			arena_printf(a, "node,nodeid=%d,cpus=%d-%d,memdev=node%d", i, first, last,
				     i),
			NULL});
	}
}

static void add_share(struct words *w, struct arena *a, const struct guest_spec *spec)
{
	if (!spec->share)
		return;
	if (*spec->share)
		add_words(w, (const char *[]){
			"-chardev", arena_printf(a, "socket,id=share,path=%s", spec->share),
			"-device", "vhost-user-fs-pci,chardev=share,tag=" GUEST_SHARE, NULL});
	else
		add_words(w, (const char *[]){
			"-fsdev",
			"local,id=share,path=/,security_model=none,readonly=on,multidevs=remap",
			"-device", "virtio-9p-pci,fsdev=share,mount_tag=" GUEST_SHARE, NULL});
}

/* console and line: chardevs of the two serial lines. */
static const char *const *qemu_argv(struct arena *a, const struct guest_spec *spec,
				    const char *console, const char *line)
{
	const char *const base[] = {
		spec->program, "-machine", "q35", "-accel", spec->accelerator, "-cpu", "max",
		"-m", arena_printf(a, "%lldM", (long long)spec->memory),
		"-smp", arena_printf(a, "%d", spec->cpus),
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-chardev", console, "-serial", "chardev:console",
		"-chardev", line, "-serial", "chardev:line",
		"-kernel", spec->kernel, "-initrd",
		spec->initrd_fd < 0 ? spec->initrd
				    : arena_printf(a, "/proc/self/fd/%d", spec->initrd_fd),
		"-append", spec->cmdline, NULL,
	};
	const char *const counting[] = {
		"-icount", GUEST_ICOUNT, "-rtc", GUEST_RTC, "-seed",
		arena_printf(a, "%lld", (long long)spec->seed), NULL,
	};
	struct words w = {0};
	const char *const *argv;

	if (spec->initrd_fd >= 0)
		fcntl(spec->initrd_fd, F_SETFD, 0);
	add_words(&w, base);
	add_nodes(&w, a, spec);
	add_share(&w, a, spec);
	if (spec->seed)
		add_words(&w, counting);
	*ARRAY_PUSH(&w.list) = NULL;
	argv = arena_copy(a, w.list.items, w.list.n, sizeof(*w.list.items));
	ARRAY_FREE(&w.list);
	return argv;
}

/*
 * line_fd: QEMU's end of the second serial line, inherited under its number. Of a guest that counts
 * it is a pipe: QEMU writes byte by byte, and a socket has room for a few hundred such writes only;
 * after that the guest's line would stand still for as long as we are not scheduled.
 */
static int start_qemu(struct guest *g, const struct guest_spec *spec, int line_fd, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	const char *line = arena_printf(a,
					spec->seed ? "file,id=line,path=/proc/self/fd/%d"
						   : "socket,id=line,fd=%d",
					line_fd);

	fcntl(line_fd, F_SETFD, 0);
	return proc_start(&(struct proc_spec){.argv = qemu_argv(a, spec,
								"stdio,id=console,signal=off",
								line)},
			  NULL, NULL, &g->child, e);
}

/* In the child: QEMU in our place at the terminal. Ctrl-C goes to the guest, Ctrl-A X ends it. */
static _Noreturn void become_qemu(const struct guest_spec *spec)
{
	const char *const *argv =
		qemu_argv(arena_new(), spec, "stdio,id=console,mux=on,signal=off", "null,id=line");

	/* on SIGTERM it puts the terminal back */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

int guest_run_here(const struct guest_spec *spec, struct err *e)
{
	struct termios saved;
	bool is_terminal = !tcgetattr(STDIN_FILENO, &saved);
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		become_qemu(spec);
	if (pid < 0)
		return err_add_errno(e, "cannot start a process");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (proc_interrupted())
			kill(pid, SIGTERM);
	if (is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	if (proc_interrupted())
		return err_add(e, -EINTR, "interrupted");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_add(e, -EIO, "QEMU ended with %s %d",
			       WIFEXITED(status) ? "status" : "signal",
			       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

int guest_start(struct guest *g, const struct guest_spec *spec, struct err *e)
{
	int fds[2], r;

	*g = (struct guest)GUEST_INIT;
	if (spec->seed ? pipe2(fds, O_CLOEXEC)
		       : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_add_errno(e, "cannot make a line to the guest");
	if (spec->seed)
		fcntl(fds[1], F_SETPIPE_SZ, LINE_ROOM);
	r = start_qemu(g, spec, fds[1], e);
	close(fds[1]);
	if (r) {
		close(fds[0]);
		return r;
	}
	g->line = fds[0];
	fcntl(g->line, F_SETFL, O_NONBLOCK);
	return 0;
}

bool guest_send(struct guest *g, const char *type, const void *data, size_t len)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	double until = num_monotonic() + SEND_PATIENCE;
	size_t sent = 0;

	frame_encode(type, data, len, &sb);
	while (sent < sb.len && num_monotonic() < until) {
		ssize_t n = send(g->line, sb.buf + sent, sb.len - sent, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){g->line, POLLOUT, 0}, 1, 100);
		else if (errno != EINTR)
			return false;
	}
	return sent == sb.len;
}

/* Appends what there is; closes the descriptor at its end. Returns whether anything came. */
static bool read_into(int *fd, struct strbuf *sb)
{
	char buf[65536];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = read(*fd, buf, sizeof(buf));
	if (n > 0) {
		strbuf_add(sb, buf, (size_t)n);
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	close(*fd);
	*fd = -1;
	return false;
}

/* Waits at most that long and reads whatever came; returns whether anything did. */
static bool guest_pump(struct guest *g, double seconds)
{
	struct pollfd fds[3] = {
		{g->child.out_fd, POLLIN, 0},
		{g->child.err_fd, POLLIN, 0},
		{g->line, POLLIN, 0},
	};
	bool came;

	poll(fds, 3, (int)(MAX(seconds, 0) * 1000));
	came = read_into(&g->child.out_fd, &g->console);
	came |= read_into(&g->child.err_fd, &g->errors);
	came |= read_into(&g->line, &g->inbox);
	return came;
}

static bool guest_ended(struct guest *g)
{
	if (!proc_poll(&g->child, NULL))
		return false;
	while (guest_pump(g, 0))
		;
	return true;
}

static bool guest_panicked(struct guest *g)
{
	size_t from = g->scanned - MIN(g->scanned, strlen(PANIC_TEXT));
	double until;

	g->scanned = g->console.len;
	if (!g->console.len ||
	    !span_find((struct span){g->console.buf + from, g->console.len - from}, PANIC_TEXT))
		return false;
	until = num_monotonic() + PANIC_PATIENCE;
	while (!guest_ended(g) && num_monotonic() < until)
		guest_pump(g, 0.1);
	return true;
}

/*
 * Seconds that QEMU's threads computed or waited for a CPU. Unlike CPU time it does not mistake a
 * guest that a busy machine starves for an idle one. /proc/PID/task/TID/schedstat: "run wait n",
 * the first two in nanoseconds. Negative: unknown.
 */
static double guest_busy(const struct guest *g)
{
	_cleanup_free_ char *dir = mem_printf("/proc/%d/task", (int)g->child.pid);
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err ignored = ERR_INIT;
	double sum = 0;
	char **names;
	size_t n, i;

	if (file_list(a, dir, NULL, &names, &n, &ignored))
		return -1;
	for (i = 0; i < n; i++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
		struct span rest, word;
		double run, wait;

		if (file_read_line(arena_printf(a, "%s/%s/schedstat", dir, names[i]), &sb))
			return -1;
		rest = span_of(strbuf_str(&sb));
		if (!span_next_word(&rest, &word) || !num_parse(word, &run) ||
		    !span_next_word(&rest, &word) || !num_parse(word, &wait))
			return -1;
		sum += (run + wait) / 1e9;
	}
	return sum;
}

/* A window of time in which nothing was printed. */
struct silence {
	double since, busy;
};

static void silence_begin(struct silence *s, const struct guest *g)
{
	s->since = num_monotonic();
	s->busy = guest_busy(g);
}

/* Whether a window of `idle` seconds is over and nothing was computed in it. */
static bool silence_is_hang(struct silence *s, const struct guest *g, double idle)
{
	double busy, length = num_monotonic() - s->since;

	if (length < idle)
		return false;
	busy = guest_busy(g);
	if (s->busy >= 0 && busy >= 0 && busy - s->busy < IDLE_SHARE * length)
		return true;
	silence_begin(s, g);
	return false;
}

/* The frame at the front of the inbox: as frame_decode. */
static int guest_take(struct guest *g, struct span *type, struct span *body)
{
	if (g->taken) {
		memmove(g->inbox.buf, g->inbox.buf + g->taken, g->inbox.len - g->taken);
		g->inbox.len -= g->taken;
		g->taken = 0;
	}
	return frame_decode((struct span){strbuf_str(&g->inbox), g->inbox.len}, type, body,
			    &g->taken);
}

enum guest_event guest_wait(struct guest *g, double seconds, double idle, struct span *type,
			    struct span *body)
{
	double until = num_monotonic() + seconds;
	struct silence quiet;

	silence_begin(&quiet, g);
	for (;;) {
		int r = guest_take(g, type, body);

		if (r)
			return r < 0 ? GUEST_DAMAGED : GUEST_FRAME;
		if (guest_panicked(g))
			return GUEST_PANIC;
		if (guest_ended(g)) {
			r = guest_take(g, type, body);
			return guest_panicked(g) ? GUEST_PANIC : r > 0 ? GUEST_FRAME : GUEST_ENDED;
		}
		if (proc_interrupted())
			return GUEST_INTERRUPTED;
		if (seconds > 0 && num_monotonic() >= until)
			return GUEST_DEADLINE;
		if (guest_pump(g, 0.2))
			silence_begin(&quiet, g);
		else if (idle > 0 && silence_is_hang(&quiet, g, idle))
			return GUEST_SILENT;
	}
}

bool guest_wait_text(struct guest *g, const char *text, double seconds)
{
	double until = num_monotonic() + seconds;

	for (;;) {
		bool last = guest_ended(g) || num_monotonic() >= until || proc_interrupted();

		if (span_find((struct span){strbuf_str(&g->console), g->console.len}, text))
			return true;
		if (last)
			return false;
		guest_pump(g, 0.1);
	}
}

bool guest_wait_end(struct guest *g, double seconds)
{
	double until = num_monotonic() + seconds;

	while (!guest_ended(g)) {
		if (num_monotonic() >= until || proc_interrupted())
			return false;
		guest_pump(g, 0.1);
	}
	return true;
}

void guest_stop(struct guest *g, int *status)
{
	while (guest_pump(g, 0))
		;
	proc_stop(&g->child, 0, status);
	if (g->line >= 0)
		close(g->line);
	g->line = -1;
}

void guest_release(struct guest *g)
{
	guest_stop(g, NULL);
	strbuf_release(&g->console);
	strbuf_release(&g->errors);
	strbuf_release(&g->inbox);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kdelta-agent: init of the guests, and on a target what its controller talks to (target.c).
 *
 * As init it says on the console (first serial line) how far it is, in
 * lines that begin with "KD ", and does on the second serial line what the host asks for in frames
 * (jobs/frame.h):
 *
 *	agent -> host	hello	facts, "key value" a line: release, version, build_id, boot_id, ...
 *	host -> agent	set	settings in place of those set before, a line each: "sysctl NAME
 *				VALUE", "feature NAME" or "knob PATH VALUE"
 *	host -> agent	share	"virtiofs" or "9p": the host's files (guest/share.h)
 *	agent -> host	done	empty, or what could not be set
 *	host -> agent	job	a job (jobs/job.h)
 *	agent -> host	result	its result, or `failed` and why it could not even be tried
 *	host -> agent	shell	"size ROWS COLUMNS", "env NAME=VALUE" a line: a shell on the console
 *	host -> agent	end	power off
 *
 * Frames in the file /orders come first, as if they had been sent: then nothing that the guest does
 * depends on when the host says something.
 *
 * On the console:
 *	KD begin release=6.1.0-57-cloud-amd64 build_id=01d2640d3a13... clocksource=tsc ...
 *	KD run 1 start hackbench
 *	KD run 1 done bytes=1234 sum=0a1b2c3d4e5f6071
 *	KD end runs=1
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "guest/facts.h"
#include "guest/frames.h"
#include "guest/share.h"
#include "guest/target.h"
#include "jobs/frame.h"
#include "jobs/job.h"
#include "runner/initramfs.h"

#define LINE_NAME "/dev/ttyS1"

static int console = -1, line = -1;
static int runs;

/* One line on the console, and out of the UART before anything else is said. */
static void say(const char *fmt, ...) _printf_(1, 2);
static void say(const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	/* A kernel message may have left the cursor in mid-line. */
	strbuf_adds(&sb, "\nKD ");
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	strbuf_addc(&sb, '\n');
	frames_write(console, sb.buf, sb.len);
	tcdrain(console);
}

static _Noreturn void power_off(void)
{
	sync();
	/* QEMU ends there (-no-reboot); only kernels with ACPI can switch off */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void mount_all(void)
{
	static const struct {
		const char *type, *target, *data;
	} mounts[] = {
		{"proc", "/proc", NULL},      {"sysfs", "/sys", NULL},
		{"devtmpfs", "/dev", NULL},   {"tmpfs", "/tmp", NULL},
		{"tmpfs", "/dev/shm", NULL},  {"debugfs", "/sys/kernel/debug", NULL},
		{"devpts", "/dev/pts", NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].target, 0755);
		/* A kernel without one of them still measures; what misses it will say so. */
		mount(mounts[i].type, mounts[i].target, mounts[i].type, 0, mounts[i].data);
	}
}

static void loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
}

static void raise_limits(void)
{
	static const struct {
		int resource;
		rlim_t value;
	} limits[] = {
		{RLIMIT_NOFILE, 1 << 20},
		{RLIMIT_NPROC, RLIM_INFINITY},
		{RLIMIT_STACK, 8 << 20},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		setrlimit((__rlimit_resource_t)limits[i].resource,
			  &(struct rlimit){limits[i].value, limits[i].value});
}

/* Files 000-netfs.ko, 001-9p.ko of /modules, in their order; what failed first, "" if nothing. */
static char *load_modules(struct arena *a)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char **names, *failed = arena_strdup(a, "");
	size_t n = 0, i;

	if (!file_is_dir("/modules") || file_list(a, "/modules", "*.ko", &names, &n, &ignored))
		return failed;
	for (i = 0; i < n && !*failed; i++) {
		int fd = open(arena_printf(a, "/modules/%s", names[i]), O_RDONLY | O_CLOEXEC);

		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			failed = arena_printf(a, "%s: %s", names[i] + strcspn(names[i], "-") + 1,
					      strerror(errno));
		close(fd);
	}
	return failed;
}

static int open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY), i;

	for (i = 0; fd >= 0 && i < 3; i++)
		dup2(fd, i);
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static int open_line(void)
{
	int fd = open(LINE_NAME, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd < 0 || tcgetattr(fd, &t))
		return -1;
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&t, B115200);
	tcsetattr(fd, TCSANOW, &t);
	return fd;
}

static void say_hello(void)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct running_kernel k;

	machine_read_kernel(a, &k);
	facts_add(a, &k, &text);
	strbuf_addf(&text, "module_error %s\n", load_modules(a));
	say("begin release=%s build_id=%s clocksource=%s cpus=%d memory_kb=%s boot_id=%s "
	    "version=%s",
	    k.release, k.build_id, k.clocksource, machine_cpus(), facts_memory(a), k.boot_id,
	    k.version);
	frames_send(line, "hello", &text);
}

static void apply_settings(struct span text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf failures = STRBUF_INIT;

	apply_text(a, text, &failures);
	if (failures.len)
		say("error %s", strbuf_str(&failures));
	frames_send(line, "done", &failures);
}

static void take_share(struct span kind)
{
	_cleanup_strbuf_ struct strbuf failures = STRBUF_INIT;

	share_mount(kind, &failures);
	frames_send(line, "done", &failures);
}

static void run_job(struct span text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result result = {0};
	struct job job;

	runs++;
	if (job_decode(a, text, &job, &e)) {
		say("error %s", err_text(&e));
		return;
	}
	say("run %d start %s", runs, job.argv[0]);
	if (job_run(&job, &result, &e)) {
		strbuf_adds(&out, err_text(&e));
		frames_send(line, "failed", &out);
	} else {
		job_result_encode(&result, &out);
		say("run %d done bytes=%zu sum=%016llx", runs, out.len,
		    (unsigned long long)frame_sum(out.buf, out.len));
		frames_send(line, "result", &out);
	}
	job_result_release(&result);
}

/* In the child: the console, which can be nobody's terminal, by the name of its line. */
static _Noreturn void become_shell(struct span text)
{
	int tty = open("/dev/ttyS0", O_RDWR), i, rows, columns;
	struct span row;

	setsid();
	ioctl(tty, TIOCSCTTY, 0);
	for (i = 0; tty >= 0 && i < 3; i++)
		dup2(tty, i);
	while (span_next_line(&text, &row, NULL)) {
		char *words = mem_strndup(row.s, row.len);

		if (sscanf(words, "size %d %d", &rows, &columns) == 2)
			ioctl(0, TIOCSWINSZ,
			      &(struct winsize){(unsigned short)rows, (unsigned short)columns, 0, 0});
		else if (str_starts(words, "env "))
			putenv(words + 4);
	}
	execl("/bin/sh", "-sh", (char *)NULL);
	_exit(127);
}

static void run_shell(struct span text)
{
	pid_t pid = fork();

	if (!pid)
		become_shell(text);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Does what one frame asks for. */
static void handle(struct span type, struct span body)
{
	if (span_is(type, "job")) {
		run_job(body);
	} else if (span_is(type, "set")) {
		apply_settings(body);
	} else if (span_is(type, "share")) {
		take_share(body);
	} else if (span_is(type, "shell")) {
		run_shell(body);
	} else if (span_is(type, "end")) {
		say("end runs=%d", runs);
		power_off();
	} else {
		say("error unknown request %.*s", (int)type.len, type.s);
	}
}

static void serve(void)
{
	_cleanup_err_ struct err none = ERR_INIT;
	struct inbox inbox = {.fd = line};
	struct span type, body;
	int r;

	file_read("/" INITRAMFS_ORDERS, 0, &inbox.buf, &none);
	while ((r = frames_next(&inbox, &type, &body)) > 0)
		handle(type, body);
	if (r < 0)
		say("error damaged request");
	strbuf_release(&inbox.buf);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "target"))
		return target_serve(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "guard"))
		return target_guard(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "share"))
		return share_serve(argv[2], argv[3]);
	if (getpid() != 1) {
		fputs("kdelta-agent is the init of a guest, or serves a machine's controller:\n"
		      "kdelta-agent target STATE-FOLDER KERNEL-FOLDER\n",
		      stderr);
		return 2;
	}
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/tmp", 1);
	umask(022);
	mount_all();
	console = open_console();
	line = open_line();
	loopback_up();
	raise_limits();
	proc_init();
	if (line < 0)
		say("error " LINE_NAME ": %s", strerror(errno));
	else {
		say_hello();
		serve();
	}
	power_off();
}

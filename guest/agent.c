// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kdelta-agent: init of the guests. It says on the console (first serial line) how far it is, in
 * lines that begin with "KD ", and does on the second serial line what the host asks for in frames
 * (runner/frame.h):
 *
 *	agent -> host	hello	facts, "key value" a line: release, version, build_id, boot_id, ...
 *	host -> agent	set	settings in place of those set before, a line each: "sysctl NAME
 *				VALUE", "feature NAME" or "knob PATH VALUE"
 *	agent -> host	done	empty, or what could not be set
 *	host -> agent	job	a job (runner/job.h)
 *	agent -> host	result	its result, or `failed` and why it could not even be tried
 *	host -> agent	end	power off
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
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include "runner/frame.h"
#include "runner/job.h"
#include "runner/knob.h"

#define LINE_NAME "/dev/ttyS1"

static int console = -1, line = -1;
static int runs;

static void write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

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
	write_all(console, sb.buf, sb.len);
	tcdrain(console);
}

static void send_frame(const char *type, const struct strbuf *body)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	frame_encode(type, strbuf_str(body), body->len, &sb);
	write_all(line, sb.buf, sb.len);
}

static _Noreturn void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
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

/* A small file of /proc or /sys, without the blanks at its end. */
static void read_file(const char *path, struct strbuf *out)
{
	char buf[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(out, buf, (size_t)n);
	if (fd >= 0)
		close(fd);
	strbuf_rtrim(out);
}

/*
 * The kernel's GNU build-id in hex, from the ELF notes in /sys/kernel/notes: each is three words
 * (size of name, size of data, type 3), the name "GNU\0", the data, padded to words.
 */
static void add_build_id(struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char buf[4096];
	ssize_t n;
	size_t pos = 0, i;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(&sb, buf, (size_t)n);
	if (fd >= 0)
		close(fd);
	while (pos + 12 <= sb.len) {
		uint32_t head[3];
		size_t name = pos + 12, data, end;

		memcpy(head, sb.buf + pos, sizeof(head));
		data = name + ((size_t)head[0] + 3) / 4 * 4;
		end = data + ((size_t)head[1] + 3) / 4 * 4;
		if (end > sb.len)
			return;
		if (head[2] == 3 && head[0] == 4 && !memcmp(sb.buf + name, "GNU", 4)) {
			for (i = data; i < data + head[1]; i++)
				strbuf_addf(out, "%02x", (unsigned char)sb.buf[i]);
			return;
		}
		pos = end;
	}
}

/* "MemTotal:      498372 kB" -> "498372" */
static void add_memory(struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, word;

	read_file("/proc/meminfo", &sb);
	rest = span_of(strbuf_str(&sb));
	if (span_next_word(&rest, &word) && span_is(word, "MemTotal:") &&
	    span_next_word(&rest, &word))
		strbuf_add(out, word.s, word.len);
}

struct fact {
	const char *key;
	struct strbuf value;
};

static void say_hello(void)
{
	struct fact facts[] = {
		{"release", STRBUF_INIT}, {"build_id", STRBUF_INIT},  {"clocksource", STRBUF_INIT},
		{"cpus", STRBUF_INIT},	  {"memory_kb", STRBUF_INIT}, {"boot_id", STRBUF_INIT},
		{"version", STRBUF_INIT}, {"cmdline", STRBUF_INIT},
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct utsname uts;
	size_t i;

	uname(&uts);
	strbuf_adds(&facts[0].value, uts.release);
	add_build_id(&facts[1].value);
	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  &facts[2].value);
	strbuf_addf(&facts[3].value, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	add_memory(&facts[4].value);
	read_file("/proc/sys/kernel/random/boot_id", &facts[5].value);
	strbuf_adds(&facts[6].value, uts.version);
	read_file("/proc/cmdline", &facts[7].value);
	for (i = 0; i < ARRAY_SIZE(facts); i++)
		strbuf_addf(&text, "%s %s\n", facts[i].key, strbuf_str(&facts[i].value));
	say("begin release=%s build_id=%s clocksource=%s cpus=%s memory_kb=%s boot_id=%s "
	    "version=%s",
	    strbuf_str(&facts[0].value), strbuf_str(&facts[1].value), strbuf_str(&facts[2].value),
	    strbuf_str(&facts[3].value), strbuf_str(&facts[4].value), strbuf_str(&facts[5].value),
	    strbuf_str(&facts[6].value));
	send_frame("hello", &text);
	for (i = 0; i < ARRAY_SIZE(facts); i++)
		strbuf_release(&facts[i].value);
}

static bool write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* What brings back the settings that were changed, in their order. */
struct change {
	char *path, *value;
};
static ARRAY_OF(struct change) changes;

static void note_change(const char *path, const char *value)
{
	*ARRAY_PUSH(&changes) = (struct change){mem_strdup(path), mem_strdup(value)};
}

static void undo_changes(struct strbuf *failures)
{
	struct change *c;

	while (changes.n) {
		c = &changes.items[--changes.n];
		if (!write_setting(c->path, *c->value ? c->value : "\n"))
			strbuf_addf(failures, "%s back to %s: %s\n", c->path, c->value,
				    strerror(errno));
		free(c->path);
		free(c->value);
	}
}

static bool set_file(const char *path, const char *value)
{
	_cleanup_strbuf_ struct strbuf old = STRBUF_INIT;
	_cleanup_free_ char *back = NULL;
	struct span v;

	read_file(path, &old);
	v = knob_value(span_of(strbuf_str(&old)));
	back = mem_strndup(v.s, v.len);
	if (!write_setting(path, value))
		return false;
	note_change(path, back);
	return true;
}

static void set_sysctl(const char *name, const char *value, struct strbuf *failures)
{
	_cleanup_free_ char *path = mem_printf("/proc/sys/%s", name);
	char *p;

	for (p = path + strlen("/proc/sys/"); *p; p++) {
		if (*p == '.')
			*p = '/';
	}
	if (!set_file(path, value))
		strbuf_addf(failures, "sysctl %s=%s: %s\n", name, value, strerror(errno));
}

static bool has_word(const char *path, const char *word)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, one;

	read_file(path, &sb);
	rest = span_of(strbuf_str(&sb));
	while (span_next_word(&rest, &one))
		if (span_is(one, word))
			return true;
	return false;
}

static void set_feature(const char *name, struct strbuf *failures)
{
	const char *path = "/sys/kernel/debug/sched/features";
	_cleanup_free_ char *back = mem_printf("%s%s", str_starts(name, "NO_") ? "" : "NO_",
					       str_starts(name, "NO_") ? name + 3 : name);
	bool is_new;

	if (access(path, F_OK))
		path = "/sys/kernel/debug/sched_features";
	is_new = !has_word(path, name);
	if (!write_setting(path, name))
		strbuf_addf(failures, "scheduler feature %s: %s\n", name, strerror(errno));
	else if (is_new)
		note_change(path, back);
}

static void apply_settings(struct span text)
{
	_cleanup_strbuf_ struct strbuf failures = STRBUF_INIT;
	struct span row, kind, name;

	undo_changes(&failures);
	while (span_next_line(&text, &row, NULL)) {
		_cleanup_free_ char *n = NULL, *value = NULL;

		if (!span_next_word(&row, &kind) || !span_next_word(&row, &name))
			continue;
		row = span_trim(row);
		n = mem_strndup(name.s, name.len);
		value = mem_strndup(row.s, row.len);
		if (span_is(kind, "sysctl"))
			set_sysctl(n, value, &failures);
		else if (span_is(kind, "knob") && !set_file(n, value))
			strbuf_addf(&failures, "%s=%s: %s\n", n, value, strerror(errno));
		else if (span_is(kind, "feature"))
			set_feature(n, &failures);
	}
	send_frame("done", &failures);
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
		send_frame("failed", &out);
	} else {
		job_result_encode(&result, &out);
		say("run %d done bytes=%zu sum=%016llx", runs, out.len,
		    (unsigned long long)frame_sum(out.buf, out.len));
		send_frame("result", &out);
	}
	job_result_release(&result);
}

/* Does what one frame asks for. */
static void handle(struct span type, struct span body)
{
	if (span_is(type, "job")) {
		run_job(body);
	} else if (span_is(type, "set")) {
		apply_settings(body);
	} else if (span_is(type, "end")) {
		say("end runs=%d", runs);
		power_off();
	} else {
		say("error unknown request %.*s", (int)type.len, type.s);
	}
}

static void serve(void)
{
	_cleanup_strbuf_ struct strbuf inbox = STRBUF_INIT;
	char buf[4096];

	for (;;) {
		struct span type, body;
		size_t used;
		ssize_t n;
		int r = frame_decode((struct span){strbuf_str(&inbox), inbox.len}, &type, &body,
				     &used);

		if (r < 0) {
			say("error damaged request");
			return;
		}
		if (r)
			handle(type, body);
		if (used) {
			memmove(inbox.buf, inbox.buf + used, inbox.len - used);
			inbox.len -= used;
		}
		if (r)
			continue;
		n = read(line, buf, sizeof(buf));
		if (n > 0)
			strbuf_add(&inbox, buf, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return;
	}
}

int main(void)
{
	if (getpid() != 1) {
		fputs("kdelta-agent is the init of a guest; nothing to do here\n", stderr);
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

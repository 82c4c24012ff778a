/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One guest under QEMU: its process, its console (first serial line) and the frames of its agent
 * (second serial line). What events mean for a run is for the caller to say: QEMU's exit status
 * is 0 after a panic, too little memory and a good end alike.
 */
#ifndef RUNNER_GUEST_H
#define RUNNER_GUEST_H

#include "core/proc.h"
#include "core/str.h"

/*
 * Of guests that count: an instruction takes one nanosecond, and where nothing runs the clock goes
 * on to the next timer at once.
 */
#define GUEST_ICOUNT "shift=0,sleep=off"
#define GUEST_RTC    "base=2024-01-01T00:00:00,clock=vm"

/* Tag of the host's files, and where the guest has them (guest/share.h). */
#define GUEST_SHARE	 "host"

struct guest_spec {
	const char *program;	 /* qemu-system-x86_64 */
	const char *accelerator; /* "kvm" or "tcg" */
	int64_t memory;		 /* MiB */
	int cpus;
	int nodes; /* NUMA nodes that memory and CPUs are split over; 0 or 1: none */
	const char *kernel, *initrd, *cmdline;
	/*
	 * The clock of the guest is the number of its instructions, and nothing comes from the host
	 * but this seed (from 1; 0: an ordinary guest). One CPU, accelerator "tcg".
	 */
	int64_t seed;
	/*
	 * The files of this machine, read only: of a daemon at this socket (virtiofs), or with "" of
	 * QEMU itself (9p). NULL: none.
	 */
	const char *share;
	int initrd_fd; /* in place of initrd, from initramfs_with(); -1: none */
};

struct guest {
	struct proc_child child;       /* pid 0: none */
	int line;		       /* our end of the second serial line */
	struct strbuf console, errors; /* errors: what QEMU itself said */
	struct strbuf inbox;	       /* of the second line, from the frame handed out last */
	size_t taken;		       /* bytes of inbox that the last frame used */
	size_t scanned;		       /* bytes of console searched for a panic */
};
#define GUEST_INIT                                                                                 \
	{                                                                                          \
		.child = {.out_fd = -1, .err_fd = -1}, .line = -1                                  \
	}

enum guest_event {
	GUEST_FRAME,
	GUEST_ENDED,  /* QEMU is gone */
	GUEST_PANIC,  /* the console says so */
	GUEST_SILENT, /* nothing printed and nothing computed for a while */
	GUEST_DEADLINE,
	GUEST_DAMAGED,	   /* what came over the line is no frame */
	GUEST_INTERRUPTED, /* proc_interrupted() */
};

int guest_start(struct guest *g, const struct guest_spec *spec, struct err *e);

/*
 * A guest whose console is this program's terminal, until it ends; the terminal is left as it was.
 * Its second serial line leads nowhere.
 */
int guest_run_here(const struct guest_spec *spec, struct err *e);

/* Returns false when the line is closed. */
bool guest_send(struct guest *g, const char *type, const void *data, size_t len);

/*
 * Waits for the next frame; type and body are valid until the next call. seconds: deadline, 0:
 * none. idle: seconds of silence and idleness that count as a hang, 0: never.
 */
enum guest_event guest_wait(struct guest *g, double seconds, double idle, struct span *type,
			    struct span *body);

/* Waits until the console holds a text; false if it does not within seconds or QEMU ends. */
bool guest_wait_text(struct guest *g, const char *text, double seconds);

/* Waits for QEMU to end by itself; false if it does not. */
bool guest_wait_end(struct guest *g, double seconds);

/* Kills what is still there and reads the rest; *status as of waitpid. Console and usage stay. */
void guest_stop(struct guest *g, int *status);
void guest_release(struct guest *g);

#endif

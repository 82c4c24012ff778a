/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of core/proc.c: the sessions of what we started, how they end, and the guard that ends
 * them when we are killed.
 */
#ifndef CORE_PROC_SESSION_H
#define CORE_PROC_SESSION_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Before the first fork: the guard, and SIGCHLD that interrupts a wait. */
void session_prepare(void);
/* In the child, leader of a new session: tells the guard. */
void session_announce(void);
/* In the parent: the leader runs; it is reaped and gone. */
void session_add(pid_t leader);
void session_forget(pid_t leader);
bool session_is_ours(pid_t leader);

/*
 * Looks at every process once: counts the live ones of session sid and those that left it and
 * became our orphans, sends them sig unless it is 0, and reaps dead orphans into usage (may be
 * NULL). The leader is not reaped before its session is empty: its number could be given away.
 */
int session_sweep(pid_t sid, int sig, struct rusage *usage);

/*
 * After the leader ended: gives the rest a moment, then kills it. Returns how many live processes
 * would have stayed; none does.
 */
int session_end(pid_t sid, struct rusage *usage);

/* Holds SIGCHLD, SIGINT and SIGTERM back until proc_sleep(); returns the mask of before. */
sigset_t proc_hold_signals(void);
void proc_release_signals(const sigset_t *old);
/* Sleeps until a descriptor, one of these signals or the end of the time (seconds). */
void proc_sleep(struct pollfd *fds, nfds_t n, double seconds);

void proc_usage_add(struct rusage *to, const struct rusage *u);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to the agent of a target (guest/target.h): a program (ssh, or the agent itself on
 * this machine) whose stdin and stdout carry frames.
 */
#ifndef RUNNER_LINK_H
#define RUNNER_LINK_H

#include "runner/guest.h"

struct link {
	struct guest line; /* the program, what it says on stderr, frames */
	struct strbuf hello; /* facts the agent began with */
	bool open;
};
#define LINK_INIT                                                                                  \
	{                                                                                          \
		.line = GUEST_INIT                                                                 \
	}

/*
 * Starts the program and waits for the agent's hello. 0, or -ENOTCONN with what the program said;
 * -EINTR after proc_interrupted().
 */
int link_open(struct link *l, const char *const *argv, double seconds, struct err *e);
/* Ends the program at once; the agent notices that its line is closed. */
void link_close(struct link *l);
/* What was sent still arrives: closes our end and waits for the program to end, for seconds. */
void link_finish(struct link *l, double seconds);
void link_release(struct link *l);

/*
 * Asks and waits for the answer: `*type` and `*body` are valid until the next call. `failed` is
 * -EREMOTEIO with the agent's words; a connection that broke -ENOTCONN and no answer -ETIMEDOUT
 * (then the link is closed); proc_interrupted() -EINTR (it is open, the answer still to come).
 */
int link_ask(struct link *l, const char *request, struct span text, double seconds,
	     struct span *type, struct span *body, struct err *e);
/* The same where the text is a string and the answer can only be `ok`, whose body is dropped. */
int link_tell(struct link *l, const char *request, const char *text, double seconds,
	      struct err *e);

/* Value of a line "key value" of the hello or of another text, "" if there is none. */
char *link_value(struct arena *a, struct span text, const char *key);
char *link_fact(struct arena *a, const struct link *l, const char *key);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/num.h"

/* The last words of the program, in which ssh tells what is wrong, in lines that end with CR LF. */
static struct span last_words(struct link *l)
{
	char *cr = l->line.errors.buf;
	struct span s;

	while (cr && (cr = strchr(cr, '\r')))
		*cr = ' ';
	s = span_trim((struct span){strbuf_str(&l->line.errors), l->line.errors.len});

	return (struct span){s.s + s.len - MIN(s.len, 700), MIN(s.len, 700)};
}

static int start(struct link *l, const char *const *argv, struct err *e)
{
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_add_errno(e, "cannot make a socket");
	r = proc_start(&(struct proc_spec){.argv = argv, .line_fd = fds[1]}, NULL, NULL,
		       &l->line.child, e);
	close(fds[1]);
	if (r) {
		close(fds[0]);
		return r;
	}
	l->line.line = fds[0];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* Why no frame came; the link is closed. */
static int broken(struct link *l, enum guest_event event, const char *what, struct err *e)
{
	struct span said;
	int code = event == GUEST_DEADLINE ? -ETIMEDOUT
		   : event == GUEST_INTERRUPTED ? -EINTR
						 : -ENOTCONN;

	if (event == GUEST_INTERRUPTED)
		return err_add(e, code, "interrupted");
	link_close(l);
	said = last_words(l);
	if (event == GUEST_DAMAGED)
		return err_add(e, code, "%s: what came is not of kdelta's agent", what);
	return err_add(e, code, "%s: %s%s%.*s", what,
		       event == GUEST_DEADLINE ? "no answer in time" : "the connection ended",
		       said.len ? ": " : "", (int)said.len, said.s);
}

int link_open(struct link *l, const char *const *argv, double seconds, struct err *e)
{
	struct span type, body;
	enum guest_event event;
	int r;

	link_release(l);
	r = start(l, argv, e);
	if (r)
		return r;
	event = guest_wait(&l->line, seconds, 0, &type, &body);
	if (event != GUEST_FRAME)
		return broken(l, event, "cannot connect", e);
	if (span_is(type, "failed")) {
		err_add(e, -EREMOTEIO, "the agent cannot work: %.*s", (int)body.len, body.s);
		link_close(l);
		return -EREMOTEIO;
	}
	if (!span_is(type, "hello"))
		return broken(l, GUEST_DAMAGED, "cannot connect", e);
	strbuf_add(&l->hello, body.s, body.len);
	l->open = true;
	return 0;
}

void link_close(struct link *l)
{
	guest_stop(&l->line, NULL);
	l->open = false;
}

void link_finish(struct link *l, double seconds)
{
	double until = num_monotonic() + seconds;

	if (l->open)
		shutdown(l->line.line, SHUT_WR);
	while (l->open && !proc_poll(&l->line.child, NULL) && num_monotonic() < until)
		usleep(20000); /* also after Ctrl-C */
	link_close(l);
}

void link_release(struct link *l)
{
	guest_release(&l->line);
	strbuf_release(&l->hello);
	*l = (struct link)LINK_INIT;
}

int link_ask(struct link *l, const char *request, struct span text, double seconds,
	     struct span *type, struct span *body, struct err *e)
{
	enum guest_event event = GUEST_ENDED;

	if (!l->open)
		return err_add(e, -ENOTCONN, "not connected");
	if (guest_send(&l->line, request, text.s, text.len))
		event = guest_wait(&l->line, seconds, 0, type, body);
	if (event != GUEST_FRAME)
		return broken(l, event, request, e);
	if (!span_is(*type, "failed"))
		return 0;
	return err_add(e, -EREMOTEIO, "%.*s", (int)body->len, body->s);
}

int link_tell(struct link *l, const char *request, const char *text, double seconds, struct err *e)
{
	struct span type, body;
	int r = link_ask(l, request, span_of(text), seconds, &type, &body, e);

	if (!r && !span_is(type, "ok"))
		r = err_add(e, -EREMOTEIO, "%s: an unexpected answer '%.*s'", request,
			    (int)type.len, type.s);
	return r;
}

char *link_value(struct arena *a, struct span text, const char *key)
{
	struct span row, word;

	while (span_next_line(&text, &row, NULL)) {
		if (span_next_word(&row, &word) && span_is(word, key)) {
			row = span_trim(row);
			return arena_strndup(a, row.s, row.len);
		}
	}
	return arena_strdup(a, "");
}

char *link_fact(struct arena *a, const struct link *l, const char *key)
{
	return link_value(a, (struct span){strbuf_str(&l->hello), l->hello.len}, key);
}

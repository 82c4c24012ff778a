/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network, through libcurl: a text is fetched, a message is delivered. The library is loaded
 * when it is first needed: linked, it made every start of the program 20 ms longer.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/str.h"

#define NET_SIZE_LIMIT ((size_t)64 << 20)

struct net_options {
	const char *cacert; /* PEM file that takes the place of the system's authorities, or NULL */
	double timeout;	    /* seconds for the whole transfer; 0: 300, and 30 without a byte */
	size_t limit;	    /* bytes of an answer; 0: NET_SIZE_LIMIT */
	/*
	 * File with user and password of http(s) servers, "": ~/.netrc, NULL: none. Not for http://
	 * but to the loopback: there "" is ignored, a file refused.
	 */
	const char *netrc;
	int tries; /* where the connection breaks or the server is in trouble; 0: 1 */
};

/*
 * GET of an http(s) address, also after redirects, from https to https only. Certificates are
 * checked. html (may be NULL): the answer says that it is a web page. -EINVAL: an address that is
 * refused as it stands; -EFBIG, -ETIMEDOUT, -EACCES (certificate, 401, 403), -EIO otherwise.
 */
int net_get(const char *url, const struct net_options *opt, struct strbuf *out, bool *html,
	    struct err *e);

/*
 * POST of a JSON text; the answer's body is dropped. Redirects are not followed: they would turn it
 * into a GET. Errors as of net_get.
 */
int net_post(const char *url, struct span json, const struct net_options *opt, struct err *e);

/*
 * Stores a file on a WebDAV server: PUT to a name of its own beside it (URL.HASH.part), which is
 * looked at and then renamed (MOVE), so that nobody ever sees a part of it under its name, and the
 * same call goes on after anything. -ENOSPC: 507; -EBADMSG: the server has not got what was sent;
 * else as of net_get.
 */
int net_put(const char *url, struct span data, const struct net_options *opt, struct err *e);

struct net_file {
	const char *path;   /* where the whole file comes to lie */
	const char *sha256; /* 64 lower-case digits, or NULL: not checked */
	int64_t size;	    /* bytes that it has to have; 0: not known */
	double stall;	    /* seconds without progress that end a try; 0: 30 */
	/* Every few seconds: bytes there, and all of them (0: the server does not say). */
	void (*progress)(void *data, int64_t got, int64_t total);
	void *data;
};

/*
 * Fetches a large file from an http, https or file address. What a connection that breaks or stalls
 * has brought stays in PATH.part, and the next try - of this call, or of a later one - asks for the
 * rest: with If-Range where the server named the version, so that a file that changed is begun
 * anew. Only a file of the right size and checksum gets the name PATH; one with a wrong sum is
 * removed and fetched from its beginning once. A server may not promise less or more than it sends.
 * -EBADMSG: wrong sum or size; -EINTR: a signal; else as net_get.
 */
int net_get_file(const char *url, const struct net_file *f, struct err *e);

struct net_mail {
	const char *url;  /* smtp://HOST[:PORT] or smtps://HOST[:PORT] */
	const char *from; /* address of the envelope, "a@b" */
	const char **to;  /* addresses, n_to of them: all get the message or none */
	size_t n_to;
	struct span message;	     /* whole, with header lines; line ends are made CRLF */
	const char *user, *password; /* NULL: from netrc, the file or ~/.netrc */
	const char *netrc;	     /* file, or NULL */
	bool plain;		     /* without TLS, and then without a password */
};

/*
 * smtp:// takes STARTTLS or fails, but for the loopback, where it is used if it is offered.
 * -EINVAL as above, also for credentials that would go unencrypted over a network.
 */
int net_send(const struct net_mail *mail, const struct net_options *opt, struct err *e);

#endif

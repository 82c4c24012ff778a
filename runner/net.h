/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network, through libcurl: a text is fetched, a message is delivered. The library is loaded
 * when it is first needed: linked, it made every start of the program 20 ms longer.
 */
#ifndef RUNNER_NET_H
#define RUNNER_NET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/str.h"

#define NET_SIZE_LIMIT ((size_t)64 << 20)

struct net_options {
	const char *cacert; /* PEM file that takes the place of the system's authorities, or NULL */
	double timeout;	    /* seconds for the whole transfer; 0: 300, and 30 without a byte */
	size_t limit;	    /* bytes of an answer; 0: NET_SIZE_LIMIT */
};

/*
 * GET of an http(s) address, also after redirects, from https to https only. Certificates are
 * checked. html (may be NULL): the answer says that it is a web page. -EINVAL: an address that is
 * refused as it stands; -EFBIG, -ETIMEDOUT, -EACCES (certificate), -EIO otherwise.
 */
int net_get(const char *url, const struct net_options *opt, struct strbuf *out, bool *html,
	    struct err *e);

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

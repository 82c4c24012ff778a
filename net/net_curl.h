/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcurl for net*.c: the only file that includes curl.h. It comes with some thirty libraries, so it
 * is opened by hand (dlopen) where a command needs it: Debian's libcurl4, which
 * libcurl4-openssl-dev brings.
 */
#ifndef NET_NET_CURL_H
#define NET_NET_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/err.h"
#include "net/net.h"

enum { CONNECT_SECONDS = 20, STALL_SECONDS = 30, TOTAL_SECONDS = 300, REDIRECTS = 5 };

#define NET_FUNCTIONS(F)                                                                           \
	F(global_init)                                                                             \
	F(easy_init)                                                                               \
	F(easy_setopt)                                                                             \
	F(easy_perform)                                                                            \
	F(easy_getinfo)                                                                            \
	F(easy_strerror)                                                                           \
	F(easy_cleanup)                                                                            \
	F(slist_append)                                                                            \
	F(slist_free_all)                                                                          \
	F(url)                                                                                     \
	F(url_set)                                                                                 \
	F(url_get)                                                                                 \
	F(url_cleanup)                                                                             \
	F(free)

#define DECLARE(name) __typeof__(curl_##name) *name;
struct net_curl {
	bool loaded;
	NET_FUNCTIONS(DECLARE)
};
extern struct net_curl curl;

/* Opens the library, once. Nothing else here may be called before. */
int net_load(struct err *e);

/* Whether another try may cure a failure of a transfer. */
bool net_may_pass(CURLcode code, long status);

struct net_address {
	char *scheme, *host; /* of libcurl */
};
void net_address_release(struct net_address *a);
#define _cleanup_address_ _cleanup_(net_address_release)

/*
 * Takes an address apart; one that names a password or another scheme than the two of the
 * NULL-terminated list is refused.
 */
int net_address_read(const char *url, const char *const *schemes, struct net_address *out,
		     struct err *e);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts that are fetched, messages that are delivered; files are in net_file.c. */
#include "net/net.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "net/net_curl.h"

#define NET_LIBRARY "libcurl.so.4"

/* ---- the library ---- */

struct net_curl curl;

int net_load(struct err *e)
{
	void *lib;

	if (curl.loaded)
		return 0;
	lib = dlopen(NET_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		err_add(e, -ENOENT, "cannot load libcurl: %s", dlerror());
		err_hint(e, "its Debian package is libcurl4");
		return -ENOENT;
	}
#define LOOK_UP(name)                                                                              \
	curl.name = (__typeof__(curl_##name) *)dlsym(lib, "curl_" #name);                          \
	if (!curl.name)                                                                            \
		return err_add(e, -ENOENT, "libcurl is too old: no curl_" #name);
	NET_FUNCTIONS(LOOK_UP)
	if (curl.global_init(CURL_GLOBAL_DEFAULT))
		return err_add(e, -EIO, "libcurl cannot be started");
	curl.loaded = true;
	return 0;
}

/* ---- addresses ---- */

void net_address_release(struct net_address *a)
{
	if (curl.loaded) {
		curl.free(a->scheme);
		curl.free(a->host);
	}
}

static bool is_word_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

int net_address_read(const char *url, const char *const *schemes, struct net_address *out,
		     struct err *e)
{
	char *password = NULL;
	CURLU *u = curl.url();
	int r = 0;

	*out = (struct net_address){NULL, NULL};
	if (!u || curl.url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) ||
	    curl.url_get(u, CURLUPART_SCHEME, &out->scheme, 0))
		r = err_add(e, -EINVAL, "'%s' is no address such as %s://HOST", url, schemes[0]);
	else if (!is_word_of(out->scheme, schemes))
		r = err_add(e, -EINVAL, "%s:// is refused: only %s:// and %s:// are taken",
			    out->scheme, schemes[0], schemes[1]);
	else if (curl.url_get(u, CURLUPART_HOST, &out->host, 0) || !*out->host)
		r = err_add(e, -EINVAL, "'%s' is no address such as %s://HOST", url, schemes[0]);
	if (!r && !curl.url_get(u, CURLUPART_PASSWORD, &password, 0)) {
		r = err_add(e, -EINVAL,
			    "the address of %s holds a password: every user of this machine sees "
			    "it in the list of processes, and the shell keeps it",
			    out->host);
		err_hint(e, "passwords come from ~/.netrc or another file of that form");
	}
	curl.free(password);
	curl.url_cleanup(u);
	return r;
}

static bool is_loopback(const char *host)
{
	return !strcmp(host, "localhost") || !strcmp(host, "[::1]") || str_starts(host, "127.");
}

/* ---- one transfer ---- */

bool net_may_pass(CURLcode code, long status)
{
	switch (code) {
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return true;
	case CURLE_OK:
	case CURLE_HTTP_RETURNED_ERROR:
		return status >= 500 && status != 501 && status != 507;
	default:
		return false;
	}
}

struct transfer {
	CURL *h;
	const struct net_options *opt;
	char text[CURL_ERROR_SIZE]; /* what libcurl says went wrong */
	struct strbuf *out;	    /* of a GET */
	size_t limit;
	bool full;
	struct strbuf said; /* last line of an SMTP server */
	struct span rest;   /* of a message, still to be sent */
};

static void transfer_release(struct transfer *t)
{
	if (t->h)
		curl.easy_cleanup(t->h);
	strbuf_release(&t->said);
}
#define _cleanup_transfer_ _cleanup_(transfer_release)

static int transfer_init(struct transfer *t, const char *url, const struct net_options *opt,
			 struct err *e)
{
	long total = (long)(1000 * (opt->timeout > 0 ? opt->timeout : TOTAL_SECONDS));

	t->h = curl.easy_init();
	t->opt = opt;
	if (!t->h)
		return err_add(e, -EIO, "libcurl cannot be started");
	curl.easy_setopt(t->h, CURLOPT_URL, url);
	curl.easy_setopt(t->h, CURLOPT_ERRORBUFFER, t->text);
	curl.easy_setopt(t->h, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(t->h, CURLOPT_CONNECTTIMEOUT_MS, MIN(total, CONNECT_SECONDS * 1000L));
	curl.easy_setopt(t->h, CURLOPT_TIMEOUT_MS, total);
	curl.easy_setopt(t->h, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl.easy_setopt(t->h, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
	curl.easy_setopt(t->h, CURLOPT_USERAGENT, "kdelta/" KDELTA_VERSION);
	if (opt->cacert) {
		curl.easy_setopt(t->h, CURLOPT_CAINFO, opt->cacert);
		curl.easy_setopt(t->h, CURLOPT_CAPATH, NULL);
	}
	return 0;
}

/* The failures that both kinds of transfer share, in words. */
static int transfer_failed(const struct transfer *t, CURLcode code, const char *host, struct err *e)
{
	const char *text = *t->text ? t->text : curl.easy_strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		err_add(e, -ETIMEDOUT, "%s: no whole answer in time (%s)", host, text);
		return -ETIMEDOUT;
	case CURLE_PEER_FAILED_VERIFICATION:
		err_add(e, -EACCES, "%s: its certificate is not trusted (%s)", host, text);
		err_hint(e, "--cacert FILE names the authority that signed it");
		return -EACCES;
	case CURLE_SSL_CACERT_BADFILE:
		err_add(e, -ENOENT, "cannot read the certificates of %s",
			t->opt->cacert ? t->opt->cacert : "this system");
		if (!t->opt->cacert)
			err_hint(e, "their Debian package is ca-certificates");
		return -ENOENT;
	default:
		return err_add(e, -EIO, "%s: %s", host, text);
	}
}

/* ---- fetching ---- */

static size_t take_body(char *data, size_t size, size_t n, void *to)
{
	struct transfer *t = to;

	if (t->out->len + size * n > t->limit) {
		t->full = true;
		return 0;
	}
	strbuf_add(t->out, data, size * n);
	return size * n;
}

static int get_failed(const struct transfer *t, CURLcode code, const char *host, struct err *e)
{
	long redirects = 0;

	curl.easy_getinfo(t->h, CURLINFO_REDIRECT_COUNT, &redirects);
	if (t->full || code == CURLE_FILESIZE_EXCEEDED)
		return err_add(e, -EFBIG, "%s: the answer is larger than %zu MB", host,
			       t->limit >> 20);
	if (code == CURLE_UNSUPPORTED_PROTOCOL && redirects)
		return err_add(e, -EACCES, "%s redirects to what is refused (%s)", host, t->text);
	return transfer_failed(t, code, host, e);
}

/* What the status of an answer means where that is known, and as an error. */
static const struct {
	long status;
	int error;
	const char *text;
} answers[] = {
	{401, EACCES, " (user and password are wanted)"}, {403, EACCES, " (forbidden)"},
	{404, EIO, " (not found)"},			  {405, EIO, " (it takes no such request)"},
	{409, EIO, " (there is no such folder)"},	  {413, EFBIG, " (too large for it)"},
	{507, ENOSPC, " (no space is left there)"},
};

static int status_failed(long status, const char *host, struct err *e)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(answers) && answers[i].status != status)
		i++;
	if (i == ARRAY_SIZE(answers))
		return err_add(e, -EIO, "%s answers %ld", host, status);
	err_add(e, 0, "%s answers %ld%s", host, status, answers[i].text);
	if (status == 401)
		err_hint(e, "they come from ~/.netrc or --netrc FILE: machine %s login USER password "
			    "PASSWORD", host);
	return -answers[i].error;
}

static int get_answered(const struct transfer *t, const char *host, bool *html, struct err *e)
{
	const char *type = NULL;
	long status = 0;

	curl.easy_getinfo(t->h, CURLINFO_RESPONSE_CODE, &status);
	curl.easy_getinfo(t->h, CURLINFO_CONTENT_TYPE, &type);
	if (html)
		*html = type && str_starts(type, "text/html");
	if (status >= 200 && status < 300)
		return 0;
	return status_failed(status, host, e);
}

static int http_login(struct transfer *t, const struct net_address *at, struct err *e)
{
	const char *file = t->opt->netrc;
	bool clear = strcmp(at->scheme, "https") && !is_loopback(at->host);

	if (!file || (clear && !*file))
		return 0;
	if (clear)
		return err_add(e, -EINVAL, "a password would be readable on the network: the address "
					   "of %s is not https://", at->host);
	curl.easy_setopt(t->h, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	if (*file)
		curl.easy_setopt(t->h, CURLOPT_NETRC_FILE, file);
	return 0;
}

/* Opens the transfer of t->out for an http(s) address. */
static int http_init(struct transfer *t, const char *url, const struct net_options *opt,
		     struct net_address *at, struct err *e)
{
	static const char *const schemes[] = {"https", "http", NULL};
	int r = net_load(e);

	if (!r)
		r = net_address_read(url, schemes, at, e);
	if (!r)
		r = transfer_init(t, url, opt, e);
	if (r)
		return r;
	t->limit = opt->limit ? opt->limit : NET_SIZE_LIMIT;
	curl.easy_setopt(t->h, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.easy_setopt(t->h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->limit);
	curl.easy_setopt(t->h, CURLOPT_WRITEFUNCTION, take_body);
	curl.easy_setopt(t->h, CURLOPT_WRITEDATA, t);
	return http_login(t, at, e);
}

static int http_perform(struct transfer *t, const char *host, bool *html, struct err *e)
{
	CURLcode code;

	for (int i = 1;; i++) {
		long status = 0;

		code = curl.easy_perform(t->h);
		curl.easy_getinfo(t->h, CURLINFO_RESPONSE_CODE, &status);
		if (i >= t->opt->tries || t->full || !net_may_pass(code, code ? 0 : status))
			break;
		strbuf_reset(t->out);
		sleep((unsigned int)i);
	}
	return code ? get_failed(t, code, host, e) : get_answered(t, host, html, e);
}

int net_get(const char *url, const struct net_options *opt, struct strbuf *out, bool *html,
	    struct err *e)
{
	_cleanup_transfer_ struct transfer t = {.out = out};
	_cleanup_address_ struct net_address at = {NULL, NULL};
	int r = http_init(&t, url, opt, &at, e);

	if (r)
		return r;
	curl.easy_setopt(t.h, CURLOPT_REDIR_PROTOCOLS_STR,
			 strcmp(at.scheme, "https") ? "http,https" : "https");
	curl.easy_setopt(t.h, CURLOPT_FOLLOWLOCATION, 1L);
	curl.easy_setopt(t.h, CURLOPT_MAXREDIRS, (long)REDIRECTS);
	curl.easy_setopt(t.h, CURLOPT_ACCEPT_ENCODING, "");
	return http_perform(&t, at.host, html, e);
}

/* What is asked besides a GET. */
struct http_request {
	const char *method;  /* NULL: POST */
	const char *headers[2];
	struct span body;    /* s NULL: none */
	curl_off_t *length;  /* of a HEAD: Content-Length, -1: not said */
};

static int http_send(const char *url, const struct http_request *rq, const struct net_options *opt,
		     struct err *e)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_transfer_ struct transfer t = {.out = &out};
	_cleanup_address_ struct net_address at = {NULL, NULL};
	struct curl_slist *headers = NULL;
	int r = http_init(&t, url, opt, &at, e);

	if (r)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(rq->headers) && rq->headers[i]; i++)
		headers = curl.slist_append(headers, rq->headers[i]);
	curl.easy_setopt(t.h, CURLOPT_HTTPHEADER, headers);
	if (rq->body.s) {
		curl.easy_setopt(t.h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body.len);
		curl.easy_setopt(t.h, CURLOPT_POSTFIELDS, rq->body.s);
	}
	if (rq->length)
		curl.easy_setopt(t.h, CURLOPT_NOBODY, 1L);
	else if (rq->method)
		curl.easy_setopt(t.h, CURLOPT_CUSTOMREQUEST, rq->method);
	r = http_perform(&t, at.host, NULL, e);
	if (!r && rq->length)
		curl.easy_getinfo(t.h, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, rq->length);
	curl.slist_free_all(headers);
	return r;
}

int net_post(const char *url, struct span json, const struct net_options *opt, struct err *e)
{
	const struct http_request post = {NULL, {"Content-Type: application/json"}, json, NULL};

	return http_send(url, &post, opt, e);
}

/* The name that a file has while it may be a part. */
static char *part_url(const char *url, struct span data)
{
	char hash[65];

	data_sha256(data.s, data.len, hash);
	return mem_printf("%s.%.12s.part", url, hash);
}

static int check_stored(const char *part, size_t len, const struct net_options *opt, struct err *e)
{
	curl_off_t stored = -1;
	const struct http_request head = {"HEAD", {NULL}, {NULL, 0}, &stored};
	int r = http_send(part, &head, opt, e);

	if (!r && stored >= 0 && (size_t)stored != len)
		r = err_add(e, -EBADMSG, "%s: the server has %lld bytes of %zu that were sent", part,
			    (long long)stored, len);
	return r;
}

int net_put(const char *url, struct span data, const struct net_options *opt, struct err *e)
{
	_cleanup_free_ char *part = part_url(url, data);
	_cleanup_free_ char *to = mem_printf("Destination: %s", url);
	const struct http_request put = {"PUT", {"Content-Type: application/zstd"}, data, NULL};
	const struct http_request move = {"MOVE", {to, "Overwrite: T"}, {NULL, 0}, NULL};
	const struct http_request delete = {"DELETE", {NULL}, {NULL, 0}, NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	int r;

	if (strpbrk(url, "?#"))
		return err_add(e, -EINVAL, "'%s' is no address of a file: it has a ? or #", url);
	r = http_send(part, &put, opt, e);
	if (r)
		return r;
	r = check_stored(part, data.len, opt, e);
	if (!r)
		r = http_send(part, &move, opt, e);
	if (r)
		http_send(part, &delete, opt, &ignored);
	return r;
}

/* ---- delivering ---- */

static size_t give_message(char *to, size_t size, size_t n, void *from)
{
	struct transfer *t = from;
	size_t len = MIN(size * n, t->rest.len);

	memcpy(to, t->rest.s, len);
	t->rest.s += len;
	t->rest.len -= len;
	return len;
}

/* Lines of the server, "550 5.1.1 no such user": the last one before its farewell (221) explains a
 * failure. */
static size_t take_reply(char *data, size_t size, size_t n, void *to)
{
	struct transfer *t = to;

	if (span_starts((struct span){data, size * n}, "221"))
		return size * n;
	strbuf_reset(&t->said);
	strbuf_add(&t->said, data, size * n);
	strbuf_rtrim(&t->said);
	return size * n;
}

static int send_failed(const struct transfer *t, CURLcode code, const char *host, struct err *e)
{
	switch (code) {
	case CURLE_USE_SSL_FAILED:
		err_add(e, -EACCES, "%s offers no encryption (STARTTLS): nothing was sent", host);
		err_hint(e, "--insecure-plain sends without it, and without a password");
		return -EACCES;
	case CURLE_LOGIN_DENIED:
		return err_add(e, -EACCES, "%s refuses user and password (%s)", host,
			       strbuf_str(&t->said));
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_WEIRD_SERVER_REPLY:
		if (t->said.len)
			return err_add(e, -EIO, "%s refuses the message: %s (%s)", host,
				       *t->text ? t->text : curl.easy_strerror(code),
				       strbuf_str(&t->said));
		/* fall through */
	default:
		return transfer_failed(t, code, host, e);
	}
}

static void add_crlf(struct span message, struct strbuf *out)
{
	struct span line;

	while (span_next_line(&message, &line, NULL)) {
		strbuf_add(out, line.s, line.len);
		strbuf_adds(out, "\r\n");
	}
}

/* Encryption and credentials: a password never goes over a network in the clear. */
static int send_secure(struct transfer *t, const struct net_mail *mail, bool loopback,
		       struct err *e)
{
	bool clear = mail->plain && !loopback;
	long ssl = mail->plain ? CURLUSESSL_NONE : loopback ? CURLUSESSL_TRY : CURLUSESSL_ALL;

	if (clear && (mail->user || mail->netrc))
		return err_add(e, -EINVAL,
			       "a password would be readable on the network: --insecure-plain is "
			       "for servers that take mail without one");
	curl.easy_setopt(t->h, CURLOPT_USE_SSL, ssl);
	if (mail->user) {
		curl.easy_setopt(t->h, CURLOPT_USERNAME, mail->user);
		curl.easy_setopt(t->h, CURLOPT_PASSWORD, mail->password ? mail->password : "");
		return 0;
	}
	curl.easy_setopt(t->h, CURLOPT_NETRC,
			 (long)(clear ? CURL_NETRC_IGNORED : CURL_NETRC_OPTIONAL));
	if (mail->netrc)
		curl.easy_setopt(t->h, CURLOPT_NETRC_FILE, mail->netrc);
	return 0;
}

static int send_perform(struct transfer *t, const struct net_mail *mail, const char *host,
			struct err *e)
{
	_cleanup_strbuf_ struct strbuf from = STRBUF_INIT, body = STRBUF_INIT;
	struct curl_slist *to = NULL;
	CURLcode code;
	size_t i;

	strbuf_addf(&from, "<%s>", mail->from);
	for (i = 0; i < mail->n_to; i++) {
		_cleanup_strbuf_ struct strbuf one = STRBUF_INIT;

		strbuf_addf(&one, "<%s>", mail->to[i]);
		to = curl.slist_append(to, strbuf_str(&one));
	}
	add_crlf(mail->message, &body);
	t->rest = (struct span){strbuf_str(&body), body.len};
	curl.easy_setopt(t->h, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl.easy_setopt(t->h, CURLOPT_MAIL_FROM, strbuf_str(&from));
	curl.easy_setopt(t->h, CURLOPT_MAIL_RCPT, to);
	curl.easy_setopt(t->h, CURLOPT_UPLOAD, 1L);
	curl.easy_setopt(t->h, CURLOPT_READFUNCTION, give_message);
	curl.easy_setopt(t->h, CURLOPT_READDATA, t);
	curl.easy_setopt(t->h, CURLOPT_HEADERFUNCTION, take_reply);
	curl.easy_setopt(t->h, CURLOPT_HEADERDATA, t);
	code = curl.easy_perform(t->h);
	curl.slist_free_all(to);
	return code ? send_failed(t, code, host, e) : 0;
}

int net_send(const struct net_mail *mail, const struct net_options *opt, struct err *e)
{
	static const char *const schemes[] = {"smtp", "smtps", NULL};
	_cleanup_transfer_ struct transfer t = {NULL};
	_cleanup_address_ struct net_address at = {NULL, NULL};
	int r = net_load(e);

	if (!r)
		r = net_address_read(mail->url, schemes, &at, e);
	if (!r)
		r = transfer_init(&t, mail->url, opt, e);
	if (!r)
		r = send_secure(&t, mail, is_loopback(at.host), e);
	return r ? r : send_perform(&t, mail, at.host, e);
}

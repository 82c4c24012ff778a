// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only file that includes curl.h. libcurl comes with some thirty libraries, so it is opened by
 * hand (dlopen) where a command needs it: Debian's libcurl4, which libcurl4-openssl-dev brings.
 */
#include "runner/net.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"

#define NET_LIBRARY "libcurl.so.4"
enum { CONNECT_SECONDS = 20, STALL_SECONDS = 30, TOTAL_SECONDS = 300, REDIRECTS = 5 };

/* ---- the library ---- */

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
static struct {
	bool loaded;
	NET_FUNCTIONS(DECLARE)
} curl;

static int net_load(struct err *e)
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

struct address {
	char *scheme, *host; /* of libcurl */
};

static void address_release(struct address *a)
{
	if (curl.loaded) {
		curl.free(a->scheme);
		curl.free(a->host);
	}
}
#define _cleanup_address_ _cleanup_(address_release)

static bool is_word_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

/* Takes an address apart; one that names a password or another scheme is refused. */
static int address_read(const char *url, const char *const *schemes, struct address *out,
			struct err *e)
{
	char *password = NULL;
	CURLU *u = curl.url();
	int r = 0;

	*out = (struct address){NULL, NULL};
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
	return err_add(e, -EIO, "%s answers %ld%s", host, status,
		       status == 404   ? " (not found)"
		       : status == 403 ? " (forbidden)"
				       : "");
}

int net_get(const char *url, const struct net_options *opt, struct strbuf *out, bool *html,
	    struct err *e)
{
	static const char *const schemes[] = {"https", "http", NULL};
	_cleanup_transfer_ struct transfer t = {.out = out};
	_cleanup_address_ struct address at = {NULL, NULL};
	CURLcode code;
	int r = net_load(e);

	if (!r)
		r = address_read(url, schemes, &at, e);
	if (!r)
		r = transfer_init(&t, url, opt, e);
	if (r)
		return r;
	t.limit = opt->limit ? opt->limit : NET_SIZE_LIMIT;
	curl.easy_setopt(t.h, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.easy_setopt(t.h, CURLOPT_REDIR_PROTOCOLS_STR,
			 strcmp(at.scheme, "https") ? "http,https" : "https");
	curl.easy_setopt(t.h, CURLOPT_FOLLOWLOCATION, 1L);
	curl.easy_setopt(t.h, CURLOPT_MAXREDIRS, (long)REDIRECTS);
	curl.easy_setopt(t.h, CURLOPT_ACCEPT_ENCODING, "");
	curl.easy_setopt(t.h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t.limit);
	curl.easy_setopt(t.h, CURLOPT_WRITEFUNCTION, take_body);
	curl.easy_setopt(t.h, CURLOPT_WRITEDATA, &t);
	code = curl.easy_perform(t.h);
	return code ? get_failed(&t, code, at.host, e) : get_answered(&t, at.host, html, e);
}

/* ---- a large file, in as many tries as it takes ---- */

/* Tries in a row that bring nothing, and all of them. */
enum { FILE_IDLE_TRIES = 3, FILE_TRIES = 50, FILE_PROGRESS_SECONDS = 5 };
#define FILE_LEAST_SPEED 16L /* bytes a second; less is a stall */

struct file_transfer {
	CURL *h;
	const struct net_file *f;
	const char *part, *tag_path;
	char text[CURL_ERROR_SIZE];
	char tag[200];	/* the server's name for this version, "" */
	int fd;
	int64_t start;	/* asked for from here */
	int64_t at;	/* bytes of the file that are there */
	int64_t total;	/* as the server says, 0: not */
	bool begun;	/* the body began */
	bool wrong_size;
	int io_errno;
	double told;
};

static int64_t file_wanted(const struct file_transfer *t)
{
	return t->f->size ? t->f->size : t->total;
}

/*
 * Content-Range: bytes 100-999/1000
 * ETag: "abc"
 */
static size_t take_header(char *data, size_t size, size_t n, void *to)
{
	struct span line = span_trim((struct span){data, size * n});
	struct file_transfer *t = to;
	char *text = mem_strndup(line.s, line.len), *value = strchr(text, ':');

	if (!strncmp(text, "HTTP/", 5)) {
		t->tag[0] = '\0'; /* of an answer that redirected */
		t->total = 0;
	}
	if (value) {
		*value++ = '\0';
		value += strspn(value, " \t");
		if (!strcasecmp(text, "ETag") && *value == '"' && strlen(value) < sizeof(t->tag))
			memcpy(t->tag, value, strlen(value) + 1);
		value = !strcasecmp(text, "Content-Range") ? strchr(value, '/') : NULL;
		if (value && !num_parse_int(span_of(value + 1), &t->total))
			t->total = 0;
	}
	free(text);
	return size * n;
}

/* The first bytes of an answer: the rest that was asked for, or the whole file again. */
static int begin_body(struct file_transfer *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	curl_off_t length = -1;
	long status = 0;

	t->begun = true;
	curl.easy_getinfo(t->h, CURLINFO_RESPONSE_CODE, &status);
	curl.easy_getinfo(t->h, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	t->at = status == 206 || !status ? t->start : 0;
	if (!t->total && length >= 0)
		t->total = t->at + length;
	if (t->f->size && t->total && t->total != t->f->size) {
		t->wrong_size = true;
		return -EBADMSG;
	}
	if (ftruncate(t->fd, t->at) || lseek(t->fd, t->at, SEEK_SET) < 0)
		return -(t->io_errno = errno);
	if (file_write_atomic(t->tag_path, t->tag, strlen(t->tag), &ignored))
		return -(t->io_errno = EIO);
	return 0;
}

static size_t take_part(char *data, size_t size, size_t n, void *to)
{
	struct file_transfer *t = to;
	size_t len = size * n, done = 0;

	if (!t->begun && begin_body(t))
		return 0;
	if (t->f->size && t->at + (int64_t)len > t->f->size) {
		t->wrong_size = true;
		return 0;
	}
	while (done < len) {
		ssize_t w = write(t->fd, data + done, len - done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			t->io_errno = errno;
			return 0;
		}
		done += (size_t)w;
	}
	t->at += (int64_t)len;
	return len;
}

static int file_watch(void *data, curl_off_t total, curl_off_t now, curl_off_t up_total,
		      curl_off_t up)
{
	struct file_transfer *t = data;
	double clock = num_monotonic();

	(void)total, (void)now, (void)up_total, (void)up;
	if (proc_interrupted())
		return 1;
	if (t->begun && t->f->progress && clock - t->told >= FILE_PROGRESS_SECONDS) {
		t->told = clock;
		t->f->progress(t->f->data, t->at, file_wanted(t));
	}
	return 0;
}

static void set_file_options(struct file_transfer *t, const char *url)
{
	long stall = (long)(t->f->stall > 0 ? MAX(1, t->f->stall) : STALL_SECONDS);

	curl.easy_setopt(t->h, CURLOPT_URL, url);
	curl.easy_setopt(t->h, CURLOPT_ERRORBUFFER, t->text);
	curl.easy_setopt(t->h, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(t->h, CURLOPT_CONNECTTIMEOUT, MIN(stall, (long)CONNECT_SECONDS));
	curl.easy_setopt(t->h, CURLOPT_LOW_SPEED_LIMIT, FILE_LEAST_SPEED);
	curl.easy_setopt(t->h, CURLOPT_LOW_SPEED_TIME, stall);
	curl.easy_setopt(t->h, CURLOPT_USERAGENT, "kdelta/" KDELTA_VERSION);
	curl.easy_setopt(t->h, CURLOPT_PROTOCOLS_STR, "http,https,file");
	curl.easy_setopt(t->h, CURLOPT_REDIR_PROTOCOLS_STR,
			 str_starts(url, "https:") ? "https" : "http,https");
	curl.easy_setopt(t->h, CURLOPT_FOLLOWLOCATION, 1L);
	curl.easy_setopt(t->h, CURLOPT_MAXREDIRS, (long)REDIRECTS);
	curl.easy_setopt(t->h, CURLOPT_FAILONERROR, 1L);
	curl.easy_setopt(t->h, CURLOPT_HEADERFUNCTION, take_header);
	curl.easy_setopt(t->h, CURLOPT_HEADERDATA, t);
	curl.easy_setopt(t->h, CURLOPT_WRITEFUNCTION, take_part);
	curl.easy_setopt(t->h, CURLOPT_WRITEDATA, t);
	curl.easy_setopt(t->h, CURLOPT_XFERINFOFUNCTION, file_watch);
	curl.easy_setopt(t->h, CURLOPT_XFERINFODATA, t);
	curl.easy_setopt(t->h, CURLOPT_NOPROGRESS, 0L);
}

/* Asks for what is missing of a part; a version that the server does not know any more is whole. */
static struct curl_slist *ask_rest(struct file_transfer *t)
{
	_cleanup_strbuf_ struct strbuf tag = STRBUF_INIT, range = STRBUF_INIT;
	struct curl_slist *headers = NULL;

	if (t->start <= 0)
		return NULL;
	strbuf_addf(&range, "%lld-", (long long)t->start);
	curl.easy_setopt(t->h, CURLOPT_RANGE, range.buf);
	if (!file_read_line(t->tag_path, &tag) && tag.len) {
		_cleanup_free_ char *line = mem_printf("If-Range: %s", tag.buf);

		headers = curl.slist_append(headers, line);
		curl.easy_setopt(t->h, CURLOPT_HTTPHEADER, headers);
	}
	return headers;
}

/* One connection. 0: the body came to its end. */
static CURLcode file_try(struct file_transfer *t, const char *url, long *status)
{
	struct curl_slist *headers;
	struct stat st;
	CURLcode code;

	t->start = !fstat(t->fd, &st) && !str_starts(url, "file:") ? st.st_size : 0;
	t->at = t->start;
	t->total = 0;
	t->begun = false;
	t->text[0] = t->tag[0] = '\0';
	t->h = curl.easy_init();
	if (!t->h)
		return CURLE_FAILED_INIT;
	set_file_options(t, url);
	headers = ask_rest(t);
	code = curl.easy_perform(t->h);
	*status = 0;
	curl.easy_getinfo(t->h, CURLINFO_RESPONSE_CODE, status);
	curl.slist_free_all(headers);
	curl.easy_cleanup(t->h);
	return code;
}

static int file_failed(const struct file_transfer *t, CURLcode code, long status, const char *url,
		       struct err *e)
{
	const char *text = *t->text ? t->text : curl.easy_strerror(code);

	if (t->io_errno)
		return err_add(e, -t->io_errno, "cannot write %s: %s", t->part,
			       strerror(t->io_errno));
	if (t->wrong_size)
		return err_add(e, -EBADMSG, "%s is not the file: %lld bytes or more, not %lld", url,
			       (long long)MAX(t->total, t->at), (long long)t->f->size);
	if (status >= 400)
		return err_add(e, -EIO, "%s: the server answers %ld%s", url, status,
			       status == 404 ? " (not found)" : "");
	if (code == CURLE_OPERATION_TIMEDOUT)
		return err_add(e, -ETIMEDOUT, "%s: stalled after %lld bytes (%s)", url,
			       (long long)t->at, text);
	return err_add(e, -EIO, "%s: broke off after %lld bytes (%s)", url, (long long)t->at, text);
}

/* Failures that another connection may cure. */
static bool is_worth_another(CURLcode code, long status)
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
	case CURLE_HTTP_RETURNED_ERROR:
		return status == 416 || status >= 500;
	default:
		return false;
	}
}

/* Of a server that promised more than there is, the checksum knows better. */
static bool is_right(const struct file_transfer *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65];

	return t->f->sha256 && !file_sha256(t->part, hex, &ignored) && !strcmp(hex, t->f->sha256);
}

/* Until the body is whole, or as long as tries bring something. */
static int file_tries(struct file_transfer *t, const char *url, struct err *e)
{
	bool restarted = false;
	int idle = 0, tries;
	long status = 0;
	CURLcode code = CURLE_OK;

	for (tries = 0; tries < FILE_TRIES && idle < FILE_IDLE_TRIES; tries++) {
		code = file_try(t, url, &status);
		if (!code || proc_interrupted())
			return code ? -EINTR : 0;
		if (!is_worth_another(code, status) || t->io_errno || t->wrong_size)
			break;
		if (status == 416) { /* there is nothing behind what we have */
			if (is_right(t))
				return 0;
			if (restarted)
				break;
			restarted = true;
			if (ftruncate(t->fd, 0))
				t->io_errno = errno;
		} else {
			idle = t->begun && t->at > t->start ? 0 : idle + 1;
		}
	}
	return file_failed(t, code, status, url, e);
}

/* Whole and right: it gets its name. Wrong: it goes. */
static int file_settle(struct file_transfer *t, const char *url, struct err *e)
{
	char hex[65] = "";
	struct stat st;
	int ret = 0;

	if (fstat(t->fd, &st))
		return err_add_errno(e, "cannot read %s", t->part);
	if (t->f->size && st.st_size != t->f->size)
		ret = err_add(e, -EBADMSG, "%s is not the file: %lld bytes, not %lld", url,
			      (long long)st.st_size, (long long)t->f->size);
	if (!ret && t->f->sha256)
		ret = file_sha256(t->part, hex, e);
	if (!ret && t->f->sha256 && strcmp(hex, t->f->sha256)) {
		ret = err_add(e, -EBADMSG, "%s is not the file: its checksum is %s, not %s", url,
			      hex, t->f->sha256);
		err_hint(e, "it was removed");
	}
	unlink(t->tag_path);
	if (ret)
		unlink(t->part);
	else if (fsync(t->fd) || rename(t->part, t->f->path))
		ret = err_add_errno(e, "cannot write %s", t->f->path);
	return ret;
}

static int file_fetch(struct file_transfer *t, const char *url, struct err *e)
{
	struct stat st;
	int ret;

	t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (t->fd < 0)
		return err_add_errno(e, "cannot write %s", t->part);
	if (!fstat(t->fd, &st) && t->f->size && st.st_size > t->f->size && ftruncate(t->fd, 0))
		t->io_errno = errno;
	t->told = num_monotonic();
	/* A part that is whole already was only not checked yet. */
	if (t->f->size && !fstat(t->fd, &st) && st.st_size == t->f->size)
		ret = 0;
	else
		ret = file_tries(t, url, e);
	if (!ret)
		ret = file_settle(t, url, e);
	else if (!fstat(t->fd, &st) && !st.st_size)
		unlink(t->part);
	close(t->fd);
	return ret;
}

int net_get_file(const char *url, const struct net_file *f, struct err *e)
{
	static const char *const schemes[] = {"https", "http", NULL};
	_cleanup_address_ struct address at = {NULL, NULL};
	_cleanup_free_ char *part = mem_printf("%s.part", f->path);
	_cleanup_free_ char *tag = mem_printf("%s.part.etag", f->path);
	_cleanup_err_ struct err first = ERR_INIT;
	bool resumed = file_exists(part);
	int ret = net_load(e), round;

	if (!ret && !str_starts(url, "file:"))
		ret = address_read(url, schemes, &at, e);
	for (round = 0; !ret && round < 2; round++) {
		struct file_transfer t = {.f = f, .part = part, .tag_path = tag};

		ret = file_fetch(&t, url, round || !resumed ? e : &first);
		if (ret != -EBADMSG || round || !resumed)
			break;
		/* What an earlier call left may have been another file. */
		unlink(part);
		ret = 0;
	}
	if (ret && !round && resumed && ret != -EINTR)
		err_add(e, ret, "%s", err_text(&first));
	return ret;
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
	_cleanup_address_ struct address at = {NULL, NULL};
	int r = net_load(e);

	if (!r)
		r = address_read(mail->url, schemes, &at, e);
	if (!r)
		r = transfer_init(&t, mail->url, opt, e);
	if (!r)
		r = send_secure(&t, mail, is_loopback(at.host), e);
	return r ? r : send_perform(&t, mail, at.host, e);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A large file, in as many tries as it takes: see net_get_file() in net.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "net/net_curl.h"

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
		if (!(status == 416 || net_may_pass(code, status)) || t->io_errno ||
		    t->wrong_size)
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
	_cleanup_address_ struct net_address at = {NULL, NULL};
	_cleanup_free_ char *part = mem_printf("%s.part", f->path);
	_cleanup_free_ char *tag = mem_printf("%s.part.etag", f->path);
	_cleanup_err_ struct err first = ERR_INIT;
	bool resumed = file_exists(part);
	int ret = net_load(e), round;

	if (!ret && !str_starts(url, "file:"))
		ret = net_address_read(url, schemes, &at, e);
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

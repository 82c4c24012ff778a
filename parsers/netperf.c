// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netperf 2.x: a banner, a header of some lines, a line of figures. In a stream test the fifth is
 * the result, in a request/response test the sixth; CPU use and service demand may follow (-c -C):
 *
 *	MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 () port 0 ...
 *	Recv   Send    Send
 *	Socket Socket  Message  Elapsed
 *	Size   Size    Size     Time     Throughput
 *	bytes  bytes   bytes    secs.    10^6bits/sec
 *
 *	131072  16384  16384    10.00    24215.09
 *
 *	16384  131072 1        1       3.00     44127.79		TCP_RR, UDP_RR, TCP_CRR
 *	16384  131072
 *
 *	212992   65507   2.00       156479      0    40995.34	UDP_STREAM: what left the sender
 *	212992           2.00        55650           14579.53	and what arrived
 *
 * -P 0 leaves out banner and header, -v 0 all but the figure: then the command line names the test.
 * The omni test prints keys (-k: "THROUGHPUT=45439.92"), CSV (-o) or columns (-O), whose titles are
 * "50th Percentile Latency Microseconds" where the key is P50_LATENCY.
 */
#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason netperf_reasons[] = {
	{"^Usage: netperf", NULL, "usage_error"},
	{"netperf: invalid option", NULL, "usage_error"},
	{"netperf: unrecognized option", NULL, "usage_error"},
	{"netperf: option requires an argument", NULL, "usage_error"},
	{"The test you requested is unknown to this netperf", NULL, "usage_error"},
	{"are you sure there is a netserver listening", NULL, "server_unreachable"},
	{"could not establish the control connection", NULL, "server_unreachable"},
	{"Connection refused", NULL, "server_unreachable"},
	{"could not resolve", NULL, "server_unreachable"},
	{"Name or service not known", NULL, "server_unreachable"},
	{"No route to host", NULL, "server_unreachable"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"Connection reset by peer", NULL, "server_lost"},
	{"Broken pipe", NULL, "server_lost"},
	{"recv_response: partial response received", NULL, "server_lost"},
	{"no response received", NULL, "server_lost"},
	{"netperf: remote error", NULL, "server_lost"},
	SCAN_REASONS_END,
};

enum { OPTION_TEST, OPTION_VERBOSITY };
static const struct scan_option netperf_options[] = {
	{'t', "testname"},
	{'v', "verbosity"},
	{'P', NULL},
	{0, NULL},
};

enum shape { UNKNOWN, STREAM, RR, UDP, OMNI };

/* Keys of the omni test with their titles; a NULL unit: a parameter. */
static const struct {
	const char *key, *title, *unit;
} omni_keys[] = {
	{"THROUGHPUT", "Throughput", ""},
	{"THROUGHPUT_UNITS", "Throughput Units", NULL},
	{"ELAPSED_TIME", "Elapsed Time (sec)", "s"},
	{"TRANSACTION_RATE", "Transaction Rate Tran/s", "trans/s"},
	{"RT_LATENCY", "Round Trip Latency usec/tran", "us"},
	{"MIN_LATENCY", "Minimum Latency Microseconds", "us"},
	{"MAX_LATENCY", "Maximum Latency Microseconds", "us"},
	{"MEAN_LATENCY", "Mean Latency Microseconds", "us"},
	{"STDDEV_LATENCY", "Stddev Latency Microseconds", "us"},
	{"P50_LATENCY", "50th Percentile Latency Microseconds", "us"},
	{"P90_LATENCY", "90th Percentile Latency Microseconds", "us"},
	{"P99_LATENCY", "99th Percentile Latency Microseconds", "us"},
	{"LOCAL_SEND_THROUGHPUT", "Local Send Throughput", ""},
	{"LOCAL_RECV_THROUGHPUT", "Local Recv Throughput", ""},
	{"REMOTE_SEND_THROUGHPUT", "Remote Send Throughput", ""},
	{"REMOTE_RECV_THROUGHPUT", "Remote Recv Throughput", ""},
	{"THROUGHPUT_CONFID", "Throughput Confidence Width (%)", "%"},
	{"LOCAL_CPU_UTIL", "Local CPU Util %", "%"},
	{"REMOTE_CPU_UTIL", "Remote CPU Util %", "%"},
	{"LOCAL_CPU_PEAK_UTIL", "Local Peak Per CPU Util %", "%"},
	{"REMOTE_CPU_PEAK_UTIL", "Remote Peak Per CPU Util %", "%"},
	{"LOCAL_SD", "Local Service Demand", "us/op"},
	{"REMOTE_SD", "Remote Service Demand", "us/op"},
	{"LOCAL_TRANSPORT_RETRANS", "Local Transport Retransmissions", "count"},
	{"REMOTE_TRANSPORT_RETRANS", "Remote Transport Retransmissions", "count"},
};

struct pair {
	struct span key, value, line;
};

struct netperf {
	struct scan s;
	enum shape shape;
	const char *test; /* TCP_RR; NULL: unknown */
	const char *unit; /* of a stream */
	bool banner, sent;
	bool fresh; /* the banner was the last line */
	enum shape asked_shape;
	const char *asked_test;
	ARRAY_OF(struct pair) pairs; /* of an omni test */
	/* lines of -O above its figures, or the titles of -o */
	struct span titles[5];
	size_t n_titles;
	ARRAY_OF(double) t;
	ARRAY_OF(double) interim;
};

static enum shape shape_of(struct span test)
{
	if (span_starts(test, "OMNI") || span_starts(test, "omni"))
		return OMNI;
	if (span_find(test, "REQUEST/RESPONSE") || span_find(test, "Request") ||
	    span_find(test, "_RR") || span_find(test, "_CRR") || span_find(test, "_CC") ||
	    span_find(test, "Connect/Close"))
		return RR;
	if (span_starts(test, "UDP") || span_starts(test, "DG_STREAM"))
		return UDP;
	return STREAM;
}

/* "TCP REQUEST/RESPONSE" is TCP_RR, as -t has it. */
static const char *test_name(struct arena *a, struct span banner)
{
	static const struct {
		const char *words, *name;
	} kinds[] = {
		{"Connect/Request/Response", "_CRR"},
		{"CONNECT REQUEST/RESPONSE", "_CRR"},
		{"REQUEST/RESPONSE", "_RR"},
		{"Connect/Close", "_CC"},
		{"UNIDIRECTIONAL SEND", "_STREAM"},
		{"STREAM", "_STREAM"},
		{"MAERTS", "_MAERTS"},
		{"SENDFILE", "_SENDFILE"},
	};
	const char *blank = memchr(banner.s, ' ', banner.len);
	int n = (int)MIN(blank ? (size_t)(blank - banner.s) : banner.len, (size_t)20);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_find(banner, kinds[i].words))
			return arena_printf(a, "%.*s%s", n, banner.s, kinds[i].name);
	return arena_printf(a, "%.*s", n, banner.s);
}

/* "10^6bits/sec", "10^6bits/s" and "KBytes/sec" without the "ec" */
static const char *unit_name(struct arena *a, struct span unit)
{
	const char *slash = memchr(unit.s, '/', unit.len);
	size_t n = MIN(slash ? (size_t)(slash - unit.s) : unit.len, (size_t)30);

	if (span_starts(unit, "Trans"))
		return "trans/s";
	return arena_printf(a, "%.*s/s", (int)n, unit.s);
}

static int find_key(struct span name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(omni_keys); i++)
		if (span_is(name, omni_keys[i].key) || span_is(name, omni_keys[i].title))
			return (int)i;
	return -1;
}

/* "Local Send Size" -> LOCAL_SEND_SIZE */
static const char *param_name(struct arena *a, struct span title)
{
	char *name = arena_strndup(a, title.s, MIN(title.len, (size_t)60)), *p;

	for (p = name; *p; p++)
		*p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
	return name;
}

static void add_pair(struct netperf *n, const struct pair *pair, const char *units)
{
	struct scan *s = &n->s;
	int i = find_key(pair->key);
	const char *error, *unit;
	double v;

	if (i < 0 || !omni_keys[i].unit) {
		scan_param(s, pair->value, "%s",
			   i < 0 ? param_name(s->a, pair->key) : omni_keys[i].key);
		return;
	}
	unit = *omni_keys[i].unit ? omni_keys[i].unit : units;
	/* what was not measured is negative */
	if (i && span_starts(pair->value, "-") && num_parse(pair->value, &v))
		return;
	error = scan_figure(s, pair->value, unit, 0, &v);
	if (!i && !error && v == 0)
		error = "zero_result";
	if (error) {
		scan_error_of(s, error, pair->line);
		return;
	}
	scan_value(s, ROLE_RESULT, unit, v, "%s", omni_keys[i].key);
	s->figure |= !i || !strcmp(omni_keys[i].key, "TRANSACTION_RATE") ||
		     str_ends(omni_keys[i].key, "_LATENCY");
}

static void add_pairs(struct netperf *n)
{
	const struct pair *pair;
	const char *units = "10^6bits/s";

	array_for_each (pair, &n->pairs)
		if (find_key(pair->key) == 1)
			units = unit_name(n->s.a, pair->value);
	array_for_each (pair, &n->pairs)
		add_pair(n, pair, units);
}

static void end_run(struct netperf *n)
{
	if (n->s.run) {
		add_pairs(n);
		if (n->interim.n)
			scan_series(&n->s, "interim", n->unit, n->interim.n, n->t.items,
				    n->interim.items);
		scan_end_run(&n->s);
	}
	n->pairs.n = n->n_titles = 0;
	n->t = (typeof(n->t)){NULL, 0, 0};
	n->interim = (typeof(n->interim)){NULL, 0, 0};
	n->banner = n->sent = false;
	n->shape = n->asked_shape;
	n->test = n->asked_test;
	n->unit = "10^6bits/s";
}

/* "MIGRATED TCP STREAM TEST from 0.0.0.0 ... to ...", of old "TCP STREAM TEST to localhost" */
static bool read_banner(struct netperf *n)
{
	struct span line = n->s.line, test;
	const char *end =
		line.len && isupper((unsigned char)*line.s) ? span_find(line, " TEST ") : NULL;

	if (!end || (!span_find(line, " TEST from ") && !span_find(line, " TEST to ")))
		return false;
	end_run(n);
	test = (struct span){line.s, (size_t)(end - line.s)};
	if (span_starts(test, "MIGRATED ")) {
		span_skip(&test, strlen("MIGRATED "));
	}
	n->banner = n->fresh = true;
	n->shape = shape_of(test);
	n->test = n->shape == OMNI ? "OMNI" : test_name(n->s.a, test);
	scan_run(&n->s);
	scan_param(&n->s, span_of(n->test), "test");
	return true;
}

static bool is_row(struct span line, struct span *words, size_t *n, size_t max)
{
	struct span word;

	*n = 0;
	while (span_next_word(&line, &word)) {
		if (!scan_is_figure(word))
			return false;
		if (*n < max)
			words[(*n)++] = word;
	}
	return *n > 0;
}

/* Without banner and command line the place of the seconds tells the test. */
static enum shape guess_shape(const struct span *words, size_t n)
{
	size_t i;

	for (i = 0; i < n && !memchr(words[i].s, '.', words[i].len); i++)
		;
	if (i == 2 && n >= 6)
		return UDP;
	if (i == 3 && n >= 5)
		return STREAM;
	return i == 4 && n >= 6 ? RR : UNKNOWN;
}

static bool add_figure(struct netperf *n, struct span word, const char *metric, const char *unit)
{
	return scan_result(&n->s, word, metric, unit, 2, !strcmp(metric, "send"));
}

/* CPU use in percent, negative where it was not measured */
static void add_cpu(struct netperf *n, const struct span *words, size_t n_words, size_t at)
{
	static const char *const metrics[] = {"local_cpu_util", "remote_cpu_util"};
	size_t i;
	double v;

	for (i = 0; i < ARRAY_SIZE(metrics) && at + i < n_words; i++)
		if (!scan_figure(&n->s, words[at + i], "%", 2, &v) && v > 0)
			scan_value(&n->s, ROLE_RESULT, "%", v, "%s", metrics[i]);
}

static void add_sizes(struct netperf *n, struct span first, const char *name, struct span second)
{
	scan_param(&n->s, first, "%s", name);
	if (second.s)
		scan_param(&n->s, second, "response_size");
}

static void begin_row(struct netperf *n, enum shape shape)
{
	if (n->s.figure || n->s.error)
		end_run(n);
	n->shape = shape;
	scan_run(&n->s);
	if (!n->banner && n->test)
		scan_param(&n->s, span_of(n->test), "test");
}

static void read_udp(struct netperf *n, const struct span *w, size_t count)
{
	if (n->sent && count < 6) {
		n->s.figure = add_figure(n, w[3], "recv", n->unit);
		return;
	}
	if (count < 6)
		return;
	begin_row(n, UDP);
	n->sent = true;
	scan_param(&n->s, w[2], "runtime");
	add_sizes(n, w[1], "message_size", (struct span){NULL, 0});
	add_figure(n, w[5], "send", n->unit);
	add_cpu(n, w, MIN(count, (size_t)7), 6);
}

/* The single figure of -v 0; of a UDP stream it is what left the sender. */
static void read_bare(struct netperf *n, struct span word)
{
	enum shape shape = n->shape;

	begin_row(n, shape);
	if (shape == RR)
		n->s.figure = add_figure(n, word, "transactions", "trans/s");
	else if (shape == STREAM)
		n->s.figure = add_figure(n, word, "throughput", n->unit);
	else
		n->s.figure = add_figure(n, word, "send", n->unit);
	if (shape == UDP)
		n->s.doubt = "the figure is what left the sender, not what arrived";
}

static bool read_row(struct netperf *n)
{
	struct span w[16];
	enum shape shape = n->shape;
	size_t count;

	if (shape == OMNI || !is_row(n->s.line, w, &count, ARRAY_SIZE(w)))
		return false;
	if (shape == UNKNOWN)
		shape = n->sent ? UDP : guess_shape(w, count);
	if (count == 1 && shape != UNKNOWN && (n->banner || n->asked_test) && !n->sent) {
		read_bare(n, w[0]);
	} else if (shape == UDP && count >= 4) {
		read_udp(n, w, count);
	} else if (shape == RR && count >= 6) {
		begin_row(n, RR);
		add_sizes(n, w[2], "request_size", w[3]);
		scan_param(&n->s, w[4], "runtime");
		n->s.figure = add_figure(n, w[5], "transactions", "trans/s");
		add_cpu(n, w, count, 6);
	} else if (shape == STREAM && count >= 5) {
		begin_row(n, STREAM);
		add_sizes(n, w[2], "message_size", (struct span){NULL, 0});
		scan_param(&n->s, w[3], "runtime");
		n->s.figure = add_figure(n, w[4], "throughput", n->unit);
		add_cpu(n, w, count, 5);
	}
	return true;
}

/* "bytes  bytes   bytes    secs.    10^6bits/sec", "KBytes  /sec": the last line of the header */
static void read_unit(struct netperf *n)
{
	struct span rest = n->s.line, word;

	while (span_next_word(&rest, &word))
		if (span_find(word, "bits/s") || span_find(word, "Bytes/s"))
			n->unit = unit_name(n->s.a, word);
}

static void push_pair(struct netperf *n, struct span key, struct span value)
{
	const struct pair *pair;
	struct pair *new;

	/* without banners a key that comes again begins the next run */
	if (n->pairs.n < 400)
		array_for_each (pair, &n->pairs)
			if (key.len == pair->key.len && !memcmp(key.s, pair->key.s, key.len)) {
				end_run(n);
				break;
			}
	scan_run(&n->s);
	new = SCAN_PUSH(n->s.a, &n->pairs);
	*new = (struct pair){key, value, n->s.line};
}

/* "P50_LATENCY=17" */
static bool read_key(struct netperf *n)
{
	const char *eq = memchr(n->s.line.s, '=', n->s.line.len);
	struct span key = {n->s.line.s, eq ? (size_t)(eq - n->s.line.s) : 0}, value;
	size_t i;

	for (i = 0; i < key.len; i++)
		if (!isupper((unsigned char)key.s[i]) && !isdigit((unsigned char)key.s[i]) &&
		    key.s[i] != '_')
			return false;
	if (key.len < 3 || !isupper((unsigned char)*key.s))
		return false;
	value = span_trim((struct span){eq + 1, n->s.line.len - key.len - 1});
	if (!value.len || (n->s.cut && find_key(key) >= 0))
		return key.len > 3;
	push_pair(n, key, value);
	return true;
}

/* Takes a field of -o off the rest; quotes are not used by netperf. */
static struct span next_field(struct span *rest)
{
	const char *comma = memchr(rest->s, ',', rest->len);
	struct span field = {rest->s, comma ? (size_t)(comma - rest->s) : rest->len};

	span_skip(rest, field.len + (comma ? 1 : 0));
	return span_trim(field);
}

static size_t count_commas(struct span s)
{
	size_t i, n = 0;

	for (i = 0; i < s.len; i++)
		n += s.s[i] == ',';
	return n;
}

static void read_fields(struct netperf *n)
{
	struct span titles = n->titles[0], values = n->s.line;

	/* a cut figure looks like a shorter one */
	if (n->s.cut)
		return;
	do
		push_pair(n, next_field(&titles), next_field(&values));
	while (titles.len || values.len);
	n->n_titles = 0;
}

/* The title above a column that begins at an offset: the words of up to four lines. */
static struct span column_title(struct netperf *n, size_t from, size_t to)
{
	char *title = arena_alloc(n->s.a, (to - from + 1) * ARRAY_SIZE(n->titles) + 1);
	size_t i, len = 0;

	for (i = 0; i < n->n_titles; i++) {
		struct span part = n->titles[i];

		if (part.len <= from)
			continue;
		part = span_trim((struct span){part.s + from, MIN(part.len, to) - from});
		if (part.len && len)
			title[len++] = ' ';
		memcpy(title + len, part.s, part.len);
		len += part.len;
	}
	return (struct span){title, len};
}

/* Columns of -O are flush left. */
static void read_columns(struct netperf *n)
{
	struct span rest = n->s.line, word, next;
	const char *start = rest.s;
	bool more = span_next_word(&rest, &word);

	while (more && !n->s.cut) {
		more = span_next_word(&rest, &next);
		push_pair(n,
			  column_title(n, (size_t)(word.s - start),
				       more ? (size_t)(next.s - start)
					    : (size_t)(word.s - start) + 200),
			  word);
		word = next;
	}
	n->n_titles = 0;
}

/* Titles and figures of -o and -O. */
static void read_omni(struct netperf *n)
{
	struct span line = span_trim(n->s.line);

	if (!line.len)
		return;
	if (n->n_titles == 1 && count_commas(line) == count_commas(n->titles[0]) &&
	    count_commas(line)) {
		read_fields(n);
	} else if (n->n_titles && scan_is_figure(line) && !span_find(line, "Percentile") &&
		   !(line.len > 2 && isalpha((unsigned char)line.s[2]))) {
		read_columns(n);
	} else if (n->n_titles < ARRAY_SIZE(n->titles)) {
		n->titles[n->n_titles++] = n->s.line;
	}
}

/* "Interim result: 24012.83 10^6bits/s over 1.000 seconds ending at 1606730391.512" */
static bool read_interim(struct netperf *n)
{
	struct span value, unit, over, more;
	double v, seconds;

	if (!scan_match(n->s.line, "Interim result: %w %w over %w seconds%*", &value, &unit, &over,
			&more))
		return false;
	if (!num_parse(value, &v) || v < 0 || !num_parse(over, &seconds) || seconds < 0 ||
	    seconds > 1e6)
		return true;
	scan_run(&n->s);
	n->unit = unit_name(n->s.a, unit);
	*SCAN_PUSH(n->s.a, &n->interim) = v;
	seconds += n->t.n ? n->t.items[n->t.n - 1] : 0;
	*SCAN_PUSH(n->s.a, &n->t) = seconds;
	return true;
}

/* Any test prints as omni does when it is asked to: what follows the banner are titles then. */
static bool begins_omni(struct netperf *n)
{
	static const char *const titles[] = {"Throughput", "Latency",	  "Percentile",
					     "Elapsed",	   "Transaction", "Mean"};
	size_t i;

	if (!n->fresh || span_starts(span_trim(n->s.line), "Socket "))
		return false;
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		if (span_find(n->s.line, titles[i]))
			return true;
	return false;
}

static void read_line(struct netperf *n)
{
	if (begins_omni(n) && !span_find(n->s.line, "="))
		n->shape = OMNI;
	if (span_trim(n->s.line).len)
		n->fresh = false;
	if (read_banner(n) || read_interim(n) || read_row(n) || read_key(n))
		return;
	if (scan_find_reason(&n->s))
		return;
	if (!n->s.run)
		return;
	if (span_find(n->s.line, "Desired confidence was not achieved"))
		n->s.doubt = "the confidence asked for was not achieved";
	else if (n->shape == OMNI)
		read_omni(n);
	else if (!n->s.figure)
		read_unit(n);
}

static void netperf_parse(struct arena *a, const struct parse_input *in,
			  struct parse_result *result)
{
	struct netperf n = {.s = {.a = a,
				  .in = in,
				  .result = result,
				  .reasons = netperf_reasons,
				  .rest = in->text}};
	struct span asked;

	scan_ask(&n.s, "netperf", netperf_options, false);
	asked = n.s.asked.option[OPTION_TEST];
	if (asked.s && asked.len > 3 && !span_is(asked, "omni")) {
		n.asked_shape = shape_of(asked);
		n.asked_test = arena_strndup(a, asked.s, MIN(asked.len, (size_t)30));
	} else if (in->command && span_find(span_of(in->command), "omni")) {
		n.asked_shape = OMNI;
	}
	end_run(&n);
	while (scan_line(&n.s))
		read_line(&n);
	end_run(&n);
}

static int netperf_recognise(struct span text)
{
	struct span line;

	if (span_find(text, "is a netserver listening on ") ||
	    (span_find(text, "THROUGHPUT=") && span_find(text, "THROUGHPUT_UNITS=")))
		return 90;
	while (span_next_line(&text, &line, NULL))
		if ((span_find(line, " TEST from ") || span_find(line, " TEST to ")) &&
		    (span_find(line, "STREAM TEST ") || span_find(line, "RESPONSE TEST ") ||
		     span_find(line, "Response TEST ") || span_find(line, "MAERTS TEST ") ||
		     span_find(line, "SENDFILE TEST ") || span_starts(line, "OMNI ") ||
		     span_find(line, "SEND TEST ")))
			return 90;
	return 0;
}

static const struct parser netperf = {
	.name = "netperf",
	.summary = "netperf: TCP and UDP, STREAM and RR, omni -k, -o, -O",
	.recognise = netperf_recognise,
	.parse = netperf_parse,
};
REGISTER(parser, netperf);

// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta send: a report as a mail, into a file or to a server. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/select.h"
#include "core/file.h"
#include "net/lore.h"
#include "net/net.h"
#include "reports/message.h"
#include "runner/identity.h"

struct send {
	struct cli *c;
	struct selection what;
	struct strbuf body;
	struct message m;
	struct net_mail mail;
	struct net_options net;
};

/* ---- options ---- */

static int read_addresses(struct send *s)
{
	struct cli *c = s->c;
	const char *from = cli_value(c, "from"), *text;
	struct message_addresses sender = {NULL, 0, 0};
	size_t i;
	int r = 0;

	for (i = 0; !r && (text = cli_value_at(c, "to", i)); i++)
		r = message_add_addresses(c->a, "--to", text, &s->m.to, c->e);
	for (i = 0; !r && (text = cli_value_at(c, "cc", i)); i++)
		r = message_add_addresses(c->a, "--cc", text, &s->m.cc, c->e);
	if (!r && !s->m.to.n)
		return cli_usage(c, "who is it for? --to ADDRESS");
	if (!r && !from)
		from = identity_sender(c->a);
	if (!r && !from) {
		err_add(c->e, -EINVAL, "who is it from? --from ADDRESS");
		err_hint(c->e, "or once: git config --global user.email a@b.org (and user.name)");
		return -EINVAL;
	}
	if (!r)
		r = message_add_addresses(c->a, "--from", from, &sender, c->e);
	if (!r && sender.n != 1)
		r = cli_usage(c, "--from takes one address");
	if (!r)
		s->m.from = sender.items[0];
	ARRAY_FREE(&sender);
	return r;
}

static int read_headers(struct send *s)
{
	struct cli *c = s->c;
	const char *reply = cli_value(c, "in-reply-to");
	int r = read_addresses(s);

	s->m.subject = cli_value(c, "subject");
	if (!r && s->m.subject)
		r = message_check_line("--subject", s->m.subject, c->e);
	if (r || !reply)
		return r;
	s->m.in_reply_to = lore_message_id(c->a, reply);
	if (s->m.in_reply_to)
		return 0;
	return cli_usage(c, "--in-reply-to takes a Message-ID or its address at lore, not '%s'",
			 reply);
}

/* Credentials come from the environment or from a file, never from the command line. */
static int read_credentials(struct send *s)
{
	struct cli *c = s->c;

	s->mail.user = getenv("KDELTA_SMTP_USER");
	s->mail.password = getenv("KDELTA_SMTP_PASSWORD");
	if (!s->mail.user != !s->mail.password)
		return cli_usage(c, "KDELTA_SMTP_USER and KDELTA_SMTP_PASSWORD come together");
	s->mail.netrc = s->net.netrc;
	return 0;
}

static int read_options(struct send *s)
{
	struct cli *c = s->c;
	const char *file;
	size_t i;
	int r;

	s->mail.url = cli_value(c, "smtp");
	s->mail.plain = cli_has(c, "insecure-plain");
	for (i = 0; (file = cli_value_at(c, "output", i)); i++)
		if (strcmp(file, "-") && !str_ends(file, ".eml") && !str_ends(file, ".mbox"))
			return cli_usage(c, "-o takes FILE.eml, FILE.mbox or -, not '%s'", file);
	if (!i && !s->mail.url && !c->dry_run)
		return cli_usage(c, "where to? -o FILE.eml, -o FILE.mbox, -o - or --smtp URL");
	r = cli_net_options(c, &s->net);
	if (!r)
		r = read_headers(s);
	return r ? r : read_credentials(s);
}

/* ---- the message ---- */

/* --file: a report that was written before goes out as it is. */
static int take_file(struct send *s, const char *file)
{
	struct cli *c = s->c;
	int r;

	if (c->n_operands)
		return cli_usage(c, "--file sends a finished report: no operands beside it");
	r = file_read(file, NET_SIZE_LIMIT, &s->body, c->e);
	if (r)
		return r;
	s->m.body = (struct span){strbuf_str(&s->body), s->body.len};
	r = message_check_body(strcmp(file, "-") ? file : "standard input", s->m.body, c->e);
	if (!r && !s->m.subject)
		s->m.subject = report_subject_of_text(s->m.body, c->a);
	return r;
}

static int add_report(struct send *s, const char *format, const struct comparison *cmp)
{
	return report_format_find(format)->render(cmp, &s->what.report, &s->body, s->c->e);
}

static int take_comparison(struct send *s)
{
	struct comparison *cmp;
	int r = selection_compare(&s->what, &cmp);

	if (!r)
		r = add_report(s, "mail", cmp);
	if (!r && cli_has(s->c, "table")) {
		strbuf_addc(&s->body, '\n');
		r = add_report(s, "mmtests", cmp);
	}
	if (r)
		return r;
	s->m.body = (struct span){strbuf_str(&s->body), s->body.len};
	if (!s->m.subject)
		s->m.subject = report_subject(cmp, s->c->a);
	return message_check_body("report", s->m.body, s->c->e);
}

/* Unique by time and chance, in the domain of the sender: it says nothing of this machine. */
static void name_message(struct send *s)
{
	char when[32];
	struct tm tm;
	uint64_t chance;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint64_t)getpid();
	s->m.date = time(NULL);
	gmtime_r(&s->m.date, &tm);
	strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
	s->m.id = arena_printf(s->c->a, "%s.%016" PRIx64 "%s", when, chance,
			       strchr(s->m.from.mail, '@'));
}

/* ---- where it goes ---- */

static int deliver(struct send *s, const struct strbuf *text)
{
	struct cli *c = s->c;
	size_t i, n = 0;
	int r;

	s->mail.from = s->m.from.mail;
	s->mail.to = arena_alloc_array(c->a, s->m.to.n + s->m.cc.n, sizeof(*s->mail.to));
	for (i = 0; i < s->m.to.n; i++)
		s->mail.to[n++] = s->m.to.items[i].mail;
	for (i = 0; i < s->m.cc.n; i++)
		s->mail.to[n++] = s->m.cc.items[i].mail;
	s->mail.n_to = n;
	s->mail.message = (struct span){strbuf_str(text), text->len};
	r = net_send(&s->mail, &s->net, c->e);
	if (!r)
		cli_note(c, "sent to %zu address%s as <%s>", n, n == 1 ? "" : "es", s->m.id);
	return r;
}

static int write_file(struct send *s, const char *file, const struct strbuf *text)
{
	_cleanup_strbuf_ struct strbuf mbox = STRBUF_INIT;
	struct cli *c = s->c;
	int r;

	if (!strcmp(file, "-")) {
		cli_print(text);
		return 0;
	}
	if (str_ends(file, ".eml")) {
		r = file_write_atomic(file, strbuf_str(text), text->len, c->e);
	} else {
		message_write_mbox(&s->m, &mbox);
		r = file_append(file, "\n\n", strbuf_str(&mbox), mbox.len, c->e);
	}
	if (r && s->mail.url)
		err_hint(c->e, "the message was sent all the same, as <%s>", s->m.id);
	if (!r)
		cli_note(c, "<%s> is in %s", s->m.id, file);
	return r;
}

static int send_message(struct send *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *file = cli_value(s->c, "file");
	size_t i;
	int r = read_options(s);

	if (!r)
		r = file ? take_file(s, file) : take_comparison(s);
	if (r)
		return r;
	name_message(s);
	message_write(&s->m, &text);
	if (s->c->dry_run) {
		cli_print(&text);
		return 0;
	}
	if (s->mail.url)
		r = deliver(s, &text);
	for (i = 0; !r && (file = cli_value_at(s->c, "output", i)); i++)
		r = write_file(s, file, &text);
	return r;
}

static int send_run(struct cli *c)
{
	struct send s = {.c = c, .what.c = c};
	int r = send_message(&s);

	selection_release(&s.what);
	strbuf_release(&s.body);
	ARRAY_FREE(&s.m.to);
	ARRAY_FREE(&s.m.cc);
	return r;
}

static const struct cli_option send_options[] = {
	{"to", 0, "ADDRESS", "a@b.org or Name <a@b.org>, with commas between; repeatable"},
	{"cc", 0, "ADDRESS", "the same; repeatable"},
	{"from", 0, "ADDRESS", "the sender (default: git's user.name and user.email, or $EMAIL)"},
	{"subject", 's', "TEXT", "subject (default: the verdict)"},
	{"in-reply-to", 0, "ID", "Message-ID it answers, or its address at lore.kernel.org"},
	{"file", 'f', "FILE", "send this finished report (- for standard input), as it is"},
	{"table", 0, NULL, "below the report its mmtests table, which kdelta import reads back"},
	{"output", 'o', "FILE", "FILE.eml, FILE.mbox (appended to) or - (stdout); repeatable"},
	{"smtp", 0, "URL", "deliver: smtp://HOST[:PORT] with STARTTLS, or smtps://HOST[:PORT]"},
	{"netrc", 0, "FILE", "user and password of the server (default ~/.netrc)"},
	{"cacert", 0, "FILE", "trust these authorities only (PEM)"},
	{"insecure-plain", 0, NULL, "no encryption, and so no password"},
	{"timeout", 0, "TIME", "longest wait for the server, such as 30s (default 5m)"},
	SELECT_OPTIONS,
	CLI_OPTIONS_END,
};

static const struct command command_send = {
	.name = "send",
	.usage = "--to ADDRESS... [BASE] [OTHER...] | FILES... -- FILES...",
	.group = "keep",
	.summary = "a comparison as a mail: .eml, mbox, or to a server",
	.help = "Operands are those of compare; the body is its mail report: 72 columns of ASCII, "
		"7bit,\n"
		"never format=flowed. -n prints the message and does nothing.\n"
		"Passwords stand in ~/.netrc (machine HOST login USER password WORD), in --netrc "
		"FILE, or\n"
		"in KDELTA_SMTP_USER and KDELTA_SMTP_PASSWORD, never on the command line. "
		"smtp:// without\n"
		"STARTTLS is refused but for servers of this machine.",
	.examples = "kdelta send --to linux-kernel@vger.kernel.org -o report.eml\n"
		    "kdelta send --to me@example.org --smtp smtp://mail.example.org:587 6.1 6.12\n"
		    "kdelta compare --values -o mail | kdelta send --to me@example.org -f - -o "
		    "out.mbox\n"
		    "kdelta send --to a@b.org --in-reply-to "
		    "https://lore.kernel.org/r/1-2@b.org -o re.eml\n",
	.options = send_options,
	.run = send_run,
};
REGISTER(command, command_send);

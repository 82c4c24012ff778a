// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/backend.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "machine/facts.h"

void visit_vfail(struct backend *b, struct visit *v, const char *error, const char *fmt,
		 va_list ap)
{
	if (v->error)
		return;
	v->error = error;
	v->message = arena_vprintf(b->a, fmt, ap);
	v->permanent = !strcmp(error, "config_error") || !strcmp(error, "wrong_kernel");
}

void visit_fail(struct backend *b, struct visit *v, const char *error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	visit_vfail(b, v, error, fmt, ap);
	va_end(ap);
}

void visit_add_fact(struct backend *b, struct visit *v, const char *key, const char *value)
{
	struct fact *f = ARRAY_PUSH(&v->facts);

	f->key = key;
	f->value = arena_strdup(b->a, value);
}

static void add_environment(struct backend *b, struct visit *v, const char *key, const char *value)
{
	visit_add_fact(b, v, arena_printf(b->a, MACHINE_FACT_PREFIX "%s", key), value);
}

struct machine_fact *program_facts(struct arena *a, const struct test_case *cases, size_t n_cases,
				   size_t *n)
{
	struct machine_fact *list = arena_alloc_array(a, n_cases + 1, sizeof(*list));
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65];
	size_t i, k;

	list[0] = (struct machine_fact){"libc", arena_strdup(a, gnu_get_libc_version())};
	*n = 1;
	for (i = 0; i < n_cases; i++) {
		const char *path = case_program_path(a, &cases[i]);

		for (k = 0; k < i && strcmp(cases[k].program, cases[i].program); k++)
			;
		if (k == i && path && !file_sha256(path, hex, &ignored))
			list[(*n)++] = (struct machine_fact){
				arena_printf(a, "program.%s", path_name(a, path)),
				arena_strndup(a, hex, 16)};
	}
	return list;
}

void visit_add_programs(struct backend *b, struct visit *v)
{
	const struct campaign_config *c = b->config;
	struct machine_fact *facts;
	size_t n, i;

	facts = program_facts(b->a, c->cases, c->n_cases, &n);
	for (i = 0; i < n; i++)
		add_environment(b, v, facts[i].key, facts[i].value);
}

void visit_take_environment(struct backend *b, struct visit *v, struct span hello)
{
	struct span row, word;

	while (span_next_line(&hello, &row, NULL)) {
		if (!span_next_word(&row, &word) || !span_is(word, "env") ||
		    !span_next_word(&row, &word))
			continue;
		row = span_trim(row);
		add_environment(b, v, arena_strndup(b->a, word.s, word.len),
				arena_strndup(b->a, row.s, row.len));
	}
}

void visit_add_environment(struct backend *b, struct visit *v, const char *root)
{
	_cleanup_free_ char *dir = getcwd(NULL, 0);
	struct machine_fact *facts;
	size_t n, i;

	visit_add_programs(b, v);
	facts = machine_read_facts(b->a, root, dir, &n);
	for (i = 0; i < n; i++)
		add_environment(b, v, facts[i].key, facts[i].value);
}

#include "machine/host.h"

void backend_read_machine(const struct backend *b, struct db_machine *m)
{
	if (b->machine)
		*m = *b->machine;
	else
		machine_read(b->a, m);
}

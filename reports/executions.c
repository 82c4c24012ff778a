// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: the runs behind the values, in the order they were made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "reports/build.h"

/* Of an import nobody said when its runs were made; they bear the time of the import. */
static const char *started(struct builder *b, const struct db_campaign *camp,
			   const struct db_run *r)
{
	if (!r->started || (!strcmp(camp->kind, "import") && r->started == camp->created))
		return "";
	return num_iso_time(b->a, r->started);
}

int executions_read(struct builder *b, const struct db_campaign *camp, int number)
{
	struct db_run *list;
	size_t n, i;
	int r = db_get_runs(b->db, b->a, camp->id, &list, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		const struct db_run *run = &list[i];

		*ARRAY_PUSH(&b->executions) = (struct execution){
			.test = run->case_id,
			.variant = run->variant_id,
			.run =
				{
					.id = run->id,
					.block = run->block + join_offset(b, number),
					.order = (int)i + 1,
					.attempt = run->attempt,
					.boot = run->boot_id,
					.started = started(b, camp, run),
					.elapsed = run->elapsed > 0 ? run->elapsed : NAN,
					.outcome = run->outcome ? run->outcome : "",
					.error = run->error ? run->error : "",
					.message = run->message ? run->message : "",
					.command = run->command ? run->command : "",
				},
		};
	}
	return r;
}

static int execution_compare(const void *x, const void *y)
{
	const struct execution *a = x, *b = y;

	if (a->test != b->test)
		return a->test < b->test ? -1 : 1;
	return (a->run.id > b->run.id) - (a->run.id < b->run.id);
}

void executions_sort(struct builder *b)
{
	if (b->executions.n)
		qsort(b->executions.items, b->executions.n, sizeof(*b->executions.items),
		      execution_compare);
}

static size_t executions_from(const struct builder *b, int64_t test)
{
	size_t low = 0, high = b->executions.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (b->executions.items[mid].test < test)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void executions_take(struct builder *b, struct cmp_test *t)
{
	size_t i = executions_from(b, t->db_id), end = executions_from(b, t->db_id + 1);

	t->runs = arena_alloc_array(b->a, end - i, sizeof(*t->runs));
	for (; i < end; i++) {
		struct execution *x = &b->executions.items[i];

		x->run.variant = comparison_variant_of(b->c, x->variant);
		if (x->run.variant >= 0)
			t->runs[t->n_runs++] = x->run;
	}
}

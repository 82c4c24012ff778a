// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/dag.h"

#include <string.h>

#include "core/mem.h"

static void copy_links(struct dag_links *to, size_t n, const size_t *first, const size_t *list)
{
	size_t i, links = first ? first[n] : n - 1;

	to->first = mem_realloc_array(NULL, n + 1, sizeof(*to->first));
	to->list = mem_realloc_array(NULL, links + 1, sizeof(*to->list));
	for (i = 0; i <= n; i++)
		to->first[i] = first ? first[i] : i ? i - 1 : 0;
	for (i = 0; i < links; i++)
		to->list[i] = list ? list[i] : i;
}

static bool is_sorted(const struct dag *d)
{
	const struct dag_links *up = &d->parents;
	size_t i, k;

	for (i = 0; i < d->n; i++) {
		if (up->first[i] > up->first[i + 1])
			return false;
		for (k = up->first[i]; k < up->first[i + 1]; k++)
			if (up->list[k] >= i)
				return false;
	}
	return true;
}

/* Children from parents: counted, then placed. */
static void turn_links(struct dag *d)
{
	const struct dag_links *up = &d->parents;
	struct dag_links *down = &d->children;
	size_t i, k, links = up->first[d->n];
	_cleanup_free_ size_t *at = mem_realloc_array(NULL, d->n + 1, sizeof(*at));

	down->first = mem_zalloc((d->n + 2) * sizeof(*down->first));
	down->list = mem_realloc_array(NULL, links + 1, sizeof(*down->list));
	for (k = 0; k < links; k++)
		down->first[up->list[k] + 1]++;
	for (i = 0; i < d->n; i++)
		down->first[i + 1] += down->first[i];
	memcpy(at, down->first, (d->n + 1) * sizeof(*at));
	for (i = 0; i < d->n; i++)
		for (k = up->first[i]; k < up->first[i + 1]; k++)
			down->list[at[up->list[k]]++] = i;
}

bool dag_init(struct dag *d, size_t n, const size_t *first, const size_t *parents)
{
	*d = (struct dag){ .n = n };
	if (!n || !first != !parents || (first && first[0]))
		return false;
	copy_links(&d->parents, n, first, parents);
	if (!is_sorted(d)) {
		dag_release(d);
		return false;
	}
	turn_links(d);
	return true;
}

void dag_release(struct dag *d)
{
	mem_free_ptr(&d->parents.first);
	mem_free_ptr(&d->parents.list);
	mem_free_ptr(&d->children.first);
	mem_free_ptr(&d->children.list);
}

void dag_ancestors(const struct dag *d, size_t commit, uint64_t *set)
{
	size_t i, k;

	set[commit / 64] |= 1ull << commit % 64;
	for (i = commit + 1; i-- > 0;)
		for (k = d->parents.first[i]; dag_has(set, i) && k < d->parents.first[i + 1]; k++)
			set[d->parents.list[k] / 64] |= 1ull << d->parents.list[k] % 64;
}

struct walk {
	const struct dag_links *links; /* towards what is summed */
	const double *w;
	double *sums;
	unsigned char *open; /* reached and not yet counted */
	ptrdiff_t step;	     /* from a commit towards what is summed */
};

/*
 * A commit with several neighbours: all that they lead to, each once. As soon as one commit alone
 * is open, its sum is what is left.
 */
static double walk_sum(struct walk *s, size_t from)
{
	double sum = 0;
	size_t open = 1, i = from, k;

	s->open[from] = 1;
	for (;; i += (size_t)s->step) {
		if (!s->open[i])
			continue;
		s->open[i] = 0;
		if (open == 1 && i != from)
			return sum + s->sums[i];
		open--;
		sum += s->w[i];
		for (k = s->links->first[i]; k < s->links->first[i + 1]; k++) {
			open += !s->open[s->links->list[k]];
			s->open[s->links->list[k]] = 1;
		}
		if (!open)
			return sum;
	}
}

static void sum_side(const struct dag *d, bool up, const double *w, double *sums)
{
	_cleanup_free_ unsigned char *open = mem_zalloc(d->n);
	struct walk s = { up ? &d->parents : &d->children, w, sums, open, up ? -1 : 1 };
	size_t k, i;

	for (k = 0; k < d->n; k++) {
		i = up ? k : d->n - 1 - k;
		switch (s.links->first[i + 1] - s.links->first[i]) {
		case 0:
			sums[i] = w[i];
			break;
		case 1:
			sums[i] = w[i] + sums[s.links->list[s.links->first[i]]];
			break;
		default:
			sums[i] = walk_sum(&s, i);
		}
	}
}

void dag_sum_ancestors(const struct dag *d, const double *w, double *sums)
{
	sum_side(d, true, w, sums);
}

void dag_sum_descendants(const struct dag *d, const double *w, double *sums)
{
	sum_side(d, false, w, sums);
}

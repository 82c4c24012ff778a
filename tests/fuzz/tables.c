// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a mail: no crash, and what comes out can be trusted - every cell has a finite value
 * of a line of the text, every published percentage agrees with the printed values. FUZZ_ONLY asks
 * one family only.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <math.h>

#include "core/err.h"
#include "core/mem.h"
#include "parsers/tables/tables.h"

/* Half a unit of the last printed digit; a whole one of integers, which may have been cut. */
static double half(const char *text)
{
	const char *dot = strchr(text, '.'), *e = strpbrk(text, "eE");
	double places = dot ? (double)strspn(dot + 1, "0123456789") : 0;
	double power = e ? strtod(e + 1, NULL) : 0;

	return (dot || e ? 0.5 : 1) * pow(10, power - places);
}

static void check_change(const struct table *t, const struct table_row *row,
			 const struct table_cell *cell)
{
	const struct table_cell *base = &row->cells[t->baseline];
	double change = row->orientation == CHANGE_INVERTED ? -cell->change : cell->change;
	double low, high, slack = 0.5 + 0.1 * fabs(change); /* "+3e+14%" */

	if (!cell->has_change || t->sign == SIGN_NONE || row->orientation == CHANGE_UNKNOWN ||
	    row->points || !base->has_value || !cell->has_value ||
	    base->value - half(base->value_text) <= 0 || cell->value <= 0)
		return;
	low = (cell->value - half(cell->value_text)) / (base->value + half(base->value_text)) - 1;
	high = (cell->value + half(cell->value_text)) / (base->value - half(base->value_text)) - 1;
	if (fabs(change) < 1e4)
		slack = 0.5 + 1e-6;
	CHECK(change >= 100 * low - slack && change <= 100 * high + slack);
}

static bool is_own(const struct table *t)
{
	return !strcmp(t->family, "kdelta");
}

static void check_row(const struct table *t, const struct table_row *row, int lines)
{
	size_t i, values = 0;

	CHECK(row->key && *row->key);
	CHECK(row->line >= 1 && row->line <= lines && row->run >= 0 && row->index >= 0);
	for (i = 0; i < t->n_variants; i++) {
		const struct table_cell *cell = &row->cells[i];

		if (!table_cell_is_there(cell))
			continue;
		values++;
		CHECK(isfinite(cell->value) && isfinite(cell->change) && isfinite(cell->deviation));
		CHECK(!cell->has_value || (cell->value_text && *cell->value_text));
		CHECK(row->kind != ROW_FAILS || (cell->has_n && cell->n >= cell->value));
		CHECK(cell->line >= 1 && cell->line <= lines);
		if (row->run)
			CHECK(cell->value >= 0 || is_own(t));
		else
			check_change(t, row, cell);
	}
	CHECK(values);
	/* outputs listed one after the other may lack a row each, and reports of ours a cell */
	CHECK(row->run || values == t->n_variants || !strcmp(t->family, "csv") ||
	      !strcmp(t->family, "perf-stat") || !strcmp(t->family, "unixbench") ||
	      !strcmp(t->family, "free-form") || is_own(t));
}

static void check_table(const struct table *t, int lines)
{
	const struct table_row *row;
	size_t i, k;

	CHECK(t->family && t->n_variants && t->rows.n);
	CHECK(t->delta_only ? t->baseline == -1
			    : t->baseline >= 0 && (size_t)t->baseline < t->n_variants);
	for (i = 0; i < t->n_variants; i++) {
		CHECK(t->variants[i] && *t->variants[i]);
		for (k = 0; k < i; k++)
			CHECK(strcmp(t->variants[i], t->variants[k]));
	}
	array_for_each (row, &t->rows)
		check_row(t, row, lines);
}

static void fuzz_tables(const uint8_t *data, size_t size)
{
	const struct table_options opt = {.family = fuzz_only()};
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	struct table_set set;
	const struct table *t;
	const struct table_warning *w;
	int lines = 1, r;
	size_t i;

	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	r = tables_read(a, "fuzz", (struct span){(const char *)data, size}, &opt, &set, &e);
	CHECK(r == 0 || r == -ENOENT || r == -EINVAL);
	CHECK((r == 0) == (e.list.n == 0));
	CHECK(r || set.tables.n);
	if (r)
		return;
	array_for_each (t, &set.tables)
		check_table(t, lines);
	array_for_each (w, &set.refused)
		CHECK(w->line >= 1 && w->line <= lines && *w->text);
	array_for_each (w, &set.warnings)
		CHECK(w->line >= 1 && w->line <= lines && *w->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin();
	fuzz_tables(data, size);
	fuzz_end();
	return 0;
}

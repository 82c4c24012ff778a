// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of values with published percentages: which way these run, and whether they are right. */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void block_rows_free(block_rows *rows)
{
	struct block_row *row;

	array_for_each (row, rows)
		ARRAY_FREE(&row->cells);
	ARRAY_FREE(rows);
}

static double half_unit(const struct table_cell *cell)
{
	const char *dot = strchr(cell->value_text, '.');

	return 0.5 * pow(10, dot ? -(double)strspn(dot + 1, "0123456789") : 0);
}

int block_change_fits(const struct table_cell *base, const struct table_cell *cell,
		      int change_decimals)
{
	double hb = half_unit(base), hv = half_unit(cell);
	/* some cut their percentages instead of rounding them */
	double hp = pow(10, -change_decimals) + 1e-9;
	double low, high;
	int fits = 0;

	if (!cell->has_change || base->value - hb <= 0)
		return FITS_RAW | FITS_INVERTED;
	low = 100 * ((cell->value - hv) / (base->value + hb) - 1);
	high = 100 * ((cell->value + hv) / (base->value - hb) - 1);
	if (cell->value < hv)
		low = 100 * ((cell->value - hv) / (base->value - hb) - 1);
	if (cell->change + hp >= low && cell->change - hp <= high)
		fits |= FITS_RAW;
	if (-cell->change + hp >= low && -cell->change - hp <= high)
		fits |= FITS_INVERTED;
	return fits;
}

size_t block_columns(const block_rows *rows)
{
	size_t counts[65] = {0}, best = 0, i;
	const struct block_row *row;

	array_for_each (row, rows)
		if (row->cells.n < ARRAY_SIZE(counts))
			counts[row->cells.n]++;
	for (i = 1; i < ARRAY_SIZE(counts); i++)
		if (counts[i] && counts[i] >= counts[best])
			best = i;
	return best;
}

int block_zero_column(const block_rows *rows, size_t n)
{
	size_t best = 0, zeros, checked, i;
	const struct block_row *row;
	int column = -1;

	for (i = 0; i < n; i++) {
		zeros = checked = 0;
		array_for_each (row, rows) {
			if (row->cells.n != n)
				continue;
			checked++;
			zeros += row->cells.items[i].c.has_change &&
				 row->cells.items[i].c.change == 0;
		}
		if (zeros * 2 > checked && zeros > best) {
			best = zeros;
			column = (int)i;
		}
	}
	return column;
}

/* Both ways over a row; *worst: the first cell that agrees in neither. */
static int row_fits(const struct block_row *row, int base, size_t *worst)
{
	int fits = FITS_RAW | FITS_INVERTED, one;
	size_t i;

	for (i = 0; i < row->cells.n; i++) {
		const struct block_cell *cell = &row->cells.items[i];

		one = block_change_fits(&row->cells.items[base].c, &cell->c, cell->change_decimals);
		if ((int)i == base && cell->c.has_change && cell->c.change != 0)
			one = 0;
		if (!(fits & one)) {
			*worst = i;
			return 0;
		}
		fits &= one;
	}
	return fits;
}

/* Keys of one kind differ in digits only: "1-groups", "16-groups"; "99.0th", "RPS". */
static bool same_kind(const char *x, const char *y)
{
	for (;;) {
		while (isdigit((unsigned char)*x) || *x == ' ')
			x++;
		while (isdigit((unsigned char)*y) || *y == ' ')
			y++;
		if (*x != *y)
			return false;
		if (!*x)
			return true;
		x++;
		y++;
	}
}

struct kind {
	const char *key; /* of its first row */
	size_t raw, inverted;
};

/* The kind of a key; more kinds than fit are one. */
static struct kind *kind_of(struct kind *kinds, size_t *n, size_t most, const char *key)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (same_kind(kinds[i].key, key) || i + 1 == most)
			return &kinds[i];
	kinds[*n] = (struct kind){.key = key};
	return &kinds[(*n)++];
}

static enum row_change kind_change(const struct kind *k, const struct kind *all)
{
	if (k->raw != k->inverted)
		return k->raw > k->inverted ? CHANGE_RAW : CHANGE_INVERTED;
	if (k->raw || all->raw == all->inverted)
		return CHANGE_UNKNOWN;
	return all->raw > all->inverted ? CHANGE_RAW : CHANGE_INVERTED;
}

static void refuse_change(struct arena *a, struct table_set *set, const struct table *t,
			  const struct block_row *row, size_t worst, enum row_change way)
{
	const struct block_cell *cell = &row->cells.items[worst];
	const struct table_cell *base = &row->cells.items[t->baseline].c;
	double raw = base->value != 0 ? 100 * (cell->c.value / base->value - 1) : 0;

	tables_refuse(a, set, cell->c.line,
		      "row \"%s\" refused: %s, %s for %s is %.2f%%, but %.*f%% is printed", row->key,
		      t->variants[worst], cell->c.value_text, base->value_text,
		      way == CHANGE_INVERTED ? -raw : raw, cell->change_decimals, cell->c.change);
}

static size_t first_against(const struct block_row *row, int base, int way)
{
	size_t i;

	for (i = 0; i < row->cells.n; i++) {
		const struct block_cell *cell = &row->cells.items[i];

		if (!(block_change_fits(&row->cells.items[base].c, &cell->c,
					cell->change_decimals) &
		      way))
			return i;
	}
	return 0;
}

static void add_row(struct arena *a, struct table *t, const struct block_row *row,
		    enum row_change change)
{
	struct table_row *out = ARRAY_PUSH(&t->rows);
	size_t i;

	*out = (struct table_row){.key = row->key,
				  .axis = row->key,
				  .line = row->line,
				  .orientation = change};
	out->cells = arena_alloc_array(a, t->n_variants, sizeof(*out->cells));
	for (i = 0; i < t->n_variants; i++)
		out->cells[i] = row->cells.items[i].c;
	if (t->baseline >= 0)
		out->cells[t->baseline].change = 0; /* not -0.00 */
}

/* A row whose figures agree, or one line that says why it is left out. */
static void check_row(struct arena *a, struct table_set *set, struct table *t,
		      const struct block_row *row, enum row_change wanted)
{
	int way = wanted == CHANGE_RAW	      ? FITS_RAW
		  : wanted == CHANGE_INVERTED ? FITS_INVERTED
					      : FITS_RAW | FITS_INVERTED;
	size_t worst = 0;
	int fits;

	if (row->bad) {
		tables_refuse(a, set, row->line, "row \"%s\" refused: %s", row->key, row->bad);
		return;
	}
	if (row->cells.n != t->n_variants) {
		tables_refuse(a, set, row->line, "row \"%s\" refused: %zu of %zu cells", row->key,
			      row->cells.n, t->n_variants);
		return;
	}
	if (t->baseline < 0) {
		add_row(a, t, row, CHANGE_UNKNOWN);
		return;
	}
	fits = row_fits(row, t->baseline, &worst);
	if (fits && !(fits & way))
		worst = first_against(row, t->baseline, way);
	if (!(fits & way)) {
		refuse_change(a, set, t, row, worst, wanted);
		return;
	}
	if (wanted == CHANGE_UNKNOWN && fits != (FITS_RAW | FITS_INVERTED))
		wanted = fits == FITS_RAW ? CHANGE_RAW : CHANGE_INVERTED;
	add_row(a, t, row, wanted);
}

void block_check_rows(struct arena *a, struct table_set *set, struct table *t,
		      const block_rows *rows, enum row_change wanted)
{
	struct kind kinds[8], all = {"", 0, 0}, *k;
	const struct block_row *row;
	size_t n = 0, worst;
	int fits;

	array_for_each (row, rows) {
		if (row->bad || row->cells.n != t->n_variants || t->baseline < 0)
			continue;
		fits = row_fits(row, t->baseline, &worst);
		k = kind_of(kinds, &n, ARRAY_SIZE(kinds), row->key);
		k->raw += fits == FITS_RAW;
		k->inverted += fits == FITS_INVERTED;
		all.raw += fits == FITS_RAW;
		all.inverted += fits == FITS_INVERTED;
	}
	array_for_each (row, rows) {
		k = kind_of(kinds, &n, ARRAY_SIZE(kinds), row->key);
		check_row(a, set, t, row,
			  wanted != CHANGE_UNKNOWN ? wanted : kind_change(k, &all));
	}
	t->sign = t->baseline < 0 ? SIGN_NONE : SIGN_BETTER_POSITIVE;
}

/* ---- what the rows are ---- */

/* "16-groups" -> "16", "mthreads-8" -> "8", "32:" -> "32"; NULL: no single number in it */
static const char *axis_number(struct arena *a, const char *key)
{
	const char *p = key + strcspn(key, "0123456789"), *end = p + strspn(p, "0123456789");

	if (p == end || end[strcspn(end, "0123456789")] || *end == '.')
		return NULL;
	return arena_strndup(a, p, (size_t)(end - p));
}

/* "2-groups" says groups, whatever the benchmark. */
static const char *axis_in_keys(const struct table *t)
{
	static const char *const words[] = {"groups",  "clients", "threads", "workers",
					    "thread",  "group",	  "client",  "worker"};
	size_t i;

	for (i = 0; t->rows.n && i < ARRAY_SIZE(words); i++)
		if (strstr(t->rows.items[0].key, words[i]))
			return words[i % 4];
	return NULL;
}

/* Values all of which are about 1 in the baseline, or that of the first row exactly: ratios. */
static bool looks_normalised(const struct table *t)
{
	const struct table_cell *first;
	size_t ones = 0;
	const struct table_row *row;

	if (!t->rows.n || t->baseline < 0)
		return false;
	first = &t->rows.items[0].cells[t->baseline];
	array_for_each (row, &t->rows)
		ones += row->cells[t->baseline].value == 1;
	return ones == t->rows.n ||
	       (first->value == 1 && (strstr(first->value_text, ".0") || ones > 1));
}

/* What the percentages and the direction together say about their sign. */
static enum change_sign sign_of(const struct table_row *row, enum row_better better)
{
	if (row->orientation == CHANGE_UNKNOWN)
		return SIGN_NONE;
	if (row->orientation == CHANGE_RAW && better != BETTER_HIGHER)
		return SIGN_RAW;
	return SIGN_BETTER_POSITIVE;
}

static void settle_sign(struct table *t, enum row_better better)
{
	const struct table_row *row;
	enum change_sign sign;

	array_for_each (row, &t->rows) {
		sign = sign_of(row, row->better ? row->better : better);
		if (sign == SIGN_NONE)
			continue;
		t->sign = sign;
		return;
	}
}

/* Where positive is said to be better, the rows show which way that is. */
static enum row_better better_of_rows(const struct table *t)
{
	const struct table_row *row;

	array_for_each (row, &t->rows)
		if (row->orientation != CHANGE_UNKNOWN)
			return row->orientation == CHANGE_RAW ? BETTER_HIGHER : BETTER_LOWER;
	return BETTER_UNKNOWN;
}

/* Keys that one benchmark's poster writes: "16-groups", "Copy" to "Triad". */
static const char *benchmark_of_keys(const struct table *t)
{
	const struct table_row *row;
	size_t groups = 0, stream = 0;

	array_for_each (row, &t->rows) {
		const char *rest = row->key + strspn(row->key, "0123456789");

		groups += rest > row->key && str_starts(rest, "-group");
		stream += !strcmp(row->key, "Copy") || !strcmp(row->key, "Scale") ||
			  !strcmp(row->key, "Add") || !strcmp(row->key, "Triad");
	}
	if (groups == t->rows.n)
		return "hackbench";
	return stream == t->rows.n ? "stream" : NULL;
}

/* "Wakeup power", "tbench power comparison": not what the benchmark itself measures. */
static bool is_power(const char *section)
{
	return section && (strcasestr(section, "power") || strcasestr(section, "energy"));
}

void block_name_rows(struct arena *a, struct table_set *set, struct table *t,
		     const struct block_context *c)
{
	const char *benchmark = c->benchmark ? c->benchmark : benchmark_of_keys(t);
	const struct block_known *k = block_known(benchmark);
	bool power = is_power(c->section), normalised = c->normalised || looks_normalised(t);
	enum row_better better = c->better, ours = k && !power ? k->better : BETTER_UNKNOWN;
	const char *metric = power ? "power" : k ? k->metric : NULL, *axis = axis_in_keys(t);
	const char *unit = normalised ? "ratio" : c->unit ? c->unit : k && !power ? k->unit : NULL;
	struct table_row *row;

	if (!normalised && k && !power && c->unit && k->unit && strcmp(c->unit, k->unit))
		metric = NULL; /* hackbench in milliseconds is not our metric */
	if (!better && c->positive_better)
		better = better_of_rows(t);
	if (better && ours && better != ours)
		tables_warn(a, set, t->line,
			    "the text calls %s better, but it is a table of %s: as the text says",
			    better == BETTER_HIGHER ? "higher" : "lower", benchmark);
	if (!better)
		better = ours;
	if (!axis && k)
		axis = k->axis;
	if (k && k->axis && axis && !power && strcmp(axis, k->axis) && !strcmp(axis, "threads"))
		axis = k->axis;
	t->benchmark = benchmark;
	t->section = c->section;
	t->command = c->command;
	t->unit = unit;
	array_for_each (row, &t->rows) {
		const char *number = axis ? axis_number(a, row->key) : NULL;

		row->unit = unit;
		row->better = better;
		row->statistic = c->statistic;
		if (number) {
			t->axis_name = axis;
			row->axis = number;
		}
		if (metric && k && k->unit && !normalised && !power)
			row->metric = metric;
		else if (metric && benchmark)
			row->full_metric = normalised ? arena_printf(a, "%s.%s.normalised",
								     benchmark, metric)
						      : block_metric(a, benchmark, metric, unit,
								     BETTER_UNKNOWN);
		else
			row->full_metric = block_metric(a, benchmark ? benchmark : t->family,
							"value", unit, better);
		row->headline = row->full_metric != NULL;
	}
	if (t->sign != SIGN_NONE)
		settle_sign(t, better);
}

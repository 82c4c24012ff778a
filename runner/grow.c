// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/grow.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "kernels/cache.h"
#include "runner/session.h"

struct grow {
	struct session s;
	struct run_options opt;
	struct run_report report;
	int lock;
	bool opened; /* the backend */
};

/* Below so many free bytes of the cache a build fails for want of room. */
#define ROOM (1 << 20)

static bool is_disk_full(struct session *s, const char *message)
{
	struct statvfs fs;

	return strstr(message, strerror(ENOSPC)) ||
	       (!statvfs(path_cache(s->a, "."), &fs) &&
		fs.f_bavail * (unsigned long long)fs.f_frsize < ROOM);
}

static int find(struct session *s, size_t i)
{
	struct session_variant *v = &s->variants[i];
	const struct session_variant before = *v;
	int ret;

	/* that it is still in the cache is no news */
	s->backend.note = before.id ? NULL : s->opt->note;
	ret = session_find_kernel(s, i);
	s->backend.note = s->opt->note;
	if (ret)
		return ret;
	if (v->kernel.error && is_disk_full(s, v->kernel.message)) {
		err_add(s->e, -ENOSPC, "the disk of the cache is full: %s", v->kernel.message);
		err_hint(s->e, "make room at %s (or set $KDELTA_CACHE_SIZE), then go on",
			 path_cache(s->a, ""));
		return -ENOSPC;
	}
	if (!before.id || !strcmp(before.identity, v->identity))
		return 0;
	*v = before;
	err_add(s->e, -ESTALE, "'%s' is no longer what was measured: compiler, configuration or "
		"running kernel changed", s->c->variants[i].name);
	err_hint(s->e, "go back to what it was, or begin anew: kdelta bisect reset");
	return -ESTALE;
}

/* Runs that a kill left planned are not owed: what is wanted next is asked anew. */
static int drop_planned(struct session *s, int unused)
{
	size_t i;
	int ret = 0;

	(void)unused;
	for (i = 0; !ret && i < s->n_cells; i++)
		if (!strcmp(s->cells[i].state, "planned"))
			ret = db_set_cell(s->db, s->cells[i].id, "skipped", s->cells[i].attempts,
					  "interrupted", s->e);
	return ret;
}

static int go_on(struct session *s)
{
	int ret = session_check_machine(s);

	if (!ret)
		ret = session_match_grown(s);
	if (!ret)
		ret = db_get_cells(s->db, s->a, s->row.id, &s->cells, &s->n_cells, s->e);
	if (!ret)
		ret = session_reconcile(s);
	if (!ret)
		ret = session_in_transaction(s, drop_planned, 0);
	return ret ? ret : session_read_times(s);
}

/* The first variant is what `auto` parameters are calibrated with. */
static int begin(struct session *s)
{
	int ret = find(s, 0);

	if (!ret && s->variants[0].kernel.error)
		ret = err_add(s->e, -EIO, "'%s' cannot be measured: %s", s->c->variants[0].name,
			      s->variants[0].kernel.message);
	return ret ? ret : session_create(s);
}

static int open_session(struct session *s, const char *id)
{
	bool found = false;
	int ret;

	s->variants = arena_alloc_array(s->a, s->c->n_variants, sizeof(*s->variants));
	ret = session_prepare_cases(s);
	if (!ret && s->cases[0].missing)
		ret = err_add(s->e, -ENOENT, "%s", case_missing(s->a, &s->c->cases[0]));
	if (!ret && id)
		ret = session_find(s, true, &found);
	if (!ret)
		ret = found ? go_on(s) : begin(s);
	return ret;
}

int grow_open(struct db *db, struct arena *a, const struct catalog *cat, struct campaign_config *c,
	      const char *id, void (*note)(const char *text), struct grow **out, struct err *e)
{
	struct grow *g = arena_alloc(a, sizeof(*g));
	int ret = 0;

	g->opt = (struct run_options){.resume_id = id, .note = note};
	g->s = (struct session){.db = db,
				.a = a,
				.cat = cat,
				.c = c,
				.opt = &g->opt,
				.report = &g->report,
				.e = e,
				.grows = true,
				.began = num_monotonic()};
	*out = NULL;
	proc_init();
	g->lock = run_lock(a, note, e);
	if (g->lock < 0)
		return g->lock;
	ret = session_open_backend(&g->s);
	g->opened = !ret;
	if (!ret)
		ret = open_session(&g->s, id);
	if (ret)
		grow_close(g);
	else
		*out = g;
	return ret;
}

const char *grow_campaign(const struct grow *g)
{
	return g->s.row.id;
}

void grow_close(struct grow *g)
{
	if (!g)
		return;
	if (g->opened)
		g->s.backend.ops->release(&g->s.backend);
	ARRAY_FREE(&g->s.calibrated);
	ARRAY_FREE(&g->report.missing);
	close(g->lock);
}

/* ---- one run ---- */

static int add_cell(struct session *s, int variant)
{
	struct session_variant *v = &s->variants[variant];
	struct db_cell cell = {
		.seq = s->n_cells ? s->cells[s->n_cells - 1].seq + 1 : 1,
		.block = s->row.repeat + 1,
		.case_id = s->cases[0].id,
		.state = "planned",
		.reason = "",
	};
	int ret = v->id ? 0 : session_add_variant(s, (size_t)variant);

	cell.variant_id = v->id;
	if (!ret)
		ret = db_add_cell(s->db, s->row.id, &cell, s->e);
	s->row.repeat++;
	return ret ? ret : db_set_campaign(s->db, &s->row, s->e);
}

static int visit(struct session *s, size_t variant)
{
	struct db_cell *cell = &s->cells[s->n_cells - 1];
	const struct visit_cells cells = {&cell, 1};
	int ret = 0;

	while (!ret && !strcmp(cell->state, "planned") && !proc_interrupted())
		ret = session_visit(s, cell->block, variant, cells);
	return ret ? ret : proc_interrupted() ? -EINTR : 0;
}

int grow_measure(struct grow *g, size_t variant, struct grow_run *run, struct err *e)
{
	struct session *s = &g->s;
	double begun = num_monotonic(), built;
	const struct db_cell *cell;
	int ret;

	s->e = e;
	*run = (struct grow_run){.message = ""};
	ret = find(s, variant);
	if (!ret)
		ret = session_in_transaction(s, add_cell, (int)variant);
	built = num_monotonic();
	if (!ret)
		ret = visit(s, variant);
	/* others may be built in its place, as far as the cache has room */
	if (s->variants[variant].kernel.unit)
		cache_unlock(s->variants[variant].kernel.unit);
	if (ret)
		return ret;
	cell = &s->cells[s->n_cells - 1];
	run->good = !strcmp(cell->state, "done");
	run->broken = s->variants[variant].kernel.error != NULL;
	run->message = cell->reason;
	run->build_seconds = built - begun;
	run->run_seconds = num_monotonic() - built;
	return 0;
}

static int enter(struct session *s, int variant)
{
	return session_add_variant(s, (size_t)variant);
}

int grow_adopt(struct grow *g, size_t variant, const char *identity, struct err *e)
{
	struct session *s = &g->s;
	struct session_variant *v = &s->variants[variant];
	int ret;

	if (v->id)
		return 0;
	s->e = e;
	s->backend.peeks = true;
	ret = session_find_kernel(s, variant);
	s->backend.peeks = false;
	if (!ret && !strcmp(v->identity, identity))
		ret = session_in_transaction(s, enter, (int)variant);
	if (v->kernel.unit)
		cache_unlock(v->kernel.unit);
	return ret;
}

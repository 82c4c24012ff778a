// SPDX-License-Identifier: GPL-2.0-or-later
/* What is the same in every campaign: machines, kernels, variants, test cases, metrics. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "db/sql.h"

static const struct sql_shape machine_shape = {
	.size = sizeof(struct db_machine),
	.fields =
		{
			SQL_FIELD(struct db_machine, fingerprint, "fingerprint", 't'),
			SQL_FIELD(struct db_machine, name, "name", 't'),
			SQL_FIELD(struct db_machine, description, "description", 't'),
		},
};

int db_put_machine(struct db *db, const struct db_machine *m, int64_t *id, struct err *e)
{
	int r = sql_value(db, e, id,
			  "INSERT INTO machines(fingerprint, name, description) VALUES (?, ?, ?)"
			  " ON CONFLICT(fingerprint) DO UPDATE SET description ="
			  " iif(description = '', excluded.description, description) RETURNING id",
			  "ttt", m->fingerprint, m->name, m->description);

	return MIN(r, 0);
}

int db_get_machine(struct db *db, struct arena *a, int64_t id, struct db_machine *m, struct err *e)
{
	int r = sql_get(db, a, &machine_shape, m, e, "FROM machines WHERE id = ?", "l", id);

	if (!r)
		return err_add(e, -ENOENT, "%s: there is no machine %" PRId64, db->path, id);
	return MIN(r, 0);
}

int db_get_machines(struct db *db, struct arena *a, struct db_machine **list, size_t *n,
		    struct err *e)
{
	return sql_list(db, a, &machine_shape, list, n, e, "FROM machines ORDER BY id", "");
}

static const struct sql_shape kernel_shape = {
	.size = sizeof(struct db_kernel),
	.fields =
		{
			SQL_FIELD(struct db_kernel, id, "id", 'K'),
			SQL_FIELD(struct db_kernel, identity, "identity", 't'),
			SQL_FIELD(struct db_kernel, release, "release", 't'),
			SQL_FIELD(struct db_kernel, version, "version", 't'),
			SQL_FIELD(struct db_kernel, build_id, "build_id", 't'),
			SQL_FIELD(struct db_kernel, image_sha256, "image_sha256", 't'),
			SQL_FIELD(struct db_kernel, source, "source", 't'),
			SQL_FIELD(struct db_kernel, commit, "commit_id", 't'),
		},
};

#define FILL(column) #column " = iif(" #column " = '', excluded." #column ", " #column ")"

int db_put_kernel(struct db *db, const struct db_kernel *k, int64_t *id, struct err *e)
{
	int r = sql_value(
		db, e, id,
		"INSERT INTO kernels(identity, release, version, build_id, image_sha256,"
		" source, commit_id) VALUES (?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT(identity) DO UPDATE SET " FILL(release) ", " FILL(version) ", " FILL(
			build_id) ", " FILL(image_sha256) ", " FILL(source) ", " FILL(commit_id) " "
												 "R"
												 "E"
												 "T"
												 "U"
												 "R"
												 "N"
												 "I"
												 "N"
												 "G"
												 " "
												 "i"
												 "d",
		"ttttttt", k->identity, k->release, k->version, k->build_id, k->image_sha256,
		k->source, k->commit);

	return MIN(r, 0);
}

int db_set_build_id(struct db *db, int64_t kernel_id, const char *build_id, const char *release,
		    struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct db_kernel k;
	int r = sql_get(db, a, &kernel_shape, &k, e, "FROM kernels WHERE id = ?", "l", kernel_id);

	if (!r)
		return err_add(e, -ENOENT, "%s: there is no kernel %" PRId64, db->path, kernel_id);
	if (r < 0)
		return r;
	if (*k.build_id && strcmp(k.build_id, build_id)) {
		err_add(e, 0, "the kernel %s booted with build-id %s, before with %s",
			*k.release ? k.release : k.identity, build_id, k.build_id);
		err_hint(e, "it is another build: give it a variant of its own");
		return -EEXIST;
	}
	return sql_run(db, e,
		       "UPDATE kernels SET build_id = ?2, release = iif(release = '', ?3, release)"
		       " WHERE id = ?1",
		       "ltt", kernel_id, build_id, release);
}

int db_get_kernels(struct db *db, struct arena *a, struct db_kernel **list, size_t *n,
		   struct err *e)
{
	return sql_list(db, a, &kernel_shape, list, n, e, "FROM kernels ORDER BY id", "");
}

int db_put_variant(struct db *db, const char *identity, int64_t kernel_id, const char *settings,
		   int64_t *id, struct err *e)
{
	int r = sql_value(db, e, id,
			  "INSERT INTO variants(identity, kernel_id, settings)"
			  " VALUES (?, ?, ifnull(?, '{}')) ON CONFLICT(identity) DO UPDATE SET"
			  " kernel_id = ifnull(kernel_id, excluded.kernel_id) RETURNING id",
			  "tks", identity, kernel_id, settings);

	return MIN(r, 0);
}

static const struct sql_shape variant_shape = {
	.size = sizeof(struct db_variant),
	.fields =
		{
			SQL_FIELD(struct db_variant, id, "v.id", 'K'),
			SQL_FIELD(struct db_variant, campaign, "cv.campaign_id", 't'),
			SQL_FIELD(struct db_variant, name, "cv.name", 't'),
			SQL_FIELD(struct db_variant, description, "cv.description", 't'),
			SQL_FIELD(struct db_variant, identity, "v.identity", 't'),
			SQL_FIELD(struct db_variant, settings, "v.settings", 't'),
			SQL_FIELD(struct db_variant, position, "cv.position", 'i'),
			SQL_FIELD(struct db_variant, baseline, "cv.baseline", 'b'),
			SQL_FIELD(struct db_variant, kernel.id, "k.id", 'k'),
			SQL_FIELD(struct db_variant, kernel.identity, "k.identity", 't'),
			SQL_FIELD(struct db_variant, kernel.release, "k.release", 't'),
			SQL_FIELD(struct db_variant, kernel.version, "k.version", 't'),
			SQL_FIELD(struct db_variant, kernel.build_id, "k.build_id", 't'),
			SQL_FIELD(struct db_variant, kernel.image_sha256, "k.image_sha256", 't'),
			SQL_FIELD(struct db_variant, kernel.source, "k.source", 't'),
			SQL_FIELD(struct db_variant, kernel.commit, "k.commit_id", 't'),
		},
};

#define VARIANTS                                                                                   \
	"FROM campaign_variants cv JOIN variants v ON v.id = cv.variant_id"                        \
	" LEFT JOIN kernels k ON k.id = v.kernel_id"

int db_get_variants(struct db *db, struct arena *a, const char *campaign, struct db_variant **list,
		    size_t *n, struct err *e)
{
	if (!campaign)
		return sql_list(db, a, &variant_shape, list, n, e,
				VARIANTS " JOIN campaigns c ON c.id = cv.campaign_id"
					 " ORDER BY c.created DESC, c.rowid DESC, cv.position",
				"");
	return sql_list(db, a, &variant_shape, list, n, e,
			VARIANTS " WHERE cv.campaign_id = ? ORDER BY cv.position", "s", campaign);
}

static const struct sql_shape case_shape = {
	.size = sizeof(struct db_case),
	.fields =
		{
			SQL_FIELD(struct db_case, id, "t.id", 'K'),
			SQL_FIELD(struct db_case, identity, "t.identity", 't'),
			SQL_FIELD(struct db_case, benchmark, "t.benchmark", 't'),
			SQL_FIELD(struct db_case, name, "t.name", 't'),
			SQL_FIELD(struct db_case, params, "t.params", 't'),
			SQL_FIELD(struct db_case, swept, "t.swept", 't'),
			SQL_FIELD(struct db_case, description, "t.description", 't'),
			SQL_FIELD(struct db_case, command, "t.command", 't'),
			SQL_FIELD(struct db_case, expected, "cc.expected", 'd'),
		},
};

int db_put_case(struct db *db, const struct db_case *c, int64_t *id, struct err *e)
{
	int r = sql_value(db, e, id,
			  "INSERT INTO test_cases(identity, benchmark, name, params, swept,"
			  " description, command) VALUES (?, ?, ?, ifnull(?, '{}'),"
			  " ifnull(?, '[]'), ?, ?) ON CONFLICT(identity) DO UPDATE SET " FILL(
				  description) ", " FILL(command) " RETURNING id",
			  "tttsstt", c->identity, c->benchmark, c->name, c->params, c->swept,
			  c->description, c->command);

	return MIN(r, 0);
}

int db_get_cases(struct db *db, struct arena *a, const char *campaign, struct db_case **list,
		 size_t *n, struct err *e)
{
	return sql_list(db, a, &case_shape, list, n, e,
			"FROM campaign_cases cc JOIN test_cases t ON t.id = cc.case_id"
			" WHERE cc.campaign_id = ? ORDER BY cc.position",
			"s", campaign);
}

static const struct sql_shape metric_shape = {
	.size = sizeof(struct db_metric),
	.fields =
		{
			SQL_FIELD(struct db_metric, id, "id", 'K'),
			SQL_FIELD(struct db_metric, name, "name", 't'),
			SQL_FIELD(struct db_metric, unit, "unit", 't'),
			SQL_FIELD(struct db_metric, direction, "direction", 'D'),
			SQL_FIELD(struct db_metric, mean_kind, "mean_kind", 'A'),
			SQL_FIELD(struct db_metric, role, "role", 't'),
			SQL_FIELD(struct db_metric, description, "description", 't'),
			SQL_FIELD(struct db_metric, topic, "topic", 't'),
			SQL_FIELD(struct db_metric, reason, "reason", 't'),
			SQL_FIELD(struct db_metric, deterministic, "deterministic", 'b'),
		},
};

/* An unstated unit or direction is no contradiction: it is filled, or left as it was. */
static bool metric_agrees(const struct db_metric *old, const struct db_metric *new)
{
	bool unit = !*old->unit || !new->unit || !*new->unit || !strcmp(old->unit, new->unit);
	bool direction = old->direction == DIR_UNKNOWN || new->direction == DIR_UNKNOWN ||
			 old->direction == new->direction;

	return unit && direction;
}

static bool adds_text(const char *old, const char *new)
{
	return new && *new && !str_equal(old, new);
}

/* Whether the upsert below would change nothing: most calls come with what is stored. */
static bool metric_is_stored(const struct db_metric *old, const struct db_metric *m)
{
	bool unknown = m->direction == DIR_UNKNOWN;
	bool role = str_equal(old->role, m->role) ||
		    (!str_equal(old->role, "diagnostic") &&
		     (unknown || str_equal(m->role, "diagnostic")));
	bool kind = unknown || (m->direction == old->direction && m->mean_kind == old->mean_kind);

	return role && kind && !adds_text(old->unit, m->unit) &&
	       !adds_text(old->description, m->description) && !adds_text(old->topic, m->topic) &&
	       !adds_text(old->reason, m->reason) && (old->deterministic || !m->deterministic);
}

int db_put_metric(struct db *db, const struct db_metric *m, int64_t *id, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct db_metric old;
	int r = sql_get(db, a, &metric_shape, &old, e, "FROM metrics WHERE name = ?", "s", m->name);

	if (r < 0)
		return r;
	if (r && !metric_agrees(&old, m)) {
		err_add(e, 0,
			"metric %s is stored in '%s' (direction %s), now it comes in '%s' (%s)",
			old.name, old.unit, direction_name(old.direction), m->unit ? m->unit : "",
			direction_name(m->direction));
		err_hint(e, "a metric's meaning never changes under its name: rename the new one");
		return -EINVAL;
	}
	if (r && metric_is_stored(&old, m)) {
		*id = old.id;
		return 0;
	}
	r = sql_value(db, e, id,
		      "INSERT INTO metrics(name, unit, direction, mean_kind, role, description,"
		      " topic, reason, deterministic) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
		      " ON CONFLICT(name) DO UPDATE SET " FILL(unit) ","
		      " description = ifnull(nullif(excluded.description, ''), description),"
		      " topic = ifnull(nullif(excluded.topic, ''), topic),"
		      " reason = ifnull(nullif(excluded.reason, ''), reason),"
		      " deterministic = max(deterministic, excluded.deterministic),"
		      " direction = iif(direction = 'unknown', excluded.direction, direction),"
		      " mean_kind = iif(excluded.direction = 'unknown', mean_kind,"
		      " excluded.mean_kind),"
		      " role = CASE WHEN role = 'diagnostic' THEN excluded.role"
		      " WHEN excluded.direction = 'unknown' OR excluded.role = 'diagnostic'"
		      " THEN role ELSE excluded.role END RETURNING id",
		      "ttDAttttb", m->name, m->unit, m->direction, m->mean_kind, m->role,
		      m->description, m->topic, m->reason, m->deterministic);
	return MIN(r, 0);
}

int db_get_metrics(struct db *db, struct arena *a, struct db_metric **list, size_t *n,
		   struct err *e)
{
	return sql_list(db, a, &metric_shape, list, n, e, "FROM metrics ORDER BY name", "");
}

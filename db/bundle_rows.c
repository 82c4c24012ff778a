// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/bundle_rows.h"

#include <string.h>

#define OF_VARIANTS "SELECT variant_id FROM campaign_variants WHERE campaign_id = ?1"
#define OF_RUNS	    "SELECT id FROM runs WHERE campaign_id = ?1"
#define OF_BOOTS    "SELECT id FROM boots WHERE campaign_id = ?1"
#define METRIC_NAME "(SELECT name FROM metrics m WHERE m.id = x.metric_id)"
#define VARIANT_KEY "(SELECT identity FROM variants v WHERE v.id = x.variant_id)"
#define CASE_KEY    "(SELECT identity FROM test_cases t WHERE t.id = x.case_id)"

const struct bundle_kind bundle_kinds[] = {
	{"machine", "machines", "fingerprint name description",
	 "id IN (SELECT machine_id FROM campaigns WHERE id = ?1 UNION SELECT machine_id FROM boots"
	 " WHERE campaign_id = ?1 UNION SELECT machine_id FROM runs WHERE campaign_id = ?1)"
	 " ORDER BY fingerprint",
	 "fingerprint", NULL},
	{"kernel", "kernels", "identity release version build_id image_sha256 source commit_id",
	 "id IN (SELECT kernel_id FROM variants WHERE id IN (" OF_VARIANTS ")) ORDER BY identity",
	 "identity", NULL},
	{"variant", "variants", "identity kernel_id:K settings",
	 "id IN (" OF_VARIANTS ") ORDER BY identity", "identity", NULL},
	{"case", "test_cases", "identity benchmark name params swept description command",
	 "id IN (SELECT case_id FROM campaign_cases WHERE campaign_id = ?1) ORDER BY identity",
	 "identity", NULL},
	{"metric", "metrics",
	 "name unit direction mean_kind role description topic reason deterministic",
	 "id IN (SELECT metric_id FROM samples WHERE run_id IN (" OF_RUNS ") UNION"
	 " SELECT metric_id FROM series WHERE run_id IN (" OF_RUNS ") UNION"
	 " SELECT metric_id FROM summaries WHERE campaign_id = ?1) ORDER BY name",
	 "name",
	 "unit = max(unit, excluded.unit),"
	 " direction = iif(direction = 'unknown', excluded.direction, direction),"
	 " mean_kind = max(mean_kind, excluded.mean_kind),"
	 " role = CASE WHEN 'headline' IN (role, excluded.role) THEN 'headline'"
	 " WHEN 'counter' IN (role, excluded.role) THEN 'counter' ELSE role END,"
	 " description = max(description, excluded.description), topic = max(topic, excluded.topic),"
	 " reason = max(reason, excluded.reason),"
	 " deterministic = max(deterministic, excluded.deterministic)"},
	{"campaign", "campaigns",
	 "id:I name kind created ended unit backend accelerator repeat seed config config_path"
	 " machine_id:M source tool_version",
	 "id = ?1", NULL, NULL},
	{"campaign_variant", "campaign_variants",
	 "campaign_id:I variant_id:V position name description baseline",
	 "campaign_id = ?1 ORDER BY position, " VARIANT_KEY, NULL, NULL},
	{"campaign_case", "campaign_cases", "campaign_id:I case_id:T position expected",
	 "campaign_id = ?1 ORDER BY position, " CASE_KEY, NULL, NULL},
	{"cell", "cells", "id:c campaign_id:I seq block variant_id:V case_id:T state attempts reason",
	 "campaign_id = ?1 ORDER BY seq", NULL, NULL},
	{"text", "raws", "id:w stream name size sha256 data:D",
	 "run_id IS NULL AND (id IN (SELECT console_id FROM boots WHERE campaign_id = ?1) OR"
	 " id = (SELECT min(id) FROM raws WHERE run_id IS NULL AND stream = 'source' AND sha256 ="
	 " (SELECT value FROM facts WHERE scope = 'campaign' AND scope_id = ?1"
	 " AND key = 'source_sha256'))) ORDER BY id",
	 NULL, NULL},
	{"boot", "boots",
	 "id:b campaign_id:I variant_id:V machine_id:M block boot_id started seconds outcome reason"
	 " release build_id clocksource console_id:W",
	 "campaign_id = ?1 ORDER BY id", NULL, NULL},
	{"run", "runs",
	 "id:r campaign_id:I variant_id:V case_id:T cell_id:C boot_id:B machine_id:M block attempt"
	 " started outcome error message command parser exit_status signal elapsed user_time"
	 " sys_time max_rss voluntary involuntary leftovers",
	 "campaign_id = ?1 ORDER BY id", NULL, NULL},
	{"output", "raws", "run_id:R stream name size sha256 data:D",
	 "run_id IN (" OF_RUNS ") ORDER BY run_id, id", NULL, NULL},
	{"sample", "samples", "run_id:R metric_id:m value",
	 "run_id IN (" OF_RUNS ") ORDER BY run_id, " METRIC_NAME, NULL, NULL},
	{"series", "series", "run_id:R metric_id:m t value",
	 "run_id IN (" OF_RUNS ") ORDER BY run_id, " METRIC_NAME ", t", NULL, NULL},
	{"summary", "summaries",
	 "campaign_id:I variant_id:V case_id:T metric_id:m idx mean mean_text mean_kind deviation"
	 " deviation_kind n change change_sign mark line",
	 "campaign_id = ?1 ORDER BY " CASE_KEY ", " METRIC_NAME ", " VARIANT_KEY ", idx", NULL,
	 NULL},
	{"fact", "facts", "scope scope_id:I key value",
	 "scope = 'campaign' AND scope_id = ?1 AND key NOT IN ('verdicts', 'origin.id')"
	 " ORDER BY key",
	 NULL, NULL},
	{"boot_fact", "facts", "scope scope_id:B key value",
	 "scope = 'boot' AND scope_id IN (SELECT CAST(id AS TEXT) FROM boots WHERE campaign_id = ?1)"
	 " ORDER BY CAST(scope_id AS INTEGER), key",
	 NULL, NULL},
	{"run_fact", "facts", "scope scope_id:R key value",
	 "scope = 'run' AND scope_id IN (SELECT CAST(id AS TEXT) FROM runs WHERE campaign_id = ?1)"
	 " ORDER BY CAST(scope_id AS INTEGER), key",
	 NULL, NULL},
};
const size_t bundle_n_kinds = ARRAY_SIZE(bundle_kinds);

static const struct {
	char how;
	const char *table, *key;
} dictionaries[] = {
	{'M', "machines", "fingerprint"}, {'K', "kernels", "identity"}, {'V', "variants", "identity"},
	{'T', "test_cases", "identity"},  {'m', "metrics", "name"},
};

/* Kinds of struct bundle_places. */
static const char placed[] = "bcrw";

size_t bundle_read_columns(const struct bundle_kind *k, struct bundle_column *c)
{
	struct span rest = span_of(k->columns), word;
	size_t n = 0;

	while (span_next_word(&rest, &word)) {
		bool plain = word.len < 2 || word.s[word.len - 2] != ':';

		c[n].how = plain ? '=' : word.s[word.len - 1];
		c[n++].name = (struct span){word.s, plain ? word.len : word.len - 2};
	}
	return n;
}

bool bundle_is_own_id(char how)
{
	return strchr(placed, how);
}

bool bundle_is_place(char how)
{
	return strchr("BCRW", how);
}

bool bundle_is_written(const struct bundle_kind *k, char how)
{
	return !bundle_is_own_id(how) && how != 'D' &&
	       (how != 'I' || str_equal(k->name, "campaign"));
}

bool bundle_dictionary(char how, const char **table, const char **key)
{
	for (size_t i = 0; i < ARRAY_SIZE(dictionaries); i++) {
		if (dictionaries[i].how != how)
			continue;
		*table = dictionaries[i].table;
		*key = dictionaries[i].key;
		return true;
	}
	return false;
}

bundle_ids *bundle_places_of(struct bundle_places *p, char how)
{
	return &p->of[strchr(placed, how | 0x20) - placed];
}

void bundle_places_release(struct bundle_places *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->of); i++)
		ARRAY_FREE(&p->of[i]);
}

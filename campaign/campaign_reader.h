/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the reading of a campaign file share. */
#ifndef CAMPAIGN_CAMPAIGN_READER_H
#define CAMPAIGN_CAMPAIGN_READER_H

#include "campaign/campaign.h"
#include "core/yaml.h"

/* Pairs of flip mode where nothing is said: of a few seconds each, some minutes. */
enum { FLIP_REPEAT = 20 };

struct reader {
	struct arena *a;
	struct err *e;
	const struct catalog *cat;
	struct campaign_config *c;
	int cpus;   /* what 100% counts without a binding */
	bool guest; /* cases run in a guest */
	bool target; /* cases run on another machine, which kdelta boots */
	bool reboots; /* cases run on this machine, which kdelta boots */
	ARRAY_OF(struct test_case) cases;
};

/* A hint with the nearest of the words. */
void reader_suggest(struct err *e, const char *word, const char *const *words);
/* Paths in a campaign are relative to its file. */
const char *reader_path(struct reader *r, const char *path);
/* Whether a text has letters, digits and the characters of `more` only. */
bool reader_is_word(const char *s, const char *more);
/* CPU list of a binding such as "node0-1" or "cpus 0-3"; NULL with an error added. */
const char *reader_bind_cpus(struct reader *r, const struct yaml_node *n, const char *bind);
/* The key `variants` of the file. */
void reader_read_variants(struct reader *r, struct yaml_node *root);
void reader_read_monitors(struct reader *r, struct yaml_node *root);
/* The key `target` of the file. */
void reader_read_target(struct reader *r, struct yaml_node *root);
/* The key `slurm` of the file, after the variants. */
void reader_read_slurm(struct reader *r, struct yaml_node *root);
/* Test cases of the default suite of campaigns that count. */
int campaign_take_suite(struct arena *a, struct campaign_config *c, const struct catalog *cat,
			struct err *e);

/* The key `kernel` of a variant; sets v->kernel_text. */
void reader_read_kernel(struct reader *r, struct yaml_node *map, struct variant_config *v);
/* The key `source`, after the kernel; adds to v->kernel_text. */
void reader_read_source(struct reader *r, struct yaml_node *map, struct variant_config *v);

#endif

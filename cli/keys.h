/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a campaign file, for `kdelta explain config:KEY`. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stddef.h>

struct config_key {
	const char *path; /* "variants.kernel.deb" */
	const char *type; /* "whole number", "text", "mapping", ... */
	const char *fallback; /* what holds where the key is absent */
	const char *text;     /* what it does */
	const char *example;  /* YAML */
};

extern const struct config_key config_keys[];
extern const size_t n_config_keys;

#endif

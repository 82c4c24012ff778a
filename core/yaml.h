/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as a tree with positions. The only room that sees libyaml. Anchors, tags other than the
 * plain ones, and duplicate keys are errors with file:line:column.
 */
#ifndef CORE_YAML_H
#define CORE_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
	enum yaml_kind kind;
	const char *file;
	int line, column; /* 1-based */
	bool quoted; /* a scalar in quotes: "no" stays a text */
	const char *text; /* scalar */
	struct yaml_pair *pairs; /* mapping, in file order */
	struct yaml_node **items; /* sequence */
	size_t n;
};

struct yaml_pair {
	const char *key;
	int line, column;
	struct yaml_node *value;

};

/* Parses text (one document); file is only the name for messages. NULL on error. */
struct yaml_node *yaml_parse(struct arena *a, const char *file, const char *text, size_t len,
			     struct err *e);
struct yaml_node *yaml_parse_file(struct arena *a, const char *path, struct err *e);

/* Value of a key of a mapping, or NULL; An empty value ("key:") is a scalar "". */
struct yaml_node *yaml_get(struct yaml_node *map, const char *key);
/* Adds an error for every key of the mapping that is not in the NULL-terminated list, with a
 * "did you mean". Returns 0 or -EINVAL. */
int yaml_check_keys(struct yaml_node *map, const char *const *known, struct err *e);

/* Adds an error at the node's position; returns -EINVAL. */
int yaml_error(const struct yaml_node *node, struct err *e, const char *fmt, ...) _printf_(3, 4);

/* Typed access: absent key leaves *out alone and returns 0; wrong type adds an error. */
int yaml_get_string(struct yaml_node *map, const char *key, const char **out, struct err *e);
int yaml_get_int(struct yaml_node *map, const char *key, int64_t min, int64_t max, int64_t *out,
		 struct err *e);
int yaml_get_bool(struct yaml_node *map, const char *key, bool *out, struct err *e);
/* Index of the word in the NULL-terminated list; fallback where the key is absent or wrong. */
int yaml_get_word(struct yaml_node *map, const char *key, const char *const *words, int fallback,
		  struct err *e);
int yaml_get_duration(struct yaml_node *map, const char *key, double *seconds, struct err *e);
/* A list of scalars; a single scalar counts as a list of one. NULL-terminated array. */
int yaml_get_list(struct arena *a, struct yaml_node *map, const char *key, const char ***out,
		  size_t *n, struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of kdelta that hold their own numbers: -o json, -o html (the same JSON inside) and
 * -o csv. All are read into one form, a kdelta.compare/1 document. No I/O.
 */
#ifndef EXCHANGE_EXPORT_H
#define EXCHANGE_EXPORT_H

#include <jansson.h>

#include "core/err.h"
#include "core/str.h"

/* Whether a text is meant to be one of them, by its first characters. */
bool export_recognise(struct span text);
/*
 * The document (the caller's reference). -EINVAL with the line of what cannot be understood:
 * another schema, no JSON, a page without any.
 */
int export_read(struct arena *a, const char *file, struct span text, json_t **root, struct err *e);

/* "tbench/clients=64" -> [["clients","64"]] */
json_t *export_swept_of_name(const char *name);

/* Inside: the CSV as such a document. */
bool export_is_csv(struct span text);
int export_read_csv(struct arena *a, const char *file, struct span text, json_t **root,
		    struct err *e);

#endif

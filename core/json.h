/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON as the commands print it, made with jansson. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <jansson.h>

#include "core/str.h"

/* null where there is no finite number. */
json_t *json_number_or_null(double v);

/* Appends root on lines of its own, numbers with so many digits, and releases it. */
void json_add_lines(struct strbuf *out, json_t *root, unsigned int digits);

#endif

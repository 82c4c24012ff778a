// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/json.h"

#include <math.h>
#include <stdlib.h>

json_t *json_number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

void json_add_lines(struct strbuf *out, json_t *root, unsigned int digits)
{
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(digits));

	if (!text)
		abort();
	strbuf_addf(out, "%s\n", text);
	free(text);
	json_decref(root);
}

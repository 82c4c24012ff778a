// SPDX-License-Identifier: GPL-2.0-or-later
#include "campaign/backends.h"

#include <stdlib.h>
#include <string.h>

#include "core/str.h"

const struct backend_ops *backend_find(const char *name)
{
	const struct backend_ops *const *p;

	registry_for_each (backend_ops, p)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

const char *const *backend_names(struct arena *a)
{
	size_t n = (size_t)(__stop_reg_backend_ops - __start_reg_backend_ops), i = 0;
	const char **names = arena_alloc_array(a, n + 1, sizeof(*names));
	const struct backend_ops *const *p;

	registry_for_each (backend_ops, p)
		names[i++] = (*p)->name;
	qsort(names, n, sizeof(*names), str_compare);
	return names;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory: allocation that cannot fail (it ends the program with a message), scope-bound
 * cleanup, and arenas. A report, a parse result or a plan lives in one arena and is freed at once.
 */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(mem_free_ptr)
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* malloc family; never return NULL. Arrays are checked for overflow. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc_array(void *ptr, size_t n, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t len);
char *mem_printf(const char *fmt, ...) _printf_(1, 2);

/* For _cleanup_free_: frees the pointer that *ptr holds. */
void mem_free_ptr(void *ptr);

/*
 * A growing array: struct { T *items; size_t n, alloc; }. ARRAY_PUSH returns a pointer to a new
 * zeroed item, valid until the next push.
 */
#define ARRAY_OF(T)                                                                                \
	struct {                                                                                   \
		T *items;                                                                          \
		size_t n, alloc;                                                                   \
	}
#define ARRAY_PUSH(a)                                                                              \
	((a)->items = mem_array_grow((a)->items, (a)->n, &(a)->alloc, sizeof(*(a)->items)),        \
	 &(a)->items[(a)->n++])
#define ARRAY_FREE(a)                                                                              \
	do {                                                                                       \
		mem_free_ptr(&(a)->items);                                                         \
		(a)->n = (a)->alloc = 0;                                                           \
	} while (0)
/* An empty array has no items at all: adding 0 to NULL is undefined. */
#define array_for_each(p, a) for (p = (a)->items; p && p < (a)->items + (a)->n; p++)
void *mem_array_grow(void *items, size_t n, size_t *alloc, size_t size);

/* Arena: allocations that end together. Memory is zeroed. */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
void *arena_alloc_array(struct arena *a, size_t n, size_t size);
char *arena_strdup(struct arena *a, const char *s); /* NULL stays NULL */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) _printf_(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) _printf_(2, 0);
/* Copies n items of an ARRAY_OF into the arena (NULL for n = 0) */
void *arena_copy(struct arena *a, const void *items, size_t n, size_t size);
void arena_free_ptr(struct arena **a);
#define _cleanup_arena_ _cleanup_(arena_free_ptr)

#endif

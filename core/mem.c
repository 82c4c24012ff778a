// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *mem_check(void *p)
{
	if (!p) {
		fputs("kdelta: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *mem_alloc(size_t size)
{
	return mem_check(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
	return mem_check(calloc(1, size ? size : 1));
}

void *mem_realloc_array(void *ptr, size_t n, size_t size)
{
	if (!n)
		n = 1;
	return mem_check(reallocarray(ptr, n, size));
}

char *mem_strdup(const char *s)
{
	return mem_check(strdup(s));
}

char *mem_strndup(const char *s, size_t len)
{
	return mem_check(strndup(s, len));
}

char *mem_printf(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return mem_check(s);
}

void mem_free_ptr(void *ptr)
{
	void **p = ptr;

	free(*p);
	*p = NULL;
}

void *mem_array_grow(void *items, size_t n, size_t *alloc, size_t size)
{
	if (n == *alloc) {
		*alloc = n ? n * 2 : 8;
		items = mem_realloc_array(items, *alloc, size);
	}
	memset((char *)items + n * size, 0, size);
	return items;
}

#define ARENA_CHUNK 16384

struct arena_chunk {
	struct arena_chunk *next;
	max_align_t data[];
};

struct arena {
	struct arena_chunk *chunks;
	char *free;
	size_t left;
	size_t grown; /* all chunks; each new one is an eighth of it, so that few are many bytes */
};

struct arena *arena_new(void)
{
	return mem_zalloc(sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c, *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

void arena_free_ptr(struct arena **a)
{
	arena_free(*a);
	*a = NULL;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t want;
	char *p;

	if (size > SIZE_MAX / 2)
		mem_check(NULL);
	want = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (want > a->left) {
		size_t room = MAX(MAX(want, (size_t)ARENA_CHUNK), a->grown / 8);
		struct arena_chunk *c = mem_zalloc(sizeof(*c) + room);

		c->next = a->chunks;
		a->chunks = c;
		a->free = (char *)c->data;
		a->left = room;
		a->grown += room;
	}
	p = a->free;
	a->free += want;
	a->left -= want;
	return p;
}

void *arena_alloc_array(struct arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / 2 / size)
		mem_check(NULL);
	return arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *d = arena_alloc(a, len + 1);

	memcpy(d, s, len);
	return d;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		mem_check(NULL);
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

void *arena_copy(struct arena *a, const void *items, size_t n, size_t size)
{
	void *p;

	if (!n)
		return NULL;
	p = arena_alloc_array(a, n, size);
	memcpy(p, items, n * size);
	return p;
}

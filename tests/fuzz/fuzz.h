/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share: checks that end the program, one parser or family of several
 * (FUZZ_ONLY=NAME in the environment), and the memory that one input takes: live bytes of the heap
 * as asked for, without what the sanitizer and the fuzzer themselves need.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum { FUZZ_MEMORY_MB = 64 }; /* of one input */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_COUNTS_MEMORY
#include <sanitizer/allocator_interface.h>
#endif
#endif

#ifdef FUZZ_COUNTS_MEMORY
int LLVMFuzzerInitialize(int *argc, char ***argv);

static size_t fuzz_live, fuzz_peak, fuzz_highest; /* bytes: now, of this input, of all */

static void fuzz_on_malloc(const volatile void *p, size_t size)
{
	(void)p;
	fuzz_live += size;
	fuzz_peak = fuzz_live > fuzz_peak ? fuzz_live : fuzz_peak;
}

static void fuzz_on_free(const volatile void *p)
{
	size_t size = p ? __sanitizer_get_allocated_size(p) : 0;

	/* what was there before the input may be freed within it */
	fuzz_live -= size < fuzz_live ? size : fuzz_live;
}

static void fuzz_print_peak(void)
{
	fprintf(stderr, "peak memory of one input: %.1f MB\n", (double)fuzz_highest / (1 << 20));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	__sanitizer_install_malloc_and_free_hooks(fuzz_on_malloc, fuzz_on_free);
	atexit(fuzz_print_peak);
	return 0;
}

static inline void fuzz_begin(void)
{
	fuzz_live = fuzz_peak = 0;
}

/* Also: all that the input took is free again; a leak is found at once, not at the end. */
static inline void fuzz_end(void)
{
	fuzz_highest = fuzz_peak > fuzz_highest ? fuzz_peak : fuzz_highest;
	CHECK(fuzz_peak <= (size_t)FUZZ_MEMORY_MB << 20);
	CHECK(fuzz_live == 0);
}
#else
static inline void fuzz_begin(void)
{
}

static inline void fuzz_end(void)
{
}
#endif

/* NULL: all */
static inline const char *fuzz_only(void)
{
	return getenv("FUZZ_ONLY");
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of messages in mail archives of public-inbox, as lore.kernel.org. No network here. */
#ifndef NET_LORE_H
#define NET_LORE_H

#include <stdbool.h>

#include "core/mem.h"

#define LORE_BASE "https://lore.kernel.org/all/"

/*
 * The Message-ID, without its brackets, of "<id@host>", "id@host" or the address of a message
 * ("https://lore.kernel.org/r/id@host", ".../lkml/id%40host/#t"); NULL: none of these.
 */
char *lore_message_id(struct arena *a, const char *text);

/*
 * The address to fetch for an operand. "<id@host>": the raw message below base; an address of a
 * message: its raw form; any other address with "://": itself. NULL: no address, so a file.
 */
char *lore_raw_address(struct arena *a, const char *operand, const char *base);

#endif

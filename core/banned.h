/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions nobody calls here; included by the Makefile into every file of the program. */
#ifndef CORE_BANNED_H
#define CORE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison sprintf vsprintf strcpy strcat strncpy strncat gets atoi atol atof system popen \
	strtok tmpnam mktemp tempnam

#endif

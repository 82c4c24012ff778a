/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who used the CPUs for a moment; inside machine/ only. */
#ifndef MACHINE_DOCTOR_USAGE_H
#define MACHINE_DOCTOR_USAGE_H

#include <stdbool.h>

struct doctor;

struct doctor_usage {
	double busy;	 /* CPUs that did not idle */
	double top;	 /* CPUs that the busiest process used */
	const char *who; /* "cc1 (pid 812)"; NULL: nobody used any */
};

/* Looks twice, with doctor_options.wait in between. NULL: no time passed, or nothing can be read. */
const struct doctor_usage *doctor_watch(struct doctor *d);

/* Ticks in the line "cpu  1 2 3 ..." of /proc/stat since the boot. false: there is none. */
struct doctor_ticks {
	double total, idle, steal;
};
bool doctor_read_ticks(struct doctor *d, struct doctor_ticks *t);

#endif

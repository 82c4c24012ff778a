/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of machine/doctor.h that take more than a file's value; inside machine/ only. */
#ifndef MACHINE_DOCTOR_LOOK_H
#define MACHINE_DOCTOR_LOOK_H

#include "core/str.h"
#include "machine/doctor.h"

struct doctor_usage; /* what ran between two looks */

struct doctor {
	struct arena *a;
	const struct doctor_options *opt;
	const char *root; /* of opt */
	double cpus;	  /* online, at least 1 */
	const char *hypervisor; /* NULL: none is seen */
	struct span cpuinfo, meminfo;
	char **comms; /* names of processes, n_comms of them */
	size_t n_comms;
	const struct doctor_usage *usage; /* NULL: not looked */
};

/* Whether a value is one of the words as in doctor_check.good. */
bool doctor_matches(const char *words, const char *value);
/* State by the words of the check. */
enum doctor_state doctor_judge(const struct doctor_check *c, const char *value);
doctor_look_fn look_limits, look_idle, look_hybrid, look_allowed, look_microcode, look_mitigations,
	look_throttled, look_battery, look_running, look_busy, look_top, look_load, look_uptime,
	look_pressure, look_steal, look_quota, look_memory_limit, look_virtual, look_container,
	look_memory, look_swap, look_dirty, look_balancing, look_space, look_clock, look_config,
	look_cmdline, look_taint;

#endif

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
	const char *cmdline;
	char **comms; /* names of processes, n_comms of them */
	size_t n_comms;
	const struct doctor_usage *usage; /* NULL: not looked */
};

/* Whether a value is one of the words as in doctor_check.good. */
bool doctor_matches(const char *words, const char *value);
/* State by the words of the check. */
enum doctor_state doctor_judge(const struct doctor_check *c, const char *value);
void doctor_absent(struct doctor_result *r, const char *why);
/* bad or ok, and a value. */
void doctor_tell(struct doctor *d, struct doctor_result *r, bool bad, const char *fmt, ...)
	_printf_(4, 5);

void look_limits(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_idle(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_hybrid(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_allowed(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_running(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_balancing(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_swap(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_memory(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_dirty(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_space(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_clock(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_mitigations(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_microcode(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_quota(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_memory_limit(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_load(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_busy(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_top(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_steal(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_throttled(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_pressure(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_uptime(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_battery(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_config(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_cmdline(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_virtual(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_container(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);
void look_taint(struct doctor *d, const struct doctor_check *c, struct doctor_result *r);

#endif

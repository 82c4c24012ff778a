// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/net/dev, the loopback: what tbench and other servers on this machine talk over
 *
 *	Inter-|   Receive                                                |  Transmit
 *	 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs ...
 *	    lo: 1203311     802    0    0    0     0          0         0  1203311     802    0 ...
 */
#include "machine/monitor.h"

#include <string.h>

static void read_net(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line;
	double v[4];
	size_t i;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		line = span_trim(line);
		if (!span_starts(line, "lo:"))
			continue;
		span_skip(&line, strlen("lo:"));
		for (i = 0; i < ARRAY_SIZE(v) && monitor_number(&line, &v[i]); i++)
			;
		if (i < ARRAY_SIZE(v))
			continue;
		/* On the loopback what is sent is what is received. */
		monitor_add(s, MONITOR_COUNTER, "net.lo", span_of("bytes"), MONITOR_NO_TAIL,
			    v[0]);
		monitor_add(s, MONITOR_COUNTER, "net.lo", span_of("packets"), MONITOR_NO_TAIL,
			    v[1]);
		monitor_add(s, MONITOR_COUNTER, "net.lo", span_of("drops"), MONITOR_NO_TAIL,
			    v[3]);
	}
}

static const struct monitor net = {
	.name = "net",
	.summary = "traffic over the loopback",
	.standard = true,
	.paths = (const char *const[]){"/proc/net/dev", NULL},
	.read = read_net,
};
REGISTER(monitor, net);

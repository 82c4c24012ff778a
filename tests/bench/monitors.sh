#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What shell loops beside a benchmark do, after the manner of LKP's: monitors.sh ROOT SAMPLES. Each
# monitor stamps the time and prints its files (one cat for each CPU), and an awk makes the sums.
root=$1
stamp() { echo "time: $(date +%s)"; }
sample() {
	for f in softirqs interrupts; do
		{ stamp; cat "$root/proc/$f"; } | awk '/:/ { n = 0; for (i = 2; i <= 257; i++) n += $i; s[$1] = n }'
	done
	for f in stat vmstat meminfo schedstat loadavg net/dev; do
		{ stamp; cat "$root/proc/$f"; } | awk '{ s[$1] += $2 }'
	done
	for f in "$root"/proc/pressure/*; do
		{ stamp; cat "$f"; } | awk -F= '{ s[$1] = $NF }'
	done
	for f in "$root"/sys/devices/system/node/node*/numastat "$root"/sys/class/powercap/*/energy_uj \
		"$root"/sys/class/thermal/thermal_zone*/temp; do
		{ stamp; cat "$f"; } | awk '{ s[$1] += $2 }'
	done
	for cpu in "$root"/sys/devices/system/cpu/cpu[0-9]*; do
		cat "$cpu"/cpufreq/scaling_cur_freq "$cpu"/thermal_throttle/*_throttle_count \
			"$cpu"/cpuidle/state*/time "$cpu"/cpuidle/state*/usage
	done | awk '{ s += $1 }'
}
i=0
while [ $((i += 1)) -le "$2" ]; do
	sample
done >/dev/null

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill.sh N: kill -9 of kdelta at N random moments (fixed seed) of short host campaigns; after
# --resume the database is complete and clean, no process is left, the sysctl is as before.
set -u
times=$1
. tests/e2e/lib.sh
RANDOM=4711

sysctl=/proc/sys/vm/swappiness
before=$(cat $sysctl)
changed=$((before == 57 ? 58 : 57))
setting="sysctl: {vm.swappiness: $changed}"
if ! { echo "$before" >$sysctl; } 2>/dev/null; then
	setting='env: {ARM: 2}'
	echo "no right to change $sysctl: killed without a setting"
else
	# a test that fails must not leave the machine changed
	trap 'echo "$before" >$sysctl; rm -rf "$T"' EXIT
fi

# Waits until no process of the killed campaign lives: its guard ends them.
wait_gone() {
	local i
	for i in $(seq 400); do
		[ "$(left)" = 0 ] && return
		sleep 0.05
	done
	fail "processes are left $i looks after kill -9: $(pgrep -fa "$T/benchmarks")"
}

kills=0 campaigns=0
while [ $kills -lt "$times" ]; do
	campaigns=$((campaigns + 1))
	REPEAT=3 VARIANTS="variants: [{name: a}, {name: b, $setting}]" \
		campaign "c$campaigns" 'count: {do: [wait, good], n: [1, 2]}'
	resume=
	while :; do
		# shellcheck disable=SC2086 # nothing or one word
		"$KDELTA" run "$T/c$campaigns.yaml" $resume >/dev/null 2>"$T/err" &
		pid=$!
		if [ $kills -lt "$times" ]; then
			sleep "0.$(printf '%03d' $((RANDOM % 700)))"
			if kill -9 $pid 2>/dev/null; then
				kills=$((kills + 1))
			fi
		fi
		wait $pid 2>/dev/null
		rc=$?
		wait_gone
		[ $rc -ne 0 ] || break
		[ $rc -eq 137 ] || { cat "$T/err"; fail "exit $rc, neither done nor killed"; }
		# a kill before the campaign stood in the database leaves nothing to resume
		open=$(ask "sum(c['campaign'].startswith('c$campaigns-') and c['ended'] is None for c in d['campaigns'])" list)
		[ "${open:-0}" = 0 ] && resume= || resume=--resume
	done
	is 24 'len({(r["block"], r["variant"], r["test_case"]) for r in d["runs"] if r["outcome"] == "ok"})' \
		list runs "c$campaigns"
	is 24 'len(d["runs"])' list runs "c$campaigns"
	clean
	now=$(cat $sysctl)
	[ "$now" = "$before" ] || fail "$sysctl is $now, it was $before"
	[ ! -e "$XDG_DATA_HOME/kdelta/restore.journal" ] || fail "a journal of settings is left"
done
echo "$kills kills in $campaigns campaigns"

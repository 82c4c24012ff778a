#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test and closes with "N passed, N failed, N skipped".
# A test is a unit program (cmocka) or a script tests/*/*.test: exit 0 passed, 77 skipped (its last
# line says why), anything else failed. Scripts named *.slow.test run only with --slow.
# RUN_UNDER is a command for unit programs of another machine, such as qemu-aarch64-static.
# Usage: tests/run.sh [--slow] [PATTERN...]
set -u
cd "$(dirname "$0")/.." || exit 1
slow=no
[ "${1:-}" = --slow ] && { slow=yes; shift; }
export O=${O:-build} SAN=${SAN:-0}
KDELTA=$(realpath "${KDELTA:-./kdelta}"); export KDELTA
KDELTA_SHARE=$PWD; export KDELTA_SHARE
KDELTA_LIBEXEC=$(realpath "$O"); export KDELTA_LIBEXEC
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
export LC_ALL=C
unset KDELTA_DB
# The system's own python3: wrappers of version managers take ten times as long to start.
[ -x /usr/bin/python3 ] && PATH=/usr/bin:$PATH
passed=0 failed=0 skipped=0
log=$(mktemp) home=$(mktemp -d); trap 'rm -rf "$log" "$home"' EXIT
# No test writes to what the user has; those that look there set these themselves.
export XDG_DATA_HOME=$home/data XDG_STATE_HOME=$home/state

wanted() {
	[ $# -eq 1 ] && return 0
	local name=$1 p; shift
	for p in "$@"; do [[ $name == *$p* ]] && return 0; done
	return 1
}

run_one() {
	local name=$1 rc start=$SECONDS; shift
	"$@" >"$log" 2>&1 </dev/null
	rc=$?
	case $rc in
	0) passed=$((passed + 1)); printf '  ok      %s (%ds)\n' "$name" $((SECONDS - start)) ;;
	77) skipped=$((skipped + 1)); printf '  skip    %s: %s\n' "$name" "$(tail -n 1 "$log")" ;;
	*) failed=$((failed + 1)); printf '  FAILED  %s (exit %d)\n' "$name" $rc; tail -n 60 "$log" | sed 's/^/          /' ;;
	esac
}

for t in tests/unit/*.c; do
	[ -e "$t" ] || continue
	n=$(basename "$t" .c)
	wanted "unit/$n" "$@" && run_one "unit/$n" ${RUN_UNDER:-} "$O/tests/unit/$n"
done
for t in tests/*/*.test; do
	[ -e "$t" ] || continue
	case $t in *.slow.test) [ $slow = yes ] || continue ;; esac
	n=${t#tests/}; n=${n%.test}
	wanted "$n" "$@" && run_one "$n" bash "$t"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

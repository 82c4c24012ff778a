#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Flip mode beside blocks of whole runs, the same seconds each: pairs of short runs, then a quarter
# as many runs a side of four times as long. Prints both intervals side by side, one below the other.
#
#	examples/flip-vs-blocks.sh [aa] [autogroup] [policy]	(default: all three)
#
# aa: one variant under two names. autogroup: kernel.sched_autogroup_enabled 1 and 0 (root).
# policy: SCHED_OTHER and SCHED_BATCH. PAIRS (20), SECONDS_A_RUN (2), HOGS (busy loops beside it, 0).
set -eu
kdelta=${KDELTA:-$(dirname "$0")/../kdelta}
pairs=${PAIRS:-20} seconds=${SECONDS_A_RUN:-2} hogs=${HOGS:-0}
T=$(mktemp -d)
load=
# shellcheck disable=SC2086 # a list of numbers
trap '[ -z "$load" ] || kill $load; rm -rf "$T"' EXIT
export KDELTA_DB=$T/kdelta.db

variants() {
	case $1 in
	aa) echo '[{name: one}, {name: again, same_as: one}]' ;;
	autogroup) echo '[{name: autogroup, sysctl: {kernel.sched_autogroup_enabled: 1}}, {name: without, sysctl: {kernel.sched_autogroup_enabled: 0}}]' ;;
	policy) echo '[{name: other, policy: other}, {name: batch, policy: batch}]' ;;
	*) echo "flip-vs-blocks: '$1' is none of aa, autogroup, policy" >&2; return 1 ;;
	esac
}

# measure NAME ORDER REPEAT RUNTIME CASE: one campaign, its verdict as JSON
measure() {
	cat >"$T/$1.yaml" <<-EOF
		campaign: $1
		order: $2
		repeat: $3
		variants: $(variants "$5")
		benchmarks:
		  - wakebench: {message_threads: 1, workers: 2, runtime: ${4}s}
	EOF
	"$kdelta" run -q "$T/$1.yaml" >/dev/null
	"$kdelta" compare --campaign "$1" -o json="$T/$1.json"
}

for _ in $(seq "$hogs"); do
	while :; do :; done &
	load="$load $!"
done
for what in "${@:-}"; do
	for case in ${what:-aa autogroup policy}; do
		variants "$case" >/dev/null
		measure "flip-$case" flip "$pairs" "$seconds" "$case"
		measure "blocks-$case" blocks $((pairs / 4)) $((4 * seconds)) "$case"
		python3 - "$case" "$T/flip-$case.json" "$T/blocks-$case.json" <<-'EOF'
			import json, sys
			def rows(path):
			    d = json.load(open(path))
			    return {r["metric"]: r["cells"][1] for t in d["tests"] for r in t["rows"] if r["role"] == "headline"}
			def text(c):
			    low, high = c["ci_low"], c["ci_high"]
			    r = "[%+.2f, %+.2f]" % (100 * low, 100 * high) if low is not None else "none"
			    return "%+7.2f %% %-18s n=%-3d %-4s %s%s" % (100 * c["change"], r, c["n"], c["test"],
			        "small " if c["small"] else "", c["verdict"])
			flip, blocks = rows(sys.argv[2]), rows(sys.argv[3])
			print("%s" % sys.argv[1])
			for m in flip:
			    f, b = flip[m], blocks[m]
			    w = [(c["ci_high"] - c["ci_low"]) if c["ci_low"] is not None else None for c in (f, b)]
			    print("  %-24s flip   %s" % (m, text(f)))
			    print("  %-24s blocks %s%s" % ("", text(b), "   %.1f times as wide" % (w[1] / w[0]) if all(w) else ""))
		EOF
	done
done

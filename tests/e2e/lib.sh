# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A folder, a database and a benchmark of its own for each end-to-end test; sourced.
# The benchmark `count` runs count.sh with a word: what it does with it stands below.
T=$(mktemp -d)
export KDELTA_DB=$T/kdelta.db KDELTA_LOCK=$T/lock XDG_DATA_HOME=$T/data XDG_CONFIG_HOME=$T/config
trap 'rm -rf "$T"' EXIT
mkdir "$T/benchmarks"
cat >"$T/benchmarks/count.yaml" <<'EOF'
benchmark: count
description: prints a number
program: ./count.sh
complete: ^end$
expected: "0.1"
params:
  do: {words: {good: [good], bad: [bad], hang: [hang], cut: [cut], wait: [wait], flaky: [flaky], gate: [gate]}, default: good}
  n: {type: count, default: 1}
metrics:
  score: {unit: points, direction: higher, mean: hmean, role: headline, pattern: "^score ([0-9.]+)$"}
EOF
cat >"$T/benchmarks/count.sh" <<'EOF'
#!/bin/bash
dir=${0%/*}
echo "score $((1000 + RANDOM % 10))"
case $1 in
bad) echo "no luck" >&2; exit 3 ;;
hang) sleep 1000 ;;
cut) exit 0 ;;
wait) sleep 0.1 ;;
gate) # the fourth run lasts until it is stopped
	runs=$(($(cat "$dir/runs" 2>/dev/null || echo 0) + 1))
	echo $runs >"$dir/runs"
	[ $runs -ne 4 ] || sleep 1000 ;;
flaky) [ -e "$dir/second-try" ] || { touch "$dir/second-try"; exit 1; } ;;
esac
echo end
EOF
chmod +x "$T/benchmarks/count.sh"

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

# campaign NAME LINES...: a campaign file; the benchmarks are the lines. REPEAT and VARIANTS of the
# environment take the place of 3 and of two variants that differ by their environment.
campaign() {
	local name=$1 two='variants: [{name: a}, {name: b, env: {ARM: 2}}]'; shift
	{
		printf 'campaign: %s\nrepeat: %s\n' "$name" "${REPEAT:-3}"
		printf '%s\n' "${VARIANTS:-$two}"
		printf 'benchmarks:\n'
		printf '  - %s\n' "$@"
	} >"$T/$name.yaml"
}

# run EXIT ARGS...: kdelta with its expected exit status; stdout in $T/out, stderr in $T/err
run() {
	local want=$1 got=0; shift
	"$KDELTA" "$@" >"$T/out" 2>"$T/err" || got=$?
	[ $got -eq "$want" ] || { cat "$T/out" "$T/err"; fail "kdelta $*: exit $got, expected $want"; }
}

# says TEXT: stderr of the last run holds it
says() { grep -qF -- "$1" "$T/err" || { cat "$T/err"; fail "stderr lacks: $1"; }; }

# ask EXPRESSION COMMAND...: a Python expression over the JSON that kdelta prints
ask() {
	local expression=$1; shift
	"$KDELTA" --json "$@" 2>/dev/null | python3 -c 'import json, os, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$expression"
}

# is EXPECTED EXPRESSION COMMAND...
is() {
	local want=$1 got; shift
	got=$(ask "$@")
	[ "$got" = "$want" ] || fail "$*: $got, expected $want"
}

clean() { run 0 db check; }

# left: processes of this test's benchmarks that still live
left() { pgrep -f "$T/benchmarks" | wc -l; }

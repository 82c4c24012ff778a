#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU time of `kdelta compare` on five kernels, ten loads, two bindings: a hundred runs, user + sys.
set -eu
cd "$(dirname "$0")/../.."
kdelta=${KDELTA:-./kdelta}
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 tests/cli/compare/fixture.py five "$dir/five.db"
chmod 444 "$dir/five.db" # reading only: verdicts are not stored again and again
n=100
for format in mail json csv mmtests; do
	# shellcheck disable=SC2016 # the inner shell expands
	times=$(bash -c 'for ((i = 0; i < $4; i++)); do "$1" --db "$2" compare -o "$3" >/dev/null; done; times' \
		- "$kdelta" "$dir/five.db" "$format" $n | tail -1)
	awk -v t="$times" -v n=$n -v f="$format" 'BEGIN { split(t, a, /[ms ]+/)
		printf "compare, five kernels, %-8s %6.2f ms of CPU\n", f, 1000 * (60 * a[1] + a[2] + 60 * a[3] + a[4]) / n }'
done

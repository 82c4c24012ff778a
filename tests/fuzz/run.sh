#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every fuzzer of $O/fuzz for $SECONDS_EACH seconds. Seeds: tests/fuzz/seeds/NAME/ if there are
# any, for `parsers` the raw files of the pairs, each behind the four bytes that its target reads.
# A find stays in $O/fuzz/NAME.finds/ and fails the run.
set -u
O=${O:-build}
each=${SECONDS_EACH:-60}
bad=0

seed_parsers() { # folder
	local raw benchmark i=0 names
	names=$(grep -l '^REGISTER(parser, ' parsers/*.c | sort)
	for raw in tests/parsers/*.raw; do
		benchmark=$(basename "$raw" | sed 's/\..*//; s/-/_/')
		i=$(printf '%s\n' "$names" | grep -n "/$benchmark.c\$" | cut -d: -f1)
		# exit status 255 is "unknown"
		{ printf '%b' "\\x$(printf %02x $((i - 1)))\\xff\\x00\\x00"; cat "$raw"; } \
			>"$1/$(basename "$raw")"
	done
}

for fuzzer in "$O"/fuzz/*; do
	[ -f "$fuzzer" ] && [ -x "$fuzzer" ] || continue
	name=$(basename "$fuzzer")
	work=$(mktemp -d)
	mkdir -p "$work/corpus" "$work/seeds" "$O/fuzz/$name.finds"
	[ -d "tests/fuzz/seeds/$name" ] && cp "tests/fuzz/seeds/$name"/* "$work/seeds"
	[ "$name" = parsers ] && seed_parsers "$work/seeds"
	"$fuzzer" -max_total_time="$each" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix="$O/fuzz/$name.finds/" "$work/corpus" "$work/seeds" >"$work/log" 2>&1 || {
		bad=1
		tail -n 40 "$work/log"
		echo "$name: see $O/fuzz/$name.finds/"
	}
	echo "$name: $(grep -o '^Done .*' "$work/log")"
	rm -rf "$work"
done
exit $bad

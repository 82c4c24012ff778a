#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzzes every parser, every family of tables and the rest, one after the other, $SECONDS_EACH
# seconds each; FUZZ_ONLY=NAME or TARGET/NAME runs one of them. Prints a line for each: runs, edges covered, what
# one input took of the heap at most (limit: 64 MB, see fuzz.h; one malloc of more ends the run too;
# the limit of the whole process is only there for the fuzzer itself).
# Seeds: the fixtures of the project, and texts of ../shared where that exists. What is found stays in
# $O/fuzz/TARGET.finds/ and fails the run.
set -u
export O=${O:-build}
each=${SECONDS_EACH:-60}
only=${FUZZ_ONLY:-}; unset FUZZ_ONLY
export ASAN_OPTIONS=quarantine_size_mb=1:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
bad=0

name_of() { sed -n 's/^\t\.name = "\(.*\)",$/\1/p' "$1"; }

# Raw files of the pairs, each behind the four bytes that the target reads; of one parser, or all.
seed_parsers() { # FOLDER NAME
	local raw
	for raw in tests/parsers/"$2"*.raw ../shared/corpus/"$2"/*; do
		[ -f "$raw" ] || continue
		# exit status 255 is "unknown"
		{ printf '\x00\xff\x00\x00'; cat "$raw"; } >"$1/$(basename "$raw")"
	done
}

seed_tables() { # FOLDER
	find tests/tables ../shared/tables \( -name '*.txt' -o -name '*.eml' -o -name '*.mbox' \) \
		-exec cp -t "$1" {} + 2>/dev/null
}

# fuzz TARGET NAME SOURCES...: without a NAME the target has no parts
fuzz() {
	local target=$1 name=$2 title=$1${2:+/$2} work finds rc=0
	local finds=$O/fuzz/$target.finds
	shift 2
	[[ -z $only || $only = "$name" || $only = "$title" || $only = "$target" ]] || return 0
	work=$(mktemp -d)
	mkdir -p "$work/corpus" "$work/seeds" "$finds"
	case $target in
	parsers) seed_parsers "$work/seeds" "$name" ;;
	tables | mail) seed_tables "$work/seeds" ;;
	esac
	[ -d "tests/fuzz/seeds/$target" ] && cp "tests/fuzz/seeds/$target"/"$name"* "$work/seeds" 2>/dev/null
	python3 tests/fuzz/dictionary.py "$@" >"$work/words" || bad=1
	env ${name:+"FUZZ_ONLY=$name"} "$O/fuzz/$target" -max_total_time="$each" -max_len=32768 \
		-timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 -print_final_stats=1 \
		-dict="$work/words" -artifact_prefix="$finds/$name-" \
		"$work/corpus" "$work/seeds" >"$work/log" 2>&1 || rc=1
	if [ $rc -ne 0 ]; then
		bad=1
		tail -n 40 "$work/log"
		echo "$title: see $finds/"
	fi
	awk -v title="$title" '
		/cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
		/^stat::number_of_executed_units/ { runs = $2 }
		/^peak memory of one input/ { peak = $(NF - 1) }
		END { printf "%-24s %9d runs %6d edges %5.1f MB\n", title, runs, cov, peak }
	' "$work/log"
	rm -rf "$work"
}

# kinds TARGET TYPE FOLDER: each file that registers one, with those it is split into
kinds() {
	local file parts
	for file in $(grep -l "^REGISTER($2, " "$3"/*.c | sort); do
		parts=("${file%.c}"_*.c)
		[ -e "${parts[0]}" ] || parts=()
		fuzz "$1" "$(name_of "$file")" "$file" "${parts[@]}"
	done
}

kinds parsers parser parsers
kinds tables table_family parsers/tables
fuzz tables "" parsers/tables/*.c
fuzz mail "" parsers/tables/text.c parsers/tables/layout.c
fuzz job "" jobs/job.c jobs/frame.c
exit $bad

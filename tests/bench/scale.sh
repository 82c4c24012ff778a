#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make bench-scale` prints: CPU seconds of questions to databases of one and of ten years of
# nights (1 and 10 million samples), which must depend on what is asked and not on the size; and of
# samples that come in, beside sqlite3's own .import. SCALE_DIR keeps the databases.
set -euo pipefail
cd "$(dirname "$0")/../.."
kdelta=$(realpath "${KDELTA:-./kdelta}") scale=$(realpath "${O:-build}/tests/bench/scale")
dir=${SCALE_DIR:-$(mktemp -d)}
[ -n "${SCALE_DIR:-}" ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"
bad=0
TIMEFORMAT='%U %S'
# cpu COMMAND...: user and system seconds, the least of three
cpu() {
	for _ in 1 2 3; do
		{ time "$@" >"$dir/out" 2>"$dir/err"; } 2>&1 || { cat "$dir/err" >&2; exit 1; }
	done | awk '{ t = $1 + $2; if (NR == 1 || t < least) least = t } END { print least }'
}
# limit WHAT VALUE MOST: a line, and whether it holds
limit() {
	awk -v what="$1" -v v="$2" -v most="$3" 'BEGIN {
		printf "%-58s %8.2f  (at most %g)%s\n", what, v, most, (v > most ? "  WRONG" : ""); exit (v > most) }' || bad=1
}
for years in 1 10; do
	[ -e "$dir/$years.db" ] || "$scale" fill "$dir/$years.db" $years
	printf '%-58s %8s MB\n' "$years years of nights, $((years * 985500)) samples" $(($(stat -c %s "$dir/$years.db") / 1000000))
done
campaign() { sqlite3 -readonly "$dir/$1.db" 'SELECT id FROM campaigns ORDER BY created DESC LIMIT 1 OFFSET 30'; }
for command in 'compare --campaign' 'report --campaign' show; do
	# shellcheck disable=SC2086
	one=$(cpu "$kdelta" --db "$dir/1.db" $command "$(campaign 1)")
	# shellcheck disable=SC2086
	ten=$(cpu "$kdelta" --db "$dir/10.db" $command "$(campaign 10)")
	limit "${command% *} of one night: $one s, in ten years as many times" "$(awk "BEGIN { print $ten / $one }")" 1.5
done
limit 'history of a metric of one case, 3650 nights' "$(cpu "$kdelta" --db "$dir/10.db" history bench.m000 --case bench/groups=1)" 2
limit 'decision of a nightly, 3650 nights' "$(cpu "$scale" decide "$dir/10.db")" 1

# in: a year from another database, and its samples alone by sqlite3
rm -f "$dir/in.db" "$dir/rows.db"
sqlite3 -readonly -csv "$dir/1.db" 'SELECT * FROM samples' >"$dir/rows.csv"
merge=$( { time "$kdelta" -q --db "$dir/in.db" merge "$dir/1.db" >"$dir/out"; } 2>&1 | awk '{ print $1 + $2 }')
bare=$( { time sqlite3 "$dir/rows.db" 'CREATE TABLE samples (run_id INTEGER NOT NULL, metric_id INTEGER NOT NULL,
	value REAL NOT NULL, PRIMARY KEY (run_id, metric_id)) STRICT, WITHOUT ROWID' ".import --csv $dir/rows.csv samples"; } 2>&1 |
	awk '{ print $1 + $2 }')
[ "$(sqlite3 -readonly "$dir/in.db" 'SELECT count(*) FROM samples')" = "$(wc -l <"$dir/rows.csv")" ] || { echo 'samples were lost'; bad=1; }
printf '%-58s %8.0f\n' 'samples a second of CPU, merged with runs, texts, plan' "$(awk "BEGIN { print 985500 / $merge }")" \
	'samples a second of CPU, the bare rows by .import' "$(awk "BEGIN { print 985500 / $bare }")"
limit 'a merge takes longer than .import of its samples' "$(awk "BEGIN { print $merge / $bare }")" 2
cp "$dir/10.db" "$dir/care.db"
for command in check 'backup '"$dir/copy.db" 'prune --raw-older 1d --vacuum'; do
	rm -f "$dir/copy.db"
	# shellcheck disable=SC2086
	printf '%-58s %8s\n' "db ${command%% *}, 10 million samples, 547,350 raw outputs, s" \
		"$( { time "$kdelta" -q --db "$dir/care.db" db $command >"$dir/out"; } 2>&1 | awk '{ print $1 + $2 }')"
done
rm -f "$dir/care.db" "$dir/copy.db" "$dir/in.db" "$dir/rows.db" "$dir/rows.csv"
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines that the tests of the command line, of modules, parsers and tables execute, for each room;
# fails below 85 % in the rooms that compute. -l lists the files, the least covered first.
# Usage: O=build-cov tests/coverage.sh [-l] ROOM... (after such a build and its tests)
set -eu
list=no
[ "${1:-}" != -l ] || { list=yes; shift; }
least=85 bad=0
printf '%-15s %7s %7s %6s\n' room lines covered share
for room; do
	# "File 'core/err.c'", then "Lines executed:96.10% of 77"
	gcov -n "$O/$room"/*.gcda 2>/dev/null | awk -v room="$room" -v list=$list -v least=$least '
		/^File / { split($0, q, "\047"); file = q[2] }
		/^Lines executed:/ && index(file, room "/") == 1 && file !~ /\.h$/ {
			split($0, v, /[:%]| of /)
			lines += v[4]; got = v[2] * v[4] / 100; covered += got
			if (list == "yes") printf "    %5.1f %% of %4d %s\n", v[2], v[4], file | "sort -n"
			file = ""
		}
		END {
			close("sort -n")
			share = lines ? 100 * covered / lines : 0
			printf "%-15s %7d %7d %5.1f %%\n", room, lines, covered, share
			exit room ~ /^(core|stats|parsers|parsers\/tables|db|reports)$/ && share < least
		}' || bad=1
done
exit $bad

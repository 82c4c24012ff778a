#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes all man pages: those of commands from the program's tables, with what kdelta-COMMAND.inc
# adds; into the others come the commands, the keys of campaign files and the schema.
# Usage: man/make.sh KDELTA FOLDER
set -eu
kdelta=$1 to=$2
cd "$(dirname "$0")"
mkdir -p "$to"
for c in $("$kdelta" help -o words | grep -v '^--'); do
	"$kdelta" help -o man "$c" | sed "/^\.SH SEE ALSO/e cat kdelta-$c.inc 2>/dev/null || :" >"$to/kdelta-$c.1"
done
version=$("$kdelta" --version)
for page in *.[157]; do
	sed -e "s/@VERSION@/${version#kdelta }/" \
		-e "/^@SUMMARIES@$/{e '$kdelta' help -o man
			d}" \
		-e "/^@KEYS@$/{e '$kdelta' help -o keys
			d}" \
		-e "/^@SCHEMA@$/{e sed 's/\\\\\\\\/\\\\\\\\e/g; s/-/\\\\\\\\-/g' ../db/schema.sql
			d}" "$page" >"$to/$page"
done

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A git repository of a program with a noisy rate, and a campaign file for it; sourced after lib.sh.
export XDG_CACHE_HOME=$T/cache
export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.org GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.org GIT_CONFIG_GLOBAL=/dev/null
R=$T/repo

# repository: an empty one with the program; rate.sh prints the level with 1 % of noise
repository() {
	rm -rf "$R" && git init -q "$R"
	cat >"$R/rate.sh" <<'EOF'
#!/bin/bash
n=0
for ((i = 0; i < 12; i++)); do n=$((n + RANDOM % 1001)); done
echo "rate $((1000 * $(cat "${0%/*}/level") + (n - 6000) * $(cat "${0%/*}/level") / 100))"
echo end
EOF
	cat >"$R/Makefile" <<'EOF'
all: level
	@sh part.sh
EOF
	chmod +x "$R/rate.sh"
	echo true >"$R/part.sh"
}

# commit SUBJECT LEVEL [PART]: one more, that can be reverted; the build runs PART
commit() {
	echo "$2" >"$R/level"
	echo "${3:-true}" >"$R/part.sh"
	echo "$1" >"$R/${1// /-}"
	git -C "$R" add -A
	git -C "$R" commit -qm "$1"
}

# toy [LINES...]: the campaign file
toy() {
	cat >"$T/benchmarks/toy.yaml" <<'EOF'
benchmark: toy
description: prints a rate
program: sh
args: [-c, 'exec "$KDELTA_SOURCE/rate.sh"']
complete: ^end$
expected: "0.1"
metrics:
  rate: {unit: items/s, direction: higher, mean: hmean, role: headline, pattern: "^rate ([0-9.]+)$"}
EOF
	cat >"$T/toy.yaml" <<EOF
campaign: toy
repeat: 1
variants:
  - {name: template, source: {git: {repo: repo, ref: HEAD}, build: make -s, deadline: 5s}}
benchmarks:
  - toy: {}
EOF
}

# start ARGS...: of the toy
start() { run 0 bisect start --config "$T/toy.yaml" --repo "$R" "$@"; }

# rev SUBJECT: the full hash of a commit
rev() { git -C "$R" log --all --format=%H --grep "^$1\$"; }

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make demo` runs after the build: a comparison from recorded data, then the main job for
# real: two Debian kernels booted five times each, and kernel builds on this machine.
set -eu
kdelta=$(realpath "${KDELTA:-./kdelta}")
cd "$(dirname "$0")/.."

title() { printf '\n== %s\n\n' "$*"; }
now() { date +%s; }

title "1. A comparison from recorded data (kdelta demo)"
"$kdelta" demo

title "2. The main job: two kernels under QEMU (kdelta run configs/quickstart.yaml)"
t0=$(now)
"$kdelta" run configs/quickstart.yaml
t1=$(now)
"$kdelta" compare -o mail --campaign quickstart

title "3. Kernel builds on this machine (kdelta run configs/quickstart-build.yaml)"
"$kdelta" run configs/quickstart-build.yaml
t2=$(now)
"$kdelta" compare -o mail --campaign quickstart-build

title "Time: kernels $((t1 - t0)) s, builds $((t2 - t1)) s. The database is kept:"
"$kdelta" db path
echo "Next: \`kdelta list\`, \`kdelta compare --runs\`, \`kdelta init\` for a campaign of your own."

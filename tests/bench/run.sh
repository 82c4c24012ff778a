#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make bench` prints: error rates of the statistics and costs of the monitors against their
# limits, then times.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
"${O:-build}/tests/bench/stats" || bad=1
tree=$(mktemp -d)
python3 tests/trees/make.py server "$tree" && "${O:-build}/tests/bench/monitors" "$tree" || bad=1
rm -rf "$tree"
"${O:-build}/tests/bench/nights" || bad=1
"${O:-build}/tests/bench/nightly" || bad=1
bash tests/bench/compare.sh || bad=1
bash tests/bench/logs.sh || bad=1
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU time and memory of comparing ten packed tbench logs, 300,000 lines and, with a line for each
# client and pass of the load file as mmtests prints them, 1.2 million; beside `zcat | wc -l`.
set -eu
cd "$(dirname "$0")/../.."
kdelta=$(realpath "${KDELTA:-./kdelta}")
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 - "$kdelta" "$dir" <<'END'
import gzip, os, random, resource, subprocess, sys

kdelta, folder = sys.argv[1:]
random.seed(1)

def write(path, seconds, rate, passes):
    lines = ["dbench version 4.00 - Copyright Andrew Tridgell 1999-2004", "",
             "Running for %d seconds with load 'client.txt' and minimum warmup 0 secs" % seconds,
             "2 of 2 processes prepared for launch   0 sec", "releasing clients"]
    for i in range(1, seconds + 1):
        lines += ["%4d completed in %d ms" % (k, random.randrange(900, 1100))
                  for k in range(passes)]
        lines.append("   2 %9d %8.2f MB/sec  execute %3d sec  latency %.3f ms" %
                     (i * 3000, rate + random.random() * 5, i, 1 + random.random()))
    lines += ["   0  cleanup %3d sec" % (seconds + 1), "",
              "Throughput %.3f MB/sec  2 clients  2 procs  max_latency=3.139 ms" % (rate + 2)]
    with gzip.open(path, "wt", 1) as f:
        f.write("\n".join(lines) + "\n")

def cpu(args):
    """Seconds of CPU and MB of one run."""
    pid = os.posix_spawnp(args[0], args, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, use = os.wait4(pid, 0)
    if status:
        sys.exit("%s failed" % " ".join(args[:2]))
    return use.ru_utime + use.ru_stime, use.ru_maxrss / 1024

for title, seconds, passes in ("300,000 lines", 30000, 0), ("1.2 million lines", 1000, 120):
    sides = []
    for side, rate in ("old", 300), ("new", 310):
        sides.append([os.path.join(folder, "%s-%d-%d.log.gz" % (side, seconds, i)) for i in range(5)])
        for path in sides[-1]:
            write(path, seconds, rate, passes)
    base, _ = cpu(["sh", "-c", "zcat \"$@\" | wc -l", "sh"] + sides[0] + sides[1])
    took, mb = cpu([kdelta, "compare"] + sides[0] + ["--"] + sides[1])
    print("compare, tbench, %-18s %5.2f s of CPU (zcat | wc -l %.2f s), %3.0f MB; limits 1 s, 32 MB" %
          (title, took, base, mb))
END

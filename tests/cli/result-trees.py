#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small result trees of mmtests and LKP, made by hand, below the folder given."""
import gzip
import json
import os
import sys

top = sys.argv[1]

TBENCH = """tbench version 4.00 - Copyright Andrew Tridgell 1999-2004

Running for 2 seconds with load '/usr/share/dbench/client.txt' and minimum warmup 1 secs
   2     18868   %(v)s MB/sec  execute   1 sec  latency 9.736 ms
   2  cleanup   2 sec

Throughput %(v)s MB/sec  2 clients  2 procs  max_latency=9.736 ms
"""
HACKBENCH = """Running in %s mode with 4 groups using 40 file descriptors each (== %d tasks)
Each sender will pass 100 messages of 100 bytes
Time: %s
"""
SCHBENCH = """Latency percentiles (usec) runtime 8 (s) (152 total samples)
\t50.0th: 104 (76 samples)
\t75.0th: 7960 (38 samples)
\t90.0th: 12944 (23 samples)
\t95.0th: 16272 (8 samples)
\t*99.0th: 29920 (6 samples)
\t99.5th: 158976 (1 samples)
\t99.9th: 158976 (0 samples)
\tmin=12, max=158904
"""


def write(path, text):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as f:
        f.write(text.encode())


def hackbench(mode, groups, seconds):
    return HACKBENCH.replace("4 groups", "%d groups" % groups) % (mode, groups * 40, seconds)


def mmtests():
    for kernel, rate, time in ("5.17-vanilla", 300.5, 1.5), ("my patch", 330.5, 1.2):
        for i in range(2):
            top_dir = "work/log/%s/iter-%d/" % (kernel, i)
            write(top_dir + "tests-timestamp", "start :: 1645000000\n")
            if kernel == "5.17-vanilla":
                write(top_dir + "kconfig-5.17.0-rc1-default.txt.gz", "CONFIG_SMP=y\n")
            write(top_dir + "lscpu.txt", "Architecture: x86_64\nModel name:   Some CPU @ 2.00GHz\n")
            write(top_dir + "tbench4/logs/tbench-2.log", TBENCH % {"v": rate + 2 * i})
            write(top_dir + "dbench4/logs/dbench-2.log.gz",
                  (TBENCH % {"v": rate}).replace("tbench v", "dbench v"))
            write(top_dir + "hackbench-process-pipes/logs/hackbench-4",
                  "".join(hackbench("process", 4, round(time + 0.01 * i + 0.02 * k, 2))
                          for k in range(2)))
            write(top_dir + "schbench/logs/schbench-16.log", SCHBENCH)
            for k in range(2):
                write(top_dir + "kernbench/logs/kernbench-8-%d.time" % (k + 1),
                      "400.50user 30.25system 1:0%d.25elapsed 700%%CPU (0avgtext+0avgdata "
                      "57896maxresident)k\n0inputs+0outputs (0major+1minor)pagefaults 0swaps\n" % k)
    write("work/log/5.17-vanilla/iter-0/vmstat-tbench4.gz", "0 0 0\n")
    write("work/log/5.17-vanilla/iter-0/tbench4/logs/tbench-execute.log", "not a log by its name\n")
    write("work/log/5.17-vanilla/iter-0/tbench4/fine-profile-timer/tbench-2.log", TBENCH % {"v": 1})
    write("outside/logs/tbench-2.log", TBENCH % {"v": 5})
    os.symlink(os.path.join(top, "outside"), os.path.join(top, "work/log/5.17-vanilla/iter-0/linked"))


def mmtests_before():
    for kernel, time in ("3.0-base", 0.5), ("3.0-base-fix", 0.4):
        write("old/tests-timestamp-" + kernel, "start :: 1345000000\n")
        for k in range(2):
            text = hackbench("thread", 2, round(time + 0.01 * k, 2))
            if k and kernel.endswith("fix"):
                text = "Creating fdpair (error: Too many open files)\n"
            write("old/hackbench-thread-sockets-%s/noprofile/hackbench-2-%d" % (kernel, k + 1), text)
            write("old/kernbench-%s/noprofile/kernbench-8-%d.time" % (kernel, k + 1),
                  "400.50user 30.25system 1:0%d.25elapsed 700%%CPU (0avgtext+0avgdata "
                  "57896maxresident)k\n0inputs+0outputs (0major+1minor)pagefaults 0swaps\n" % k)


COMMITS = (("1" * 40, 100), ("2" * 40, 90))
PARAMS = "100%-process pipe"
TODAY = "hackbench/" + PARAMS + "/lkp-box1/debian-12/x86_64-rhel/gcc-12/"
BEFORE = "lkp-box1/hackbench/" + PARAMS + "/debian-12/x86_64-rhel/gcc-12/"


def stats(base, k):
    return {"hackbench.throughput": base + k, "hackbench.time.system_time": 12.5 + k,
            "vmstat.system.cs": 1e21 if k else 12345678901234567890123, "note": "text"}


def lkp(name, scheme, ext=""):
    for commit, base in COMMITS:
        for k in range(3):
            s = stats(base, k)
            if k == 1 and base == 100:
                s["only.once"] = 7
            if k < 2 and base == 90:
                s["dmesg.WARNING:at_x"] = 1
            write("%s/%s%s/%d/stats.json%s" % (name, scheme, commit, k, ext), json.dumps(s))
            write("%s/%s%s/%d/matrix.json%s" % (name, scheme, commit, k, ext), "{\"a.b\": [1]}")


mmtests()
mmtests_before()
lkp("result", TODAY)
lkp("before", BEFORE, ".gz")
lkp("failed", TODAY)
failed = os.path.join(top, "failed", TODAY, "2" * 40, "1")
os.remove(os.path.join(failed, "stats.json"))
for i in range(2):
    write("job/fio-basic/4k/lkp-box1/debian-12/x86_64-rhel/gcc-12/v6.1/%d/stats.json" % i,
          '{"fio.read_iops": %d}' % (1000 + i))
    write("job/fio-basic/4k/lkp-box1/debian-12/x86_64-rhel/gcc-12/v6.1/%d/job.yaml" % i,
          "suite: fio-basic\ntestcase: fio-basic\n")
for commit, base in COMMITS:
    runs = [stats(base, k) for k in range(3)]
    matrix = {key: [r[key] for r in runs] for key in ("hackbench.throughput",)}
    matrix["only.once"] = [0, 7, 0]
    if base == 90:
        matrix["last_state.is_incomplete_run"] = [0, 1, 0]
    matrix["note"] = ["a", "b", "c"]
    matrix["stats_source"] = ["/result/x/%d/stats.json" % k for k in range(3)]
    write("matrix/%s%s/matrix.json" % (TODAY, commit), json.dumps(matrix))
lkp("broken", TODAY)
write("broken/%s%s/2/stats.json" % (TODAY, "2" * 40), '{"hackbench.throughput": 1,')
lkp("list", TODAY)
write("list/%s%s/2/stats.json" % (TODAY, "2" * 40), "[1, 2]")
lkp("cut", TODAY, ".gz")
cut = os.path.join(top, "cut", TODAY, "2" * 40, "2", "stats.json.gz")
with open(cut, "rb") as f:
    data = f.read()
with open(cut, "wb") as f:
    f.write(data[:len(data) // 2])
write("loose/a/1/stats.json", '{"hackbench.throughput": 1}')

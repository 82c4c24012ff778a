#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a database for the tests of `report`: fixture.py SCENARIO FILE.

Units, directions and topics are those of `kdelta explain`. Numbers that look random come from a
fixed generator.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare"))
from fixture import Fixture, Noise  # noqa: E402

AIM7 = """
aim7.jobs-per-min 128000 151000 0.004
time.elapsed_time 281 238.2 0.004
time.system_time 29294 25093 0.005
time.voluntary_context_switches 3150464 2387551 0.01
time.percent_of_cpu_this_job_got 10655 10802 0.004
softirqs.SCHED 582269 258617 0.03
softirqs.RCU 993654 795962 0.02
softirqs.TIMER 15865125 13449000 0.01
cpuidle.C1-IVT.time 59366697 32017187 0.03
turbostat.%pc2 2.82 3.43 0.02
turbostat.RAM_W 15.75 15.21 0.004
vmstat.memory.free 6000000 6600000 0.001
interrupts.LOC:timer 4000000 4000000 0.001
meminfo.Slab 100000 100010 0.001
"""


def measured(f, table, runs=5, benchmark="aim7", **params):
    """A case of two variants; lines: metric, means of both sides ('-': none), spread."""
    noise = Noise(7)
    case = f.case(benchmark, params or {"test": "page_test"})
    values = {(v, b): {} for v in (1, 2) for b in range(1, runs + 1)}
    for line in table.strip().split("\n"):
        name, *means, spread = line.split()
        for v in (1, 2):
            if means[v - 1] == "-":
                continue
            for b in range(1, runs + 1):
                values[v, b][name] = float(means[v - 1]) * (1 + float(spread) * noise.normal())
    return case, values


def start(path, name="counted"):
    f = Fixture(path, name, backend="host", repeat=5)
    f.variant(0, "old", release="6.1.0", commit_id="9e36f1a2b3c4")
    f.variant(1, "new", description="sched: balance less", release="6.2.0",
              commit_id="143e1e28cb4a")
    return f


def store(f, case, values):
    for (v, b), metrics in values.items():
        f.run(v, case, b, metrics)
    return f


def same_work(path):
    """A fixed number of jobs done sooner: totals are the cost of the same work."""
    f = start(path)
    return store(f, *measured(f, AIM7))


def other_work(path):
    """A rate over a set time: what is consumed follows the work done."""
    f = start(path)
    return store(f, *measured(f, """
will-it-scale.per_process_ops 100000 112000 0.004
time.elapsed_time 300 300.1 0.0001
time.system_time 1000 1080 0.004
softirqs.RCU 50000 56000 0.004
proc-vmstat.pgfault 900000 1008000 0.004
""", benchmark="will-it-scale", test="page_fault1"))


def trouble(path):
    """What other tools get wrong: missing samples, failures, zero and negative bases."""
    f = start(path)
    case, values = measured(f, """
hackbench.time 10 10.02 0.003
time.voluntary_context_switches 30000 30000 0.002
turbostat.RAM_W 15 15 0.002
proc-vmstat.pgmigrate_fail 0 45 0.1
proc-vmstat.compact_stall 900 0 0.1
sched_debug.cfs_rq:/.load_avg.stddev -12 28 0.02
perf-stat.i.MPKI 0.0004 0.00052 0.01
proc-vmstat.thp_split_page 12 - 0.01
proc-vmstat.numa_miss - 400 0.01
softirqs.NET_RX 1000 30000 0.02
sched_debug.cfs_rq:/.a_name_that_somebody_made_much_longer_than.any_line_of_a_report_could_ever_be.stddev 10 20 0.01
""", benchmark="hackbench", groups=4)
    del values[2, 3]["time.voluntary_context_switches"]
    store(f, case, values)
    case, values = measured(f, "hackbench.time 40 39.9 0.003", benchmark="hackbench", groups=16)
    for (v, b), metrics in values.items():
        if v == 1:
            f.run(v, case, b, metrics)
        elif b <= 3:
            f.run(v, case, b, {}, outcome="error", error="hang", message="nothing for 60 s")
    for v, times in ((1, 0), (2, 4)):
        for b in range(1, 6):
            f.insert("samples", run_id=5 * (v - 1) + b, metric_id=f.metric("dmesg.WARNING:at_x"),
                     value=int(b <= times))
    return f


def icount(path, name="counts", counting=None, **campaign):
    """Instructions of four seeds: one worse by 5 %, one that is as it was to the last digit."""
    f = Fixture(path, name, **{"backend": "qemu", "accelerator": "icount", "repeat": 4, "seed": 1, **campaign})
    f.variant(0, "base", release="6.1.0", build_id="01d2640d3a13", commit_id="9e36f1a2b3c4")
    f.variant(1, "loop100", release="6.1.0", build_id="6a2b4ac77585", commit_id="143e1e28cb4a")
    if campaign.get("accelerator") != "tcg":
        f.insert("facts", scope="campaign", scope_id=f.campaign, key="counting",
                 value=counting or "QEMU 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18), q35, cpu max, memory 512M, icount "
                 "shift=0,sleep=off, rtc base=2024-01-01T00:00:00,clock=vm, programs 0123456789abcdef")
    ping = f.case("pipepong", {"rounds": 10000}, [], "pipepong -n 10000")
    hack = f.case("hackbench", {"groups": 1, "loops": 500}, [], "hackbench -g 1 -T -p -l 500 -f 4")
    for seed, (a, b, switches) in enumerate((
            (122443.385, 128951.102, 13870), (122460.117, 128977.411, 13871),
            (122431.950, 128940.008, 13869), (122455.042, 128969.733, 13870)), 1):
        for variant, value in (1, a), (2, b):
            f.run(variant, ping, seed, {"pipepong.kinsn": value, "pipepong.kinsn_switches": switches})
            f.run(variant, hack, seed, {"hackbench.kinsn": 33260.048 + seed, "hackbench.kinsn_switches": 1686})
    f.db.execute("UPDATE metrics SET mean_kind = 'median'")
    return f


def times(path):
    """The same kernels and benchmarks, measured with a clock."""
    return icount(path, "times", accelerator="tcg")


def other_counts(path):
    """Counted under another QEMU."""
    return icount(path, "others", counting="QEMU 9.2.0, q35, cpu max, memory 512M")


def nothing(path):
    """One unchanged case of a benchmark that has no headline."""
    f = start(path)
    return store(f, *measured(f, "softirqs.RCU 1000 1000 0.001", benchmark="spin", loops=3))


def words(f, path):
    """Migrates the database and gives its metrics the words of metrics.yaml."""
    kdelta = os.environ["KDELTA"]
    subprocess.run([kdelta, "-q", "--db", path, "list"], check=True, stdout=subprocess.DEVNULL)
    import sqlite3
    db = sqlite3.connect(path)
    for name, in db.execute("SELECT name FROM metrics").fetchall():
        out = subprocess.run([kdelta, "explain", "--json", name], check=True,
                             capture_output=True, text=True).stdout
        m = json.loads(out)["entries"][0]
        db.execute("UPDATE metrics SET unit = ?, direction = ?, topic = ?, role = ?, deterministic = ? WHERE name = ?",
                   ("" if m["unit"] == "mixed" else m["unit"], m["direction"], m["topic"],
                    m["role"], m["deterministic"], name))
    db.commit()


if __name__ == "__main__":
    fixture = globals()[sys.argv[1].replace("-", "_")](sys.argv[2])
    fixture.close()
    words(fixture, sys.argv[2])

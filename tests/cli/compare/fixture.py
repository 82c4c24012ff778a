#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a database for the tests of `compare`: fixture.py SCENARIO FILE.

Scenarios are functions below. Numbers that look random come from a fixed generator.
"""
import json
import os
import sqlite3
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
CREATED = 1796000000  # 2026-11-30

METRICS = {
    "tbench.throughput": ("MB/s", "higher", "hmean", "headline"),
    "tbench.max_latency": ("ms", "lower", "amean", "counter"),
    "hackbench.time": ("s", "lower", "amean", "headline"),
    "wakebench.wakeup.p99": ("us", "lower", "amean", "headline"),
    "wakebench.request.p99": ("us", "lower", "amean", "headline"),
    "wakebench.average_rps": ("req/s", "higher", "hmean", "headline"),
    "kernbench.real": ("s", "lower", "amean", "headline"),
    "kernbench.user": ("s", "lower", "amean", "counter"),
    "kernbench.sys": ("s", "lower", "amean", "counter"),
    "unixbench.index": ("", "higher", "amean", "headline"),
}


class Noise:
    """A small generator that gives the same numbers everywhere; roughly normal."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**53

    def normal(self):
        return sum(self.uniform() for _ in range(12)) - 6


class Fixture:
    def __init__(self, path, name, kind="run", unit="boot", machine="4 CPUs, one node, 8 GiB",
                 **campaign):
        if os.path.exists(path):
            os.unlink(path)
        self.db = sqlite3.connect(path)
        with open(os.path.join(ROOT, "db", "schema.sql"), encoding="utf-8") as f:
            self.db.executescript(f.read())
        self.db.execute("PRAGMA user_version = 1")
        self.campaign = name + "-20261130-1"
        if machine:
            self.insert("machines", id=1, fingerprint="m1", name="box", description=machine)
        self.insert("campaigns", id=self.campaign, name=name, kind=kind, created=CREATED,
                    ended=CREATED + 900, unit=unit, machine_id=1 if machine else None, **campaign)
        self.metrics = {}
        self.cases = {}
        self.seq = 0

    def insert(self, table, **row):
        cur = self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            table, ", ".join(row), ", ".join("?" * len(row))), list(row.values()))
        return cur.lastrowid

    def variant(self, position, name, description="", settings=None, **kernel):
        kernel_id = None
        if kernel:
            kernel_id = self.insert("kernels", identity="k%d" % position, **kernel)
        v = self.insert("variants", identity="%08x" % (0xabc0 + position), kernel_id=kernel_id,
                        settings=json.dumps(settings or {}))
        self.insert("campaign_variants", campaign_id=self.campaign, variant_id=v,
                    position=position, name=name, description=description,
                    baseline=position == 0)
        return v

    def case(self, benchmark, params, swept=None, command=""):
        name = "/".join([benchmark] + ["%s=%s" % (k, str(v).replace(" ", "") if k == "bind" else v)
                                       for k, v in params.items()])
        if name not in self.cases:
            self.cases[name] = self.insert(
                "test_cases", identity=name, benchmark=benchmark, name=name,
                params=json.dumps(params),
                swept=json.dumps(list(params) if swept is None else swept), command=command)
            self.insert("campaign_cases", campaign_id=self.campaign, case_id=self.cases[name],
                        position=len(self.cases))
        return self.cases[name]

    def metric(self, name):
        if name not in self.metrics:
            unit, direction, mean, role = METRICS.get(name, ("", "unknown", "amean", "headline"))
            self.metrics[name] = self.insert("metrics", name=name, unit=unit, direction=direction,
                                             mean_kind=mean, role=role)
        return self.metrics[name]

    def run(self, variant, case, block, values, outcome="ok", error=None, message=None):
        self.seq += 1
        cell = self.insert("cells", campaign_id=self.campaign, seq=self.seq, block=block,
                           variant_id=variant, case_id=case,
                           state="done" if outcome == "ok" else "failed")
        boot = self.insert("boots", campaign_id=self.campaign, variant_id=variant, block=block,
                           started=CREATED)
        r = self.insert("runs", campaign_id=self.campaign, variant_id=variant, case_id=case,
                        cell_id=cell, boot_id=boot, block=block, started=CREATED + self.seq,
                        outcome=outcome, error=error, message=message)
        for name, value in values.items():
            self.insert("samples", run_id=r, metric_id=self.metric(name), value=value)

    def planned(self, variant, case, block):
        self.seq += 1
        self.insert("cells", campaign_id=self.campaign, seq=self.seq, block=block,
                    variant_id=variant, case_id=case)

    def summary(self, variant, case, metric, text, change, mark):
        self.insert("summaries", campaign_id=self.campaign, variant_id=variant, case_id=case,
                    metric_id=self.metric(metric), mean=float(text), mean_text=text,
                    mean_kind="Hmean", change=change, change_sign="better", mark=mark)

    def close(self):
        self.db.commit()
        self.db.close()


# tbench throughput of five kernels at ten loads and two bindings: a table as posted, figures only
FIVE = {
    "numa 0&1": """
1 320.01 318.03 -0.62 357.15 11.61 375.43 17.32 378.44 18.26
2 643.85 637.74 -0.95 714.36 10.95 745.82 15.84 752.52 16.88
4 1287.36 1285.20 -0.17 1431.35 11.18 1481.71 15.10 1505.62 16.95
8 2564.60 2551.02 -0.53 2812.74 9.68 2921.51 13.92 2955.29 15.23
16 5195.69 5163.39 -0.62 5583.28 7.46 5726.08 10.21 5814.74 11.91
32 9769.16 9815.63 0.48 10518.35 7.67 10852.89 11.09 10872.63 11.30
64 15952.50 15780.41 -1.08 10608.36 -33.50 17503.42 9.72 17281.98 8.33
128 13113.77 12000.12 -8.49 13095.50 -0.14 13991.90 6.70 13895.20 5.96
256 10997.59 12229.20 11.20 11902.60 8.23 12214.29 11.06 11244.69 2.25
512 14623.60 15863.25 8.48 14103.38 -3.56 16422.56 12.30 15526.25 6.17
""",
    "numa 0 only": """
1 324.73 330.96 1.92 358.97 10.54 376.05 15.80 378.01 16.41
2 645.36 643.13 -0.35 710.78 10.14 744.34 15.34 754.63 16.93
4 1302.09 1297.11 -0.38 1425.22 9.46 1484.92 14.04 1507.54 15.78
8 2612.03 2623.60 0.44 2843.15 8.85 2937.81 12.47 2982.57 14.19
16 5307.12 5304.14 -0.06 5610.46 5.72 5763.24 8.59 5886.66 10.92
32 9354.22 9738.21 4.11 9360.21 0.06 9699.05 3.69 9908.13 5.92
64 7240.35 7210.75 -0.41 6992.70 -3.42 7321.52 1.12 7278.78 0.53
128 6186.40 6314.89 2.08 6166.44 -0.32 6279.85 1.51 6187.85 0.02
256 9231.40 9469.26 2.58 9134.42 -1.05 9322.88 0.99 9448.61 2.35
512 8907.13 9130.46 2.51 9023.87 1.31 9276.19 4.14 9397.22 5.50
""",
}
STACK = [
    ("5.17-rc1", "vanilla"),
    ("rc1 + overload", "A + the overload patch"),
    ("rc1+overload+set", "B + the patchset"),
    ("rc1+overload+set-pingpong", "C without the code avoiding ping-pong"),
    ("rc1+set", "A + the patchset"),
]


def five(path):
    f = Fixture(path, "five", kind="import", unit="run", machine=None,
                source="five.txt, a table without runs and spread")
    variants = [f.variant(i, *v) for i, v in enumerate(STACK)]
    for where, table in FIVE.items():
        for line in table.split("\n"):
            if not line:
                continue
            words = line.split()
            case = f.case("tbench", {"clients": int(words[0]), "bind": where})
            f.summary(variants[0], case, "tbench.throughput", words[1], 0.0, 0)
            for i in range(1, 5):
                change = float(words[2 * i + 1])
                f.summary(variants[i], case, "tbench.throughput", words[2 * i], change,
                          change != 0.02)
    return f


def tested(path, n_variants=5, repeats=5, names=None, benchmark="tbench",
           clients=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512), gone=()):
    f = Fixture(path, "tested", backend="host", repeat=repeats)
    noise = Noise(42)
    variants = [f.variant(i, (names or [])[i] if names else "6.%d" % (i + 1),
                          release="6.%d.0" % (i + 1), build_id="%040x" % ((0xfee1 + i) << 144))
                for i in range(n_variants)]
    effects = [0, 0.08, -0.05, 0.0, 0.006, 0.03, -0.02, 0.0, 0.1, 0.0, -0.1, 0.02]
    for clients_n in clients:
        case = f.case(benchmark, {"clients": clients_n},
                      command="%s -t 60 %d 127.0.0.1" % (benchmark, clients_n))
        base = 320 * clients_n / (1 + (clients_n / 60) ** 1.2)
        for block in range(1, repeats + 1):
            for i, v in enumerate(variants):
                value = base * (1 + effects[i % 12]) * (1 + 0.003 * noise.normal())
                if (i, clients_n) in gone:
                    f.run(v, case, block, {}, outcome="error", error="panic",
                          message="the kernel panicked")
                else:
                    f.run(v, case, block, {benchmark + ".throughput": round(value, 3),
                                           benchmark + ".max_latency": round(9 + noise.uniform(), 3)})
    return f


def twelve(path):
    return tested(path, n_variants=12, clients=(1, 4, 16, 64))


def forty(path):
    return tested(path, n_variants=2, clients=range(1, 41))


def failures(path):
    return tested(path, n_variants=3, clients=(1, 2, 4),
                  gone={(1, 2), (2, 1), (2, 2), (2, 4)})


def pair_failures(path):
    f = tested(path, n_variants=2, clients=(1, 2, 4), gone={(1, 2)})
    case = f.cases["tbench/clients=1"]
    f.run(2, case, 5, {}, outcome="suspect", message="the clock jumped")
    f.run(2, case, 5, {}, outcome="error", error="hang", message="nothing for 60 s")
    return f


# odd names: blanks, control characters, other scripts, no UTF-8, ends like headers of a mail
ODD = [
    "From: me\nSubject: you",
    "a very long name of a kernel that somebody typed without thinking of any table "
    "or of whoever would have to read it in the end, with the flavour and the date behind it",
    "\u0441\u0435\u0440\u0433\u0435\u0439-\u00b5arch \u00b1 \u201cquoted\u201d \u2013 5\u00d7",
    "tab\there\x1b[31mred",
    "--- a/file",
    "x" * 90,
]


def odd(path):
    f = tested(path, n_variants=6, names=ODD, clients=(1, 2), benchmark="diff")
    f.metric("diff.throughput")
    case = f.case("diff", {"clients": 3, "mode": "# \u00b5 " + "very long value of a parameter " * 3})
    for v in range(1, 7):
        for block in range(1, 6):
            f.run(v, case, block, {"diff.throughput": 100.0 + block + v})
    return f


# names that would be commands, macros, formats or markup of gnuplot, or end its data; a name that is
# executed leaves the file `pwned`
COMMANDS = [
    'system "touch pwned"',
    "`touch pwned` $(touch pwned)",
    "'.system('touch pwned').'",
    "END_TEXT",
    "@x {/Bold a^b_c} &{x} 100% %s%n%99999d \\n \\101",
    'a"\n!touch pwned\nEND\nsystem \'touch pwned\'',
]


def commands(path):
    f = tested(path, n_variants=6, names=COMMANDS, clients=(1, 2), benchmark="`touch pwned`")
    case = f.case("`touch pwned`", {"clients": 4, "`touch pwned`": COMMANDS[4]})
    for v in range(1, 7):
        for block in range(1, 6):
            f.run(v, case, block, {"`touch pwned`.'.system('touch pwned').'": 100.0 + block + v,
                                   "`touch pwned`.lat`touch pwned`.p50": 10.0 + v,
                                   "`touch pwned`.lat`touch pwned`.p99": 100.0 + v})
    for r, in f.db.execute("SELECT id FROM runs").fetchall():
        for t in range(3):
            f.insert("series", run_id=r, metric_id=f.metric("`touch pwned`.throughput"), t=t, value=r + t)
    f.db.execute("UPDATE metrics SET unit = ?", (COMMANDS[2],))
    f.db.execute("UPDATE machines SET description = ?", (COMMANDS[0],))
    return f


def nights(path):
    """The same kernel on five nights, with another one in each, which is 4 % slower from the fourth."""
    f = Fixture(path, "night", backend="host", repeat=5)
    noise = Noise(3)
    base = f.variant(0, "6.1", release="6.1.0")
    case = f.case("hackbench", {"groups": 4})
    for night in range(5):
        name = "night-%d" % night
        f.insert("campaigns", id=name, name=name, kind="run", created=CREATED + (night - 4) * 86400,
                 ended=CREATED, unit="boot", machine_id=1, backend="host", repeat=5)
        f.insert("campaign_cases", campaign_id=name, case_id=case, position=1)
        f.campaign = name
        f.insert("campaign_variants", campaign_id=name, variant_id=base, position=0, name="6.1",
                 baseline=True)
        other = f.variant(night + 1, "next-%d" % night, release="6.2.%d" % night)
        for block in range(1, 6):
            for v, factor in ((base, 1), (other, 1.04 if night > 2 else 1)):
                f.run(v, case, block, {"hackbench.time": round(
                    4 * factor * (1 + 0.004 * noise.normal()), 4)})
    f.db.execute("DELETE FROM campaign_variants WHERE campaign_id LIKE 'night-2026%'")
    f.db.execute("DELETE FROM campaign_cases WHERE campaign_id LIKE 'night-2026%'")
    f.db.execute("DELETE FROM campaigns WHERE id LIKE 'night-2026%'")
    return f


def odd_pair(path):
    f = tested(path, n_variants=2, names=["Fixes: old", "> new"], clients=(1,), benchmark="From ")
    case = f.case("From ", {"clients": 2, "name": "y" * 100})
    for v in (1, 2):
        for block in range(1, 6):
            f.run(v, case, block, {"From .throughput": 12345678.25 * (1 + block * 0.001) + v})
    return f


def edges(path):
    """Every cell that has no number to print, and some that nearly have none."""
    f = Fixture(path, "edges", unit="run", backend="host", repeat=3)
    for name, direction in (("zero", "lower"), ("negative", "higher"), ("left", "higher"),
                            ("right", "lower"), ("huge", "higher"), ("constant", "neutral")):
        METRICS["edge." + name] = ("units", direction, "amean", "headline")
    METRICS["edge.count"] = ("", "unknown", "amean", "counter")
    a, b = f.variant(0, "a"), f.variant(1, "b")
    case = f.case("edge", {"n": 1}, command="edge -n 1")
    for block in range(1, 4):
        f.run(a, case, block, {"edge.zero": 0.0, "edge.negative": -5.0 - block, "edge.left": 7.0 + block,
                               "edge.huge": 1e300 * block, "edge.constant": 3.0, "edge.count": block})
        f.run(b, case, block, {"edge.zero": float(block), "edge.negative": -4.0 + block,
                               "edge.right": 1e-9 * block, "edge.huge": 2e300 * block,
                               "edge.constant": 3.0, "edge.count": 0})
    dead = f.case("edge", {"n": 2}, command="edge -n 2")
    half_dead = f.case("edge", {"n": 3}, command="edge -n 3")
    for block in range(1, 4):
        for v in (a, b):
            f.run(v, dead, block, {}, outcome="error", error="timeout", message="no end in 60 s")
    f.run(a, half_dead, 1, {"edge.left": 1.0})
    f.run(b, half_dead, 1, {}, outcome="partial", error="incomplete", message="cut")
    return f


HOSTILE = [
    "\"><script>alert(1)</script>",
    "'; </script><!-- &amp; <img src=x onerror=alert(1)>",
    "\u202eevil\u2066 \u05d0\u05d1 \x01\x1b[0m \u200bzero",
]


def hostile(path):
    f = Fixture(path, "hostile", backend="host", repeat=5)
    METRICS["h<b>.t&\"'"] = ("<i>s</i>", "lower", "amean", "headline")
    variants = [f.variant(i, name, description="</td>" + name, settings={"cmdline": "a=<b> \"" + name})
                for i, name in enumerate(HOSTILE)]
    case = f.case("h<b>", {"x\"<": "</th>\u202e"}, command="run '</pre>' && \"</script>\"\n\tsecond")
    for block in range(1, 6):
        for i, v in enumerate(variants):
            f.run(v, case, block, {"h<b>.t&\"'": 100.0 + block + 10 * i})
    f.run(variants[1], case, 6, {}, outcome="error", error="<class>", message="</small><script>")
    return f


def half(path):
    f = Fixture(path, "half", backend="qemu", accelerator="tcg", repeat=5)
    f.db.execute("UPDATE campaigns SET ended = NULL")
    noise = Noise(7)
    variants = [f.variant(0, "6.1", release="6.1.0-57-cloud-amd64", build_id="a1b2" * 10,
                          source="deb linux-image-6.1.0-57-cloud-amd64 6.1.192-3"),
                f.variant(1, "6.12", release="6.12.30+bpo-cloud-amd64", build_id="c3d4" * 10,
                          settings={"sysctl": {"kernel.sched_autogroup_enabled": "0"}})]
    cases = [f.case("tbench", {"clients": c}, command="tbench -t 5 %d 127.0.0.1" % c)
             for c in (1, 2)]
    for block in range(1, 6):
        for i, v in enumerate(variants):
            for j, case in enumerate(cases):
                value = 300 * (j + 1) * (1 + 0.05 * i) * (1 + 0.004 * noise.normal())
                if block < 3 or (block == 3 and i == 0):
                    f.run(v, case, block, {"tbench.throughput": round(value, 2)})
                else:
                    f.planned(v, case, block)
    return f


def quick(path):
    f = Fixture(path, "quick", backend="qemu", accelerator="tcg", repeat=5,
                machine="2 CPUs, 24 GiB")
    noise = Noise(11)
    variants = [f.variant(0, "6.1", release="6.1.0-57-cloud-amd64", build_id="a1b2" * 10),
                f.variant(1, "6.12", release="6.12.30+bpo-cloud-amd64", build_id="c3d4" * 10)]
    rows = [("tbench", {"clients": 1}, {"tbench.throughput": (300, 0.09)}),
            ("tbench", {"clients": 2}, {"tbench.throughput": (290, 0.05)}),
            ("hackbench", {"mode": "process"}, {"hackbench.time": (4.1, -0.03)}),
            ("hackbench", {"mode": "thread"}, {"hackbench.time": (4.4, 0.06)}),
            ("wakebench", {}, {"wakebench.wakeup.p99": (812, 0.2),
                               "wakebench.request.p99": (31000, 0.0),
                               "wakebench.average_rps": (96, 0.004)})]
    for benchmark, params, metrics in rows:
        case = f.case(benchmark, params, command="%s %s" % (
            benchmark, " ".join("--%s %s" % p for p in params.items())))
        for block in range(1, 6):
            for i, v in enumerate(variants):
                f.run(v, case, block, {
                    m: round(base * (1 + effect * i) * (1 + 0.006 * noise.normal()), 3)
                    for m, (base, effect) in metrics.items()})
    return f


# seconds of 7 kernel builds a side, in the order listed
BUILDS = {
    "w/o patch": {
        "real": "79.510 77.303 79.583 77.819 76.763 78.551 78.154",
        "user": "1934.133 1934.128 1933.205 1931.753 1935.607 1938.521 1934.540",
        "sys": "278.198 280.094 280.696 281.371 281.297 281.392 280.364",
    },
    "w/ patch": {
        "real": "77.644 75.855 78.918 80.329 77.773 74.943 76.439",
        "user": "1932.074 1927.700 1933.352 1927.255 1939.912 1934.549 1932.864",
        "sys": "275.827 275.868 280.161 276.706 276.989 278.670 279.424",
    },
}
UNEQUAL = {
    "clean": {
        "real": "158.574 157.647 157.832",
        "user": "2778.387 2794.171 2794.910",
        "sys": "368.724 371.993 372.013",
    },
    "patched": {"real": "160.072", "user": "2782.610", "sys": "366.658"},
}


def builds(path, data=None, command="make clean; make Image -j100"):
    f = Fixture(path, "builds", kind="import", unit="run", machine="4 nodes x 32 CPUs",
                source="builds.txt")
    data = data or BUILDS
    case = f.case("kernbench", {"jobs": 100}, swept=[], command=command)
    for name, metrics in data.items():
        v = f.variant(list(data).index(name), name)
        columns = [[float(x) for x in text.split()] for text in metrics.values()]
        for block, values in enumerate(zip(*columns), 1):
            f.run(v, case, block, {"kernbench." + m: x for m, x in zip(metrics, values)})
    f.db.execute("DELETE FROM cells")
    return f


def unequal(path):
    return builds(path, UNEQUAL, "make clean; make -j64")


def three(path):
    f = Fixture(path, "three", kind="import", unit="run", source="unixbench.txt")
    case = f.case("unixbench", {}, command="./Run spawn")
    for i, values in enumerate(((1228.6, 1231.4, 1226.1), (1254.9, 1265.7, 1266.1))):
        v = f.variant(i, ("without", "with")[i])
        for block, value in enumerate(values, 1):
            f.run(v, case, block, {"unixbench.index": value})
    return f


def stated(path):
    """A posted table that states mean, deviation and n, for one row without the latter."""
    f = Fixture(path, "stated", kind="import", unit="run", machine=None, source="stated.txt")
    variants = [f.variant(0, "before"), f.variant(1, "after")]
    for jobs, means, n in ((1, (81.20, 79.02), 10), (2, (44.75, 44.81), 10), (4, (25.31, 24.1), None)):
        case = f.case("hackbench", {"jobs": jobs})
        for v, mean in zip(variants, means):
            f.insert("summaries", campaign_id=f.campaign, variant_id=v, case_id=case,
                     metric_id=f.metric("hackbench.time"), mean=mean, mean_text="%.2f" % mean,
                     mean_kind="amean", deviation=0.01 * mean, deviation_kind="stddev", n=n)
    return f


def other_campaign(f, name, case, created, backend, spread):
    """Eight boots of each variant; far apart, as what a kernel changed is not its noise."""
    f.campaign = name
    f.insert("campaigns", id=name, name=name, kind="run", created=created, ended=created + 900,
             unit="boot", machine_id=1, backend=backend, repeat=8)
    f.insert("campaign_cases", campaign_id=name, case_id=case, position=1)
    noise = Noise(5)
    for v in (1, 2):
        f.insert("campaign_variants", campaign_id=name, variant_id=v, position=v - 1,
                 name="6.%d" % v, baseline=v == 1)
        for block in range(1, 9):
            value = 200 * v * (1 + spread * noise.normal())
            f.run(v, case, block, {"tbench.throughput": value})


def history(path):
    """Three boots a side of two loads. One was measured before; the other later, or elsewhere."""
    f = tested(path, n_variants=2, repeats=3, clients=(1, 2))
    one, two = f.cases.values()
    other_campaign(f, "old", one, CREATED - 86400, "host", 0.003)
    other_campaign(f, "old-qemu", two, CREATED - 86400, "qemu", 0.003)
    other_campaign(f, "next", one, CREATED + 86400, "host", 0.2)
    other_campaign(f, "next-two", two, CREATED + 86400, "host", 0.003)
    return f


def arms(path):
    """Six loads whose boots are 3 % apart whatever runs: C is A under another name."""
    f = Fixture(path, "arms")
    noise = Noise(11)
    a = f.variant(0, "6.1", release="6.1.0")
    b = f.variant(1, "6.2", release="6.2.0")
    c = f.variant(2, "again", settings={"same_as": "%08x" % 0xabc0})
    for clients in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        case = f.case("tbench", {"clients": clients})
        for v, factor in ((a, 1), (b, 1.03), (c, 1)):
            boots = 1 + 0.025 * noise.normal()
            for block in range(1, 6):
                f.run(v, case, block, {"tbench.throughput":
                                       300 * clients * factor * boots * (1 + 0.002 * noise.normal())})
    return f


def looks(path):
    """Ten blocks after two looks; everything slows down by a tenth on the way, B is 4 % faster."""
    f = Fixture(path, "looks")
    noise = Noise(12)
    f.insert("facts", scope="campaign", scope_id=f.campaign, key="design", value="until-sure")
    f.insert("facts", scope="campaign", scope_id=f.campaign, key="stop",
             value="every headline row is settled after look 2 (10 boots a side)")
    a = f.variant(0, "6.1", release="6.1.0")
    b = f.variant(1, "6.2", release="6.2.0")
    case = f.case("hackbench", {"groups": 4})
    for block in range(1, 11):
        for v, factor in ((a, 1), (b, 0.96)):
            f.run(v, case, block, {"hackbench.time": 4 * factor * (1 + 0.01 * block) *
                                   (1 + 0.003 * noise.normal())})
    for run, key, value in ((3, "stalls", "2 of 60"), (4, "drift", "-0.12"), (6, "stalls", "1 of 60"),
                            (8, "stalls", "1 of 60"), (7, "warm_up", "-0.08")):
        f.insert("facts", scope="run", scope_id=str(run), key="series.%s.time" % key, value=value)
    return f


def seeds(path):
    """Counted instructions: equal, one seed, all one way by less than the threshold, both ways."""
    f = Fixture(path, "seeds")
    a = f.variant(0, "6.1", release="6.1.0")
    b = f.variant(1, "6.2", release="6.2.0")
    for name, ratios in (("equal", (1, 1, 1, 1)), ("one", (1.004,)), ("far", (1.03,)),
                         ("small", (1.004, 1.005, 1.003, 1.004)),
                         ("both", (1.004, 0.997, 1.003, 1.004))):
        case = f.case("icount", {"work": name})
        for block, ratio in enumerate(ratios, 1):
            for v, factor in ((a, 1), (b, ratio)):
                f.run(v, case, block, {"icount.instructions": (2000000 + 7000 * block) * factor})
    f.db.commit()
    subprocess.run([os.environ["KDELTA"], "--db", path, "list"], check=True, capture_output=True)
    f.db.execute("UPDATE metrics SET deterministic = 1, direction = 'lower'")
    return f


def many_counters(path):
    """One headline and fifty counters, of which every tenth changed by a tenth."""
    f = Fixture(path, "many")
    noise = Noise(3)
    a = f.variant(0, "old", release="6.1.0")
    b = f.variant(1, "new", release="6.2.0")
    case = f.case("hackbench", {"groups": 4})
    for v in (a, b):
        for block in range(1, 6):
            values = {"hackbench.time": 10 * (1 + 0.01 * noise.normal())}
            for i in range(50):
                factor = 1.1 if v == b and i % 10 == 0 else 1
                values["counted.m%d" % i] = (1000 + i) * factor * (1 + 0.01 * noise.normal())
            f.run(v, case, block, values)
    f.db.execute("UPDATE metrics SET role = 'counter' WHERE name LIKE 'counted.%'")
    return f


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](sys.argv[2]).close()

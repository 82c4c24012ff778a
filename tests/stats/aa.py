#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A/A campaigns through the whole program: aa.py CAMPAIGNS FOLDER, with $KDELTA.

Every campaign is a folder of raw tbench logs of five variants that are one and the same: ten client
counts, five runs each, so 40 cells against the baseline. Runs differ by 0.5 %, seconds of a run by
1 %; the per-second lines are running averages, as tbench prints them, and the closing line repeats
the last one. Every twentieth campaign has a file for each run, the others one for each variant.

Beside it, what mmtests (2022) marks on the same lines: Welch's test at 0.1 % with every per-second
line as a sample of its own.
"""
import json
import math
import operator
import os
import random
import subprocess
import sys

SECONDS = 15
RUNS = 5
CLIENTS = [1 << k for k in range(10)]
VARIANTS = "abcde"
MOST_CELLS, MOST_TABLES = 0.06, 0.09


def template(clients):
    text = ("dbench version 4.00 - Copyright Andrew Tridgell 1999-2004\n\n"
            "Running for %d seconds with load 'client.txt' and minimum warmup %d secs\n"
            "%d of %d processes prepared for launch   0 sec\n"
            "releasing clients\n" % (SECONDS, SECONDS / 5, clients, clients))
    for t in range(1, SECONDS):
        text += "%4d %9d %%8.2f MB/sec  execute %3d sec  latency 1.500 ms\n" % (
            clients, 35000 * t, t)
    return text + ("%4d  cleanup %3d sec\n\n"
                   "Throughput %%g MB/sec  %d clients  %d procs  max_latency=9.163 ms\n" % (
                       clients, SECONDS, clients, clients))


def run(level, gauss):
    """Running averages of one run."""
    rate = level * (1 + 0.005 * gauss(0, 1))
    total = 0
    lines = []
    for t in range(1, SECONDS):
        total += rate * (1 + 0.01 * gauss(0, 1))
        lines.append(total / t)
    return lines


def moments(lines):
    """Harmonic mean, square of its standard error, number of lines."""
    n = len(lines)
    mean = sum(lines) / n
    variance = (sum(map(operator.mul, lines, lines)) - n * mean * mean) / (n - 1)
    return n / sum(map((1.0).__truediv__, lines)), variance / n, n


def star(x, y):
    """Whether mmtests (2022) stars y against x, both moments."""
    (mx, vx, nx), (my, vy, ny) = x, y
    k = (vx + vy) ** 2 / (vx ** 2 / (nx - 1) + vy ** 2 / (ny - 1))
    z = 3.2905
    return abs(mx - my) / math.sqrt(vx + vy) > z + (z ** 3 + z) / (4 * k)


def write(folder, single, gauss, templates):
    """One campaign; returns the stars with one run and with all."""
    one, all_runs = {}, {}
    for v in VARIANTS:
        os.makedirs(os.path.join(folder, v))
        texts = []
        for k, t in enumerate(templates):
            runs = [run(300 + 250 * k, gauss) for _ in range(RUNS)]
            one[v, k] = moments(runs[0])
            all_runs[v, k] = moments(sum(runs, []))
            texts += [t % tuple(r + r[-1:]) for r in runs]
        for i, text in enumerate(texts if single else ["".join(texts)]):
            with open(os.path.join(folder, v, "%03d.log" % i), "w", encoding="ascii") as f:
                f.write(text)
    return [sum(star(m["a", k], m[v, k]) for v in VARIANTS[1:] for k in range(len(templates)))
            for m in (one, all_runs)]


def main(n, folder):
    gauss = random.Random(20260217).gauss
    kdelta = os.environ["KDELTA"]
    base = [kdelta, "-q", "--db", os.path.join(folder, "aa.db")]
    templates = [template(c) for c in CLIENTS]
    names = ["aa%03d" % i for i in range(n)]
    stars = [write(os.path.join(folder, name), i % 20 == 0, gauss, templates)
             for i, name in enumerate(names)]
    subprocess.run(base + ["import"] + [os.path.join(folder, name) for name in names], check=True)
    cells = low = tables = 0
    tests = set()
    for name in names:
        out = subprocess.run(base + ["compare", "-c", name, "-o", "json"], check=True,
                             stdout=subprocess.PIPE).stdout
        found = [c for t in json.loads(out)["tests"] for r in t["rows"] for c in r["cells"][1:]]
        if len(found) != len(VARIANTS[1:]) * len(CLIENTS) or any(c["n"] != RUNS for c in found):
            sys.exit("%s: not %d runs in 40 cells" % (name, RUNS))
        tests |= {c["test"] for c in found}
        cells += len(found)
        low += sum(c["p"] <= 0.05 for c in found)
        tables += any(c["verdict"] in ("better", "worse") for c in found)
    one, five = (sum(s[i] for s in stars) / cells for i in (0, 1))
    print("tested by %s" % ", ".join(sorted(tests)))
    print("mmtests (2022) stars %.0f %% of the cells with one run a side, %.0f %% with five" % (
        100 * one, 100 * five))
    print("%d A/A campaigns, nothing changed: %.1f %% of %d cells marked before correction "
          "(at most %g %%), %.1f %% of the tables carry any mark (at most %g %%)" % (
              n, 100 * low / cells, cells, 100 * MOST_CELLS, 100 * tables / n, 100 * MOST_TABLES))
    if not 0.28 <= five <= one <= 1:
        sys.exit("the stars are not those of running averages: the logs are wrong")
    # a handful of campaigns says nothing about rates
    if n >= 100 and (low > MOST_CELLS * cells or tables > MOST_TABLES * n or not low):
        sys.exit("more false alarms than promised")


main(int(sys.argv[1]), sys.argv[2])

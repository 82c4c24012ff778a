#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Databases for selftest.test: selftest.py SCENARIO FILE.

Eight campaigns of one machine, of the same three variants (the third is the first under a second
name) and four test cases, five boots of each.
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "compare"))
from fixture import CREATED, Fixture  # noqa: E402

CAMPAIGNS, BOOTS, CLIENTS = 8, 5, (1, 2, 4, 8)


def identity(variant):
    return "%08x" % (0xabc0 + variant)


def series(scenario, campaign, rng):
    """Values around 1 of the boots of one cell."""
    level, values = 0, []
    for _ in range(BOOTS):
        level += 0.02 * rng.gauss(0, 1)
        noise = rng.gauss(0, 1)
        if scenario == "drift":
            values.append(1 + level + 0.002 * noise)
        elif scenario == "louder" and campaign >= 3:
            values.append(1 + 0.025 * noise)
        else:
            values.append(1 + 0.01 * noise)
    return values


def next_campaign(f, number, variants, cases):
    f.campaign = "nightly-%d" % number
    f.insert("campaigns", id=f.campaign, name="nightly", kind="run", unit="boot", machine_id=1,
             created=CREATED + 86400 * number, ended=CREATED + 86400 * number + 900,
             backend="host")
    for i, v in enumerate(variants):
        f.insert("campaign_variants", campaign_id=f.campaign, variant_id=v, position=i,
                 name="abc"[i], baseline=i == 0)
    for i, case in enumerate(cases):
        f.insert("campaign_cases", campaign_id=f.campaign, case_id=case, position=i)


def fill(path, scenario):
    f = Fixture(path, "nightly", backend="host")
    rng = random.Random(7)
    variants = [f.variant(0, "a"), f.variant(1, "b"),
                f.variant(2, "c", settings={"same_as": identity(0)})]
    cases = [f.case("tbench", {"clients": n}) for n in CLIENTS]
    runs = []
    for number in range(1 if scenario == "few" else CAMPAIGNS):
        for v in variants:
            for i, case in enumerate(cases):
                for boot, value in enumerate(series(scenario, number, rng)):
                    runs.append((number, v, case, boot + 1, 300 * (i + 1) * value))
    if scenario == "few":
        runs = [r for r in runs if r[3] <= 3]
    if scenario == "shuffled":
        rng.shuffle(runs)
        runs.sort(key=lambda r: -r[0])
    known = {0: f.campaign}
    for number, v, case, block, value in runs:
        if number not in known:
            next_campaign(f, number, variants, cases)
            known[number] = f.campaign
        f.campaign = known[number]
        f.run(v, case, block, {"tbench.throughput": value})
    return f


fill(sys.argv[2], sys.argv[1]).close()

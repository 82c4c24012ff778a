#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A database of nights for the tests of history: nights.py FILE N [AT:PERCENT...] [drift=PERCENT]

Every night is a campaign of a fixed kernel `base`, its second arm and the kernel of the night, five
runs each, of two test cases; the new kernel's level is PERCENT more from night AT on.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare"))
from fixture import CREATED, Fixture, Noise  # noqa: E402

path, nights = sys.argv[1], int(sys.argv[2])
steps = [(int(a), float(p)) for a, p in (w.split(":") for w in sys.argv[3:] if ":" in w)]
drift = sum(float(w.split("=")[1]) for w in sys.argv[3:] if w.startswith("drift="))
f = Fixture(path, "nightly", unit="run", backend="qemu", accelerator="tcg", config="")
f.db.execute("DELETE FROM campaigns")
cases = [f.insert("test_cases", identity="t%d" % n, benchmark="tbench", name="tbench/clients=%d" % n)
         for n in (1, 8)]
noise = Noise(4)


def variant(identity, settings, release, commit=""):
    kernel = f.insert("kernels", identity="k" + identity, release=release, commit_id=commit)
    return f.insert("variants", identity=identity, kernel_id=kernel, settings=json.dumps(settings))


base = variant("base", {}, "6.6.0")
again = variant("again", {"same_as": "base"}, "6.6.0", "again")
for night in range(nights):
    when = CREATED - (nights - night) * 86400
    campaign = "nightly-%d-1" % night
    f.insert("campaigns", id=campaign, name="nightly", kind="run", created=when, ended=when + 900,
             unit="run", machine_id=1, backend="qemu", accelerator="tcg")
    new = variant("n%d" % night, {}, "6.7.0-rc1-%05d" % night, "%040x" % (night * 0x9e3779b97f4a7c15f39cc0605cedc834 % 2**160))
    level = 1000 * (1 + drift / 100 * night / nights)
    for at, percent in steps:
        if night >= at:
            level *= 1 + percent / 100
    for position, (v, name) in enumerate([(base, "base"), (again, "base-again"), (new, "night")]):
        f.insert("campaign_variants", campaign_id=campaign, variant_id=v, position=position,
                 name=name, baseline=position == 0)
        for case in cases:
            for block in range(1, 6):
                r = f.insert("runs", campaign_id=campaign, variant_id=v, case_id=case, block=block,
                             started=when + block, outcome="ok")
                mean = (level if v == new else 1000) * (1 if case == cases[0] else 7)
                f.insert("samples", run_id=r, metric_id=f.metric("tbench.throughput"),
                         value=round(mean * (1 + 0.01 * noise.normal()), 2))
f.close()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a kdelta.compare/1 document: keys, types, null for what is not known. schema.py FILE"""
import json
import sys

NUMBER = (int, float, type(None))
TEXT = (str,)
CELL = {
    "variant": TEXT, "metric": TEXT, "n": (int, type(None)), "mean": NUMBER, "stddev": NUMBER,
    "cv": NUMBER, "values": (list,), "change": NUMBER, "shift": NUMBER, "ci_low": NUMBER,
    "ci_high": NUMBER, "ci_level": NUMBER, "p": NUMBER, "p_adj": NUMBER, "test": TEXT,
    "verdict": (str, type(None)), "small": (bool,), "runs_needed": (int, type(None)),
}
ROW = {"metric": TEXT, "unit": TEXT, "direction": TEXT, "mean_kind": TEXT, "role": TEXT,
       "cells": (list,)}
TEST = {"case": TEXT, "description": TEXT, "command": TEXT, "rows": (list,)}
VARIANT = {"id": TEXT, "name": TEXT, "kernel": TEXT, "build_id": TEXT, "commit": TEXT}
ROOT = {"schema": TEXT, "campaigns": (list,), "machine": (dict,), "baseline": TEXT,
        "variants": (list,), "tests": (list,), "overall": (list,), "warnings": (list,)}
VERDICTS = {"better", "worse", "same", "unsure", "changed", "missing", "failed", None}


def has(where, thing, keys):
    for key, types in keys.items():
        assert key in thing, "%s: no %s" % (where, key)
        assert isinstance(thing[key], types), "%s: %s is %r" % (where, key, thing[key])


def check_cell(where, cell):
    has(where, cell, CELL)
    assert cell["test"] in ("mw", "modt", "welch", "det", "none"), where
    assert cell["verdict"] in VERDICTS, where
    assert cell["n"] is None or not cell["values"] or cell["n"] == len(cell["values"]), where
    assert (cell["p"] is None) == (cell["test"] in ("det", "none")), where
    assert cell["p"] is None or 0 <= cell["p"] <= cell["p_adj"] <= 1, where
    if cell["ci_low"] is not None:
        assert cell["ci_low"] <= cell["shift"] <= cell["ci_high"], where
    assert cell["mean"] != 0 or cell["values"], "%s: a missing mean is null" % where


def check(data):
    has("root", data, ROOT)
    assert data["schema"] == "kdelta.compare/1"
    ids = []
    for variant in data["variants"]:
        has("variant", variant, VARIANT)
        ids.append(variant["id"])
    assert data["baseline"] == ids[0]
    for test in data["tests"]:
        has("test", test, TEST)
        for row in test["rows"]:
            where = test["case"] + " " + row["metric"]
            has(where, row, ROW)
            assert row["direction"] in ("higher", "lower", "neutral", "depends", "unknown"), where
            assert row["role"] in ("headline", "counter"), where
            assert [c["variant"] for c in row["cells"]] == ids, where
            base = row["cells"][0]
            assert base["change"] is None and base["test"] == "none", where
            for cell in row["cells"] + row.get("contrasts", []):
                check_cell(where, cell)
            for cell in row["cells"][1:]:
                if cell["change"] is not None and cell["mean"] and base["mean"]:
                    ratio = cell["mean"] / base["mean"] - 1
                    assert abs(cell["change"] - ratio) < (2e-4 if cell["published"] else 1e-9), where


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        check(json.load(f, parse_constant=lambda c: sys.exit("%s is no JSON number" % c)))

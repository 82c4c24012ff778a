#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `kdelta parse` against every row of a corpus index.

Usage: check_corpus.py KDELTA INDEX.tsv
The columns, outcomes and names are explained by the comments of the index itself.
"""
import csv
import json
import os
import subprocess
import sys

DIAGNOSTIC = ("blocks", "samples", "persecond_", "op.", "final_rps_goal", "elapsed_stderr")


def parse(kdelta, folder, row):
    args = [kdelta, "parse", row["benchmark"], os.path.join(folder, row["file"]), "-o", "json"]
    for option, column in (("--exit-status", "exit"), ("--signal", "signal"), ("--command", "command line")):
        if row[column]:
            args += [option, row[column]]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60)
    if done.stderr:
        return None, done.returncode, done.stderr
    return json.loads(done.stdout), done.returncode, ""


def is_diagnostic(metric):
    return metric.endswith((".samples", ".cycles")) or any(metric.startswith(p) for p in DIAGNOSTIC)


def check_value(result, item):
    """One "metric=value;unit" of the index; returns what is wrong, or None."""
    name, _, rest = item.partition("=")
    value, _, unit = rest.partition(";")
    run = 0
    if name.startswith("run") and name[3:].split(".")[0].isdigit():
        number, _, name = name[3:].partition(".")
        run = int(number) - 1
    if run >= len(result["runs"]):
        return f"{item}: there is no such run"
    params = result["runs"][run]["params"]
    if name in params:
        got = params[name]
        same = got == value if unit == "enum" else got == float(value)
        return None if same and isinstance(got, str) == (unit == "enum") else f"{item}: parameter is {got!r}"
    found = [v for v in result["runs"][run]["values"] if v["metric"] == name]
    if len(found) != 1:
        return f"{item}: found {len(found)} times"
    got = found[0]
    if value == "null":
        return None if got["value"] is None and got["unit"] is None else f"{item}: got {got}"
    if got["value"] != float(value) or got["unit"] != unit:
        return f"{item}: got {got['value']} {got['unit']}"
    if (got["role"] == "diagnostic") != is_diagnostic(name):
        return f"{item}: role is {got['role']}"
    return None


def check_row(kdelta, folder, row):
    result, code, message = parse(kdelta, folder, row)
    if result is None:
        return [message]
    outcome, _, error = row["outcome"].partition(":")
    wrong = []
    if (result["outcome"], result["error"]) != (outcome, error or None):
        wrong.append(f"expected {row['outcome']}, got {result['outcome']}:{result['error']}")
    if code != (0 if outcome in ("ok", "suspect") else 1):
        wrong.append(f"exit status {code}")
    if not result["runs"]:
        wrong.append("no run")
    if outcome == "error" and any(r["values"] for r in result["runs"]):
        wrong.append("an error has values")
    if row["values"] != "-":
        wrong += filter(None, (check_value(result, item) for item in row["values"].split(" | ")))
    return wrong


def main():
    kdelta, index = sys.argv[1], sys.argv[2]
    with open(index, encoding="utf-8") as f:
        lines = f.read().splitlines()
    header = [line for line in lines if line.startswith("# file\t")][0][2:].split("\t")
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), header, delimiter="\t",
                          quoting=csv.QUOTE_NONE)
    checked, bad = 0, 0
    for row in rows:
        checked += 1
        wrong = check_row(kdelta, os.path.dirname(index), row)
        bad += bool(wrong)
        for w in wrong:
            print(f"{row['file']}: {w}")
    print(f"{checked} rows checked, {bad} wrong")
    return 1 if bad or not checked else 0


sys.exit(main())

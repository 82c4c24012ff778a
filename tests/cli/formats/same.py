# SPDX-License-Identifier: GPL-2.0-or-later
"""same.py DIR NAME FORMATS: every change that DIR/NAME.json carries stands in the other formats.

A format is searched for the text that it would print of each cell; a text that n cells print must be
there n times or more.
"""
import collections
import csv
import json
import sys


def cells(report):
    for test in report["tests"]:
        for row in test["rows"]:
            base = row["cells"][0]
            for cell in row["cells"][1:]:
                if cell["change"] is not None and cell.get("scale") != "difference":
                    yield row, base, cell


def signed(value, decimals):
    text = "%+.*f" % (decimals, value)
    return "+" + text[1:] if float(text) == 0 else text


def better(row, change):
    return -change if row["direction"] == "lower" else change


def ratio(base, cell):
    if base["mean"] and cell["mean"] and base["mean"] > 0:
        return cell["mean"] / base["mean"]
    return 1 + cell["change"]


def norm(row, base, cell):
    r = ratio(base, cell)
    return "%.3f" % (1 / r if row["direction"] == "lower" else r)


def lkp(row, base, cell):
    change = cell["change"]
    if row["unit"] == "%" or abs(change) >= 9.995 or not cell["mean"]:
        return None  # points, factors and what is gone have forms of their own
    if abs(abs(change) * 1000 % 1 - 0.5) < 1e-6 or abs(change) < 0.0005:
        return None  # a published half may be rounded either way, and a zero has no sign
    return signed(100 * change, 1) + "%"


TEXTS = {
    "mail": lambda row, base, cell: signed(100 * cell["change"], 2),
    "term": lambda row, base, cell: signed(100 * cell["change"], 2),
    "md": lambda row, base, cell: signed(100 * cell["change"], 2) + "%",
    "html": lambda row, base, cell: signed(100 * cell["change"], 2) + "%",
    "mmtests": lambda row, base, cell: "%.2f%%" % (100 * better(row, cell["change"]) + 0.0),
    "norm": norm,
    "block": lambda row, base, cell: "[%6.2f]" % (100 * better(row, cell["change"]) + 0.0),
    "lkp": lkp,
}


def main():
    folder, name, formats = sys.argv[1:4]
    with open("%s/%s.json" % (folder, name), encoding="utf-8") as f:
        report = json.load(f)
    bad = 0
    for form in formats.split():
        if form not in TEXTS:
            continue
        with open("%s/%s.%s" % (folder, name, form), encoding="utf-8") as f:
            text = f.read().replace("&#43;", "+")
        wanted = collections.Counter(TEXTS[form](*c) for c in cells(report))
        wanted.pop(None, None)
        if form == "lkp" and "not shown" in text:
            continue
        for token, n in wanted.items():
            if text.count(token) < n and text.count(token.replace("-0.00", "0.00")) < n:
                print("%s.%s has %r %d times, not %d" % (name, form, token, text.count(token), n))
                bad = 1
        if not wanted:
            print("%s.%s: nothing to look for" % (name, form))
            bad = 1
    changes = [c["change"] for _, _, c in cells(report)]
    with open("%s/%s.csv" % (folder, name), newline="", encoding="utf-8") as f:
        of_csv = [float(r["change"]) for r in csv.DictReader(f) if r["change"]]
    if len(changes) != len(of_csv) or any(
            abs(x - y) > 1e-12 * abs(x) for x, y in zip(changes, of_csv)):
        print("%s.csv: %r is not %r" % (name, of_csv, changes))
        bad = 1
    return bad


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that break naive statistics, in every format: odd-values.py FOLDER, with $KDELTA.

One campaign of two variants for each line of CASES: what `compare` must say of it.
"""
import csv
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "compare"))
from fixture import METRICS, Fixture  # noqa: E402

METRICS["odd.time"] = ("s", "lower", "amean", "headline")
METRICS["odd.rate"] = ("MB/s", "higher", "hmean", "headline")
FIVE = [10.0, 10.1, 9.9, 10.05, 9.95]
MORE = [12.0, 12.1, 11.9, 12.05, 11.95]
ZERO = [0.0] * 5
FAILED = None

# what it is | metric | old | new | verdict | change in JSON | a difference? | words in the mail
CASES = [
    ("old all zero", "time", ZERO, FIVE, "worse", 10, True, r"\+10 s +\[\+9\.9,\+10\.1\] s +worse"),
    ("new all zero", "time", FIVE, ZERO, "better", -10, True, r"-10 s +\[-10\.1,-9\.9\] s +better"),
    ("both zero", "time", ZERO, ZERO, "same", 0, True, r"\+0 s +\[\+0,\+0\] s +same"),
    ("a zero among rates", "rate", [0.0] + FIVE[1:], MORE, "better", 4, True,
     r"\+4 MB/s.* better(.|\n)*odd\.rate of A has a value of 0: its mean is\s+arithmetic"),
    ("all negative", "time", [-v for v in FIVE], [-v for v in MORE], "better", -2, True,
     r"-2 s +\[-2\.15,-1\.85\] s +better"),
    ("the sign changes", "time", [-v for v in FIVE], MORE, "worse", 22, True, r"\+22 s .* worse"),
    ("around zero", "time", [-1, 2, -3, 1, 0.5], [1, -2, 2, -1, 0.2], "unsure", 0.14, True,
     r"\+0\.14 s +\[-2\.5,\+3\] s +unsure"),
    ("constant and equal", "time", [10] * 5, [10] * 5, "same", 0, False,
     r"0\.0% .* 0\.0% +\+0\.00% +\[\+0\.00,\+0\.00\] +same"),
    ("constant and apart", "time", [10] * 5, [11] * 5, "worse", 0.1, False, r"\+10\.00%.* worse"),
    ("constant, barely apart", "time", [10] * 5, [10.05] * 5, "worse", 0.005, False,
     r"\+0\.50%.* small worse"),
    ("one side constant", "time", [10] * 5, MORE, "worse", 0.2, False, r"\+20\.00%.* worse"),
    ("one value each", "time", [10], [12], "unsure", 0.2, False,
     r"NOT TESTED: n = 1 boot; a verdict takes 5\."),
    ("one zero each", "time", [0], [12], "unsure", 12, True, r"\+12 s(.|\n)*NOT TESTED: n = 1 boot"),
    ("five against one", "time", FIVE, [12], "unsure", 0.2, False,
     r"next boot of A, 95%(.|\n)*lies outside the range"),
    ("two values each", "time", FIVE[:2], MORE[:2], "unsure", 0.199, False,
     r"NOT TESTED: n = 2 boots; a verdict takes 5\."),
    ("no run", "time", FIVE, [], "missing", None, False, r"INCOMPLETE(.|\n)* - +missing"),
    ("only failed runs", "time", FIVE, FAILED, "failed", None, False,
     r"INCOMPLETE(.|\n)* failed \(not_found\)"),
    ("huge", "time", [1e300 * v for v in FIVE], [1e300 * v for v in MORE], "worse", 0.2, False,
     r"\+20\.00%.* worse"),
    ("the largest double", "time", [1.7e308] * 5, [1.6e308] * 5, "better", -0.0588, False,
     r"-5\.88%.* better"),
    ("tiny", "time", [1e-300 * v for v in FIVE], [1e-300 * v for v in MORE], "worse", 0.2, False,
     r"\+20\.00%.* worse"),
    ("a ratio beyond a double", "time", [1e-300 * v for v in FIVE], [1e300 * v for v in FIVE],
     "worse", None, False, r" - +- worse"),
]
bad = []


def fill(path, metric, old, new):
    f = Fixture(path, "odd", backend="host")
    variants = [f.variant(0, "old"), f.variant(1, "new")]
    case = f.case("odd", {"size": 1})
    for variant, values in zip(variants, (old, new)):
        for i in range(5 if values is FAILED else len(values)):
            if values is FAILED:
                f.run(variant, case, i + 1, {}, "error", "not_found", "not found")
            else:
                f.run(variant, case, i + 1, {metric: values[i]})
    f.close()


def check(what, ok, seen):
    if not ok:
        bad.append("%s: %s" % (what, seen))


def close(got, want):
    return got == want if None in (got, want) else abs(got - want) <= 1e-3 * max(1, abs(want))


def compare(path, form):
    return subprocess.run([os.environ["KDELTA"], "-q", "--db", path, "compare", "-o", form],
                          stdout=subprocess.PIPE, check=True).stdout.decode("ascii")


def check_case(path, what, metric, old, new, verdict, change, difference, words):
    fill(path, "odd." + metric, old, new)
    texts = {form: compare(path, form) for form in (
        "mail", "term", "json", "csv", "mmtests", "md", "cover", "junit")}
    for kind in "runs", "strip":  # a kind may have nothing to draw
        texts["plot " + kind] = subprocess.run(
            [os.environ["KDELTA"], "-q", "-n", "--db", path, "plot", kind],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("ascii")
    for form, text in texts.items():
        found = re.search(r"(?i)(?<![a-z])-?(nan|inf|infinity)(?![a-z])|e[+]\d+%", text)
        check(what + ", " + form, not found, found and found.group())
    data = json.loads(texts["json"], parse_constant=lambda c: bad.append(what + ": " + c))
    cell = data["tests"][0]["rows"][0]["cells"][1]
    check(what, cell["verdict"] == verdict, cell["verdict"])
    check(what, close(cell["change"], change), cell["change"])
    check(what, cell.get("scale") == ("difference" if difference else None), cell)
    for form in "mail", "term":
        check(what + ", " + form, re.search(words, texts[form]), texts[form])
    if difference and verdict != "same" and cell["test"] != "none":
        said = "%+.4g %s" % (cell["change"], data["tests"][0]["rows"][0]["unit"])
        bounds = "[%+.4g, %+.4g]" % (cell["ci_low"], cell["ci_high"])
        for form in "cover", "md":
            text = " ".join(texts[form].replace("\\", "").split())
            check(what + ", " + form, said in text, said + ": " + text)
            check(what + ", " + form, bounds in text or verdict == "unsure", bounds + ": " + text)
    row = [r for r in csv.DictReader(texts["csv"].splitlines()) if not r["value"]][1]
    check(what + ", csv", row["verdict"] == verdict, row)
    shares = [row[k] for k in ("change", "shift", "ci_low", "ci_high")]
    check(what + ", csv", not difference or shares == [""] * 4, shares)


def main(folder):
    for i, case in enumerate(CASES):
        check_case(os.path.join(folder, "%d.db" % i), *case)
    print("%d kinds of values" % len(CASES))
    sys.exit("\n".join(bad) if bad else 0)


main(sys.argv[1])

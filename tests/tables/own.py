#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random comparisons as mails, and the mails as they come back: own.py KDELTA SEED COUNT [FORMAT].
FORMAT is mail, lkp or mmtests.

Every cell of what is imported must be that of the comparison, as far as the mail printed it, and
quotes, wraps, lost blanks and transfer encodings must change nothing.
"""
import json
import os
import quopri
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "compare"))
import fixture  # noqa: E402

kdelta, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
form_of_report = sys.argv[4] if len(sys.argv) > 4 else "mail"
os.environ.pop("KDELTA_DB", None)
rnd = random.Random(seed)

NAMES = ["6.1", "6.12-rc3", "v6.9", "w/o patch", "with patch", "rc1 + overload", "tip", "A",
         "B + A", "fix:1", 'the "new" one', "c", "a-rather-long-name-of-a-kernel-with-all-its-parts",
         "source of it all", "mean", "change"]
WORDS = ["vanilla", "A + the patch", "the set without its last part", "C", "B and C together", "",
         "source code of the day", "a long text about what is in it and what is not, in many words"]
BENCHES = {
    "tbench": ["tbench.throughput"],
    "hackbench": ["hackbench.time"],
    "wakebench": ["wakebench.wakeup.p99", "wakebench.request.p99", "wakebench.average_rps"],
    "kernbench": ["kernbench.real", "kernbench.user", "kernbench.sys"],
    "mine": ["mine.speed", "mine.loss"],
}
SWEEPS = {
    "tbench": [{"clients": c, **b} for b in ({}, {"bind": "numa 0"}) for c in (1, 4, 16, 64)],
    "hackbench": [{"groups": g, "mode": m, "ipc": i} for m in ("process", "thread")
                  for i in ("pipe", "socket") for g in (1, 2, 8)],
    "wakebench": [{"threads": t} for t in (1, 2)],
    "kernbench": [{}],
    "mine": [{"mode": m} for m in ("fast", "slow", "none at all")],
}


# what a run uses up on the way, of other suites and of the benchmark itself
COUNTERS = ["softirqs.SCHED", "turbostat.%pc2", "cpuidle.C1-IVT.time", "meminfo.Active(file)",
            "time.voluntary_context_switches", "perf-stat.i.MPKI",
            "sched_debug.cfs_rq:/.load_avg.a_name_longer.than_any.line_of_a.report_could_be.max",
            "perf-profile.calltrace.cycles-pp." + ".".join("function_%d" % i for i in range(9)),
            "dmesg.WARNING:at_kernel/sched/core.c:#some_function", "dmesg.RIP:x"]


WORDS_OF = {}


def random_counters(values, chosen, factor, variant):
    for name, base in chosen:
        if name.startswith("dmesg."):
            values[name] = int(rnd.random() < 0.3 * variant)
        elif rnd.random() > 0.03:
            values[name] = round(base * factor * rnd.uniform(0.98, 1.02), 3)


def random_database(path, counters=False):
    tested = rnd.random() < 0.75
    f = fixture.Fixture(path, "own", kind="run" if tested else "import",
                        unit="boot" if tested else "run", repeat=5,
                        machine=rnd.choice([None, "4 CPUs, one node, 8 GiB"]), source="own.txt")
    names = rnd.sample(NAMES, rnd.choice([2, 2, 3, 5, 9]))
    variants = [f.variant(i, n, rnd.choice(WORDS)) for i, n in enumerate(names)]
    repeats = rnd.choice([1, 3, 5, 6]) if tested else 0
    for bench in rnd.sample(sorted(BENCHES), rnd.choice([1, 1, 2])):
        cases = SWEEPS[bench]
        if bench == "tbench" and rnd.random() < 0.6:
            cases = cases[:4]
        elif bench != "tbench" and rnd.random() < 0.3:
            cases = cases[:1]
        for params in cases:
            case = f.case(bench, params, command="%s -x %d" % (bench, len(params)))
            digits = rnd.choice([0, 1, 3, 3])
            base = 10 ** rnd.uniform(1, 5)
            for metric in BENCHES[bench]:
                means = [base * rnd.uniform(0.8, 1.3) for _ in variants]
                if not tested:
                    for v, mean in zip(variants, means):
                        text = "%.2f" % mean
                        first = "%.2f" % means[0]
                        f.insert("summaries", campaign_id=f.campaign, variant_id=v, case_id=case,
                                 metric_id=f.metric(metric), mean=float(text), mean_text=text,
                                 mean_kind="amean", change_sign="raw", mark=False,
                                 change=round(100 * (float(text) / float(first) - 1), 2))
            chosen = [(m, rnd.choice([0, 3e-4, 1, 30, 5000, 4e9]))
                      for m in rnd.sample(COUNTERS, rnd.choice([0, 3, 8]))] if counters else []
            chosen += [("%s.extra" % bench, 7.0)] if chosen else []
            factors = [rnd.choice([1, 1, rnd.uniform(0.4, 1.5), 40]) if counters else 1
                       for _ in variants]
            for block in range(1, repeats + 1):
                for v in variants:
                    if repeats > 3 and rnd.random() < 0.02:
                        f.run(v, case, block, {}, outcome="error", error="panic", message="it did")
                        continue
                    values = {m: round(means[v - 1] * rnd.uniform(0.99, 1.01), digits)
                              for m in BENCHES[bench]}
                    random_counters(values, chosen, factors[v - 1] if v > 1 else 1, v - 1)
                    f.run(v, case, block, values)
    f.close()
    if counters:
        fixture_words(path)
    return names


def fixture_words(path):
    """Counters get the units and directions of metrics.yaml, which decide what a report shows."""
    run("-q", "--db", path, "list")  # migrates it
    db = sqlite3.connect(path)
    for name in COUNTERS:
        if name not in WORDS_OF:
            WORDS_OF[name] = json.loads(run("explain", "--json", name))["entries"][0]
        m = WORDS_OF[name]
        db.execute("UPDATE metrics SET unit = ?, direction = ?, topic = ?, role = ? WHERE name = ?",
                   ("" if m["unit"] == "mixed" else m["unit"], m["direction"], m["topic"],
                    m["role"], name))
    db.commit()
    db.close()


def quote(text, mark="> "):
    return "".join((mark + line).rstrip() + "\n" for line in text.splitlines())


def wrap(text, width=76):
    """As a mailer that wraps what is too long, quoted or not."""
    out = []
    for line in text.splitlines():
        while len(line) > width:
            at = line.rfind(" ", 0, width + 1)
            if at <= len(line) - len(line.lstrip("> \u00a0")):
                break
            out.append(line[:at].rstrip())
            line = line[at:].lstrip()
        out.append(line)
    return "\n".join(out) + "\n"


def squeeze(text):
    return re.sub(r"[ \t]+", " ", text)


def qp(text):
    body = quopri.encodestring(text.encode()).decode()
    return ("From: a@example.org\nTo: b@example.org\nDate: Mon, 2 Mar 2026 10:00:00 +0100\n"
            "Subject: Re: it\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
            "Content-Transfer-Encoding: quoted-printable\n\n" + body)


FORMS = [
    lambda t: wrap(quote(quote(t))),
    lambda t: wrap(quote(quote(t, ">"), ">")),
    squeeze,
    lambda t: squeeze(wrap(quote(quote(t)))),
    lambda t: "Hello,\n\n" + t + "\nAre these right?\n",
    lambda t: qp(wrap(quote(quote("Hi,\n\n" + squeeze(t) + "\nBye\n")))),
]


def run(*args, data=None):
    p = subprocess.run([kdelta, *args], input=data, capture_output=True, text=True)
    if p.returncode:
        raise SystemExit("%s: exit %d: %s\n%s" % (" ".join(args), p.returncode, p.stderr, data or ""))
    return p.stdout


def strip(node):
    if isinstance(node, dict):
        return {k: strip(v) for k, v in node.items() if k not in ("file", "line", "facts")}
    return [strip(v) for v in node] if isinstance(node, list) else node


def imported(text):
    return strip(json.loads(run("import", "-n", "-o", "json", "-", data=text)))


def plain(s):
    return s.replace(" ", "")


def cells_of(data, names):
    """{(benchmark, parameters, metric, variant): what the import says}"""
    out = {}
    for t in data["tables"]:
        for row in t["rows"]:
            params = set()
            if t["axis_name"]:
                params.add(plain(t["axis_name"] + "=" + row["axis"]))
            elif row["axis"] != row["metric"]:
                params |= set(plain(row["axis"]).split("/"))
            for word in (t["section"] or "").split(", "):
                if word:
                    params.add(plain(("bind=" if word.startswith("numa") else
                                      "" if "=" in word else "mode=") + word))
            for c in row["cells"]:
                i = names.index(c["variant"])
                key = (t["benchmark"], frozenset(params), row["metric"], i)
                if c["value"] is None and c["change"] is None:
                    continue
                cell = out.setdefault(key, {"values": [], "mean": None, "change": None, "n": None,
                                            "unit": row["unit"]})
                if row["run"]:
                    cell["values"].append(c["value"])
                else:
                    assert cell["mean"] is None and cell["change"] is None, key
                    cell.update(mean=c["value"], change=c["change"], n=c["n"])
    return out


def check(data, want, names, args):
    got = cells_of(data, names)
    assert not data["refused"], data["refused"]
    for t in data["tables"]:
        assert [v["name"] for v in t["variants"]] == names, [v["name"] for v in t["variants"]]
        assert t["baseline"] == names[0] and t["family"] == "kdelta", t["family"]
    style = args[args.index("--style") + 1] if "--style" in args else "table"
    compared = 0
    for t in want["tests"]:
        bench, *params = t["case"].split("/")
        if bench == "kernbench":
            params = []
        for row in t["rows"]:
            base = row["cells"][0]
            for i, c in enumerate(row["cells"]):
                key = (bench, frozenset(plain(p) for p in params), row["metric"][len(bench) + 1:], i)
                cell = got.pop(key, None)
                if cell is None and row["role"] != "headline":
                    continue
                if cell is None:
                    assert c["mean"] is None or c["change"] is None and base["mean"] is None, \
                        "%s is not there" % (key,)
                    continue
                assert cell["unit"] == (row["unit"] or None), (key, cell, row["unit"])
                compared += 1
                if "--runs" in args and c["values"]:
                    assert sorted(cell["values"]) == sorted(c["values"]), (key, cell, c)
                    continue
                if cell["n"] is not None:
                    assert cell["n"] == c["n"], (key, cell, c)
                if cell["mean"] is not None:
                    assert abs(cell["mean"] - c["mean"]) <= 6e-5 * abs(c["mean"]), (key, cell, c)
                    assert i == 0 or "--values" in args or len(names) == 2, key
                else:
                    assert i or style != "table", (key, cell, c)
                    assert "--values" not in args, (key, cell)
                if i and cell["change"] is not None:
                    off = {"table": 0.0051, "block": 0.0051, "norm": 0.12}[style]
                    assert abs(cell["change"] - 100 * c["change"]) <= off, (key, cell, c)
                elif i and c["change"] is not None:
                    first = got_base[key[:3]]
                    change = 100 * (cell["mean"] / first - 1)
                    assert abs(change - 100 * c["change"]) <= 0.0101, (key, cell, c, first)
                if not i:
                    got_base = {key[:3]: cell["mean"]}
    assert not got, "not in the comparison: %s" % list(got)[:3]
    return compared


# any of them in any order; what makes a mail of it comes last
MANGLES = [lambda t: quote(t), lambda t: quote(t, ">"), wrap, squeeze,
           lambda t: t.replace("\n", "\r\n") if "\r" not in t else t,
           lambda t: "\ufeff" + t,
           lambda t: re.sub("(?m)^  +", lambda m: "\u00a0 " * (len(m[0]) // 2), t),
           lambda t: "Hello,\n\n" + t + "\nAre these right?\n",
           lambda t: wrap(t, 72), lambda t: quote(quote(t))]


def mangled(text):
    """Those of mails are 72 columns wide, for two quotes within 76; tables of mmtests are not."""
    chosen = rnd.sample(MANGLES, rnd.choice([1, 2, 3, 4, 6]))
    if form_of_report == "mail":
        chosen = [m for m in chosen if m not in (MANGLES[0], MANGLES[1], MANGLES[-2])]
    for mangle in chosen:
        text = mangle(text)
    return qp(text) if rnd.random() < 0.4 and "\r" not in text else text


def check_lkp(data, want, names, args):
    """Every cell printed is that of the comparison; with --all, every cell of it was printed."""
    compared = 0
    cells = {}
    assert not data["refused"], data["refused"]
    for t in data["tables"]:
        assert [v["name"] for v in t["variants"]] == names, [v["name"] for v in t["variants"]]
        assert t["baseline"] == names[0] and t["family"] == "kdelta", t
        for row in t["rows"]:
            for c in row["cells"]:
                key = (plain("/".join([t["benchmark"]] + ([t["section"]] if t["section"] else []))),
                       row["metric"], names.index(c["variant"]))
                assert key not in cells, key
                cells[key] = dict(c, unit=row["unit"], points=row["change_unit"] == "points")
    tested = any(c["test"] != "none" for t in want["tests"] for r in t["rows"] for c in r["cells"][1:])
    for t in want["tests"]:
        for row in t["rows"]:
            events = row["unit"] == "runs"
            for i, c in enumerate(row["cells"]):
                cell = cells.pop((plain(t["case"]), row["metric"], i), None)
                if cell is None:
                    assert "--all" not in args or events or c["mean"] is None, (t["case"], row, i)
                    assert row["role"] != "headline" or c["mean"] is None, (t["case"], row, i)
                    continue
                compared += 1
                assert cell["n"] == (c["n"] or None), (row["metric"], cell, c)
                if events:
                    assert cell["value"] == sum(v > 0 for v in c["values"]), (row["metric"], cell, c)
                    continue
                assert abs(cell["value"] - c["mean"]) <= 6e-5 * abs(c["mean"]), (row["metric"], cell, c)
                if c["cv"] is None:
                    assert cell["deviation"] is None, (row["metric"], cell, c)
                else:
                    off = 0.0501 if 100 * c["cv"] < 999.5 else 0.51
                    assert abs(cell["deviation"] - 100 * c["cv"]) <= off, (row["metric"], cell, c)
                if i and cell["change"] is not None:
                    assert abs(cell["change"] - 100 * c["change"]) <= 0.0501, (row["metric"], cell, c)
                if i and c["change"] is not None and not tested:
                    assert not cell["mark"], (row["metric"], cell, c)
                elif i:
                    assert cell["mark"] == (c["verdict"] in ("better", "worse", "changed")), \
                        (row["metric"], cell, c)
                if row["role"] == "headline":
                    assert cell["unit"] == (row["unit"] or None), (cell, row["unit"])
    assert not cells, "not in the comparison: %s" % list(cells)[:3]
    return compared


def is_row(row, want, tested):
    """Whether a row is that of the comparison, as far as two decimals and four digits say so."""
    if want["metric"].split(".", 1)[1] != row["metric"]:
        return False
    for i, (cell, c) in enumerate(zip(row["cells"], want["cells"])):
        if (cell["value"] is None) != (c["mean"] is None):
            return False
        if c["mean"] is not None and abs(cell["value"] - c["mean"]) > 6e-5 * abs(c["mean"]) + 0.0001:
            return False
        if not i:
            continue
        if (cell["change"] is None) != (c["change"] is None):
            return False
        # better positive, and rounded once more than the published percentage
        better = (c["change"] or 0) * (-100 if want["direction"] == "lower" else 100)
        if c["change"] is not None and abs(cell["change"] - better) > 0.0101:
            return False
        if tested and cell["mark"] != (c["verdict"] in ("better", "worse", "changed")):
            return False
    return True


def check_mmtests(data, want, names, args):
    """Every row is one of the comparison, and every headline row of it is there."""
    assert not data["refused"], data["refused"]
    left = [(t["case"].split("/")[0], row) for t in want["tests"] for row in t["rows"]]
    tested = any(c["test"] != "none" for _, row in left for c in row["cells"][1:])
    compared = 0
    for t in data["tables"]:
        shown = [v["name"] for v in t["variants"]]
        assert t["family"] == "mmtests" and len(shown) == len(names), shown
        # longer ones are letters there, with the name in the legend
        same = [n if len(n.split("-", 1)[-1]) <= 30 else chr(ord("A") + i) for i, n in enumerate(names)]
        assert shown == same, (shown, same)
        for row in t["rows"]:
            by_name = {c["variant"]: c for c in row["cells"]}
            nothing = {"value": None, "change": None, "mark": False}
            cells = {"metric": row["metric"], "cells": [by_name.get(n, nothing) for n in shown]}
            same = [x for x in left if x[0] == t["benchmark"] and is_row(cells, x[1], tested)]
            assert same, "not in the comparison: %s" % row
            assert row["unit"] == (same[0][1]["unit"] or None), row
            left.remove(same[0])
            compared += len(row["cells"])
    left = [row for _, row in left if row["role"] == "headline" and
            any(c["mean"] is not None for c in row["cells"])]
    assert not left, "not there: %s" % left[:2]
    return compared


def stored(text, folder):
    """The report of a database that the report was imported into."""
    db = os.path.join(folder, "again.db")
    if os.path.exists(db):
        os.unlink(db)
    run("-q", "--db", db, "import", "-", data=text)
    return run("--db", db, "compare", "-o", "mmtests")


def tables_of(text, number):
    """The legend and the tables; how they were tested, and what failed, is not of the source."""
    text = text.split("Percentages against")[1 + number].split("\n\n", 1)[1]
    return re.sub(" +failed", lambda m: "-".rjust(len(m[0])), text).rstrip().split("\n")


def options(names):
    args = []
    if form_of_report == "lkp":
        return ["--all"] if rnd.random() < 0.5 else []
    if form_of_report == "mmtests":
        return []
    for option in ("--values", "--runs"):
        if rnd.random() < 0.4:
            args.append(option)
    style = rnd.choice(["table", "table", "table", "norm", "block"])
    if style != "table":
        args += ["--style", style]
    elif len(names) > 2 and rnd.random() < 0.3:
        args += ["--contrast", "C/B"]
    return args


CHECKS = {"mail": check, "lkp": check_lkp, "mmtests": check_mmtests}
cells = 0
with tempfile.TemporaryDirectory() as folder:
    for number in range(count):
        db = os.path.join(folder, "k.db")
        names = random_database(db, form_of_report == "lkp")
        args = options(names)
        command = "report" if form_of_report == "lkp" else "compare"
        mail = run("--db", db, command, *args, "-o", form_of_report)
        want = json.loads(run("--db", db, command, *args, "-o", "json"))
        data = imported(mail)
        form = mail
        try:
            cells += CHECKS[form_of_report](data, want, names, args)
            for form in [f(mail) for f in FORMS] + [mangled(mail) for _ in range(4)]:
                again = imported(form)
                assert again == data, "another form is read otherwise"
            if form_of_report == "mmtests":
                form = mail + "\n" + stored(mail, folder)
                assert tables_of(form, 0) == tables_of(form, 1), "what was stored prints otherwise"
        except AssertionError as e:
            sys.exit("seed %d, comparison %d, %s:\n%s\n%s" % (seed, number, " ".join(args), form, e))
if cells < 10 * count:
    sys.exit("only %d cells" % cells)
print("%d comparisons, %d cells" % (count, cells))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of -o html.

check.py page FILE.html FILE.json   what holds for every page
check.py same FILE.json FILE.json FORM   the second, read back from FORM, has the same numbers
"""
import html.parser
import json
import math
import re
import sys

VOID = {"meta", "link", "br", "input", "path", "circle", "line", "rect", "use"}
LIMIT = 1 << 20


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.refs, self.texts, self.data = [], [], [], [], ""
        self.kinds = set()

    def handle_startendtag(self, tag, attrs):
        self.take(tag, attrs)

    def handle_starttag(self, tag, attrs):
        self.take(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def take(self, tag, attrs):
        self.kinds.add(tag)
        for key, value in attrs:
            assert not key.startswith("on"), "a handler: %s" % key
            if key == "id":
                self.ids.append(value)
            if key in ("href", "src", "action", "aria-labelledby"):
                self.refs.append((tag, key, value))
            self.texts.append(value or "")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, "</%s> closes %s" % (tag, self.open[-1:])
        self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.data += data
        elif self.open[-1:] != ["style"]:
            self.texts.append(data)


def page(path, json_path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    p = Page()
    p.feed(text)
    p.close()
    assert not p.open, p.open
    assert len(set(p.ids)) == len(p.ids), "an id twice"
    assert p.kinds <= {
        "html", "head", "meta", "link", "title", "style", "body", "svg", "defs", "g", "path", "circle",
        "line", "rect", "use", "text", "main", "header", "section", "h1", "h2", "h3", "p", "a", "div",
        "table", "thead", "tbody", "tr", "th", "td", "small", "br", "bdi", "b", "span", "ul", "ol", "li",
        "dl", "dt", "dd", "pre", "code", "details", "summary", "fieldset", "legend", "label", "input",
        "script"}, p.kinds
    for tag, key, value in p.refs:
        if key == "aria-labelledby":
            assert value in p.ids, value
        else:
            assert value == "data:," or value[1:] in p.ids and value[0] == "#", (tag, value)
    assert text.count("<script") == 1 and text.count("</script") == 1, "script"
    assert "url(" not in text and "@import" not in text
    words = "\n".join(p.texts)
    assert not re.search(r"(?<![\w.])[-+]?(nan|inf|infinity)(?![\w.])", words, re.I), "nan or inf"
    assert not re.search("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e"
                         "\u2060-\u206f]", words), "an unseen character"
    assert len(text.encode()) < LIMIT, "%d bytes" % len(text.encode())
    with open(json_path, encoding="utf-8") as f:
        assert json.loads(p.data) == json.load(f), "the data is not the report's JSON"


# what a row and a cell have in each form; the CSV knows neither older campaigns nor arms
ROW = ("metric", "unit", "direction", "mean_kind", "role")
CELL = ("variant", "n", "mean", "stddev", "cv", "values", "blocks", "change", "published", "shift",
        "ci_low", "ci_high", "ci_level", "p", "p_adj", "test", "verdict", "small", "runs_needed",
        "detectable", "prediction_low", "prediction_high", "failed", "suspect", "error")
WHOLE = ("unit", "q", "level", "baseline")
VARIANT = ("id", "name", "kernel", "build_id", "commit", "source", "description", "settings")
RUN = ("variant", "order", "block", "attempt", "started", "elapsed", "outcome", "error", "message")


def same(where, a, b):
    if isinstance(a, float) or isinstance(b, float):
        if a is None or b is None or not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
            sys.exit("%s: %r became %r" % (where, a, b))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            same("%s[%d]" % (where, i), x, y)
    elif a != b:
        sys.exit("%s: %r became %r" % (where, a, b))


def rows(data):
    return {(t["case"], r["metric"]): r for t in data["tests"] for r in t["rows"]}


def compare(first, second, form):
    with open(first, encoding="utf-8") as f:
        a = json.load(f)
    with open(second, encoding="utf-8") as f:
        b = json.load(f)
    assert b["kind"] == "import"
    if form != "csv":
        for key in WHOLE:
            same(key, a[key], b[key])
        same("machine", a["machine"], b["machine"])
        same("overall", [o["verdict"] for o in a["overall"]], [o["verdict"] for o in b["overall"]])
    for v, w in zip(a["variants"], b["variants"], strict=True):
        for key in VARIANT if form != "csv" else VARIANT[:2]:
            same("variant " + key, v[key], w[key])
    same("cases", [t["case"] for t in a["tests"]], [t["case"] for t in b["tests"]])
    for t, u in zip(a["tests"], b["tests"]):
        if form == "csv":
            continue
        same(t["case"], [t["description"] or u["description"], t["command"], t["swept"], t["fixed"]],
             [u["description"], u["command"], u["swept"], u["fixed"]])
        # runs of one boot become one where only their mean is known
        if len(t["runs"]) == len(u["runs"]):
            for r, s in zip(t["runs"], u["runs"]):
                for key in RUN:
                    if key != "order" or len(a["tests"]) == len(b["tests"]):
                        same("%s run %s" % (t["case"], key), r.get(key), s.get(key))
    x, y = rows(a), rows(b)
    same("rows", sorted(x), sorted(y))
    for key in x:
        for k in ROW:
            same("%s %s" % (key, k), x[key][k], y[key][k])
        for c, d in zip(x[key]["cells"], y[key]["cells"], strict=True):
            for k in CELL:
                same("%s %s %s" % (key, c["variant"], k), c.get(k), d.get(k))


if __name__ == "__main__":
    if sys.argv[1] == "page":
        page(*sys.argv[2:])
    else:
        compare(*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a report fit to be the body of a mail? mailcheck.py FILE [JSON]

At most 72 columns of ASCII, no tabs, no trailing blanks, no line that git, a mailer or a reader of
mail takes for something else; git mailinfo gives it back unchanged. With the JSON of the same
comparison: every change printed in a table is a field there, and where means stand beside it, the
ratio of the printed means.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FORBIDDEN = ("---", "diff ", "#", "From ", ">", "@@", "Index:", "+++", "From:", "Subject:", "Date:",
             "-- ")


def check_lines(text):
    errors = []
    lines = text.split("\n")
    if not text.endswith("\n") or text.endswith("\n\n"):
        errors.append("does not end with exactly one newline")
    for number, line in enumerate(lines, 1):
        if len(line) > 72:
            errors.append("%d: %d columns" % (number, len(line)))
        if not line.isascii() or any(ord(c) < 32 or ord(c) > 126 for c in line):
            errors.append("%d: not printable ASCII" % number)
        if line != line.rstrip():
            errors.append("%d: trailing blanks" % number)
        if line.startswith(FORBIDDEN):
            errors.append("%d: starts like something else: %s" % (number, line))
    last = text.rstrip("\n").rsplit("\n", 1)[-1]
    if re.match(r"[A-Za-z0-9-]+:", last):
        errors.append("ends with a trailer: " + last)
    return errors


def check_mailinfo(text):
    mail = ("From: A Tester <tester@example.org>\nDate: Mon, 30 Nov 2026 10:00:00 +0000\n"
            "Subject: [PATCH] sched: a title\n\n" + text +
            "---\n file | 1 +\n 1 file changed, 1 insertion(+)\n\n"
            "diff --git a/file b/file\n--- a/file\n+++ b/file\n@@ -0,0 +1 @@\n+line\n--\n2.39\n")
    with tempfile.TemporaryDirectory() as folder:
        msg, patch = os.path.join(folder, "msg"), os.path.join(folder, "patch")
        done = subprocess.run(["git", "mailinfo", msg, patch], input=mail.encode(),
                              capture_output=True, check=False, cwd=folder)
        if done.returncode:
            return ["git mailinfo: " + done.stderr.decode()]
        with open(msg, encoding="ascii") as f:
            got = f.read()
        with open(patch, encoding="ascii") as f:
            body = f.read()
        errors = []
        if got != text:
            errors.append("git mailinfo changed the text")
        if "Tester" not in done.stdout.decode() or "sched: a title" not in done.stdout.decode():
            errors.append("git mailinfo took a line for a header")
        if not body.startswith("---\n file"):
            errors.append("the patch does not start where it should")
        trailers = subprocess.run(["git", "interpret-trailers", "--parse"], input=text.encode(),
                                  capture_output=True, check=True, cwd=folder)
        if trailers.stdout:
            errors.append("git sees trailers: " + trailers.stdout.decode())
        return errors


def changes(data):
    """Every fraction of the comparison that a table may print as a percentage."""
    for test in data["tests"]:
        for row in test["rows"]:
            for cell in row["cells"] + row.get("contrasts", []):
                for key in ("change", "ci_low", "ci_high", "shift"):
                    if cell[key] is None:
                        continue
                    size = abs(cell[key])
                    yield "%+.2f" % (100 * cell[key] + 0.0)
                    if key.startswith("ci_") and size >= 0.1:
                        yield "%+.*f" % (1 if size < 1 else 0, 100 * cell[key])


def check_numbers(text, data):
    errors = []
    known = set(changes(data)) | {"+0.00", "-0.00"}
    summary = re.compile(r"^(geomean|  \S+-\S+ |worst row|  at )")
    table = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"^(\S+ +)?A, |^ +A, ", line) or re.match(r"^\S* +A( |$)", line):
            table = True
        if not line or re.match(r"^(why|look at|note|runs|values)", line):
            table = False
        if not table or summary.match(line):
            continue
        printed = re.findall(r"(?<![\w.])[+-]\d+\.\d\d(?=[%*!=?sc])", line)
        for low, high in re.findall(r"\[([+-][\d.]+),([+-][\d.]+)\]", line):
            printed += [low, high]
        for value in printed:
            if value not in known:
                errors.append("%d: %s is not in the JSON" % (number, value))
        errors += check_ratio(number, line)
    return errors


def check_ratio(number, line):
    """`label mean cv mean cv change ...` of a pair: a calculator must agree."""
    m = re.match(r"^.*?(\d+(?:\.\d+)?)(?: \d+\.\d%| +) +(\d+(?:\.\d+)?)(?: \d+\.\d%| +) +"
                 r"([+-]\d+\.\d\d)% +\[", line)
    if not m:
        return []
    a, b, change = (float(x) for x in m.groups())
    if "%+.2f" % (100 * (b / a - 1)) not in ("%+.2f" % change, "-0.00"):
        return ["%d: %s / %s is not %s%%" % (number, m.group(2), m.group(1), m.group(3))]
    return []


def main():
    with open(sys.argv[1], "rb") as f:
        raw = f.read()
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError as error:
        print("%s: %s" % (sys.argv[1], error))
        return 1
    errors = check_lines(text) + check_mailinfo(text)
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as f:
            errors += check_numbers(text, json.load(f))
    for error in errors:
        print("%s:%s" % (sys.argv[1], error))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

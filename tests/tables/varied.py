#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables as pastes and mails change them, which must change nothing: varied.py KDELTA FILE..."""
import json
import re
import subprocess
import sys

sys.dont_write_bytecode = True
WIDTH = 72


def flowed(text, delsp=False, marks=""):
    """A message of format=flowed (RFC 3676): stuffed, long lines broken at a blank."""
    out = []
    for line in text.rstrip("\n").split("\n"):
        line = line.rstrip()
        while len(line) > WIDTH and line.rfind(" ", 1, WIDTH) > len(line) - len(line.lstrip()):
            at = line.rfind(" ", 1, WIDTH) + 1
            out.append(line[:at] + (" " if delsp else ""))
            line = line[at:]
        out.append(line)
    stuffed = [(" " if marks or line[:1] in (" ", ">") or line.startswith("From ") else "") + line
               for line in out]
    return ("From: a@example.org\nSubject: it\nMIME-Version: 1.0\nContent-Type: text/plain; "
            "charset=us-ascii; format=flowed%s\n\n" % ("; delsp=yes" if delsp else "") +
            "".join(marks + line + "\n" for line in stuffed))


FORMS = {
    "indented": lambda t: re.sub("(?m)^(?=.)", "    ", t),
    "quoted, indented": lambda t: re.sub("(?m)^", "   > ", t),
    "double-spaced": lambda t: t.rstrip("\n").replace("\n", "\n\n") + "\n",
    "fenced": lambda t: "```text\n" + t + "```\n",
    "blank before %": lambda t: re.sub(r"(\d)%(?=[\s)*])", r"\1 %", t),
    "CRLF and BOM": lambda t: "\ufeff" + t.replace("\n", "\r\n"),
    "flowed": flowed,
    "flowed, DelSp": lambda t: flowed(t, True),
    "flowed, quoted": lambda t: flowed(t, False, ">"),
    "flowed, quoted twice, DelSp": lambda t: flowed(t, True, ">>"),
}


def strip(node):
    if isinstance(node, dict):
        return {k: strip(v) for k, v in node.items() if k not in ("file", "line", "facts")}
    return [strip(v) for v in node] if isinstance(node, list) else node


def read(text):
    p = subprocess.run([sys.argv[1], "import", "-n", "-o", "json", "-"], input=text.encode(),
                       capture_output=True)
    return strip(json.loads(p.stdout)) if p.stdout else p.stderr.decode()


bad = tried = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as f:
        plain = f.read()
    want = read(plain)
    if not isinstance(want, dict) or not want["tables"]:
        sys.exit("%s: %s" % (path, want))
    for name, form in FORMS.items():
        tried += 1
        if read(form(plain)) != want:
            print("%s, %s: read otherwise" % (path, name))
            bad += 1
print("%d forms, %d read otherwise" % (tried, bad))
sys.exit(bad > 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A libFuzzer dictionary from C sources: dictionary.py FILE.c...

The words that a parser looks for stand in its source, so they are taken from there: string literals
of the files and of the files beside the headers they include, without formats of messages.
"""
import os
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "v": "\v", "f": "\f"}
LONGEST = 40


def with_helpers(files):
    """The files, then those that implement the headers of the same room they include."""
    found = list(files)
    for name in files:
        with open(name, encoding="utf-8") as f:
            for header in re.findall(r'#include "(parsers/[^"]*)\.h"', f.read()):
                if os.path.exists(header + ".c") and header + ".c" not in found:
                    found.append(header + ".c")
    return found


def bytes_of(literal):
    """What a C string literal stands for, as bytes."""
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m.group(1), 16)), literal)
    text = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), text)
    text = re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), text)
    return text.encode("latin-1", "replace")


def words(name):
    with open(name, encoding="utf-8") as f:
        code = re.sub(r"/\*.*?\*/|//[^\n]*|^#.*?$", "", f.read(), flags=re.S | re.M)
    for literal in LITERAL.findall(code):
        word = bytes_of(literal)
        if 2 <= len(word) <= LONGEST and b"%" not in word:
            yield word


def main():
    everything = {w for name in with_helpers(sys.argv[1:]) for w in words(name)}
    for word in sorted(everything | {b"\n", b"\n\n", b"  ", b"\n> ", b"=\n", b"-nan", b"1e308"}):
        print('"%s"' % "".join(
            chr(c) if 32 <= c < 127 and c not in b'"\\' else "\\x%02x" % c for c in word))


main()

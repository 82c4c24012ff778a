#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for all plots: picture.py script FILE | svg FILE [NAMES...] | text FILE WIDTH.

script: outside of the blocks of data and text there is nothing but our own words.
svg: well-formed, no time, and every name stands in it as it is.
"""
import re
import sys
import xml.etree.ElementTree as ET

WORDS = set("""arrow back background behind bmargin border center data dumb fc font format from first
front function graph grid key label lc left linespoints lines logscale lw mono multiplot name nohead noborder noenhanced
nofeed nomirror notitle object off origin out plot point pointintervalbox points ps pt rectangle reset rgb right
rotate by scale screen set size sans serif solid style svg terminal textcolor tics time title tmargin to
unset using vectors with x xerrorbars xlabel xrange xtics y yerrorbars ylabel yrange ytics lt fs at
offset offsets kdelta white Bold bars d b Y H M pngcairo text""".split())


def script(path):
    lines = open(path, encoding="ascii").read().split("\n")
    assert lines[0].startswith("# "), lines[0]
    end, ours = None, []
    for line in lines[1:]:
        if end:
            if line == end:
                end = None
            elif not end.startswith("END_TEXT"):
                assert re.fullmatch(r"[-+0-9.e ]+", line), "no number: %r" % line
            continue
        heredoc = re.fullmatch(r"\$(?:text|d\d+) << (END(?:_TEXT_*)?)", line)
        if heredoc:
            end = heredoc.group(1)
        else:
            ours.append(line)
    assert end is None, "a block without an end"
    rest = "\n".join(ours)
    for word in re.findall(r"[A-Za-z]+", re.sub(r"\$(text\[\d+\]|d\d+)|#[0-9a-f]{6}|pt '.'|\de[-+]\d+", "", rest)):
        assert word in WORDS, "not one of our words: %r" % word
    assert not re.search(r"[`@!]", rest), "a sign that gnuplot acts on"


def svg(path, names):
    root = ET.parse(path).getroot()
    texts = ["".join(t.itertext()).strip() for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for name in names:
        assert any(name in t for t in texts), "%r is not in the picture" % name
    assert "NaN" not in open(path, encoding="utf-8").read(), "NaN"
    assert not re.search(r"\d\d:\d\d:\d\d", open(path, encoding="utf-8").read()), "a time"


def text(path, width):
    for line in open(path, encoding="ascii"):
        assert len(line.rstrip("\n")) <= int(width), "too wide: %r" % line
        assert line == "\n" or not line.endswith(" \n"), "blanks at the end: %r" % line


if __name__ == "__main__":
    {"script": script, "svg": lambda f, *n: svg(f, n), "text": text}[sys.argv[1]](*sys.argv[2:])

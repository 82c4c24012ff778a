#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fails unless all files give the same import JSON, apart from file, lines and facts of the mail."""
import json
import subprocess
import sys


def strip(node):
    if isinstance(node, dict):
        return {k: strip(v) for k, v in node.items() if k not in ('file', 'line', 'facts')}
    if isinstance(node, list):
        return [strip(v) for v in node]
    return node


def read(kdelta, path):
    p = subprocess.run([kdelta, 'import', '-n', '-o', 'json', path], capture_output=True, text=True)
    if p.returncode:
        sys.exit('%s: exit %d: %s' % (path, p.returncode, p.stderr.strip()))
    return strip(json.loads(p.stdout))


kdelta, first, *others = sys.argv[1:]
want = read(kdelta, first)
bad = [path for path in others if read(kdelta, path) != want]
for path in bad:
    print('%s differs from %s' % (path, first))
sys.exit(bool(bad) or not others or not want['tables'])

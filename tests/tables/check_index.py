#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `kdelta import -n -o json` against the cells of a tables index.

Usage: check_index.py KDELTA FOLDER FAMILY...
Names are compared without blanks, quotes and case, contained either way; numbers exactly.
"""
import json
import os
import re
import subprocess
import sys


def plain(s):
    return re.sub(r'[\s"\']', '', s or '').lower()


def alike(x, y):
    x, y = plain(x), plain(y)
    return x in y or y in x


def read(kdelta, path):
    p = subprocess.run([kdelta, 'import', '-n', '-o', 'json', path], capture_output=True, text=True)
    if p.returncode:
        return None, p.stderr
    return json.loads(p.stdout), p.stderr


def find(doc, cell):
    section, key, variant, field, number, _ = cell.split(';')
    found = []
    for t in doc['tables']:
        if section and not (t['section'] and alike(section, t['section'])):
            continue
        for row in t['rows']:
            if plain(row['key']) != plain(key):
                continue
            for c in row['cells']:
                if plain(c['variant']) == plain(variant):
                    return c[field]
                if alike(c['variant'], variant):
                    found.append(c[field])
    return found[0] if found else None


def agrees(value, number):
    if number in ('yes', 'no'):
        return value is (number == 'yes')
    number = number.rstrip('s')
    return value is not None and abs(value - float(number)) <= 1e-9 * max(1, abs(float(number)))


def check_variants(doc, row):
    groups = [[v.strip() for v in g.split(' | ')] for g in row['variants'].split(' || ')]
    bases = row['baseline'].split(' || ')
    for i, t in enumerate(doc['tables']):
        want = groups[min(i, len(groups) - 1)]
        got = [v['name'] for v in t['variants']]
        if len(want) != len(got) or not all(alike(x, y) for x, y in zip(want, got)):
            yield 'variants %s, wanted %s' % (got, want)
        if not alike(t['baseline'], bases[min(i, len(bases) - 1)]):
            yield 'baseline %s, wanted %s' % (t['baseline'], bases)


# rows beside those that the index counts: "7 + min, max", "12 + total", "2 x 3 metrics"
def count_of(text):
    n = int(re.match(r'\d+', text).group())
    times = re.match(r'\d+ x (\d+)', text)
    return n * int(times.group(1)) if times else n + len(re.findall(r'min|max|total', text))


def check_rows(doc, row):
    counts = [count_of(g) for g in row['rows'].split(' || ')]
    if row['family'] == 'bash-time':
        got = [len({r['metric'] for r in t['rows']}) for t in doc['tables']]
    elif any(re.match(r'run \d', r['key']) for t in doc['tables'] for r in t['rows']):
        got = [1 for t in doc['tables']]
    else:
        # RESULT and INDEX of one test of UnixBench are one row
        got = [len({(re.sub(' (RESULT|INDEX)$', '', r['key']), r['index']) for r in t['rows']})
               for t in doc['tables']]
    counts = [n for n in counts if n]
    if counts != got:
        yield 'rows %s, wanted %s' % (got, counts)


def check_direction(doc, row):
    """A direction that the text states has to come out; where it states none, ours may know it."""
    for t, want in zip(doc['tables'], row.get('direction', 'unknown').split(' || ')):
        if want in ('higher', 'lower') and t['direction'] != want:
            yield 'direction %s, wanted %s' % (t['direction'], want)


def main():
    kdelta, folder, families = sys.argv[1], sys.argv[2], sys.argv[3:]
    lines = open(os.path.join(folder, 'INDEX.tsv'), encoding='utf-8').read().splitlines()
    head = lines[0].split('\t')
    bad = cells = files = 0
    for line in lines[1:]:
        row = dict(zip(head, line.split('\t')))
        if row['family'] not in families:
            continue
        files += 1
        doc, err = read(kdelta, os.path.join(folder, row['file']))
        if doc is None:
            print('%s: %s' % (row['file'], err.strip()))
            bad += 1
            continue
        problems = list(check_variants(doc, row)) + list(check_rows(doc, row)) + \
            list(check_direction(doc, row))
        for cell in row['cells'].split(' | '):
            cells += 1
            value = find(doc, cell)
            if not agrees(value, cell.split(';')[4]):
                problems.append('%s: got %r' % (cell, value))
        if doc['refused']:
            problems.append('refused %s' % doc['refused'])
        if 'expected: warning' in row['oddities'] and not doc['warnings']:
            problems.append('no warning')
        for p in problems:
            print('%s: %s' % (row['file'], p))
        bad += bool(problems)
    print('%d files, %d cells, %d files with faults' % (files, cells, bad))
    return bad != 0 or not cells


if __name__ == '__main__':
    sys.exit(main())

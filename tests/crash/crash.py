#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The crash matrix: kills kdelta, or lets a system call of it fail, at each place where it changes
something outside itself (strace's injection, so calls inside libc and SQLite count too).

crash.py [--all] [--jobs N] [--seed N] [CASE...]

Of each case the calls are counted first. A place is a call with the functions of kdelta that lead to
it (--all) or with its file. --all: every call is killed at (a sample of MOST with every place where
there are more), and at every place every error of ERRORS is tried once, and ENOSPC from there on.
Otherwise FEW points of each that is fast. Afterwards the database must be whole, `db check` clean, nothing finished
lost, no setting changed, no file left behind, and the next command must end as if nothing had been.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import CASES, KDELTA, TOP, Folder  # noqa: E402

MOST, FEW = 300, 3
CHANGES = """write writev pwrite64 pwritev rename renameat renameat2 fsync fdatasync ftruncate fallocate
    unlink unlinkat rmdir link linkat symlink symlinkat mkdir mkdirat chmod fchmod fchmodat""".split()
READS = "openat read pread64 mmap fcntl flock pipe2 socketpair clone clone3 memfd_create".split()
CALLS = CHANGES + READS
DISK = ["ENOSPC", "EIO"]
ERRORS = {"write": DISK + ["EINTR"], "writev": DISK, "pwrite64": DISK + ["EINTR"], "rename": DISK + ["EROFS"],
          "fsync": DISK, "fdatasync": DISK, "ftruncate": DISK, "fallocate": DISK, "unlink": ["EIO", "EROFS"],
          "mkdir": ["ENOSPC", "EROFS"], "openat": ["EMFILE", "EIO"], "create": ["EROFS", "ENOSPC"],
          "read": ["EIO", "EINTR"],
          "pread64": ["EIO", "EINTR"], "mmap": ["ENOMEM"], "fcntl": ["EINTR", "ENOLCK"], "flock": ["EINTR", "ENOLCK"],
          "pipe2": ["EMFILE"], "socketpair": ["EMFILE"], "clone": ["EAGAIN"], "clone3": ["EAGAIN"],
          "memfd_create": ["EMFILE"], "fchmod": ["EROFS"], "link": ["EROFS"], "linkat": ["EROFS"], "rmdir": ["EIO"]}
ROOM = "pwrite64 ftruncate fallocate mkdir".split()
# counts: how many calls of each name there were before it
Point = collections.namedtuple("Point", "name counts call site what")


def strace(log, *options):
    return ["strace", "-qq", "-y", "-o", log, "-e", "trace=" + ",".join(CALLS), "-e", "signal=none", *options]


def disturbed(f, command, log, *options, limits=None, patience=120):
    return subprocess.run((strace(log, *options) if log else []) + [KDELTA, *command], cwd=f.path, env=f.env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=patience, preexec_fn=limits)


def read_calls(log, folder):
    """(name, counts, kind, file, changes, stack) of each call after the program's own start."""
    calls, started, counted = [], False, False
    counts = collections.Counter()
    with open(log, errors="replace") as lines:
        for line in lines:
            if line.startswith(" > "):
                m = re.match(r" > (\S*)\((\w[\w.]*)?\+?(0x\w+)?\)", line)
                if m and counted and m.group(1).endswith("kdelta"):
                    calls[-1][5].append("%s+%s" % (m.group(2), m.group(3)))
                continue
            m = re.match(r"(\w+)\(", line)
            if not m:
                continue
            name, counted = m.group(1), False
            before = dict(counts)
            counts[name] += 1
            files = re.findall(r'[<"]([^<>"]*)[>"]', line)
            where = next((x for x in files if folder in x), files[0] if files else "")
            started |= folder in line or "/configs/" in line or "/proc/" in line
            call = "create" if name == "openat" and "O_CREAT" in line else name
            ours = folder in line
            if not started or not (ours or name not in ("mmap", "openat", "read", "pread64")):
                continue
            if name == "fcntl" and "LK" not in line:
                continue
            where = re.sub(r"\.[A-Za-z0-9]{6}$|[0-9a-f]{8,}|\d+", "*", where.replace(folder, ""))
            calls.append((name, before, call, where, call in CHANGES or call == "create", []))
            counted = True
    return calls


def points_of(case, calls, everything, rng):
    """The points to try, how many there are in all, and how many places."""
    kills, errors, seen = [], [], set()
    for name, counts, call, where, changes, stack in calls:
        site = (call, where, tuple(stack))
        if changes:
            kills.append(Point(name, counts, call, site, "KILL"))
        if site in seen:
            continue
        seen.add(site)
        errors += [Point(name, counts, call, site, error) for error in ERRORS.get(call, [])]
        if call in ("pwrite64", "create", "ftruncate"):
            errors.append(Point(name, counts, call, site, "ENOSPC+"))
    total = len(kills) + len(errors)
    if everything:
        most = MOST // 3 if case.slow else MOST
        if len(kills) > most:
            by_site = {p.site: p for p in rng.sample(kills, len(kills))}
            taken = {id(p) for p in by_site.values()}
            rest = [p for p in kills if id(p) not in taken]
            kills = list(by_site.values()) + rng.sample(rest, max(0, min(len(rest), most - len(by_site))))
        if case.slow and len(errors) > most:
            errors = rng.sample(errors, most)
    else:
        kills, errors = rng.sample(kills, min(FEW, len(kills))), rng.sample(errors, min(FEW, len(errors)))
    return kills + errors, total, len(seen)


def wait_gone(folder):
    """The guard ends what a killed kdelta had started."""
    for _ in range(400):
        out = subprocess.run(["pgrep", "-f", folder + "/"], stdout=subprocess.PIPE, text=True).stdout.split()
        if not out:
            return
        time.sleep(0.02)
    raise AssertionError("processes are left: " + " ".join(out))


def files_of(folder):
    out = set()
    for where, _, names in os.walk(folder):
        if "/.git" in where or "/cache/" in where + "/":
            continue
        out |= {re.sub(r"-(wal|shm)$", "", os.path.relpath(os.path.join(where, n), folder)) for n in names}
    return out


def check_whole(f):
    if os.path.exists(f.path + "/kdelta.db") and os.path.getsize(f.path + "/kdelta.db"):
        db = sqlite3.connect(f.path + "/kdelta.db", timeout=20)
        found = db.execute("PRAGMA integrity_check").fetchall() + db.execute("PRAGMA foreign_key_check").fetchall()
        db.close()
        assert found == [("ok",)], "the database: %r" % found
        r = f.kdelta("db", "check")
        # parsing was cut off, and the finding says what brings it back
        bad = [x for x in r.stdout.splitlines() if ": " in x and "stored but never parsed" not in x
               and not x.startswith("kdelta: ")]
        assert not bad, "db check: " + r.stdout


class Worker:
    def __init__(self, case, number, scratch):
        self.case = case
        self.f = Folder("%s/%s-%d" % (scratch, case.name, number), number)
        self.log = self.f.path + ".log"
        os.makedirs(self.f.path + "/tmp")
        case.setup(self.f)
        os.rename(self.f.path, self.f.template)

    def reset(self):
        shutil.rmtree(self.f.path, ignore_errors=True)
        shutil.copytree(self.f.template, self.f.path, symlinks=True)

    def count(self, stacks):
        """An undisturbed one: its calls, and what it leads to."""
        self.reset()
        # naming functions of every call takes as long as the command has calls
        r = disturbed(self.f, self.case.command(self.f), self.log, *(["-k"] if stacks else []), patience=900)
        assert r.returncode in self.case.after, "undisturbed: exit %d: %s" % (r.returncode, r.stderr)
        calls = read_calls(self.log, self.f.path)
        self.done = self.case.state(self.f)
        self.follow()
        self.end, self.files = self.case.state(self.f), files_of(self.f.path)
        return calls

    def follow(self):
        command = self.case.next(self.f)
        if command:
            r = self.f.kdelta(*command)
            assert r.returncode in self.case.after + (0,), "the next, %s: exit %d: %s" % (
                " ".join(command), r.returncode, r.stdout)
        r = self.f.kdelta("db", "check")
        assert r.returncode == 0 or "no database" in r.stdout or "cannot open" in r.stdout, r.stdout
        self.case.settle(self.f)

    def check(self, r, killed):
        wait_gone(self.f.path)
        if r.returncode in self.case.after:
            assert self.case.state(self.f) == self.done, "exit %d, but not done: %s\n%r\nexpected\n%r" % (
                r.returncode, r.stderr, self.case.state(self.f), self.done)
        elif not killed and r.returncode not in self.case.gives_up:
            last = ([x for x in r.stderr.splitlines() if x.startswith("kdelta: ")] or [""])[-1]
            # 2: it is a file of the configuration that cannot be read
            assert r.returncode == (2 if "/configs/" in last else 1), "exit %d: %s" % (r.returncode, r.stderr)
            assert last, "no error is told: " + r.stderr
        check_whole(self.f)
        self.follow()
        if r.returncode in self.case.gives_up:
            return
        now = self.case.state(self.f)
        assert now == self.end, "it does not end alike:\n%r\nexpected\n%r\n%s" % (now, self.end, r.stderr)
        left = files_of(self.f.path) - self.files
        assert not left, "left behind: %s" % sorted(left)

    def attempt(self, point):
        """None: fine; "": the call did not come; else what is wrong."""
        self.reset()
        what = "signal=KILL" if point.what == "KILL" else "error=" + point.what.rstrip("+")
        more = "+" if point.what.endswith("+") else ""
        inject = []
        for name in ROOM if more else [point.name]:
            inject += ["-e", "inject=%s:%s:when=%d%s" % (name, what, point.counts.get(name, 0) + 1, more)]
        r = disturbed(self.f, self.case.command(self.f), self.log, *inject)
        with open(self.log, errors="replace") as log:
            reached = r.returncode == -signal.SIGKILL or "(INJECTED)" in log.read()
        try:
            self.check(r, r.returncode == -signal.SIGKILL)
        except (AssertionError, subprocess.TimeoutExpired, sqlite3.Error) as e:
            return "%s at %s %d, %s\n    %s\n    it said: %s" % (
                point.what, point.call, point.counts.get(point.name, 0) + 1,
                " < ".join((point.site[1],) + point.site[2][:6]), e, r.stderr)
        return None if reached else ""

    def attempt_short(self, scratch):
        """Every write is short: no error, and all is there."""
        library = "%s/short-%d.so" % (scratch, os.getpid())
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, TOP + "/tests/crash/short.c"], check=True)
        self.reset()
        self.f.env["LD_PRELOAD"] = library
        try:
            r = disturbed(self.f, self.case.command(self.f), None)
            assert r.returncode in self.case.after, "exit %d: %s" % (r.returncode, r.stderr)
            self.check(r, False)
        except (AssertionError, subprocess.TimeoutExpired, sqlite3.Error) as e:
            return "every write is short\n    %s" % e
        finally:
            del self.f.env["LD_PRELOAD"]
        return None

    def attempt_size(self, size):
        """A file may not grow beyond size bytes: the last write before is short."""
        def limits():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        self.reset()
        r = disturbed(self.f, self.case.command(self.f), None, limits=limits)
        try:
            self.check(r, False)
        except (AssertionError, subprocess.TimeoutExpired, sqlite3.Error) as e:
            return "files of at most %d bytes\n    %s\n    it said: %s" % (size, e, r.stderr)
        return None


def try_case(case, number, jobs, scratch, everything, seed):
    """This worker's share of a case: (tried, not reached, in all, places, faults)."""
    w = Worker(case, number, scratch)
    calls = w.count(everything)
    points, total, places = points_of(case, calls, everything, random.Random(seed))
    faults, missed, tried = [], 0, 0
    for point in points[number::jobs]:
        said = w.attempt(point)
        missed += said == ""
        tried += said != ""
        if said:
            faults.append(said)
    sizes = [] if case.slow else [s * 4096 + 1000 for s in (range(0, 60, 3) if everything else (1, 20))]
    more = [w.attempt_size(size) for size in sizes[number::jobs]] + ([w.attempt_short(scratch)] if number == 0 else [])
    faults += [said for said in more if said]
    tried += len(more)
    for path in (w.f.path, w.f.template):
        shutil.rmtree(path, ignore_errors=True)
    return tried, missed, total + len(sizes) + 1, places, faults


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--all", action="store_true")
    p.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    p.add_argument("--seed", type=int, default=10)
    p.add_argument("cases", nargs="*")
    o = p.parse_args()
    names = {c.name for c in CASES}
    for name in o.cases:
        if name not in names:
            p.error("no case '%s'; there are %s" % (name, " ".join(sorted(names))))
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = tempfile.mkdtemp(prefix="kdelta-crash.", dir=where)
    all_tried = bad = 0
    try:
        with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
            for case in [c for c in CASES if (c.name in o.cases if o.cases else o.all or not c.slow)]:
                start = time.monotonic()
                shares = [x.result() for x in [pool.submit(try_case, case, i, o.jobs, scratch, o.all, o.seed)
                                               for i in range(o.jobs)]]
                tried, missed = sum(s[0] for s in shares), sum(s[1] for s in shares)
                faults = [x for s in shares for x in s[4]]
                all_tried += tried
                bad += len(faults)
                print("%-12s %4d points tried of %5d (%d places), %d not reached, %d faults (%.0f s)" % (
                    case.name, tried, shares[0][2], shares[0][3], missed, len(faults), time.monotonic() - start),
                    flush=True)
                for fault in faults[:20]:
                    print("  " + fault)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("%d points tried, %d faults" % (all_tried, bad))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

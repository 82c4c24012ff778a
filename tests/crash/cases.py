# SPDX-License-Identifier: GPL-2.0-or-later
"""What the crash matrix disturbs: a folder made once, a command in it, the command after it, and
what must be the same in the end as if nothing had happened."""
import glob
import hashlib
import os
import sqlite3
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KDELTA = os.path.abspath(os.environ.get("KDELTA", "./kdelta"))

COUNT = """benchmark: count
description: prints a number
program: ./count.sh
complete: ^end$
expected: "0.1"
params:
  n: {type: count, default: 1}
metrics:
  score: {unit: points, direction: higher, mean: hmean, role: headline, pattern: "^score ([0-9.]+)$"}
"""
TOY = """benchmark: toy
description: prints a rate
program: sh
args: [-c, 'exec "$KDELTA_SOURCE/rate.sh"']
complete: ^end$
expected: "0.1"
metrics:
  rate: {unit: items/s, direction: higher, mean: hmean, role: headline, pattern: "^rate ([0-9.]+)$"}
"""
TOY_CAMPAIGN = """campaign: toy
repeat: %d
variants:
  - {name: template, source: {git: {repo: repo, ref: HEAD}, build: make -s, deadline: 20s}}
benchmarks:
  - toy: {}
"""
NIGHTLY = """nightly:
  repo: repo
  every: commit
  mail: {to: [list@b.org], from: ci@b.org, eml: mails}
  junit: junit.xml
  openmetrics: metrics.txt
  kcidb: kcidb.json
"""


class Folder:
    """A place of its own for one worker; every path of the program's lies below it."""

    def __init__(self, path, number):
        self.path = path
        self.template = path + ".template"
        # one setting a worker, which nothing else here touches
        self.sysctl = ("/proc/sys/vm/page-cluster", "/proc/sys/vm/dirtytime_expire_seconds")[number % 2]
        self.env = dict(
            os.environ, KDELTA_DB=path + "/kdelta.db", KDELTA_LOCK=path + "/lock", HOME=path,
            XDG_DATA_HOME=path + "/data", XDG_CONFIG_HOME=path + "/config", LC_ALL="C",
            XDG_CACHE_HOME=path + "/cache", XDG_STATE_HOME=path + "/state", TMPDIR=path + "/tmp",
            KDELTA_SHARE=TOP, KDELTA_LIBEXEC=os.path.join(TOP, os.environ.get("O", "build")),
            GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@b.org",
            GIT_COMMITTER_NAME="C", GIT_COMMITTER_EMAIL="c@b.org")

    def put(self, name, text, mode=0o644):
        name = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w") as f:
            f.write(text)
        os.chmod(name, mode)

    def kdelta(self, *args, **more):
        return subprocess.run([KDELTA, *args], cwd=self.path, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=120, **more)

    def must(self, *args):
        r = self.kdelta(*args)
        if r.returncode:
            raise SystemExit("kdelta %s: exit %d\n%s" % (" ".join(args), r.returncode, r.stdout))

    def git(self, *args):
        subprocess.run(["git", "-C", self.path + "/repo", *args], env=self.env, check=True)

    def commit(self, subject, level):
        self.put("repo/level", "%d\n" % level)
        self.put("repo/changes", subject)
        self.git("add", "-A")
        self.git("commit", "-qm", subject)

    def repository(self, repeat, more=""):
        self.put("benchmarks/toy.yaml", TOY)
        self.put("toy.yaml", TOY_CAMPAIGN % repeat + more)
        self.put("repo/rate.sh", '#!/bin/bash\necho "rate $(($(cat "${0%/*}/level") * 1000 + '
                 'RANDOM % 2000))"\necho end\n', 0o755)
        self.put("repo/Makefile", "all: level\n")
        subprocess.run(["git", "init", "-q", self.path + "/repo"], env=self.env, check=True)

    def query(self, sql):
        """Rows, without changing the file; none where there is no database yet."""
        name = self.path + "/kdelta.db"
        if not os.path.exists(name) or not os.path.getsize(name):
            return []
        db = sqlite3.connect(name, timeout=20)
        try:
            return sorted(map(repr, db.execute(sql).fetchall()))
        except sqlite3.OperationalError as e:
            if "no such table" in str(e):
                return []
            raise
        finally:
            db.close()

    def digest(self, *patterns):
        out = []
        for pattern in patterns:
            for name in sorted(glob.glob(os.path.join(self.path, pattern), recursive=True)):
                if os.path.isfile(name):
                    with open(name, "rb") as f:
                        out.append((name, hashlib.sha256(f.read()).hexdigest()))
        return out


CAMPAIGNS = """SELECT c.name, c.kind, c.ended IS NOT NULL,
    (SELECT group_concat(state) FROM (SELECT state FROM cells x WHERE x.campaign_id = c.id ORDER BY seq)),
    (SELECT count(*) FROM campaign_variants v WHERE v.campaign_id = c.id) FROM campaigns c"""
# a good run with what it printed and what was read from it
RUNS = """SELECT c.name, cv.name, t.name, r.block, r.outcome,
    (SELECT group_concat(sha256) FROM raws w WHERE w.run_id = r.id AND w.stream IN ('stdout', 'both')),
    (SELECT group_concat(m.name || '=' || s.value) FROM samples s JOIN metrics m ON m.id = s.metric_id
     WHERE s.run_id = r.id AND m.role = 'headline')
    FROM runs r JOIN campaigns c ON c.id = r.campaign_id JOIN test_cases t ON t.id = r.case_id
    JOIN campaign_variants cv ON cv.campaign_id = c.id AND cv.variant_id = r.variant_id
    WHERE r.outcome NOT IN ('error', 'partial')"""
# the same without figures, of what is random
NIGHT_RUNS = """SELECT c.name, cv.name, r.block, r.outcome, count(*) FROM runs r
    JOIN campaigns c ON c.id = r.campaign_id JOIN campaign_variants cv ON cv.campaign_id = c.id
    AND cv.variant_id = r.variant_id WHERE r.outcome = 'ok' GROUP BY 1, 2, 3, 4"""


class Case:
    name = ""
    slow = False  # one point takes seconds
    after = (0,)  # exit status of the command left alone
    gives_up = ()  # exit status of one that says that it cannot tell, and is not tried again

    def setup(self, f):
        raise NotImplementedError

    def command(self, f):
        raise NotImplementedError

    def next(self, f):
        """What a user would type after it; none: nothing is left to do."""
        return self.command(f)

    def state(self, f):
        return [f.query(CAMPAIGNS), f.query(RUNS), f.query("SELECT count(*), sum(mean) FROM summaries")]

    def settle(self, f):
        """What else must hold at the end; raises AssertionError."""


class Import(Case):
    name = "import"

    def setup(self, f):
        for kind in ("hackbench.whole", "tbench.bom"):
            with open("%s/tests/parsers/%s.raw" % (TOP, kind), errors="surrogateescape") as raw:
                f.put(kind + ".log", raw.read())

    def command(self, f):
        return ["import", "tbench.bom.log"]


class ImportMail(Import):
    """A second one, into a database that holds something; a table of a mail."""
    name = "import-table"

    def setup(self, f):
        super().setup(f)
        f.put("build-times", "real 1m1.5s\nuser 9m0.1s\nsys 0m8.2s\n")
        f.must("import", "hackbench.whole.log")

    def command(self, f):
        return ["import", "build-times"]


class Merge(Case):
    name = "merge"

    def setup(self, f):
        f.put("bin/one", "#!/bin/sh\necho one\n", 0o755)
        f.put("bin/two", "#!/bin/sh\necho two\n", 0o755)
        f.must("record", "two", "-r", "2", "--", "bin/two")
        os.rename(f.path + "/kdelta.db", f.path + "/before.db")
        f.must("merge", "before.db")
        f.must("record", "one", "-r", "2", "--", "bin/one")
        f.must("export", "-o", "b.tar.zst")
        os.rename(f.path + "/before.db", f.path + "/kdelta.db")

    def command(self, f):
        return ["merge", "b.tar.zst"]


class Export(Merge):
    name = "export"

    def setup(self, f):
        super().setup(f)
        f.must("merge", "b.tar.zst")

    def command(self, f):
        return ["export", "-o", "b.tar.zst"]

    def state(self, f):
        return super().state(f) + f.digest("b.tar.zst")


class Report(Case):
    """A file that takes the place of an older one."""
    name = "report"

    def setup(self, f):
        f.put("t.csv", "metric,base,new\nx,1.5,2.5\ny,3,2\n")
        f.must("import", "t.csv")
        f.put("out.html", "older")

    def command(self, f):
        return ["report", "-o", "html=out.html", "-o", "json=out.json"]

    def state(self, f):
        return [f.digest("out.html", "out.json")]


class Backup(Export):
    name = "backup"

    def command(self, f):
        return ["db", "backup", "copy.db"]

    def next(self, f):
        return [] if os.path.exists(f.path + "/copy.db") else self.command(f)

    def settle(self, f):
        r = f.kdelta("--db", f.path + "/copy.db", "list", "runs")
        assert r.returncode == 0 and r.stdout.count(" ok ") == 2, "the copy is none: " + r.stdout


class Reparse(Import):
    name = "reparse"

    def setup(self, f):
        super().setup(f)
        f.must("import", "hackbench.whole.log")
        f.must("import", "tbench.bom.log")
        db = sqlite3.connect(f.path + "/kdelta.db")
        db.execute("UPDATE samples SET value = 77")
        db.commit()
        db.close()

    def command(self, f):
        return ["db", "reparse"]


class Run(Case):
    name = "run"

    def setup(self, f):
        f.put("benchmarks/count.yaml", COUNT)
        f.put("benchmarks/count.sh", '#!/bin/bash\necho "score 1000"\necho end\n', 0o755)
        with open(f.sysctl) as s:
            self.before = s.read().strip()
        setting = "sysctl: {%s: %d}" % (f.sysctl[len("/proc/sys/"):].replace("/", "."), int(self.before) + 1)
        if not os.access(f.sysctl, os.W_OK):
            setting = "env: {ARM: 2}"
        f.put("c.yaml", "campaign: c\nrepeat: 2\nvariants: [{name: a}, {name: b, %s}]\n"
              "benchmarks:\n  - count: {n: [1, 2]}\n" % setting)

    def command(self, f):
        return ["run", "c.yaml"]

    def next(self, f):
        rows = f.query("SELECT ended IS NOT NULL FROM campaigns")
        return [] if "(1,)" in rows else self.command(f) + (["--resume"] if rows else [])

    def settle(self, f):
        with open(f.sysctl) as s:
            now = s.read().strip()
        if now != self.before:
            with open(f.sysctl, "w") as s:
                s.write(self.before)
        assert now == self.before, "%s is %s, it was %s" % (f.sysctl, now, self.before)


class Doctor(Case):
    name = "doctor"

    def setup(self, f):
        subprocess.run(["python3", TOP + "/tests/trees/make.py", "laptop", f.path + "/tree"], check=True)
        os.makedirs(f.path + "/tree/var/lib/kdelta")
        self.before = f.digest("tree/**")

    after = (5,)

    def command(self, f):
        return ["doctor", "--root", f.path + "/tree", "--fix"]

    def next(self, f):
        # a file of the tree, other than one of /sys, can be caught half written: nobody else's value
        return ["doctor", "--root", f.path + "/tree", "--restore", "--force"]

    def state(self, f):
        return [[(n, h) for n, h in f.digest("tree/**") if "/var/" not in n]]

    def settle(self, f):
        assert f.digest("tree/**") == self.before, "settings or a journal are left"


class Bisect(Case):
    name = "bisect"
    slow = True

    def setup(self, f):
        f.repository(1)
        for i in range(6):
            f.commit("change %d" % i, 800 if i >= 3 else 1000)
        log = subprocess.run(["git", "-C", f.path + "/repo", "log", "--reverse", "--format=%H"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        f.must("bisect", "start", "--config", "toy.yaml", "--repo", "repo", "--good", log[0], "--bad", log[-1])

    def command(self, f):
        return ["bisect", "run"]

    def next(self, f):
        return [] if "(1,)" in f.query("SELECT ended IS NOT NULL FROM bisections") else self.command(f)

    def state(self, f):
        r = f.kdelta("--json", "bisect", "status")
        return [[line for line in r.stdout.splitlines() if '"id"' in line or "subject" in line][:2]]


class Nightly(Case):
    name = "nightly"
    slow = True
    after = (0, 3)
    gives_up = (4,)  # a commit that could not be built, for whatever reason, is a night without figures

    def setup(self, f):
        f.repository(5, NIGHTLY)
        f.commit("change 1", 1000)
        f.must("nightly", "-q", "toy.yaml")
        f.commit("change 2", 700)

    def command(self, f):
        return ["nightly", "toy.yaml"]

    def state(self, f):
        return [f.query(NIGHT_RUNS), [n for n, _ in f.digest("mails/*", "*.xml", "metrics.txt", "kcidb.json")]]


CASES = [Import(), ImportMail(), Merge(), Export(), Report(), Backup(), Reparse(), Doctor(), Run(), Bisect(),
         Nightly()]

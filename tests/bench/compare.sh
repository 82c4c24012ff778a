#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU time (user + sys) of `kdelta compare` on five kernels, ten loads, two bindings, beside that of
# an empty program: on a busy machine both rise together.
set -eu
cd "$(dirname "$0")/../.."
kdelta=$(realpath "${KDELTA:-./kdelta}")
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 tests/cli/compare/fixture.py five "$dir/five.db"
"$kdelta" --db "$dir/five.db" compare >/dev/null # verdicts are kept once
python3 - "$kdelta" "$dir/five.db" <<'END'
import os, resource, sys

def cpu(args, n=100):
    """Milliseconds of CPU per run, without those of this process."""
    null = os.open(os.devnull, os.O_WRONLY)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(n):
        pid = os.posix_spawn(args[0], args, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
        if os.waitpid(pid, 0)[1]:
            sys.exit("%s failed" % " ".join(args))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(null)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / n

kdelta, db = sys.argv[1:]
print("an empty program            %6.2f ms of CPU" % cpu(["/bin/true"]))
for form in "mail", "json", "csv", "mmtests":
    print("compare, five kernels, %-7s %5.2f ms of CPU" % (form, cpu(
        [kdelta, "--db", db, "compare", "-o", form])))
END

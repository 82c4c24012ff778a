#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""message.py FILE EXPRESSION...: expressions over the message m of FILE and its bytes raw."""
import email
import email.policy
import sys
import time

with open(sys.argv[1], "rb") as f:
    raw = f.read()
m = email.message_from_bytes(raw, policy=email.policy.default)
if m.defects or any(v.defects for v in m.values()):
    sys.exit("defects: %s" % [m.defects] + [v.defects for v in m.values()])
for expression in sys.argv[2:]:
    if not eval(expression, {"m": m, "raw": raw, "time": time}):  # pylint: disable=eval-used
        print(raw.split(b"\n\n", 1)[0].decode())
        sys.exit("not so: " + expression)

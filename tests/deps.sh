#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the named Debian packages that are missing, with one apt line shown before it is run.
# DEPS=no skips it; SUDO= names the program that gets root where we are not root.
set -eu
[ "${DEPS:-yes}" != no ] || exit 0
missing=()
if ! command -v dpkg-query >/dev/null; then
	echo "kdelta: this is not Debian; please install the equivalents of: $*" >&2
	echo "kdelta: then run make with DEPS=no" >&2
	exit 1
fi
for p in "$@"; do
	dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
sudo=${SUDO-sudo}
[ "$(id -u)" != 0 ] || sudo=
cmd=(apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}")
echo "kdelta: missing packages; running (root is needed to install them):"
echo "    ${sudo:+$sudo }${cmd[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! ${sudo:+$sudo} "${cmd[@]}" >/dev/null 2>&1; then
	${sudo:+$sudo} apt-get -o DPkg::Lock::Timeout=300 update >/dev/null
	${sudo:+$sudo} "${cmd[@]}" >/dev/null
fi

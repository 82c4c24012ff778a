#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds kdelta for arm64 with Debian's cross compiler and runs its unit tests under qemu-user.
# The libraries are Debian's for arm64, unpacked below $O: nothing is installed, nobody need be root.
# Usage: tests/arm64.sh LIBRARY-PACKAGE... (O= in the environment, default build-arm64)
set -eu
cd "$(dirname "$0")/.."
O=${O:-build-arm64}
root=$(realpath -m "$O/root")
mkdir -p "$O"
need=()
for p in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64-static:qemu-user-static pkg-config:pkg-config; do
	command -v "${p%:*}" >/dev/null || need+=("${p#*:}")
done
[ ${#need[@]} -eq 0 ] || { echo "kdelta: please install: ${need[*]}" >&2; exit 1; }

# apt with lists, cache and status of its own, as if this were an empty arm64 machine
fetch() {
	local apt=$O/apt
	mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$root"
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-END
		APT::Architecture "arm64"; APT::Architectures "arm64";
		Dir::State "$PWD/$apt"; Dir::State::lists "$PWD/$apt/lists"; Dir::State::status "$PWD/$apt/status";
		Dir::Cache "$PWD/$apt"; Dir::Cache::archives "$PWD/$apt/archives";
		APT::Install-Recommends "false"; Debug::NoLocking "true"; APT::Sandbox::User "";
	END
	export APT_CONFIG=$PWD/$apt/apt.conf
	apt-get -q update
	apt-get -q -y --download-only install "$@"
	for p in "$apt"/archives/*.deb; do dpkg-deb -x "$p" "$root"; done
	touch "$root/complete"
}
[ -e "$root/complete" ] || fetch "$@" >"$O/fetch.log" 2>&1 || { tail -n 20 "$O/fetch.log"; exit 1; }

export PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
make -s -j"$(nproc)" O="$O" KDELTA="$O/kdelta" WERROR=1 CC="${CCACHE:-} aarch64-linux-gnu-gcc --sysroot=$root" all tests
export RUN_UNDER="qemu-aarch64-static -L $root"
$RUN_UNDER "$O/kdelta" --version
export O KDELTA=$O/kdelta
tests/run.sh unit/

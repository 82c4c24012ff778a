# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real kernel as a git repository, built as small as boots: Debian's source, and commits of one file
# each on top. Sourced after bisect.sh. KDELTA_TEST_CACHE: a folder in which the repository and the
# builds stay for the next test.
kernel_cache=${KDELTA_CACHE:-$HOME/.cache/kdelta}
kernel_files=(kernel/sched/fair.c kernel/futex/core.c kernel/signal.c fs/pipe.c mm/slub.c kernel/fork.c
	lib/string.c kernel/exit.c kernel/time/hrtimer.c)
export XDG_CACHE_HOME=${KDELTA_TEST_CACHE:-$T/cache} CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}
R=${KDELTA_TEST_CACHE:-$T}/repo

# kernel_needs: exit 77 where something is missing
kernel_needs() {
	for p in git make gcc flex bison bc hackbench qemu-system-x86_64; do
		command -v $p >/dev/null || { echo "$p is not installed"; exit 77; }
	done
	[ -e "$kernel_cache/source/linux-source-6.1/version" ] ||
		{ echo 'linux-source-6.1 is not in the cache (a kernbench run brings it)'; exit 77; }
}

# kernel_base: the source as a bare repository, tag base; made once. Debian's .gitignore ignores everything
kernel_base() {
	local tree base=$kernel_cache/test-trees/linux-6.1.git
	tree=$(dirname "$(find "$kernel_cache/source/linux-source-6.1/tree" -maxdepth 2 -name Kbuild | head -1)")
	(
		flock 9
		git --git-dir="$base" rev-parse -q --verify base >/dev/null 2>&1 && exit
		rm -rf "$base" && git init -q --bare "$base" || exit
		export GIT_DIR=$base GIT_WORK_TREE=$tree
		cd "$tree" || exit
		git -c core.bare=false -c core.compression=1 add -A -f &&
			git -c core.bare=false commit -qm 'Debian 6.1' && git tag base
	) 9>"$kernel_cache/linux-6.1.lock"
	echo "$base"
}

# kernel_repository: $R, of which only the files that commits touch are checked out
kernel_repository() {
	rm -rf "$R"
	git clone -q --shared --no-checkout "$(kernel_base)" "$R" || fail "no clone"
	git -C "$R" sparse-checkout set --no-cone "${kernel_files[@]/#//}" /kernel/sched/core.c
	git -C "$R" checkout -qf base || fail "no work tree"
}

# kernel_commit N: a mark in one of the files, for the build
kernel_commit() {
	printf '\nstatic const char kdelta_mark_%d[] __used = "%d";\n' "$1" "$1" \
		>>"$R/${kernel_files[$1 % ${#kernel_files[@]}]}"
	git -C "$R" commit -qam "synthetic $1"
}

# kernel_template: a variant. Without nolapic_timer such a guest polls the timer for nine of its twelve
# seconds of CPU
kernel_template() {
	local dir=$PWD/configs/kernel
	echo "{name: template, cmdline: nolapic_timer, kernel: {git: {repo: $R, ref: HEAD}, config: {target: tinyconfig, fragments: [$dir/guest.config, $dir/small.config, $dir/tiny.config]}}}"
}

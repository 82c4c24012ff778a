# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel of three files that knows the make targets of the real one; sourced after lib.sh.
export XDG_CACHE_HOME=$T/cache GIT_CONFIG_GLOBAL=$T/gitconfig GIT_AUTHOR_DATE='2024-01-01T00:00:00Z'
export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE CCACHE_DISABLE=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git config --file "$T/gitconfig" user.name Toy
git config --file "$T/gitconfig" user.email toy@example.org

# toy DIR: the tree in a new folder
toy() {
	local dir=$1
	mkdir -p "$dir/kernel/sched" "$dir/init"
	touch "$dir/Kbuild"
	cat >"$dir/Makefile" <<'EOF'
# make -C TREE O=OUT TARGET, as for the real one
src := $(CURDIR)
objs := init/version.o kernel/fork.o kernel/sched/core.o
ifneq ($(wildcard $(src)/kernel/new.c),)
objs += kernel/new.o
endif
tinyconfig:
	@echo "CONFIG_64BIT=y" >$(O)/.config
defconfig:
	@printf 'CONFIG_64BIT=y\nCONFIG_NET=y\n' >$(O)/.config
olddefconfig:
	@grep -q NEEDS $(O)/.config && sed -i '/NEEDS/d' $(O)/.config; tac $(O)/.config | awk -F= '!seen[$$1]++' | grep -v '=n$$' | tac >$(O)/.config.new
	@mv $(O)/.config.new $(O)/.config
$(O)/%.o: $(src)/%.c $(O)/.config
	@mkdir -p $(@D)
	@echo "  CC      $*.o"
	@$(CC) $(KCFLAGS) -g -O1 -ffreestanding -DSTAMP='"$(KBUILD_BUILD_TIMESTAMP) $(KBUILD_BUILD_USER)@$(KBUILD_BUILD_HOST)"' -c -o $@ $<
vmlinux: $(addprefix $(O)/,$(objs))
	@echo "  LD      vmlinux"
	@$(LD) --build-id -e 0 -o $(O)/vmlinux $^
bzImage: vmlinux
	@mkdir -p $(O)/arch/x86/boot
	@$(src)/boot.sh $(O)/arch/x86/boot/bzImage "$$(strings -a $(O)/vmlinux | sed -n 's/^Linux version //p')"
.PHONY: tinyconfig defconfig olddefconfig vmlinux bzImage
EOF
	cat >"$dir/boot.sh" <<'EOF'
#!/bin/bash
# a header as far as its version string
{
	head -c 510 /dev/zero; printf '\x55\xaa'; head -c 2 /dev/zero; printf 'HdrS'
	head -c 8 /dev/zero; printf '\x00\x02'; head -c 496 /dev/zero; printf '%s\0' "$2"
} >"$1"
EOF
	chmod +x "$dir/boot.sh"
	cat >"$dir/init/version.c" <<'EOF'
const char linux_banner[] = "Linux version 6.1.0-toy (" STAMP ") #1";
const char *const file = __FILE__;
EOF
	cat >"$dir/kernel/fork.c" <<'EOF'
int fork_count(void)
{
	return 1;
}
EOF
	cat >"$dir/kernel/sched/core.c" <<'EOF'
int wakeups;

int try_to_wake_up(int cpu)
{
	wakeups++;
	return cpu;
}

int yield_count(void)
{
	return 2;
}

int idle(void)
{
	return 3;
}
EOF
}

# toy_git DIR: the same as a repository with tag v1
toy_git() {
	toy "$1"
	git -C "$1" init -q -b main
	git -C "$1" add -A
	git -C "$1" commit -qm 'toy: the first'
	git -C "$1" tag v1
}

# edit SED-EXPRESSION FILE: an edit of $T/linux as a diff on stdout; the tree stays as it was
edit() {
	sed -i "$1" "$T/linux/$2"
	git -C "$T/linux" diff
	git -C "$T/linux" checkout -q -- .
}

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest of QEMU that plays a target: sshd on a loopback port, a disk that outlives its kernels,
# and a plain restart that leads back to its safe kernel. Sourced after lib.sh; sets $old, $new
# (images), $old_release, $new_release, $initrd_old, $initrd_new, and the options of ssh.
# shellcheck disable=SC2034
skip() { echo "$*"; exit 77; }
for p in qemu-system-x86_64 busybox cpio hackbench tbench dropbear mke2fs python3 ssh ssh-keygen xz apt-get; do
	PATH=$PATH:/usr/sbin command -v $p >/dev/null || skip "$p is not installed"
done
ldd "$(command -v busybox)" 2>&1 | grep -q 'not a dynamic' || skip "busybox is not static"

# Packages with their modules, kept beside the cached kernels.
packages() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/kdelta/test-targets meta p
	mkdir -p "$cache"
	for meta in linux-image-cloud-amd64 linux-image-6.12-cloud-amd64; do
		p=$(apt-cache depends $meta 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}')
		[ -n "$p" ] || skip "apt knows no $meta"
		[ -d "$cache/$p" ] || (
			cd "$cache" && mkdir "$p.new" && cd "$p.new" &&
				apt-get -qq -o APT::Sandbox::User=root download "$p" >/dev/null 2>&1 &&
				dpkg-deb -x ./*.deb . && rm ./*.deb && cd .. && mv "$p.new" "$p"
		) || { rm -rf "$cache/$p.new"; skip "cannot download $p"; }
		echo "$cache/$p"
	done
}
packages >"$T/packages" || { cat "$T/packages"; exit 77; }
{ read -r old_dir; read -r new_dir; } <"$T/packages"
old=$(echo "$old_dir"/boot/vmlinuz-*) new=$(echo "$new_dir"/boot/vmlinuz-*)
old_release=${old##*/vmlinuz-} new_release=${new##*/vmlinuz-}

ssh-keygen -q -t ed25519 -N '' -f "$T/id"
dropbearkey -t ed25519 -f "$T/host_key" >"$T/host_key.txt" 2>/dev/null

# initrd DIR RELEASE OUT: everything but the disk; the modules are those of one kernel
initrd() {
	local root=$T/root.$2 m f
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,etc/dropbear,root/.ssh,mod,var/lib/kdelta,boot,usr/share/dbench,run}
	cp "$(command -v busybox)" "$root/bin/busybox"
	for f in hackbench tbench tbench_srv dropbear; do cp "$(PATH=$PATH:/usr/sbin command -v $f)" "$root/bin/"; done
	ldd "$root"/bin/{hackbench,tbench,tbench_srv,dropbear} | grep -oE '/[^ ]+\.so[^ ]*' | sort -u |
		while read -r f; do cp -L --parents "$f" "$root/"; done
	cp -L --parents /lib/x86_64-linux-gnu/libnss_files.so.2 "$root/" 2>/dev/null || :
	head -n 50000 /usr/share/dbench/client.txt >"$root/usr/share/dbench/client.txt"
	cp "$T/host_key" "$root/etc/dropbear/"
	cp "$T/id.pub" "$root/root/.ssh/authorized_keys"
	chmod -R go-w "$root/root"
	echo 'root::0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	echo /bin/sh >"$root/etc/shells"
	for m in failover net_failover virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk virtio_net; do
		f=$(find "$1/lib/modules/$2" -name "$m.ko*" | head -n 1)
		case $f in
		*.xz) xz -dc "$f" >"$root/mod/$m.ko" ;;
		?*) cp "$f" "$root/mod/$m.ko" ;;
		esac
	done
	! declare -F more_files >/dev/null || more_files "$root" # of the test
	cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmp /dev/shm
case $(cat /proc/cmdline) in
*kd.panic*) echo c >/proc/sysrq-trigger ;;
*kd.hang*) sleep 100000 ;;
esac
for pass in 1 2 3; do for m in /mod/*.ko; do insmod $m 2>/dev/null; done; done
mount -t ext4 /dev/vda /var/lib/kdelta
mount --bind /var/lib/kdelta/boot /boot
hostname target
ifconfig lo 127.0.0.1 up
case $(cat /proc/cmdline) in
*kd.offline*) for a in /var/lib/kdelta/kdelta-agent-*; do $a guard /var/lib/kdelta 5 & done ;;
*) ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up ;;
esac
echo "TARGET UP $(uname -r)" >/dev/console
[ ! -x /bin/at-boot ] || /bin/at-boot &
while :; do dropbear -F -E -s -r /etc/dropbear/host_key -p 22; sleep 1; done
INIT
	chmod +x "$root/init"
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$3"
}
initrd_old=$T/initrd.$old_release initrd_new=$T/initrd.$new_release
initrd "$old_dir" "$old_release" "$initrd_old"
initrd "$new_dir" "$new_release" "$initrd_new"

# The disk: the target's /boot, where one image lies that is another kernel than it says.
mkdir -p "$T/disk.d/boot"
! declare -F disk_files >/dev/null || disk_files "$T/disk.d"
cp "$new" "$T/disk.d/boot/vmlinuz-6.1.0-99-other"
cp "$initrd_new" "$T/disk.d/boot/initrd.img-6.1.0-99-other"
PATH=$PATH:/usr/sbin mke2fs -q -t ext4 -d "$T/disk.d" "$T/disk" "${DISK_SIZE:-160M}"

port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
{ printf '[127.0.0.1]:%s ' "$port"; grep -E '^ssh-ed25519' "$T/host_key.txt" | cut -d' ' -f1,2; } >"$T/known_hosts"

accel=tcg
[ ! -w /dev/kvm ] || accel=kvm
# The safe kernel is the old one. no_timer_check: a kernel on a busy machine may miss the ticks it
# counts to test its timer, and panics.
power_on() {
	qemu-system-x86_64 -machine q35 -accel $accel -cpu max -m 512 -nodefaults -no-user-config \
		-display none -serial "file:$T/console" -monitor "unix:$T/monitor,server,nowait" \
		-netdev "user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" \
		-device virtio-net-pci,netdev=n,romfile= -drive "file=$T/disk,if=virtio,format=raw" \
		-kernel "$old" -initrd "$initrd_old" -append "console=ttyS0 panic=1 quiet no_timer_check" \
		</dev/null >"$T/qemu.out" 2>&1 &
	qemu=$!
}
power_off() { kill -9 "$qemu" 2>/dev/null || :; wait "$qemu" 2>/dev/null || :; }
trap 'power_off; rm -rf "$T"' EXIT
there() { # a command on the target
	ssh -n -T -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$T/known_hosts" \
		-o ConnectTimeout=10 -o LogLevel=ERROR -i "$T/id" -p "$port" root@127.0.0.1 "$@"
}
wait_up() {
	local i
	for ((i = 0; i < 90; i++)); do
		there true 2>"$T/there.err" && return
		kill -0 "$qemu" 2>/dev/null || fail "the target is off: $(cat "$T/qemu.out")"
		sleep 1
	done
	tail -n 20 "$T/console"; fail "the target did not come up: $(cat "$T/there.err")"
}
target_options=(--port "$port" --identity "$T/id" --known-hosts "$T/known_hosts")

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a small copy of /proc and /sys as a kind of machine shows them: make.py KIND FOLDER.

server  256 CPUs on two sockets, SMT, cpuidle, cpufreq, RAPL
hostile files that are huge, binary, endless or no files at all
laptop  two kinds of cores, on battery, with all that a desktop runs
vm      a guest of QEMU without cpufreq and cpuidle
v1 v2   a container with control groups of version 1 or 2, and a CPU quota
arm64   a board with big and little cores
damaged files that are empty, cut, or hold no value
"""
import gzip
import os
import sys

IDLE = ["POLL", "C1", "C1E", "C6"]


class Tree:
    def __init__(self, root):
        self.root = root
        self.step = 0

    def path(self, name):
        path = self.root + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def put(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())


def columns(values):
    return "".join(" %10d" % v for v in values)


def counters(t, cpus, step):
    """What moves while a machine runs, after so many steps."""
    n = range(cpus)
    head = "     " + "".join("%11s" % ("CPU%d" % c) for c in n)
    soft = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
    t.put("/proc/softirqs", "          %s\n%s" % (head, "".join(
        "%12s:%s\n" % (s, columns((k + 1) * 1000 + c + step * (k + 1) for c in n))
        for k, s in enumerate(soft))))
    rows = ["%4s:%s  IR-PCI-MSIX-0000:3b:00.0  %d-edge      eth0-TxRx-%d\n"
            % (40 + i, columns(i if c == i % cpus else 0 for c in n), i, i) for i in range(cpus)]
    named = [("NMI", "Non-maskable interrupts"), ("LOC", "Local timer interrupts"),
             ("RES", "Rescheduling interrupts"), ("CAL", "Function call interrupts"),
             ("TLB", "TLB shootdowns")]
    rows += ["%4s:%s   %s\n" % (k, columns(123456 + c + 3 * step for c in n), w) for k, w in named]
    t.put("/proc/interrupts", head + "\n" + "".join(rows) + " ERR:          0\n")
    cpu = "cpu%s  %d 20 %d %d 30 0 6 %d 0 0\n"
    t.put("/proc/stat", cpu % ("", 1000 + 60 * step, 400 + 20 * step, 90000 + 15 * step, 5 * step)
          + "".join(cpu % (c, 10, 4, 900, 0) for c in n)
          + "intr %d%s\nctxt %d\nbtime 1700000000\nprocesses %d\nprocs_running 3\nprocs_blocked 0\n"
          % (911312 + 100 * step, " 0" * 400, 1832211 + 1000 * step, 4120 + step))
    t.put("/proc/vmstat", "nr_free_pages %d\n" % (5742210 - step) + "".join(
        "%s %d\n" % (k, 48211031 + 7 * step) for k in ("pgpgin", "pgpgout", "pgfault", "pgfree"))
        + "pswpin 0\npswpout 0\n" + "".join("counter_%d %d\n" % (i, i) for i in range(150)))
    domains = "".join("domain%d ffffffff %s\n" % (d, " ".join(["12"] * 34 + [str(7 + step), "3"]))
                      for d in range(4))
    t.put("/proc/schedstat", "version 15\ntimestamp 4294900000\n" + "".join(
        "cpu%d 0 0 %d 90 %d 40 81230112 %d 90122\n%s"
        % (c, 500 + step, 300 + step, 4402133 + 1000000 * step, domains) for c in n))
    t.put("/proc/loadavg", "%d.20 0.18 0.12 1/80 11206\n" % step)


def server(t):
    cpus = 256
    counters(t, cpus, 0)
    t.put("/proc/meminfo", "MemTotal: 527990412 kB\nMemFree: 512000000 kB\nHugePages_Total: 0\n")
    for name in ("cpu", "memory", "io"):
        t.put("/proc/pressure/" + name,
              "some avg10=0.00 avg60=0.12 avg300=0.08 total=1203311\n"
              "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
    t.put("/proc/net/dev", "Inter-|   Receive\n face |bytes\n    lo: 1203311 802 0 0 0 0 0 0 "
          "1203311 802 0 0 0 0 0 0\n  eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n")
    t.put("/dev/kmsg", "6,1,0,-;Linux version 6.1.0\n")
    for c in range(cpus):
        cpu = "/sys/devices/system/cpu/cpu%d" % c
        for i, name in enumerate(IDLE):
            state = "%s/cpuidle/state%d/" % (cpu, i)
            t.put(state + "name", name + "\n")
            t.put(state + "time", "%d\n" % (1000 * (i + 1)))
            t.put(state + "usage", "%d\n" % (10 * (i + 1)))
        t.put(cpu + "/cpufreq/scaling_cur_freq", "%d\n" % (2100000 + 1000 * c))
        t.put(cpu + "/cpufreq/scaling_governor", "schedutil\n" if c == 200 else "performance\n")
        t.put(cpu + "/thermal_throttle/core_throttle_count", "0\n")
    for node in range(2):
        t.put("/sys/devices/system/node/node%d/numastat" % node,
              "numa_hit 1203311\nnuma_miss 0\nlocal_node 1203000\nother_node 311\n")
        zone = "/sys/class/powercap/intel-rapl:%d/" % node
        t.put(zone + "name", "package-%d\n" % node)
        t.put(zone + "energy_uj", "91231233445\n")
    t.put("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
    t.put("/sys/class/thermal/thermal_zone0/temp", "48000\n")


def hostile(t):
    t.put("/proc/softirqs", bytes(range(256)) * 50)
    t.put("/proc/interrupts", "CPU0\n" + "1" * 400000 + ": 5 x\n  2: 99999999999999999999999 x\n3:\n:")
    os.mkfifo(t.path("/proc/stat"))
    os.makedirs(t.path("/proc/meminfo/x"))
    os.symlink("/dev/zero", t.path("/proc/vmstat"))
    os.symlink("loadavg", t.path("/proc/loadavg"))
    t.put("/proc/schedstat", "cpu0\ndomain0\ncpu1 -5 nan 1e400\n" + "domain0 f" + " 1" * 100000 + "\n")
    t.put("/proc/pressure/cpu", "some total=\nfull total=18446744073709551616\nsome total=12\n")
    t.put("/proc/pressure/\x1b[31mred \n", "some total=12\n")
    t.put("/proc/net/dev", "lo:\nlo: 1 2\n")
    t.put("/dev/kmsg", "")
    t.put("/proc/config.gz", gzip.compress(b"CONFIG_SMP=y\n" * (1 << 20), mtime=0))
    t.put("/sys/class/power_supply/mouse/status", "Discharging\n")
    t.put("/sys/class/power_supply/mouse/scope", "Device\n")
    for i in range(3):
        t.put("/sys/devices/system/cpu/cpu0/cpuidle/state%d/time" % i, "")
    t.put("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "\x1b]0;x\x07 a\tb\n")
    t.put("/sys/devices/system/cpu/cpu0/cpuidle/state2/name", "\0\n")
    with open(t.path("/sys/devices/system/node/node0/numastat"), "wb") as f:
        f.truncate(1 << 40)


CPU = "/sys/devices/system/cpu/"
KERNEL = "/proc/sys/kernel/"


def machine(t, cpus, files):
    """What every machine has, idle for an hour, and what is special to one."""
    common = {
        CPU + "online": "0-%d\n" % (cpus - 1), CPU + "offline": "\n", CPU + "isolated": "\n",
        CPU + "vulnerabilities/meltdown": "Not affected\n",
        CPU + "vulnerabilities/spectre_v1": "Mitigation: usercopy barriers\n",
        "/proc/stat": "cpu  1000 0 400 900000 30 0 6 0 0 0\n",
        "/proc/loadavg": "0.10 0.18 0.12 1/80 11206\n", "/proc/uptime": "3600.20 7100.10\n",
        "/proc/meminfo": "MemTotal: 16384000 kB\nMemAvailable: 15000000 kB\nSwapTotal: 0 kB\n"
                         "SwapFree: 0 kB\nDirty: 120 kB\nWriteback: 0 kB\n",
        "/proc/self/status": "Cpus_allowed_list:\t0-%d\n" % (cpus - 1),
        "/proc/self/cgroup": "0::/user.slice\n", "/sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
        "/proc/cmdline": "root=/dev/sda1 ro quiet\n", "/proc/1/comm": "systemd\n",
        "/proc/version": "Linux version 6.1.0-9 (b@h) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld "
                         "(GNU Binutils for Debian) 2.40) #1 SMP Debian 6.1.27-1 (2023-05-08)\n",
        KERNEL + "osrelease": "6.1.0-9\n", "/boot/config-6.1.0-9": "CONFIG_SMP=y\n",
        KERNEL + "random/boot_id": "0d4f7c9a-1111-2222-3333-444455556666\n",
        KERNEL + "tainted": "0\n", KERNEL + "nmi_watchdog": "1\n", KERNEL + "numa_balancing": "0\n",
        KERNEL + "randomize_va_space": "2\n", KERNEL + "core_pattern": "core\n",
        "/sys/kernel/mm/ksm/run": "0\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    }
    common.update(files)
    for name, text in common.items():
        t.put(name, text)


def frequency(cpus, driver, governor, least, most):
    files = {}
    for c in cpus:
        for name, value in (("scaling_driver", driver), ("scaling_governor", governor),
                            ("scaling_max_freq", most), ("cpuinfo_max_freq", most),
                            ("scaling_min_freq", least)):
            files["%scpu%d/cpufreq/%s" % (CPU, c, name)] = "%s\n" % value
    return files


def laptop(t):
    files = frequency(range(4), "intel_pstate", "powersave", 400000, 4700000)
    files.update(frequency(range(4, 12), "intel_pstate", "powersave", 400000, 3300000))
    for c in range(12):
        files["%scpu%d/cpufreq/energy_performance_preference" % (CPU, c)] = "balance_power\n"
        files["%scpu%d/thermal_throttle/core_throttle_count" % (CPU, c)] = "%d\n" % (12 - c)
    for i, (name, latency) in enumerate((("POLL", 0), ("C1E", 2), ("C8", 200), ("C10", 230))):
        state = "%scpu0/cpuidle/state%d/" % (CPU, i)
        files.update({state + "name": name + "\n", state + "latency": "%d\n" % latency,
                      state + "disable": "0\n"})
    for i, name in enumerate(("power-profiles-", "thermald", "irqbalance", "packagekitd")):
        files["/proc/%d/comm" % (700 + i)] = name + "\n"
    files.update({
        "/proc/cpuinfo": "model name\t: 12th Gen Core\nmicrocode\t: 0x42c\nflags\t\t: fpu vme\n",
        CPU + "intel_pstate/no_turbo": "0\n", CPU + "smt/active": "1\n",
        "/sys/devices/cpu_core/cpus": "0-3\n", "/sys/devices/cpu_atom/cpus": "4-11\n",
        "/sys/class/power_supply/BAT0/status": "Discharging\n",
        "/proc/config.gz": gzip.compress(b"CONFIG_SMP=y\nCONFIG_DEBUG_PREEMPT=y\n", mtime=0),
        "/sys/firmware/acpi/platform_profile": "balanced\n",
        "/proc/loadavg": "1.72 0.80 0.40 2/900 11206\n", KERNEL + "sched_autogroup_enabled": "1\n",
        KERNEL + "tainted": "4608\n"})
    machine(t, 12, files)


def vm(t):
    machine(t, 2, {
        "/proc/cpuinfo": "model name\t: QEMU Virtual CPU\nmicrocode\t: 0x1\nflags\t\t: fpu hypervisor\n",
        "/sys/class/dmi/id/sys_vendor": "QEMU\n", KERNEL + "nmi_watchdog": "0\n",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
        "/proc/stat": "cpu  1000 0 400 90000 30 0 6 2000 0 0\n"})


def container(t, groups):
    groups["/run/systemd/container"] = "docker\n"
    groups["/proc/self/status"] = "Cpus_allowed_list:\t4-7\n"
    groups["/proc/cpuinfo"] = "model name\t: Some CPU\nflags\t\t: fpu vme\n"
    machine(t, 64, groups)


def v1(t):
    # without a namespace the paths are the host's, and the folder is that of the container
    container(t, {
        "/proc/self/cgroup": "5:cpu,cpuacct:/docker/0a1b\n4:memory:/docker/0a1b\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n"})


def v2(t):
    container(t, {
        "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/memory.max": "2147483648\n"})


def arm64(t):
    files = frequency(range(6), "cpufreq-dt", "schedutil", 408000, 1800000)
    for c in range(6):
        files["%scpu%d/cpu_capacity" % (CPU, c)] = "1024\n" if c > 3 else "485\n"
    files.update({
        "/proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n",
        CPU + "cpu0/cpuidle/state0/name": "WFI\n", CPU + "cpu0/cpuidle/state0/latency": "1\n",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter\n",
        "/proc/swaps": "", KERNEL + "nmi_watchdog": "0\n"})
    machine(t, 6, files)


def damaged(t):
    machine(t, 4, {})
    for folder, _, names in os.walk(t.root):
        for i, name in enumerate(sorted(names)):
            with open(os.path.join(folder, name), "r+b") as f:
                text = f.read()
                f.seek(0)
                f.truncate()
                f.write((b"", b"\n", text[:len(text) // 2], b"\xff\xfe: -\n", b"cpu 1 x\n")[(i + len(folder) - len(t.root)) % 5])


KINDS = {"server": server, "hostile": hostile, "laptop": laptop, "vm": vm, "v1": v1, "v2": v2,
         "arm64": arm64, "damaged": damaged}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "step":
        counters(Tree(sys.argv[3]), 256, int(sys.argv[2]))
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS:
        sys.stderr.write(__doc__)
        return 2
    KINDS[sys.argv[1]](Tree(sys.argv[2]))
    return 0


sys.exit(main())

import { type Call, call } from "./calls.ts";

/** One attempt, as a Perl expression that is true if it succeeded. A successful attempt does no harm. */
export interface Probe {
  readonly name: string;
  readonly attempt: string;
  /** How it may end: names of errors, or of the signal that ended it. Any other end is a way out, or one not judged yet. */
  readonly ends: readonly string[];
}

const FORBIDDEN = ["EPERM"];
const NONE = ["ENOSYS"];
const NO_FAMILY = ["EAFNOSUPPORT"];
const ABSENT = ["ENOENT"];
const CLOSED = ["EACCES", "EROFS", "EPERM", "ENOENT"];
/** How an attempt ends that got through. */
const THROUGH = "GOT";

const probe = (name: string, attempt: string, ends: readonly string[]): Probe => ({ name, attempt, ends });

/** A system call with its arguments in Perl. */
const sys = (name: string, which: Call, args: string, ends: readonly string[] = FORBIDDEN): Probe =>
  probe(name, `c(${[call(which), args].filter((text) => text !== "").join(",")})`, ends);

const NAMESPACES = {
  user: 1 << 28,
  mount: 1 << 17,
  net: 1 << 30,
  pid: 1 << 29,
  ipc: 1 << 27,
  uts: 1 << 26,
  cgroup: 1 << 25,
};

/** A new process in a new namespace: it ends at once where there is one. */
const cloneInto = (flags: number): string =>
  `(sub { my $r = syscall(${call("clone")}, ${flags | 17}, 0, 0, 0, 0); CORE::exit(0) if $r == 0; $r != -1 })->()`;

const namespaces: readonly Probe[] = [
  ...Object.entries(NAMESPACES).flatMap(([name, flag]) => [
    sys(`unshare ${name}`, "unshare", String(flag)),
    // Docker before 23 takes no other answer than this one for calls that no rule of a profile names.
    probe(`clone into a new ${name} namespace`, cloneInto(flag), [...NONE, ...FORBIDDEN]),
  ]),
  sys("unshare time", "unshare", "0x80"),
  sys("clone3", "clone3", `"\\0" x 64, 64`, NONE),
  probe("setns to the namespaces of process 1", `(open(F,"<","/proc/1/ns/net") && c(${call("setns")},fileno(F)+0,0))`, [
    "EPERM",
    "EACCES",
  ]),
];

const mounts: readonly Probe[] = [
  sys("mount a tmpfs", "mount", `"none","/tmp","tmpfs",0,0`),
  sys("mount proc", "mount", `"none","/tmp","proc",0,0`),
  sys("mount a cgroup", "mount", `"none","/tmp","cgroup",0,0`),
  sys("remount the root", "mount", `"none","/","none",0x20,0`),
  sys("bind mount", "mount", `"/","/tmp","none",0x1000,0`),
  sys("umount", "umount2", `"/proc/kcore",2`),
  sys("pivot_root", "pivot_root", `"/","/"`),
  sys("chroot", "chroot", `"/"`),
  sys("fsopen", "fsopen", `"tmpfs",0`),
  sys("fspick", "fspick", `-100,"/",0`),
  sys("open_tree as a clone", "open_tree", `-100,"/",1`),
  sys("move_mount", "move_mount", `-100,"/tmp",-100,"/tmp",0`),
  sys("mount_setattr", "mount_setattr", `-100,"/",0,"\\0" x 32,32`),
  sys("open_by_handle_at", "open_by_handle_at", `-100,"\\0" x 64,0`),
  sys("quotactl", "quotactl", "0,0,0,0"),
];

const kernel: readonly Probe[] = [
  sys("keyctl", "keyctl", "0,-3,0,0,0"),
  sys("add_key", "add_key", `"user","a","b",1,-3`),
  sys("request_key", "request_key", `"user","a",0,-3`),
  sys("bpf", "bpf", `0,"\\0" x 64,64`),
  sys("perf_event_open", "perf_event_open", `"\\0" x 112,0,-1,-1,0`),
  sys("userfaultfd", "userfaultfd", "0"),
  sys("io_uring_setup", "io_uring_setup", `1,"\\0" x 120`, NONE),
  sys("io_uring_enter", "io_uring_enter", "0,0,0,0,0,0", NONE),
  sys("init_module", "init_module", `"",0,""`),
  sys("finit_module", "finit_module", `0,"",0`),
  sys("delete_module", "delete_module", `"no-such-module",0x800`),
  sys("kexec_load", "kexec_load", "0,0,0,0"),
  sys("fanotify_init", "fanotify_init", "0,0"),
  sys("process_vm_readv of process 1", "process_vm_readv", "1,0,0,0,0,0"),
  sys("kcmp", "kcmp", "1,1,0,0,0"),
  sys("pidfd_getfd", "pidfd_getfd", "0,0,0", ["EPERM", "ENOSYS"]),
  sys("reboot", "reboot", "0,0,0,0"),
  sys("sethostname", "sethostname", `"x",1`),
  sys("setdomainname", "setdomainname", `"x",1`),
  sys("settimeofday", "settimeofday", "0,0"),
  sys("adjtimex that sets", "adjtimex", `pack("L", 2) . "\\0" x 256`),
  sys("swapon", "swapon", `"/tmp",0`),
  sys("acct", "acct", "0"),
  sys("the kernel's log", "syslog", `3,"\\0" x 64,64`),
  sys("personality without protections", "personality", "0x0400000", ["EPERM", "ENOSYS"]),
  sys("mbind", "mbind", "0,0,0,0,0,0"),
  sys("capset of all", "capset", `pack("LL",0x20080522,0), pack("L6",0xffffffff,0xffffffff,0,0xff,0xff,0)`),
  sys("real-time scheduling", "sched_setscheduler", `0,1,pack("L",50)`),
  sys("real-time disk priority", "ioprio_set", "1,0,1<<13"),
  sys("more open files", "setrlimit", `7,pack("QQ",1<<20,1<<20)`),
  ...(process.arch === "x64"
    ? [
        probe("calls of the x32 kind", `c(0x40000000 + ${call("getpid")})`, ["SIGSYS", "ENOSYS"]),
        // getpid and exit by interrupt 0x80, in a 32-bit program of 100 bytes.
        probe("calls of 32 bits", `elf32()`, ["SIGSYS", "ENOEXEC"]),
      ]
    : []),
];

/** Families and kinds of sockets by number: all except IPv4, IPv6, Unix and the routing part of netlink. */
const sockets: readonly Probe[] = [
  ...Object.entries({
    vsock: 40,
    alg: 38,
    xdp: 44,
    bluetooth: 31,
    can: 29,
    tipc: 30,
    rds: 21,
    key: 15,
    packet: 17,
  }).map(([name, family]) => probe(`socket of the ecosystem ${name}`, `socket(S,${family},3,0)`, NO_FAMILY)),
  ...Object.entries({ netfilter: 12, audit: 9, "kobject events": 15, generic: 16, crypto: 21, xfrm: 6 }).map(
    ([name, protocol]) => probe(`netlink to ${name}`, `socket(S,16,3,${protocol})`, NO_FAMILY),
  ),
  probe("raw socket", "socket(S,2,3,1)", FORBIDDEN),
  probe("raw socket of IPv6", "socket(S,10,3,58)", FORBIDDEN),
  probe("addresses of the network", `ran("ip addr add 10.9.9.9/32 dev lo")`, ["FAILED"]),
  probe("routes of the network", `ran("ip route add 10.9.9.0/24 dev lo")`, ["FAILED"]),
  probe("another link", `ran("ip link add type dummy")`, ["FAILED"]),
];

const devices: readonly Probe[] = [
  ...Object.entries({ mem: "0x101", kmsg: "0x10b", disk: "0x800", loop: "0x700" }).map(([name, number]) =>
    sys(
      `make the device ${name}`,
      "mknodat",
      `-100,"/tmp/dev-${name}",${name === "disk" || name === "loop" ? "060600" : "020600"},${number}`,
    ),
  ),
  ...[
    "mem",
    "port",
    "kmsg",
    "loop0",
    "loop-control",
    "fuse",
    "net/tun",
    "kvm",
    "vhost-vsock",
    "sda",
    "vda",
    "nvme0n1",
    "dm-0",
    "mapper/control",
    "btrfs-control",
    "snapshot",
    "hpet",
    "rtc0",
  ].map((name) => probe(`/dev/${name}`, `open(F,"<","/dev/${name}")`, ABSENT)),
];

/** Files of the kernel that would reach further than the container; they are opened for writing and nothing is written. */
const kernelFiles: readonly Probe[] = [
  ...[
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/irq/default_smp_affinity",
    "/proc/mtrr",
    "/proc/acpi/wakeup",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/ksm/run",
    "/sys/power/state",
    "/sys/fs/cgroup/release_agent",
    "/sys/fs/cgroup/memory/release_agent",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/devices/devices.allow",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory.max",
    "/sys/kernel/debug/tracing/tracing_on",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/hostname",
    "/run/.containerenv",
  ].map((path) => probe(`write ${path}`, `open(F,"+<","${path}")`, CLOSED)),
  ...["/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug"].map((path) =>
    probe(`read ${path}`, `held("${path}")`, ["EMPTY", ...CLOSED]),
  ),
  ...[
    "/proc/kmsg",
    "/proc/vmallocinfo",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/kpagecgroup",
    "/proc/slabinfo",
    "/proc/pagetypeinfo",
    "/proc/iomem",
    "/proc/modules",
  ].map((path) =>
    probe(`open ${path}`, `open(F,"<","${path}") && sysread(F,$b,8)`, ["EPERM", "EACCES", "ENOENT", "EINVAL", "EMPTY"]),
  ),
  probe("addresses of the kernel", `(open(F,"<","/proc/kallsyms") && grep { !/^0+ / } <F>)`, ["EMPTY", ...CLOSED]),
  probe("the firmware's tables", `(opendir(D,"/sys/firmware") && grep { !/^\\./ } readdir(D))`, ["EMPTY", ...CLOSED]),
  probe("a lower score for the end of memory", `(open(F,">","/proc/self/oom_score_adj") && syswrite(F,"-1000"))`, [
    "EACCES",
    "EPERM",
  ]),
];

const others: readonly Probe[] = [
  ...[
    "/run/podman/podman.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/dev/log",
  ].map((path) => probe(`socket ${path}`, `(socket(S,1,1,0) && connect(S,pack("S a*",1,"${path}\\0")))`, ABSENT)),
  probe("a secret of an orchestrator", `open(F,"<","/var/run/secrets/kubernetes.io/serviceaccount/token")`, ABSENT),
  probe("signal to a process of the host", `kill(0, $ENV{OUTSIDE})`, ["ESRCH"]),
  probe("ptrace of a process of the host", `c(${call("ptrace")},16,$ENV{OUTSIDE}+0,0,0)`, ["ESRCH", "EPERM"]),
  probe("processes of others in /proc", `(opendir(D,"/proc") && (grep { /^\\d+$/ } readdir(D)) > 12)`, ["EMPTY"]),
  probe(
    "root by a program with set-user-id",
    `(sub {
    return 0 unless $> == 0;
    ran("cp /usr/bin/perl /tmp/suid; chmod 4755 /tmp/suid");
    my $id = \`su user -c "/tmp/suid -e 'print \\$>'"\`;
    $! = 0; return $id == 0 && $id ne "";
  })->()`,
    ["EMPTY"],
  ),
];

/** Calls that must work: without them an end would prove nothing. */
export const CONTROLS: readonly Probe[] = [
  sys("getpid", "getpid", "", [THROUGH]),
  probe("socket of IPv4", "socket(S,2,1,0)", [THROUGH]),
  probe("routing part of netlink", "socket(S,16,3,0)", [THROUGH]),
  probe("write a file of its own", `open(F,">","/tmp/own$$")`, [THROUGH]),
  probe("write /dev/null", `open(F,">","/dev/null")`, [THROUGH]),
  probe("a program", `ran("true")`, [THROUGH]),
];

export const PROBES: readonly Probe[] = [
  ...namespaces,
  ...mounts,
  ...kernel,
  ...sockets,
  ...devices,
  ...kernelFiles,
  ...others,
];

/**
 * A Perl program, without modules, that makes each attempt in its own process for a minute at most, and writes
 * a line with its number and how it ended.
 */
export function probeProgram(probes: readonly Probe[]): string {
  const attempts = probes.map(({ attempt }) => `sub { ${attempt} },`).join("\n");
  return `${PRELUDE}
my @attempts = (
${attempts}
);
$| = 1;
for my $i (0 .. $#attempts) {
  pipe(R, W);
  my $pid = fork();
  if ($pid == 0) {
    alarm(60);
    $! = 0;
    my $through = $attempts[$i]->();
    syswrite(W, $through ? "${THROUGH}" : $word || ($!+0 ? "E" . ($!+0) : "EMPTY"));
    CORE::exit(0);
  }
  close(W);
  my $end = join("", <R>);
  waitpid($pid, 0);
  $end = "SIG" . ($? & 127) if $? & 127;
  print "$i $end\\n";
}
`;
}

const PRELUDE = `
our $word = "";
sub c { my @values = @_; syscall(shift(@values), @values) != -1 }
sub ran { my $code = system("/bin/sh", "-c", "$_[0] >/dev/null 2>&1"); $word = "FAILED" if $code; $code == 0 }
sub held { open(F, "<", $_[0]) || return 0; my $n = sysread(F, my $b, 64); $! = 0 if defined $n; $n }
sub elf32 {
  my $code = pack("H*", "b814000000cd80" . "b801000000" . "31db" . "cd80");
  my $header = pack("C16 SSLLLLLSSSSSS", 0x7f,0x45,0x4c,0x46,1,1,1,0,0,0,0,0,0,0,0,0, 2,3,1,0x08048054,52,0,0,52,32,1,0,0,0);
  my $segment = pack("L8", 1,0,0x08048000,0x08048000,84+length($code),84+length($code),5,0x1000);
  open(my $f, ">", "/tmp/elf32-$$") || return 0; syswrite($f, $header . $segment . $code); close($f); chmod(0755, "/tmp/elf32-$$");
  my $name = "/tmp/elf32-$$"; my $pid = fork(); if ($pid == 0) { exec($name); CORE::exit(99) }
  waitpid($pid, 0); my $s = $?;
  $word = "SIG" . ($s & 127) if $s & 127; $word = "E8" if $s == 99 << 8;
  $s == 0;
}
`;

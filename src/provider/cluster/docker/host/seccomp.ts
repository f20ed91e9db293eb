import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory, replaceFile } from "../../../../util/index.ts";

const FOLDER = "seccomp";

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Flags of `clone` that make namespaces: mount, cgroup, UTS, IPC, user, PID and network. */
const NEW_NAMESPACES = 0x7e020000;
const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const NETLINK_ROUTE = 0;
/** Unneeded socket families below netlink; those above it, including packet and vsock, are covered by one rule. */
const STRANGE_FAMILIES = [0, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15];
/** Allowed values of `personality`: Linux, also without random addresses, with the UNAME26 flag, and the query. */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

/** The system calls that programs need; all others do not exist for them. */
const ALLOWED = `
accept accept4 access adjtimex alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres clock_gettime
clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64
fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr
fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake futimesat get_robust_list
get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp
getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid
gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset
landlock_restrict_self lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat
madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall
mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv
msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open openat openat2 pause pidfd_open
pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64
process_mrelease pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg
recvmsg remap_file_pages removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending
rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop
semtimedop sendfile sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid
setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid
setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs statx symlink
symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime
timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat utime
utimensat utimes vfork vmsplice wait4 waitid write writev`;

/** Refused by name with "not permitted", as programs that ask for them expect. */
const FORBIDDEN = `
acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount fsopen
fspick init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind migrate_pages mount
mount_setattr move_mount move_pages nfsservctl open_by_handle_at open_tree perf_event_open pivot_root process_madvise
process_vm_readv process_vm_writev quotactl quotactl_fd reboot request_key set_mempolicy setdomainname sethostname setns
settimeofday swapoff swapon syslog umount2 unshare uselib userfaultfd ustat vhangup`;

/** Reported as missing, so that programs take the older way: arguments of `clone3` cannot be checked. */
const MISSING = ["clone3", "io_uring_enter", "io_uring_register", "io_uring_setup"];

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_NE" | "SCMP_CMP_GT" | "SCMP_CMP_MASKED_EQ";
}

const equals = (index: number, value: number): Condition => ({ index, value, op: "SCMP_CMP_EQ" });

/** The profile of every tenant's container, in the form that engines read. */
export function seccompProfile(architecture: string = process.arch): object {
  const allow = (names: readonly string[], args: readonly Condition[] = []) => ({
    names,
    action: "SCMP_ACT_ALLOW",
    ...(args.length === 0 ? {} : { args }),
  });
  const refuse = (names: readonly string[], errnoRet: number, args: readonly Condition[] = []) => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet,
    ...(args.length === 0 ? {} : { args }),
  });
  const plain = [FAMILY.unix, FAMILY.inet, FAMILY.inet6].map((family) => allow(["socket"], [equals(0, family)]));
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    // Docker before 23 does not read this and answers EPERM.
    defaultErrnoRet: ENOSYS,
    // 32-bit calls pass several calls through one whose arguments cannot be judged: there are none.
    architectures:
      architecture === "x64" ? ["SCMP_ARCH_X86_64"] : architecture === "arm64" ? ["SCMP_ARCH_AARCH64"] : [],
    syscalls: [
      allow(words(ALLOWED)),
      allow(["clone"], [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }]),
      ...plain,
      allow(["socket"], [equals(0, FAMILY.netlink), equals(2, NETLINK_ROUTE)]),
      ...STRANGE_FAMILIES.map((family) => refuse(["socket"], EAFNOSUPPORT, [equals(0, family)])),
      refuse(["socket"], EAFNOSUPPORT, [{ index: 0, value: FAMILY.netlink, op: "SCMP_CMP_GT" }]),
      refuse(["socket"], EAFNOSUPPORT, [
        equals(0, FAMILY.netlink),
        { index: 2, value: NETLINK_ROUTE, op: "SCMP_CMP_NE" },
      ]),
      ...PERSONALITIES.map((persona) => allow(["personality"], [equals(0, persona)])),
      refuse(words(FORBIDDEN), EPERM),
      refuse(MISSING, ENOSYS),
    ],
  };
}

/**
 * Value of the engine's `seccomp` option: Docker takes the profile itself, Podman the path of a file with it. The file
 * name depends on the contents, so that containers of an older daemon start with their original profile.
 */
export function seccompOption(engine: string, stateDir: string): string {
  const text = JSON.stringify(seccompProfile());
  if (engine !== "podman") return text;
  const folder = join(stateDir, FOLDER);
  makePrivateDirectory(folder);
  const path = join(folder, `${createHash("sha256").update(text).digest("hex").slice(0, 16)}.json`);
  replaceFile(path, text);
  return path;
}

/** After the last container is gone. */
export function removeSeccomp(stateDir: string): void {
  rmSync(join(stateDir, FOLDER), { recursive: true, force: true });
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

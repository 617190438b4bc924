//! The system calls of a run, and runs in which one of them fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::harness::{Dir, Ftk, Run, has, is_too_slow};

/// Whether faults can be injected, and the run is not a quick one.
pub(super) fn can_inject() -> bool {
    has("strace") && !is_too_slow("injected faults")
}

/// A system call of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) name: String,
    /// Its number among the calls of this name in its thread, from 1, as `strace` counts.
    pub(super) nth: usize,
    /// The call with the paths of its descriptors, as `strace -y` prints it.
    pub(super) line: String,
}

/// Runs the command and returns its own calls, without those of the loader and of thread creation.
pub(super) fn calls(ftk: Ftk, dir: &Dir) -> (Run, Vec<Call>) {
    let log = dir.aside("log");
    let run = ftk.under(dir, ["strace", "-f", "-y", "-s", "4096", "-o", log.to_str().unwrap()]).run();
    let calls = parse(&fs::read_to_string(&log).unwrap());
    fs::remove_file(&log).unwrap();
    run.check(!calls.is_empty(), "strace saw the calls");
    (run, calls)
}

/// Returns the calls in the order of the log.
fn parse(log: &str) -> Vec<Call> {
    let mut threads: BTreeMap<&str, (BTreeMap<&str, usize>, bool)> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (thread, line) = line.split_once(' ').unwrap();
        // If another thread runs during a call, strace prints the end of the call on a later line. That part
        // is not needed.
        let line = line.trim_start().trim_end_matches(" <unfinished ...>");
        let Some((name, rest)) = line.split_once('(') else { continue };
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue; // the end of a call that was shown before, or of a thread
        }
        let (counts, has_begun) = threads.entry(thread).or_default();
        let nth = counts.entry(name).or_default();
        *nth += 1;
        if *has_begun && known.insert((name, *nth)) {
            calls.push(Call { name: name.to_owned(), nth: *nth, line: line.to_owned() });
        }
        // The standard library first allocates a signal stack, and sets two signal handlers in the main
        // thread.
        *has_begun |= name == "sigaltstack" && rest.starts_with("{ss_sp=0x");
        if name == "rt_sigaction" && rest.starts_with("SIGBUS, {") {
            calls.clear();
            known.clear();
        }
    }
    calls
}

/// A fault injected into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Error(&'static str),
    /// The process is killed before the call.
    Kill,
}

/// Returns the command with this fault injected.
pub(super) fn failing(ftk: Ftk, dir: &Dir, call: &Call, fault: Fault) -> Ftk {
    let Call { name, nth, .. } = call;
    let how = match fault {
        Fault::Error(error) => format!("error={error}"),
        Fault::Kill => "signal=KILL".to_owned(),
    };
    let (trace, inject) = (format!("trace={name}"), format!("inject={name}:{how}:when={nth}"));
    // With a seccomp filter `strace` is faster, but cannot deliver signals.
    let filter: &[&str] = if fault == Fault::Kill { &[] } else { &["--seccomp-bpf"] };
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-y", "-o", log.to_str().unwrap(), "-e", &trace, "-e", &inject];
    ftk.under(dir, strace.iter().chain(filter))
}

/// Returns whether the failing call was this one. The calls of a run depend on the age of files and on other
/// threads, so another call may have had the same number.
pub(super) fn has_failed(dir: &Dir, call: &Call) -> bool {
    let log = fs::read_to_string(dir.aside("log")).unwrap();
    let failed = log.lines().find(|line| line.contains("(INJECTED)"));
    failed.is_some_and(|line| in_tree(line) == in_tree(&call.line))
}

/// Returns the path inside the tree that a call refers to.
fn in_tree(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("/tree")?;
    let end = if line.contains("openat(") { rest.match_indices('"').nth(1)?.0 } else { rest.find('>')? };
    Some(&rest[..end])
}

/// Plausible errors of calls.
const ERRORS: &[(&str, &[&str])] = &[
    ("clone", &["EAGAIN", "ENOMEM"]),
    ("clone3", &["EAGAIN", "ENOMEM"]),
    ("copy_file_range", &["EIO"]),
    ("fallocate", &["ENOSPC", "EOPNOTSUPP"]),
    ("fchmod", &["EPERM", "EROFS"]),
    ("fchmodat", &["EPERM", "EROFS"]),
    ("fchown", &["EPERM", "EROFS"]),
    ("fchownat", &["EPERM", "EROFS"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("fgetxattr", &["EIO", "ENODATA"]),
    ("flistxattr", &["EIO", "EOPNOTSUPP"]),
    ("fremovexattr", &["EPERM"]),
    ("fsetxattr", &["ENOSPC", "EPERM"]),
    ("fstat", &["EIO", "ESTALE"]),
    ("fsync", &["EIO", "EDQUOT"]),
    ("ftruncate", &["EIO", "ENOSPC"]),
    ("getcwd", &["ENOENT"]),
    ("getdents64", &["EIO", "EINTR"]),
    ("getrandom", &["ENOSYS", "EINTR"]),
    ("getxattr", &["EIO"]),
    ("io_uring_setup", &["ENOSYS", "EPERM"]),
    ("ioctl", &["EIO", "EOPNOTSUPP"]),
    ("lgetxattr", &["EIO", "ENODATA"]),
    ("linkat", &["EMLINK", "ENOSPC", "EDQUOT", "EXDEV", "EACCES", "EPERM", "EROFS", "EIO", "ENAMETOOLONG"]),
    ("listxattr", &["EIO", "EOPNOTSUPP"]),
    ("llistxattr", &["EIO", "EOPNOTSUPP"]),
    ("lseek", &["EIO", "ESPIPE"]),
    ("madvise", &["ENOMEM", "EINVAL"]),
    ("memfd_create", &["EMFILE", "ENOSYS"]),
    ("mkdir", &["ENOSPC", "EACCES", "EROFS"]),
    ("mkdirat", &["ENOSPC", "EACCES", "EROFS"]),
    ("mmap", &["ENOMEM", "EAGAIN"]),
    ("mprotect", &["ENOMEM"]),
    ("mremap", &["ENOMEM"]),
    ("newfstatat", &["EIO", "EACCES"]),
    ("open", &["EIO", "EMFILE"]),
    ("openat", &["EMFILE", "ENFILE", "EACCES", "EIO", "ENOMEM", "EINTR"]),
    ("openat2", &["ENOSYS", "EPERM", "EAGAIN", "EIO"]),
    ("pread64", &["EIO", "EINTR"]),
    ("preadv2", &["EIO", "EOPNOTSUPP"]),
    ("pwrite64", &["EIO", "ENOSPC", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("readlink", &["EIO"]),
    ("readlinkat", &["EIO", "ENOENT"]),
    ("removexattr", &["EPERM"]),
    ("renameat", &["EACCES", "EIO", "ENOSPC"]),
    ("renameat2", &["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EINVAL", "ENOENT", "EXDEV"]),
    ("sched_getaffinity", &["EPERM"]),
    ("setxattr", &["ENOSPC", "EPERM"]),
    ("socketpair", &["EMFILE", "ENOMEM"]),
    ("statfs", &["EIO", "ENOSYS"]),
    ("statx", &["EIO", "ENOSYS"]),
    ("symlinkat", &["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "ENAMETOOLONG"]),
    ("syncfs", &["EIO"]),
    ("unlink", &["EACCES", "EIO"]),
    ("unlinkat", &["EACCES", "EPERM", "EROFS", "EIO", "EBUSY"]),
    ("unshare", &["EPERM", "ENOMEM"]),
    ("utimensat", &["EPERM", "EROFS"]),
    ("write", &["ENOSPC", "EIO", "EDQUOT", "EINTR"]),
    ("writev", &["ENOSPC", "EIO"]),
];

/// Calls that fail for invalid arguments only, cannot fail (`brk` returns the old end), or are made by the
/// standard library to start and end threads.
const NEVER: &[&str] = &[
    "brk",
    "exit",
    "exit_group",
    "fcntl",
    "futex",
    "getegid",
    "geteuid",
    "getrusage",
    "gettid",
    "munmap",
    "prctl",
    "prlimit64",
    "recvfrom",
    "rseq",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_yield",
    "set_robust_list",
    "sigaltstack",
    "sysinfo",
    "uname",
];

/// Returns the errors of a call, `EIO` if it is not in the table.
pub(super) fn errors(name: &str) -> &'static [&'static str] {
    if NEVER.contains(&name) {
        return &[];
    }
    ERRORS.iter().find(|(call, _)| *call == name).map_or(&["EIO"], |(_, errors)| errors)
}

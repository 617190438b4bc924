//! The reference tools, and what happens if one is missing.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Dir;

/// The tools that CI must have, and their Debian packages.
const TOOLS: &[(&str, &str)] = &[
    ("aide", "aide"),
    ("ascmhl", "ascmhl with pip"),
    ("b2sum", "coreutils"),
    ("b3sum", "b3sum"),
    ("bagit", "bagit with pip"),
    ("bash", "bash"),
    ("bsdtar", "libarchive-tools"),
    ("busybox", "busybox"),
    ("cc", "gcc"),
    ("cksum", "coreutils"),
    ("fdupes", "fdupes"),
    ("fincore", "util-linux"),
    ("cksfv", "cksfv"),
    ("cmp", "diffutils"),
    ("dash", "dash"),
    ("df", "coreutils"),
    ("diff", "diffutils"),
    ("du", "coreutils"),
    ("duckdb", "duckdb with pip"),
    ("find", "findutils"),
    ("fish", "fish"),
    ("gdu", "gdu"),
    ("getfattr", "attr"),
    ("gio", "libglib2.0-bin"),
    ("git", "git"),
    ("gzip", "gzip"),
    ("hashdeep", "hashdeep"),
    ("jdupes", "jdupes"),
    ("md5sum", "coreutils"),
    ("promtool", "prometheus"),
    ("mtree", "mtree-netbsd"),
    ("ncdu", "ncdu"),
    ("openssl", "openssl"),
    ("parallel", "parallel"),
    ("python3", "python3"),
    ("rhash", "rhash"),
    ("rsync", "rsync"),
    ("script", "bsdutils"),
    ("setcap", "libcap2-bin"),
    ("setfacl", "acl"),
    ("sha1sum", "coreutils"),
    ("sha224sum", "coreutils"),
    ("sha256sum", "coreutils"),
    ("sha384sum", "coreutils"),
    ("sha512sum", "coreutils"),
    ("ssh-keygen", "openssh-client"),
    ("stat", "coreutils"),
    ("strace", "strace"),
    ("tar", "tar"),
    ("tmux", "tmux"),
    ("trash-list", "trash-cli"),
    ("xargs", "findutils"),
    ("xxhsum", "xxhash"),
    ("xz", "xz-utils"),
    ("yaml", "python3-yaml"),
    ("zsh", "zsh"),
    ("zstd", "zstd"),
];

/// Whether `tool` can be used. If not, a line on standard error says that a test did not run; with `CI` set, that is a
/// failure.
pub fn has(tool: &str) -> bool {
    let (_, package) = TOOLS.iter().find(|(name, _)| *name == tool).expect("the tool is in the list");
    if works(tool) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{tool} is missing or does not work: install {package}");
    skip(&format!("{tool} of {package} is missing or does not work"));
    false
}

/// Reports that a test, or part of one, did not run. libtest hides what passing tests print with `eprintln!`.
pub fn skip(why: &str) {
    static SKIPPED: AtomicU32 = AtomicU32::new(0);
    let nth = SKIPPED.fetch_add(1, Relaxed) + 1;
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    _ = writeln!(std::io::stderr().lock(), "SKIPPED (number {nth}): {test}: {why}");
}

/// Whether this is a quick run, which skips slow kinds of tests: `cargo xtask ci quick` sets the variable. A line on standard
/// error says that a test of this kind did not run.
pub fn is_too_slow(kind: &str) -> bool {
    let is_quick = std::env::var_os("FTK_TEST_QUICK").is_some();
    if is_quick {
        skip(&format!("a quick run has no {kind}"));
    }
    is_quick
}

/// Whether io_uring works here. If not, reports that part of the test did not run.
pub fn uring() -> bool {
    let dir = Dir::new();
    let run = dir.file("file", b"").ftk(["hash", "--io", "uring", "file"]).run();
    if run.code() == 0 {
        return true;
    }
    // Only one reason is legitimate. Everything else is a defect.
    run.status(2).stderr_has("ftk: --io uring: io_uring is not available here: ");
    skip("no io_uring here");
    false
}

fn works(tool: &str) -> bool {
    let mut command = Command::new(tool);
    match tool {
        // A container may forbid tracing. Only an attempt shows that.
        "strace" => command.args(["-o", "/dev/null", "true"]),
        // Modules of Python.
        "bagit" => {
            command = Command::new("python3");
            command.args(["-c", "import bagit"])
        }
        "duckdb" => {
            command = Command::new("python3");
            command.args(["-c", "import duckdb"])
        }
        "yaml" => {
            command = Command::new("/usr/bin/python3");
            command.args(["-c", "import yaml"])
        }
        "busybox" => command.arg("true"),
        "hashdeep" | "tmux" => command.arg("-V"),
        "openssl" | "gio" => command.arg("version"),
        // They have no option that only succeeds.
        "cksfv" | "dash" | "mtree" | "setcap" | "ssh-keygen" => {
            command = Command::new("sh");
            command.args(["-c", "command -v \"$0\"", tool])
        }
        _ => command.arg("--version"),
    };
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Fails if a tool is missing and `CI` is set.
pub fn assert_every_tool() {
    let missing: Vec<_> = TOOLS.iter().filter(|(tool, _)| !works(tool)).collect();
    assert!(missing.is_empty() || std::env::var_os("CI").is_none(), "missing: {missing:?}");
    if !missing.is_empty() {
        skip(&format!("missing: {missing:?}"));
    }
}

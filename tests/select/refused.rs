//! Values that do not parse are refused with their position, before anything is walked or written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::harness::Dir;

#[test]
fn invalid_patterns_are_refused() {
    let dir = Dir::new();
    for (option, pattern, message) in [
        (
            "-n",
            "a[b",
            "cannot understand the glob `a[b`: this `[` has no `]`: write `\\[` for the character (at byte 2)",
        ),
        (
            "-n",
            "a/b",
            "cannot understand the glob `a/b`: a name cannot contain `/`, so nothing would match: use a filter on paths (at byte 2)",
        ),
        ("--iname", "a{b", "this `{` has no `}`"),
        ("-E", "x[z-a]", "the range `z-a` runs backwards (at byte 5)"),
        ("--regex", "a(b", "cannot understand the regular expression `a(b`: unclosed group (at byte 2)"),
        ("--regex", "\u{1b}[2J(", "`\\u{1b}[2J(`"),
        (
            "-S",
            "10Q",
            "invalid value '10Q' for '--size <[+-]N>': `Q` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB (at byte 3)",
        ),
        ("--changed-within", "2x", "invalid value '2x' for '--changed-within <TIME>'"),
        (
            "--changed-before",
            "2024-02-30",
            "`2024-02-30` is not a date, time or duration: write 3d, 2024-01-31 or yesterday (at byte 1)",
        ),
        ("--owner", "no such", "there is no user `no such` (at byte 1)"),
        ("--perm", "u+q", "`q` instead of r, w, x, X, s, t or a comma (at byte 3)"),
        ("--links", "many", "`many` is not a number of links (at byte 1)"),
        ("--newer", "missing", "cannot stat 'missing': no such file or directory"),
        ("--samefile", "missing", "cannot stat 'missing': no such file or directory"),
    ] {
        dir.ftk(["find", option, pattern]).run().status(2).stdout("").stderr_has(message);
        let run = dir.ftk(["hash", "-o", "list", option, pattern, "."]).run().status(2).stdout("");
        run.check(!dir.path("list").exists(), "nothing is written");
        run.stderr_has(message);
    }
    for option in ["--newer", "--changed-within", "--changed-before"] {
        let run = dir.ftk(["find", option, "@0", option, "@0"]).run().status(2).stdout("");
        run.stderr_has("cannot be used multiple times");
    }
}

#[test]
fn bytes_that_are_not_utf_8() {
    let dir = Dir::new();
    dir.raw_file(b"\xe9t\xe9", b"").raw_file(b"d/\xe9.c", b"");
    let bytes = OsStr::from_bytes;
    let find = |option: &str, glob: &[u8]| dir.ftk([bytes(b"find"), bytes(option.as_bytes()), bytes(glob)]);
    find("-n", b"\xe9*").args(["--sort"]).run().status(0).stdout(b"./d/\xe9.c\n./\xe9t\xe9\n");
    find("--path", b"d/\xe9.c").run().status(0).stdout(b"./d/\xe9.c\n");
    find("-E", b"\xe9t\xe9").args(["-t", "f"]).run().status(0).stdout(b"./d/\xe9.c\n");
    find("-n", b"?t\xe9").run().status(2).stdout("").stderr_has("is not UTF-8").stderr_has("(at byte 3)");
    find("--regex", b"\xe9").run().status(2).stdout("").stderr_has("invalid UTF-8");
    find("--regex", b"^\\xe9t").run().status(0).stdout(b"./\xe9t\xe9\n");
}

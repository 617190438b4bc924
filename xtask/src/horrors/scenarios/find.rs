//! Tools that list trees.

use std::collections::BTreeSet;

use super::super::scenario::{Family, Scenario};
use super::super::verdict::{Verdict, right};

pub(super) const FAMILY: Family = Family {
    title: "Listing trees",
    peers: &["find", "busybox", "bfs", "fd", "rg"],
    mount: None,
    scenarios: SCENARIOS,
};

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 20,
        title: "names that are not UTF-8",
        setup: "mkdir d; : > \"d/name$(printf '\\376')\"; : > \"d/name$(printf '\\377')\"",
        tools: FILES,
        judge: |seen| {
            for name in [b"d/name\xfe", b"d/name\xff"] {
                right!(seen.last().lines().any(|line| line == name), "a name is printed wrongly");
            }
            Verdict::Passes
        },
    },
    Scenario {
        number: 22,
        title: "a name with an escape sequence, on a terminal",
        setup: "mkdir d; : > \"d/x$(printf '\\033]0;owned\\007')y\"",
        tools: &[
            ("ftk", "script -qec 'ftk find d' /dev/null"),
            ("find", "script -qec 'find d' /dev/null"),
            ("busybox", "script -qec 'busybox find d' /dev/null"),
            ("bfs", "script -qec 'bfs d' /dev/null"),
            ("fd", "script -qec 'fd -u . d' /dev/null"),
            ("rg", "script -qec 'rg --files -uu d' /dev/null"),
        ],
        judge: |seen| {
            right!(seen.last().out_has(b"owned"), "the name is not printed");
            right!(!seen.last().out_has(b"\x1b]0;owned"), "the sequence reaches the terminal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 27,
        title: "an unreadable directory",
        setup: "mkdir -p d/locked; : > d/a; chmod 0 d/locked",
        tools: FILES,
        judge: |seen| {
            right!(seen.last().lines().any(|line| line == b"d/a"), "the other files are not listed");
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 27,
        title: "a starting point that does not exist",
        setup: "mkdir d; : > d/a",
        tools: &[
            ("ftk", "ftk find -t f d none"),
            ("find", "find d none -type f"),
            ("busybox", "busybox find d none -type f"),
            ("bfs", "bfs d none -type f"),
            ("fd", "fd -u -t f . d none"),
            ("rg", "rg --files -uu d none"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            right!(seen.last().lines().any(|line| line == b"d/a"), "the files of the other starting point are not listed");
            Verdict::Passes
        },
    },
    Scenario {
        number: 36,
        title: "links that form loops are followed",
        setup: "mkdir -p d/sub; : > d/a; : > d/sub/b; ln -s . d/here; ln -s ../../d d/sub/there; ln -s sub d/other",
        tools: FOLLOWING,
        judge: |seen| {
            let files = |name: &[u8]| seen.last().lines().filter(|line| line.ends_with(name)).count();
            right!(files(b"/a") == 1, "a file outside the loops is listed {} times", files(b"/a"));
            right!((1..=2).contains(&files(b"/b")), "a file with two paths is listed {} times", files(b"/b"));
            Verdict::Passes
        },
    },
    Scenario {
        number: 39,
        title: "a file whose path is longer than PATH_MAX",
        setup: "mkdir d; : > d/a; cd d
n=0; while [ $n -lt 50 ]; do name=$(printf %0100d $n); mkdir $name; cd -P ./$name; n=$((n + 1)); done; : > deep",
        tools: FILES,
        judge: |seen| {
            if seen.last().lines().any(|line| line.ends_with(b"/deep")) {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "the file is not listed, and the status is 0");
            Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 45,
        title: "io_uring is forbidden",
        setup: "mkdir -p d/1 d/2; : > d/1/a; : > d/2/b",
        tools: &[
            ("ftk", "strace -f --quiet=all -o /dev/null -e inject=io_uring_setup:error=EPERM ftk find -t f d"),
            ("bfs", "strace -f --quiet=all -o /dev/null -e inject=io_uring_setup:error=EPERM bfs d -type f"),
        ],
        judge: |seen| {
            right!(seen.last().is_success() && seen.last().lines().count() == 2, "the files are not listed");
            Verdict::Passes
        },
    },
    Scenario {
        number: 47,
        title: "the output goes to a full device",
        setup: "mkdir d; : > d/a",
        tools: &[
            ("ftk", "ftk find -t f d > /dev/full"),
            ("find", "find d -type f > /dev/full"),
            ("busybox", "busybox find d -type f > /dev/full"),
            ("bfs", "bfs d -type f > /dev/full"),
            ("fd", "fd -u -t f . d > /dev/full"),
            ("rg", "rg --files -uu d > /dev/full"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 48,
        title: "an unreadable directory, with four threads",
        setup: "mkdir -p d/locked d/1 d/2 d/3; : > d/1/a; chmod 0 d/locked",
        tools: &[
            ("ftk", "ftk find -j 4 -t f d"),
            ("bfs", "bfs -j4 d -type f"),
            ("fd", "fd -j 4 -u -t f . d"),
            ("rg", "rg -j 4 --files -uu d"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 50,
        title: "a starting point called br[a]ck",
        setup: "mkdir 'br[a]ck' brack; : > 'br[a]ck/right'; : > brack/wrong",
        tools: &[
            ("ftk", "ftk find -t f 'br[a]ck'"),
            ("find", "find 'br[a]ck' -type f"),
            ("busybox", "busybox find 'br[a]ck' -type f"),
            ("bfs", "bfs 'br[a]ck' -type f"),
            ("fd", "fd -u -t f . 'br[a]ck'"),
            ("rg", "rg --files -uu 'br[a]ck'"),
        ],
        judge: |seen| {
            let lines: Vec<_> = seen.last().lines().collect();
            right!(lines == [b"br[a]ck/right"], "the wrong directory is listed, or none");
            Verdict::Passes
        },
    },
    Scenario {
        number: 52,
        title: "500 levels with 64 descriptors",
        setup: "mkdir d; cd d; n=0; while [ $n -lt 500 ]; do : > f; mkdir e; cd -P ./e; n=$((n + 1)); done",
        tools: &[
            ("ftk", "ulimit -n 64; ftk find -t f d"),
            ("find", "ulimit -n 64; find d -type f"),
            ("busybox", "ulimit -n 64; busybox find d -type f"),
            ("bfs", "ulimit -n 64; bfs d -type f"),
            ("fd", "ulimit -n 64; fd -u -t f . d"),
            ("rg", "ulimit -n 64; rg --files -uu d"),
        ],
        judge: |seen| {
            let found = seen.last().lines().count();
            if found == 500 {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "{found} of 500 files are listed, and the status is 0");
            Verdict::Refuses(format!("{found} of 500 files are listed, status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 54,
        title: "links, FIFOs, sockets, hidden and ignored files, with four threads",
        setup: "mkdir -p d/.git d/sub; cd d; : > file; : > .hidden; : > ignored; echo ignored > .gitignore
ln -s file link; ln -s nowhere broken; mkfifo sub/fifo; : > sub/deep",
        tools: &[
            ("ftk", "ftk find -j 4 d"),
            ("find", "find d"),
            ("busybox", "busybox find d"),
            ("bfs", "bfs -j4 d"),
            ("fd", "fd -j 4 -u . d"),
        ],
        judge: |seen| {
            let expected: BTreeSet<&[u8]> = [
                "d/.git", "d/.gitignore", "d/.hidden", "d/broken", "d/file", "d/ignored", "d/link", "d/sub", "d/sub/deep",
                "d/sub/fifo",
            ]
            .map(str::as_bytes)
            .into();
            // Some tools list the starting point, and some end directories with a slash.
            let listed: Vec<&[u8]> = seen.last().lines().map(|line| line.strip_suffix(b"/").unwrap_or(line)).filter(|line| *line != b"d").collect();
            let set: BTreeSet<&[u8]> = listed.iter().copied().collect();
            right!(set == expected && listed.len() == expected.len(), "{} of {} entries are listed", set.len(), expected.len());
            Verdict::Passes
        },
    },
    Scenario {
        number: 54,
        title: "links are followed, and many loops cross",
        setup: "mkdir d; for a in 1 2 3 4 5 6; do mkdir d/$a; : > d/$a/file; for b in 1 2 3 4 5 6; do ln -s ../$b d/$a/to$b; done; done",
        tools: FOLLOWING,
        judge: |seen| {
            // Each file is listed under at least one of its paths.
            let listed = seen.last().lines().filter(|line| line.ends_with(b"/file")).count();
            right!(listed >= 6, "{listed} of 6 files are listed");
            Verdict::Passes
        },
    },
    Scenario {
        number: 79,
        title: "-empty",
        setup: "mkdir d; : > d/none; printf content > d/some",
        tools: &[
            ("ftk", "ftk find d -empty"),
            ("find", "find d -empty"),
            ("busybox", "busybox find d -empty"),
            ("bfs", "bfs d -empty"),
            ("fd", "fd -u -t e . d"),
        ],
        judge: |seen| {
            if !seen.last().is_success() {
                return Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)));
            }
            let lines: Vec<_> = seen.last().lines().collect();
            right!(lines == [b"d/none"], "{} entries are listed, and the status is 0", lines.len());
            Verdict::Passes
        },
    },
    Scenario {
        number: 83,
        title: "thirty directories with two links each to the next",
        setup: "mkdir d; n=0; while [ $n -lt 30 ]; do mkdir d/$n; ln -s ../$((n + 1)) d/$n/a; ln -s ../$((n + 1)) d/$n/b; n=$((n + 1)); done; mkdir d/30; : > d/30/file",
        tools: FOLLOWING,
        judge: |seen| {
            // Any of its paths will do.
            right!(seen.last().lines().any(|line| line.ends_with(b"/file")), "the file is not listed");
            Verdict::Passes
        },
    },
];

/// Lists the files below `d`.
const FILES: &[(&str, &str)] = &[
    ("ftk", "ftk find -t f d"),
    ("find", "find d -type f"),
    ("busybox", "busybox find d -type f"),
    ("bfs", "bfs d -type f"),
    ("fd", "fd -u -t f . d"),
    ("rg", "rg --files -uu d"),
];

/// Lists the files below `d` and follows links.
const FOLLOWING: &[(&str, &str)] = &[
    ("ftk", "ftk find -L -t f d"),
    ("find", "find -L d -type f"),
    ("busybox", "busybox find -L d -type f"),
    ("bfs", "bfs -L d -type f"),
    ("fd", "fd -L -u -t f . d"),
    ("rg", "rg -L --files -uu d"),
];

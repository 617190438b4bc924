//! Tools that compare two files or two trees.

use super::super::scenario::{Family, Scenario};
use super::super::seen::Seen;
use super::super::verdict::{Verdict, right};

pub(super) const FAMILY: Family =
    Family { title: "Comparing", peers: &["cmp", "diff", "busybox"], mount: None, scenarios: SCENARIOS };

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 20,
        title: "a file that differs, with a name that is not UTF-8",
        setup: "mkdir a b; for d in a b; do printf $d > \"$d/$(printf 'x\\377')\"; done",
        tools: TREES,
        judge: |seen| {
            right!(seen.last().status == Some(1), "status {} instead of 1", seen.last().status.unwrap_or(-1));
            Verdict::Passes
        },
    },
    Scenario {
        number: 22,
        title: "a name with an escape sequence, on a terminal",
        setup: "mkdir a b; printf content > \"a/x$(printf '\\033]0;owned\\007')y\"",
        tools: &[
            ("ftk", "script -qec 'ftk cmp a b' /dev/null"),
            ("diff", "script -qec 'diff -rq a b' /dev/null"),
            ("busybox", "script -qec 'busybox diff -rq a b' /dev/null"),
        ],
        judge: |seen| {
            right!(seen.last().out_has(b"owned"), "the name is not printed");
            right!(!seen.last().out_has(b"\x1b]0;owned"), "the sequence reaches the terminal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 27,
        title: "an unreadable file among equal ones",
        setup: "mkdir a b; for f in a/1 b/1 a/2 b/2 a/3 b/3; do printf content > $f; done; chmod 0 b/2",
        tools: TREES,
        judge: trouble,
    },
    Scenario {
        number: 32,
        title: "a byte in the middle",
        setup: "head -c 3000000 /dev/zero > a; cp a b; printf x | dd of=b bs=1 seek=1500000 conv=notrunc 2> /dev/null",
        tools: FILES,
        judge: differ,
    },
    Scenario {
        number: 32,
        title: "the last byte is missing",
        setup: "head -c 3000000 /dev/zero > a; head -c 2999999 a > b",
        tools: FILES,
        judge: differ,
    },
    Scenario {
        number: 35,
        title: "a FIFO in both trees",
        setup: "mkdir a b; mkfifo a/fifo b/fifo; printf content > a/x; printf other > b/x",
        tools: TREES,
        judge: differ,
    },
    Scenario {
        number: 35,
        title: "a FIFO on one side, a file on the other",
        setup: "mkdir a b; mkfifo a/x; printf content > b/x",
        tools: TREES,
        judge: differ,
    },
    Scenario {
        number: 36,
        title: "links that form loops, alike in both trees",
        setup: "mkdir a b; for d in a b; do printf content > $d/x; ln -s . $d/here; ln -s .. $d/up; done",
        tools: TREES,
        judge: |seen| match seen.last().status {
            Some(0) => Verdict::Passes,
            Some(1) => Verdict::WrongAnswer("equal trees are reported as different".into()),
            status => Verdict::Refuses(format!("status {}", status.unwrap_or(-1))),
        },
    },
    Scenario {
        number: 36,
        title: "links with the same text, one of which leads out of its tree",
        setup: "mkdir -p p/a b; ln -s ../x p/a/link; ln -s ../x b/link; printf content > p/x; printf other > x",
        tools: &[
            ("ftk", "ftk cmp p/a b"),
            ("diff", "diff -rq --no-dereference p/a b"),
        ],
        judge: |seen| {
            right!(seen.last().is_success(), "the trees are equal, and the status is {}", seen.last().status.unwrap_or(-1));
            Verdict::Passes
        },
    },
    Scenario {
        number: 38,
        title: "a hole and the same number of zeros",
        setup: "truncate -s 5M a; printf x >> a; truncate -s 10M a
head -c 5242880 /dev/zero > b; printf x >> b; head -c 5242879 /dev/zero >> b",
        tools: FILES,
        judge: |seen| {
            right!(seen.last().is_success(), "status {}", seen.last().status.unwrap_or(-1));
            Verdict::Passes
        },
    },
    Scenario {
        number: 39,
        title: "a file whose path is longer than PATH_MAX differs",
        setup: "mkdir a b
for d in a b; do (cd $d; n=0; while [ $n -lt 50 ]; do name=$(printf %0100d $n); mkdir $name; cd -P ./$name; n=$((n + 1)); done; printf $d > deep); done",
        tools: TREES,
        judge: |seen| match seen.last().status {
            Some(0) => Verdict::WrongAnswer("the trees are reported as equal".into()),
            Some(1) => Verdict::Passes,
            status => Verdict::Refuses(format!("status {}", status.unwrap_or(-1))),
        },
    },
    Scenario {
        number: 46,
        title: "a kernel file that reports a wrong size, and a copy of it",
        setup: "cat /proc/version > copy",
        tools: &[
            ("ftk", "ftk cmp /proc/version copy"),
            ("cmp", "cmp /proc/version copy"),
            ("diff", "diff -q /proc/version copy"),
            ("busybox", "busybox cmp /proc/version copy"),
        ],
        judge: |seen| {
            right!(seen.last().is_success(), "the files are equal, and the status is {}", seen.last().status.unwrap_or(-1));
            Verdict::Passes
        },
    },
    Scenario {
        number: 47,
        title: "the output goes to a full device",
        setup: "printf content > a; printf other > b",
        tools: &[
            ("ftk", "ftk cmp a b > /dev/full"),
            ("cmp", "cmp a b > /dev/full"),
            ("diff", "diff -q a b > /dev/full"),
            ("busybox", "busybox cmp a b > /dev/full"),
        ],
        judge: |seen| {
            right!(seen.last().status != Some(1), "status 1, as if the output had been printed");
            trouble(seen)
        },
    },
    Scenario {
        number: 48,
        title: "an unreadable directory in otherwise equal trees",
        setup: "mkdir -p a/locked b/locked; printf content > a/x; printf content > b/x; chmod 0 b/locked",
        tools: TREES,
        judge: trouble,
    },
    Scenario {
        number: 49,
        title: "SIGTERM while two files of 64 GiB are read",
        setup: "truncate -s 64G a b; printf x | dd of=b bs=1 seek=68719476735 conv=notrunc 2> /dev/null",
        tools: &[
            ("ftk", "timeout --foreground 2 ftk cmp a b"),
            ("cmp", "timeout --foreground 2 cmp a b"),
            ("diff", "timeout --foreground 2 diff -q a b"),
            ("busybox", "timeout --foreground 2 busybox cmp a b"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 52,
        title: "500 levels with 64 descriptors, the deepest file differs",
        setup: "mkdir a b
for d in a b; do (cd $d; n=0; while [ $n -lt 500 ]; do mkdir e; cd -P ./e; n=$((n + 1)); done; printf $d > deep); done",
        tools: &[
            ("ftk", "ulimit -n 64; ftk cmp a b"),
            ("diff", "ulimit -n 64; diff -rq a b"),
            ("busybox", "ulimit -n 64; busybox diff -rq a b"),
        ],
        judge: |seen| match seen.last().status {
            Some(0) => Verdict::WrongAnswer("the trees are reported as equal".into()),
            Some(1) if seen.last().out_has(b"deep") => Verdict::Passes,
            Some(1) => Verdict::WrongAnswer("status 1, and the file is not named".into()),
            status => Verdict::Refuses(format!("status {}", status.unwrap_or(-1))),
        },
    },
    Scenario {
        number: 67,
        title: "a block of zeros except for its last byte",
        setup: "truncate -s 1M a; cp a b; printf x | dd of=b bs=1 seek=4095 conv=notrunc 2> /dev/null",
        tools: FILES,
        judge: differ,
    },
    Scenario {
        number: 79,
        title: "-rq for recursive and brief",
        setup: "mkdir a b; printf content > a/x; printf other > b/x",
        tools: AS_DIFF,
        judge: |seen| match seen.last().status {
            Some(0) => Verdict::WrongAnswer("there are differences, and the status is 0".into()),
            Some(1) => Verdict::Passes,
            status => Verdict::Refuses(format!("status {}", status.unwrap_or(-1))),
        },
    },
];

/// Compares the files `a` and `b`.
const FILES: &[(&str, &str)] =
    &[("ftk", "ftk cmp a b"), ("cmp", "cmp a b"), ("diff", "diff -q a b"), ("busybox", "busybox cmp a b")];

/// Compares the directories `a` and `b` with the options of diff.
const AS_DIFF: &[(&str, &str)] =
    &[("ftk", "ftk cmp -rq a b"), ("diff", "diff -rq a b"), ("busybox", "busybox diff -rq a b")];

/// Compares the directories `a` and `b`.
const TREES: &[(&str, &str)] =
    &[("ftk", "ftk cmp a b"), ("diff", "diff -rq a b"), ("busybox", "busybox diff -rq a b")];

fn differ(seen: &Seen) -> Verdict {
    right!(
        seen.last().status == Some(1),
        "there are differences, and the status is {}",
        seen.last().status.unwrap_or(-1)
    );
    Verdict::Passes
}

/// A comparison that failed must not end with status 0.
fn trouble(seen: &Seen) -> Verdict {
    right!(!seen.last().is_success(), "status 0");
    Verdict::Passes
}

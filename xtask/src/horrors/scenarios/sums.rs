//! Tools that print digests and check lists.

use super::super::scenario::{Family, Scenario};
use super::super::seen::{Run, Seen, has};
use super::super::verdict::{Verdict, right};

pub(super) const FAMILY: Family = Family {
    title: "Checksum lists",
    peers: &["sha256sum", "busybox", "b3sum", "xxhsum", "hashdeep"],
    mount: None,
    scenarios: SCENARIOS,
};

/// Reads a file before, during and after a change of its first and then its last byte.
macro_rules! changing {
    ($read:literal) => {
        concat!(
            $read,
            "\n",
            $read,
            " & p=$!; sleep 0.05; kill -STOP $p; for at in 0 536870911; do printf x | dd of=f bs=1 seek=$at conv=notrunc 2> /dev/null; done; kill -CONT $p; wait $p\n",
            $read
        )
    };
}

/// Reads a file that is truncated before the reader reaches its end.
macro_rules! truncating {
    ($read:literal) => {
        concat!($read, " & p=$!; sleep 0.05; kill -STOP $p; truncate -s 0 f; kill -CONT $p; wait $p")
    };
}

/// Digests planted in names: no file has them.
const PLANTED: [&str; 2] =
    ["d00dfeedd00dfeedd00dfeedd00dfeedd00dfeedd00dfeedd00dfeedd00dfeed", "d00dfeedd00dfeed"];

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 17,
        title: "the list of a directory is written into it and checked",
        setup: "mkdir d; printf content > d/a; : > d/old",
        tools: &[
            ("ftk", "cd d; ftk hash . > list\ncd d; ftk hash --check list"),
            ("sha256sum", "cd d; find . -type f -exec sha256sum {} + > list\ncd d; sha256sum -c list"),
            ("busybox", "cd d; busybox find . -type f -exec busybox sha256sum {} + > list\ncd d; busybox sha256sum -c list"),
            ("b3sum", "cd d; find . -type f -exec b3sum {} + > list\ncd d; b3sum -c list"),
            ("xxhsum", "cd d; find . -type f -exec xxhsum {} + > list\ncd d; xxhsum -c list"),
            ("hashdeep", "cd d; hashdeep -r -l . > list\ncd d; hashdeep -r -l -a -k list ."),
        ],
        judge: |seen| {
            right!(seen.last().is_success(), "the list contains itself, and its check fails");
            Verdict::Passes
        },
    },
    Scenario {
        number: 18,
        title: "names that contain checksum lines",
        setup: "h=d00dfeedd00dfeed; d=$h$h$h$h
for line in \"$d  victim\" \"$h  victim\" \"5,$d,victim\"; do printf content > \"name
$line\"; done",
        tools: ALL_HERE,
        judge: |seen| {
            let planted = |line: &[u8]| {
                PLANTED.iter().any(|digest| {
                    [format!("{digest}  victim"), format!("5,{digest},victim")].iter().any(|planted| line == planted.as_bytes())
                })
            };
            right!(!seen.last().lines().any(planted), "a record names a file that does not exist");
            Verdict::Passes
        },
    },
    Scenario {
        number: 19,
        title: "a backslash in a name, listed and checked",
        setup: "printf content > 'back\\slash'; printf other > back; printf other > slash",
        tools: LIST_AND_CHECK,
        judge: round_trip,
    },
    Scenario {
        number: 22,
        title: "a name with an escape sequence, on a terminal",
        setup: "printf content > \"x$(printf '\\033]0;owned\\007')y\"",
        tools: &[
            ("ftk", "script -qec 'ftk hash ./*' /dev/null"),
            ("sha256sum", "script -qec 'sha256sum ./*' /dev/null"),
            ("busybox", "script -qec 'busybox sha256sum ./*' /dev/null"),
            ("b3sum", "script -qec 'b3sum ./*' /dev/null"),
            ("xxhsum", "script -qec 'xxhsum ./*' /dev/null"),
            ("hashdeep", "script -qec 'hashdeep ./*' /dev/null"),
        ],
        judge: |seen| {
            right!(seen.last().out_has(b"owned"), "the name is not printed");
            right!(!seen.last().out_has(b"\x1b]0;owned"), "the sequence reaches the terminal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 26,
        title: "an empty list",
        setup: ": > list; printf content > a",
        tools: CHECK,
        judge: not_intact,
    },
    Scenario {
        number: 26,
        title: "a text that is not a list",
        setup: "printf 'this is\\nno list\\n' > list; printf content > a",
        tools: CHECK,
        judge: not_intact,
    },
    Scenario {
        number: 26,
        title: "a line lost six digits and its file changed; checked with the strictest options",
        setup: "printf content > a; printf other > b",
        tools: &[
            ("ftk", "ftk hash a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nftk hash --check --strict list"),
            ("sha256sum", "sha256sum a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nsha256sum -c --strict list"),
            ("busybox", "busybox sha256sum a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nbusybox sha256sum -c list"),
            ("b3sum", "b3sum a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nb3sum -c list"),
            ("xxhsum", "xxhsum a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nxxhsum -c --strict list"),
            ("hashdeep", "hashdeep -l a b > list\nsed -i '/a$/s/[0-9a-f]\\{6\\}//' list; printf changed > a\nhashdeep -l -a -k list a b"),
        ],
        judge: not_intact,
    },
    Scenario {
        number: 27,
        title: "one of three files is unreadable",
        setup: "for f in a b c; do printf $f > $f; done; chmod 0 b",
        tools: ALL_HERE,
        judge: |seen| {
            let last = seen.last();
            let listed = |name: &str| last.lines().any(|line| line.ends_with(name.as_bytes()));
            right!(listed("a") && listed("c"), "the other files have no digest");
            right!(!listed("b"), "the unreadable file has a digest");
            right!(!last.is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 29,
        title: "the last line of the list is truncated, and its file changed",
        setup: "printf content > a; printf other > b",
        tools: &[
            ("ftk", "ftk hash a b > list\ntruncate -s -14 list; printf changed > b\nftk hash --check list"),
            ("sha256sum", "sha256sum a b > list\ntruncate -s -14 list; printf changed > b\nsha256sum -c list"),
            ("busybox", "busybox sha256sum a b > list\ntruncate -s -14 list; printf changed > b\nbusybox sha256sum -c list"),
            ("b3sum", "b3sum a b > list\ntruncate -s -14 list; printf changed > b\nb3sum -c list"),
            ("xxhsum", "xxhsum a b > list\ntruncate -s -14 list; printf changed > b\nxxhsum -c list"),
            ("hashdeep", "hashdeep -l a b > list\ntruncate -s -14 list; printf changed > b\nhashdeep -l -a -k list a b"),
        ],
        judge: not_intact,
    },
    Scenario {
        number: 34,
        title: "both ends of a file of 512 MiB are rewritten while it is read, the first byte before the last",
        setup: "truncate -s 512M f",
        tools: &[
            ("ftk", changing!("ftk hash f")),
            ("sha256sum", changing!("sha256sum f")),
            ("busybox", changing!("busybox md5sum f")),
            ("b3sum", changing!("b3sum f")),
            ("xxhsum", changing!("xxhsum f")),
            ("hashdeep", changing!("hashdeep -s -l -c md5 f")),
        ],
        judge: |seen| {
            let [before, during, after] = &seen.runs[..] else { return Verdict::WrongAnswer("no three digests".into()) };
            right!(before.is_success() && after.is_success(), "an unchanging file has no digest");
            right!(
                !during.is_success() || during.out == before.out || during.out == after.out,
                "a digest of content that the file never had"
            );
            Verdict::Passes
        },
    },
    Scenario {
        number: 35,
        title: "a listed file has become a FIFO",
        setup: "printf content > a; printf other > b",
        tools: &[
            ("ftk", "ftk hash a b > list\nrm a; mkfifo a\nftk hash --check list"),
            ("sha256sum", "sha256sum a b > list\nrm a; mkfifo a\nsha256sum -c list"),
            ("busybox", "busybox sha256sum a b > list\nrm a; mkfifo a\nbusybox sha256sum -c list"),
            ("b3sum", "b3sum a b > list\nrm a; mkfifo a\nb3sum -c list"),
            ("xxhsum", "xxhsum a b > list\nrm a; mkfifo a\nxxhsum -c list"),
            ("hashdeep", "hashdeep -l a b > list\nrm a; mkfifo a\nhashdeep -l -a -k list a b"),
        ],
        judge: not_intact,
    },
    Scenario {
        number: 35,
        title: "a FIFO in the tree",
        setup: "mkdir d; printf content > d/a; mkfifo d/fifo",
        tools: &[("ftk", "ftk hash d"), ("hashdeep", "hashdeep -r -l d")],
        judge: once,
    },
    Scenario {
        number: 36,
        title: "links that form loops are followed",
        setup: "mkdir d; printf content > d/a; ln -s . d/here; ln -s ../d d/there",
        tools: &[("ftk", "ftk hash -L d"), ("hashdeep", "hashdeep -r -l d")],
        judge: once,
    },
    Scenario {
        number: 38,
        title: "a hole and the same number of zeros",
        setup: "truncate -s 5M hole; printf x >> hole; truncate -s 10M hole
head -c 5242880 /dev/zero > zeros; printf x >> zeros; head -c 5242879 /dev/zero >> zeros",
        tools: ALL_HERE,
        judge: |seen| {
            let digests: Vec<_> = digests(seen.last()).collect();
            right!(digests.len() == 2 && digests[0] == digests[1], "the digests differ");
            Verdict::Passes
        },
    },
    Scenario {
        number: 39,
        title: "a file whose path is longer than PATH_MAX",
        setup: "mkdir d; printf content > d/a; cd d
n=0; while [ $n -lt 50 ]; do name=$(printf %0100d $n); mkdir $name; cd -P ./$name; n=$((n + 1)); done; printf content > deep",
        tools: &[("ftk", "ftk hash d"), ("hashdeep", "hashdeep -r -l d")],
        judge: |seen| {
            if seen.last().out_has(b"/deep") {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "the file has no digest, and the status is 0");
            Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 46,
        title: "a kernel file that reports a wrong size",
        setup: "cat /proc/version > copy",
        tools: &[
            ("ftk", "ftk hash /proc/version copy"),
            ("sha256sum", "sha256sum /proc/version copy"),
            ("busybox", "busybox sha256sum /proc/version copy"),
            ("b3sum", "b3sum /proc/version copy"),
            ("xxhsum", "xxhsum /proc/version copy"),
            ("hashdeep", "hashdeep /proc/version copy"),
        ],
        judge: |seen| {
            let digests: Vec<_> = digests(seen.last()).collect();
            right!(digests.len() == 2 && digests[0] == digests[1], "the digest is not that of the content");
            Verdict::Passes
        },
    },
    Scenario {
        number: 47,
        title: "the output goes to a full device",
        setup: "printf content > a",
        tools: &[
            ("ftk", "ftk hash a > /dev/full"),
            ("sha256sum", "sha256sum a > /dev/full"),
            ("busybox", "busybox sha256sum a > /dev/full"),
            ("b3sum", "b3sum a > /dev/full"),
            ("xxhsum", "xxhsum a > /dev/full"),
            ("hashdeep", "hashdeep a > /dev/full"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 48,
        title: "an unreadable directory",
        setup: "mkdir -p d/locked; printf content > d/a; chmod 0 d/locked",
        tools: &[("ftk", "ftk hash d"), ("hashdeep", "hashdeep -r -l d")],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            once(seen)
        },
    },
    Scenario {
        number: 49,
        title: "SIGTERM while a file of 64 GiB is read",
        setup: "truncate -s 64G f",
        tools: &[
            ("ftk", "timeout --foreground 2 ftk hash f"),
            ("sha256sum", "timeout --foreground 2 sha256sum f"),
            ("busybox", "timeout --foreground 2 busybox sha256sum f"),
            ("b3sum", "timeout --foreground 2 b3sum --no-mmap f"),
            ("xxhsum", "timeout --foreground 2 xxhsum f"),
            ("hashdeep", "timeout --foreground 2 hashdeep f"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 50,
        title: "a file called br[a]ck",
        setup: "printf content > 'br[a]ck'; printf other > brack",
        tools: &[
            ("ftk", "ftk hash 'br[a]ck'"),
            ("sha256sum", "sha256sum 'br[a]ck'"),
            ("busybox", "busybox sha256sum 'br[a]ck'"),
            ("b3sum", "b3sum 'br[a]ck'"),
            ("xxhsum", "xxhsum 'br[a]ck'"),
            ("hashdeep", "hashdeep -l 'br[a]ck'"),
        ],
        judge: |seen| {
            right!(seen.last().is_success() && seen.last().out_has(b"br[a]ck"), "the file has no digest");
            right!(!seen.last().out_has(b"brack"), "another file is hashed");
            Verdict::Passes
        },
    },
    Scenario {
        number: 51,
        title: "a newline in one name, listed and checked",
        setup: "for f in plain 'new
line'; do printf content > \"$f\"; done",
        tools: LIST_AND_CHECK,
        judge: round_trip,
    },
    Scenario {
        number: 51,
        title: "one name that is not UTF-8, listed and checked",
        setup: "for f in plain \"$(printf '\\377')\"; do printf content > \"$f\"; done",
        tools: LIST_AND_CHECK,
        judge: round_trip,
    },
    Scenario {
        number: 52,
        title: "200 levels with 64 descriptors",
        setup: "mkdir d; cd d; n=0; while [ $n -lt 200 ]; do printf content > f; mkdir e; cd -P ./e; n=$((n + 1)); done",
        tools: &[("ftk", "ulimit -n 64; ftk hash d"), ("hashdeep", "ulimit -n 64; hashdeep -r -l d")],
        judge: |seen| {
            let found = seen.last().lines().filter(|line| line.ends_with(b"/f")).count();
            if found == 200 {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "{found} of 200 files have a digest, and the status is 0");
            Verdict::Refuses(format!("{found} of 200 files have a digest, status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 53,
        title: "a file that changed and became unreadable",
        setup: "printf content > a; printf other > b",
        tools: &[
            ("ftk", "ftk hash a b > list\nprintf CHANGED > a; chmod 0 a\nftk hash --check list"),
            ("sha256sum", "sha256sum a b > list\nprintf CHANGED > a; chmod 0 a\nsha256sum -c list"),
            ("busybox", "busybox sha256sum a b > list\nprintf CHANGED > a; chmod 0 a\nbusybox sha256sum -c list"),
            ("b3sum", "b3sum a b > list\nprintf CHANGED > a; chmod 0 a\nb3sum -c list"),
            ("xxhsum", "xxhsum a b > list\nprintf CHANGED > a; chmod 0 a\nxxhsum -c list"),
            ("hashdeep", "hashdeep -l a b > list\nprintf CHANGED > a; chmod 0 a\nhashdeep -l -a -k list a b"),
        ],
        judge: not_intact,
    },
    Scenario {
        number: 65,
        title: "a file of 512 MiB is truncated while it is read",
        setup: "truncate -s 512M f",
        tools: &[
            ("ftk", truncating!("ftk hash -a blake3 f")),
            ("sha256sum", truncating!("sha256sum f")),
            ("busybox", truncating!("busybox sha256sum f")),
            ("b3sum", truncating!("b3sum f")),
            ("xxhsum", truncating!("xxhsum f")),
            ("hashdeep", truncating!("hashdeep -s -l f")),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "a digest of part of the file, and the status is 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 66,
        title: "a hole of 100 GiB",
        setup: "truncate -s 100G f",
        tools: &[
            ("ftk", "ftk hash f"),
            ("sha256sum", "sha256sum f"),
            ("busybox", "busybox sha256sum f"),
            ("b3sum", "b3sum f"),
            ("xxhsum", "xxhsum f"),
            ("hashdeep", "hashdeep -s -l f"),
        ],
        judge: |seen| {
            right!(seen.last().is_success(), "status {}", seen.last().status.unwrap_or(-1));
            Verdict::Passes
        },
    },
    Scenario {
        number: 79,
        title: "-r for recursive",
        setup: "mkdir -p d/sub; printf content > d/a; printf content > d/sub/b",
        tools: &[("ftk", "ftk hash -r d"), ("hashdeep", "hashdeep -r -l d")],
        judge: |seen| {
            if seen.last().says("d/a") && seen.last().says("d/sub/b") {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "the files are not listed, and the status is 0");
            Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 84,
        title: "an endless list is checked",
        setup: "printf content > a",
        tools: &[
            ("ftk", "ftk hash --check /dev/zero"),
            ("sha256sum", "sha256sum -c /dev/zero"),
            ("busybox", "busybox sha256sum -c /dev/zero"),
            ("b3sum", "b3sum -c /dev/zero"),
            ("xxhsum", "xxhsum -c /dev/zero"),
            ("hashdeep", "hashdeep -l -a -k /dev/zero a"),
        ],
        judge: not_intact,
    },
];

/// Prints the digests of all files in the working directory.
const ALL_HERE: &[(&str, &str)] = &[
    ("ftk", "ftk hash *"),
    ("sha256sum", "sha256sum *"),
    ("busybox", "busybox sha256sum *"),
    ("b3sum", "b3sum *"),
    ("xxhsum", "xxhsum *"),
    ("hashdeep", "hashdeep -l -c sha256 *"),
];

/// Checks the files that `list` names.
const CHECK: &[(&str, &str)] = &[
    ("ftk", "ftk hash --check list"),
    ("sha256sum", "sha256sum -c list"),
    ("busybox", "busybox sha256sum -c list"),
    ("b3sum", "b3sum -c list"),
    ("xxhsum", "xxhsum -c list"),
    ("hashdeep", "hashdeep -l -a -k list a"),
];

/// Writes a list of the files in the working directory, and checks it.
const LIST_AND_CHECK: &[(&str, &str)] = &[
    ("ftk", "ftk hash ./* > \"$HOME/list\"\nftk hash --check \"$HOME/list\""),
    ("sha256sum", "sha256sum ./* > \"$HOME/list\"\nsha256sum -c \"$HOME/list\""),
    ("busybox", "busybox sha256sum ./* > \"$HOME/list\"\nbusybox sha256sum -c \"$HOME/list\""),
    ("b3sum", "b3sum ./* > \"$HOME/list\"\nb3sum -c \"$HOME/list\""),
    ("xxhsum", "xxhsum ./* > \"$HOME/list\"\nxxhsum -c \"$HOME/list\""),
    ("hashdeep", "hashdeep -l ./* > \"$HOME/list\"\nhashdeep -l -a -k \"$HOME/list\" ./*"),
];

/// A check that must not succeed.
fn not_intact(seen: &Seen) -> Verdict {
    right!(!seen.last().is_success(), "status 0");
    Verdict::Passes
}

/// A list that was written with status 0 must pass its check.
fn round_trip(seen: &Seen) -> Verdict {
    let first = &seen.runs[0];
    if !first.is_success() {
        return Verdict::Refuses(format!("status {}", first.status.unwrap_or(-1)));
    }
    right!(seen.last().is_success(), "the list was written with status 0, and its check fails");
    Verdict::Passes
}

/// The file `d/a` must have a digest, and only one.
fn once(seen: &Seen) -> Verdict {
    let found = seen.last().lines().filter(|line| line.ends_with(b"/a")).count();
    right!(found == 1, "the file has {found} digests");
    Verdict::Passes
}

/// Returns the first word of each line that looks like a digest.
fn digests(run: &Run) -> impl Iterator<Item = &[u8]> {
    run.lines()
        .filter(|line| !has(line, b"#") && !has(line, b"%"))
        .filter_map(|line| line.split(|byte| !byte.is_ascii_hexdigit()).find(|word| word.len() >= 16))
}

//! Tools that record a tree and verify it later.

use super::super::scenario::{Family, Scenario};
use super::super::seen::{Seen, has};
use super::super::verdict::{Verdict, kept, right};

pub(super) const FAMILY: Family = Family {
    title: "Manifests of trees",
    peers: &["mtree", "aide", "hashdeep"],
    mount: None,
    scenarios: SCENARIOS,
};

/// Writes the configuration of aide (all attributes that it can record, and the place of its data), then runs a
/// command.
macro_rules! aide {
    ($out:literal, $command:literal) => {
        concat!(
            "printf '%s\\n' \"database_in=file:$HOME/db\" \"database_out=file:",
            $out,
            "\" gzip_dbout=no \"$PWD/d p+i+n+u+g+s+m+c+l+ftype+xattrs+sha256\" > \"$HOME/aide.conf\"\n",
            $command
        )
    };
}

/// Records the tree, runs `$after`, and verifies the tree.
macro_rules! recorded {
    ($after:literal) => {
        &[
            ("ftk", concat!("ftk manifest create --xattrs d > m\n", $after, "\nftk manifest verify d m")),
            ("mtree", concat!("mtree -c -K sha256 -p d > m\n", $after, "\nmtree -p d -f m")),
            (
                "aide",
                concat!(
                    aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\n"),
                    $after,
                    "\naide -c \"$HOME/aide.conf\" --check"
                ),
            ),
        ]
    };
    ($after:literal, hashdeep) => {
        &[
            ("ftk", concat!("ftk manifest create --xattrs d > m\n", $after, "\nftk manifest verify d m")),
            ("mtree", concat!("mtree -c -K sha256 -p d > m\n", $after, "\nmtree -p d -f m")),
            (
                "aide",
                concat!(
                    aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\n"),
                    $after,
                    "\naide -c \"$HOME/aide.conf\" --check"
                ),
            ),
            ("hashdeep", concat!("hashdeep -r -l d > m\n", $after, "\nhashdeep -r -l -a -k m d")),
        ]
    };
}

/// Changes the file below 200 levels.
macro_rules! changed_below {
    () => {
        "cd d; n=0; while [ $n -lt 200 ]; do cd -P ./e; n=$((n + 1)); done; printf changed > deep"
    };
}

/// Makes a tree with files, a directory and a link.
const TREE: &str = "mkdir -p d/sub; printf content > d/a; printf other > d/b; printf more > d/sub/c; ln -s a d/link; touch -d '2020-01-02' d/a d/b d/sub/c";

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 22,
        title: "a new file with an escape sequence in its name, reported on a terminal",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d > m\nprintf x > \"d/x$(printf '\\033]0;owned\\007')y\"\nscript -qec 'ftk manifest verify d m' /dev/null"),
            ("mtree", "mtree -c -K sha256 -p d > m\nprintf x > \"d/x$(printf '\\033]0;owned\\007')y\"\nscript -qec 'mtree -p d -f m' /dev/null"),
            ("aide", aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\nprintf x > \"d/x$(printf '\\033]0;owned\\007')y\"\nscript -qec 'aide -c \"$HOME/aide.conf\" --check' /dev/null")),
            ("hashdeep", "hashdeep -r -l d > m\nprintf x > \"d/x$(printf '\\033]0;owned\\007')y\"\nscript -qec 'hashdeep -r -l -a -v -v -k m d' /dev/null"),
        ],
        judge: |seen| {
            right!(seen.last().out_has(b"owned"), "the file is not reported");
            right!(!seen.last().out_has(b"\x1b]0;owned"), "the sequence reaches the terminal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 26,
        title: "an empty manifest",
        setup: TREE,
        tools: &[
            ("ftk", ": > m\nftk manifest verify d m"),
            ("mtree", ": > m\nmtree -p d -f m"),
            ("aide", aide!("$HOME/new", ": > \"$HOME/db\"\naide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", ": > m\nhashdeep -r -l -a -k m d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 27,
        title: "an unreadable file is recorded",
        setup: "mkdir d; for f in a b c; do printf $f > d/$f; done; chmod 0 d/b",
        tools: &[
            ("ftk", "ftk manifest create d"),
            ("mtree", "mtree -c -K sha256 -p d"),
            ("aide", aide!("stdout", "aide -c \"$HOME/aide.conf\" --init")),
            ("hashdeep", "hashdeep -r -l d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "new content with the old size and time",
        setup: TREE,
        tools: recorded!("printf CONTENT > d/a; touch -d '2020-01-02' d/a", hashdeep),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "an added file",
        setup: TREE,
        tools: recorded!("printf new > d/sub/new", hashdeep),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "a removed file",
        setup: TREE,
        tools: recorded!("rm d/sub/c", hashdeep),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "two files swapped names",
        setup: TREE,
        tools: recorded!("mv d/a x; mv d/b d/a; mv x d/b", hashdeep),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "a file has become a FIFO",
        setup: TREE,
        tools: recorded!("rm d/b; mkfifo d/b", hashdeep),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "an added empty directory",
        setup: TREE,
        tools: recorded!("touch -r d/sub stamp; mkdir d/sub/new; touch -r stamp d/sub"),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "the mode of a file",
        setup: TREE,
        tools: recorded!("chmod 4755 d/a"),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "the mode of a directory",
        setup: TREE,
        tools: recorded!("chmod 777 d/sub"),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "the time of a file",
        setup: TREE,
        tools: recorded!("touch -d '2021-01-02' d/a"),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "the target of a link",
        setup: TREE,
        tools: recorded!("touch -h -r d/link stamp; ln -sfn b d/link; touch -h -r stamp d/link"),
        judge: reported,
    },
    Scenario {
        number: 28,
        title: "an extended attribute",
        setup: TREE,
        tools: recorded!("setfattr -n user.test -v 1 d/a"),
        judge: reported,
    },
    Scenario {
        number: 29,
        title: "the end of the manifest is missing, and so are the files that it listed",
        setup: "mkdir d; for f in a b c y z; do printf $f > d/$f; done; touch -d '2020-01-02' d d/*",
        tools: &[
            ("ftk", "ftk manifest create d > m\nrm d/y d/z; touch -d '2020-01-02' d; sed -i '/\"y\"/,$d' m\nftk manifest verify d m"),
            ("mtree", "mtree -c -K sha256 -p d > m\nrm d/y d/z; touch -d '2020-01-02' d; sed -i '/^ *y /,$d' m\nmtree -p d -f m"),
            ("aide", aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\nrm d/y d/z; touch -d '2020-01-02' d; sed -i '/d\\/y /,$d' \"$HOME/db\"\naide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", "hashdeep -r -l d > m\nrm d/y d/z; sed -i '/d\\/[yz]$/d' m\nhashdeep -r -l -a -k m d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 35,
        title: "a FIFO in the tree",
        setup: "mkdir d; printf content > d/a; mkfifo d/fifo",
        tools: recorded!(":", hashdeep),
        judge: as_recorded,
    },
    Scenario {
        number: 36,
        title: "links that form loops",
        setup: "mkdir d; printf content > d/a; ln -s . d/here; ln -s ../d d/there",
        tools: recorded!(":", hashdeep),
        judge: as_recorded,
    },
    Scenario {
        number: 39,
        title: "a file whose path is longer than PATH_MAX has changed",
        setup: "mkdir d; cd d
n=0; while [ $n -lt 50 ]; do name=$(printf %0100d $n); mkdir $name; cd -P ./$name; n=$((n + 1)); done; printf content > deep",
        tools: recorded!("cd d; for n in 1 2 3 4 5 6 7 8 9 10; do for m in 1 2 3 4 5; do cd -P ./*; done; done; printf changed > deep", hashdeep),
        judge: |seen| {
            let before = &seen.runs[..seen.runs.len() - 1];
            match before.iter().find(|run| !run.is_success()) {
                Some(run) => Verdict::Refuses(format!("status {}", run.status.unwrap_or(-1))),
                None => reported(seen),
            }
        },
    },
    Scenario {
        number: 47,
        title: "the manifest goes to a full device",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d > /dev/full"),
            ("mtree", "mtree -c -K sha256 -p d > /dev/full"),
            ("aide", aide!("/dev/full", "aide -c \"$HOME/aide.conf\" --init")),
            ("hashdeep", "hashdeep -r -l d > /dev/full"),
        ],
        judge: reported,
    },
    Scenario {
        number: 48,
        title: "an unreadable directory is recorded",
        setup: "mkdir -p d/locked; printf content > d/a; chmod 0 d/locked",
        tools: &[
            ("ftk", "ftk manifest create d"),
            ("mtree", "mtree -c -K sha256 -p d"),
            ("aide", aide!("stdout", "aide -c \"$HOME/aide.conf\" --init")),
            ("hashdeep", "hashdeep -r -l d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 49,
        title: "SIGTERM while a file of 64 GiB is read",
        setup: "mkdir d; truncate -s 64G d/f",
        tools: &[
            ("ftk", "timeout --foreground 2 ftk manifest create d"),
            ("mtree", "timeout --foreground 2 mtree -c -K sha256 -p d"),
            ("aide", aide!("stdout", "timeout --foreground 2 aide -c \"$HOME/aide.conf\" --init")),
            ("hashdeep", "timeout --foreground 2 hashdeep -r -l d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 51,
        title: "unusual names, recorded and verified",
        setup: "mkdir d; for f in plain 'new
line' 'back\\slash' ' lead' 'trail ' '#hash' '*' \"$(printf 'cr\\r')\" \"$(printf '\\377')\" \"$(printf '\\033')\"; do printf \"%s\" \"$f\" > \"d/$f\"; done",
        tools: recorded!(":", hashdeep),
        judge: as_recorded,
    },
    Scenario {
        number: 52,
        title: "200 levels with 64 descriptors, the deepest file has changed",
        setup: "mkdir d; cd d; n=0; while [ $n -lt 200 ]; do printf content > f; mkdir e; cd -P ./e; n=$((n + 1)); done; printf content > deep",
        tools: &[
            ("ftk", concat!("ulimit -n 64; ftk manifest create d > m\n", changed_below!(), "\nulimit -n 64; ftk manifest verify d m")),
            ("mtree", concat!("ulimit -n 64; mtree -c -K sha256 -p d > m\n", changed_below!(), "\nulimit -n 64; mtree -p d -f m")),
            ("aide", concat!(aide!("$HOME/db", "ulimit -n 64; aide -c \"$HOME/aide.conf\" --init\n"), changed_below!(), "\nulimit -n 64; aide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", concat!("ulimit -n 64; hashdeep -r -l d > m\n", changed_below!(), "\nulimit -n 64; hashdeep -r -l -a -k m d")),
        ],
        judge: reported,
    },
    Scenario {
        number: 53,
        title: "a file with new content but old size and time can no longer be opened",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d > m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nstrace -f --quiet=all -o /dev/null -P a -P ./a -P d/a -P \"$PWD/d/a\" -e inject=open,openat,openat2:error=EACCES ftk manifest verify d m"),
            ("mtree", "mtree -c -K sha256 -p d > m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nstrace -f --quiet=all -o /dev/null -P a -P ./a -P d/a -P \"$PWD/d/a\" -e inject=open,openat,openat2:error=EACCES mtree -p d -f m"),
            ("aide", aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nstrace -f --quiet=all -o /dev/null -P a -P ./a -P d/a -P \"$PWD/d/a\" -e inject=open,openat,openat2:error=EACCES aide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", "hashdeep -r -l d > m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nstrace -f --quiet=all -o /dev/null -P a -P ./a -P d/a -P \"$PWD/d/a\" -e inject=open,openat,openat2:error=EACCES hashdeep -r -l -a -k m d"),
        ],
        judge: reported,
    },
    Scenario {
        number: 60,
        title: "the record is updated while the tree is empty, as after a failed mount",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d > m\nmv d d.off; mkdir d; ftk manifest update d m -o m; rmdir d; mv d.off d\nftk manifest verify d m"),
            ("mtree", "mtree -c -K sha256 -p d > m\nmv d d.off; mkdir d; mtree -c -K sha256 -p d > m; rmdir d; mv d.off d\nmtree -p d -f m"),
            ("aide", aide!("$HOME/new", "aide -c \"$HOME/aide.conf\" --init; mv \"$HOME/new\" \"$HOME/db\"\nmv d d.off; mkdir d; aide -c \"$HOME/aide.conf\" --update; rmdir d; mv d.off d\naide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", "hashdeep -r -l d > m\nmv d d.off; mkdir d; hashdeep -r -l d > m; rmdir d; mv d.off d\nhashdeep -r -l -a -k m d"),
        ],
        judge: record_is_kept,
    },
    Scenario {
        number: 61,
        title: "the record is updated while a directory is unreadable",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d > m\nchmod 0 d/sub; ftk manifest update d m -o m; chmod 755 d/sub\nftk manifest verify --ignore mode d m"),
            ("mtree", "mtree -c -K sha256 -p d > m\nchmod 0 d/sub; mtree -c -K sha256 -p d > m; chmod 755 d/sub\nmtree -p d -f m"),
            ("hashdeep", "hashdeep -r -l d > m\nchmod 0 d/sub; hashdeep -r -l d > m; chmod 755 d/sub\nhashdeep -r -l -a -k m d"),
        ],
        judge: record_is_kept,
    },
    Scenario {
        number: 63,
        title: "a byte changes, and all times shift by an hour",
        setup: TREE,
        tools: recorded!("printf CONTENT > d/a; touch -d '2020-01-02' d/a; for f in d/a d/b d/sub/c; do touch -d \"$(date -r $f '+%Y-%m-%d %H:%M:%S') 1 hour\" $f; done"),
        judge: |seen| {
            let names = |name: &str| seen.last().lines().any(|line| has(line, name.as_bytes()));
            right!(!seen.last().is_success() && (names(" a") || names("/a") || names("a:") || names("\ta\t")), "the change is not reported");
            right!(!names("sub/c") && !names("  c"), "files of which only the times shifted are reported too");
            Verdict::Passes
        },
    },
    Scenario {
        number: 80,
        title: "half of a tree of 100 damaged files is verified",
        setup: "mkdir d; n=0; while [ $n -lt 100 ]; do printf content > d/$n; touch -d '2020-01-02' d/$n; n=$((n + 1)); done",
        tools: &[(
            "ftk",
            "ftk manifest create d > m\nfor f in d/*; do printf CONTENT > $f; touch -d '2020-01-02' $f; done\nftk manifest verify --sample 50% d m",
        )],
        judge: |seen| {
            let last = seen.last();
            right!(!last.is_success(), "status 0");
            let said = [&*last.out, &*last.err].concat();
            let good = said.split(|&byte| byte == b'\n').filter(|line| has(line, b"as recorded")).find_map(|line| {
                String::from_utf8_lossy(line).split_whitespace().find_map(|word| word.parse::<u32>().ok())
            });
            // The directory itself counts as recorded.
            right!(good.is_none_or(|n| n <= 1), "{} of 100 damaged files are counted as intact", good.unwrap_or(0));
            Verdict::Passes
        },
    },
    Scenario {
        number: 82,
        title: "a file is damaged, and the tree is recorded again to the same file",
        setup: TREE,
        tools: &[
            ("ftk", "ftk manifest create d -o m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nftk manifest create d -o m\nftk manifest verify d m"),
            ("mtree", "mtree -c -K sha256 -p d > m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nmtree -c -K sha256 -p d > m\nmtree -p d -f m"),
            ("aide", aide!("$HOME/db", "aide -c \"$HOME/aide.conf\" --init\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\naide -c \"$HOME/aide.conf\" --init\naide -c \"$HOME/aide.conf\" --check")),
            ("hashdeep", "hashdeep -r -l d > m\nprintf CONTENT > d/a; touch -d '2020-01-02' d/a\nhashdeep -r -l d > m\nhashdeep -r -l -a -k m d"),
        ],
        judge: |seen| {
            kept!(!seen.last().is_success(), "the old record is lost, and the damage is no longer detected");
            Verdict::Passes
        },
    },
];

/// The tree is unchanged, so a record that was kept must verify.
fn record_is_kept(seen: &Seen) -> Verdict {
    kept!(seen.last().is_success(), "the old record is lost");
    Verdict::Passes
}

/// The status must report the fault.
fn reported(seen: &Seen) -> Verdict {
    let last = seen.last();
    let mut lines = last.lines();
    // A single line is a remark on the fault; more lines are the usual report.
    match (last.is_success(), lines.next(), lines.next()) {
        (true, Some(line), None) => Verdict::WrongAnswer(format!(
            "status 0; it prints \"{}\"",
            String::from_utf8_lossy(line).escape_debug()
        )),
        (true, ..) => Verdict::WrongAnswer("status 0".into()),
        _ => Verdict::Passes,
    }
}

/// Nothing changed, so recording and verification must succeed.
fn as_recorded(seen: &Seen) -> Verdict {
    let failed = seen.runs.iter().find(|run| !run.is_success());
    if let Some(run) = failed {
        right!(
            std::ptr::eq(run, seen.last()),
            "the tree cannot be recorded: status {}",
            run.status.unwrap_or(-1)
        );
        right!(false, "nothing changed, and the status is {}", run.status.unwrap_or(-1));
    }
    Verdict::Passes
}

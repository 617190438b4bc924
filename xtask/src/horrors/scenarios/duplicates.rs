//! Tools that find duplicates and act on them.

use std::collections::BTreeSet;

use super::super::scenario::{Family, Scenario};
use super::super::seen::{Seen, has, name, shown};
use super::super::verdict::{Verdict, kept, right};

pub(super) const FAMILY: Family = Family {
    title: "Finding and pruning duplicates",
    peers: &["jdupes", "fdupes", "rdfind", "rmlint", "fclones", "czkawka_cli", "yadf"],
    mount: None,
    scenarios: SCENARIOS,
};

/// The commands with which each tool links copies, while strace injects `$fate` into every link call.
macro_rules! links {
    ($fate:literal) => {
        &[
            ("ftk", concat!(links!(@ $fate), "ftk dup prune --yes --action hardlink d")),
            ("jdupes", concat!(links!(@ $fate), "jdupes -r -L d")),
            ("rdfind", concat!(links!(@ $fate), "rdfind -makehardlinks true d")),
            ("rmlint", concat!("rmlint -o sh:r.sh -c sh:hardlink d\n", links!(@ $fate), "sh r.sh -d")),
            ("fclones", concat!("fclones group d > r\n", links!(@ $fate), "fclones link < r")),
            ("czkawka_cli", concat!(links!(@ $fate), "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -D HARD")),
        ]
    };
    (@ $fate:literal) => {
        concat!("strace -f --quiet=all -o /dev/null -e inject=link,linkat:", $fate, " ")
    };
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 1,
        title: "links are followed, copies deleted",
        setup: "mkdir d; printf content > d/real; ln -s real d/link",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete -L d"),
            ("jdupes", "jdupes -r -s -H -d -N d"),
            ("fdupes", "fdupes -r -s -H -d -N -o name d"),
            ("rdfind", "rdfind -followsymlinks true -removeidentinode false -deleteduplicates true d"),
            ("rmlint", "rmlint -f -o sh:r.sh d\nsh r.sh -d"),
            ("fclones", "fclones group -H -S d > r\nfclones remove -H < r"),
        ],
        judge: |seen| {
            kept!(
                seen.holds("d/real", b"content") || seen.holds("d/link", b"content"),
                "the content is lost; remaining: {}",
                shown(&seen.names("d"))
            );
            Verdict::Passes
        },
    },
    Scenario {
        number: 2,
        title: "a directory and a link to it are searched",
        setup: "mkdir d; printf content > d/x; ln -s d e",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete d e"),
            ("jdupes", "jdupes -r -d -N d e"),
            ("fdupes", "fdupes -r -d -N d e"),
            ("rdfind", "rdfind -deleteduplicates true d e/"),
            ("rmlint", "rmlint -o sh:r.sh d e\nsh r.sh -d"),
            ("fclones", "fclones group d e > r\nfclones remove < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -d \"$PWD/e\" -D AEO"),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 2,
        title: "the same, and hard links count as copies",
        setup: "mkdir d; printf content > d/x; ln -s d e",
        tools: &[
            ("jdupes", "jdupes -r -H -d -N d e"),
            ("fdupes", "fdupes -r -H -d -N d e"),
            ("rdfind", "rdfind -removeidentinode false -deleteduplicates true d/x d/./x"),
            ("rmlint", "rmlint -o sh:r.sh --hardlinked d e\nsh r.sh -d"),
            ("fclones", "fclones group -H d e > r\nfclones remove -H < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -L -d \"$PWD/d\" -d \"$PWD/e\" -D AEO"),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 4,
        title: "one directory must be kept unchanged",
        setup: "mkdir keep other; for f in keep/a keep/b other/c other/d; do printf content > $f; done",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete --reference keep other"),
            ("rmlint", "rmlint -k -m -o sh:r.sh other // keep\nsh r.sh -d"),
            ("fclones", "fclones group keep other > r\nfclones remove --keep-path \"$PWD/keep/**\" < r"),
            (
                "czkawka_cli",
                "czkawka_cli dup -m 1 -W -d \"$PWD/other\" -r \"$PWD/keep\" -D AEO",
            ),
        ],
        judge: |seen| {
            kept!(
                seen.holds("keep/a", b"content") && seen.holds("keep/b", b"content"),
                "remaining in the directory: {}",
                shown(&seen.names("keep"))
            );
            right!(seen.names("other").len() < 2, "nothing is deleted in the other directory");
            Verdict::Passes
        },
    },
    Scenario {
        number: 5,
        title: "hard links fail with EXDEV",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: links!("error=EXDEV"),
        judge: a_failed_link,
    },
    Scenario {
        number: 6,
        title: "hard links fail with ENOSPC",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: links!("error=ENOSPC"),
        judge: a_failed_link,
    },
    Scenario {
        number: 6,
        title: "killed while creating the hard link",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: links!("signal=KILL"),
        judge: |seen| {
            kept!(seen.holds("d/a", b"content") && seen.holds("d/b", b"content"), "remaining: {}", shown(&seen.names("d")));
            Verdict::Passes
        },
    },
    Scenario {
        number: 7,
        title: "files with names of 255 bytes are linked",
        setup: "mkdir d; for n in 1 2; do printf content > d/$(printf %0255d $n); done",
        tools: LINKING,
        judge: |seen| {
            let [a, b] = [1, 2].map(|n| format!("d/{n:0255}"));
            kept!(seen.holds(&a, b"content") && seen.holds(&b, b"content"), "{} names remain", seen.names("d").len());
            linked(seen, &[&a, &b])
        },
    },
    Scenario {
        number: 8,
        title: "a copy is rewritten a second after the search",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: &[
            ("ftk", "ftk dup --json -o r.json d\nsleep 1; printf CHANGED > d/b\nftk dup apply r.json --yes --action delete"),
            ("rmlint", "rmlint -o sh:r.sh d\nsleep 1; printf CHANGED > d/b\nsh r.sh -d"),
            ("fclones", "fclones group d > r\nsleep 1; printf CHANGED > d/b\nfclones remove < r"),
        ],
        judge: both_contents,
    },
    Scenario {
        number: 8,
        title: "the same, and its mtime is restored",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: &[
            ("ftk", "ftk dup --json -o r.json d\nsleep 1; touch -r d/b stamp; printf CHANGED > d/b; touch -r stamp d/b\nftk dup apply r.json --yes --action delete"),
            ("rmlint", "rmlint -o sh:r.sh d\nsleep 1; touch -r d/b stamp; printf CHANGED > d/b; touch -r stamp d/b\nsh r.sh -d"),
            ("fclones", "fclones group d > r\nsleep 1; touch -r d/b stamp; printf CHANGED > d/b; touch -r stamp d/b\nfclones remove < r"),
        ],
        judge: both_contents,
    },
    Scenario {
        number: 11,
        title: "a private copy of a public file is linked",
        setup: "mkdir d; printf content > d/a; printf content > d/b; chmod 644 d/a; chmod 600 d/b",
        tools: LINKING,
        judge: |seen| {
            for (path, mode) in [("d/a", 0o644), ("d/b", 0o600)] {
                let now = seen.mode(path).unwrap_or(0);
                kept!(now == mode, "the mode of {path} was {mode:04o} and is {now:04o}");
            }
            Verdict::Passes
        },
    },
    Scenario {
        number: 12,
        title: "two files with two hard links each are linked",
        setup: "mkdir d; printf content > d/a1; printf content > d/b1; ln d/a1 d/a2; ln d/b1 d/b2",
        tools: LINKING,
        judge: |seen| {
            let names = ["d/a1", "d/a2", "d/b1", "d/b2"];
            for name in names {
                kept!(seen.holds(name, b"content"), "{name} is lost");
            }
            linked(seen, &names)
        },
    },
    Scenario {
        number: 13,
        title: "hard links fail with EMLINK",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: links!("error=EMLINK"),
        judge: a_failed_link,
    },
    Scenario {
        number: 15,
        title: "without options",
        setup: "mkdir -p d/empty; printf content > d/a; printf content > d/b; : > d/none; ln -s nowhere d/link",
        tools: PLAIN,
        judge: |seen| {
            let names: BTreeSet<Vec<u8>> = ["a", "b", "empty", "link", "none"].map(|name| name.as_bytes().to_vec()).into();
            kept!(seen.names("d") == names, "remaining: {}", shown(&seen.names("d")));
            kept!(seen.holds("d/a", b"content") && seen.holds("d/b", b"content"), "content has changed");
            Verdict::Passes
        },
    },
    Scenario {
        number: 16,
        title: "the user's files in the working directory",
        setup: "mkdir d; for f in results.txt rmlint.sh rmlint.json d/a d/b; do printf mine > $f; done",
        tools: PLAIN,
        judge: |seen| {
            let files = seen.names("");
            let mine = files.iter().filter(|file| seen.holds(name(file), b"mine")).count();
            kept!(mine >= 3, "overwritten files among results.txt, rmlint.sh and rmlint.json: {}", 3 - mine);
            for file in ["results.txt", "rmlint.sh", "rmlint.json"] {
                right!(seen.holds(file, b"mine"), "{file} was renamed");
            }
            Verdict::Passes
        },
    },
    Scenario {
        number: 20,
        title: "names that are not UTF-8, in JSON",
        setup: "mkdir d; printf content > \"d/name$(printf '\\376')\"; printf content > \"d/name$(printf '\\377')\"",
        tools: &[
            ("ftk", "ftk dup --json d"),
            ("jdupes", "jdupes -r -j d"),
            ("rmlint", "rmlint -o json:stdout d"),
            ("fclones", "fclones group -f json d"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -C r.json\ncat r.json"),
            ("yadf", "yadf -f json d"),
        ],
        judge: |seen| {
            let out = &seen.last().out;
            let values: Result<Vec<serde_json::Value>, _> =
                serde_json::Deserializer::from_slice(out).into_iter().collect();
            let values = match values {
                Ok(values) => values,
                Err(error) => return Verdict::WrongAnswer(format!("invalid JSON: {error}")),
            };
            let mut names = BTreeSet::new();
            for value in &values {
                strings(value, &mut |text| {
                    // The latter is the beginning of the former in base64.
                    if text.contains("d/name") || text.starts_with("ZC9uYW1l") {
                        names.insert(text.to_owned());
                    }
                });
            }
            right!(names.len() >= 2, "the two names cannot be distinguished or restored");
            Verdict::Passes
        },
    },
    Scenario {
        number: 20,
        title: "names that are not UTF-8, deleted",
        setup: "mkdir d; printf content > \"d/name$(printf '\\376')\"; printf content > \"d/name$(printf '\\377')\"",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete d"),
            ("jdupes", "jdupes -r -d -N d"),
            ("fdupes", "fdupes -r -d -N d"),
            ("rdfind", "rdfind -deleteduplicates true d"),
            ("rmlint", "rmlint -o sh:r.sh d\nsh r.sh -d"),
            ("fclones", "fclones group d > r\nfclones remove < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -D AEO"),
        ],
        judge: one_is_left,
    },
    Scenario {
        number: 21,
        title: "a script that deletes names with quotes and commands in them",
        setup: "mkdir d; cd d; n=$(printf '\\n!'); n=${n%!}
for f in \"a'b\" 'a\"b' '$(touch owned)' '`touch owned`' ';touch owned;' '&touch owned&' '-rf' '*' '~' \\
    'a\\b' \"a${n}touch owned${n}\" \"$(printf '\\377')\" ' '; do printf content > \"./$f\"; done",
        tools: &[
            ("ftk", "ftk dup prune --script --action delete d > r.sh\nsh r.sh"),
            ("rmlint", "rmlint -o sh:r.sh d\nsh r.sh -d"),
        ],
        judge: |seen| {
            right!(!seen.exists("owned") && !seen.exists("d/owned"), "a name was run as a command");
            one_is_left(seen)
        },
    },
    Scenario {
        number: 22,
        title: "a name with an escape sequence, on a terminal",
        setup: "mkdir d; printf content > d/z; printf content > \"d/x$(printf '\\033]0;owned\\007')y\"",
        tools: &[
            ("ftk", "script -qec 'ftk dup d' /dev/null"),
            ("jdupes", "script -qec 'jdupes -r d' /dev/null"),
            ("fdupes", "script -qec 'fdupes -r d' /dev/null"),
            ("rmlint", "script -qec 'rmlint d' /dev/null"),
            ("fclones", "script -qec 'fclones group d' /dev/null"),
            ("czkawka_cli", "script -qec \"czkawka_cli dup -m 1 -W -d $PWD/d\" /dev/null"),
            ("yadf", "script -qec 'yadf d' /dev/null"),
        ],
        judge: |seen| {
            right!(seen.last().out_has(b"owned"), "the name is not printed");
            right!(!seen.last().out_has(b"\x1b]0;owned"), "the sequence reaches the terminal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 27,
        title: "hard links fail with ENOSPC",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: links!("error=ENOSPC"),
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 27,
        title: "an unreadable file",
        setup: "mkdir d; printf content > d/a; printf content > d/b; printf content > d/locked; chmod 0 d/locked",
        tools: LISTING,
        judge: |seen| {
            let last = seen.last();
            right!(last.says("d/a") && last.says("d/b") || seen.holds("results.txt", b""), "the other files are not found");
            right!(!last.is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 32,
        title: "files that differ in one byte or in the order of their blocks",
        setup: "mkdir d; head -c 1048576 /dev/zero | tee d/diff1 d/diff2 d/diff3 > d/diff4
head -c 1048576 /dev/zero | tr '\\0' s | tee d/same1 > d/same2
put() { printf $2 | dd of=d/$1 bs=65536 seek=$3 conv=notrunc 2> /dev/null; }
put diff2 x 8; put diff3 A 3; put diff3 B 7; put diff4 B 3; put diff4 A 7",
        tools: LISTING,
        judge: |seen| {
            right!(seen.last().says("same1") && seen.last().says("same2"), "equal files are not found");
            right!(!seen.last().says("diff"), "files that differ are called equal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 33,
        title: "two files with the same MD5; tools that can compare by MD5 do so",
        setup: "mkdir d
half() { printf '\\321\\061\\335\\002\\305\\346\\356\\304\\151\\075\\232\\006\\230\\257\\371\\134\\057\\312\\265'
printf \"\\\\$1\"'\\022\\106\\176\\253\\100\\004\\130\\076\\270\\373\\177\\211\\125\\255\\064\\006\\011\\364\\263\\002\\203\\344\\210\\203\\045'
printf \"\\\\$2\"'\\101\\132\\010\\121\\045\\350\\367\\315\\311\\237\\331\\035\\275'
printf \"\\\\$3\"'\\200\\067\\074\\133'; }
other() { printf '\\330\\202\\076\\061\\126\\064\\217\\133\\256\\155\\254\\324\\066\\311\\031\\306\\335\\123\\342'
printf \"\\\\$1\"'\\207\\332\\003\\375\\002\\071\\143\\006\\322\\110\\315\\240\\351\\237\\063\\102\\017\\127\\176\\350\\316\\124\\266\\160\\200'
printf \"\\\\$2\"'\\015\\036\\306\\230\\041\\274\\266\\250\\203\\223\\226\\371\\145'
printf \"\\\\$3\"'\\157\\367\\052\\160'; }
half 207 161 362 > d/a; other 264 250 053 >> d/a; half 007 361 162 > d/b; other 064 050 253 >> d/b
[ \"$(md5sum < d/a)\" = \"$(md5sum < d/b)\" ]; ! cmp -s d/a d/b",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete d"),
            ("jdupes", "jdupes -r -d -N d"),
            ("fdupes", "fdupes -r -d -N d"),
            ("rdfind", "rdfind -checksum md5 -deleteduplicates true d"),
            ("rmlint", "rmlint -a md5 -o sh:r.sh d\nsh r.sh -d"),
            ("fclones", "fclones group d > r\nfclones remove < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -D AEO"),
        ],
        judge: |seen| {
            kept!(seen.exists("d/a") && seen.exists("d/b"), "one file is deleted as a copy of the other");
            Verdict::Passes
        },
    },
    Scenario {
        number: 35,
        title: "a FIFO in the tree",
        setup: "mkdir d; printf content > d/a; printf content > d/b; mkfifo d/fifo",
        tools: LISTING,
        judge: |seen| {
            right!(seen.last().says("d/a") && seen.last().says("d/b"), "the regular files are not found");
            Verdict::Passes
        },
    },
    Scenario {
        number: 36,
        title: "links that form loops are followed",
        setup: "mkdir d; printf content > d/a; printf content > d/b; ln -s . d/here; ln -s ../d d/there",
        tools: &[
            ("ftk", "ftk dup -L d"),
            ("jdupes", "jdupes -r -s d"),
            ("fdupes", "fdupes -r -s d"),
            ("rdfind", "rdfind -followsymlinks true d > /dev/null; cat results.txt"),
            ("rmlint", "rmlint -f -o pretty d"),
            ("fclones", "fclones group -L d"),
        ],
        judge: |seen| {
            let found = seen.last().lines().filter(|line| unquoted(line).ends_with(b"/a")).count();
            right!(found == 1, "a file is listed {found} times");
            Verdict::Passes
        },
    },
    Scenario {
        number: 39,
        title: "a copy whose path is longer than PATH_MAX",
        setup: "mkdir d; printf content > d/copy; cd d
n=0; while [ $n -lt 50 ]; do name=$(printf %0100d $n); mkdir $name; cd -P ./$name; n=$((n + 1)); done; printf content > deep",
        tools: LISTING,
        judge: |seen| {
            if seen.last().says("/deep") {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "the copy is not found, and the status is 0");
            Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 44,
        title: "two unreadable files of the same size",
        setup: "mkdir d; for f in a b; do printf content > d/$f; printf 'other %s' $f > d/locked$f; done; truncate -s 7 d/*; chmod 0 d/locked*",
        tools: LISTING,
        judge: |seen| {
            // Lines that contain the name elsewhere are messages that the file could not be read.
            let listed = |name| seen.last().lines().any(|line| unquoted(line).ends_with(name));
            right!(!listed(b"d/lockeda") && !listed(b"d/lockedb"), "the unreadable files are called equal");
            right!(seen.last().says("d/a") && seen.last().says("d/b"), "the other files are not found");
            Verdict::Passes
        },
    },
    Scenario {
        number: 47,
        title: "the output goes to a full device",
        setup: "mkdir d; printf content > d/a; printf content > d/b",
        tools: &[
            ("ftk", "ftk dup d > /dev/full"),
            ("jdupes", "jdupes -r d > /dev/full"),
            ("fdupes", "fdupes -r d > /dev/full"),
            ("rdfind", "rdfind -outputname /dev/full d"),
            ("rmlint", "rmlint -o pretty:/dev/full d"),
            ("fclones", "fclones group d > /dev/full"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -f /dev/full"),
            ("yadf", "yadf d > /dev/full"),
        ],
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 48,
        title: "an unreadable directory",
        setup: "mkdir -p d/locked; printf content > d/a; printf content > d/b; chmod 0 d/locked",
        tools: LISTING,
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 49,
        title: "SIGTERM while two files of 64 GiB are read",
        setup: "mkdir d; truncate -s 64G d/a d/b",
        tools: &[
            ("ftk", "timeout --foreground 2 ftk dup d"),
            ("jdupes", "timeout --foreground 2 jdupes -r d"),
            ("fdupes", "timeout --foreground 2 fdupes -r d"),
            ("rdfind", "timeout --foreground 2 rdfind d"),
            ("rmlint", "timeout --foreground 2 rmlint -o pretty d"),
            ("fclones", "timeout --foreground 2 fclones group d"),
            ("czkawka_cli", "timeout --foreground 2 czkawka_cli dup -W -d \"$PWD/d\""),
            ("yadf", "timeout --foreground 2 yadf d"),
        ],
        judge: |_| Verdict::Passes, // a tool that continues is a hang
    },
    Scenario {
        number: 52,
        title: "500 levels with 64 descriptors",
        setup: "mkdir d; cd d; n=0; while [ $n -lt 500 ]; do printf content > f; mkdir e; cd -P ./e; n=$((n + 1)); done",
        tools: &[
            ("ftk", "ulimit -n 64; ftk dup d"),
            ("jdupes", "ulimit -n 64; jdupes -r d"),
            ("fdupes", "ulimit -n 64; fdupes -r d"),
            ("rdfind", "ulimit -n 64; rdfind d > /dev/null; s=$?; cat results.txt; exit $s"),
            ("rmlint", "ulimit -n 64; rmlint -o pretty d"),
            ("fclones", "ulimit -n 64; fclones group d"),
            ("czkawka_cli", "ulimit -n 64; czkawka_cli dup -m 1 -W -d \"$PWD/d\""),
            ("yadf", "ulimit -n 64; yadf d"),
        ],
        judge: |seen| {
            let found = seen.last().lines().filter(|line| has(line, b"/f")).count();
            if found >= 500 {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "{found} of 500 files are found, and the status is 0");
            Verdict::Refuses(format!("{found} of 500 files are found, status {}", seen.last().status.unwrap_or(-1)))
        },
    },
    Scenario {
        number: 64,
        title: "two applications contain the same file, copies deleted",
        setup: "mkdir -p d/A.app d/B.app; for app in A B; do printf content > d/$app.app/version.plist; printf $app > d/$app.app/program; done",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete d"),
            ("jdupes", "jdupes -r -d -N d"),
            ("fdupes", "fdupes -r -d -N d"),
            ("rdfind", "rdfind -deleteduplicates true d"),
            ("rmlint", "rmlint -o sh:r.sh d\nsh r.sh -d"),
            ("fclones", "fclones group d > r\nfclones remove < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -D AEO"),
        ],
        judge: |seen| {
            for app in ["A", "B"] {
                kept!(seen.holds(format!("d/{app}.app/version.plist"), b"content"), "{app}.app has lost a file");
            }
            Verdict::Passes
        },
    },
    Scenario {
        number: 66,
        title: "two holes of 100 GiB",
        setup: "mkdir d; truncate -s 100G d/a d/b",
        tools: LISTING,
        judge: |seen| {
            right!(seen.last().says("d/a") && seen.last().says("d/b"), "the copies are not found");
            Verdict::Passes
        },
    },
    Scenario {
        number: 67,
        title: "a block of zeros except for its last byte",
        setup: "mkdir d; head -c 1048576 /dev/zero > d/zeros; truncate -s 1M d/hole; cp d/zeros d/other
printf x | dd of=d/other bs=1 seek=4095 conv=notrunc 2> /dev/null",
        tools: LISTING,
        judge: |seen| {
            right!(seen.last().says("d/zeros") && seen.last().says("d/hole"), "equal files are not found");
            right!(!seen.last().says("d/other"), "files that differ are called equal");
            Verdict::Passes
        },
    },
    Scenario {
        number: 71,
        title: "an unreadable tree",
        setup: "mkdir -p d; printf content > d/a; printf content > d/b; chmod 0 d",
        tools: LISTING,
        judge: |seen| {
            right!(!seen.last().is_success(), "status 0");
            Verdict::Passes
        },
    },
    Scenario {
        number: 72,
        title: "files of equal size and beginning are linked, with the fastest options",
        setup: "mkdir d; head -c 1048576 /dev/zero > d/a; head -c 1048575 /dev/zero > d/b; printf x >> d/b",
        tools: &[
            ("ftk", "ftk dup prune --yes --action hardlink --metadata-may-differ d"),
            ("jdupes", "jdupes -r -T -T -L d"),
            ("rdfind", "rdfind -makehardlinks true d"),
            ("fclones", "fclones group --skip-content-hash d > r\nfclones link < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -s SIZE -d \"$PWD/d\" -D HARD"),
        ],
        judge: |seen| {
            let ends = |name: &str, byte: u8| {
                std::fs::read(seen.path(name)).is_ok_and(|it| it.len() == 1 << 20 && it.last() == Some(&byte))
            };
            kept!(ends("d/a", 0) && ends("d/b", b'x'), "the content of one file is lost");
            Verdict::Passes
        },
    },
    Scenario {
        number: 73,
        title: "a directory to keep is given twice",
        setup: "mkdir d; printf content > d/x",
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete --reference d --reference d d d"),
            ("rmlint", "rmlint -k -m -o sh:r.sh d // d d\nsh r.sh -d"),
            ("fclones", "fclones group d d > r\nfclones remove < r"),
            (
                "czkawka_cli",
                "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -r \"$PWD/d\" -r \"$PWD/d\" -D AEO",
            ),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 79,
        title: "-r for recursive",
        setup: "mkdir -p d/sub; printf content > d/a; printf content > d/sub/b",
        tools: &[
            ("ftk", "ftk dup -r d"),
            ("jdupes", "jdupes -r d"),
            ("fdupes", "fdupes -r d"),
            ("rmlint", "rmlint -r -o pretty d"),
        ],
        judge: |seen| {
            if seen.last().says("d/a") && seen.last().says("d/sub/b") {
                return Verdict::Passes;
            }
            right!(!seen.last().is_success(), "the copies are not found, and the status is 0");
            Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
        },
    },
];

/// The command without special options.
const PLAIN: &[(&str, &str)] = &[
    ("ftk", "ftk dup d"),
    ("jdupes", "jdupes -r d"),
    ("fdupes", "fdupes -r d"),
    ("rdfind", "rdfind d"),
    ("rmlint", "rmlint d"),
    ("fclones", "fclones group d"),
    ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\""),
    ("yadf", "yadf d"),
];

/// Links copies below `d`.
const LINKING: &[(&str, &str)] = &[
    ("ftk", "ftk dup prune --yes --action hardlink d"),
    ("jdupes", "jdupes -r -L d"),
    ("rdfind", "rdfind -makehardlinks true d"),
    ("rmlint", "rmlint -o sh:r.sh -c sh:hardlink d\nsh r.sh -d"),
    ("fclones", "fclones group d > r\nfclones link < r"),
    ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\" -D HARD"),
];

/// Lists duplicates below `d`.
const LISTING: &[(&str, &str)] = &[
    ("ftk", "ftk dup d"),
    ("jdupes", "jdupes -r d"),
    ("fdupes", "fdupes -r d"),
    ("rdfind", "rdfind d > /dev/null; s=$?; cat results.txt; exit $s"),
    ("rmlint", "rmlint -o pretty d"),
    ("fclones", "fclones group d"),
    ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/d\""),
    ("yadf", "yadf d"),
];

/// Removes the quotation mark at the end of a line.
fn unquoted(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"'").or_else(|| line.strip_suffix(b"\"")).unwrap_or(line)
}

fn the_only_copy(seen: &Seen) -> Verdict {
    kept!(seen.holds("d/x", b"content"), "the only copy is deleted");
    Verdict::Passes
}

/// Nothing must have been linked, and no other action taken.
fn a_failed_link(seen: &Seen) -> Verdict {
    let names = seen.names("d");
    for name in ["d/a", "d/b"] {
        kept!(seen.holds(name, b"content"), "{name} is lost; remaining: {}", shown(&names));
        let is_link = seen.path(name).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        right!(!is_link, "{name} is a symbolic link now");
    }
    right!(seen.identity("d/a") != seen.identity("d/b"), "the files are linked nevertheless");
    right!(names.len() == 2, "there are leftover files: {}", shown(&names));
    Verdict::Passes
}

/// The old content of one file and the new content of the other must exist.
fn both_contents(seen: &Seen) -> Verdict {
    kept!(seen.holds("d/a", b"content"), "the last copy of the old content is deleted");
    kept!(seen.holds("d/b", b"CHANGED"), "the new content is deleted");
    Verdict::Passes
}

/// All these names must be one file now, unless the status reports a failure.
fn linked(seen: &Seen, names: &[&str]) -> Verdict {
    let files: BTreeSet<_> = names.iter().map(|name| seen.identity(name)).collect();
    if files.len() == 1 {
        return Verdict::Passes;
    }
    right!(!seen.last().is_success(), "there are still {} files, and the status is 0", files.len());
    Verdict::Refuses(format!("status {}", seen.last().status.unwrap_or(-1)))
}

/// Exactly one copy must remain, unless the status reports a failure.
fn one_is_left(seen: &Seen) -> Verdict {
    let names = seen.names("d");
    kept!(
        names.iter().any(|file| seen.holds(name(&[b"d/", &file[..]].concat()), b"content")),
        "no copy remains"
    );
    if names.len() == 1 {
        return Verdict::Passes;
    }
    right!(!seen.last().is_success(), "{} copies remain, and the status is 0", names.len());
    Verdict::Refuses(format!("{} copies remain, status {}", names.len(), seen.last().status.unwrap_or(-1)))
}

/// Calls `each` with every string in a JSON value.
fn strings(value: &serde_json::Value, each: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        serde_json::Value::Object(members) => members.iter().for_each(|(name, value)| {
            each(name);
            strings(value, each);
        }),
        _ => {}
    }
}

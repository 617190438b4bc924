//! Random trees and random filters, with the results of GNU find.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};

use crate::harness::{Dir, gnu_find, is_root, needs, records, sorted};

/// An entry to create. Times are seconds and nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Node {
    kind: Kind,
    mode: u32,
    owner: (u32, u32),
    mtime: (i64, i64),
}

#[derive(Clone, Debug)]
enum Kind {
    File(u64),
    /// A link to an entry outside the tree, so that no loops arise.
    Link(&'static str),
    /// A hard link of a file outside the tree.
    Name,
    Special(FileType),
    Dir(BTreeMap<&'static [u8], Node>),
}

pub(super) const TIMES: [(i64, i64); 5] = [(-1, 0), (0, 0), (1_000_000, 0), (1_000_000, 1), (1_000_001, 0)];

pub(super) fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        6 => select(vec![0, 0, 1, 1023, 1024, 1025]).prop_map(Kind::File),
        2 => select(vec!["dir", "file", "nowhere"]).prop_map(Kind::Link),
        1 => Just(Kind::Name),
        1 => select(vec![FileType::Fifo, FileType::Socket]).prop_map(Kind::Special),
        1 => Just(Kind::Dir(BTreeMap::new())),
    ];
    let with = |kind: BoxedStrategy<Kind>| {
        let modes = vec![0o644, 0o600, 0o755, 0o4755, 0o2775, 0o1777];
        (
            kind,
            select(modes),
            select(vec![(0, 0), (0, 7), (7, 0), (7, 7), (54_321, 54_322)]),
            select(TIMES.to_vec()),
        )
            .prop_map(|(kind, mode, owner, mtime)| Node { kind, mode, owner, mtime })
    };
    with(leaf.boxed()).prop_recursive(3, 30, 6, move |inner| {
        with(btree_map(select(NAMES.to_vec()), inner, 0..6).prop_map(Kind::Dir).boxed())
    })
}

pub(super) const NAMES: [&[u8]; 13] = [
    b"a",
    b"b.c",
    b"B.C",
    b".h",
    b".h.c",
    b"..x",
    b"x.tar.GZ",
    b"\xff.c",
    b"\n",
    b"-n",
    b"[a]",
    b"a b",
    b"c\xc3\xa9",
];

/// Creates a directory that links lead to.
fn make_link_target(to: &Path) {
    fs::create_dir_all(to.join("sub")).unwrap();
    for (name, len) in [("a", 0), (".h.c", 1), ("sub/b.c", 1025)] {
        make_file(&to.join(name), len);
    }
}

pub(super) fn make_file(path: &Path, len: u64) {
    let file = File::create(path).unwrap();
    file.set_len(len).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000)).unwrap();
}

pub(super) fn make(dir: &Dir, path: &Path, node: &Node) {
    match &node.kind {
        Kind::File(len) => File::create(path).unwrap().set_len(*len).unwrap(),
        Kind::Link("dir") => {
            // A separate directory for each link: find lists a directory once for each link, ftk only once.
            let to = dir
                .aside("outside")
                .join(format!("dir{}", fs::read_dir(dir.aside("outside")).unwrap().count()));
            make_link_target(&to);
            symlink(to, path).unwrap();
        }
        Kind::Link(to) => symlink(dir.aside("outside").join(to), path).unwrap(),
        Kind::Name => fs::hard_link(dir.aside("outside").join("file"), path).unwrap(),
        Kind::Special(what) => mknodat(CWD, path, *what, Mode::from_raw_mode(0o644), 0).unwrap(),
        Kind::Dir(entries) => {
            fs::create_dir(path).unwrap();
            for (name, node) in entries {
                make(dir, &path.join(OsStr::from_bytes(name)), node);
            }
        }
    }
    if matches!(node.kind, Kind::Name) {
        return;
    }
    if is_root() {
        lchown(path, Some(node.owner.0), Some(node.owner.1)).unwrap();
    }
    if !matches!(node.kind, Kind::Link(_)) {
        fs::set_permissions(path, Permissions::from_mode(node.mode)).unwrap();
    }
    let time = Timespec { tv_sec: node.mtime.0, tv_nsec: node.mtime.1 as _ };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// A filter as written for ftk and for GNU find.
pub(super) type Both = (Vec<String>, Vec<String>);

/// A random search. GNU find needs its arguments partly before and partly after what it prunes.
#[derive(Clone, Debug)]
struct Search {
    follow: bool,
    min_depth: u32,
    max_depth: Option<u32>,
    pruned: Vec<Both>,
    /// The filters of each kind, of which one must match.
    tests: Vec<Vec<Both>>,
}

impl Search {
    fn ours(&self) -> Vec<String> {
        let mut args = vec!["--min-depth".into(), self.min_depth.to_string()];
        args.extend(self.follow.then(|| "-L".into()));
        args.extend(self.max_depth.into_iter().flat_map(|depth| ["--max-depth".into(), depth.to_string()]));
        args.extend(self.pruned.iter().chain(self.tests.iter().flatten()).flat_map(|(ours, _)| ours.clone()));
        args
    }

    fn theirs(&self) -> Vec<String> {
        let either = |tests: &[Both], args: &mut Vec<String>| {
            args.extend(["(".into(), "-false".into()]);
            tests.iter().for_each(|(_, theirs)| {
                args.extend(["-o".into(), "(".into()]);
                args.extend(theirs.clone());
                args.push(")".into());
            });
            args.push(")".into());
        };
        let mut args: Vec<String> = self.follow.then(|| "-L".into()).into_iter().collect();
        args.extend([".".into(), "-regextype".into(), "posix-extended".into()]);
        args.extend(self.max_depth.into_iter().flat_map(|depth| ["-maxdepth".into(), depth.to_string()]));
        args.extend(["(", "!", "-path", "."].map(String::from));
        either(&self.pruned, &mut args);
        args.extend(["-prune", ")", "-o", "("].map(String::from));
        // find's own -mindepth would prevent pruning above that depth.
        let above =
            ["!".into(), "-regex".into(), format!(r"\.(/[^/]*){{0,{}}}", self.min_depth.saturating_sub(1))];
        args.extend(above.into_iter().filter(|_| self.min_depth > 0));
        args.push("-true".into());
        self.tests.iter().filter(|tests| !tests.is_empty()).for_each(|tests| either(tests, &mut args));
        args.extend([")".into(), "-print0".into(), "-false".into()]);
        args
    }
}

pub(super) fn both(ours: &[&str], theirs: &[&str]) -> Both {
    let owned = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect();
    (owned(ours), owned(theirs))
}

fn some(of: Vec<Both>, most: usize) -> impl Strategy<Value = Vec<Both>> {
    vec(select(of), 0..=most)
}

/// Usually selects no filter of a kind, so that enough entries remain to compare.
fn rarely(of: Vec<Both>, most: usize) -> impl Strategy<Value = Vec<Both>> {
    prop_oneof![3 => Just(Vec::new()), 1 => some(of, most)]
}

fn search() -> impl Strategy<Value = Search> {
    let types = ["f", "d", "l", "f,l", "d,p,s"].map(|types| both(&["-t", types], &["-type", types]));
    let extensions = ["c", "gz", "tar.gz"].map(|ext| both(&["-e", ext], &["-iname", &format!("?*.{ext}")]));
    let globs = ["*", "*.c", "*.C", ".*", "a*", "?", "[!a]*", "*.[ch]", "\\[a]", "*\n*", "?.c", "c??", "c?"];
    let names = globs.into_iter().flat_map(|glob| {
        [both(&["-n", glob], &["-name", glob]), both(&["--iname", glob], &["-iname", glob])]
    });
    // The path of the root is its name.
    let paths =
        ["*", "a/*", "*/a", "b.c", "*.c", "[!a]*", "./a*", "/a", "?", "*/*", "*/*/*", "*\n*"].map(|glob| {
            let below = glob.trim_start_matches("./").trim_start_matches('/');
            // `*/` is also the starting point itself.
            let path = if glob.starts_with("*/") { glob.to_owned() } else { format!("./{below}") };
            let theirs = ["(", "-path", &path, "-o", "-path", ".", "-path", below, ")"];
            both(&["--path", glob], &theirs)
        });
    let regexes = [
        ("^a", r"\./a.*"),
        ("c$", r"\./.*c"),
        ("^b.c$", r"\./b.c"),
        ("a.b|x", r"\./.*(a.b|x).*"),
        ("/[^/]*c", r"\./.*/[^/]*c.*"),
        ("(a|b[.]c)/", r"\./.*(a|b[.]c)/.*"),
    ]
    .map(|(ours, theirs)| both(&["--regex", ours], &["-regex", theirs]));
    let sizes = ["0", "+0", "-1K", "1K", "+1K", "1025", "-1"]
        .map(|size| both(&["-S", size], &["-size", &format!("{}c", size.replace("1K", "1024"))]));
    let time = |(seconds, ns): (i64, i64)| {
        // Seconds with a fraction, as a signed number.
        let total = seconds * 1_000_000_000 + ns;
        format!(
            "@{}{}.{:09}",
            if total < 0 { "-" } else { "" },
            total.abs() / 1_000_000_000,
            total.abs() % 1_000_000_000
        )
    };
    let times = TIMES.map(|(seconds, ns)| {
        // find only has "later than", and writes the fraction of times before 1970 in another way.
        let later = if seconds < 0 { "@-1.000000001".into() } else { time((seconds, ns - 1)) };
        (time((seconds, ns)), later)
    });
    let since = times.clone().map(|(at, before)| both(&["--changed-within", &at], &["-newermt", &before]));
    let before = times.map(|(at, before)| both(&["--changed-before", &at], &["!", "-newermt", &before]));
    let newer = [both(&["--newer", "../outside/file"], &["-newer", "../outside/file"])];
    let owners = [both(&["--owner", "root"], &["-user", "root"]), both(&["--owner", ":7"], &["-gid", "7"])];
    let others = [
        both(&["--owner", "7:!7"], &["-uid", "7", "!", "-gid", "7"]),
        both(&["--owner", "!0:0"], &["!", "-uid", "0", "-gid", "0"]),
        both(&["--owner", "!0", "--owner", ":!7"], &["!", "-uid", "0", "!", "-gid", "7"]),
        both(&["--owner", "!0", "--owner", "!7"], &["!", "-uid", "0", "!", "-uid", "7"]),
    ];
    let perms = ["644", "-111", "/6000", "-0", "/0", "/022", "4755", "-2000"]
        .map(|mode| both(&["--perm", mode], &["-perm", mode]));
    let links = ["1", "+1", "-3", "2", "-1"].map(|n| both(&["--links", n], &["-links", n]));
    let same = ["../outside/file", "."].map(|file| both(&["--samefile", file], &["-samefile", file]));
    let empty = [both(&["--empty"], &["-empty"])];
    let pruned = [
        both(&["-E", "a"], &["-name", "a"]),
        both(&["-E", "*.c"], &["-name", "*.c"]),
        both(&["-E", "b.c/"], &["-type", "d", "-name", "b.c"]),
        both(&["-E", "a/*"], &["-path", "./a/*"]),
        both(&["-E", "/a"], &["-path", "./a"]),
        both(&["-E", "*/.h/"], &["-type", "d", "-path", "*/.h"]),
        both(&["-E", "./*/.h/"], &["-type", "d", "-path", "./*/.h"]),
        both(&["--no-hidden"], &["-name", ".*"]),
    ];
    // All of several filters, and of several negations, must match, and an option that cannot be repeated is given once.
    let one = |of: Vec<Both>| prop_oneof![4 => Just(Vec::new()), 1 => some(of, 1)];
    let by_name = (
        rarely(types.into(), 2),
        rarely(extensions.into(), 2),
        rarely(names.collect(), 2),
        rarely(paths.into(), 2),
        rarely(regexes.into(), 2),
    );
    let by_inode = (
        (one(sizes.clone().into()), one(sizes.into())),
        (one(since.into()), one(before.into()), one(newer.into())),
        (rarely(owners.into(), 2), one(others.into())),
        rarely(perms.into(), 2),
        (one(links.clone().into()), one(links.into())),
        rarely(same.into(), 2),
        one(empty.into()),
    );
    let pruned = rarely(pruned[..7].into(), 2).prop_flat_map(move |some| {
        let hidden = pruned[7].clone();
        any::<bool>().prop_map(move |yes| some.iter().cloned().chain(yes.then(|| hidden.clone())).collect())
    });
    let walk = (any::<bool>(), 0_u32..3, option::of(0_u32..4), pruned);
    (walk, by_name, by_inode).prop_map(|((follow, min_depth, max_depth, pruned), n, i)| {
        let tests = vec![
            n.0, n.1, n.2, n.3, n.4, i.0.0, i.0.1, i.1.0, i.1.1, i.1.2, i.2.0, i.2.1, i.3, i.4.0, i.4.1, i.5,
            i.6,
        ];
        Search { follow, min_depth, max_depth, pruned, tests }
    })
}

#[test]
fn h40_random_filters_select_what_find_selects() {
    needs!("find");
    let tree = btree_map(select(NAMES.to_vec()), node(), 1..8);
    proptest!(ProptestConfig::with_cases(24), |(tree in tree, searches in vec(search(), 10))| {
        let dir = Dir::new();
        fs::create_dir(dir.aside("outside")).unwrap();
        make_file(&dir.aside("outside").join("file"), 1024);
        for (name, node) in &tree {
            make(&dir, &dir.path(OsStr::from_bytes(name)), node);
        }
        for search in searches {
            let theirs = search.theirs();
            let theirs: Vec<_> = theirs.iter().map(String::as_str).collect();
            let expected = gnu_find(&dir, &theirs);
            for threads in ["mono", "2"] {
                let run = dir.ftk(["find", "-0", "-j", threads]).args(search.ours()).run().status(0);
                let what = format!("not what find lists: {theirs:?}: {} entries", expected.len());
                run.check(sorted(records(&run.out, 0)) == expected, &what);
            }
        }
    });
}

//! Which ignore files apply, errors, and the forms of a walk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::{fs, io};

use ftk_harness::{Chain, Dir, needs};
use ftk_ignore::{IgnoreFiles, IgnoreMemory};
use ftk_walk::{Directory, Entry, FileType, Op, Step, Visitor, WalkError, Walker};

use crate::git::{git, unignored};

/// Returns what [`unignored`] returns, as text.
fn names(dir: &Dir, root: &str) -> Vec<String> {
    let paths = unignored(&dir.path(root), 2);
    paths.into_iter().map(|path| String::from_utf8(path).unwrap()).collect()
}

#[test]
fn ignore_files_take_precedence_over_gitignore_files() {
    let dir = Dir::new();
    dir.file(".ignore", b"a\n!b\n").file("d/.gitignore", b"!a\nb\nc\n");
    dir.file("d/a", b"").file("d/b", b"").file("d/c", b"");
    assert_eq!(names(&dir, ""), [".ignore", "d/.gitignore", "d/b"]);
    // Ignore files above a starting point count only in a repository.
    assert_eq!(names(&dir, "d"), [".gitignore", "a"]);
}

#[test]
fn patterns_of_a_repository_apply_in_all_of_it_only() {
    needs!("git");
    let dir = Dir::new();
    dir.file("outer/.gitignore", b"a\n").file("outer/.ignore", b"c\n");
    dir.file("outer/repo/.gitignore", b"/x/y/b\n*.o\n");
    for name in ["a", "b", "c", "z.o"] {
        dir.file(format!("outer/repo/x/y/{name}"), b"");
    }
    git(&dir, &["init", "-q", "outer/repo"]);
    fs::write(dir.path("outer/repo/.git/info/exclude"), "*.x\n!z.o\n").unwrap();
    // A .gitignore above the repository does not count in it; an .ignore in the walked tree does.
    assert_eq!(names(&dir, "outer"), [".gitignore", ".ignore", "repo/.gitignore", "repo/x/y/a"]);
    // From inside, the patterns are relative to the top of the repository, for every spelling of the starting point.
    dir.symlink("outer/repo/x/y", "link");
    for (root, prefix) in [
        ("outer/repo/x", "y/"),
        ("outer/repo/x/y", ""),
        ("./outer/repo/x/y/", ""),
        ("outer/repo/x/../x", "y/"),
        ("link/", ""),
    ] {
        assert_eq!(names(&dir, root), [format!("{prefix}a"), format!("{prefix}c")], "{root}");
    }
    // Starting points are never ignored.
    assert_eq!(names(&dir, "outer/repo/x/y/b"), [""]);
    dir.file("outer/repo/.gitignore", b"x\n");
    assert_eq!(names(&dir, "outer/repo/x/y"), ["a", "b", "c", "z.o"]);
}

#[test]
fn ignore_files_that_cannot_be_read_are_errors() {
    let dir = Dir::new();
    dir.file("a/.ignore", b"x\n").symlink(".gitignore", "a/.gitignore");
    dir.file("b/.gitignore", &vec![b'\n'; (4 << 20) + 1]).file("c/.gitignore", &b"**/a*b*c\n".repeat(40_000));
    for path in ["a/x", "a/y", "b/x", "c/x", "d/x"] {
        dir.file(path, b"");
    }
    // Neither of these is an ignore file.
    dir.fifo("d/.ignore").dir("d/.gitignore");
    for threads in [1, 2] {
        let walker = Walker::new([dir.path("")]).threads(threads).filter_with(IgnoreFiles::new());
        let (entries, errors) = walker.collect_sorted();
        let found = |name: &str| entries.iter().filter(|entry| entry.file_name() == name).count();
        assert_eq!((found("x"), found("y")), (3, 1), "the walk goes on");
        let shown: Vec<_> = errors.iter().map(|error| (error.op, error.path(), &error.source)).collect();
        let [a, b, c] = &shown[..] else { panic!("{shown:?}") };
        assert!(shown.iter().all(|error| error.0 == Op::Read));
        assert_eq!(a.1, dir.path("a/.gitignore"));
        assert_eq!(b.1, dir.path("b/.gitignore"));
        assert_eq!(b.2.to_string(), "the file is larger than 4 MiB");
        assert_eq!(c.1, dir.path("c/.gitignore"));
        assert!(c.2.to_string().contains("matching would take too long"));
    }
    // An error may stop the walk, also above the starting points.
    let stop = |root: &str| {
        let walker = Walker::new([dir.path(root)]).threads(1).filter_with(IgnoreFiles::new());
        let parts = walker.fold(
            || (0, 0),
            |(entries, errors), entry| match entry {
                Ok(_) => {
                    *entries += 1;
                    Step::Descend
                }
                Err(_) => {
                    *errors += 1;
                    Step::Stop
                }
            },
        );
        parts[0]
    };
    assert_eq!(stop("b"), (1, 1));
    dir.dir(".git").file(".gitignore", &vec![b'\n'; (4 << 20) + 1]);
    assert_eq!(stop("d"), (0, 1));
}

/// A limit that is used up.
struct Nothing;

impl IgnoreMemory for Nothing {
    fn reserve(&self, _: u64) -> io::Result<()> {
        Err(io::Error::other("the limit is used up"))
    }
    fn release(&self, _: u64) {}
}

#[test]
fn patterns_beyond_the_limit_of_memory_are_errors() {
    let dir = Dir::new();
    dir.file(".gitignore", b"x\n").file("x", b"");
    let files = IgnoreFiles::new().within(Arc::new(Nothing));
    let (entries, errors) = Walker::new([dir.path("")]).filter_with(files).collect_sorted();
    assert_eq!((entries.len(), errors.len()), (3, 1));
    assert_eq!(
        format!("{:#}", errors[0]),
        format!("cannot read {:?}: the limit is used up", dir.path(".gitignore"))
    );
}

#[test]
fn workers_that_share_a_directory_load_its_rules_once() {
    let dir = Dir::new();
    dir.file(".gitignore", b"*1\n").symlink(".ignore", ".ignore");
    for nth in 0..1000 {
        dir.file(nth.to_string(), b"");
    }
    let walker = Walker::new([dir.path("")]).threads(4).filter_with(IgnoreFiles::new());
    let parts = walker.fold(
        || (0, 0),
        |(entries, errors), entry| {
            match entry {
                Ok(_) => *entries += 1,
                Err(_) => *errors += 1,
            }
            // Enough work that others take part of the directory.
            thread::sleep(Duration::from_micros(100));
            Step::Descend
        },
    );
    // The starting point, two ignore files, and 900 names.
    assert_eq!(parts.iter().map(|part| part.0).sum::<u32>(), 903);
    assert_eq!(parts.iter().map(|part| part.1).sum::<u32>(), 1, "reported once");
}

#[test]
fn all_forms_skip_what_is_ignored() {
    let dir = Dir::new();
    dir.file(".gitignore", b"*.o\n/skip/\n").file("a/x.o", b"1").file("a/x.c", b"22").file("skip/y", b"333");
    let walker = || Walker::new([dir.path("")]).threads(2).filter_with(IgnoreFiles::new());
    let is_ignored = |name: &OsStr| name == "skip" || name.as_bytes().ends_with(b"o");
    assert_eq!(
        walker().stream(1).filter(|entry| !is_ignored(entry.as_ref().unwrap().file_name())).count(),
        4
    );
    assert_eq!(walker().stream(9).count(), 4);
    assert_eq!(walker().max_depth(1).collect_sorted().0.len(), 3);
    let (sums, errors) = walker().fold_dirs(
        |bytes: &mut u64, entry| {
            if entry.file_type() == FileType::Regular {
                *bytes += entry.metadata()?.size;
            }
            Ok(Step::Descend)
        },
        |bytes, below| *bytes += below,
    );
    assert!(errors.is_empty());
    let lens: Vec<_> = sums.iter().map(|(path, bytes)| (path.clone(), *bytes)).collect();
    assert_eq!(lens, [(dir.path("a"), 2), (dir.path(""), 2 + "*.o\n/skip/\n".len() as u64)]);
}

/// Checks that the values of directories reach the inner visitor, and that its calls come in pairs.
#[derive(Default)]
struct Depths {
    open: Option<u32>,
    entries: Vec<(u32, Vec<u8>)>,
    filtered: u32,
}

impl Visitor for Depths {
    type Dir = u32;

    fn descend(&mut self, parent: Option<&u32>, _: &mut Entry<'_>) -> u32 {
        parent.map_or(1, |depth| depth + 1)
    }

    fn enter(&mut self, depth: &u32, dir: &Directory<'_>) -> Step {
        assert_eq!(*depth, dir.depth() + 1);
        assert!(self.open.replace(*depth).is_none());
        Step::Descend
    }

    fn entry(&mut self, depth: Option<&u32>, entry: &mut Entry<'_>) -> Step {
        assert_eq!(self.open, depth.copied());
        self.entries.push((entry.depth(), entry.name().to_vec()));
        Step::Descend
    }

    fn leave(&mut self, depth: &u32) {
        assert_eq!(self.open.take(), Some(*depth));
    }

    fn filtered(&mut self, _: &u32) {
        self.filtered += 1;
    }

    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error:#}");
    }
}

#[test]
fn a_visitor_keeps_its_values_of_directories() {
    let dir = Dir::new();
    dir.file("a/.ignore", b"b/c\nx\n").file("a/b/c/d", b"").file("a/b/e/x", b"").file("a/b/e/f", b"");
    let walker = Walker::new([dir.path("")]).threads(1).filter_with(IgnoreFiles::new());
    let [depths] = <[Depths; 1]>::try_from(walker.run(|_| Depths::default())).ok().unwrap();
    let mut entries: Vec<_> =
        depths.entries[1..].iter().map(|(depth, name)| (*depth, name.as_slice())).collect();
    entries.sort();
    assert_eq!(entries, [(1, &b"a"[..]), (2, b".ignore"), (2, b"b"), (3, b"e"), (4, b"f")]);
    assert_eq!((depths.filtered, depths.open), (2, None));
}

#[test]
fn deep_trees_are_walked() {
    let chain = Chain::new("d", 3000, 1000);
    chain.dir().file(".gitignore", b"d/**/f\n");
    let walker = Walker::new([chain.dir().path("")]).threads(2).filter_with(IgnoreFiles::new());
    let (entries, errors) = walker.collect_sorted();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(entries.len(), 1 + 1 + 3000);
}

#[test]
fn rules_that_would_be_slow_for_a_long_path_are_an_error() {
    let chain = Chain::new("d".repeat(200).leak(), 30, 30);
    let root = chain.dir().path("");
    chain.dir().file(".gitignore", &b"**/a*b*c\n".repeat(2000));
    let (entries, errors) = Walker::new([&root]).threads(2).filter_with(IgnoreFiles::new()).collect_sorted();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.source.to_string().ends_with("against the ignore files would take too long"));
    let deepest = entries.iter().map(|entry| entry.depth()).max().unwrap();
    assert!((5..30).contains(&deepest), "{deepest}");
    assert_eq!(error.path().components().count(), root.components().count() + deepest as usize);
}

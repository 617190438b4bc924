//! Rules with paths: every spelling of a path is one rule, and each rule knows whether it matched.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftk_select::{
    Filtered, IgnoreFile, Parts, Roots, Selection, SelectionBuilder, Skipped, SkippedEntry, Unseen, Used,
};
use ftk_walk::{Entry, Follow, Op, Step, Visitor, WalkError, Walker};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config, TestRunner};

/// Collects the paths of the entries that it is shown.
#[derive(Default)]
struct Shown {
    paths: Vec<Vec<u8>>,
    /// After this many entries, the walk stops.
    most: Option<usize>,
}

impl Shown {
    fn show(&mut self, entry: &Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.paths.push(path);
        if self.most == Some(self.paths.len()) { Step::Stop } else { Step::Descend }
    }
}

impl Visitor for Shown {
    type Dir = ();

    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.show(entry)
    }

    fn error(&mut self, error: WalkError) -> Step {
        assert_eq!(error.op, Op::Loop, "{error:?}");
        Step::Next
    }
}

fn walk(selection: &Selection, roots: &[CString], threads: usize) -> (Vec<Vec<u8>>, Skipped, Used) {
    let walker = Walker::new(roots.iter().map(|root| OsStr::from_bytes(root.as_bytes())))
        .threads(threads)
        .follow(Follow::Roots);
    let parts = walker.run(|_| Filtered::new(selection, Shown::default()));
    let (mut paths, mut skipped, mut used) = (Vec::new(), Skipped::default(), None::<Used>);
    for Parts { visitor: mut shown, skipped: by_worker, used: of_worker, .. } in
        parts.into_iter().map(Filtered::into_parts)
    {
        paths.append(&mut shown.paths);
        skipped += by_worker;
        match &mut used {
            Some(used) => used.merge(&of_worker),
            None => used = Some(of_worker),
        }
    }
    paths.sort();
    (paths, skipped, used.unwrap())
}

fn path(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Creates these files, and the directories above them. A path that ends in a slash is a directory.
fn tree(root: &Path, paths: &[&str]) {
    for below in paths {
        let whole = root.join(below);
        fs::create_dir_all(if below.ends_with('/') { &whole } else { whole.parent().unwrap() }).unwrap();
        if !below.ends_with('/') {
            fs::write(whole, "").unwrap();
        }
    }
}

/// Returns the paths below `root` that are shown, and for each rule whether it is used.
fn left(builder: SelectionBuilder, root: &Path) -> (Vec<String>, Vec<bool>) {
    let roots = [c(root)];
    let selection = builder.build_for(&Roots::new(&roots)).unwrap();
    let (paths, _, used) = walk(&selection, &roots, 2);
    let below = |path: &Vec<u8>| String::from_utf8(path[root.as_os_str().len()..].to_vec()).unwrap();
    let paths = paths.iter().map(below).filter(|path| !path.is_empty()).collect();
    (paths, (0..selection.rules().len()).map(|rule| used.is_used(rule)).collect())
}

/// Names of entries. Those with special characters match nothing else in a tree if they are read as globs.
const NAMES: [&[u8]; 8] = [b"a", b"p", b"keep", b"x[1]", b"{y}", b"q?", b"new\nline", b"\xff"];

/// How the path of a rule is spelled.
#[derive(Clone, Debug)]
struct Spelling {
    /// How the starting point is named in it.
    root: RootName,
    is_escaped: bool,
    /// Separators between names.
    slashes: Vec<&'static str>,
    start: &'static str,
    /// For a directory: what follows its path.
    end: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum RootName {
    AsTyped,
    Absolute,
    /// The path without symbolic links.
    Real,
    /// Down into the starting point and up again.
    UpAgain,
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let names = [RootName::AsTyped, RootName::Absolute, RootName::Real, RootName::UpAgain];
    let slashes = vec(select(vec!["/", "/", "//", "/./"]), 6);
    let ends = select(vec!["", "", "/", "//", "/.", "/./"]);
    (select(names.to_vec()), any::<bool>(), slashes, select(vec!["", "./", ".//"]), ends).prop_map(
        |(root, is_escaped, slashes, start, end)| Spelling { root, is_escaped, slashes, start, end },
    )
}

/// How a starting point is typed.
#[derive(Clone, Copy, Debug)]
enum Typed {
    Relative,
    Dotted,
    Slashed,
    Absolute,
    ByLink,
    FromAbove,
}

const TYPED: [Typed; 6] =
    [Typed::Relative, Typed::Dotted, Typed::Slashed, Typed::Absolute, Typed::ByLink, Typed::FromAbove];

fn escape(text: &[u8]) -> Vec<u8> {
    text.iter()
        .flat_map(|byte| if b"*?[]{}\\".contains(byte) { vec![b'\\', *byte] } else { vec![*byte] })
        .collect()
}

/// Returns the path that a name of a starting point is, with the name that was typed.
fn root_name(spelling: &Spelling, typed: &Path, real: &Path) -> Vec<u8> {
    let absolute = |path: &Path| env::current_dir().unwrap().join(path).into_os_string().into_vec();
    let name = match spelling.root {
        RootName::AsTyped => typed.as_os_str().as_bytes().to_vec(),
        RootName::Absolute => absolute(typed),
        RootName::Real => real.as_os_str().as_bytes().to_vec(),
        RootName::UpAgain => {
            let inside = fs::read_dir(real).unwrap().map(Result::unwrap).find(|it| it.path().is_dir());
            match inside {
                Some(inside) => {
                    [real.as_os_str().as_bytes(), b"/", inside.file_name().as_bytes(), b"/.."].concat()
                }
                None => absolute(typed),
            }
        }
    };
    if spelling.is_escaped { escape(&name) } else { name }
}

/// Returns the path of a rule.
fn rule(spelling: &Spelling, root: &[u8], below: &[&[u8]], is_directory: bool) -> Vec<u8> {
    let mut rule = if root.starts_with(b"/") { Vec::new() } else { spelling.start.as_bytes().to_vec() };
    rule.extend_from_slice(root);
    for (name, slash) in below.iter().zip(spelling.slashes.iter().cycle()) {
        rule.extend_from_slice(slash.as_bytes());
        rule.extend_from_slice(&escape(name));
    }
    if is_directory {
        rule.extend_from_slice(spelling.end.as_bytes());
    }
    rule
}

/// Everything that a walk shows without a rule and with it, by their paths without links. Written without the walker
/// and without globs: a path is skipped if it is `target`, or if it is `everywhere` below its starting point, and with
/// `only_dirs` a directory.
fn model(roots: &[PathBuf], target: &Path, everywhere: &[u8], only_dirs: bool) -> BTreeSet<PathBuf> {
    let real: Vec<_> = roots.iter().map(|root| root.canonicalize().unwrap()).collect();
    let mut shown = BTreeSet::new();
    for root in &real {
        shown.insert(root.clone());
        let mut waiting = vec![root.clone()];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let below = path.strip_prefix(root).unwrap();
                let is_dir = entry.file_type().unwrap().is_dir();
                if path == target || (below.as_os_str().as_bytes() == everywhere && (is_dir || !only_dirs)) {
                    continue;
                }
                if is_dir && !real.contains(&path) {
                    waiting.push(path.clone());
                }
                shown.insert(path);
            }
        }
    }
    shown
}

/// The only test here that depends on the working directory, which it changes.
#[test]
fn every_spelling_of_a_path_skips_the_same_entries() {
    let before = env::current_dir().unwrap();
    let names = || vec(select(NAMES.to_vec()), 1..4);
    let roots = vec((any::<Index>(), select(TYPED.to_vec())), 1..4);
    let input = (vec(names(), 1..12), roots, any::<Index>(), vec(spelling(), 4));
    let mut runner = TestRunner::new(Config { cases: 96, failure_persistence: None, ..Config::default() });
    let result = runner.run(&input, |(files, starts, target, spellings)| {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap().join("top");
        fs::create_dir(&top).unwrap();
        env::set_current_dir(&top).unwrap();
        for file in &files {
            let whole = path(&file.join(&b'/'));
            // A name may already be a file.
            if fs::create_dir_all(top.join(whole.parent().unwrap())).is_ok() && !top.join(&whole).exists() {
                fs::write(top.join(&whole), "").unwrap();
            }
        }
        let mut dirs = vec![PathBuf::new()];
        let mut entries = Vec::new();
        let mut nth = 0;
        while nth < dirs.len() {
            for entry in fs::read_dir(top.join(&dirs[nth])).unwrap().map(Result::unwrap) {
                let below = dirs[nth].join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    dirs.push(below.clone());
                }
                entries.push(below);
            }
            nth += 1;
        }
        dirs.sort();
        entries.sort();
        let mut typed: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (number, (dir, how)) in starts.iter().enumerate() {
            let dir = dir.get(&dirs);
            let real = if dir.as_os_str().is_empty() { top.clone() } else { top.join(dir) };
            if typed.iter().any(|(_, other)| *other == real) {
                continue;
            }
            let plain = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            let link = format!("../link{number}");
            let typed_as = match how {
                Typed::Relative => plain.to_owned(),
                Typed::Dotted => Path::new("./.").join(plain),
                Typed::Slashed => path(&[plain.as_os_str().as_bytes(), b"//"].concat()),
                Typed::Absolute => real.clone(),
                Typed::ByLink => {
                    symlink(&real, &link).unwrap();
                    link.into()
                }
                Typed::FromAbove => Path::new("../top").join(dir),
            };
            typed.push((typed_as, real));
        }
        // The target is below the first starting point that contains anything.
        let inside = |root: &PathBuf| {
            let all = entries.iter().map(|below| top.join(below));
            all.filter(|entry| entry.starts_with(root) && entry != root).collect::<Vec<_>>()
        };
        let found = typed.iter().find(|(_, real)| !inside(real).is_empty());
        let checked = found.map(|(typed_as, real)| {
            let inside = inside(real);
            let target = target.get(&inside).clone();
            let below: Vec<_> = target.strip_prefix(real).unwrap().iter().map(OsStr::as_bytes).collect();
            let roots: Vec<_> = typed.iter().map(|(typed_as, _)| c(typed_as)).collect();
            let paths: Vec<_> = typed.iter().map(|(typed_as, _)| typed_as.clone()).collect();
            for spelling in &spellings {
                let name = root_name(spelling, typed_as, real);
                let rule = rule(spelling, &name, &below, target.is_dir());
                let only_dirs = rule.ends_with(b"/") || rule.ends_with(b"/.");
                let everywhere = rule.strip_prefix(b"/").unwrap_or(&rule);
                let mut everywhere = unescape(&ftk_select::normalise_glob(everywhere));
                let has =
                    |special: &[u8]| !spelling.is_escaped && name.iter().any(|byte| special.contains(byte));
                if has(b"[{") || (has(b"?") && str::from_utf8(&rule).is_err()) {
                    // As a glob, it matches no name of the tree, or is invalid.
                    everywhere.clear();
                }
                let selection = Selection::builder().exclude(rule.clone());
                let selection = selection.build_for(&Roots::new(&roots)).unwrap();
                for threads in [1, 2] {
                    let (shown, _, used) = walk(&selection, &roots, threads);
                    let shown: BTreeSet<_> = shown.iter().map(|it| real_path(&path(it))).collect();
                    let expected = model(&paths, &target, &everywhere, only_dirs);
                    let show = String::from_utf8_lossy(&rule).into_owned();
                    assert_eq!(shown, expected, "{show:?} {typed:?} {target:?}");
                    let all = model(&paths, Path::new(""), b"", false);
                    assert_eq!(used.is_used(0), shown != all, "{show:?} {typed:?} {target:?}");
                }
                // As an expression, and as a rule that was recorded for the starting point.
                let of_root = Roots::new(std::slice::from_ref(&roots[0]));
                if typed_as == &paths[0] && paths.len() == 1 {
                    let mut recorded = Selection::builder();
                    for glob in of_root.relative(&rule).unwrap() {
                        recorded = recorded.exclude(glob);
                    }
                    let (shown, ..) = walk(&recorded.build().unwrap(), &roots, 1);
                    let shown: BTreeSet<_> = shown.iter().map(|it| real_path(&path(it))).collect();
                    assert_eq!(
                        shown,
                        model(&paths, &target, &everywhere, only_dirs),
                        "{:?}",
                        String::from_utf8_lossy(&rule)
                    );
                }
            }
        });
        env::set_current_dir(&before).unwrap();
        prop_assume!(checked.is_some());
        Ok(())
    });
    env::set_current_dir(&before).unwrap();
    result.unwrap();
}

fn unescape(glob: &[u8]) -> Vec<u8> {
    let (mut text, mut bytes) = (Vec::new(), glob.iter());
    while let Some(&byte) = bytes.next() {
        if byte == b'\\' { text.extend(bytes.next()) } else { text.push(byte) }
    }
    text
}

/// Returns a path without links in the directories that lead to it. A starting point may be a link itself.
fn real_path(path: &Path) -> PathBuf {
    let parent = match path.parent() {
        Some(parent) if path.file_name().is_some() => parent,
        _ => return path.canonicalize().unwrap(),
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let whole = parent.canonicalize().unwrap().join(path.file_name().unwrap());
    if whole.is_symlink() { whole.canonicalize().unwrap() } else { whole }
}

#[test]
fn a_rule_is_used_if_it_matches_even_if_another_one_decided() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["a/x.o", "a/y.c", ".git/z.o", "b/c/d"]);
    let builder = || Selection::builder().exclude("*.o").exclude("a").exclude("x.*").exclude("nothing");
    // `x.*` matches nothing that is seen: x.o is in `a`.
    let (shown, used) = left(builder().no_hidden(true), temp.path());
    assert_eq!(
        (shown, used),
        (vec!["/b".into(), "/b/c".into(), "/b/c/d".into()], vec![false, true, false, false])
    );
    let (_, used) = left(Selection::builder().exclude("*.o").exclude("x.*").exclude("x.o"), temp.path());
    assert_eq!(used, [true, true, true]);
    // A rule for an entry that a hidden name skips.
    let (_, used) = left(Selection::builder().exclude(".git").no_hidden(true), temp.path());
    assert_eq!(used, [true]);
}

#[test]
fn expressions_are_rules_too() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["a/x.o", "b/"]);
    let now = jiff::Zoned::now();
    let context = ftk_select::ExpressionContext { now: &now, file: &|_| unreachable!() };
    let expression = |text: &str| ftk_select::Expression::parse(text.as_bytes(), &context).unwrap();
    let builder = Selection::builder()
        .exclude("a")
        .exclude_expression(expression("size < 0"))
        .exclude_expression(expression("type = d and name = a"))
        .exclude_expression(expression("name = a and links > 0"));
    let (shown, used) = left(builder, temp.path());
    assert_eq!((shown, used), (vec!["/b".to_owned()], vec![true, false, true, true]));
    let whole = format!("path = \"{}/a\"", temp.path().display());
    let (shown, used) = left(Selection::builder().exclude_expression(expression(&whole)), temp.path());
    assert_eq!((shown, used), (vec!["/b".to_owned()], vec![true]));
}

#[test]
fn a_rule_for_a_path_in_a_skipped_directory_is_used_if_the_path_exists() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["keep/secret/x", "keep/y", "other/z"]);
    let builder = Selection::builder().exclude("keep");
    let builder =
        builder.exclude("keep/secret").exclude("keep/secret/*.raw").exclude("keep/nothing").exclude("*.raw");
    let (_, used) = left(builder.clone(), temp.path());
    assert_eq!(used, [true, true, true, false, false]);
    let (_, used) = left(builder.clone().max_depth(1), temp.path());
    assert_eq!(used, [true, true, true, false, false]);
    // Another starting point may be in the directory, and be walked.
    let roots = [c(temp.path()), c(&temp.path().join("keep/secret"))];
    let selection = builder.build_for(&Roots::new(&roots)).unwrap();
    let (_, _, used) = walk(&selection, &roots, 1);
    assert!(used.is_used(0) && !used.is_used(1) && !used.is_used(2));
    // Beyond the depth.
    let (_, used) =
        left(Selection::builder().exclude("other/z").exclude("other/y").max_depth(1), temp.path());
    assert_eq!(used, [true, false]);
}

#[test]
fn rules_that_select_are_used_if_a_selected_entry_matches() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["a.jpg", "b.png", "d.gif/", "e/a.jpg"]);
    let builder = Selection::builder().types("f".parse().unwrap());
    let builder = builder.extension("jpg").extension("png").extension("gif").extension("tif");
    let (shown, used) = left(builder, temp.path());
    assert_eq!((shown.len(), used), (3, vec![true, true, false, false]));
    let builder = Selection::builder()
        .path("e/*")
        .path(format!("{}/b.*", temp.path().display()))
        .path("x")
        .regex("^e")
        .regex("^b");
    let (shown, used) = left(builder, temp.path());
    assert_eq!(
        (shown, used),
        (vec!["/b.png".to_owned(), "/e/a.jpg".to_owned()], vec![true, true, false, true, true])
    );
    let (_, used) = left(Selection::builder().name("a*").iname("B*").name("z"), temp.path());
    assert_eq!(used, [true, true, false]);
}

#[test]
fn a_directory_given_as_a_starting_point_is_never_skipped_and_uses_no_rule() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/x"]);
    let root = temp.path().join("p");
    let (shown, used) = left(Selection::builder().exclude(root.as_os_str().as_bytes()), &root);
    assert_eq!((shown, used), (vec!["/x".to_owned()], vec![false]));
    let roots = [c(temp.path()), c(&temp.path().join("./p"))];
    // `p` is walked as a starting point, so that it is also found under another path changes nothing.
    let selection = Selection::builder().exclude("p").build_for(&Roots::new(&roots)).unwrap();
    let (shown, _, used) = walk(&selection, &roots, 1);
    assert!(shown.iter().any(|path| path.ends_with(b"/p/x")) && !used.is_used(0));
    assert!(!selection.rules()[0].names_root);
    let selection = Selection::builder().exclude(roots[1].as_bytes()).build_for(&Roots::new(&roots)).unwrap();
    assert!(selection.rules()[0].names_root);
}

/// Whether a glob of letters, `*` and `/` matches the whole text.
fn is_match(glob: &[u8], text: &[u8]) -> bool {
    match glob.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|from| is_match(rest, &text[from..])),
        Some((byte, rest)) => text.first() == Some(byte) && is_match(rest, &text[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A starting point that is no directory is skipped by its name, or by a path as it was given. A glob that skips one is
    /// used.
    #[test]
    fn files_given_as_starting_points_are_skipped(
        globs in vec("[ab*]{1,2}(\\.[ox*])?|[ab]/[ab*]{1,2}(\\.[ox*])?", 1..4),
        starts in subsequence(vec!["a", "b.o", "ab.x", "a/b", "a/a.o", "b/ba.x", "b/b", "b"], 1..8),
    ) {
        let temp = tempfile::tempdir().unwrap();
        tree(temp.path(), &["a.f", "b.o", "ab.x", "a/b", "a/a.o", "b/ba.x", "b/b"]);
        let below = |start: &str| c(&temp.path().join(start));
        let roots: Vec<_> = starts.iter().map(|start| below(start)).collect();
        let is_dir = |start: &str| ["a", "b"].contains(&start);
        let absolute = temp.path().to_str().unwrap();
        let mut builder = Selection::builder();
        for glob in &globs {
            let glob = if glob.contains('/') { format!("{absolute}/{glob}") } else { glob.clone() };
            builder = builder.exclude(glob);
        }
        let selection = builder.build_for(&Roots::new(&roots)).unwrap();
        let (shown, _, used) = walk(&selection, &roots, 2);
        let skips = |glob: &str, start: &str| {
            let text = if glob.contains('/') { start } else { start.rsplit('/').next().unwrap() };
            !is_dir(start) && is_match(glob.as_bytes(), text.as_bytes())
        };
        for start in &starts {
            let is_shown = shown.iter().any(|path| path == below(start).as_bytes());
            let is_skipped = globs.iter().any(|glob| skips(glob, start));
            prop_assert_eq!(is_shown, !is_skipped, "{} {:?}", start, globs);
        }
        for (nth, glob) in globs.iter().enumerate() {
            if starts.iter().any(|start| skips(glob, start)) {
                prop_assert!(used.is_used(nth), "{}", glob);
            }
        }
    }
}

#[test]
fn lists_and_expressions_skip_files_given_as_starting_points() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/x.o", ".y", "z"]);
    symlink("p", temp.path().join("l.o")).unwrap();
    let roots: Vec<_> = ["p", "l.o", "p/x.o", ".y", "z"].iter().map(|it| c(&temp.path().join(it))).collect();
    let now = jiff::Zoned::now();
    let context = ftk_select::ExpressionContext { now: &now, file: &|_| unreachable!() };
    let expression = ftk_select::Expression::parse(b"name = z or size = 0 and name = p", &context).unwrap();
    let list = Arc::new(IgnoreFile::parse(&b"*.o\nno\n"[..]).unwrap());
    let builder = Selection::builder().no_hidden(true).ignore_files(true).exclude_expression(expression);
    let builder = builder.exclude_list("--exclude-from", b"list".to_vec(), list);
    let selection = builder.build_for(&Roots::new(&roots)).unwrap();
    let (shown, skipped, used) = walk(&selection, &roots, 1);
    // The link leads to a directory that is another starting point.
    assert_eq!(shown, [roots[3].to_bytes(), roots[0].to_bytes()]);
    assert_eq!((skipped.filtered_files, skipped.filtered_others, skipped.covered), (2, 0, 1));
    assert_eq!((used.is_used(0), used.lines(1)), (true, &[true, false][..]));
}

#[test]
fn a_file_given_as_a_starting_point_is_recorded_if_a_rule_skips_it() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/x", "p/y"]);
    let roots = [c(&temp.path().join("p/x")), c(&temp.path().join("p/y"))];
    let (found, entries) = unseen(Selection::builder().exclude("x"), &roots, Follow::Roots);
    assert_eq!(found, ["--exclude x"]);
    let stat = |path: &str| fs::metadata(temp.path().join(path)).map(|it| (it.dev(), it.ino())).unwrap();
    let file = entries[0].file.unwrap();
    assert_eq!((file.directory, file.identity, file.is_unique), (stat("p"), stat("p/x"), true));
}

#[test]
fn a_path_itself_can_be_selected() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/x/", "p/y"]);
    let root = temp.path().join("p");
    let whole = root.to_str().unwrap();
    let count = |glob: &str| {
        let roots = [c(&root)];
        let selection = Selection::builder().path(glob).build_for(&Roots::new(&roots)).unwrap();
        walk(&selection, &roots, 1).0.len()
    };
    assert_eq!((count(whole), count(&format!("{whole}/*")), count("/"), count("")), (1, 2, 1, 0));
    assert_eq!((count("x/"), count("y/"), count("./x"), count(&format!("{whole}//x/."))), (1, 0, 1, 1));
}

#[test]
fn a_walk_that_was_stopped_is_partial() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["a", "b", "c/d"]);
    let selection = Selection::builder().exclude("nothing").build().unwrap();
    for most in [1, 2, 5] {
        let walker = Walker::new([temp.path()]).threads(1);
        let shown = || Shown { most: Some(most), ..Shown::default() };
        let parts = walker.run(|_| Filtered::new(&selection, shown())).remove(0).into_parts();
        assert!(parts.used.is_partial() && !parts.used.is_used(0));
    }
    assert!(!walk(&selection, &[c(temp.path())], 1).2.is_partial());
}

#[test]
fn a_path_below_one_starting_point_does_not_concern_the_others() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/keep/x", "q/keep/x"]);
    let roots = [c(&temp.path().join("p")), c(&temp.path().join("q"))];
    let rule = format!("{}/p/keep", temp.path().display());
    let shown = |roots_of_rules: &Roots<'_>| {
        let selection = Selection::builder().exclude(rule.as_str()).build_for(roots_of_rules).unwrap();
        walk(&selection, &roots, 1).0.len()
    };
    assert_eq!(
        (shown(&Roots::new(&roots)), shown(&Roots::new(&roots).shared()), shown(&Roots::none())),
        (4, 2, 6)
    );
    // The walk of the second one alone, with the same rules.
    let selection = Selection::builder().exclude(rule.as_str()).build_for(&Roots::new(&roots)).unwrap();
    let numbered = |first: usize| walk(&selection.numbered_from(first), &roots[first..=first], 1).0.len();
    assert_eq!((numbered(0), numbered(1)), (1, 3));
}

#[test]
fn alternatives_may_begin_with_starting_points() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/keep/x", "p/raw", "q/keep/x", "q/raw"]);
    let roots = [c(&temp.path().join("p")), c(&temp.path().join("q"))];
    let shown = |rule: &str| {
        let rule = rule.replace("HERE", temp.path().to_str().unwrap());
        let selection = Selection::builder().exclude(rule).build_for(&Roots::new(&roots)).unwrap();
        let (shown, _, used) = walk(&selection, &roots, 1);
        (shown.len(), used.is_used(0))
    };
    assert_eq!(shown("HERE/{p,q}/keep"), (4, true));
    assert_eq!(shown("HERE/{p/keep,q/raw}"), (5, true));
    assert_eq!(shown("{HERE/p/,HERE/q/./}{keep,raw}"), (2, true));
    assert_eq!(shown("HERE/{r,s}/keep"), (8, false));
}

#[test]
fn rules_are_recorded_relative_to_the_root() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/keep/x", "p/a,b/x", "q/"]);
    let root = [c(&temp.path().join("p"))];
    let roots = Roots::new(&root);
    let relative = |glob: &str| {
        let globs = roots.relative(glob.as_bytes()).unwrap();
        globs.into_iter().map(|glob| String::from_utf8(glob).unwrap()).collect::<Vec<_>>()
    };
    let whole = root[0].to_str().unwrap();
    assert_eq!(relative(&format!("{whole}//keep/.")), ["/keep/"]);
    assert_eq!(relative(&format!("{whole}/*.c")), ["/*.c"]);
    assert_eq!(relative(whole), ["/"]);
    for glob in ["*.o", "keep/x", "./keep", "keep/"] {
        assert_eq!(relative(glob), [glob]);
    }
    let now = jiff::Zoned::now();
    let context = ftk_select::ExpressionContext { now: &now, file: &|_| unreachable!() };
    let text = format!("name = a or path = \"{whole}/*.c\" and not path in (\"keep\", \"{whole}/x\")");
    let expression = ftk_select::Expression::parse(text.as_bytes(), &context).unwrap();
    let other = [c(&temp.path().join("q"))];
    assert_eq!(expression.relative(&Roots::new(&other)).unwrap(), text.as_bytes());
    let relative_text = String::from_utf8(expression.relative(&roots).unwrap()).unwrap();
    let expected = "name = a or (path = \"/*.c\") and not (path = \"keep\" or path = \"/x\")";
    assert_eq!(relative_text, expected);
    // The same path also exists below the root.
    tree(temp.path(), &[&format!("p{whole}/keep/y"), &format!("p{whole}/a,b/")]);
    let both = relative(&format!("{whole}/keep"));
    assert_eq!(both, [format!("/{{keep,{}/keep}}", &whole[1..])]);
    let each = relative(&format!("{{{whole}/keep/,{whole}/x}}"));
    assert_eq!(each[..2], ["/keep/", "/x"]);
    let both = relative(&format!("{whole}/a,b/"));
    assert_eq!(both, [format!("/{{a\\,b,{}/a\\,b}}/", &whole[1..])]);
}

#[test]
fn a_link_to_a_starting_point_leads_to_it() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/keep/x"]);
    symlink(temp.path().join("p"), temp.path().join("link")).unwrap();
    for rule in ["link/keep", "p/../link/./keep", "p/keep/../keep"] {
        let builder = Selection::builder().exclude(format!("{}/{rule}", temp.path().display()));
        assert_eq!(left(builder, &temp.path().join("p")), (Vec::new(), vec![true]), "{rule}");
    }
}

/// What is recorded of a walk, sorted: skipped entries with the option, and then directories that were not entered.
fn unseen(builder: SelectionBuilder, roots: &[CString], follow: Follow) -> (Vec<String>, Vec<SkippedEntry>) {
    let selection = builder.build_for(&Roots::new(roots)).unwrap().recording_unseen();
    let walker =
        Walker::new(roots.iter().map(|root| OsStr::from_bytes(root.as_bytes()))).threads(2).follow(follow);
    let mut unseen = Unseen::default();
    for part in walker.run(|_| Filtered::new(&selection, Shown::default())) {
        unseen.merge(part.into_parts().unseen);
    }
    unseen.entries.sort_by(|a, b| a.path.cmp(&b.path));
    unseen.not_entered.sort();
    let name =
        |path: &[u8]| String::from_utf8_lossy(path.rsplit(|&byte| byte == b'/').next().unwrap()).into_owned();
    let entries = unseen.entries.iter().map(|it| format!("{} {}", it.option, name(&it.path)));
    let not_entered = unseen.not_entered.iter().map(|path| name(path));
    (entries.chain(not_entered).collect(), unseen.entries)
}

#[test]
fn what_a_rule_skips_is_recorded_whatever_else_skips_it() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["a/1.o", "b/.git/x", "b/.keep/y", "b/c/d/e", "f.o", "g"]);
    fs::hard_link(temp.path().join("f.o"), temp.path().join("h.o")).unwrap();
    symlink("g", temp.path().join("l.o")).unwrap();
    let roots = [c(temp.path())];
    let now = jiff::Zoned::now();
    let context = ftk_select::ExpressionContext { now: &now, file: &|_| unreachable!() };
    let expression = ftk_select::Expression::parse(b"name = g", &context).unwrap();
    let builder =
        || Selection::builder().exclude("*.o").exclude(".keep").exclude("a").no_hidden(true).max_depth(2);
    let (found, entries) = unseen(builder().exclude_expression(expression), &roots, Follow::Never);
    let skipped = ["--exclude a", "--exclude .keep", "--exclude f.o", "--exclude-where g", "--exclude h.o"];
    assert_eq!(found, [&skipped[..], &[".git", "c"]].concat());
    let unique = |it: &SkippedEntry| it.file.map(|file| file.is_unique);
    assert_eq!(
        entries.iter().map(unique).collect::<Vec<_>>(),
        [None, None, Some(false), Some(true), Some(false)]
    );
    let stat = |path: &str| fs::metadata(temp.path().join(path)).unwrap();
    let file = entries[2].file.unwrap();
    assert_eq!(file.identity.1, stat("f.o").ino());
    assert_eq!(file.directory, (stat("").dev(), stat("").ino()));
    // A link that is followed.
    let (found, entries) = unseen(Selection::builder().exclude("l.o"), &roots, Follow::Always);
    assert_eq!((found, unique(&entries[0])), (vec!["--exclude l.o".to_owned()], Some(true)));
    assert_eq!(entries[0].file.unwrap().identity.1, stat("g").ino());
}

#[test]
fn directories_that_are_not_entered_under_a_path_are_recorded() {
    let temp = tempfile::tempdir().unwrap();
    tree(temp.path(), &["p/a/x", "q/y"]);
    let roots = |names: &[&str]| names.iter().map(|name| c(&temp.path().join(name))).collect::<Vec<_>>();
    symlink("../p/a", temp.path().join("q/again")).unwrap();
    symlink(".", temp.path().join("q/loop")).unwrap();
    let found = |names: &[&str]| unseen(Selection::builder(), &roots(names), Follow::Always).0;
    assert_eq!(found(&["p", "q"]), ["again", "loop"]);
    assert_eq!(found(&["q"]), ["loop"]);
    assert_eq!(found(&["p/a", "q"]), ["again", "loop"]);
    assert_eq!(found(&["q", "q"]), ["q", "loop"]);
}

#[test]
fn a_glob_means_its_rest_below_a_directory() {
    let roots = [c"p".into(), c"q".into()];
    let rests = |glob: &str, root: usize, dir: &str| {
        let selection = Selection::builder().exclude(glob).build_for(&Roots::new(&roots)).unwrap();
        let shown = |rest: ftk_select::Rest| {
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            format!("{}: {}|{}", text(rest.glob), text(rest.place), text(rest.inside))
        };
        selection.excluded_below(root, dir.as_bytes()).into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(rests("p/a/keep", 0, "a"), ["keep: keep|"]);
    assert_eq!(rests("p/a/keep", 0, ""), ["p/a/keep: p/a/keep|", "a/keep: a/keep|"]);
    assert_eq!(rests("p/a/keep", 1, "a"), [""; 0]);
    assert_eq!(rests("p/a/keep", 0, "b"), [""; 0]);
    assert_eq!(rests("p/a/keep", 0, "a/keep"), [""; 0]);
    assert_eq!(rests("a/b/*.c", 1, "a"), ["b/*.c: b|*.c"]);
    assert_eq!(rests("*/keep", 1, "a/b"), ["**/keep: |**/keep", "**/keep: |**/keep", "keep: keep|"]);
    assert_eq!(rests("{a,b}/keep", 1, "b"), ["keep: keep|"]);
    assert_eq!(rests("keep", 0, "a"), [""; 0]);
}

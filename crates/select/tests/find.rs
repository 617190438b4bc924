//! Selections on real trees, compared with GNU find.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use ftk_select::{Expression, ExpressionContext, Filtered, Parts, Selection, SelectionBuilder, Skipped};
use ftk_walk::{
    Entry, Fields, FileType, Follow, Metadata, Recorded, Replay, Step, Visitor, WalkError, Walker,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A visitor that records the depth and path of each entry.
#[derive(Default)]
struct Shown(Vec<(u32, Vec<u8>)>);

impl Shown {
    fn push(&mut self, entry: &Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.0.push((entry.depth(), path));
        Step::Descend
    }
}

impl Visitor for Shown {
    type Dir = ();
    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.push(entry)
    }
    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error}: {}", error.source);
    }
}

/// Returns the selected entries, sorted, and the counts of what was skipped.
fn shown(selection: &Selection, roots: &[&Path]) -> (Vec<(u32, Vec<u8>)>, Skipped) {
    let parts = Walker::new(roots).threads(2).run(|_| Filtered::new(selection, Shown::default()));
    let (mut all, mut skipped) = (Vec::new(), Skipped::default());
    for Parts { visitor: mut part, skipped: counts, .. } in parts.into_iter().map(Filtered::into_parts) {
        all.append(&mut part.0);
        skipped += counts;
    }
    all.sort();
    (all, skipped)
}

fn paths(selection: SelectionBuilder, root: &Path) -> Vec<String> {
    let (shown, _) = shown(&selection.build().unwrap(), &[root]);
    let below = |path: Vec<u8>| path[root.as_os_str().len()..].to_vec();
    shown.into_iter().map(|(_, path)| String::from_utf8(below(path)).unwrap()).collect()
}

/// Filters, as texts.
#[derive(Clone, Debug, Default)]
struct Request {
    types: Option<&'static str>,
    extensions: Vec<&'static str>,
    names: Vec<(&'static str, bool)>,
    sizes: Vec<&'static str>,
    excluded: Vec<&'static str>,
    min_depth: u32,
    max_depth: Option<u32>,
    no_hidden: bool,
}

impl Request {
    fn selection(&self) -> Selection {
        let mut builder = Selection::builder().min_depth(self.min_depth).no_hidden(self.no_hidden);
        if let Some(types) = self.types {
            builder = builder.types(types.parse().unwrap());
        }
        if let Some(depth) = self.max_depth {
            builder = builder.max_depth(depth);
        }
        for extension in &self.extensions {
            builder = builder.extension(extension);
        }
        for &(glob, ignore_case) in &self.names {
            builder = if ignore_case { builder.iname(glob) } else { builder.name(glob) };
        }
        for size in &self.sizes {
            builder = builder.size(size.parse().unwrap());
        }
        for &glob in &self.excluded {
            builder = builder.exclude(glob);
        }
        builder.build().unwrap()
    }

    /// Returns the arguments for GNU find, except the minimum depth: `-mindepth` would also prevent pruning
    /// above it.
    fn find_arguments(&self, root: &str) -> Vec<String> {
        let mut arguments = vec![root.to_owned()];
        let mut push = |parts: &[&str]| arguments.extend(parts.iter().map(|&part| part.to_owned()));
        if let Some(depth) = self.max_depth {
            push(&["-maxdepth", &depth.to_string()]);
        }
        push(&["(", "!", "-path", root, "(", "-false"]);
        if self.no_hidden {
            push(&["-o", "-name", ".*"]);
        }
        for glob in &self.excluded {
            let (bare, is_dir) = glob.strip_suffix('/').map_or((*glob, false), |bare| (bare, true));
            push(&["-o", "("]);
            if is_dir {
                push(&["-type", "d"]);
            }
            if bare.starts_with("*/") {
                push(&["-path", bare]);
            } else if bare.contains('/') {
                push(&["-path", &format!("{root}/{}", bare.trim_start_matches('/'))]);
            } else {
                push(&["-name", bare]);
            }
            push(&[")"]);
        }
        push(&[")", "-prune", ")", "-o", "("]);
        if let Some(types) = self.types {
            push(&["-type", types]);
        }
        push(&["("]);
        push(if self.extensions.is_empty() { &["-true"] } else { &["-false"] });
        for extension in &self.extensions {
            push(&["-o", "-iname", &format!("?*.{extension}")]);
        }
        push(&[")", "("]);
        push(if self.names.is_empty() { &["-true"] } else { &["-false"] });
        for &(glob, ignore_case) in &self.names {
            push(&["-o", if ignore_case { "-iname" } else { "-name" }, glob]);
        }
        push(&[")"]);
        for size in &self.sizes {
            push(&["-size", &format!("{}c", size.replace("1K", "1024"))]);
        }
        push(&[")", "-printf", "%d %p\\0"]);
        arguments
    }
}

/// Returns what GNU find prints, sorted.
fn found(request: &Request, root: &Path) -> Vec<(u32, Vec<u8>)> {
    let arguments = request.find_arguments(root.to_str().unwrap());
    let output = Command::new("find").env("LC_ALL", "C").args(arguments).output().expect("GNU find runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<_> = output
        .stdout
        .split(|&byte| byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let space = line.iter().position(|&byte| byte == b' ').unwrap();
            let depth: u32 = str::from_utf8(&line[..space]).unwrap().parse().unwrap();
            (depth, line[space + 1..].to_vec())
        })
        .filter(|&(depth, _)| depth >= request.min_depth)
        .collect();
    lines.sort();
    lines
}

/// An entry of a random tree.
#[derive(Clone, Debug)]
enum Node {
    File(u64),
    Link(&'static str),
    Dir(BTreeMap<&'static [u8], Node>),
}

fn make(path: &Path, node: &Node) {
    match node {
        Node::File(len) => File::create(path).unwrap().set_len(*len).unwrap(),
        Node::Link(target) => symlink(target, path).unwrap(),
        Node::Dir(entries) => {
            fs::create_dir(path).unwrap();
            for (name, node) in entries {
                make(&path.join(OsStr::from_bytes(name)), node);
            }
        }
    }
}

fn dir() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        3 => select(vec![0, 1, 1023, 1024, 1025, 4096]).prop_map(Node::File),
        1 => select(vec!["nowhere", ".", "b.c"]).prop_map(Node::Link),
    ];
    let names: [&[u8]; 12] =
        [b"a", b"b.c", b"B.C", b".h", b".h.c", b"..x", b"x.tar.GZ", b"\xff.c", b"\n", b"-n", b"[a]", b"a b"];
    let below = move |inner| btree_map(select(names.to_vec()), inner, 0..6).prop_map(Node::Dir);
    let node = leaf.prop_recursive(3, 40, 6, below);
    btree_map(select(names.to_vec()), node, 1..8).prop_map(Node::Dir)
}

fn request() -> impl Strategy<Value = Request> {
    let globs = ["*", "*.c", "*.C", ".*", "a*", "?", "[!a]*", "b.c", "*.[ch]", "\\[a]", "*\n*", "?.c", "a?b"];
    let excluded = ["a", "*.c", ".*", "b.c/", "a/b.c", "a/*", "*/a", "/a", "*/.h/", "[!b]*.c", "root"];
    let sizes = ["0", "+0", "-1K", "1K", "+1K", "1025", "-1", "+4095"];
    (
        option::of(select(vec!["f", "d", "l", "f,l", "d,l"])),
        vec(select(vec!["c", "gz", "tar.gz"]), 0..2),
        vec((select(globs.to_vec()), any::<bool>()), 0..3),
        vec(select(sizes.to_vec()), 0..3),
        vec(select(excluded.to_vec()), 0..3),
        0_u32..3,
        option::of(0_u32..4),
        any::<bool>(),
    )
        .prop_map(|(types, extensions, names, sizes, excluded, min_depth, max_depth, no_hidden)| {
            Request { types, extensions, names, sizes, excluded, min_depth, max_depth, no_hidden }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_selection_finds_what_find_finds(tree in dir(), requests in vec(request(), 8)) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        make(&root, &tree);
        for request in requests {
            let (shown, _) = shown(&request.selection(), &[&root]);
            prop_assert_eq!(shown, found(&request, &root), "{:?}", request);
        }
    }
}

/// Returns the path of every directory that the walk lists, below the root.
fn listed_dirs(request: &Request, root: &Path) -> Vec<String> {
    let listed =
        Request { types: Some("d"), min_depth: 1, excluded: request.excluded.clone(), ..Request::default() };
    let listed = Request { max_depth: request.max_depth, no_hidden: request.no_hidden, ..listed };
    let below =
        |(_, path): (u32, Vec<u8>)| String::from_utf8(path[root.as_os_str().len() + 1..].to_vec()).ok();
    shown(&listed.selection(), &[root]).0.into_iter().filter_map(below).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Wherever the directory is now, rules mean what they mean in the whole tree.
    #[test]
    fn a_walk_of_a_part_selects_what_that_of_the_whole_selects_there(tree in dir(), requests in vec(request(), 8)) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        make(&root, &tree);
        for request in requests {
            let (whole, _) = shown(&request.selection(), &[&root]);
            for dir in listed_dirs(&request, &root) {
                let copy = temp.path().join("other");
                let _ = fs::remove_file(&copy);
                symlink(root.join(&dir), &copy).unwrap();
                let selection = request.selection().starting_at(dir.as_bytes());
                let walker = Walker::new([&copy]).threads(2).follow(Follow::Roots);
                let parts = walker.run(|_| Filtered::new(&selection, Shown::default()));
                let mut part: Vec<_> = parts.into_iter().flat_map(|part| part.into_parts().visitor.0).collect();
                let depth = dir.matches('/').count() as u32 + 1;
                let place = root.join(&dir).into_os_string().into_encoded_bytes();
                for (at, path) in &mut part {
                    *at += depth;
                    path.splice(..copy.as_os_str().len(), place.iter().copied());
                }
                part.sort();
                let is_there = |path: &[u8]| path.strip_prefix(&*place).is_some_and(|it| it.is_empty() || it[0] == b'/');
                let expected: Vec<_> = whole.iter().filter(|(_, path)| is_there(path)).cloned().collect();
                prop_assert_eq!(part, expected, "{} {:?}", dir, request);
            }
        }
    }
}

/// A visitor that records all entries of a walk.
#[derive(Default)]
struct Record(Vec<(Vec<u8>, Metadata)>);

impl Visitor for Record {
    type Dir = ();
    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.0.push((path, *entry.metadata().unwrap()));
        Step::Descend
    }
    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error}: {}", error.source);
    }
}

/// Returns the selected entries of a record of the tree, which is shown in the order of a manifest. With `lacks_dirs`, the
/// record has no directories below the root.
fn shown_of_record(selection: &Selection, root: &Path, lacks_dirs: bool) -> (Vec<(u32, Vec<u8>)>, Skipped) {
    let mut all = Walker::new([root]).threads(1).run(|_| Record::default()).remove(0).0;
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let name = CString::new(root.as_os_str().as_bytes()).unwrap();
    let mut replay = Replay::new(name, 0, Filtered::new(selection, Shown::default()));
    for (path, metadata) in all {
        let below = path[root.as_os_str().len()..].strip_prefix(b"/").unwrap_or_default();
        let mut recorded = Recorded::new(metadata.file_type);
        (recorded.metadata, recorded.known) = (metadata, Fields::BASIC);
        if !(lacks_dirs && metadata.file_type == FileType::Directory && !below.is_empty()) {
            assert!(replay.show(below, &recorded));
        }
    }
    let Parts { visitor, skipped, .. } = replay.finish().into_parts();
    let mut shown = visitor.0;
    shown.sort();
    (shown, skipped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_selection_of_a_record_is_that_of_the_tree(tree in dir(), requests in vec(request(), 8)) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        make(&root, &tree);
        for request in requests {
            let selection = request.selection();
            let (expected, skipped) = shown(&selection, &[&root]);
            let selection = selection.for_records();
            let (found, skipped_in_record) = shown_of_record(&selection, &root, false);
            prop_assert_eq!(&found, &expected, "{:?}", request);
            prop_assert_eq!(skipped_in_record, skipped, "{:?}", request);
            // Directories that a record lacks are not shown, and rules skip what is below them.
            if request.types == Some("f") {
                prop_assert_eq!(shown_of_record(&selection, &root, true).0, expected, "{:?}", request);
            }
        }
    }
}

/// A record answers for the entry that it is about, and for no other.
#[test]
fn what_a_record_lacks_is_an_error() {
    #[derive(Default)]
    struct Said(Vec<String>);
    impl Visitor for Said {
        type Dir = ();
        fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
            self.0.push(String::from_utf8_lossy(entry.name()).into_owned());
            Step::Descend
        }
        fn error(&mut self, error: WalkError) -> Step {
            self.0.push(format!("{}: {}", String::from_utf8_lossy(&error.path), error.source));
            Step::Next
        }
    }
    let now = jiff::Zoned::now();
    for (text, expected) in [
        ("size >= 0", "/r/a: the record has no size_bytes"),
        ("atime < 1d", "/r/a: the record has no atime_ns"),
        ("birth < 1d", "/r/a: the record has no birth_ns"),
        ("inode = 1", "/r/a: the record has no ino"),
        ("nouser", "/r/a: the record has no uid"),
        ("xattr = a", "/r/a: the record has no xattrs"),
        ("capable", "/r/a: the record has no xattrs"),
        ("name = b or size > 1", "/r/a: the record has no size_bytes"),
        ("name = b and size > 1", ""),
    ] {
        let context = ExpressionContext { now: &now, file: &|_| unreachable!() };
        let expression = Expression::parse(text.as_bytes(), &context).unwrap();
        let selection = Selection::builder().expression(expression).build().unwrap().for_records();
        assert_eq!(selection.needs_tree(), None);
        let mut replay = Replay::new(c"/r".into(), 0, Filtered::new(&selection, Said::default()));
        let mut root = Recorded::new(FileType::Directory);
        root.known = Fields::BASIC | Fields::BIRTH;
        root.attributes = Some(Vec::new());
        root.has_entries = Some(true);
        replay.show(b"", &root);
        replay.show(b"a", &Recorded::new(FileType::Regular));
        let said = replay.finish().into_parts().visitor.0;
        let said: Vec<_> = said.iter().filter(|it| it.starts_with("/r/a")).collect();
        assert_eq!(said, if expected.is_empty() { vec![] } else { vec![expected] }, "{text}");
    }
    for text in ["readable", "writable", "executable", "broken", "has = x", "fstype = ext4", "ignored"] {
        let context = ExpressionContext { now: &now, file: &|_| unreachable!() };
        let expression = Expression::parse(text.as_bytes(), &context).unwrap();
        let selection = Selection::builder().expression(expression).build().unwrap();
        assert!(selection.needs_tree().is_some(), "{text}");
    }
}

fn tree(paths: &[&str]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for path in paths {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap();
    }
    temp
}

#[test]
fn everything_is_selected_by_default() {
    let temp = tree(&[".hidden/.x", ".gitignore", "a/b"]);
    let all = ["", "/.gitignore", "/.hidden", "/a", "/.hidden/.x", "/a/b"];
    assert_eq!(paths(Selection::builder(), temp.path()), all);
}

#[test]
fn hidden_entries_are_counted_except_roots() {
    let temp = tree(&[".r/.h/x", ".r/.f", ".r/a/.g", ".r/a/b"]);
    let root = temp.path().join(".r");
    let selection = Selection::builder().no_hidden(true).build().unwrap();
    let file = root.join(".f");
    let (shown, skipped) = shown(&selection, &[&root, &file]);
    let expected = [(0, &root), (0, &file), (1, &root.join("a")), (2, &root.join("a/b"))];
    assert_eq!(shown, expected.map(|(depth, path)| (depth, path.as_os_str().as_bytes().to_vec())));
    // These are `.h` and `a/.g`. The walk shows `.f` only as a starting point, so it is not hidden.
    assert_eq!(skipped, Skipped { matched: 3, hidden: 2, ..Skipped::default() });
}

#[test]
fn root_directories_are_never_excluded_but_filters_apply_to_them() {
    let temp = tree(&["root/root/x", "root/y", "root/z.c"]);
    let root = temp.path().join("root");
    assert_eq!(paths(Selection::builder().exclude("root"), &root), ["", "/y", "/z.c"]);
    assert_eq!(paths(Selection::builder().name("*.c"), &root), ["/z.c"]);
    let file = root.join("y");
    assert!(paths(Selection::builder().extension("c"), &file).is_empty());
    assert!(paths(Selection::builder().exclude("y"), &file).is_empty());
}

#[test]
fn excluded_paths_begin_below_the_root() {
    let temp = tree(&["a/b/c", "b/c"]);
    for root in ["", "/", "//", "/."] {
        let root = format!("{}{root}", temp.path().display());
        let left = paths(Selection::builder().exclude("/b").exclude("a/*/c"), Path::new(&root));
        assert_eq!(
            left.iter().map(|path| path.trim_matches('/')).collect::<Vec<_>>(),
            ["", "a", "a/b"],
            "{root}"
        );
    }
}

#[test]
fn own_output_is_skipped_under_every_name() {
    let temp = tree(&["d/out", "d/x", "arguments/out"]);
    fs::hard_link(temp.path().join("d/out"), temp.path().join("d/same")).unwrap();
    symlink("d/out", temp.path().join("link")).unwrap();
    symlink("out", temp.path().join("d/link")).unwrap();
    let own = fs::metadata(temp.path().join("d/out")).unwrap();
    let argument = temp.path().join("arguments/out");
    let named = fs::metadata(&argument).unwrap();
    let builder = Selection::builder().types("f".parse().unwrap());
    let builder = builder.skip_file(own.dev(), own.ino()).skip_file(named.dev(), named.ino());
    // The same inode number on another device is another file.
    let selection = builder.skip_file(own.dev() + 1, fs::metadata(temp.path().join("d/x")).unwrap().ino());
    let selection = selection.build().unwrap();
    let roots = [&temp.path().join("d"), &argument, &temp.path().join("link")];
    let walker = Walker::new(roots).threads(1).follow(Follow::Always);
    let parts = walker.run(|_| Filtered::new(&selection, Shown::default())).remove(0).into_parts();
    let Parts { visitor: shown, skipped, .. } = parts;
    let left: Vec<_> = shown.0.into_iter().map(|(_, path)| path).collect();
    assert_eq!(left, [temp.path().join("d/x").into_os_string().into_encoded_bytes()]);
    // The exact number depends on the walk, which may show one file only once.
    assert!(skipped.own_output >= 2, "{skipped:?}");
}

#[test]
fn mount_points_are_selected_and_not_entered() {
    let only = || Selection::builder().exclude("{[!p]*,p[!r]*,pr[!o]*,pro[!c]*,proc?*}").max_depth(2);
    let slash = Path::new("/");
    let expected = vec![(0, b"/".to_vec()), (1, b"/proc".to_vec())];
    let one = only().one_file_system(true).build().unwrap();
    let (paths, skipped) = shown(&one, &[slash]);
    assert_eq!((paths, skipped.other_file_systems, skipped.pseudo_file_systems), (expected.clone(), 1, 0));
    let any = only().build().unwrap();
    let (paths, skipped) = shown(&any, &[slash]);
    assert_eq!((paths, skipped.other_file_systems, skipped.pseudo_file_systems), (expected, 0, 1));
}

#[test]
fn a_pseudo_file_system_given_as_root_is_walked() {
    let (paths, skipped) =
        shown(&Selection::builder().max_depth(1).build().unwrap(), &[Path::new("/proc/sys")]);
    assert!(paths.contains(&(1, b"/proc/sys/kernel".to_vec())));
    assert!(skipped.matched > 0);
    assert_eq!(Skipped { matched: 0, ..skipped }, Skipped::default());
}

/// A visitor that counts errors instead of panicking.
#[derive(Default)]
struct Tolerant {
    shown: Shown,
    errors: usize,
}

impl Visitor for Tolerant {
    type Dir = ();
    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.shown.push(entry)
    }
    fn error(&mut self, _error: WalkError) -> Step {
        self.errors += 1;
        Step::Next
    }
}

#[test]
fn loops_are_counted_and_reported() {
    let temp = tree(&["a/b"]);
    symlink("..", temp.path().join("a/up")).unwrap();
    let selection = Selection::builder().build().unwrap();
    let walker = Walker::new([temp.path()]).threads(1).follow(Follow::Always);
    let mut parts = walker.run(|_| Filtered::new(&selection, Tolerant::default()));
    let Parts { visitor: part, skipped, .. } = parts.pop().unwrap().into_parts();
    assert_eq!((skipped.loops, part.errors), (1, 1));
    assert!(part.shown.0.iter().any(|(_, path)| path.ends_with(b"/a/b")));
}

#[test]
fn steps_of_the_inner_visitor_are_followed() {
    struct Shallow(Shown, Step);
    impl Visitor for Shallow {
        type Dir = ();
        fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
            self.0.push(entry);
            self.1
        }
        fn error(&mut self, error: WalkError) -> Step {
            panic!("{error}");
        }
    }
    let temp = tree(&["a/b/c", "d/e/f"]);
    for (step, entries) in [(Step::Next, 1), (Step::Descend, 7), (Step::Stop, 1)] {
        let selection = Selection::builder().build().unwrap();
        let walker = Walker::new([temp.path()]).threads(1);
        let parts = walker.run(|_| Filtered::new(&selection, Shallow(Shown::default(), step)));
        let shown: usize = parts.into_iter().map(|part| part.into_parts().visitor.0.0.len()).sum();
        assert_eq!(shown, entries);
    }
}

#[test]
fn rejected_entries_are_counted() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    fs::create_dir(dir.path().join("sub"))?;
    for name in ["a.c", "b.h", "sub/c.c"] {
        fs::write(dir.path().join(name), "")?;
    }
    let selection = Selection::builder().extension("c").build()?;
    let (_, skipped) = shown(&selection, &[dir.path()]);
    let expected = Skipped { matched: 2, filtered_files: 1, filtered_others: 1, ..Skipped::default() };
    assert_eq!(skipped, expected);
    assert_eq!(skipped.by_options(), 2);
    let selection = Selection::builder().exclude(*b"sub").max_depth(1).build()?;
    let (_, skipped) = shown(&selection, &[dir.path()]);
    assert_eq!(skipped, Skipped { matched: 2, filtered_others: 1, ..Skipped::default() });
    let selection = Selection::builder().max_depth(0).build()?;
    let (_, skipped) = shown(&selection, &[dir.path()]);
    assert_eq!((skipped.matched, skipped.by_options()), (0, 1));
    Ok(())
}

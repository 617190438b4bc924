//! Globs, regular expressions and expressions must be refused or accepted without a panic, and must never
//! select an entry that does not exist.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use ftk_select::{Expression, ExpressionContext, Filtered, NamedFile, Roots, Selection, SelectionBuilder};
use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;

/// The entries of the tree that is walked.
const ENTRIES: &[&str] = &["a", "b.c", "d/a", "d/B.C", "d/e/[x]", "d/e/f\n", "d/e/ä", ".h/{a,b}", "z*"];

thread_local! {
    pub(crate) static TREE: TempDir = tree();
}

fn tree() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory for the tree");
    for entry in ENTRIES {
        let path = dir.path().join(entry);
        fs::create_dir_all(path.parent().expect("it lies in the tree")).expect("a directory");
        fs::write(path, "").expect("a file");
    }
    dir
}

/// Uses the first line as a glob for every option with a glob, and the second as a regular expression.
pub fn selections(data: &[u8]) {
    let mut lines = data.split(|&byte| byte == b'\n');
    let glob = lines.next().unwrap_or_default().to_vec();
    let regex = lines.next().and_then(|line| str::from_utf8(line).ok()).unwrap_or_default();
    let all = listed(&Selection::builder());
    for narrow in
        [SelectionBuilder::name, SelectionBuilder::iname, SelectionBuilder::path, SelectionBuilder::exclude]
    {
        let found = listed(&narrow(Selection::builder(), glob.clone()));
        assert!(found.is_subset(&all));
    }
    // A path that leads through `d/..` is below the starting point too, and one that begins like that of the starting point
    // may match it.
    let (root, has) = (root(), |part: &[u8]| glob.windows(part.len()).any(|it| it == part));
    let first = root.as_bytes().split(|&byte| byte == b'/').find(|name| !name.is_empty());
    if !has(b"..") && !first.is_some_and(has) {
        let absolute = [root.as_bytes(), b"/", &*glob].concat();
        let below = listed(&Selection::builder().exclude([b"/", &*glob].concat()));
        assert_eq!(listed(&Selection::builder().exclude(absolute)), below);
    }
    // A negated class excludes more if case is ignored.
    if !glob.contains(&b'[') {
        let matched = listed(&Selection::builder().name(glob.clone()));
        assert!(matched.is_subset(&listed(&Selection::builder().iname(glob))));
    }
    assert!(listed(&Selection::builder().regex(regex)).is_subset(&all));
}

/// Uses the input as an expression. An error must point into it, and each entry must match either the expression or
/// its negation.
pub fn expressions(data: &[u8]) {
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let file = |path: &[u8]| match path {
        b"" => Err("no such file".to_owned()),
        path => Ok(NamedFile { dev: 1, ino: path.len() as u64, mtime_ns: -1 }),
    };
    let parse = |text: &[u8]| Expression::parse(text, &ExpressionContext { now: &now, file: &file });
    let expression = match parse(data) {
        Ok(expression) => expression,
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= data.len(), "{error:?}");
            assert!(!error.problem.is_empty());
            return;
        }
    };
    // A deep expression cannot have more parentheses.
    let Ok(negation) = parse(&[b"not (", data, b")"].concat()) else { return };
    let is_decided = !data.to_ascii_lowercase().windows(5).any(|word| word == b"birth" || word == b"fstyp");
    if !is_decided {
        return;
    }
    let matching = listed(&Selection::builder().expression(expression.clone()));
    let other = listed(&Selection::builder().expression(negation));
    assert!(matching.is_disjoint(&other));
    let both: BTreeSet<_> = matching.union(&other).cloned().collect();
    // All patterns together may be too large, in the expression and in its negation.
    if Selection::builder().expression(expression.clone()).build().is_ok() {
        assert_eq!(both, listed(&Selection::builder()));
    }
    let left = listed(&Selection::builder().exclude_expression(expression));
    assert!(left.is_subset(&both));
}

/// Returns the paths that the selection matches, or none if it is refused.
fn listed(builder: &SelectionBuilder) -> BTreeSet<Vec<u8>> {
    let roots = [root()];
    let Ok(selection) = builder.clone().build_for(&Roots::new(&roots)) else { return BTreeSet::new() };
    let starts = roots.iter().map(|root| OsStr::from_bytes(root.as_bytes()));
    let parts = Walker::new(starts).threads(1).run(|_| Filtered::new(&selection, Paths::default()));
    parts.into_iter().flat_map(|part| part.into_parts().visitor.0).collect()
}

fn root() -> CString {
    TREE.with(|tree| CString::new(tree.path().as_os_str().as_bytes()).expect("no NUL"))
}

#[derive(Default)]
struct Paths(Vec<Vec<u8>>);

impl Visitor for Paths {
    type Dir = ();

    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.0.push(path);
        Step::Descend
    }

    fn error(&mut self, _error: WalkError) -> Step {
        Step::Next
    }
}

//! A selection by name and place, applied to the paths of a record.

use ftk_walk::FileType;

use crate::test::{Seen, Verdict};
use crate::{Rule, Selection, Used};

/// A [`Selection`] by name and place that is applied to paths without a walk, such as those of a record.
///
/// A path is skipped if a rule skips it or a directory above it. Rules about anything else than name, type and place match
/// nothing. What a rule matches is noted as in a walk.
#[derive(Debug)]
pub struct Placed {
    selection: Selection,
    /// The name of the starting point.
    root: Vec<u8>,
    used: Used,
    /// The directory that was skipped last.
    skipped: Vec<u8>,
}

impl Placed {
    /// Makes it of a selection for any starting points. `root`: the name of the starting point.
    pub fn new(selection: Selection, root: &[u8]) -> Self {
        let used = Used::new(&selection);
        Self { selection, root: root.to_vec(), used, skipped: Vec::new() }
    }

    /// Returns whether an entry is selected. `path` is the one below the starting point, whose own is empty.
    pub fn selects(&mut self, path: &[u8], file_type: FileType) -> bool {
        if self.skips(path, file_type) {
            return false;
        }
        let Self { selection, root, used, .. } = self;
        let seen = seen(path, file_type, root);
        if seen.depth < selection.min_depth || selection.test.decide(&seen) != Verdict::Yes {
            return false;
        }
        if used.has_unused_selecting() {
            for (first, node) in &selection.selecting {
                node.each_match(&seen, &mut |nth| used.mark(first + nth));
            }
        }
        true
    }

    /// Returns whether a rule skips an entry or a directory above it.
    pub fn skips(&mut self, path: &[u8], file_type: FileType) -> bool {
        let last = &self.skipped;
        if !last.is_empty() && path.starts_with(last) && path.get(last.len()) == Some(&b'/') {
            return true;
        }
        let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above = above.map(|(at, _)| (&path[..at], FileType::Directory));
        // A starting point is never skipped.
        for (path, file_type) in above.chain((!path.is_empty()).then_some((path, file_type))) {
            if self.skips_itself(path, file_type) {
                if file_type == FileType::Directory {
                    self.skipped = path.to_vec();
                }
                return true;
            }
        }
        false
    }

    fn skips_itself(&mut self, path: &[u8], file_type: FileType) -> bool {
        let Self { selection, root, used, .. } = self;
        let (seen, mut skips) = (seen(path, file_type, root), false);
        if selection.no_hidden && seen.name.starts_with(b".") || seen.depth > selection.max_depth {
            return true;
        }
        if let Some(excluded) = &selection.excluded {
            excluded.common().each_match(seen.name, path, file_type, &mut |glob| {
                skips = true;
                used.mark(glob);
            });
        }
        for (rule, (_, node)) in (selection.excluded_globs()..).zip(&selection.excluded_expressions) {
            if node.decide(&seen) == Verdict::Yes {
                skips = true;
                used.mark(rule);
            }
        }
        skips || selection.lists.skips(path, file_type == FileType::Directory).is_some()
    }

    /// Returns the rules, and which of them have matched.
    pub fn rules(&self) -> (&[Rule], &Used) {
        (self.selection.rules(), &self.used)
    }

    /// Returns the selection.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }
}

fn seen<'e>(path: &'e [u8], file_type: FileType, root: &'e [u8]) -> Seen<'e> {
    match path {
        [] => Seen::at(root, root, 0, file_type),
        path => {
            let slashes = path.iter().filter(|byte| **byte == b'/').count();
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            Seen::at(name, path, slashes as u32 + 1, file_type)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Expression, ExpressionContext, IgnoreFile, SelectionBuilder};

    const PATHS: [&str; 9] = ["", "a/", "a/b/", "a/b/c.o", "a/x", "b/", "b/c.o", "b/x", "c.o"];

    fn selected(builder: SelectionBuilder) -> (Vec<&'static str>, Vec<bool>) {
        let mut placed = Placed::new(builder.build().unwrap(), b"t");
        let paths = PATHS.into_iter().filter(|path| {
            let file_type =
                if path.is_empty() || path.ends_with('/') { FileType::Directory } else { FileType::Regular };
            placed.selects(path.trim_end_matches('/').as_bytes(), file_type)
        });
        let paths = paths.collect();
        let (rules, used) = placed.rules();
        (paths, (0..rules.len()).map(|rule| used.is_used(rule)).collect())
    }

    fn expression(text: &str) -> Expression {
        let context = ExpressionContext { now: &jiff::Zoned::now(), file: &|_| unreachable!() };
        Expression::parse(text.as_bytes(), &context).unwrap()
    }

    #[test]
    fn skipped_directories_hide_what_is_below_them() {
        let new = Selection::builder;
        for (builder, expected) in [
            (new().exclude("b"), &["", "a/", "a/x", "c.o"][..]),
            (new().exclude("b/"), &["", "a/", "a/x", "c.o"]),
            (new().exclude("x/"), &PATHS),
            (new().exclude("a/b"), &["", "a/", "a/x", "b/", "b/c.o", "b/x", "c.o"]),
            (new().exclude("*.o"), &["", "a/", "a/b/", "a/x", "b/", "b/x"]),
            (new().exclude("a").exclude("*.o"), &["", "b/", "b/x"]),
            (new().path("b/*"), &["b/c.o", "b/x"]),
            (new().path("b").path("a/*"), &["a/b/", "a/b/c.o", "a/x", "b/"]),
            (new().path("*.o").exclude("a"), &["b/c.o", "c.o"]),
            (new().max_depth(1), &["", "a/", "b/", "c.o"]),
            (new().min_depth(2), &["a/b/", "a/b/c.o", "a/x", "b/c.o", "b/x"]),
            (
                new().exclude_list(
                    "--exclude-from",
                    Vec::new(),
                    Arc::new(IgnoreFile::parse("/b/\n*.o\n!c.o\nx").unwrap()),
                ),
                &["", "a/", "a/b/", "a/b/c.o", "c.o"],
            ),
            (
                new().exclude_expression(expression("name = b and depth = 2")),
                &["", "a/", "a/x", "b/", "b/c.o", "b/x", "c.o"],
            ),
            (
                new().exclude_expression(expression("type = d and path = b")),
                &["", "a/", "a/b/", "a/b/c.o", "a/x", "c.o"],
            ),
            (new().expression(expression("type = f and depth < 2")), &["c.o"]),
            (new().expression(expression("name = t or extension = o")), &["", "a/b/c.o", "b/c.o", "c.o"]),
        ] {
            assert_eq!(selected(builder.clone()).0, expected, "{builder:?}");
        }
    }

    #[test]
    fn rules_that_match_are_noted() {
        let new = Selection::builder;
        assert_eq!(selected(new().exclude("b").exclude("z")).1, [true, false]);
        assert_eq!(selected(new().path("b/*").path("z")).1, [true, false]);
        let builder = new().exclude("z").exclude_expression(expression("name = b"));
        assert_eq!(selected(builder).1, [false, true]);
    }
}

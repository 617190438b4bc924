//! The compiled form of all filters: a tree of tests that asks for as little as possible.
//!
//! A test gives its [`Verdict`] from what the listing says, or tells what it needs. So an expression is first
//! decided by names alone. If that is not enough, one `statx` reads exactly the fields that the undecided
//! tests need. Tests with system calls of their own come last.

mod access;
mod attributes;
mod check;
mod compile;
mod empty;
mod known_ids;
mod mounts;
mod node;

use ftk_walk::{Doubt, Entry, Fields, FileType, Metadata};

use crate::Selection;

pub(crate) use node::Node;

/// What is known about an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'e> {
    /// The last name of a starting point, the name of any other entry.
    pub(crate) name: &'e [u8],
    /// The path below the starting point, if any test needs it. For a starting point the same as `name`.
    pub(crate) path: &'e [u8],
    /// Whether ignore files ignore the entry, if any test needs to know.
    pub(crate) is_ignored: bool,
    /// The number of the starting point.
    root: usize,
    file_type: FileType,
    /// What a record does not say about the type.
    doubt: Doubt,
    pub(crate) depth: u32,
    metadata: Option<&'e Metadata>,
}

impl<'e> Seen<'e> {
    /// What the rules of `selection`, which may number starting points differently than the walk, see of an entry.
    pub(crate) fn new(
        entry: &Entry<'_>,
        name: &'e [u8],
        path: &'e [u8],
        is_ignored: bool,
        selection: &Selection,
    ) -> Self {
        Self {
            name,
            path,
            is_ignored,
            root: selection.first_root + entry.root(),
            file_type: entry.file_type(),
            doubt: entry.record().map_or(Doubt::None, |record| record.doubt),
            depth: selection.base_depth() + entry.depth(),
            metadata: None,
        }
    }

    /// What is known of an entry by its place alone.
    pub(crate) fn at(name: &'e [u8], path: &'e [u8], depth: u32, file_type: FileType) -> Self {
        let doubt = Doubt::None;
        Self { name, path, is_ignored: false, root: 0, file_type, doubt, depth, metadata: None }
    }

    fn with<'m>(self, metadata: &'m Metadata) -> Seen<'m>
    where
        'e: 'm,
    {
        Seen { metadata: Some(metadata), ..self }
    }
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Yes,
    No,
    Needs(Needs),
}

/// What a test needs before it can decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) fields: Fields,
    /// Whether the test makes a system call of its own.
    pub(crate) calls: bool,
}

impl Verdict {
    /// The verdict of a test on these fields without metadata.
    fn fields(fields: Fields) -> Self {
        Self::Needs(Needs { fields, calls: false })
    }

    /// The verdict of a test that makes a system call.
    fn call() -> Self {
        Self::Needs(Needs { fields: Fields::NONE, calls: true })
    }
}

impl From<bool> for Verdict {
    fn from(matches: bool) -> Self {
        if matches { Self::Yes } else { Self::No }
    }
}

impl std::ops::BitOrAssign for Needs {
    fn bitor_assign(&mut self, other: Self) {
        self.fields |= other.fields;
        self.calls |= other.calls;
    }
}

#[cfg(test)]
mod tests;

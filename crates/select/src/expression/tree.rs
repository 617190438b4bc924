//! The tree of a parsed expression.

use std::ffi::CString;
use std::ops::Range;

use crate::bound::Bound;
use crate::glob::Pattern;
use crate::{Owner, Perm, Types};

/// An expression. Its depth is limited by the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    /// All must match. An empty list matches everything.
    All(Vec<Expr>),
    /// One must match. An empty list matches nothing.
    Any(Vec<Expr>),
    Not(Box<Expr>),
    Leaf(Leaf),
}

/// A term as it is written: `size <= 1K` is the negation of the term `size > 1K`, and `name in (a, b)` has two
/// terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Whether an entry must match none of the terms, instead of one.
    pub(crate) negated: bool,
    pub(crate) terms: Vec<Term>,
    /// The place in the text. Empty for an option of the command line.
    pub(crate) span: Range<usize>,
}

/// A test of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Name(Pattern),
    /// The pattern is for the path below the starting point, or begins with that.
    Path(Pattern),
    NameRegex(String),
    PathRegex(String),
    /// Without its dot.
    Extension(Box<[u8]>),
    Type(Types),
    Depth(Bound<u64>),
    Hidden,
    Ignored,
    Size(Bound<u64>),
    Links(Bound<u64>),
    /// In nanoseconds since the Unix epoch.
    Time(Stamp, Bound<i128>),
    Owner(Owner),
    Perm(Perm),
    /// Device and inode number.
    SameFile(u64, u64),
    FsType(Box<[u8]>),
    Empty,
    Readable,
    Writable,
    Executable,
    NoUser,
    NoGroup,
    /// The pattern is for the target of a symbolic link.
    Target(Pattern),
    Inode(Bound<u64>),
    /// The pattern is for the names of extended attributes.
    Attribute(Pattern),
    Capable,
    Broken,
    /// The name of an entry in a directory.
    Has(CString),
}

/// One of the times of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    Modified,
    Changed,
    Accessed,
    Born,
}

impl Expr {
    /// Returns the expression that one of these terms matches.
    pub(crate) fn any(terms: Vec<Term>) -> Self {
        Self::Leaf(Leaf { negated: false, terms, span: 0..0 })
    }

    /// Calls `visit` for every leaf, in order.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&Leaf)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Self::Not(part) => part.visit(visit),
            Self::Leaf(leaf) => visit(leaf),
        }
    }

    /// Returns whether a term satisfies `is_wanted`.
    pub(crate) fn has(&self, is_wanted: impl Fn(&Term) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |leaf| found |= leaf.terms.iter().any(&is_wanted));
        found
    }
}

impl Term {
    /// Returns whether the result stays the same when the file changes.
    pub(crate) fn is_about_place(&self) -> bool {
        match self {
            Self::Name(_)
            | Self::Path(_)
            | Self::NameRegex(_)
            | Self::PathRegex(_)
            | Self::Extension(_)
            | Self::Type(_)
            | Self::Depth(_)
            | Self::Hidden
            | Self::Ignored => true,
            Self::Size(_)
            | Self::Links(_)
            | Self::Time(..)
            | Self::Owner(_)
            | Self::Perm(_)
            | Self::SameFile(..)
            | Self::FsType(_)
            | Self::Empty
            | Self::Readable
            | Self::Writable
            | Self::Executable
            | Self::NoUser
            | Self::NoGroup
            | Self::Target(_)
            | Self::Inode(_)
            | Self::Attribute(_)
            | Self::Capable
            | Self::Broken
            | Self::Has(_) => false,
        }
    }

    /// Returns whether the test needs the path below the starting point.
    pub(crate) fn needs_path(&self) -> bool {
        matches!(self, Self::Path(_) | Self::PathRegex(_) | Self::Ignored)
    }
}

//! Compiles expressions to trees of tests.

use std::mem;

use rustix::fs::Access;

use super::Node;
use super::check::Test;
use super::known_ids::{Ids, KnownIds};
use super::mounts::Mounts;
use crate::PatternError;
use crate::expression::{Expr, Leaf, Term};
use crate::extensions::Extensions;
use crate::glob::{Globs, Pattern};
use crate::paths::{Paths, compile_regexes};
use crate::roots::Roots;

impl Node {
    /// Compiles an expression. Names, paths, regular expressions and extensions that are alternatives become
    /// one test.
    ///
    /// # Errors
    /// If a pattern is invalid, or patterns are too large together.
    pub(crate) fn compile(expr: &Expr, roots: &Roots<'_>) -> Result<Self, PatternError> {
        Ok(match expr {
            Expr::All(parts) => {
                let mut nodes = Vec::with_capacity(parts.len());
                for part in parts {
                    nodes.push(Self::compile(part, roots)?);
                }
                Self::all(nodes)
            }
            Expr::Any(parts) => {
                let mut alternatives = Alternatives::default();
                parts.iter().try_for_each(|part| alternatives.add(part, roots))?;
                alternatives.compile(roots)?
            }
            Expr::Not(part) => Self::Not(Box::new(Self::compile(part, roots)?)),
            Expr::Leaf(leaf) => {
                let mut alternatives = Alternatives::default();
                leaf.terms.iter().for_each(|term| alternatives.add_term(term));
                let node = alternatives.compile(roots)?;
                if leaf.negated { Self::Not(Box::new(node)) } else { node }
            }
        })
    }

    /// Makes a node that matches if all of these match. Without any, it matches everything.
    pub(crate) fn all(nodes: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for node in nodes {
            // `(a and b) and c` is one list.
            match node {
                Self::All(inner) => all.extend(inner),
                node => all.push(node),
            }
        }
        sorted(all, Self::All)
    }

    fn cost(&self) -> u8 {
        match self {
            Self::Test(test) => test.cost(),
            Self::Not(part) => part.cost(),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::cost).max().unwrap_or(0),
        }
    }
}

fn sorted(mut nodes: Vec<Node>, many: fn(Box<[Node]>) -> Node) -> Node {
    if nodes.len() == 1 {
        return nodes.remove(0);
    }
    nodes.sort_by_key(Node::cost);
    many(nodes.into())
}

/// Alternatives, sorted by kind.
#[derive(Default)]
struct Alternatives<'e> {
    names: Vec<&'e Pattern>,
    paths: Vec<&'e Pattern>,
    name_regexes: Vec<&'e str>,
    path_regexes: Vec<&'e str>,
    targets: Vec<&'e Pattern>,
    attributes: Vec<&'e Pattern>,
    extensions: Extensions,
    nodes: Vec<Node>,
}

impl<'e> Alternatives<'e> {
    fn add(&mut self, expr: &'e Expr, roots: &Roots<'_>) -> Result<(), PatternError> {
        match expr {
            Expr::Leaf(Leaf { negated: false, terms, .. }) => {
                terms.iter().for_each(|term| self.add_term(term));
            }
            Expr::Any(parts) => parts.iter().try_for_each(|part| self.add(part, roots))?,
            other => self.nodes.push(Node::compile(other, roots)?),
        }
        Ok(())
    }

    fn add_term(&mut self, term: &'e Term) {
        let test = match term {
            Term::Name(pattern) => return self.names.push(pattern),
            Term::Path(pattern) => return self.paths.push(pattern),
            Term::NameRegex(regex) => return self.name_regexes.push(regex),
            Term::PathRegex(regex) => return self.path_regexes.push(regex),
            Term::Extension(extension) => return self.extensions.push(extension),
            Term::Type(types) => Test::Type(*types),
            Term::Depth(bound) => Test::Depth(*bound),
            Term::Hidden => Test::Hidden,
            Term::Ignored => Test::Ignored,
            Term::Size(bound) => Test::Size(*bound),
            Term::Links(bound) => Test::Links(*bound),
            Term::Time(stamp, bound) => Test::Time(*stamp, *bound),
            Term::Owner(owner) => Test::Owner(*owner),
            Term::Perm(perm) => Test::Perm(*perm),
            Term::SameFile(dev, ino) => Test::SameFile(*dev, *ino),
            Term::FsType(wanted) => Test::FsType(Mounts::new(wanted)),
            Term::Empty => Test::Empty,
            Term::Readable => Test::Access(Access::READ_OK),
            Term::Writable => Test::Access(Access::WRITE_OK),
            Term::Executable => Test::Access(Access::EXEC_OK),
            Term::NoUser => Test::Unnamed(Ids::Users, KnownIds::default()),
            Term::NoGroup => Test::Unnamed(Ids::Groups, KnownIds::default()),
            Term::Target(pattern) => return self.targets.push(pattern),
            Term::Inode(bound) => Test::Inode(*bound),
            Term::Attribute(pattern) => return self.attributes.push(pattern),
            Term::Capable => Test::Capable,
            Term::Broken => Test::Broken,
            Term::Has(name) => Test::Has(name.clone()),
        };
        self.nodes.push(Node::Test(test));
    }

    fn compile(mut self, roots: &Roots<'_>) -> Result<Node, PatternError> {
        let mut nodes = mem::take(&mut self.nodes);
        if !self.extensions.is_empty() {
            nodes.push(Node::Test(Test::Extension(self.extensions)));
        }
        if !self.names.is_empty() {
            nodes.push(Node::Test(Test::Name(Globs::new(self.names)?)));
        }
        if !self.paths.is_empty() {
            nodes.push(Node::Test(Test::Path(Box::new(Paths::new(&self.paths, roots)?))));
        }
        if !self.name_regexes.is_empty() {
            nodes.push(Node::Test(Test::NameRegex(compile_regexes(&self.name_regexes)?)));
        }
        if !self.path_regexes.is_empty() {
            nodes.push(Node::Test(Test::PathRegex(compile_regexes(&self.path_regexes)?)));
        }
        if !self.targets.is_empty() {
            nodes.push(Node::Test(Test::Target(Globs::new(self.targets)?)));
        }
        if !self.attributes.is_empty() {
            nodes.push(Node::Test(Test::Attribute(Globs::new(self.attributes)?)));
        }
        Ok(sorted(nodes, Node::Any))
    }
}

//! Writes terms as text that has the same meaning.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter, Write as _};

use super::{Leaf, Stamp, Term};
use crate::bound::Bound;

impl Display for Leaf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_group = self.negated && self.terms.len() > 1;
        f.write_str(if self.negated { "not " } else { "" })?;
        f.write_str(if is_group { "(" } else { "" })?;
        for (nth, term) in self.terms.iter().enumerate() {
            write!(f, "{}{term}", if nth > 0 { " or " } else { "" })?;
        }
        f.write_str(if is_group { ")" } else { "" })
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(pattern) if pattern.ignore_case => write!(f, "iname = {}", Quoted(&pattern.glob)),
            Self::Name(pattern) => write!(f, "name = {}", Quoted(&pattern.glob)),
            Self::Path(pattern) => write!(f, "path = {}", Quoted(&pattern.glob)),
            Self::NameRegex(regex) => write!(f, "name ~ {}", Quoted(regex.as_bytes())),
            Self::PathRegex(regex) => write!(f, "path ~ {}", Quoted(regex.as_bytes())),
            Self::Extension(extension) => write!(f, "extension = {}", Quoted(extension)),
            Self::Type(types) => write!(f, "type = \"{types}\""),
            Self::Depth(bound) => write!(f, "depth {bound}"),
            Self::Hidden => f.write_str("hidden"),
            Self::Ignored => f.write_str("ignored"),
            Self::Size(bound) => write!(f, "size {bound}"),
            Self::Links(bound) => write!(f, "links {bound}"),
            Self::Time(stamp, Bound { ordering, value }) => {
                let sign = if *value < 0 { "-" } else { "" };
                let ns = value.unsigned_abs();
                let (seconds, part) = (ns / 1_000_000_000, ns % 1_000_000_000);
                write!(f, "{stamp} {} @{sign}{seconds}.{part:09}", operator(*ordering))
            }
            Self::Owner(owner) => write!(f, "owner = \"{owner}\""),
            Self::Perm(perm) => write!(f, "perm = {}", Quoted(perm.to_string().as_bytes())),
            Self::SameFile(dev, ino) => write!(f, "samefile as inode {ino} of device {dev}"),
            Self::FsType(wanted) => write!(f, "fstype = {}", Quoted(wanted)),
            Self::Empty => f.write_str("empty"),
            Self::Readable => f.write_str("readable"),
            Self::Writable => f.write_str("writable"),
            Self::Executable => f.write_str("executable"),
            Self::NoUser => f.write_str("nouser"),
            Self::NoGroup => f.write_str("nogroup"),
            Self::Target(pattern) => write!(f, "target = {}", Quoted(&pattern.glob)),
            Self::Inode(bound) => write!(f, "inode {bound}"),
            Self::Attribute(pattern) => write!(f, "xattr = {}", Quoted(&pattern.glob)),
            Self::Capable => f.write_str("capable"),
            Self::Broken => f.write_str("broken"),
            Self::Has(name) => write!(f, "has = {}", Quoted(name.as_bytes())),
        }
    }
}

impl Display for Stamp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modified => "mtime",
            Self::Changed => "ctime",
            Self::Accessed => "atime",
            Self::Born => "birth",
        })
    }
}

impl<T: Display> Display for Bound<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", operator(self.ordering), self.value)
    }
}

fn operator(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::Less => "<",
        Ordering::Equal => "=",
        Ordering::Greater => ">",
    }
}

/// A value in quotes. Other backslashes than those before quotes and backslashes belong to the value.
struct Quoted<'q>(&'q [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    c if c.is_ascii_control() => write!(f, "\\x{:02x}", u32::from(c))?,
                    c => f.write_char(c)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}

//! All parts of a tree, checked to be complete.

use std::collections::BTreeMap;
use std::fmt;

use crate::shard::{Shard, Split};
use crate::{Error, Header, Manifest};

/// The manifests of all shards of a tree, each once.
#[derive(Debug)]
pub struct Parts {
    /// In the order of their numbers.
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    manifest: Manifest,
    shard: Shard,
    /// Its index among the manifests that were given.
    given: usize,
}

/// Why parts cannot be merged. Parts are named by their index among those given.
#[derive(Debug)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no parts.
    Nothing,
    /// This manifest records a whole tree.
    Whole(usize),
    /// Two parts do not belong together, because this differs.
    Differ(usize, usize, &'static str),
    /// Two parts record the same shard of this number.
    Twice(usize, usize, u32),
    /// The parts of these shards are missing.
    Missing {
        /// The numbers of the shards, ascending.
        numbers: Vec<u32>,
        /// The number of all shards.
        of: u32,
    },
    /// The ranges of two successive parts overlap, or have a gap between them.
    Ranges(usize, usize),
    /// A part cannot be read, or has an entry of another shard.
    Input(Error),
    /// The output cannot be written.
    Output(std::io::Error),
}

impl Parts {
    /// Checks that these are the manifests of all shards of a tree, in any order, with the same algorithms and options.
    ///
    /// # Errors
    /// If they are not.
    pub fn new(manifests: Vec<Manifest>) -> Result<Self, MergeError> {
        let mut parts = BTreeMap::<u32, Part>::new();
        for (given, manifest) in manifests.into_iter().enumerate() {
            let shard = manifest.header().shard.clone().ok_or(MergeError::Whole(given))?;
            if let Some(first) = parts.values().next()
                && let Some(what) = difference(first.manifest.header(), manifest.header())
            {
                return Err(MergeError::Differ(first.given, given, what));
            }
            let number = shard.number;
            if let Some(twice) = parts.insert(number, Part { manifest, shard, given }) {
                return Err(MergeError::Twice(twice.given, given, number));
            }
        }
        let of = parts.values().next().ok_or(MergeError::Nothing)?.shard.of;
        if parts.len() < of as usize {
            let numbers = (1..=of).filter(|number| !parts.contains_key(number)).collect();
            return Err(MergeError::Missing { numbers, of });
        }
        let parts: Vec<_> = parts.into_values().collect();
        for pair in parts.windows(2) {
            if let [Split::Plan { range, .. }, Split::Plan { range: next, .. }] =
                [&pair[0].shard.split, &pair[1].shard.split]
                && range.to() != next.from()
            {
                return Err(MergeError::Ranges(pair[0].given, pair[1].given));
            }
        }
        Ok(Self { parts })
    }

    /// Returns the header of the whole manifest. It starts when the first part started, and has the attributes that only
    /// root sees if all parts have them.
    pub fn header(&self) -> Header {
        let headers = || self.parts.iter().map(|part| part.manifest.header());
        let start_ns = headers().map(|header| header.start_ns).min().expect("there are parts");
        let trusted_xattrs = headers().all(|header| header.trusted_xattrs);
        Header { start_ns, trusted_xattrs, shard: None, ..self.parts[0].manifest.header().clone() }
    }

    /// Returns all parts as one manifest, without joining them in a file. `names` are those of the parts in errors, in the
    /// order in which the parts were given.
    ///
    /// The entries are read from the parts in each pass, and memory use depends only on the number of parts. Directories
    /// that several shards share have no tree digests, unlike in the manifest that [`merge`](Manifest::merge) writes.
    ///
    /// # Panics
    /// If there are fewer names than parts.
    pub fn into_manifest(self, names: &[Vec<u8>]) -> Manifest {
        let header = self.header();
        Manifest::join(self.parts.into_iter().map(|part| (names[part.given].clone(), part.manifest)), header)
    }

    /// Returns the parts in the order of their shards, each with its index among those that were given.
    pub fn into_parts(self) -> impl Iterator<Item = (usize, Manifest)> {
        self.parts.into_iter().map(|part| (part.given, part.manifest))
    }
}

impl Header {
    /// Returns whether both are headers of the same shard of one tree, with the same options and algorithms. One may then
    /// replace the other.
    pub fn is_same_part(&self, other: &Self) -> bool {
        let (Some(own), Some(its)) = (&self.shard, &other.shard) else { return false };
        own.is_same(its) && difference(self, other).is_none()
    }
}

/// Returns what differs between two parts that does not differ between parts of one tree.
fn difference(a: &Header, b: &Header) -> Option<&'static str> {
    let (first, second) = (a.shard.as_ref()?, b.shard.as_ref()?);
    let is_one_plan = match (&first.split, &second.split) {
        (Split::Plan { digest, .. }, Split::Plan { digest: other, .. }) => digest == other,
        // A plan is for one directory, which may have other paths on other hosts.
        (Split::Hash, Split::Hash) if !is_same_root(a, b) => return Some("roots"),
        (Split::Hash, Split::Hash) => true,
        _ => false,
    };
    let differences = [
        (first.of != second.of, "numbers of shards"),
        (!is_one_plan, "plans"),
        (a.algorithms != b.algorithms, "algorithms"),
        (a.options != b.options, "options"),
        (a.xattrs != b.xattrs, "settings of --no-xattrs"),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

/// Returns whether two parts that were made without a plan may be of one directory.
fn is_same_root(a: &Header, b: &Header) -> bool {
    let identity = |header: &Header| header.shard.as_ref().and_then(|shard| shard.root);
    match (identity(a), identity(b)) {
        (Some(identity), Some(other)) => identity == other,
        _ => a.root == b.root,
    }
}

impl MergeError {
    /// Returns the indices of the parts that the error is about.
    pub fn given(&self) -> Vec<usize> {
        match self {
            Self::Whole(part) => vec![*part],
            Self::Differ(a, b, _) | Self::Twice(a, b, _) | Self::Ranges(a, b) => vec![*a, *b],
            Self::Nothing | Self::Missing { .. } | Self::Input(_) | Self::Output(_) => Vec::new(),
        }
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("there are no parts"),
            Self::Whole(_) => f.write_str("it records a whole tree, and is not a part"),
            Self::Differ(_, _, what) => write!(f, "not parts of one tree: they have different {what}"),
            Self::Twice(_, _, number) => write!(f, "both are shard {number}"),
            Self::Missing { numbers, of } => {
                const MOST: usize = 20;
                let shown: Vec<_> = numbers.iter().take(MOST).map(u32::to_string).collect();
                let more = numbers.len().saturating_sub(MOST);
                write!(f, "{} of {of} shards are missing: {}", numbers.len(), shown.join(", "))?;
                if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
            }
            Self::Ranges(..) => f.write_str("their ranges overlap, or have a gap between them"),
            Self::Input(error) => error.fmt(f),
            Self::Output(_) => f.write_str("cannot be written"),
        }
    }
}

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => error.source(),
            Self::Output(error) => Some(error),
            _ => None,
        }
    }
}

//! All parts of a tree, checked to be complete.

use std::collections::BTreeMap;
use std::fmt;

use ftk_record::quote;

use crate::entry::key;
use crate::shard::changes::listed_since;
use crate::shard::{Changes, Meanwhile, Place, Shard, Split};
use crate::{Error, Failed, Header, Manifest, Mount, OtherRoot, Provenance};

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
    /// The runs of the first and of the last part began this many nanoseconds apart.
    Span(usize, usize, i128),
    /// A file system was mounted at this path for the first part, and not for the second.
    Mount(usize, usize, Vec<u8>),
    /// Different file systems were mounted at this path.
    OtherMount(usize, usize, Vec<u8>, OtherRoot),
    /// A part cannot be read, or has an entry of another shard.
    Input(Error),
    /// The output cannot be written.
    Output(std::io::Error),
}

impl Parts {
    /// How many nanoseconds after the first part the last one may begin, unless the user says otherwise: 12 hours. Parts of
    /// a run of another day are too old.
    pub const MAX_SPAN_NS: i128 = 12 * 3600 * 1_000_000_000;

    /// Checks that these are the manifests of all shards of a tree, in any order: of the same root, with the same file
    /// systems mounted below it, with the same algorithms and options, and begun within `max_span_ns`.
    ///
    /// # Errors
    /// If they are not.
    pub fn new(manifests: Vec<Manifest>, max_span_ns: i128) -> Result<Self, MergeError> {
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
        let whole = Self { parts };
        whole.check_times(max_span_ns)?;
        whole.check_mounts()?;
        Ok(whole)
    }

    fn check_times(&self, max_span_ns: i128) -> Result<(), MergeError> {
        let start_ns = |part: &&Part| part.manifest.header().start_ns;
        let first = self.parts.iter().min_by_key(start_ns).expect("there are parts");
        let last = self.parts.iter().max_by_key(start_ns).expect("there are parts");
        let span_ns = start_ns(&last).saturating_sub(start_ns(&first));
        if span_ns > max_span_ns {
            return Err(MergeError::Span(first.given, last.given, span_ns));
        }
        Ok(())
    }

    /// Checks that all parts that listed a directory saw the same file system there, or none.
    fn check_mounts(&self) -> Result<(), MergeError> {
        let mut seen = BTreeMap::<&[u8], (&Part, &Mount)>::new();
        for part in &self.parts {
            for mount in &part.manifest.header().mounts {
                let (first, known) = seen.entry(key(mount.path())).or_insert((part, mount));
                if let Some(why) = known.difference(mount) {
                    return Err(MergeError::OtherMount(first.given, part.given, mount.path().to_vec(), why));
                }
                if matches!(known, Mount::Named(_)) {
                    (*first, *known) = (part, mount);
                }
            }
        }
        for (path, (part, _)) in seen {
            let lacks = |other: &&Part| {
                let header = other.manifest.header();
                other.shard.place(path) != Place::Outside
                    && header.mounts.binary_search_by_key(&path, |mount| key(mount.path())).is_err()
                    && !header.failed.covers(path)
            };
            if let Some(other) = self.parts.iter().find(lacks) {
                return Err(MergeError::Mount(part.given, other.given, path.to_vec()));
            }
        }
        Ok(())
    }

    /// Returns the header of the whole manifest. It starts when the first part started, has the attributes that only root
    /// sees if all parts have them, and what any part could not read.
    pub fn header(&self) -> Header {
        let headers = || self.parts.iter().map(|part| part.manifest.header());
        let start_ns = headers().map(|header| header.start_ns).min().expect("there are parts");
        let trusted_xattrs = headers().all(|header| header.trusted_xattrs);
        let failed = Failed::union(headers().map(|header| &header.failed));
        let mounts = Mount::sorted(headers().flat_map(|header| header.mounts.iter().cloned()).collect());
        let first = self.parts[0].manifest.header().clone();
        let provenance = Provenance::of_parts(headers().map(|it| (&it.provenance, it.start_ns)));
        Header { start_ns, trusted_xattrs, failed, mounts, shard: None, provenance, ..first }
    }

    /// Returns which directories changed after the first shard began, as far as the headers of the parts say. A
    /// [merge](Manifest::merge) also reads the lines of directories.
    pub fn changes(&self) -> Changes {
        let start_ns = self.parts.iter().map(|part| part.manifest.header().start_ns).min();
        let shards = self.parts.iter().map(|part| &part.shard);
        let (dirs, may_be_more) = listed_since(shards, start_ns.expect("there are parts"));
        let mut changes = Changes { may_be_more, ..Changes::default() };
        dirs.into_iter().for_each(|dir| changes.add(dir));
        changes
    }

    /// Returns what notes which entries were renamed meanwhile. Each part can be read with a clone of it.
    pub fn meanwhile(&self) -> Meanwhile {
        Meanwhile::new(self.parts.iter().map(|part| &part.shard), self.header().start_ns)
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
        (Split::Hash, Split::Hash) => true,
        _ => false,
    };
    let is_one_root = match (&a.root_identity, &b.root_identity) {
        (Some(one), Some(other)) => one.difference(other).is_none(),
        // Older parts with a plan are of its root, which may have other paths on other hosts.
        (None, None) => matches!(first.split, Split::Plan { .. }) || a.root == b.root,
        _ => false,
    };
    let differences = [
        (first.of != second.of, "numbers of shards"),
        (!is_one_plan, "plans"),
        (!is_one_root, "roots (was the right file system mounted on each host?)"),
        (a.algorithms != b.algorithms, "algorithms"),
        (a.options != b.options, "options"),
        (a.xattrs != b.xattrs, "settings of --no-xattrs"),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

impl MergeError {
    /// Returns the indices of the parts that the error is about.
    pub fn given(&self) -> Vec<usize> {
        match self {
            Self::Whole(part) => vec![*part],
            Self::Differ(a, b, _)
            | Self::Twice(a, b, _)
            | Self::Ranges(a, b)
            | Self::Span(a, b, _)
            | Self::Mount(a, b, _)
            | Self::OtherMount(a, b, ..) => vec![*a, *b],
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
            Self::Span(_, _, span_ns) => {
                let minutes = span_ns / (60 * 1_000_000_000);
                let (hours, minutes) = (minutes / 60, minutes % 60);
                write!(f, "not parts of one run: the second began {hours} h {minutes} min after the first")?;
                f.write_str(" (record its shard again, or merge with --max-span)")
            }
            Self::Mount(_, _, path) => write!(
                f,
                "a file system was mounted at {} for the first, and not for the second (record its shard again)",
                quote(path)
            ),
            Self::OtherMount(_, _, path, why) => write!(
                f,
                "different file systems were mounted at {}: {why} (record the shard of the wrong one again)",
                quote(path)
            ),
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

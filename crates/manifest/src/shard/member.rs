//! The member `shard` of a header: which part of a tree a manifest records.

use ftk_hash::Algorithm;
use ftk_record::{Object, PathError, path_member, read_path};
use serde::{Deserialize, Serialize, Serializer};

use crate::entry::{ROOT, key};
use crate::parse::check_path;
use crate::shard::{PathRange, Place};
use crate::text::Text;

/// One of several parts into which a tree is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 1 to `of`.
    pub number: u32,
    /// The number of shards.
    pub of: u32,
    /// How the entries are assigned to shards.
    pub split: Split,
    /// Directories that are listed for several shards, and of which this manifest lacks an entry that belongs to it:
    /// something could not be read, or an option skipped it. Sorted, without duplicates. These directories have no tree
    /// digest in the merged manifest.
    pub incomplete: Vec<Vec<u8>>,
    /// Directories that the run listed, sorted, with their mtime when they were opened: all that changed since
    /// [`listed_since_ns`](Self::listed_since_ns).
    pub listed: Vec<(Vec<u8>, i128)>,
    /// `None` if nothing was listed yet.
    pub listed_since_ns: Option<i128>,
}

/// How the entries of a tree are assigned to shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// By ranges of paths.
    Plan {
        /// The SHA-256 of the whole plan, in lower-case hexadecimal digits.
        digest: String,
        /// The range of this shard.
        range: PathRange,
    },
    /// By a hash of the path of the directory that contains them: XXH3 (64 bits) modulo the number of shards. The root
    /// and its entries belong to the first shard.
    Hash,
}

impl Shard {
    /// The most shards of a tree.
    pub const MOST: u32 = 1 << 20;

    /// Creates shard `number` of `of` shards without a plan.
    ///
    /// # Panics
    /// If `number` is not from 1 to `of`, or there are more than [`MOST`](Self::MOST).
    pub fn hashed(number: u32, of: u32) -> Self {
        assert!((1..=of).contains(&number) && of <= Self::MOST, "shard {number} of {of}");
        Self {
            number,
            of,
            split: Split::Hash,
            incomplete: Vec::new(),
            listed: Vec::new(),
            listed_since_ns: None,
        }
    }

    /// Returns whether the entry at `path` belongs to the shard. Each path belongs to exactly one.
    pub fn contains(&self, path: &[u8]) -> bool {
        match &self.split {
            Split::Plan { range, .. } => range.contains(path),
            Split::Hash => self.has_entries_of(parent(path)),
        }
    }

    /// Returns how the entries below the directory `dir` lie relative to the shard.
    pub fn place(&self, dir: &[u8]) -> Place {
        match &self.split {
            Split::Plan { range, .. } => range.place(dir),
            Split::Hash if self.of == 1 => Place::Inside,
            Split::Hash => Place::Crossing,
        }
    }

    /// Returns whether the shard has entries below the directory `dir`, and another shard has `dir` itself or others of
    /// its entries. Then no shard alone knows whether everything below it is recorded.
    pub fn shares(&self, dir: &[u8]) -> bool {
        match self.place(dir) {
            Place::Inside => !self.contains(dir),
            Place::Crossing => true,
            Place::Outside => false,
        }
    }

    /// Returns whether entries in the directory `dir` may belong to the shard.
    pub fn has_entries_of(&self, dir: &[u8]) -> bool {
        match &self.split {
            Split::Plan { range, .. } => range.place(dir) != Place::Outside,
            Split::Hash => self.number == number_of(dir, self.of),
        }
    }

    /// Forgets which directories had changed before `ns`.
    pub(crate) fn forget_changes_before(&mut self, ns: i128) {
        self.listed.retain(|(_, mtime_ns)| *mtime_ns >= ns);
        self.listed.shrink_to_fit();
        self.listed_since_ns = self.listed_since_ns.max(Some(ns));
    }

    /// Returns whether both are the same shard of the same plan, or of the same number of shards without a plan.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.number, self.of, &self.split) == (other.number, other.of, &other.split)
    }
}

/// Returns the directory that contains the entry at `path`.
pub(crate) fn parent(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(ROOT, |at| &path[..at])
}

/// Returns the number of the shard to which the entries of a directory belong.
fn number_of(dir: &[u8], of: u32) -> u32 {
    if dir == ROOT {
        return 1;
    }
    let digest = Algorithm::Xxh3.hash_one(dir);
    let hash = u64::from_be_bytes(*digest.as_bytes().first_chunk().expect("XXH3 has 64 bits"));
    (hash % u64::from(of)) as u32 + 1
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("number", &self.number)?;
        map.serialize_entry("of", &self.of)?;
        if let Split::Plan { digest, range } = &self.split {
            map.serialize_entry("plan", digest)?;
            for (name, path) in [("from", range.from()), ("to", range.to())] {
                if let Some(path) = path {
                    let (name, path) = path_member(name, path);
                    map.serialize_entry(&name, &path)?;
                }
            }
        }
        if !self.incomplete.is_empty() {
            let paths: Vec<_> = self.incomplete.iter().map(|path| PathObject(path)).collect();
            map.serialize_entry("incomplete", &paths)?;
        }
        if !self.listed.is_empty() {
            let listed: Vec<_> = self.listed.iter().map(|(path, time)| ListedObject(path, *time)).collect();
            map.serialize_entry("listed", &listed)?;
        }
        if let Some(since_ns) = &self.listed_since_ns {
            map.serialize_entry("listed_since_ns", since_ns)?;
        }
        map.end()
    }
}

/// An object with one path.
struct PathObject<'p>(&'p [u8]);

impl Serialize for PathObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([path_member("path", self.0)])
    }
}

/// An object with one path and a time.
struct ListedObject<'p>(&'p [u8], i128);

impl Serialize for ListedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;

        let mut map = serializer.serialize_map(None)?;
        let (name, path) = path_member("path", self.0);
        map.serialize_entry(&name, &path)?;
        map.serialize_entry("mtime_ns", &self.1)?;
        map.end()
    }
}

/// The member as it is written.
#[derive(Deserialize)]
pub(crate) struct ShardLine<'l> {
    number: u32,
    of: u32,
    #[serde(borrow)]
    plan: Option<Text<'l>>,
    #[serde(borrow)]
    from: Option<Text<'l>>,
    #[serde(borrow)]
    from_b64: Option<Text<'l>>,
    #[serde(borrow)]
    to: Option<Text<'l>>,
    #[serde(borrow)]
    to_b64: Option<Text<'l>>,
    #[serde(borrow)]
    incomplete: Option<Vec<Object<PathLine<'l>>>>,
    #[serde(borrow)]
    listed: Option<Vec<Object<ListedLine<'l>>>>,
    listed_since_ns: Option<i128>,
    /// Only in version 2.
    #[serde(borrow)]
    failed: Option<Vec<Object<PathLine<'l>>>>,
}

#[derive(Deserialize)]
pub(crate) struct PathLine<'l> {
    #[serde(borrow)]
    path: Option<Text<'l>>,
    #[serde(borrow)]
    path_b64: Option<Text<'l>>,
}

#[derive(Deserialize)]
struct ListedLine<'l> {
    #[serde(borrow)]
    path: Option<Text<'l>>,
    #[serde(borrow)]
    path_b64: Option<Text<'l>>,
    mtime_ns: i128,
}

impl ShardLine<'_> {
    /// Returns the shard of a run that began at `start_ns`, or what is wrong with it.
    pub(crate) fn read(&self, start_ns: i128) -> Result<Shard, String> {
        let &Self { number, of, .. } = self;
        if !(1..=of).contains(&number) || of > Shard::MOST {
            return Err(format!("there is no shard {number} of {of}"));
        }
        let from = cut(&self.from, &self.from_b64)?;
        let to = cut(&self.to, &self.to_b64)?;
        let split = match &self.plan {
            Some(digest) if is_digest(digest) => {
                if from.is_none() != (number == 1) || to.is_none() != (number == of) {
                    return Err(format!("the range is not that of shard {number} of {of}"));
                }
                if from.as_ref().zip(to.as_ref()).is_some_and(|(from, to)| from > to) {
                    return Err("the range ends before it starts".into());
                }
                let range = PathRange::new(from.as_deref(), to.as_deref());
                Split::Plan { digest: digest.to_string(), range }
            }
            Some(digest) => return Err(format!("{:?} is not the SHA-256 of a plan", &**digest)),
            None if from.is_some() || to.is_some() => return Err("it has a range without a plan".into()),
            None => Split::Hash,
        };
        let listed = self.listed.iter().flatten().map(|Object(it)| {
            let found = path(&it.path, &it.path_b64)?;
            Ok((found.ok_or_else(|| PathError::Missing.to_string())?, it.mtime_ns))
        });
        let listed = listed.collect::<Result<Vec<_>, String>>()?;
        // Older versions listed the changes of 7 days.
        const OLDER_NS: i128 = 7 * 24 * 3600 * 1_000_000_000;
        let listed_since_ns = Some(self.listed_since_ns.unwrap_or(start_ns.saturating_sub(OLDER_NS)));
        Ok(Shard { number, of, split, incomplete: paths(&self.incomplete)?, listed, listed_since_ns })
    }

    /// Returns the paths that the run could not read, which only parts of version 2 have here.
    pub(crate) fn failed(&self) -> Result<Vec<Vec<u8>>, String> {
        paths(&self.failed)
    }
}

/// Returns the paths of a sorted list.
pub(crate) fn paths(list: &Option<Vec<Object<PathLine<'_>>>>) -> Result<Vec<Vec<u8>>, String> {
    let paths = list.iter().flatten().map(|Object(it)| {
        let found = path(&it.path, &it.path_b64)?;
        found.ok_or_else(|| PathError::Missing.to_string())
    });
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let is_sorted = paths.is_sorted_by(|a, b| key(a) < key(b));
    if is_sorted { Ok(paths) } else { Err("the paths of a list are not sorted".into()) }
}

/// Returns a bound of a range, if it is given.
pub(crate) fn cut(text: &Option<Text<'_>>, b64: &Option<Text<'_>>) -> Result<Option<Vec<u8>>, String> {
    let cut = path(text, b64)?;
    if cut.as_deref() == Some(ROOT) {
        Err("a range starts at or ends before the root".into())
    } else {
        Ok(cut)
    }
}

/// Returns a path below the root, if it is given.
pub(crate) fn path(text: &Option<Text<'_>>, b64: &Option<Text<'_>>) -> Result<Option<Vec<u8>>, String> {
    match read_path(text.as_deref(), b64.as_deref()) {
        Err(PathError::Missing) => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(path) => {
            check_path(&path).map_err(|error| error.to_string())?;
            Ok(Some(path.into_owned()))
        }
    }
}

/// Returns whether a text has the form of a SHA-256.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

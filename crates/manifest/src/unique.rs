//! Contents that only one of two manifests has.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, OpenDirs};

use crate::common::{Common, range};
use crate::entry::key;
use crate::keys::Keys;
use crate::merge::Side as _;
use crate::{Entry, Error, Header, Manifest, Which};

/// Passes to `each`, in path order, the regular files of `of` whose content is not in `elsewhere` under any
/// name, and returns how many there are.
///
/// Contents are the same if all common digests are equal, and so are their sizes if both are known. Each file and
/// directory of `elsewhere` uses 24 bytes of memory and its common digests. The entries below a directory of `of` are
/// not read if some directory of `elsewhere` has equal tree digests.
///
/// # Errors
/// When a manifest cannot be read or has an invalid line, when the two manifests have no algorithm in common
/// that identifies contents, or when the contents of `elsewhere` do not fit into the budget.
pub fn unique(
    of: &Manifest,
    elsewhere: &Manifest,
    budget: &Budget,
    each: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<u64, Error> {
    let common = Common::of(of.header(), elsewhere.header())?;
    if !common.identifies_content() {
        let [old, new] = [of, elsewhere].map(|manifest| manifest.header().algorithms.clone());
        return Err(Error::NoCommonAlgorithm { old, new });
    }
    let (mut keys, mut trees) = (Keys::new(common.len(), budget), Keys::new(common.len(), budget));
    let (mut entries, mut is_damaged) = (elsewhere.entries_of(Some(Which::Second))?, false);
    while let Some(entry) = entries.next()? {
        is_damaged |= entry.damaged_ns.is_some();
        if !proves_content(&entry, elsewhere.header()) {
            continue;
        }
        if entry.stat.is_regular() {
            keys.push(common.in_new(entry.digests), entry.size())?;
        } else if !entry.tree.is_empty() && !elsewhere.header().failed.touches(entry.path) {
            trees.push(common.in_new(entry.tree), Some(0))?;
        }
    }
    if is_damaged {
        // The digests of directories cover damaged files too.
        trees.release();
        trees = Keys::new(common.len(), budget);
    }
    let (ranked, ranked_trees) = (keys.ranked(), trees.ranked());
    let mut equal = OpenDirs::default();
    let (mut entries, mut content, mut found) = (of.entries_of(Some(Which::First))?, Vec::new(), 0);
    while entries.advance()? {
        if let Some(dir) = equal.go_to(key(entries.path())) {
            entries.skip_below(dir)?;
            continue;
        }
        let entry = entries.entry();
        if !entry.tree.is_empty() {
            content.clear();
            common.in_old(entry.tree).for_each(|digest| content.extend_from_slice(digest));
            if trees.has(&ranked_trees, &mut content, Some(0)) {
                equal.push(key(entry.path), ());
            }
        }
        if !entry.stat.is_regular() {
            continue;
        }
        content.clear();
        common.in_old(entry.digests).for_each(|digest| content.extend_from_slice(digest));
        if keys.has(&ranked, &mut content, entry.size()) {
            continue;
        }
        found += 1;
        if each(&entry).is_break() {
            break;
        }
    }
    Ok(found)
}

/// Returns whether a record shows that its content exists. One that was kept because its file could not be read says nothing
/// about the content now, and the content of a damaged file is not the recorded one.
fn proves_content(entry: &Entry<'_>, header: &Header) -> bool {
    entry.damaged_ns.is_none() && !header.failed.covers(entry.path)
}

/// The contents of files: their digests by one algorithm, and their sizes. Each uses 24 bytes of memory and its digest.
#[derive(Debug)]
pub struct ContentSet {
    algorithm: Algorithm,
    keys: Keys,
    ranked: Vec<(u64, u32)>,
}

impl ContentSet {
    /// Creates an empty set.
    ///
    /// # Panics
    /// If equal digests by this algorithm do not show that contents are equal.
    pub fn new(algorithm: Algorithm, budget: &Budget) -> Self {
        assert!(algorithm.identifies_content(), "{algorithm} does not identify contents");
        Self { algorithm, keys: Keys::new(algorithm.digest_len(), budget), ranked: Vec::new() }
    }

    /// Adds a content.
    ///
    /// # Errors
    /// If it does not fit into the budget.
    pub fn add(&mut self, digest: &[u8], size_bytes: u64) -> Result<(), Error> {
        self.keys.push([digest], Some(size_bytes))
    }

    /// Adds the contents of a manifest, except those that its records do not prove.
    ///
    /// # Errors
    /// If the manifest cannot be read, lacks the algorithm, or does not fit into the budget.
    pub fn add_manifest(&mut self, manifest: &Manifest) -> Result<(), Error> {
        let header = manifest.header();
        let digest = digest_of(header.algorithms.as_slice(), self.algorithm)?;
        let mut entries = manifest.entries()?;
        while let Some(entry) = entries.next()? {
            if entry.stat.is_regular() && proves_content(&entry, header) {
                self.keys.push([&entry.digests[digest.clone()]], entry.size())?;
            }
        }
        Ok(())
    }

    /// Prepares for [`has`](Self::has). To be called after the last content was added.
    pub fn seal(&mut self) {
        self.ranked = self.keys.ranked();
    }

    /// Returns whether a content is in the set. A size that is not known equals every size.
    ///
    /// # Panics
    /// If contents were added and the set was not sealed.
    pub fn has(&self, digest: &[u8], size_bytes: Option<u64>) -> bool {
        assert_eq!(self.ranked.len(), self.keys.len(), "the set is sealed");
        self.keys.has(&self.ranked, &mut digest.to_vec(), size_bytes)
    }

    /// Passes to `each`, in path order, the regular files of a manifest whose content is not in the set, and returns how many
    /// there are.
    ///
    /// # Errors
    /// If the manifest cannot be read or lacks the algorithm.
    ///
    /// # Panics
    /// Those of [`has`](Self::has).
    pub fn missing_of(&self, manifest: &Manifest, each: &mut dyn FnMut(&Entry<'_>)) -> Result<u64, Error> {
        let digest = digest_of(&manifest.header().algorithms, self.algorithm)?;
        let (mut entries, mut missing) = (manifest.entries()?, 0);
        while let Some(entry) = entries.next()? {
            if entry.stat.is_regular() && !self.has(&entry.digests[digest.clone()], entry.size()) {
                missing += 1;
                each(&entry);
            }
        }
        Ok(missing)
    }
}

/// Returns where the digest by `algorithm` is among those of an entry.
fn digest_of(algorithms: &[Algorithm], algorithm: Algorithm) -> Result<std::ops::Range<usize>, Error> {
    range(algorithms, algorithm)
        .ok_or_else(|| Error::NoCommonAlgorithm { old: algorithms.to_vec(), new: vec![algorithm] })
}

/// Returns the distinct sizes of the regular files of a manifest, ascending; `None` if one is not known.
///
/// # Errors
/// If the manifest cannot be read.
pub fn recorded_sizes(manifest: &Manifest) -> Result<Option<Vec<u64>>, Error> {
    let (mut entries, mut sizes) = (manifest.entries()?, Vec::new());
    while let Some(entry) = entries.next()? {
        if entry.stat.is_regular() {
            let Some(size) = entry.size() else { return Ok(None) };
            if sizes.last() != Some(&size) {
                sizes.push(size);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Some(sizes))
}

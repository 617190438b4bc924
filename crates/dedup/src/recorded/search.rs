//! Collects recorded files and groups them.

use std::collections::VecDeque;
use std::io;

use super::codec::{Decoder, Identity, push_bytes, push_details};
use super::contradictions::{Contradicting, Identities};
use super::groups::RecordedGroups;
use super::member::RecordedFile;
use super::sorter::{Merged, Sorted, Sorter};

/// A search for duplicates among recorded files.
///
/// ```
/// use ftk_dedup::{RecordedFile, RecordedMember, RecordedSearch};
///
/// let mut search = RecordedSearch::new(16, 64 << 20);
/// for (entry, path) in (0..).zip(["/disk/a", "/disk/b", "/disk/c"]) {
///     let (fs, ino, nlink, allocated, mtime_ns, ctime_ns) = (None, None, None, None, None, None);
///     let path = path.into();
///     let member = RecordedMember { manifest: 0, path, fs, ino, nlink, allocated, mtime_ns, ctime_ns };
///     let digest = if entry == 1 { [1; 16] } else { [2; 16] };
///     search.add(&RecordedFile { member: &member, entry, dev: None, size: 9, digest: &digest })?;
/// }
/// let groups = search.finish()?;
/// let mut names = groups.names()?;
/// assert_eq!(names.next()?.unwrap().member.path, b"/disk/a");
/// assert_eq!(names.next()?.unwrap().member.path, b"/disk/c");
/// assert!(names.next()?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordedSearch {
    /// The length of digests.
    width: usize,
    memory: u64,
    identities: Identities,
    by_digest: Sorter,
}

/// A group with at least two files.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Its place among all groups of names with one digest and size, including groups of one name.
    nth: u64,
    waste: u64,
    has_hard_links: bool,
}

/// Reads records in the order of digests, without contradicting ones, and numbers groups and files.
struct ByDigest<'s> {
    records: Merged<'s>,
    width: usize,
    contradicting: &'s Contradicting,
    group: Vec<u8>,
    identity: Vec<u8>,
    /// The number of the current group, from 1.
    nth: u64,
    /// The number of the current file in its group, from 0.
    file: u64,
}

/// A record in the order of digests.
struct Record<'r> {
    /// The number of the group, and of the file in it.
    place: (u64, u64),
    /// The digest and the size.
    content: &'r [u8],
    manifest: u64,
    /// The number of the contradicting file to which the name belongs.
    contradicts: Option<u64>,
    /// The details of the member.
    details: &'r [u8],
    path: &'r [u8],
}

impl<'s> ByDigest<'s> {
    fn new(sorted: &'s Sorted, width: usize, contradicting: &'s Contradicting) -> io::Result<Self> {
        let (group, identity) = (Vec::new(), Vec::new());
        Ok(Self { records: sorted.iter()?, width, contradicting, group, identity, nth: 0, file: 0 })
    }

    fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        let Some(record) = self.records.next()? else { return Ok(None) };
        let mut record = Decoder(record);
        let content = record.take(self.width + 8);
        let identity = record.bytes();
        let (manifest, entry) = (record.number(), record.number());
        let contradicts = self.contradicting.file(manifest, entry);
        if contradicts.is_none() {
            if content != self.group {
                (self.nth, self.file) = (self.nth + 1, 0);
                self.group = content.to_vec();
                self.identity = identity.to_vec();
            } else if identity != self.identity {
                self.file += 1;
                self.identity = identity.to_vec();
            }
        }
        let details = record.bytes();
        let place = (self.nth, self.file);
        Ok(Some(Record { place, content, manifest, contradicts, details, path: record.0 }))
    }
}

impl RecordedSearch {
    /// Creates a search for digests of `width` bytes. It uses about `memory` bytes, and temporary files for what
    /// does not fit.
    pub fn new(width: usize, memory: u64) -> Self {
        Self { width, memory, identities: Identities::new(memory / 8), by_digest: Sorter::new(memory / 4) }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    ///
    /// # Panics
    /// If the digest has another length.
    pub fn add(&mut self, file: &RecordedFile<'_>) -> io::Result<()> {
        assert_eq!(file.digest.len(), self.width, "digests of one algorithm");
        let identity = Identity::of(file);
        self.identities.add(file, &identity)?;
        self.by_digest.add(|out| {
            out.extend_from_slice(file.digest);
            out.extend_from_slice(&file.size.to_be_bytes());
            push_bytes(out, identity.as_bytes());
            out.extend_from_slice(&(file.member.manifest as u64).to_be_bytes());
            out.extend_from_slice(&file.entry.to_be_bytes());
            let mut details = Vec::with_capacity(80);
            push_details(&mut details, file.member);
            push_bytes(out, &details);
            out.extend_from_slice(&file.member.path);
        })
    }

    /// Groups the files.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub fn finish(self) -> io::Result<RecordedGroups> {
        let Self { width, memory, identities, by_digest } = self;
        let contradicting = identities.finish(width)?;
        let by_digest = by_digest.finish()?;
        let (found, contradictions) = count(&by_digest, width, &contradicting, memory)?;
        let by_waste = by_waste(&by_digest, width, &contradicting, found, memory)?;
        Ok(RecordedGroups { width, contradictions, by_waste })
    }
}

/// Counts the files of each group. Returns the groups with at least two files, in the order of digests, and the
/// contradicting names.
fn count(
    by_digest: &Sorted,
    width: usize,
    contradicting: &Contradicting,
    memory: u64,
) -> io::Result<(VecDeque<Found>, Sorted)> {
    let mut contradictions = Sorter::new(memory / 16);
    let mut found: VecDeque<Found> = VecDeque::new();
    let mut records = ByDigest::new(by_digest, width, contradicting)?;
    let (mut last, mut names, mut files, mut size) = (0, 0, 0, 0);
    let mut end = |nth, names: u64, files: u64, size: u64| {
        if files > 1 {
            let waste = size.saturating_mul(files - 1);
            found.push_back(Found { nth, waste, has_hard_links: names > files });
        }
    };
    while let Some(record) = records.next()? {
        if let Some(file) = record.contradicts {
            contradictions.add(|out| {
                [file, record.manifest].iter().for_each(|it| out.extend_from_slice(&it.to_be_bytes()));
                out.extend_from_slice(record.path);
            })?;
            continue;
        }
        let of_record = Decoder(&record.content[width..]).number();
        let (nth, file) = record.place;
        if nth != last {
            end(last, names, files, size);
            (last, names, size) = (nth, 0, of_record);
        }
        (names, files) = (names + 1, file + 1);
    }
    end(last, names, files, size);
    Ok((found, contradictions.finish()?))
}

/// Sorts the members of groups with at least two files: by waste, largest first, then by digest, size and path.
fn by_waste(
    by_digest: &Sorted,
    width: usize,
    contradicting: &Contradicting,
    mut found: VecDeque<Found>,
    memory: u64,
) -> io::Result<Sorted> {
    let mut sorter = Sorter::new(memory / 4);
    let mut records = ByDigest::new(by_digest, width, contradicting)?;
    while let Some(record) = records.next()? {
        if record.contradicts.is_some() {
            continue;
        }
        let Record { place: (nth, file), content, manifest, details, path, .. } = record;
        while found.front().is_some_and(|found| found.nth < nth) {
            found.pop_front();
        }
        let Some(&Found { waste, has_hard_links, .. }) = found.front().filter(|found| found.nth == nth)
        else {
            continue;
        };
        sorter.add(|out| {
            out.extend_from_slice(&(!waste).to_be_bytes());
            out.extend_from_slice(content);
            out.extend_from_slice(path);
            out.push(0);
            [manifest, file].iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
            out.push(has_hard_links.into());
            out.extend_from_slice(details);
        })?;
    }
    sorter.finish()
}

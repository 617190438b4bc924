//! The digest of a directory: one digest over everything below it. `docs/tree-digest.md` specifies it.

use std::fmt;

use ftk_hash::{Algorithm, Digest, Hasher};
use ftk_inventory::OpenDirs;
use ftk_walk::FileType;

use crate::entry::key;
use crate::{Entry, Field, git};

/// The start of the message of every directory, so that it is never the content of a file by accident.
const DOMAIN: &[u8] = b"ftk tree 1\n";

/// A message of at least this many bytes is hashed before it is complete.
const FLUSH: usize = 64 << 10;

/// The owner's permission to execute a file.
pub(crate) const OWNER_EXECUTES: u32 = 0o100;

/// What is hashed for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeForm {
    /// What `docs/tree-digest.md` specifies.
    Ftk,
    /// A tree object of git. The digests of files are the ids of blobs: those of the content with
    /// [`git_blob`](crate::git_blob) before it.
    Git,
}

/// Computes the digests of directories from their entries, which come in the order of a manifest.
///
/// Uses memory for each directory that is open, and for at most 64 KiB of its entries. If entries come between
/// a directory and what is below it, it also keeps a message of those.
#[derive(Debug)]
pub(crate) struct TreeDigester {
    form: TreeForm,
    algorithms: Vec<Algorithm>,
    open: OpenDirs<Open>,
    /// The number of directories so far.
    count: usize,
    digests: Vec<u8>,
}

/// A directory that may still get entries.
#[derive(Debug)]
struct Open {
    /// Its number among all directories.
    number: usize,
    /// The index of the directory that contains it, if that is recorded.
    parent: Option<usize>,
    /// Whether everything below it is known.
    is_whole: bool,
    /// The number of open directories in it: their digests are still missing in the messages.
    waiting: usize,
    /// The message of each algorithm. Empty if the directory has no digest.
    messages: Vec<Message>,
    /// The digests, if the entries are not added.
    assumed: Option<Vec<u8>>,
}

/// What is hashed for a directory.
struct Message {
    /// The part that is not hashed yet.
    bytes: Vec<u8>,
    /// The state, if a part is hashed.
    hasher: Option<Hasher>,
    /// The place of the digest in the message of the directory above, and its length.
    place: usize,
    digest_len: usize,
}

/// A directory whose entries are complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed<'c> {
    /// Its number: how many directories came before it.
    pub(crate) number: usize,
    pub(crate) path: &'c [u8],
    /// The digests by all algorithms, concatenated. `None` if something below the directory is not known.
    pub(crate) digests: Option<&'c [u8]>,
}

impl TreeDigester {
    pub(crate) fn new(form: TreeForm, algorithms: &[Algorithm]) -> Self {
        Self {
            form,
            algorithms: algorithms.to_vec(),
            open: OpenDirs::default(),
            count: 0,
            digests: Vec::new(),
        }
    }

    /// Adds the next entry. `is_whole`: for a directory, whether all its entries will be added. Directories that
    /// end before the entry are passed to `each`.
    pub(crate) fn add<E>(
        &mut self,
        entry: &Entry<'_>,
        is_whole: bool,
        mut each: impl FnMut(Closed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = key(entry.path);
        self.close_before(path, &mut each)?;
        let above = self.open.above(path);
        let parent = above.filter(|(_, below)| !below.contains(&b'/'));
        if let Some((at, _)) = above
            && (parent.is_none() || !has_all(entry, self.form))
        {
            self.open[at].give_up();
        }
        let is_dir = entry.stat.file_type == FileType::Directory;
        let mut messages = Vec::new();
        if is_dir && is_whole {
            messages.extend(self.algorithms.iter().map(|algorithm| Message {
                bytes: if self.form == TreeForm::Ftk { DOMAIN.to_vec() } else { Vec::new() },
                hasher: None,
                place: 0,
                digest_len: algorithm.digest_len(),
            }));
        }
        if let Some((at, name)) = parent.filter(|(at, _)| self.open[*at].is_whole) {
            self.append(at, name, entry, &mut messages);
        }
        if is_dir {
            let parent = parent.map(|(at, _)| at);
            if let Some(at) = parent {
                self.open[at].waiting += 1;
            }
            let number = self.count;
            self.open.push(path, Open { number, parent, is_whole, waiting: 0, messages, assumed: None });
            self.count += 1;
        }
        Ok(())
    }

    /// Notes that an entry is not known, so that no directory above it has a digest.
    pub(crate) fn omit<E>(
        &mut self,
        path: &[u8],
        mut each: impl FnMut(Closed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close_before(key(path), &mut each)?;
        if let Some((at, _)) = self.open.above(key(path)) {
            self.open[at].give_up();
        }
        Ok(())
    }

    /// Forgets everything below the open directory `dir`. Returns the number of directories that are open then; `dir` is
    /// the last of them.
    pub(crate) fn reopen(&mut self, dir: &[u8]) -> usize {
        self.open.reopen(key(dir))
    }

    /// Sets the digests of the directory opened last, whose entries are not added.
    pub(crate) fn assume(&mut self, digests: &[u8]) {
        if let Some(dir) = self.open.values_mut().next_back() {
            dir.assumed = Some(digests.to_vec());
        }
    }

    /// Ends all directories.
    pub(crate) fn finish<E>(&mut self, mut each: impl FnMut(Closed<'_>) -> Result<(), E>) -> Result<(), E> {
        while let Some(dir) = self.open.pop() {
            self.close(dir, &mut each)?;
        }
        Ok(())
    }

    /// Ends the directories that get no entries after `path`.
    fn close_before<E>(
        &mut self,
        path: &[u8],
        each: &mut impl FnMut(Closed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(dir) = self.open.pop_before(path) {
            self.close(dir, each)?;
        }
        Ok(())
    }

    /// Appends an entry to the messages of its directory, with room for the digests of a directory. `messages` are
    /// those of the entry itself.
    fn append(&mut self, at: usize, name: &[u8], entry: &Entry<'_>, messages: &mut [Message]) {
        let dir = &mut self.open[at];
        let mut rest = entry.digests;
        for (nth, (message, algorithm)) in dir.messages.iter_mut().zip(&self.algorithms).enumerate() {
            let digest = rest.split_off(..algorithm.digest_len().min(rest.len())).unwrap_or_default();
            match self.form {
                TreeForm::Ftk => message.push(name, entry, digest, messages.get_mut(nth)),
                TreeForm::Git => git::push(&mut message.bytes, name, entry, digest, *algorithm),
            }
            if self.form == TreeForm::Ftk && dir.waiting == 0 && message.bytes.len() >= FLUSH {
                // The digest of a directory is still missing.
                if entry.stat.file_type != FileType::Directory {
                    message.hash(*algorithm);
                }
            }
        }
    }

    /// Ends the directory that was removed last.
    fn close<E>(
        &mut self,
        mut dir: Open,
        each: &mut impl FnMut(Closed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.digests.clear();
        self.digests.extend(dir.assumed.iter().flatten());
        for (message, algorithm) in
            dir.messages.iter_mut().zip(&self.algorithms).filter(|_| dir.assumed.is_none())
        {
            let digest = match self.form {
                TreeForm::Ftk => message.finish(*algorithm),
                TreeForm::Git => git::tree(&message.bytes, *algorithm),
            };
            self.digests.extend_from_slice(digest.as_bytes());
        }
        if let Some(at) = dir.parent {
            let (parent, name) = self.open.with_below(at);
            parent.waiting -= 1;
            if !dir.is_whole {
                parent.give_up();
            }
            let mut rest = &*self.digests;
            for (message, own) in parent.messages.iter_mut().zip(&dir.messages) {
                let digest = rest.split_off(..own.digest_len).expect("a digest by every algorithm");
                match self.form {
                    TreeForm::Ftk => message.bytes[own.place..][..digest.len()].copy_from_slice(digest),
                    // Directories end in the order of git: as if a slash followed each name.
                    TreeForm::Git => git::push_tree(&mut message.bytes, name, &own.bytes, digest),
                }
            }
        }
        let digests = dir.is_whole.then_some(&*self.digests);
        each(Closed { number: dir.number, path: self.open.path(), digests })
    }
}

impl Open {
    /// Notes that something below the directory is not known.
    fn give_up(&mut self) {
        self.is_whole = false;
        self.messages = Vec::new();
    }
}

impl Message {
    /// Appends an entry. `own` is the message of a directory, which gets its place in this one.
    fn push(&mut self, name: &[u8], entry: &Entry<'_>, digest: &[u8], own: Option<&mut Self>) {
        let (stat, bytes) = (&entry.stat, &mut self.bytes);
        bytes.push(letter(entry));
        push_netstring(bytes, name);
        match stat.file_type {
            FileType::Regular => {
                push_netstring(bytes, itoa::Buffer::new().format(stat.size).as_bytes());
                push_netstring(bytes, digest);
            }
            FileType::Symlink => push_netstring(bytes, entry.target.unwrap_or_default()),
            FileType::Block | FileType::Char => {
                push_netstring(bytes, itoa::Buffer::new().format(stat.rdev).as_bytes());
            }
            FileType::Directory => {
                if let Some(own) = own {
                    push_netstring(bytes, &[0; Digest::MAX_LEN][..own.digest_len]);
                    own.place = bytes.len() - 1 - own.digest_len;
                }
            }
            FileType::Fifo | FileType::Socket => {}
            _ => {} // `has_all` keeps it from having a digest
        }
    }

    /// Hashes the bytes.
    fn hash(&mut self, algorithm: Algorithm) {
        self.hasher.get_or_insert_with(|| Hasher::new(algorithm)).update(&self.bytes);
        self.bytes.clear();
    }

    /// Returns the digest of the whole message.
    fn finish(&mut self, algorithm: Algorithm) -> Digest {
        match self.hasher.take() {
            None => algorithm.hash_one(&self.bytes),
            Some(mut hasher) => {
                hasher.update(&self.bytes);
                hasher.finalize()
            }
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// Returns whether the entry has everything that a digest covers.
fn has_all(entry: &Entry<'_>, form: TreeForm) -> bool {
    match entry.stat.file_type {
        FileType::Regular => !entry.digests.is_empty() && entry.knows_all(&[Field::Mode, Field::Size]),
        FileType::Symlink => entry.target.is_some(),
        FileType::Block | FileType::Char => form == TreeForm::Git || entry.knows(Field::Rdev),
        FileType::Directory | FileType::Fifo | FileType::Socket => true,
        _ => false,
    }
}

/// Returns the letter for the type of an entry.
fn letter(entry: &Entry<'_>) -> u8 {
    match entry.stat.file_type {
        FileType::Regular if entry.stat.mode & OWNER_EXECUTES != 0 => b'x',
        FileType::Regular => b'f',
        FileType::Directory => b'd',
        FileType::Symlink => b'l',
        FileType::Fifo => b'p',
        FileType::Socket => b's',
        FileType::Block => b'b',
        FileType::Char => b'c',
        _ => b'?', // `has_all` keeps it from having a digest
    }
}

/// Appends the length in decimal digits, a colon, the bytes and a comma.
fn push_netstring(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(itoa::Buffer::new().format(bytes.len()).as_bytes());
    out.push(b':');
    out.extend_from_slice(bytes);
    out.push(b',');
}

//! Reads the files of a history, each with the digest of its bytes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use ftk_file::{FileType, Symlinks, descend, open_checked};
use ftk_hash::{Algorithm, Digest, Hasher};
use ftk_inventory::{Budget, Reservation};
use ftk_record::{MhlItem, MhlReader, MhlUnusable};
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::{ASCMHL, HistoryError};

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// The directory `ascmhl` of a history, open for looking up names.
pub(super) struct HistoryDir {
    dir: OwnedFd,
    /// Its path below the root, with a slash at the end.
    pub(super) path: Vec<u8>,
}

impl HistoryDir {
    /// Opens the one in the directory `prefix`, which is empty or ends with a slash. No link below `root` is followed.
    /// `None`: there is none.
    pub(super) fn open(root: &OwnedFd, prefix: &[u8]) -> Result<Option<Self>, HistoryError> {
        let names = prefix.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let names = names.chain([ASCMHL.as_bytes()]);
        match descend(root.as_fd(), names, Symlinks::NoFollow, &mut Vec::new()) {
            Ok(dir) => Ok(Some(Self { dir, path: [prefix, ASCMHL.as_bytes(), b"/"].concat() })),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(source) => Err(HistoryError::Io { path: [prefix, ASCMHL.as_bytes()].concat(), source }),
        }
    }

    /// Returns the path of a file below the root.
    pub(super) fn path_of(&self, name: &[u8]) -> Vec<u8> {
        [&*self.path, name].concat()
    }

    fn failed(&self, name: &[u8], source: io::Error) -> HistoryError {
        HistoryError::Io { path: self.path_of(name), source }
    }

    /// Opens a regular file.
    fn file(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        open_checked(&self.dir, OsStr::from_bytes(name), flags, |found| match found.file_type {
            FileType::Regular => Ok(()),
            _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
        })
    }

    /// Returns the names of the generations in the directory, sorted. Files of macOS for their metadata (`._x.mhl`) are none.
    pub(super) fn generations(&self) -> Result<Vec<Vec<u8>>, HistoryError> {
        let list = || {
            let readable = openat(&self.dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            let mut names = Vec::new();
            for entry in rustix::fs::Dir::read_from(&readable)? {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name.ends_with(b".mhl") && !name.starts_with(b"._") {
                    names.push(name.to_vec());
                }
            }
            names.sort();
            Ok::<_, io::Error>(names)
        };
        list().map_err(|error| self.failed(b"", error))
    }

    /// Reads a file to its end.
    ///
    /// # Errors
    /// If it cannot be read, or its items do not fit into the budget. A list that is not well-formed is in the result: it
    /// may have been edited.
    pub(super) fn read(&self, name: &[u8], algorithm: Algorithm, budget: &Budget) -> Result<ReadFile, HistoryError> {
        let file = self.file(name).map_err(|error| self.failed(name, error))?;
        let input = Hashing { inner: file, hasher: Hasher::new(algorithm) };
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut reserved = Reservation::new(budget);
        let (mut items, mut malformed) = (Vec::new(), None);
        let mut reader = MhlReader::new(&mut input);
        loop {
            match reader.next() {
                Ok(Some(record)) => {
                    if let Ok(item) = &record.item {
                        reserved.consume(2 * size_bytes(item) as u64)?;
                    }
                    items.push((record.line, record.item));
                }
                Ok(None) => break,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    malformed = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(self.failed(name, error)),
            }
        }
        io::copy(&mut input, &mut io::sink()).map_err(|error| self.failed(name, error))?;
        let digest = input.into_inner().hasher.finalize();
        Ok(ReadFile { items, malformed, digest, reserved })
    }
}

/// Opens the directory that a history is about.
pub(super) fn open_root(root: &std::path::Path) -> Result<OwnedFd, HistoryError> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    openat(CWD, root, flags, Mode::empty()).map_err(|error| HistoryError::Io {
        path: root.as_os_str().as_bytes().to_vec(),
        source: error.into(),
    })
}

/// A file of a history.
pub(super) struct ReadFile {
    /// The items with their line numbers.
    pub(super) items: Vec<(u64, Result<MhlItem, MhlUnusable>)>,
    /// Why the file is no whole list.
    pub(super) malformed: Option<String>,
    /// The digest of all its bytes.
    pub(super) digest: Digest,
    /// The memory of the items.
    pub(super) reserved: Reservation,
}

fn size_bytes(item: &MhlItem) -> usize {
    let digests = item.digests.len() + item.structure.len();
    let previous = item.previous_path.as_ref().map_or(0, String::len);
    size_of::<MhlItem>() + item.path.len() + previous + digests * size_of::<ftk_record::MhlDigest>()
}

/// A reader that hashes what it reads.
struct Hashing<R> {
    inner: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(to)?;
        self.hasher.update(&to[..len]);
        Ok(len)
    }
}

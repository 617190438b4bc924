//! Files that may only grow, such as logs. Their recorded bytes are compared, and what was added later is not.

use std::io;

use ftk_file::{AlignedBuf, Birth, Failure, Stat};
use ftk_hash::{Algorithm, Hasher};
use ftk_inventory::{DirNo, FileNo, Opener};

use crate::{Entry, Field};

/// How much is read at once, in bytes.
const BUFFER: usize = 1 << 18;

/// A growing file, as it was when it was opened. What is appended while it is read is not looked at.
#[derive(Debug)]
pub(crate) struct Grown {
    pub(crate) stat: Stat,
    /// The digests of its first bytes, as many as were recorded. `None` if it has become shorter.
    pub(crate) start: Option<Vec<u8>>,
    /// The digests of all bytes, if they were wanted.
    pub(crate) whole: Vec<u8>,
}

impl Grown {
    /// Reads the first `recorded` bytes of a file, or all of it if `is_whole`.
    ///
    /// # Errors
    /// If the file cannot be opened or read, or becomes shorter meanwhile.
    pub(crate) fn read(
        opener: &mut Opener<'_>,
        (dir, file): (DirNo, FileNo),
        recorded: u64,
        algorithms: &[Algorithm],
        is_whole: bool,
    ) -> io::Result<Self> {
        // A record has the time of birth.
        let birth = if is_whole { Birth::Requested } else { Birth::Unknown };
        let file = opener.open_file_with(dir, file, birth).map_err(cause)?;
        let stat = *file.stat();
        let has_start = recorded <= stat.size;
        // Nothing is read of a file that has become shorter, if only its recorded part matters.
        let end = match is_whole {
            true => stat.size,
            false if has_start => recorded,
            false => 0,
        };
        let mut hashers: Vec<_> = algorithms.iter().map(|algorithm| Hasher::new(*algorithm)).collect();
        let digests = |hashers: &[Hasher]| {
            let digests = hashers.iter().map(|hasher| hasher.clone().finalize());
            digests.fold(Vec::new(), |all, digest| [&all, digest.as_bytes()].concat())
        };
        let (mut at, mut start) = (0, None);
        let mut buf = AlignedBuf::new(BUFFER.min(end.max(1) as usize));
        loop {
            if has_start && at == recorded {
                start = Some(digests(&hashers));
            }
            if at == end {
                break;
            }
            let stop = if at < recorded && has_start { recorded } else { end };
            let len = (stop - at).min(buf.len() as u64) as usize;
            let got = file.read_at(&mut buf[..len], at)?;
            if got == 0 {
                return Err(io::Error::other(SHORTER));
            }
            hashers.iter_mut().for_each(|hasher| hasher.update(&buf[..got]));
            at += got as u64;
        }
        Ok(Self { stat, start, whole: if is_whole { digests(&hashers) } else { Vec::new() } })
    }

    /// Returns in what it is no longer the file that was recorded with these digests, apart from its growth.
    pub(crate) fn violation(&self, recorded: &[u8]) -> Option<&'static [Field]> {
        match &self.start {
            None => Some(&[Field::Size]),
            Some(start) if start != recorded => Some(&[Field::Digests]),
            Some(_) => None,
        }
    }

    /// Returns the entry of the file, made of what the walk has seen.
    pub(crate) fn entry<'e>(&'e self, seen: Entry<'e>, now_ns: i128) -> Entry<'e> {
        Entry { stat: self.stat, digests: &self.whole, verified_ns: Some(now_ns), ..seen }
    }
}

const SHORTER: &str = "it became shorter while being read";

fn cause(failure: Failure) -> io::Error {
    match failure {
        Failure::Io { source, .. } => source,
        _ => io::Error::other("it is no longer a regular file"),
    }
}

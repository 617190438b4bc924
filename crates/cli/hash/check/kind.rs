//! The formats of lists besides that of `sha256sum`, and how they are recognised.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{BagLine, BagReader, Encoding, HASHDEEP_HEADER, HashdeepLine, HashdeepReader};

use crate::hash::check::lists::{List, ParseOptions, Tables};
use crate::hash::tag::Unusable;

/// The format of a list.
pub(super) enum Kind {
    /// The lines of `sha256sum` and similar tools.
    Sums,
    /// A list of hashdeep, recognised by its first line.
    Hashdeep,
    /// A BagIt manifest, recognised by its file name and a file `bagit.txt` next to it; with the name of its
    /// algorithm.
    Bag(String),
}

impl Kind {
    /// Returns the format of the list `path`, whose first bytes are next in `input`. Consumes nothing.
    pub(super) fn of(path: &OsStr, input: &mut impl BufRead) -> Self {
        // If this read fails, the next read by the caller fails too and reports the error.
        if input.fill_buf().is_ok_and(|start| start.starts_with(HASHDEEP_HEADER)) {
            return Self::Hashdeep;
        }
        let file_name = Path::new(path).file_name().unwrap_or_default().as_bytes();
        match BagFile::of(file_name) {
            Some(file) if Path::new(path).with_file_name("bagit.txt").is_file() => Self::Bag(file.algorithm),
            _ => Self::Sums,
        }
    }
}

/// What the name of a BagIt manifest says.
pub(super) struct BagFile {
    /// The name of the algorithm.
    pub(super) algorithm: String,
    /// Whether it is a manifest of tag files.
    pub(super) is_tag: bool,
}

impl BagFile {
    /// Returns what a file name says: `manifest-ALGORITHM.txt` or `tagmanifest-ALGORITHM.txt`.
    pub(super) fn of(file_name: &[u8]) -> Option<Self> {
        let (is_tag, rest) = match file_name.strip_prefix(b"tag") {
            Some(rest) => (true, rest),
            None => (false, file_name),
        };
        let algorithm = rest.strip_prefix(b"manifest-")?.strip_suffix(b".txt")?;
        let algorithm = str::from_utf8(algorithm).ok().filter(|name| !name.is_empty())?;
        Some(Self { algorithm: algorithm.to_owned(), is_tag })
    }
}

impl ParseOptions<'_> {
    /// Reads a list of hashdeep: the digests in all columns whose algorithm ftk has, and the sizes. The inner
    /// error is that of reading the input.
    pub(super) fn hashdeep(
        &self,
        input: impl BufRead,
        list: &mut List,
        tables: &mut Tables,
    ) -> anyhow::Result<io::Result<()>> {
        /// The line of the header that names the columns.
        const COLUMNS: (u64, bool) = (2, true);
        let mut reader = match HashdeepReader::new(input) {
            Ok(Ok(reader)) => reader,
            Ok(Err(error)) => {
                self.refuse(list, COLUMNS, None, &error.into());
                return Ok(Ok(()));
            }
            Err(error) => return Ok(Err(error)),
        };
        let columns: Vec<Option<Algorithm>> =
            reader.algorithms().iter().map(|name| name.parse().ok()).collect();
        if columns.iter().all(Option::is_none) {
            let names = reader.algorithms().join(", ");
            self.refuse(list, COLUMNS, None, &Unusable::Tag(names));
            return Ok(Ok(()));
        }
        loop {
            let record = match reader.next() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            };
            let at = (record.number, record.is_ended);
            match record.line.map_err(Unusable::from) {
                Ok(line) => match digests(&line, &columns) {
                    Ok(digests) => {
                        let digests: Vec<_> =
                            digests.iter().map(|(it, digest)| (*it, digest.as_bytes())).collect();
                        tables.push(line.name, &digests, Some(line.size), &self.run.budget)?;
                    }
                    Err(why) => self.refuse(list, at, Some(line.name), &why),
                },
                Err(why) => self.refuse(list, at, None, &why),
            }
        }
    }

    /// Reads a BagIt manifest. The inner error is that of reading the input.
    pub(super) fn bag(
        &self,
        algorithm: &str,
        input: impl BufRead,
        list: &mut List,
        tables: &mut Tables,
    ) -> anyhow::Result<io::Result<()>> {
        let Ok(algorithm) = algorithm.parse::<Algorithm>() else {
            self.refuse(list, (1, true), None, &Unusable::Tag(algorithm.to_owned()));
            return Ok(Ok(()));
        };
        let mut reader = BagReader::new(input);
        loop {
            let record = match reader.next() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            };
            let at = (record.number, record.is_ended);
            match record.line.map_err(Unusable::from) {
                Ok(line) => {
                    let path = bag_path(&line, self.root.unwrap_or(Path::new("")));
                    match digest(line.hex, algorithm) {
                        Ok(digest) => {
                            let digests = [(algorithm, digest.as_bytes())];
                            tables.push(&path, &digests, None, &self.run.budget)?;
                        }
                        Err(why) => self.refuse(list, at, Some(&path), &why),
                    }
                }
                Err(why) => self.refuse(list, at, None, &why),
            }
        }
    }
}

/// Returns the digests of a line by the algorithms that ftk has.
fn digests(
    line: &HashdeepLine<'_>,
    columns: &[Option<Algorithm>],
) -> Result<Vec<(Algorithm, Digest)>, Unusable> {
    let known = line.hex().zip(columns).filter_map(|(hex, column)| Some((hex, (*column)?)));
    known.map(|(hex, algorithm)| Ok((algorithm, digest(hex, algorithm)?))).collect()
}

/// Returns the digest for hexadecimal digits, if it fits the algorithm.
pub(super) fn digest(hex: &[u8], algorithm: Algorithm) -> Result<Digest, Unusable> {
    let unusable = || Unusable::Length { len: hex.len() / 2, encoding: Encoding::Hex, of: vec![algorithm] };
    Digest::from_hex(hex).filter(|it| it.as_bytes().len() == algorithm.digest_len()).ok_or_else(unusable)
}

/// Returns the path below `root` that a line of a BagIt manifest names. Many programs do not encode `%`. So if the
/// decoded path does not exist but the other one does, the line means that one.
pub(super) fn bag_path<'l>(line: &BagLine<'l>, root: &Path) -> Cow<'l, [u8]> {
    let exists = |path: &[u8]| root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
    let path = line.path();
    match line.path_of_python() {
        Some(other) if !exists(&path) && exists(&other) => other,
        _ => path,
    }
}

//! Exporting a manifest.

use std::{fmt, io};

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_record::quote;
use ftk_walk::FileType;

use super::Format;
use super::csv::Csv;
use super::lists::{self, Columns, PAYLOAD};
use super::mtree::Mtree;
use super::ncdu::Ncdu;
use crate::common::range;
use crate::{Entry, Error, Manifest};

/// An export that is about to be written.
///
/// It writes one entry at a time, in memory for one line and, for mtree and ncdu, for the directories around it.
#[derive(Debug)]
pub struct Export<'m> {
    manifest: &'m Manifest,
    format: Format,
    columns: Columns,
    /// The number of regular files, and the sum of their sizes; for BagIt only.
    files: u64,
    bytes: Option<u128>,
}

impl<'m> Export<'m> {
    /// Checks that the format can represent the manifest. For BagIt, `algorithm` is that of the list, by default the
    /// first that the format knows; the other formats have all digests that they can hold.
    ///
    /// # Errors
    /// When the manifest cannot be read or has an invalid line, and [`ExportError`] for what the format cannot
    /// represent.
    ///
    /// # Panics
    /// If the format is [`Format::AscMhl`], which [`NewGeneration`](crate::NewGeneration) writes.
    pub fn new(
        manifest: &'m Manifest,
        format: Format,
        algorithm: Option<Algorithm>,
    ) -> Result<Self, ExportError> {
        assert_ne!(format, Format::AscMhl, "a generation has its own writer");
        let mut columns = Self::columns(manifest, format);
        if format == Format::Bagit {
            columns.retain(|(it, _)| algorithm.is_none_or(|algorithm| algorithm == *it));
            columns.truncate(1);
        }
        // A specification of mtree without digests is useful, but not instead of one with digests.
        let needs_digests = format != Format::Mtree || !manifest.header().algorithms.is_empty();
        if let (true, true, Some(known)) = (columns.is_empty(), needs_digests, format.algorithms()) {
            return Err(ExportError::Digests {
                format,
                known,
                recorded: manifest.header().algorithms.clone(),
            });
        }
        let mut export = Self { manifest, format, columns, files: 0, bytes: Some(0) };
        export.check()?;
        Ok(export)
    }

    /// Returns the algorithms of the manifest whose digests the format can hold.
    pub fn algorithms(manifest: &Manifest, format: Format) -> Vec<Algorithm> {
        Self::columns(manifest, format).into_iter().map(|(algorithm, _)| algorithm).collect()
    }

    fn columns(manifest: &Manifest, format: Format) -> Columns {
        let algorithms = &manifest.header().algorithms;
        let is_known = |it: &&Algorithm| format.algorithms().is_none_or(|known| known.contains(&it.name()));
        let column = |it: &Algorithm| (*it, range(algorithms, *it).expect("an algorithm of the header"));
        algorithms.iter().filter(is_known).map(column).collect()
    }

    /// Counts the entries that the format cannot represent. Those formats that can represent every entry are not
    /// checked.
    fn check(&mut self) -> Result<(), ExportError> {
        if !matches!(self.format, Format::Hashdeep | Format::Bagit) {
            return Ok(());
        }
        let (mut name, mut line) = (Vec::new(), Vec::new());
        let mut first: Option<(Vec<u8>, String)> = None;
        let mut count = 0;
        let mut entries = self.manifest.entries()?;
        while let Some(entry) = entries.next()? {
            line.clear();
            if let Err(why) = self.list_line(&mut line, &entry, &mut name) {
                first.get_or_insert_with(|| (entry.path.to_vec(), why));
                count += 1;
            }
            if entry.stat.is_regular() {
                self.files += 1;
                self.bytes = self.bytes.zip(entry.size()).map(|(sum, size)| sum + u128::from(size));
            }
        }
        match first {
            Some((path, why)) => Err(ExportError::Entries { format: self.format, path, why, count }),
            None => Ok(()),
        }
    }

    /// Returns the number of regular files, and the sum of their sizes if all are known. Only an export to BagIt
    /// counts them.
    pub fn payload(&self) -> (u64, Option<u128>) {
        (self.files, self.bytes)
    }

    /// Writes the export, and returns the number of entries in it. `sink` receives whole lines.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed, when the directories around an entry do not fit into the budget,
    /// and the errors of `sink`.
    pub fn write(
        &self,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<u64, ExportError> {
        let mut line = Vec::new();
        let mut writer = self.begin(&mut line, budget);
        let mut entries = self.manifest.entries()?;
        let (mut count, mut name) = (0, Vec::new());
        let algorithms = &self.manifest.header().algorithms;
        loop {
            sink(&line).map_err(Error::Io)?;
            line.clear();
            let Some(entry) = entries.next()? else { break };
            match &mut writer {
                Writer::Mtree(mtree) => mtree.entry(&mut line, &entry, &self.columns).map_err(Error::from)?,
                Writer::Ncdu(ncdu) => ncdu.entry(&mut line, &entry).map_err(Error::from)?,
                Writer::Csv(csv) => csv.entry(&mut line, &entry, algorithms),
                // What cannot be represented was refused before, and the manifest has not changed since.
                Writer::List => drop(self.list_line(&mut line, &entry, &mut name)),
            }
            // Nested formats write the line of a directory later.
            count += u64::from(!line.is_empty() || matches!(writer, Writer::Mtree(_) | Writer::Ncdu(_)));
        }
        match writer {
            Writer::Mtree(mtree) => mtree.finish(&mut line),
            Writer::Ncdu(ncdu) => ncdu.finish(&mut line),
            Writer::Csv(_) | Writer::List => {}
        }
        sink(&line).map_err(Error::Io)?;
        Ok(count)
    }

    fn begin(&self, out: &mut Vec<u8>, budget: &Budget) -> Writer {
        let header = self.manifest.header();
        match self.format {
            Format::Mtree => Writer::Mtree(Mtree::new(out, budget)),
            Format::Ncdu => Writer::Ncdu(Ncdu::new(out, header, budget)),
            Format::Csv => Writer::Csv(Csv::new(out, header, self.columns.clone())),
            Format::Hashdeep => {
                lists::hashdeep_header(out, &self.columns);
                Writer::List
            }
            Format::Bagit | Format::Sha256 => Writer::List,
            Format::AscMhl => unreachable!("a generation has its own writer"),
        }
    }

    /// Appends the line of an entry in a list of digests, which has none for entries without digests. Returns why the
    /// list cannot represent it.
    fn list_line(&self, out: &mut Vec<u8>, entry: &Entry<'_>, name: &mut Vec<u8>) -> Result<(), String> {
        match entry.stat.file_type {
            FileType::Regular => {}
            FileType::Directory => return Ok(()),
            // A bag would not be valid: these are files of its payload without a digest.
            other if self.format == Format::Bagit => {
                return Err(format!(
                    "a payload has only files and directories, and it is a {}",
                    described(other)
                ));
            }
            // Any future type has no digest either.
            _ => return Ok(()),
        }
        name.clear();
        name.extend_from_slice(if self.format == Format::Bagit { PAYLOAD } else { b"./" });
        name.extend_from_slice(entry.path);
        match self.format {
            Format::Hashdeep => lists::hashdeep(out, entry, name, &self.columns),
            Format::Bagit => lists::bagit(out, entry, name, &self.columns),
            _ => {
                lists::sha256(out, entry, name, &self.columns);
                Ok(())
            }
        }
    }
}

fn described(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "FIFO",
        FileType::Socket => "socket",
        FileType::Block | FileType::Char => "device",
        // Any future type.
        _ => "special file",
    }
}

#[derive(Debug)]
enum Writer {
    Mtree(Mtree),
    Ncdu(Ncdu),
    Csv(Csv),
    List,
}

/// Why a manifest cannot be exported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The manifest cannot be read, or the output cannot be written.
    Manifest(Error),
    /// The format needs digests by algorithms that the manifest does not have.
    Digests {
        /// The format.
        format: Format,
        /// The algorithms of the format.
        known: &'static [&'static str],
        /// The algorithms of the manifest.
        recorded: Vec<Algorithm>,
    },
    /// The format cannot represent some entries.
    Entries {
        /// The format.
        format: Format,
        /// The path of the first one.
        path: Vec<u8>,
        /// Why.
        why: String,
        /// Their number.
        count: u64,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(error) => error.fmt(f),
            Self::Digests { format, known, recorded } => {
                let recorded = recorded.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
                let recorded = if recorded.is_empty() { "no digests" } else { &recorded };
                let known = known.join(", ");
                write!(f, "it records {recorded}; {format} can hold {known} (make a manifest with -a)")
            }
            Self::Entries { format, path, why, count } => {
                write!(f, "{format} cannot represent {}: {why}", quote(path))?;
                match count - 1 {
                    0 => Ok(()),
                    1 => f.write_str(" (nor 1 more entry)"),
                    more => write!(f, " (nor {more} more entries)"),
                }
            }
        }
    }
}

impl std::error::Error for ExportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Manifest(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Error> for ExportError {
    fn from(error: Error) -> Self {
        Self::Manifest(error)
    }
}

//! The seal of a set: the list of its files, written last.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use data_encoding::HEXLOWER;
use ftk_file::AlignedBuf;
use ftk_hash::Algorithm;
use ftk_manifest::Failed;
use ftk_record::{Object, Output, Seal, SealedReader, write_record};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::convert::Origin;
use crate::schema::Table;

/// The name of the file in a set.
pub(crate) const NAME: &str = "_set.jsonl";

/// The kind of file, as named in the first line.
const KIND: &str = "parquet-set";

/// The version of the format. Older ones are read, newer ones are not.
pub(crate) const VERSION: u32 = 2;

/// What the seal says about a set.
#[derive(Clone, Debug)]
pub(crate) struct SetSeal {
    pub(crate) version: u32,
    /// The algorithm of the main digests; `None` if the set has no digests.
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) sources: Vec<Source>,
    pub(crate) files: Vec<SealedFile>,
}

/// A tree of the set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// The name in the column `source`.
    pub(crate) source: String,
    /// The root that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_b64: Option<String>,
    /// The number of shards that the tree was converted from. Directories that these share have no tree digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shards: Option<u32>,
    /// The date of the snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) snapshot: Option<String>,
    /// When the last update began that examined the whole tree, if a later one examined only a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) full_ns: Option<i64>,
    /// The paths that could not be read when the tree was recorded. What is at and below them is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<SealedPath>,
}

/// A path, as text or in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedPath {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_b64: Option<String>,
}

impl SealedPath {
    fn new(path: &[u8]) -> Self {
        match str::from_utf8(path) {
            Ok(text) => Self { path: Some(text.into()), path_b64: None },
            Err(_) => Self { path: None, path_b64: Some(data_encoding::BASE64.encode(path)) },
        }
    }
}

impl Source {
    pub(crate) fn new(origin: &Origin, root: &[u8], failed: &Failed) -> Self {
        let SealedPath { path: root, path_b64: root_b64 } = SealedPath::new(root);
        let failed = failed.paths().iter().map(|path| SealedPath::new(path)).collect();
        let shards = origin.shard.map(|(_, of)| of);
        let (source, snapshot) = (origin.source.clone(), origin.snapshot.clone());
        let full_ns = origin.full_ns.and_then(|ns| ns.try_into().ok());
        Self { source, root, root_b64, shards, snapshot, full_ns, failed }
    }

    /// Returns the paths that could not be read, as the seal has them.
    pub(crate) fn failed_paths(&self) -> &[SealedPath] {
        &self.failed
    }

    /// Returns what could not be read.
    ///
    /// # Errors
    /// If a path is not valid base64.
    pub(crate) fn failed(&self) -> Result<Failed> {
        let bytes = |path: &SealedPath| {
            let path = ftk_record::read_path(path.path.as_deref(), path.path_b64.as_deref())?;
            Ok(path.into_owned())
        };
        Ok(Failed::new(self.failed.iter().map(bytes).collect::<Result<_>>()?))
    }

    /// Returns the root as bytes.
    pub(crate) fn root(&self) -> Result<Vec<u8>> {
        let root = ftk_record::read_path(self.root.as_deref(), self.root_b64.as_deref())?;
        Ok(root.into_owned())
    }
}

/// A file of the set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedFile {
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) size_bytes: u64,
    pub(crate) sha256: String,
    /// The length of the indexes and the footer, which end the file. Files of version 1 lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index_sha256: Option<String>,
}

impl SealedFile {
    /// Returns the table that the file belongs to.
    pub(crate) fn table(&self) -> Option<Table> {
        let (table, number) = self.file.strip_suffix(".parquet")?.rsplit_once('-')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match table {
            "entries" => Some(Table::Entries),
            // Those of version 1 have the columns of more tables.
            "digests" | "contents" => Some(Table::Digests),
            _ => None,
        }
        .filter(|_| is_number)
    }

    /// Checks that the file in the directory is the one that was sealed: its size, its indexes and its footer, or with
    /// `is_whole` all of it. Pages have their own checksums, except in files of version 1, which are always read as a
    /// whole. `read` is called with the number of bytes read.
    ///
    /// # Errors
    /// If it cannot be read, or differs.
    pub(crate) fn check(&self, dir: &Path, is_whole: bool, read: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let path = dir.join(&self.file);
        let shown = path.display();
        let mut file = File::open(&path).with_context(|| format!("cannot open {shown}"))?;
        let len = file.metadata().with_context(|| format!("cannot open {shown}"))?.len();
        ensure!(len == self.size_bytes, "{shown} is not the file that was sealed: its size differs");
        let (start, expected) = match (self.index_bytes, &self.index_sha256) {
            (Some(bytes), Some(sha256)) if !is_whole => (len.saturating_sub(bytes), sha256),
            _ => (0, &self.sha256),
        };
        file.seek(SeekFrom::Start(start)).with_context(|| format!("cannot read {shown}"))?;
        let (mut sha256, mut buffer) = (Sha256::new(), AlignedBuf::new(1 << 20));
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    sha256.update(&buffer[..n]);
                    read(n as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
            }
        }
        let is_same = HEXLOWER.encode(&sha256.finalize()) == *expected;
        ensure!(is_same, "{shown} is not the file that was sealed: its content differs");
        Ok(())
    }

    /// Returns the number of bytes that [`check`](Self::check) reads.
    pub(crate) fn check_bytes(&self, is_whole: bool) -> u64 {
        self.index_bytes.filter(|_| !is_whole).unwrap_or(self.size_bytes)
    }
}

#[derive(Deserialize)]
struct Header {
    ftk: String,
    version: u32,
    algorithm: Option<String>,
    sources: Vec<Object<Source>>,
}

impl SetSeal {
    /// Returns the number of rows of a table.
    pub(crate) fn rows(&self, table: Table) -> u64 {
        self.files.iter().filter(|file| file.table() == Some(table)).map(|file| file.rows).sum()
    }

    /// Writes the seal of a set whose files are complete.
    ///
    /// # Errors
    /// Any error of writing.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let (mut out, mut seal) = (Vec::new(), Seal::new());
        let mut line = |write: &mut dyn FnMut(&mut Vec<u8>)| {
            let start = out.len();
            write(&mut out);
            seal.line(&out[start..]);
        };
        line(&mut |out| {
            write_record(out, |record| {
                record
                    .member("ftk", KIND)
                    .member("version", self.version)
                    .member("program", env!("CARGO_PKG_VERSION"))
                    .member("algorithm", self.algorithm.map(Algorithm::name))
                    .member("sources", &self.sources);
            });
        });
        for file in &self.files {
            line(&mut |out| {
                write_record(out, |record| {
                    record
                        .member("file", &file.file)
                        .member("rows", file.rows)
                        .member("size_bytes", file.size_bytes)
                        .member("sha256", &file.sha256)
                        .member("index_bytes", file.index_bytes)
                        .member("index_sha256", &file.index_sha256);
                });
            });
        }
        seal.footer(&mut out);
        let mut output = Output::create(&dir.join(NAME))?;
        output.write_all(&out)?;
        output.commit()
    }

    /// Reads the seal of a set.
    ///
    /// # Errors
    /// If the directory is not a complete set.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let path: PathBuf = dir.join(NAME);
        let shown = path.display();
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir.is_dir() => bail!(
                "{} is not a complete set: it has no {NAME}; `ftk query convert INPUT -o DIR` makes a set",
                dir.display()
            ),
            opened => opened.with_context(|| format!("cannot open {shown}"))?,
        };
        let mut lines = SealedReader::new(BufReader::new(file));
        let mut set: Option<Self> = None;
        while let Some(line) = lines.next_line().with_context(|| format!("cannot use {shown}"))? {
            match &mut set {
                None => set = Some(Self::header(line).with_context(|| format!("cannot use {shown}"))?),
                Some(set) => {
                    let file = serde_json::from_slice(line).map(|Object(file)| file);
                    let file: SealedFile = file.with_context(|| format!("cannot use {shown}"))?;
                    ensure!(file.table().is_some(), "cannot use {shown}: it lists {:?}", file.file);
                    set.files.push(file);
                }
            }
        }
        let set = set.with_context(|| format!("{shown} is empty"))?;
        for table in Table::ALL {
            let is_there = set.files.iter().any(|file| file.table() == Some(table));
            ensure!(is_there, "cannot use {shown}: it lists no file of {}", table.name());
        }
        Ok(set)
    }

    fn header(line: &[u8]) -> Result<Self> {
        let Object(header): Object<Header> =
            serde_json::from_slice(line).context("it is not the seal of a set")?;
        ensure!(header.ftk == KIND, "it is not the seal of a set");
        let version = header.version;
        ensure!((1..=VERSION).contains(&version), "version {version} needs a newer ftk-query");
        let algorithm = header.algorithm.map(|name| name.parse()).transpose()?;
        let sources = header.sources.into_iter().map(|Object(source)| source).collect();
        Ok(Self { version, algorithm, sources, files: Vec::new() })
    }
}

//! S3 Inventory: lists of the objects of a bucket, as CSV or Parquet files that a `manifest.json` names.

mod csv;
mod manifest;
mod object;
mod parquet;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use data_encoding::HEXLOWER;
use ftk_hash::Algorithm;
use ftk_record::Object;

use super::{Input, Kind};
use crate::convert::{Origin, Sink};
use manifest::{Format, Manifest};
pub(crate) use object::{CURRENT, OfObject};

/// An inventory whose files are all there.
pub(super) struct Inventory {
    format: Format,
    /// The names of the columns of CSV files.
    columns: Vec<String>,
    files: Vec<DataFile>,
}

/// A file of the inventory on this machine.
struct DataFile {
    path: PathBuf,
    size: u64,
    md5: Option<String>,
}

/// Returns whether a file begins like the `manifest.json` of an inventory.
pub(super) fn is_inventory(start: &[u8]) -> bool {
    let has = |member: &str| start.windows(member.len()).any(|part| part == member.as_bytes());
    start.trim_ascii_start().starts_with(b"{") && has("\"sourceBucket\"")
}

/// Opens an inventory and finds its files.
pub(super) fn open(file: File, path: &Path) -> Result<Input> {
    let manifest = Manifest::read(file)?;
    let (format, columns) = (manifest.format()?, manifest.columns());
    let dir = path.parent().unwrap_or(Path::new(""));
    let files = manifest.files.into_iter().map(|Object(file)| {
        let path = locate(dir, &file.key).with_context(|| {
            format!("{} is missing: download the files of the inventory next to its manifest", file.key)
        })?;
        Ok(DataFile { path, size: file.size, md5: file.md5 })
    });
    let inventory = Inventory { format, columns, files: files.collect::<Result<_>>()? };
    let source = format!("s3://{}", manifest.source_bucket);
    let origin = Origin {
        source: source.clone(),
        shard: None,
        algorithms: vec![Algorithm::Md5],
        start_ns: None,
        full_ns: None,
        snapshot: None,
    };
    Ok(Input {
        origin,
        root: source.into_bytes(),
        failed: Arc::default(),
        kind: Kind::Inventory(Box::new(inventory)),
    })
}

/// Finds a file: next to the manifest, in `data` next to it or one directory above, or at its key below a directory
/// that contains the manifest. The first three are where the console and `aws s3 sync` put it.
fn locate(dir: &Path, key: &str) -> Option<PathBuf> {
    let name = key.rsplit('/').next().unwrap_or(key);
    let near = [dir.join(name), dir.join("data").join(name), dir.join("../data").join(name)];
    let is_plain = !key.starts_with('/') && !key.split('/').any(|part| part == "..");
    let below = dir.ancestors().filter(|_| is_plain).map(|above| above.join(key));
    near.into_iter().chain(below).find(|path| path.is_file())
}

impl Inventory {
    /// Puts all objects into the sink, old versions too.
    ///
    /// # Errors
    /// If a file cannot be read, is not the one that the manifest names, or has invalid rows.
    pub(super) fn produce(&self, mut sink: Sink) -> Result<()> {
        for file in &self.files {
            let mut read = || -> Result<()> {
                file.check()?;
                let input = File::open(&file.path).context("cannot open")?;
                match self.format {
                    Format::Csv => {
                        csv::read(input, &self.columns, &mut |entry, of| sink.push_object(entry, of))
                    }
                    Format::Parquet => parquet::read(input, &mut |entry, of| sink.push_object(entry, of)),
                }
            };
            read().with_context(|| file.path.display().to_string())?;
        }
        sink.finish()
    }
}

impl DataFile {
    /// Checks size and MD5.
    fn check(&self) -> Result<()> {
        let file = File::open(&self.path).context("cannot open")?;
        let len = file.metadata().context("cannot open")?.len();
        ensure!(len == self.size, "not the file that the manifest names: its size differs");
        let Some(md5) = &self.md5 else { return Ok(()) };
        let digest = Algorithm::Md5.hash_reader(file).context("cannot read")?;
        let is_same = HEXLOWER.encode(digest.as_bytes()).eq_ignore_ascii_case(md5);
        ensure!(is_same, "not the file that the manifest names: its MD5 differs");
        Ok(())
    }
}

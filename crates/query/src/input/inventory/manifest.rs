//! The `manifest.json` of an inventory.

use std::io::{BufReader, Read};

use anyhow::{Context as _, Result, bail};
use ftk_record::Object;
use serde::Deserialize;

/// The members that are used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) source_bucket: String,
    file_format: String,
    file_schema: String,
    pub(super) files: Vec<Object<ManifestFile>>,
}

/// A file of the inventory.
#[derive(Debug, Deserialize)]
pub(super) struct ManifestFile {
    pub(super) key: String,
    pub(super) size: u64,
    #[serde(rename = "MD5checksum")]
    pub(super) md5: Option<String>,
}

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Parquet,
}

impl Manifest {
    pub(super) fn read(input: impl Read) -> Result<Self> {
        let manifest = serde_json::from_reader(BufReader::new(input));
        let Object(manifest) = manifest.context("not the manifest of an S3 Inventory")?;
        Ok(manifest)
    }

    pub(super) fn format(&self) -> Result<Format> {
        Ok(match &*self.file_format {
            "CSV" => Format::Csv,
            "Parquet" => Format::Parquet,
            other => bail!("an S3 Inventory in the format {other:?} is not supported, only CSV and Parquet"),
        })
    }

    /// Returns the names of the columns of CSV files.
    pub(super) fn columns(&self) -> Vec<String> {
        self.file_schema.split(',').map(|name| name.trim().to_owned()).collect()
    }
}

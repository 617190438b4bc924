//! Tables that are files of the user.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use datafusion::datasource::file_format::options::{CsvReadOptions, JsonReadOptions, ParquetReadOptions};
use datafusion::prelude::SessionContext;

use crate::sets;

/// A file, and the name of its table.
#[derive(Clone, Debug)]
pub(crate) struct TableFile {
    name: String,
    path: PathBuf,
    format: Format,
    /// Whether all columns of CSV are text, so that the path `007` stays as it is.
    is_text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// With the names of the columns in the first line.
    Csv,
    Parquet,
    JsonLines,
}

impl TableFile {
    /// Makes a table of a file, whose name ends as its format says. `is_text`: all columns of CSV are text.
    ///
    /// # Errors
    /// If the format is not known.
    pub(crate) fn new(name: &str, path: PathBuf, is_text: bool) -> Result<Self> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Format::Csv,
            Some("parquet") => Format::Parquet,
            Some("jsonl") => Format::JsonLines,
            _ => bail!("{}: the name of a table must end in .csv, .parquet or .jsonl", path.display()),
        };
        Ok(Self { name: name.to_owned(), path, format, is_text })
    }

    /// Parses `NAME=FILE`.
    ///
    /// # Errors
    /// If it is not that, or the name is that of another table.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (name, file) = text.split_once('=').context("expected NAME=FILE")?;
        let is_word =
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        ensure!(is_word && !name.is_empty(), "the name of a table has the characters a-z, 0-9 and _");
        ensure!(!sets::is_table(name), "the table `{name}` is that of the sets: choose another name");
        Self::new(name, file.into(), false)
    }

    /// Makes the table known to a session.
    ///
    /// # Errors
    /// If the file cannot be read, or is in another format.
    pub(crate) async fn register(&self, session: &SessionContext) -> Result<()> {
        let shown = self.path.display();
        let path = self.path.canonicalize().with_context(|| format!("cannot use {shown}"))?;
        let url = url::Url::from_file_path(&path).ok().filter(|_| path.to_str().is_some());
        let url = url.with_context(|| format!("cannot use {shown}: its path must be UTF-8"))?;
        let registered = match self.format {
            Format::Csv => {
                let options = CsvReadOptions::new().newlines_in_values(true);
                let inferred = if self.is_text { 0 } else { options.schema_infer_max_records };
                session
                    .register_csv(&self.name, url.as_str(), options.schema_infer_max_records(inferred))
                    .await
            }
            Format::Parquet => {
                session.register_parquet(&self.name, url.as_str(), ParquetReadOptions::default()).await
            }
            Format::JsonLines => {
                let options = JsonReadOptions::default().file_extension(".jsonl");
                session.register_json(&self.name, url.as_str(), options).await
            }
        };
        registered.with_context(|| format!("cannot use {shown}"))
    }
}

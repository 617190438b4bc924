//! The files that sets are made from. Each input becomes entries of one tree.

mod inventory;
mod manifest;
pub(crate) mod parts;
mod report;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ftk_dedup::report::Report;
use ftk_manifest::{Failed, Header, Manifest, Meanwhile};
use ftk_record::quote;

use crate::convert::{Origin, Sink};
use inventory::Inventory;
pub(crate) use inventory::{CURRENT, OfObject};
use parts::NotedPart;

/// An opened input, or one starting point of a report.
pub(crate) struct Input {
    pub(crate) origin: Origin,
    /// The root that was recorded.
    pub(crate) root: Vec<u8>,
    /// The paths of the tree that could not be read when it was recorded.
    pub(crate) failed: Arc<Failed>,
    kind: Kind,
}

enum Kind {
    /// A part of a manifest has what notes renames.
    Manifest(Box<Manifest>, Option<Meanwhile>),
    /// A manifest whose seal is checked while its entries are read.
    Unchecked {
        file: File,
        header: Box<Header>,
        path: PathBuf,
    },
    /// The members below one starting point of a report.
    Report {
        report: Arc<Report>,
        root: usize,
    },
    Inventory(Box<Inventory>),
}

impl Input {
    /// Opens a file, and recognises what it is by its content. `is_in_dir`: it must be a part of a manifest.
    ///
    /// # Errors
    /// If the file cannot be read, or is incomplete, damaged or something else.
    pub(crate) fn open(path: &Path, is_in_dir: bool) -> Result<Vec<Self>> {
        let mut file = File::open(path).context("cannot open")?;
        let mut start = Vec::new();
        if file.metadata().context("cannot open")?.is_file() {
            (&file).take(4096).read_to_end(&mut start).context("cannot read")?;
            file = File::open(path).context("cannot open")?;
        }
        if report::is_report(&start) {
            return report::open(file);
        }
        if inventory::is_inventory(&start) {
            return Ok(vec![inventory::open(file, path)?]);
        }
        Ok(vec![manifest::open(file, path, is_in_dir)?])
    }

    /// Returns whether the entries come in the order of their paths.
    pub(crate) fn is_sorted(&self) -> bool {
        matches!(self.kind, Kind::Manifest(..) | Kind::Unchecked { .. })
    }

    /// Returns whether several threads can parse the entries.
    pub(crate) fn is_divisible(&self) -> bool {
        matches!(self.kind, Kind::Unchecked { .. })
    }

    /// Returns the number of entries, if it is known.
    pub(crate) fn rows(&self) -> Option<u64> {
        match &self.kind {
            Kind::Manifest(manifest, _) => Some(manifest.records()),
            Kind::Unchecked { .. } | Kind::Report { .. } | Kind::Inventory(_) => None,
        }
    }

    /// Puts all entries into the sink. Returns what a part has noted.
    ///
    /// # Errors
    /// If an entry cannot be read, or the sink takes no more.
    pub(crate) fn produce(self, sink: Sink) -> Result<Option<NotedPart>> {
        match self.kind {
            Kind::Manifest(manifest, meanwhile) => {
                let noted = manifest::produce(&manifest, meanwhile, sink)?;
                return Ok(noted.map(|meanwhile| NotedPart { root: self.root, manifest, meanwhile }));
            }
            Kind::Unchecked { file, header, path } => manifest::check_and_produce(file, &header, sink)
                .with_context(|| quote(path.as_os_str().as_encoded_bytes())),
            Kind::Report { report, root } => report::produce(&report, root, sink),
            Kind::Inventory(inventory) => inventory.produce(sink),
        }?;
        Ok(None)
    }
}

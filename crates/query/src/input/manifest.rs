//! Manifests as inputs.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use ftk_manifest::{Entry, Failed, Header, Manifest};

use super::{Input, Kind};
use crate::convert::{Origin, Sink};

/// Opens a manifest or a part of one. A whole manifest that is a file is checked while its entries are read; all
/// others are read once to check their seals.
pub(super) fn open(file: File, path: &Path, is_in_dir: bool) -> Result<Input> {
    if !is_in_dir && file.metadata()?.is_file() {
        let header = Manifest::peek(&file)?;
        if header.shard.is_none() {
            let (origin, root) = described(&header, &header);
            let failed = Arc::new(header.failed.clone());
            let kind = Kind::Unchecked { file, header: Box::new(header), path: path.to_owned() };
            return Ok(Input { origin, root, failed, kind });
        }
    }
    let manifest = Manifest::open_any(file)?;
    let header = manifest.header().clone();
    let failed = Arc::new(header.failed.clone());
    Ok(input(manifest, &header, failed))
}

/// Makes a manifest an input of the tree that `whole` describes: its own header, or that of all parts. `failed` is what
/// any part could not read.
pub(super) fn input(manifest: Manifest, whole: &Header, failed: Arc<Failed>) -> Input {
    let (origin, root) = described(manifest.header(), whole);
    Input { origin, root, failed, kind: Kind::Manifest(Box::new(manifest)) }
}

/// Returns what an input says about the tree.
fn described(header: &Header, whole: &Header) -> (Origin, Vec<u8>) {
    let origin = Origin {
        source: String::from_utf8_lossy(&whole.root).into_owned(),
        shard: header.shard.as_ref().map(|shard| (shard.number, shard.of)),
        algorithms: header.algorithms.clone(),
        start_ns: Some(header.start_ns),
        snapshot: None,
    };
    (origin, whole.root.clone())
}

/// Puts all entries into the sink.
pub(super) fn produce(manifest: &Manifest, sink: &mut Sink) -> Result<()> {
    let mut sorted = InOrder { sink, root: None };
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        sorted.push(&entry)?;
    }
    sorted.finish()
}

/// Puts all entries of a manifest into the sink while its seal is checked.
pub(super) fn check_and_produce(file: File, header: &Header, sink: &mut Sink) -> Result<()> {
    let mut sorted = InOrder { sink, root: None };
    Manifest::pass(file, header, |entry| sorted.push(entry))?;
    sorted.finish()
}

/// Passes entries on in the order of their paths as text. A manifest begins with the root, whose path `.` sorts after
/// some others.
struct InOrder<'s> {
    sink: &'s mut Sink,
    root: Option<Root>,
}

impl InOrder<'_> {
    fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        if entry.path == ROOT {
            self.root = Some(Root::of(entry));
            return Ok(());
        }
        if let Some(root) = self.root.take_if(|_| entry.path > ROOT) {
            self.sink.push(&root.entry())?;
        }
        self.sink.push(entry)
    }

    fn finish(self) -> Result<()> {
        self.root.map_or(Ok(()), |root| self.sink.push(&root.entry()))
    }
}

const ROOT: &[u8] = b".";

/// A copy of the entry of the root.
struct Root {
    fixed: Entry<'static>,
    target: Option<Vec<u8>>,
    digests: Vec<u8>,
    tree: Vec<u8>,
}

impl Root {
    fn of(entry: &Entry<'_>) -> Self {
        let Entry { stat, absent, fs, verified_ns, damaged_ns, .. } = *entry;
        Self {
            fixed: Entry { absent, fs, verified_ns, damaged_ns, ..Entry::new(ROOT, stat) },
            target: entry.target.map(<[u8]>::to_vec),
            digests: entry.digests.to_vec(),
            tree: entry.tree.to_vec(),
        }
    }

    fn entry(&self) -> Entry<'_> {
        Entry { target: self.target.as_deref(), digests: &self.digests, tree: &self.tree, ..self.fixed }
    }
}

//! Manifests as inputs.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use ftk_manifest::{Failed, Header, Manifest, Meanwhile, Piece};

use super::{Input, Kind, OfObject};
use crate::convert::{Origin, Rows, Sink};

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
    Ok(input(manifest, None, &header, failed))
}

/// Makes a manifest an input of the tree that `whole` describes: its own header, or that of all parts. `failed` is what
/// any part could not read, and `meanwhile` notes renames.
pub(super) fn input(
    manifest: Manifest,
    meanwhile: Option<Meanwhile>,
    whole: &Header,
    failed: Arc<Failed>,
) -> Input {
    let (origin, root) = described(manifest.header(), whole);
    Input { origin, root, failed, kind: Kind::Manifest(Box::new(manifest), meanwhile) }
}

/// Returns what an input says about the tree.
fn described(header: &Header, whole: &Header) -> (Origin, Vec<u8>) {
    let origin = Origin {
        source: String::from_utf8_lossy(&whole.root).into_owned(),
        shard: header.shard.as_ref().map(|shard| (shard.number, shard.of)),
        algorithms: header.algorithms.clone(),
        start_ns: Some(header.start_ns),
        full_ns: whole.provenance.examined.map(|examined| examined.full_ns),
        snapshot: None,
    };
    (origin, whole.root.clone())
}

/// Puts all entries into the sink. Returns `meanwhile`, which has noted them.
pub(super) fn produce(
    manifest: &Manifest,
    mut meanwhile: Option<Meanwhile>,
    mut sink: Sink,
) -> Result<Option<Meanwhile>> {
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        if let Some(meanwhile) = &mut meanwhile {
            meanwhile.add(&entry);
        }
        sink.push(&entry)?;
    }
    sink.finish()?;
    Ok(meanwhile)
}

/// Puts all entries of a manifest into the sink while its seal is checked. Several threads parse them.
pub(super) fn check_and_produce(file: File, header: &Header, sink: Sink) -> Result<()> {
    let (rows, most, mut batches) = sink.divide();
    let maker = |mut rows: Rows| {
        move |piece: &mut Piece<'_>| -> Result<_> {
            while let Some(entry) = piece.next()? {
                rows.push(&entry, OfObject::default());
            }
            Ok(rows.full(1)?)
        }
    };
    let makers = rows.into_iter().map(maker).collect();
    Manifest::pass(file, header, most, makers, |made| batches.send(made))?;
    batches.finish()
}

//! Manifests as inputs.

use std::fs::File;

use anyhow::Result;
use ftk_manifest::{Entry, Header, Manifest};

use super::{Input, Kind};
use crate::convert::{Origin, Sink};

/// Opens a manifest or a part of one, which reads it once to check its seal.
pub(super) fn open(file: File) -> Result<Input> {
    let manifest = Manifest::open_any(file)?;
    let header = manifest.header().clone();
    Ok(input(manifest, &header))
}

/// Makes a manifest an input of the tree that `whole` describes: its own header, or that of all parts.
pub(super) fn input(manifest: Manifest, whole: &Header) -> Input {
    let (header, root) = (manifest.header(), &whole.root);
    let origin = Origin {
        source: String::from_utf8_lossy(root).into_owned(),
        shard: header.shard.as_ref().map(|shard| (shard.number, shard.of)),
        algorithms: header.algorithms.clone(),
        start_ns: Some(header.start_ns),
    };
    let failed = Some(whole.failed.paths().len() as u64).filter(|n| *n > 0);
    Input { origin, root: root.clone(), failed, kind: Kind::Manifest(Box::new(manifest)) }
}

/// Puts all entries into the sink, in the order of their paths as text. A manifest begins with the root, whose path `.`
/// sorts after some others.
pub(super) fn produce(manifest: &Manifest, sink: &mut Sink) -> Result<()> {
    let mut entries = manifest.entries()?;
    let mut root: Option<Root> = None;
    while let Some(entry) = entries.next()? {
        if entry.path == ROOT {
            root = Some(Root::of(&entry));
            continue;
        }
        if let Some(root) = root.take_if(|_| entry.path > ROOT) {
            sink.push(&root.entry())?;
        }
        sink.push(&entry)?;
    }
    root.map_or(Ok(()), |root| sink.push(&root.entry()))
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

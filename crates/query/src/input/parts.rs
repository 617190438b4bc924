//! Shards as inputs: the parts of a tree become one source.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use ftk_manifest::{Manifest, Meanwhile, Parts, part_files};
use ftk_record::quote;
use indicatif::HumanCount;

use super::{Input, Kind, manifest};

/// A file that is an input.
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    /// The index of the argument, if that is a directory of parts.
    dir: Option<usize>,
}

impl InputFile {
    /// Returns whether the argument is a directory of parts.
    pub(crate) fn is_in_dir(&self) -> bool {
        self.dir.is_some()
    }
}

/// Returns the files that the arguments name. Those in a directory must be the parts of one tree.
///
/// # Errors
/// If a directory cannot be listed, or has no parts.
pub(crate) fn files(arguments: &[PathBuf]) -> Result<Vec<InputFile>> {
    let mut files = Vec::new();
    for (nth, path) in arguments.iter().enumerate() {
        if !path.is_dir() {
            files.push(InputFile { path: path.clone(), dir: None });
            continue;
        }
        let parts = part_files(path).with_context(|| format!("cannot list {}", shown(path)))?;
        ensure!(
            !parts.is_empty(),
            "{} is a directory without parts: files whose names end in .jsonl or .jsonl.zst",
            shown(path)
        );
        files.extend(parts.into_iter().map(|path| InputFile { path, dir: Some(nth) }));
    }
    Ok(files)
}

/// The parts of a tree, with their files.
struct Tree<'f> {
    dir: Option<usize>,
    /// The index of the first file.
    first: usize,
    paths: Vec<&'f Path>,
    parts: Vec<Manifest>,
}

/// Joins the parts among the inputs of these files. The parts of a directory are one tree, and so are the parts among
/// all other files.
///
/// # Errors
/// If a part is missing, or parts do not belong together.
pub(crate) fn join(files: &[InputFile], opened: Vec<Vec<Input>>) -> Result<Vec<Input>> {
    let (mut inputs, mut trees) = (Vec::new(), Vec::<Tree<'_>>::new());
    for (nth, (InputFile { path, dir }, of_file)) in files.iter().zip(opened).enumerate() {
        for input in of_file {
            let part = match input.kind {
                Kind::Manifest(part, _) if dir.is_some() || part.header().shard.is_some() => part,
                _ if dir.is_some() => bail!("{}: it is not a part of a manifest", shown(path)),
                _ => {
                    inputs.push((nth, input));
                    continue;
                }
            };
            let known = trees.iter().position(|tree| tree.dir == *dir).unwrap_or_else(|| {
                trees.push(Tree { dir: *dir, first: nth, paths: Vec::new(), parts: Vec::new() });
                trees.len() - 1
            });
            trees[known].paths.push(path);
            trees[known].parts.push(*part);
        }
    }
    for Tree { first, paths, parts, .. } in trees {
        let parts = Parts::new(parts, Parts::MAX_SPAN_NS).map_err(|error| {
            let names: Vec<_> = error.given().into_iter().map(|at| shown(paths[at])).collect();
            if names.is_empty() { anyhow!(error) } else { anyhow!(error).context(names.join(" and ")) }
        })?;
        let (whole, meanwhile) = (parts.header(), parts.meanwhile());
        let failed = Arc::new(whole.failed.clone());
        let input =
            |part| (first, manifest::input(part, Some(meanwhile.clone()), &whole, Arc::clone(&failed)));
        inputs.extend(parts.into_parts().map(|(_, part)| input(part)));
    }
    // The first input decides which algorithm is the default.
    inputs.sort_by_key(|(nth, _)| *nth);
    Ok(inputs.into_iter().map(|(_, input)| input).collect())
}

/// A part that was read, and what was noted.
pub(crate) struct NotedPart {
    /// The root that all parts of the tree recorded.
    pub(super) root: Vec<u8>,
    pub(super) manifest: Box<Manifest>,
    pub(super) meanwhile: Meanwhile,
}

/// Returns what `ftk manifest merge` says about entries that were renamed while the parts of the trees were recorded.
///
/// # Errors
/// If a part has to be read again and cannot be.
pub(crate) fn renames(parts: Vec<NotedPart>) -> Result<Vec<String>> {
    let mut trees = BTreeMap::<Vec<u8>, (Meanwhile, Vec<Box<Manifest>>)>::new();
    for NotedPart { root, manifest, meanwhile } in parts {
        match trees.entry(root) {
            Entry::Occupied(mut tree) => {
                tree.get_mut().0.join(meanwhile);
                tree.get_mut().1.push(manifest);
            }
            Entry::Vacant(tree) => _ = tree.insert((meanwhile, vec![manifest])),
        }
    }
    let mut lines = Vec::new();
    for (root, (meanwhile, parts)) in trees {
        let renames = meanwhile.finish(parts.iter().map(|part| &**part))?;
        let messages = renames.messages(|n| HumanCount(n).to_string());
        lines.extend(messages.into_iter().map(|message| format!("{}: {message}", quote(&root))));
    }
    Ok(lines)
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes()).to_string()
}

//! Shards as inputs: the parts of a tree become one source.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use ftk_manifest::{Manifest, Parts, part_files};
use ftk_record::quote;

use super::{Input, Kind, manifest};
use crate::console::Console;

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
pub(crate) fn join(files: &[InputFile], opened: Vec<Vec<Input>>, console: &Console) -> Result<Vec<Input>> {
    let (mut inputs, mut trees) = (Vec::new(), Vec::<Tree<'_>>::new());
    for (nth, (InputFile { path, dir }, of_file)) in files.iter().zip(opened).enumerate() {
        for input in of_file {
            let part = match input.kind {
                Kind::Manifest(part) if dir.is_some() || part.header().shard.is_some() => part,
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
        let (whole, changes) = (parts.header(), parts.changes());
        if !changes.is_empty() {
            console.warning(format_args!(
                "{}: a file that was renamed while the shards were recorded may be missing or appear twice: `ftk manifest \
                 merge` names the directories",
                quote(&whole.root)
            ));
        }
        let failed = Arc::new(whole.failed.clone());
        let input = |part| (first, manifest::input(part, &whole, Arc::clone(&failed)));
        inputs.extend(parts.into_parts().map(|(_, part)| input(part)));
    }
    // The first input decides which algorithm is the default.
    inputs.sort_by_key(|(nth, _)| *nth);
    Ok(inputs.into_iter().map(|(_, input)| input).collect())
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes()).to_string()
}

//! A tree for measurements.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Access, access};

use super::shape::Shape;
use super::{interrupt, machine};

/// The path and the properties of a tree.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) title: String,
    pub(crate) path: PathBuf,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) file_system: String,
    /// The most frequent extensions, most frequent first.
    pub(crate) extensions: Vec<String>,
    /// A size in bytes that some files exceed.
    pub(crate) threshold: u64,
}

impl Tree {
    pub(crate) fn generated(shape: &Shape, path: PathBuf) -> Self {
        Self {
            title: format!("{}: {shape}", shape.name),
            files: shape.files(),
            bytes: shape.disk_bytes(),
            file_system: machine::file_system(&path),
            extensions: ["jpg", "txt", "py"].map(str::to_owned).to_vec(),
            threshold: shape.threshold(),
            path,
        }
    }

    /// Collects the properties of a tree of real files.
    ///
    /// # Errors
    /// If anything in it is not readable, because tools differ in how they handle this.
    pub(crate) fn survey(path: &Path) -> Result<Self> {
        println!("surveying {}", path.display());
        let mut extensions: HashMap<OsString, u64> = HashMap::new();
        let (mut files, mut bytes) = (0, 0);
        walk(path, |path, file_type| {
            if file_type.is_file() {
                access(path, Access::READ_OK).with_context(|| format!("cannot read {}", path.display()))?;
                files += 1;
                bytes += path.symlink_metadata()?.len();
                if let Some(extension) = path.extension() {
                    *extensions.entry(extension.to_ascii_lowercase()).or_default() += 1;
                }
            }
            Ok(())
        })?;
        let mut extensions: Vec<_> = extensions
            .into_iter()
            .filter_map(|(name, count)| Some((count, name.into_string().ok()?)))
            .filter(|(_, name)| name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .collect();
        extensions.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let name = path.file_name().unwrap_or(OsStr::new("tree")).to_string_lossy();
        Ok(Self {
            title: format!("{name}: {files} files, {:.1} GB", bytes as f64 / 1e9),
            path: path.to_owned(),
            files,
            bytes,
            file_system: machine::file_system(path),
            extensions: extensions.into_iter().take(3).map(|(_, name)| name).collect(),
            threshold: 4096,
        })
    }
}

/// Calls `visit` for every entry below `top`, directories before their entries.
pub(crate) fn walk(top: &Path, mut visit: impl FnMut(&Path, FileType) -> Result<()>) -> Result<()> {
    let mut dirs = vec![top.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
            interrupt::check()?;
            let entry = entry?;
            let (path, file_type) = (entry.path(), entry.file_type()?);
            visit(&path, file_type)?;
            dirs.extend(file_type.is_dir().then_some(path));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::bench::shape;

    pub(crate) fn example() -> Tree {
        Tree::generated(&shape::SMALL, "t".into())
    }

    #[test]
    fn a_survey_counts_files_and_extensions() {
        let tree = Tree::survey(Path::new("src/bench")).unwrap();
        assert!(tree.files > 20 && tree.bytes > 10_000);
        assert_eq!(tree.extensions, ["rs"]);
        assert_eq!(tree.title, format!("bench: {} files, 0.0 GB", tree.files));
    }

    #[test]
    fn an_error_names_a_missing_tree() {
        assert_eq!(Tree::survey(Path::new("no/tree")).err().unwrap().to_string(), "cannot read no/tree");
    }
}

//! Film hash lists on the command line: which arguments are such lists, and where their files are.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::Budget;
use ftk_manifest::{ASCMHL, CHAIN, GenerationState, History};
use ftk_record::{begins_mhl, quote};
use ftk_select::IgnoreFile;

/// A film hash list that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilmList {
    /// The directory that its paths are relative to.
    pub(crate) root: PathBuf,
    /// Whether it is a history of ASC MHL: the directory `ascmhl`, its chain file, or the directory that has both.
    pub(crate) is_history: bool,
}

impl FilmList {
    /// Returns what `path` is; `None` if it is no film hash list, or cannot be read. Only regular files are opened.
    pub(crate) fn of(path: &OsStr) -> Option<Self> {
        let path = Path::new(path);
        let metadata = path.metadata().ok()?;
        if metadata.is_dir() {
            let root = match is_named(path, ASCMHL) {
                true => above(path),
                false => path.to_path_buf(),
            };
            let is_history = root.join(ASCMHL).join(CHAIN).is_file() || is_named(path, ASCMHL);
            return is_history.then_some(Self { root, is_history });
        }
        if !metadata.is_file() || !(is_mhl_name(path) || begins(path)) {
            return None;
        }
        let dir = above(path);
        let (root, is_history) = match is_named(&dir, ASCMHL) {
            true => (above(&dir), path.file_name() == Some(OsStr::new(CHAIN))),
            // A list of version 1, or one that was made of a whole history.
            false => (dir, false),
        };
        Some(Self { root, is_history })
    }

    /// Whether a path has the name of a list that is not in a history. Files of macOS for the metadata of another one
    /// (`._x.mhl`) are none.
    pub(crate) fn is_name_of_list(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_bytes();
        let is_in_history = path.parent().is_some_and(|dir| dir.file_name() == Some(OsStr::new(ASCMHL)));
        is_mhl_name(path) && !is_in_history && !name.starts_with(b"._")
    }

    /// Returns the directory that the paths of all `lists` are relative to; `None` if there is no film hash list.
    ///
    /// # Errors
    /// If some of them are other lists, or the directories differ.
    pub(crate) fn common_root<P: AsRef<OsStr>>(lists: &[P]) -> anyhow::Result<Option<PathBuf>> {
        let films: Vec<_> = lists.iter().map(|list| Self::of(list.as_ref())).collect();
        let Some(first) = films.iter().flatten().next() else { return Ok(None) };
        for (list, film) in lists.iter().zip(&films) {
            let list = quote(list.as_ref().as_bytes());
            let Some(film) = film else {
                bail!(
                    "{list} is no film hash list like the others: check it by itself, or give --root for all"
                );
            };
            ensure!(
                film.root == first.root,
                "the files of {list} are in another directory than those of the other lists: check it by itself"
            );
        }
        Ok(Some(first.root.clone()))
    }
}

/// Whether a directory has this name. It may be written as `.`.
fn is_named(dir: &Path, name: &str) -> bool {
    match dir.file_name() {
        Some(found) => found == name,
        None => dir.canonicalize().is_ok_and(|dir| dir.file_name() == Some(OsStr::new(name))),
    }
}

/// Returns the directory that a path is in.
fn above(path: &Path) -> PathBuf {
    match path.parent() {
        _ if path.file_name().is_none() => path.join(".."),
        Some(dir) if dir != Path::new("") => dir.to_path_buf(),
        _ => ".".into(),
    }
}

fn is_mhl_name(path: &Path) -> bool {
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("mhl"))
}

/// Whether a file begins like a film hash list. Nearly all other lists are told apart by their first bytes.
fn begins(path: &Path) -> bool {
    let read = |len| {
        let mut start = Vec::new();
        File::open(path).and_then(|file| file.take(len).read_to_end(&mut start)).map(|_| start)
    };
    read(4)
        .is_ok_and(|start| matches!(*start, [b'<', ..] | [0xef, 0xbb, 0xbf, ..] | [b' ' | b'\n' | b'\r', ..]))
        && read(1 << 16).is_ok_and(|start| begins_mhl(&start))
}

/// Reads the history of a directory.
///
/// # Errors
/// If it cannot be read, or any part of it is not as recorded.
pub(crate) fn intact_history(root: &Path, budget: &Budget) -> anyhow::Result<History> {
    let history = History::read(root, &[], budget)?;
    let hint = "`ftk hash --check` says what is wrong";
    for (path, state) in &history.generations {
        let what = match state {
            GenerationState::Intact => continue,
            GenerationState::Edited => "has been edited",
            GenerationState::Missing => "is missing",
            GenerationState::Unlisted => "is not in the chain file",
        };
        bail!("{} {what}: {hint}", quote(path));
    }
    ensure!(
        history.unusable.is_empty() && history.inconsistencies.is_empty(),
        "the history contradicts itself, or has files without digests: {hint}"
    );
    Ok(history)
}

/// What a history does not record: its own directories, and what its last generations ignore.
#[derive(Debug)]
pub(crate) struct Ignored {
    /// The patterns of each history, by the directory that it is about; the innermost first.
    by_prefix: Vec<(Vec<u8>, IgnoreFile)>,
}

impl Ignored {
    /// Collects the patterns of a history and those nested in it.
    ///
    /// # Errors
    /// If there are too many, or too complex ones.
    pub(crate) fn of(history: &History) -> anyhow::Result<Self> {
        let mut by_prefix = Vec::new();
        for chain in &history.chains {
            let mut lines = DEFAULT_IGNORED.join("\n");
            for pattern in &chain.ignored {
                lines.push('\n');
                lines.push_str(pattern);
            }
            let patterns = IgnoreFile::parse(lines).context("the ignored patterns of the history")?;
            by_prefix.push((chain.prefix.clone(), patterns));
        }
        by_prefix.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Ok(Self { by_prefix })
    }

    /// Whether an entry below the root is ignored, or a directory above it.
    pub(crate) fn has(&self, path: &[u8], is_dir: bool) -> bool {
        self.by_prefix.iter().any(|(prefix, patterns)| {
            let Some(below) = path.strip_prefix(&**prefix) else { return false };
            let ignores = |path, is_dir| {
                patterns.find(OsStr::from_bytes(path), is_dir).is_some_and(|found| found.ignores)
            };
            let mut above = memchr::memchr_iter(b'/', below).map(|slash| &below[..slash]);
            above.any(|dir| ignores(dir, true)) || ignores(below, is_dir)
        })
    }
}

/// What every generation ignores.
pub(crate) const DEFAULT_IGNORED: [&str; 3] = [".DS_Store", "ascmhl", "ascmhl/"];

//! Trees with duplicates and differences, copied from other trees or generated as hard cases.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::context::Context;
use super::interrupt;
use super::shape::mix;
use super::tree::{Tree, walk};

/// The names of these trees.
pub(crate) const NAMES: &[&str] = &["copies", "alike", "links", "copy", "pairs"];

/// [`copies`] copies one file of this many, and alters one copy of that many.
const COPIED: usize = 3;
const ALTERED: usize = 10;

/// Copies every third file of `tree`, and changes the last byte of every tenth copy.
pub(crate) fn copies(bench: &Context, tree: &Tree) -> Result<Tree> {
    let description = format!("every third file of {}, one in ten with another last byte", tree.title);
    let (bytes, files) = (on_disk(tree), tree.files);
    let path = bench.scratch.made("copies", &description, bytes, files, |top| {
        let mut copied = 0;
        for (nth, file) in regular_files(&tree.path)?.iter().enumerate().filter(|(nth, _)| nth % COPIED == 0)
        {
            interrupt::check()?;
            let to = top.join(file.strip_prefix(&tree.path)?);
            fs::create_dir_all(to.parent().context("a file is in a directory")?)?;
            fs::copy(file, &to).with_context(|| format!("cannot copy file {nth}"))?;
            copied += 1;
            if copied % ALTERED == 0 {
                alter(&to, -1)?;
            }
        }
        Ok(())
    })?;
    Ok(Tree { title: format!("copies: {description}"), ..Tree::survey(&path)? })
}

/// Returns the title of a tree together with its [`copies`].
pub(crate) fn title_with_copies(tree: &Tree) -> String {
    format!("{}, and copies: every third file, one in ten altered", tree.title)
}

/// Copies `tree`, including symbolic links. Only times differ.
pub(crate) fn copy(bench: &Context, tree: &Tree) -> Result<Tree> {
    let description = format!("a copy of {}", tree.title);
    let path = bench.scratch.made("copy", &description, on_disk(tree), tree.files, |top| {
        fs::create_dir(top)?;
        walk(&tree.path, |from, file_type| {
            let to = top.join(from.strip_prefix(&tree.path)?);
            if file_type.is_dir() {
                fs::create_dir(&to)?;
            } else if file_type.is_symlink() {
                symlink(fs::read_link(from)?, &to)?;
            } else if file_type.is_file() {
                fs::copy(from, &to)?;
            }
            Ok(())
        })
    })?;
    Ok(Tree { title: format!("copy: {description}"), path, ..tree.clone() })
}

/// Makes large files in families of four that begin and end alike. Two are identical, and the others differ in one
/// byte inside.
pub(crate) fn alike(bench: &Context, families: u64, bytes: u64) -> Result<Tree> {
    let description =
        format!("{families} x 4 files of {} KiB that begin and end alike, two of them equal", bytes >> 10);
    let files = families * 4;
    let path = bench.scratch.made("alike", &description, files * bytes, files, |top| {
        for family in 0..families {
            let dir = top.join(format!("family_{family:02}"));
            fs::create_dir_all(&dir)?;
            let first = dir.join("disk_0.img");
            fill(&first, family, bytes)?;
            for member in 1..4 {
                let path = dir.join(format!("disk_{member}.img"));
                fs::copy(&first, &path)?;
                if member > 1 {
                    alter(&path, (bytes / 2 + member * bytes / 16) as i64)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(made(&path, format!("alike: {description}"), files, files * bytes))
}

/// Makes few inodes with many names each, and two inodes with each content.
pub(crate) fn links(bench: &Context, contents: u64, names: u64) -> Result<Tree> {
    let description = format!("{contents} contents in two files each, {names} hard links to each");
    let files = contents * 2 * names;
    let path = bench.scratch.made("links", &description, contents * 2 * 8192, contents * 2, |top| {
        for content in 0..contents {
            interrupt::check()?;
            for copy in 0..2 {
                let dir = top.join(format!("copy_{copy}/content_{content:04}"));
                fs::create_dir_all(&dir)?;
                let first = dir.join("name_0000");
                fill(&first, content, 4096)?;
                for name in 1..names {
                    fs::hard_link(&first, dir.join(format!("name_{name:04}")))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(made(&path, format!("links: {description}"), files, files * 4096))
}

/// Makes two files of `bytes` bytes that differ only at `places`.
pub(crate) fn pair(bench: &Context, name: &str, bytes: u64, places: &[u64]) -> Result<[PathBuf; 2]> {
    let description = format!("two files of {bytes} bytes that differ at {places:?}");
    let folder = bench.scratch.made(&format!("pairs-{name}"), &description, 2 * bytes, 2, |top| {
        fs::create_dir(top)?;
        fill(&top.join("a"), 7, bytes)?;
        fs::copy(top.join("a"), top.join("b"))?;
        places.iter().try_for_each(|&place| alter(&top.join("b"), place as i64))
    })?;
    rustix::fs::sync();
    Ok([folder.join("a"), folder.join("b")])
}

fn made(path: &Path, title: String, files: u64, bytes: u64) -> Tree {
    rustix::fs::sync(); // otherwise pending writes would slow down the first runs
    Tree {
        title,
        path: path.to_owned(),
        files,
        bytes,
        file_system: super::machine::file_system(path),
        extensions: Vec::new(),
        threshold: 4096,
    }
}

/// Returns an upper bound of the disk space of a copy.
fn on_disk(tree: &Tree) -> u64 {
    tree.bytes + tree.files * 4096
}

/// Returns all regular files below `top`, sorted by path.
pub(crate) fn regular_files(top: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(top, |path, file_type| {
        files.extend(file_type.is_file().then(|| path.to_owned()));
        Ok(())
    })?;
    files.sort_unstable();
    Ok(files)
}

/// Writes a file of pseudo-random bytes.
fn fill(path: &Path, seed: u64, bytes: u64) -> Result<()> {
    let mut file = std::io::BufWriter::with_capacity(1 << 20, File::create(path)?);
    for word in 0..bytes.div_ceil(8) {
        if word % (1 << 20) == 0 {
            interrupt::check()?;
        }
        let left = (bytes - word * 8).min(8) as usize;
        file.write_all(&mix((seed << 40) ^ word).to_le_bytes()[..left])?;
    }
    Ok(file.flush()?)
}

/// Inverts the byte at `place`; a negative place counts from the end. Does nothing if the file has no such byte.
pub(crate) fn alter(path: &Path, place: i64) -> Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let len = file.seek(SeekFrom::End(0))?;
    let place = if place < 0 { len.checked_add_signed(place) } else { Some(place as u64) };
    let Some(place) = place.filter(|place| *place < len) else { return Ok(()) };
    file.seek(SeekFrom::Start(place))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    file.write_all_at(&[!byte[0]], place)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn altering_a_byte_twice_restores_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fill(&path, 3, 21).unwrap();
        let before = fs::read(&path).unwrap();
        assert_eq!(before.len(), 21);
        for (place, at) in [(0, 0), (7, 7), (-1, 20)] {
            alter(&path, place).unwrap();
            let after = fs::read(&path).unwrap();
            let differ: Vec<_> = (0..21).filter(|&i| before[i] != after[i]).collect();
            assert_eq!(differ, [at]);
            alter(&path, place).unwrap();
        }
        alter(&path, 21).unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::write(&path, "").unwrap();
        alter(&path, -1).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}

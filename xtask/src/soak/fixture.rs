//! A tree in which a directory is exchanged with a symbolic link that leads out of the tree.
//!
//! ```text
//!  root/kept/...       files that are always there
//!  root/work/...       copies of them; this name is exchanged with
//!  root/lure           a symbolic link to
//!  root/work/own        a file without a copy, so that `work` is never empty
//!  copy/kept/..., copy/work/...  a copy of the tree, from which it is repaired
//!  elsewhere/...       files of the same names: some are copies too, the others have secret content
//!  ours.sums           a list of names in root/work, with the digests of the files there
//!  theirs.sums         the same names, with the digests of the files in elsewhere
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::process::sha256;
use crate::bench::shape::mix;

/// Files in each of the three directories, half of them one level deeper.
const FILES: u64 = 12;

/// The name of a file that is only in `elsewhere`.
pub(super) const ELSEWHERE_ONLY: &str = "only-elsewhere";

/// The directory of a trial.
pub(super) struct Fixture {
    top: PathBuf,
    /// The original state of `elsewhere`.
    elsewhere: BTreeMap<PathBuf, State>,
    /// The content of `ours.sums` and `theirs.sums`. Both list the names with secret content: one has the digests of
    /// the files in the tree, the other those of the files in `elsewhere`.
    ours: String,
    theirs: String,
}

/// The properties of an entry that show a change. The access time is not among them, because reading may change it.
#[derive(Debug, PartialEq)]
struct State {
    /// Inode, mode, number of links, owner, group, size, mtime and ctime.
    numbers: [i128; 8],
    content: Vec<u8>,
}

impl Fixture {
    /// Makes the fixture in the new directory `top`.
    pub(super) fn new(top: &Path) -> Result<Self> {
        let elsewhere = top.join("elsewhere");
        fs::create_dir_all(top)?;
        for nth in 0..FILES {
            let content = if is_secret(nth) { secret(nth) } else { content(nth) };
            write(&elsewhere.join(name(nth)), &content)?;
        }
        write(&elsewhere.join(ELSEWHERE_ONLY), b"only elsewhere")?;
        let elsewhere = look(&elsewhere)?;
        let fixture = Self { top: top.to_owned(), elsewhere, ours: sums(content)?, theirs: sums(secret)? };
        fixture.renew()?;
        Ok(fixture)
    }

    /// Returns the digests of the secret content in `elsewhere`.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.theirs.lines().filter_map(|line| line.split(' ').next())
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the two names to exchange.
    pub(super) fn names(&self) -> [PathBuf; 2] {
        ["work", "lure"].map(|name| self.top.join("root").join(name))
    }

    /// Makes the tree again, and removes files that a trial may have created next to it.
    pub(super) fn renew(&self) -> Result<()> {
        for entry in fs::read_dir(&self.top)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name == "elsewhere") {
                continue;
            }
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
        for nth in 0..FILES {
            for place in ["root/kept", "root/work", "copy/kept", "copy/work"] {
                write(&self.top.join(place).join(name(nth)), &content(nth))?;
            }
        }
        for place in ["root", "copy"] {
            write(&self.top.join(place).join("work/own"), b"own")?;
        }
        symlink(self.top.join("elsewhere"), self.top.join("root/lure"))?;
        fs::write(self.top.join("ours.sums"), &self.ours)?;
        fs::write(self.top.join("theirs.sums"), &self.theirs)?;
        Ok(())
    }

    /// Lists changes in `elsewhere`, content lost from the tree, and secret content in the tree. Empty if there are
    /// none.
    pub(super) fn damage(&self) -> Result<Vec<String>> {
        let mut damage = Vec::new();
        let now = look(&self.top.join("elsewhere"))?;
        for (path, seen) in &self.elsewhere {
            match now.get(path) {
                None => damage.push(format!("{} is gone", path.display())),
                Some(now) if now != seen => damage.push(format!("{} was changed", path.display())),
                Some(_) => {}
            }
        }
        let more = now.keys().filter(|path| !self.elsewhere.contains_key(*path));
        damage.extend(more.map(|path| format!("{} is new", path.display())));
        let left: Vec<Vec<u8>> =
            look(&self.top.join("root"))?.into_values().map(|seen| seen.content).collect();
        for nth in 0..FILES {
            if !left.contains(&content(nth)) {
                damage.push(format!("the content of {} is lost", name(nth)));
            }
            if is_secret(nth) && left.contains(&secret(nth)) {
                damage.push(format!("the secret of {} was brought into the tree", name(nth)));
            }
        }
        Ok(damage)
    }
}

/// Makes a checksum list of the names with secret content below `work`, with the digests of `content`.
fn sums(content: impl Fn(u64) -> Vec<u8>) -> Result<String> {
    let line = |nth| Ok(format!("{}  work/{}\n", sha256(&content(nth))?, name(nth)));
    (0..FILES).filter(|&nth| is_secret(nth)).map(line).collect()
}

fn is_secret(nth: u64) -> bool {
    nth % 4 < 2
}

fn name(nth: u64) -> String {
    if nth.is_multiple_of(2) { format!("f{nth}") } else { format!("deep/f{nth}") }
}

fn content(nth: u64) -> Vec<u8> {
    (0..mix(nth) % 700 + 20).flat_map(|word| mix(nth << 32 | word).to_le_bytes()).collect()
}

/// Content that differs from that of the same number in one middle byte only.
fn secret(nth: u64) -> Vec<u8> {
    let mut secret = content(nth);
    let middle = secret.len() / 2;
    secret[middle] ^= 1;
    secret
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the state of `top` and of everything below it. Links are not followed.
fn look(top: &Path) -> Result<BTreeMap<PathBuf, State>> {
    let mut seen = BTreeMap::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path)?;
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let numbers = [
            meta.ino().into(),
            meta.mode().into(),
            meta.nlink().into(),
            meta.uid().into(),
            meta.gid().into(),
            meta.size().into(),
            nanos(meta.mtime(), meta.mtime_nsec()),
            nanos(meta.ctime(), meta.ctime_nsec()),
        ];
        if meta.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        }
        let content = if meta.is_file() { fs::read(&path)? } else { Vec::new() };
        seen.insert(path, State { numbers, content });
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the damage found after `harm` was applied to a new fixture.
    fn damage(harm: impl FnOnce(&Path)) -> Vec<String> {
        let parent = tempfile::tempdir().unwrap();
        let top = parent.path().join("top");
        let fixture = Fixture::new(&top).unwrap();
        assert_eq!(fixture.damage().unwrap(), [""; 0]);
        harm(&top);
        fixture.damage().unwrap()
    }

    #[test]
    fn every_harm_is_found() {
        let found = damage(|top| fs::remove_file(top.join("elsewhere/f0")).unwrap());
        assert!(found.iter().any(|it| it.ends_with("elsewhere/f0 is gone")), "{found:?}");
        let found = damage(|top| fs::hard_link(top.join("elsewhere/f0"), top.join("root/x")).unwrap());
        assert!(found[0].ends_with("elsewhere/f0 was changed"), "{found:?}");
        assert!(found[1].starts_with("the secret of f0"), "{found:?}");
        let found = damage(|top| fs::write(top.join("elsewhere/x"), "").unwrap());
        assert!(found.iter().any(|it| it.ends_with("elsewhere/x is new")), "{found:?}");
        let found = damage(|top| {
            fs::remove_file(top.join("root/work/f2")).unwrap();
            fs::remove_file(top.join("root/kept/f2")).unwrap();
        });
        assert_eq!(found, ["the content of f2 is lost"]);
    }

    #[test]
    fn one_copy_less_is_no_harm() {
        assert_eq!(damage(|top| fs::remove_file(top.join("root/work/f2")).unwrap()), [""; 0]);
    }

    #[test]
    fn secrets_differ_from_the_content_they_replace() {
        assert!((0..FILES).all(|nth| secret(nth) != content(nth) && secret(nth).len() == content(nth).len()));
        assert!((0..FILES).any(is_secret) && !(0..FILES).all(is_secret));
    }
}

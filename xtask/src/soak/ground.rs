//! A tree with a way out of it that somebody opens and closes, and what lies behind.
//!
//! ```text
//!  root/kept/...       what is always there
//!  root/work/...       copies of it; this name is exchanged with
//!  root/lure           a symbolic link to
//!  elsewhere/...       files of the same names, some of them copies too, the others secret
//!  ours.sums           a list of names in root/work, with the digests of what is there
//!  theirs.sums         the same names, with the digests of what is elsewhere
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::process::sha256;
use crate::bench::shape::mix;

/// Files in each of the three places, half of them one directory further down.
const FILES: u64 = 12;

/// The name of a file that is elsewhere only.
pub(super) const ELSEWHERE_ONLY: &str = "only-elsewhere";

/// The place of a trial.
pub(super) struct Ground {
    top: PathBuf,
    /// What is elsewhere, as it was when it was made.
    elsewhere: BTreeMap<PathBuf, Seen>,
    /// For the secret ones among the names: lists of what is in the tree, and of what is elsewhere.
    ours: String,
    theirs: String,
}

/// Everything about an entry that a change shows in. Not when it was read last: that may be seen by a search.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Inode, mode, links, owner, group, size, and the times of content and inode.
    numbers: [i128; 8],
    content: Vec<u8>,
}

impl Ground {
    /// Makes it in `top`, which is new.
    pub(super) fn new(top: &Path) -> Result<Self> {
        let elsewhere = top.join("elsewhere");
        fs::create_dir_all(top)?;
        for nth in 0..FILES {
            let content = if is_secret(nth) { secret(nth) } else { content(nth) };
            write(&elsewhere.join(name(nth)), &content)?;
        }
        write(&elsewhere.join(ELSEWHERE_ONLY), b"only elsewhere")?;
        let elsewhere = look(&elsewhere)?;
        let ground = Self { top: top.to_owned(), elsewhere, ours: sums(content)?, theirs: sums(secret)? };
        ground.renew()?;
        Ok(ground)
    }

    /// The digests of what is elsewhere and nowhere else.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.theirs.lines().filter_map(|line| line.split(' ').next())
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The two names to be exchanged.
    pub(super) fn names(&self) -> [PathBuf; 2] {
        ["work", "lure"].map(|name| self.top.join("root").join(name))
    }

    /// Makes the tree again, and removes what a trial may have left beside it.
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
            for place in ["kept", "work"] {
                write(&self.top.join("root").join(place).join(name(nth)), &content(nth))?;
            }
        }
        symlink(self.top.join("elsewhere"), self.top.join("root/lure"))?;
        fs::write(self.top.join("ours.sums"), &self.ours)?;
        fs::write(self.top.join("theirs.sums"), &self.theirs)?;
        Ok(())
    }

    /// What somebody did elsewhere, or lost or brought into the tree; empty if all is well.
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

/// A list of the names of secrets below `work`, with the digests of what `content` says.
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

/// As long as the content of the same number, and as it in its first and last bytes.
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

/// All that lies below `top`, itself included; links are looked at and not followed.
fn look(top: &Path) -> Result<BTreeMap<PathBuf, Seen>> {
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
        seen.insert(path, Seen { numbers, content });
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said after `harm` was done to a new ground.
    fn damage(name: &str, harm: impl FnOnce(&Path)) -> Vec<String> {
        let top = std::env::temp_dir().join(format!("ftk-xtask-ground-{name}-{}", std::process::id()));
        let ground = Ground::new(&top).unwrap();
        assert_eq!(ground.damage().unwrap(), [""; 0]);
        harm(&top);
        let damage = ground.damage().unwrap();
        fs::remove_dir_all(&top).unwrap();
        damage
    }

    #[test]
    fn every_harm_is_seen() {
        let found = damage("gone", |top| fs::remove_file(top.join("elsewhere/f0")).unwrap());
        assert!(found.iter().any(|it| it.ends_with("elsewhere/f0 is gone")), "{found:?}");
        let found =
            damage("link", |top| fs::hard_link(top.join("elsewhere/f0"), top.join("root/x")).unwrap());
        assert!(found[0].ends_with("elsewhere/f0 was changed"), "{found:?}");
        assert!(found[1].starts_with("the secret of f0"), "{found:?}");
        let found = damage("new", |top| fs::write(top.join("elsewhere/x"), "").unwrap());
        assert!(found.iter().any(|it| it.ends_with("elsewhere/x is new")), "{found:?}");
        let found = damage("lost", |top| {
            fs::remove_file(top.join("root/work/f2")).unwrap();
            fs::remove_file(top.join("root/kept/f2")).unwrap();
        });
        assert_eq!(found, ["the content of f2 is lost"]);
    }

    #[test]
    fn one_copy_less_is_no_harm() {
        assert_eq!(damage("prune", |top| fs::remove_file(top.join("root/work/f2")).unwrap()), [""; 0]);
    }

    #[test]
    fn secrets_differ_from_what_they_stand_in_for() {
        assert!((0..FILES).all(|nth| secret(nth) != content(nth) && secret(nth).len() == content(nth).len()));
        assert!((0..FILES).any(is_secret) && !(0..FILES).all(is_secret));
    }
}

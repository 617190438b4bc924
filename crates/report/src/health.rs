//! When the files of a manifest were last verified.

use std::collections::BTreeMap;

use ftk_inventory::{Budget, Full, Reservation};
use ftk_record::sanitize;

use crate::data::{Age, Damaged, Health, HealthOfDir};
use crate::room::{self, shorten};

/// The largest number of damaged files and of directories on a page.
const LISTED: usize = 1_000;

const DAY_S: i64 = 86_400;

/// The ages that the page tells apart: below this many days, and the label.
const AGES: [(i64, &str); 6] = [
    (7, "under a week"),
    (31, "under a month"),
    (92, "under three months"),
    (183, "under half a year"),
    (366, "under a year"),
    (i64::MAX, "over a year"),
];

/// Collects the state of files. Memory is proportional to the number of directories at the top of the tree, and counts
/// towards a budget.
#[derive(Debug)]
pub struct HealthBuilder {
    now_s: i64,
    health: Health,
    /// Files and bytes for each of [`AGES`], then for files that were never verified.
    ages: [(u64, u128); AGES.len() + 1],
    dirs: BTreeMap<Vec<u8>, Sums>,
    memory: Reservation,
}

/// The memory for a directory, besides its path. The nodes of the map are half full at worst, and the directories are
/// sorted in a list.
const DIR_BYTES: usize = 3 * size_of::<(Vec<u8>, Sums)>();

#[derive(Debug, Default)]
struct Sums {
    bytes: u128,
    oldest_s: Option<i64>,
    never: u64,
    damaged: u64,
}

impl HealthBuilder {
    /// Creates an empty collection. `now_s`: the present time in seconds since 1970, from which ages count.
    pub fn new(now_s: i64, budget: &Budget) -> Self {
        let (health, memory) = (Health::default(), Reservation::new(budget));
        Self { now_s, health, ages: Default::default(), dirs: BTreeMap::new(), memory }
    }

    /// Adds the file at `path` below the root: its size, when it was last verified, and when damage was found, in seconds
    /// since 1970.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn file(
        &mut self,
        path: &[u8],
        bytes: u64,
        verified_s: Option<i64>,
        damaged_s: Option<i64>,
    ) -> Result<(), Full> {
        let Self { now_s, health, ages, dirs, memory } = self;
        let bytes = u128::from(bytes);
        let top = path.iter().position(|byte| *byte == b'/').map_or(&b"."[..], |slash| &path[..slash]);
        if !dirs.contains_key(top) {
            memory.consume((DIR_BYTES + top.len()) as u64)?;
            dirs.insert(top.to_vec(), Sums::default());
        }
        let dir = dirs.get_mut(top).expect("it was added");
        health.files.0 += 1;
        health.bytes.0 += bytes;
        dir.bytes += bytes;
        let band = match verified_s {
            None => {
                health.never_read_files.0 += 1;
                dir.never += 1;
                AGES.len()
            }
            Some(verified_s) => {
                for oldest in [&mut health.oldest_s, &mut dir.oldest_s] {
                    *oldest = Some(oldest.map_or(verified_s, |oldest| oldest.min(verified_s)));
                }
                let days = now_s.saturating_sub(verified_s) / DAY_S;
                AGES.iter().position(|(below, _)| days < *below).unwrap_or(AGES.len() - 1)
            }
        };
        ages[band].0 += 1;
        ages[band].1 += bytes;
        if let Some(since_s) = damaged_s {
            health.total_damaged.0 += 1;
            dir.damaged += 1;
            if health.damaged.len() < LISTED {
                let path: String = sanitize(path).into();
                memory.consume(path.len() as u64)?;
                health.damaged.push(Damaged { path, since_s });
            }
        }
        Ok(())
    }

    /// Returns the data of the page: of the directories, those with the most content.
    pub fn finish(self) -> Health {
        let Self { mut health, ages, dirs, .. } = self;
        let labels = AGES.iter().map(|it| it.1).chain(["never"]);
        health.ages = labels
            .zip(ages)
            .map(|(label, (files, bytes))| Age { label, files: files.into(), bytes: bytes.into() })
            .collect();
        let mut dirs: Vec<_> = dirs.into_iter().collect();
        dirs.sort_by(|a, b| (b.1.bytes, &a.0).cmp(&(a.1.bytes, &b.0)));
        dirs.truncate(LISTED);
        health.dirs = dirs
            .into_iter()
            .map(|(path, sums)| HealthOfDir {
                path: sanitize(&path).into(),
                bytes: sums.bytes.into(),
                oldest_s: sums.oldest_s,
                never_read_files: sums.never.into(),
                damaged_files: sums.damaged.into(),
            })
            .collect();
        shorten(&mut health.dirs, room::HEALTH);
        shorten(&mut health.damaged, room::HEALTH);
        health
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;

    #[test]
    fn files_are_counted_by_age_and_directory() {
        let now_s = 1_000 * DAY_S;
        let mut builder = HealthBuilder::new(now_s, &Budget::new(u64::MAX));
        builder.file(b"a/x", 10, Some(now_s - 6 * DAY_S), None).unwrap();
        builder.file(b"a/b/y", 20, Some(now_s - 7 * DAY_S), Some(5)).unwrap();
        builder.file(b"z", 40, None, None).unwrap();
        builder.file(b"future", 80, Some(now_s + DAY_S), None).unwrap();
        builder.file(b"old", 160, Some(i64::MIN), None).unwrap();
        let health = builder.finish();
        assert_eq!((health.files, health.bytes, health.never_read_files), (Count(5), Count(310), Count(1)));
        assert_eq!(health.oldest_s, Some(i64::MIN));
        let ages: Vec<_> = health.ages.iter().map(|age| (age.files.0, age.bytes.0)).collect();
        assert_eq!(ages, [(2, 90), (1, 20), (0, 0), (0, 0), (0, 0), (1, 160), (1, 40)]);
        let dirs: Vec<_> =
            health.dirs.iter().map(|dir| (&*dir.path, dir.bytes.0, dir.damaged_files.0)).collect();
        assert_eq!(dirs, [(".", 280, 0), ("a", 30, 1)]);
        assert_eq!(health.dirs[1].oldest_s, Some(now_s - 7 * DAY_S));
        assert_eq!((health.total_damaged, health.damaged[0].since_s), (Count(1), 5));
    }

    #[test]
    fn directories_count_towards_the_budget() {
        let mut builder = HealthBuilder::new(0, &Budget::new(1 << 20));
        let mut add = |n: usize| builder.file(format!("{n}/x").as_bytes(), 1, None, None);
        let most = (1 << 20) / DIR_BYTES;
        assert!((0..2 * most).any(|n| add(n).is_err()));
        assert_eq!(add(0), Ok(()), "no new directory");
    }
}

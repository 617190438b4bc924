//! Proves byte by byte what the digests claim.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use ftk_compare::{Side, same_content};
use ftk_file::Failure;
use ftk_inventory::{FileNo, Inventory, Opener};
use ftk_process::Failed;
use ftk_read::leave_shared_descriptors;
use ftk_sched::{Stop, Team};

use crate::found::{Equal, Found};

impl Found<'_> {
    /// Returns how many comparisons of two files [`compare`](Self::compare) makes if all files are identical.
    pub fn comparisons(&self) -> u64 {
        self.equal.iter().map(|set| set.files.len() as u64 - 1).sum()
    }

    /// Compares all files of each group with the first one, byte by byte. A group whose files differ is
    /// split. Files that cannot be read or that change leave the group and join [`failed`](Self::failed).
    /// `done` counts comparisons.
    ///
    /// Each worker holds up to four descriptors, in an unshared table if possible. If the run is stopped, no
    /// group remains, and the comparisons count as [`pending`](Self::pending).
    pub fn compare(&mut self, team: Team, stop: &Stop, done: &AtomicU64) {
        let next = AtomicUsize::new(0);
        let parts = team.run(stop, |worker| {
            if worker > 0 {
                // SAFETY: this is the first call on a new thread. An inventory holds no descriptor. The proof
                // is created and dropped in this closure, and the failures that the worker returns hold no
                // descriptor.
                unsafe { leave_shared_descriptors() };
            }
            let mut proof = Proof::new(self.inventory, stop);
            let mut split = Vec::new();
            while !stop.is_raised() {
                // Relaxed: the counter only hands out numbers.
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(set) = self.equal.get(nth) else { break };
                let classes = proof.split(set.files);
                if classes.len() != 1 || classes[0].len() < set.files.len() {
                    split.push((nth, classes));
                }
                done.fetch_add(set.files.len() as u64 - 1, Ordering::Relaxed);
            }
            (split, proof.failed)
        });
        if stop.is_raised() {
            self.pending += self.comparisons();
            self.equal = Equal::new(self.equal.width);
            return;
        }
        let mut split = Vec::new();
        for (some, failed) in parts {
            split.extend(some);
            self.failed.extend(failed);
        }
        self.failed.sort_by_key(|failed| failed.file);
        if !split.is_empty() {
            split.sort_unstable_by_key(|(nth, _)| *nth);
            self.equal = replace(&self.equal, split);
        }
    }
}

/// Returns the sets with some of them replaced. `split` has their numbers, ascending, and their new classes.
fn replace(equal: &Equal, split: Vec<(usize, Vec<Vec<FileNo>>)>) -> Equal {
    let mut split = split.into_iter().peekable();
    let mut replaced = Equal::new(equal.width);
    for (nth, set) in equal.iter().enumerate() {
        match split.next_if(|(at, _)| *at == nth) {
            Some((_, classes)) => {
                let classes = classes.into_iter().filter(|class| class.len() > 1);
                classes.for_each(|class| replaced.push(set.size, set.digest, class));
            }
            None => replaced.push(set.size, set.digest, set.files.iter().copied()),
        }
    }
    replaced
}

/// One worker's comparisons.
struct Proof<'p> {
    inventory: &'p Inventory,
    opener: Opener<'p>,
    stop: &'p Stop,
    failed: Vec<Failed>,
}

impl<'p> Proof<'p> {
    fn new(inventory: &'p Inventory, stop: &'p Stop) -> Self {
        Self { inventory, opener: Opener::new(inventory), stop, failed: Vec::new() }
    }

    /// Groups the files by content. Each file is compared with one file of every class until one is
    /// identical. One file is enough, because all files of a class are identical.
    fn split(&mut self, files: &[FileNo]) -> Vec<Vec<FileNo>> {
        let mut classes: Vec<Vec<FileNo>> = Vec::new();
        'files: for &file in files {
            let mut nth = 0;
            while let Some(class) = classes.get_mut(nth) {
                match self.is_same(class[0], file) {
                    Ok(true) => {
                        class.push(file);
                        continue 'files;
                    }
                    Ok(false) => nth += 1,
                    Err((Side::B, failure)) => {
                        self.failed.push(Failed { file, failure });
                        continue 'files;
                    }
                    Err((Side::A, failure)) => {
                        // The next file of the class takes its place.
                        self.failed.push(Failed { file: class.remove(0), failure });
                        if class.is_empty() {
                            classes.remove(nth);
                        }
                    }
                }
            }
            classes.push(vec![file]);
        }
        classes
    }

    fn is_same(&mut self, a: FileNo, b: FileNo) -> Result<bool, (Side, Failure)> {
        // Each time anew: the path of a file that stays open may lead to another one.
        let mut open = |file| self.opener.open_file(self.inventory.dir_of(file), file);
        let a = open(a).map_err(|failure| (Side::A, failure))?;
        let b = open(b).map_err(|failure| (Side::B, failure))?;
        same_content(&a, &b, self.stop)
    }
}

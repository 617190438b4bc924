//! The directories in which missing files are restored.

use std::collections::HashMap;

use ftk_file::{Birth, Identity, Stat, Symlinks};
use ftk_inventory::{DirNo, Opener, Reservation};
use ftk_walk::FileType;
use rustix::process::geteuid;

use crate::entry::key;
use crate::merge::Side as _;
use crate::repair::damage::{Damage, Left, Why};
use crate::repair::plan::RepairPlan;
use crate::survey::is_other_directory;
use crate::{Entry, Error, Field};

/// The directory nearest to a missing name that exists. The directories below it are missing too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestDirectory {
    /// How many bytes of the path of the name are the path of the directory. 0 for the root.
    pub len: usize,
    /// Which directory it is.
    pub identity: Identity,
}

/// A directory above a missing name that exists.
struct Found {
    stat: Stat,
    identity: Identity,
    /// Whether it is the recorded directory.
    is_recorded: bool,
    /// Whether only the caller and root could change the names in it when it was recorded.
    was_ours: bool,
}

/// The directories above missing names, by their paths. The path of the root is empty.
type Above = HashMap<Vec<u8>, Option<Found>>;

/// Finds the nearest directory above each missing name.
///
/// A user who may change names in a directory could have put another directory there, such as one of root, and so have files
/// written into it. So a missing name is left if its nearest directory is neither the recorded one nor below directories
/// whose names only the caller and root can change, and could change when they were recorded.
pub(super) fn find_directories(
    plan: &RepairPlan<'_>,
    damage: &mut Damage,
    reserved: &mut Reservation,
) -> Result<(), Error> {
    let mut above = Above::new();
    let mut bytes = 0;
    for name in damage.wanted.iter().flat_map(|wanted| &wanted.names).filter(|name| name.damaged.is_none()) {
        for path in directories_above(&name.path) {
            if above.contains_key(path) {
                break;
            }
            bytes += path.len() + size_of::<(Vec<u8>, Option<Found>)>();
            above.insert(path.to_vec(), None);
        }
    }
    if above.is_empty() {
        return Ok(());
    }
    reserved.consume(bytes as u64)?;
    find_walked(plan, &mut above);
    if !plan.options.other_root {
        find_recorded(plan, &mut above)?;
    }
    let Damage { wanted, left, .. } = damage;
    for wanted in &mut *wanted {
        wanted.names.retain_mut(|name| {
            if name.damaged.is_some() {
                return true;
            }
            let nearest = directories_above(&name.path).find(|path| above[*path].is_some());
            let Some(path) = nearest else { return true };
            let found = above[path].as_ref().expect("it was found");
            let is_known = plan.options.other_root
                || found.is_recorded
                || (plan.options.private_root && is_private(path, &above));
            if is_known {
                name.directory = Some(NearestDirectory { len: path.len(), identity: found.identity });
            } else {
                left.push(Left { path: name.path.clone(), why: Why::OtherDirectory(path.to_vec()) });
            }
            is_known
        });
    }
    Ok(())
}

/// Examines the directories that the walk found.
fn find_walked(plan: &RepairPlan<'_>, above: &mut Above) {
    let (tree, mut path) = (&plan.aligned.tree, Vec::new());
    let mut opener = Opener::new(tree.inventory);
    for dir in (0..tree.inventory.dirs()).map(DirNo) {
        if tree.inventory.has_starting_points(dir) {
            continue;
        }
        path.clear();
        tree.inventory.push_dir_path(dir, &mut path);
        if let Some(found) = above.get_mut(key(tree.relative(&path)))
            // One that cannot be opened or was replaced counts as not found: nothing can be made below it.
            && let Ok(fd) = opener.open(dir)
            && let Ok(stat) = Stat::at_with(&fd, c".", Symlinks::NoFollow, Birth::Requested)
            && let Ok(identity) = Identity::of(fd)
        {
            *found = Some(Found { stat, identity, is_recorded: path == tree.root, was_ours: true });
        }
    }
}

/// Compares the directories with their records.
fn find_recorded(plan: &RepairPlan<'_>, above: &mut Above) -> Result<(), Error> {
    let mut entries = plan.aligned.entries()?;
    while entries.advance()? {
        let old = entries.entry();
        if old.stat.file_type == FileType::Directory
            && let Some(Some(found)) = above.get_mut(key(old.path))
        {
            found.is_recorded |= !is_other_directory(&old, &found.stat, &plan.file_systems);
            found.was_ours &= was_ours(&old);
        }
    }
    Ok(())
}

/// Returns whether only the caller and root can change the names on the way from the root to a directory.
fn is_private(path: &[u8], above: &Above) -> bool {
    directories_above(path).all(|path| {
        above.get(path).and_then(Option::as_ref).is_some_and(|found| found.was_ours && is_ours(&found.stat))
    })
}

/// Returns whether only the caller and root can change the names in a directory.
pub(super) fn is_ours(stat: &Stat) -> bool {
    [0, geteuid().as_raw()].contains(&stat.uid) && stat.mode & 0o022 == 0
}

/// Returns whether only the caller and root could change the names in a directory when it was recorded, as far as its record
/// tells. If others could, they may have put something there before they lost that right.
pub(super) fn was_ours(old: &Entry<'_>) -> bool {
    let Stat { uid, mode, .. } = old.stat;
    let recorded = Stat {
        uid: if old.knows(Field::Uid) { uid } else { 0 },
        mode: if old.knows(Field::Mode) { mode } else { 0 },
        ..old.stat
    };
    is_ours(&recorded)
}

/// Returns the directories above a path, the nearest first. The path of the root is empty.
pub(super) fn directories_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(above(path), |path| above(path))
}

fn above(path: &[u8]) -> Option<&[u8]> {
    let is_root = path.is_empty();
    (!is_root).then(|| memchr::memrchr(b'/', path).map_or(&path[..0], |at| &path[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_above_end_with_the_root() {
        for (path, expected) in [("a/b/c", &["a/b", "a", ""][..]), ("a", &[""]), ("", &[])] {
            let above: Vec<_> = directories_above(path.as_bytes()).collect();
            let expected: Vec<_> = expected.iter().map(|path| path.as_bytes()).collect();
            assert_eq!(above, expected, "{path}");
        }
    }

    #[test]
    fn only_directories_of_the_caller_and_root_are_private() {
        let identity = Identity::of(std::fs::File::open(".").unwrap()).unwrap();
        let found = |uid, mode| {
            let stat = Stat { uid, mode, ..Stat::EMPTY };
            Some(Found { stat, identity, is_recorded: false, was_ours: true })
        };
        let me = geteuid().as_raw();
        for (root, a, is_expected) in [
            (found(me, 0o755), found(0, 0o700), true),
            (found(me, 0o755), found(me + 1, 0o700), false),
            (found(me, 0o775), found(me, 0o700), false),
            (found(me, 0o755), found(me, 0o702), false),
            (found(me, 0o755), None, false),
        ] {
            let above = Above::from([(Vec::new(), root), (b"a".to_vec(), a), (b"a/b".to_vec(), None)]);
            assert_eq!(is_private(b"a/b", &above), is_expected);
        }
    }
}

//! Where members lie: what speaks against keeping a copy there.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{Access, AtFlags, CWD, StatVfsMountFlags, accessat, statvfs};
use rustix::io::Errno;

use crate::Member;
use crate::prune::Protection;

/// Names of trash and system directories; `*` stands for anything. Case does not matter.
pub const TRASH: [&str; 10] = [
    "#recycle",
    "@Recycle",
    "@eaDir",
    "$RECYCLE.BIN",
    ".Trash*",
    ".Trashes",
    "lost+found",
    ".snapshot",
    ".snapshots",
    ".zfs",
];

/// Directories that are remembered.
const MAX_KNOWN: usize = 1 << 16;

/// Whether a directory is one that the user named as a unit.
pub type UnitTest = Box<dyn Fn(&Path) -> bool>;

/// Finds out where members lie.
#[derive(Default)]
pub(super) struct Places {
    is_unit: Option<UnitTest>,
    /// Starting points by their paths.
    roots: RefCell<HashMap<Vec<u8>, Root>>,
    /// Directories of starting points that are files.
    above_files: RefCell<HashMap<Vec<u8>, Root>>,
    /// Whether directories are read-only, by their paths.
    read_only: RefCell<HashMap<Vec<u8>, ReadOnly>>,
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").finish_non_exhaustive()
    }
}

/// Whether a directory can be written to, whatever its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOnly {
    No,
    /// It is in a read-only subvolume of a file system that is not read-only.
    Subvolume,
    /// The file system or the mount is read-only.
    Mount,
}

/// What the path of a starting point says about everything below it.
#[derive(Clone, Copy, Debug, Default)]
struct Root {
    is_trash: bool,
    hidden: u32,
    is_in_unit: bool,
}

impl Places {
    /// `is_unit` returns whether a directory above a starting point is a unit. Its path has no links.
    pub(super) fn new(is_unit: Option<UnitTest>) -> Self {
        Self { is_unit, ..Self::default() }
    }

    /// Notes where a member lies. `root_len` is the length of its starting point in its path.
    pub(super) fn mark(&self, member: &mut Member, root_len: usize, is_directory: bool) {
        let path = &member.path;
        let is_root_file = !is_directory && root_len >= path.len();
        let parent = parent(path);
        let root_path = if is_root_file { parent } else { &path[..root_len.min(path.len())] };
        let table = if is_root_file { &self.above_files } else { &self.roots };
        let root = remembered(table, root_path, |path| self.root(path, is_root_file));
        let below = if is_directory { path } else { parent };
        let below = if is_root_file { &[][..] } else { below.get(root_len..).unwrap_or_default() };
        let names = below.split(|&byte| byte == b'/');
        let standing = &mut member.standing;
        standing.is_trash = root.is_trash || names.clone().any(is_trash);
        standing.hidden = root.hidden + count_hidden(names);
        let directory = if is_directory { path } else { parent };
        let read_only = remembered(&self.read_only, directory, read_only);
        standing.is_read_only = read_only != ReadOnly::No;
        standing.is_in_snapshot = read_only == ReadOnly::Subvolume;
        if root.is_in_unit {
            standing.protect(Protection::InKept);
        }
    }

    /// Examines the path of a starting point. `is_above`: it is the directory above one.
    fn root(&self, path: &[u8], is_above: bool) -> Root {
        let path = Path::new(OsStr::from_bytes(path));
        let resolved = fs::canonicalize(path).map_or(Cow::Borrowed(path), Cow::Owned);
        let names = resolved.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.as_bytes()),
            _ => None,
        });
        // A starting point may be a unit itself, and is compared as one.
        let mut above = resolved.ancestors().skip(usize::from(!is_above));
        Root {
            is_trash: names.clone().any(is_trash),
            hidden: count_hidden(names.clone()),
            is_in_unit: self.is_unit.as_ref().is_some_and(|is_unit| above.any(is_unit)),
        }
    }
}

/// Returns the value for a path, from the table or by `find`. The table remembers it.
fn remembered<V: Copy>(
    table: &RefCell<HashMap<Vec<u8>, V>>,
    path: &[u8],
    find: impl FnOnce(&[u8]) -> V,
) -> V {
    if let Some(value) = table.borrow().get(path) {
        return *value;
    }
    let value = find(path);
    let mut table = table.borrow_mut();
    if table.len() == MAX_KNOWN {
        table.clear();
    }
    table.insert(path.to_vec(), value);
    value
}

/// Returns the path of the directory of a file.
pub(super) fn parent(file: &[u8]) -> &[u8] {
    match file.iter().rposition(|&byte| byte == b'/') {
        Some(at) => &file[..=at],
        None => b".",
    }
}

/// Returns whether a directory of this name is a trash or system directory.
fn is_trash(name: &[u8]) -> bool {
    TRASH.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start.as_bytes())),
        None => name.eq_ignore_ascii_case(known.as_bytes()),
    })
}

fn count_hidden<'n>(names: impl Iterator<Item = &'n [u8]>) -> u32 {
    names.filter(|name| name.starts_with(b".") && !matches!(*name, b"." | b"..")).count() as u32
}

/// Returns whether a directory is on a read-only file system, mount or subvolume.
fn read_only(directory: &[u8]) -> ReadOnly {
    let path = OsStr::from_bytes(directory);
    if statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY)) {
        return ReadOnly::Mount;
    }
    // Only this call knows about subvolumes. The kernel reports them before it looks at permissions.
    match accessat(CWD, path, Access::WRITE_OK, AtFlags::empty()) {
        Err(Errno::ROFS) => ReadOnly::Subvolume,
        _ => ReadOnly::No,
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::Version;

    use super::*;
    use crate::prune::Standing;

    fn marked(places: &Places, path: &str, root_len: usize, is_directory: bool) -> Standing {
        let mut member = Member::new(0, path.into(), Version::default());
        places.mark(&mut member, root_len, is_directory);
        member.standing
    }

    #[test]
    fn names_of_trash_and_system_directories() {
        for name in TRASH.map(|name| name.replace('*', "-1000")) {
            assert!(is_trash(name.as_bytes()), "{name}");
            assert!(is_trash(name.to_ascii_lowercase().as_bytes()), "{name}");
        }
        for name in ["", ".", "trash", "recycle", "#recycle2", "lost", ".zf", "x.Trash"] {
            assert!(!is_trash(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn every_directory_of_a_path_counts_and_the_name_of_a_file_does_not() {
        let places = Places::default();
        for (path, root_len, is_directory, trash, hidden) in [
            ("/none/a/b", 5, false, false, false),
            ("/none/#recycle/a/b", 5, false, true, false),
            ("/none/a/.Trash-1/b", 5, false, true, true),
            ("/none/.a/b", 5, false, false, true),
            ("/none/.b", 5, false, false, false),
            ("/none/.b", 5, true, false, true),
            ("/none/@eaDir", 5, true, true, false),
            ("/none/@eaDir", 5, false, false, false),
            ("/none/.git/x/b", 12, false, false, true),
            ("/none/lost+found/b", 18, false, true, false),
            ("/none/lost+found", 16, true, true, false),
            ("/none/.b", 8, false, false, false),
            ("/none//./b", 5, false, false, false),
        ] {
            let standing = marked(&places, path, root_len, is_directory);
            let found = (standing.is_trash, standing.hidden > 0);
            assert_eq!(found, (trash, hidden), "{path} {is_directory}");
        }
    }

    #[test]
    fn units_above_a_starting_point_protect_everything_below_it() {
        let is_unit = |path: &Path| path.extension().is_some_and(|it| it == "app");
        let places = Places::new(Some(Box::new(is_unit)));
        for (path, root_len, expected) in [
            ("/none/A.app/in/b", 14, Protection::InKept),
            ("/none/A.app/b", 13, Protection::InKept),
            // The starting point is the unit.
            ("/none/A.app/b", 11, Protection::Free),
            ("/none/A.app/b", 5, Protection::Free),
            ("/none/b.app", 11, Protection::Free),
        ] {
            assert_eq!(marked(&places, path, root_len, false).protection, expected, "{path} {root_len}");
        }
    }
}

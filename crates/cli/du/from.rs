//! Trees that files describe: manifests, and the JSON of ncdu.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::time::Instant;

use anyhow::{Context as _, anyhow, ensure};
use ftk_file::{FileSystem, Inode};
use ftk_inventory::{Budget, OpenDirs};
use ftk_manifest::{Entry, Field, Header, LostMount, Manifest, Mount, RootIdentity};
use ftk_record::{MAX_NESTED_PATH, quote};
use ftk_usage::{Facts, Item, Keep, Loaded, Node, Part, Unknown, Usage, read_ncdu};
use ftk_walk::FileType;

use super::DuArgs;
use super::source::Counted;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::manifest::input::Input;
use crate::scan::too_large;
use crate::tree_file::TreeFile;

/// A tree that a file describes.
pub(crate) struct Recorded {
    pub(super) usage: Usage,
    pub(super) record: Record,
}

/// What a file says about the tree as a whole.
#[derive(Default)]
pub(super) struct Record {
    /// The root, as the file names it.
    pub(super) root: Vec<u8>,
    /// What identifies the root.
    pub(super) identity: Option<RootIdentity>,
    /// The file systems that were mounted below the root.
    pub(super) mounts: Vec<Mount>,
    /// The options of a manifest, which selected its entries. `None` for other files.
    pub(super) options: Option<Vec<Vec<u8>>>,
    /// When the tree was read, in nanoseconds since 1970.
    pub(super) start_ns: Option<i128>,
    /// The path of the first entry whose allocated bytes are not known.
    pub(super) unallocated: Option<Vec<u8>>,
    /// The path of the first regular file whose size is not known.
    pub(super) unsized_file: Option<Vec<u8>>,
    pub(super) loaded: Loaded,
    /// Device and inode of a manifest, which is not a part of the tree that it describes.
    pub(super) own: Vec<(u64, u64)>,
}

/// Counts the tree in `file`, or in standard input for `-`.
///
/// # Errors
/// If the file cannot be read, is of another kind or damaged, lacks allocated bytes, or if the table of directories
/// does not fit into `budget`.
pub(super) fn count(
    file: &OsStr,
    args: &DuArgs,
    globals: &Globals,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Counted> {
    let start = Instant::now();
    let Recorded { usage, record } = Recorded::read(file, &args.keep(), globals, budget, console)?;
    if let Some(path) = record.unallocated {
        let why = "has no allocated_bytes: make the manifest with `ftk manifest create`";
        return Err(anyhow!("{} {why}", quote(&path)).context(quote(file.as_encoded_bytes())));
    }
    let outcome = say(&record.loaded, file, console);
    Ok(Counted { usage, unreadable: record.loaded.unreadable, outcome, start, file_systems: Vec::new() })
}

/// Reports what the file does not know.
pub(super) fn say(loaded: &Loaded, file: &OsStr, console: &Console) -> Outcome {
    let name = || quote(file.as_encoded_bytes());
    if loaded.excluded > 0 {
        console.summary(format_args!("not counted in {}: {}", name(), human::entries(loaded.excluded)));
    }
    if loaded.unreadable == 0 {
        return Outcome::Success;
    }
    let entries = human::entries(loaded.unreadable);
    console.error_of("list", format_args!("{}: {entries} could not be read when it was written", name()));
    Outcome::Error
}

impl Recorded {
    /// Reads the tree in `file`, or in standard input for `-`. In a directory are the parts of a manifest.
    ///
    /// # Errors
    /// If the file cannot be read, is of another kind or damaged, or if the table of directories does not fit into
    /// `budget`.
    pub(super) fn read(
        file: &OsStr,
        keep: &Keep,
        globals: &Globals,
        budget: &Budget,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let name = || quote(file.as_encoded_bytes());
        let input = match TreeFile::open(file, globals, console)? {
            TreeFile::Manifest(Input { manifest, own }) => {
                let read = Self::of_manifest(&manifest, keep, budget).with_context(name)?;
                return Ok(Self { record: Record { own, ..read.record }, ..read });
            }
            TreeFile::Ncdu(input) => input,
        };
        let mut part = Part::new(0, keep, budget);
        let loaded = read_ncdu(input, &mut part).with_context(name)?;
        let usage = Usage::merge(vec![part]).with_context(|| too_large(budget))?;
        let root = usage.roots().first().map(|root| usage.name(Item::Dir(*root)).to_vec());
        let start_ns = loaded.made.seconds.map(|seconds| i128::from(seconds) * 1_000_000_000);
        let record = Record { root: root.unwrap_or_default(), start_ns, loaded, ..Record::default() };
        Ok(Self { usage, record })
    }

    /// Counts the entries of a manifest, which are sorted by path.
    ///
    /// # Errors
    /// If an entry is invalid, or if the table of directories does not fit into `budget`.
    pub(crate) fn of_manifest(manifest: &Manifest, keep: &Keep, budget: &Budget) -> anyhow::Result<Self> {
        let Header { root, root_identity, options, start_ns, mounts, .. } = manifest.header().clone();
        let root = if root.is_empty() { b".".to_vec() } else { root };
        let mut record = Record {
            root,
            identity: root_identity,
            options: Some(options),
            start_ns: Some(start_ns),
            mounts,
            ..Record::default()
        };
        let mut part = Part::new(0, keep, budget);
        add_entries(manifest, &mut record, &mut part)?;
        for path in manifest.header().failed.paths() {
            part.add_unknown(Unknown { path: path.clone(), is_directory: false });
            record.loaded.unreadable += 1;
        }
        let usage = Usage::merge(vec![part]).with_context(|| too_large(budget))?;
        Ok(Self { usage, record })
    }
}

impl Record {
    /// Returns the options that selected the entries, sorted.
    pub(super) fn selection(&self) -> Vec<Vec<u8>> {
        let filter = self.loaded.made.filter.iter().map(|filter| filter.clone().into_bytes());
        let mut options: Vec<_> = self.options.iter().flatten().cloned().chain(filter).collect();
        options.sort_unstable();
        options
    }

    /// Returns the file systems that were mounted in this tree and are not in the same tree `now`.
    pub(super) fn lost_mounts(&self, now: &Self) -> Vec<LostMount> {
        let is_known = self.identity.is_some() && now.identity.is_some() && self.other_root(now).is_none();
        if is_known { Mount::lost(&self.mounts, &now.mounts) } else { Vec::new() }
    }

    /// Returns the path of the root: the absolute one, if it is known.
    fn path(&self) -> &[u8] {
        self.identity.as_ref().map_or(&self.root, |identity| &identity.path)
    }

    /// Returns whether the root of `other` is a directory below this one, by their absolute paths.
    pub(super) fn contains(&self, other: &Self) -> bool {
        let (above, below) = (self.path(), other.path());
        above.starts_with(b"/")
            && below
                .strip_prefix(above)
                .is_some_and(|rest| rest.starts_with(b"/") || above == b"/" && !rest.is_empty())
    }

    /// Returns why the root of `other` is another directory, as far as it is known.
    pub(super) fn other_root(&self, other: &Self) -> Option<String> {
        if let (Some(a), Some(b)) = (&self.identity, &other.identity) {
            return a.difference(b).map(|why| why.to_string());
        }
        let [a, b] = [self.path(), other.path()];
        let differ = a != b && a.starts_with(b"/") && b.starts_with(b"/");
        differ.then(|| "its path differs".to_owned())
    }
}

fn add_entries(manifest: &Manifest, record: &mut Record, part: &mut Part) -> anyhow::Result<()> {
    // It is a part of every line of the output.
    ensure!(
        record.root.len() <= MAX_NESTED_PATH,
        "the path of its root is longer than {MAX_NESTED_PATH} bytes"
    );
    let root = &*record.root.clone();
    let root_node = part.root(root, true);
    let mut open = OpenDirs::default();
    open.push(b"", root_node);
    let mut file_systems = FileSystems::default();
    // A selection may omit all directories; their sizes are not missing then.
    record.loaded.has_directory_sizes = true;
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let facts = facts(&entry, manifest.header(), &mut file_systems);
        let is_directory = entry.stat.file_type == FileType::Directory;
        record.loaded.has_directory_sizes &= !is_directory || entry.knows(Field::Size);
        if record.unallocated.is_none() && !Field::Allocated.is_of(&entry) {
            record.unallocated = Some(entry.path.to_vec());
        }
        if record.unsized_file.is_none() && entry.stat.is_regular() && entry.size().is_none() {
            record.unsized_file = Some(entry.path.to_vec());
        }
        if entry.path == b"." {
            part.add_directory(root_node, &facts, is_directory);
            continue;
        }
        open.go_to(entry.path);
        // A manifest with a selection may lack directories.
        while let Some(dir) = open.missing(entry.path) {
            let (parent, name) = place(&open, dir);
            open.push(dir, part.directory(parent, name));
        }
        let (parent, name) = place(&open, entry.path);
        if is_directory {
            let node = part.directory(parent, name);
            part.add_directory(node, &facts, true);
            open.push(entry.path, node);
        } else {
            part.add_file(parent, name, &facts, || [root, b"/", entry.path].concat());
        }
        if !part.reserve() {
            break;
        }
    }
    Ok(())
}

/// Returns the innermost open directory of `path`, and the part of `path` below it.
fn place<'p>(open: &OpenDirs<Node>, path: &'p [u8]) -> (Node, &'p [u8]) {
    let (at, name) = open.above(path).expect("the root is open");
    (open[at], name)
}

/// Returns what a manifest says about the space of an entry.
fn facts(entry: &Entry<'_>, header: &Header, file_systems: &mut FileSystems) -> Facts {
    let stat = &entry.stat;
    let is_linked = entry.knows(Field::Nlink) && stat.nlink > 1 && stat.file_type != FileType::Directory;
    Facts {
        apparent: entry.size().unwrap_or_default(),
        allocated: if Field::Allocated.is_of(entry) { stat.blocks.saturating_mul(512) } else { 0 },
        link: is_linked.then(|| header.inode(entry)).flatten().map(|inode| file_systems.number(inode)),
    }
}

/// Numbers for the file systems of a manifest.
#[derive(Default)]
struct FileSystems(HashMap<FileSystem, u64>);

impl FileSystems {
    /// Returns the number of the file system, and the inode number.
    fn number(&mut self, Inode { file_system, ino }: Inode) -> (u64, u64) {
        let next = self.0.len() as u64;
        (*self.0.entry(file_system).or_insert(next), ino)
    }
}

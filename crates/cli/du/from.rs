//! Counts the tree that a manifest or the JSON of ncdu describes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use ftk_file::{FileSystem, Inode};
use ftk_inventory::{Budget, OpenDirs};
use ftk_manifest::{Entry, Field, Kind, Manifest, sniff};
use ftk_record::{MAX_NESTED_PATH, ZstdReader, is_zstd, quote};
use ftk_usage::{Facts, Loaded, Node, Part, Usage, read_ncdu};
use ftk_walk::FileType;

use super::DuArgs;
use super::source::Counted;
use crate::console::{Console, Outcome};
use crate::human;
use crate::input;
use crate::scan::too_large;

/// Bytes that show whether a file is a manifest.
const START: u64 = 64 << 10;

/// Counts the tree in `file`, or in standard input for `-`.
///
/// # Errors
/// If the file cannot be read, is of another kind or damaged, or if the table of directories does not fit into
/// `budget`.
pub(super) fn count(
    file: &OsStr,
    args: &DuArgs,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Counted> {
    let start = Instant::now();
    let name = || quote(file.as_encoded_bytes());
    let mut part = Part::new(0, &args.keep(), budget);
    let mut input = input::open(file).with_context(|| format!("cannot open {}", name()))?;
    let mut first = Vec::new();
    (&mut input).take(START).read_to_end(&mut first).with_context(name)?;
    let loaded = if sniff(&first) == Kind::Manifest {
        // A pipe cannot be read twice, so what follows is copied, as every command that reads manifests does.
        let input = whole(input, &first).with_context(name)?;
        add_manifest(&Manifest::open(input).with_context(name)?, &mut part).with_context(name)?;
        Loaded::default()
    } else {
        let is_compressed = is_zstd(&first);
        let input = BufReader::new((&*first).chain(input));
        let read = if is_compressed {
            read_ncdu(BufReader::new(ZstdReader::new(input).with_context(name)?), &mut part)
        } else {
            read_ncdu(input, &mut part)
        };
        read.with_context(name)?
    };
    let usage = Usage::merge(vec![part]).with_context(|| too_large(budget))?;
    if loaded.excluded > 0 {
        console.summary(format_args!("not counted in {}: {}", name(), human::entries(loaded.excluded)));
    }
    let outcome = match loaded.unreadable {
        0 => Outcome::Success,
        n => {
            let entries = human::entries(n);
            console.error_of(
                "list",
                format_args!("{}: {entries} could not be read when it was written", name()),
            );
            Outcome::Error
        }
    };
    Ok(Counted { usage, unreadable: loaded.unreadable, outcome, start })
}

/// Returns a file that can be read from its start.
fn whole(mut input: File, first: &[u8]) -> std::io::Result<File> {
    if input.rewind().is_ok() {
        return Ok(input);
    }
    let mut copy = tempfile::tempfile()?;
    std::io::copy(&mut first.chain(input), &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// Counts the entries of a manifest, which are sorted by path.
fn add_manifest(manifest: &Manifest, part: &mut Part) -> anyhow::Result<()> {
    let root = match &*manifest.header().root {
        b"" => b".",
        root => root,
    };
    // It is a part of every line of the output.
    ensure!(root.len() <= MAX_NESTED_PATH, "the path of its root is longer than {MAX_NESTED_PATH} bytes");
    let root_node = part.root(root, true);
    let mut open = OpenDirs::default();
    open.push(b"", root_node);
    let mut file_systems = FileSystems::default();
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let facts = facts(&entry, &mut file_systems)?;
        let is_directory = entry.stat.file_type == FileType::Directory;
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
fn facts(entry: &Entry<'_>, file_systems: &mut FileSystems) -> anyhow::Result<Facts> {
    let path = || quote(entry.path);
    ensure!(
        Field::Allocated.is_of(entry),
        "{} has no allocated_bytes: make the manifest with `ftk manifest create`",
        path()
    );
    let stat = &entry.stat;
    let is_linked = entry.knows(Field::Nlink) && stat.nlink > 1 && stat.file_type != FileType::Directory;
    Ok(Facts {
        apparent: entry.size().unwrap_or_default(),
        allocated: stat.blocks.saturating_mul(512),
        link: entry.inode().filter(|_| is_linked).map(|inode| file_systems.number(inode)),
    })
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

//! `--from`: lists the entries of records, without a look at the tree.

use std::ffi::{CString, OsString};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, bail, ensure};
use ftk_manifest::{Entry, Field, Header, Manifest};
use ftk_record::quote;
use ftk_select::{Filtered, Parts, Selection, Unseen};
use ftk_walk::{Fields, FileType, Metadata, Op, Recorded, Replay, Visitor, WalkError};

use super::ncdu::NcduTree;
use crate::console::Console;
use crate::globals::Globals;
use crate::human;
use crate::rules::Rules;
use crate::scan::Walked;
use crate::tree_file::TreeFile;

/// Records, each with its name.
pub(super) struct Records(Vec<(OsString, Record)>);

/// A description of a tree.
#[expect(clippy::large_enum_variant, reason = "a run has a few of them")]
enum Record {
    Manifest(Box<Manifest>),
    /// It is read once.
    Ncdu(Mutex<Option<NcduTree>>),
}

impl Records {
    /// Opens manifests and files of ncdu; of a directory, the parts in it.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn open(
        paths: impl Iterator<Item = OsString>,
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let open = |path: OsString| {
            let record = match TreeFile::open(&path, globals, console)? {
                TreeFile::Manifest(input) => Record::Manifest(Box::new(input.manifest)),
                TreeFile::Ncdu(input) => Record::Ncdu(Mutex::new(Some(NcduTree::open(&path, input)?))),
            };
            Ok((path, record))
        };
        Ok(Self(paths.map(open).collect::<anyhow::Result<_>>()?))
    }

    /// Returns the roots, as they were named when the trees were recorded.
    ///
    /// # Errors
    /// If one contains NUL.
    pub(super) fn roots(&self) -> anyhow::Result<Vec<CString>> {
        let root = |(name, record): &(OsString, Record)| {
            let root = match record {
                Record::Manifest(manifest) => manifest.header().root.clone(),
                Record::Ncdu(tree) => unread(tree).as_ref().map(|tree| tree.root.clone()).unwrap_or_default(),
            };
            let root = if root.is_empty() { b".".to_vec() } else { root };
            CString::new(root).with_context(|| quote(name.as_encoded_bytes()))
        };
        self.0.iter().map(root).collect()
    }

    /// Refuses a selection that tests what no record has, or these lack.
    ///
    /// # Errors
    /// If it does.
    pub(super) fn check(&self, selection: &Selection) -> anyhow::Result<()> {
        if let Some((test, needs)) = selection.needs_tree() {
            bail!("{test} cannot be used with --from: a record does not have {needs}");
        }
        for (name, record) in self.0.iter().filter(|_| selection.stays_on_file_system()) {
            let (has_it, member) = match record {
                Record::Manifest(manifest) => (manifest.header().root_identity.is_some(), "mounts"),
                Record::Ncdu(tree) => (unread(tree).as_ref().is_some_and(NcduTree::has_devices), "dev"),
            };
            let name = quote(name.as_encoded_bytes());
            ensure!(has_it, "{name} has no {member}, which --one-file-system needs");
        }
        Ok(())
    }

    /// Shows all entries to a visitor, as a walk does. `roots` are those of the records.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub(super) fn walk<V: Visitor>(
        &self,
        roots: &[CString],
        selection: &Selection,
        visitor: V,
        console: &Console,
    ) -> anyhow::Result<Walked<V>> {
        let mut visitor = Filtered::new(selection, visitor);
        for (number, ((name, record), root)) in self.0.iter().zip(roots).enumerate() {
            let name = || quote(name.as_encoded_bytes());
            let mut replay = Replay::new(root.clone(), number, visitor);
            match record {
                Record::Manifest(manifest) => {
                    show(manifest, root, selection, &mut replay).with_context(name)?;
                }
                Record::Ncdu(tree) => {
                    let tree = unread(tree).take().expect("a run shows its records once");
                    let hidden = tree.show(root, &mut replay).with_context(name)?;
                    if hidden > 0 {
                        console.summary(format_args!(
                            "not listed, since {} does not say what they are: {}",
                            name(),
                            human::entries(hidden)
                        ));
                    }
                }
            }
            visitor = replay.finish();
        }
        let Parts { visitor, skipped, used, .. } = visitor.into_parts();
        let rules = Rules::of_selection(selection, &used, skipped);
        Ok(Walked { visitors: vec![visitor], skipped, rules, unseen: Unseen::default() })
    }
}

/// Returns the tree of a file, if it was not shown yet.
fn unread(tree: &Mutex<Option<NcduTree>>) -> MutexGuard<'_, Option<NcduTree>> {
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the error about a path below the root that the record could not read.
pub(super) fn unreadable(root: &CString, path: &[u8]) -> WalkError {
    let why = io::Error::other("it could not be read when the record was made");
    let below = if path.is_empty() { vec![] } else { [b"/", path].concat() };
    WalkError::new(Op::List, [root.to_bytes(), &below].concat(), why)
}

/// Returns the set of the fields that are known.
pub(super) fn known_fields(fields: impl IntoIterator<Item = (Fields, bool)>) -> Fields {
    let known = fields.into_iter().filter(|(_, is_known)| *is_known);
    known.fold(Fields::NONE, |known, (field, _)| known | field)
}

/// Shows the entries of one manifest.
fn show<V: Visitor>(
    manifest: &Manifest,
    root: &CString,
    selection: &Selection,
    replay: &mut Replay<V>,
) -> anyhow::Result<()> {
    let header = manifest.header();
    let has_entries = if selection.tests_empty() { have_entries(manifest)? } else { Vec::new() };
    let (mut entries, mut nth) = (manifest.entries()?, 0);
    while let Some(entry) = entries.next()? {
        let target = entry.target.map(CString::new).transpose()?;
        let mut recorded = recorded(&entry, header);
        recorded.target = target.as_deref();
        if entry.stat.file_type == FileType::Directory {
            recorded.has_entries = has_entries.get(nth).copied().flatten();
            nth += 1;
        }
        let path = if entry.path == b"." { &[] } else { entry.path };
        if !replay.show(path, &recorded) {
            return Ok(());
        }
    }
    for path in header.failed.paths() {
        replay.error(unreadable(root, path));
    }
    Ok(())
}

/// Returns what a manifest says about an entry.
fn recorded<'e>(entry: &Entry<'e>, header: &Header) -> Recorded<'e> {
    let stat = &entry.stat;
    let mut metadata = Metadata::new(stat.file_type);
    (metadata.mode, metadata.uid, metadata.gid) = (stat.mode, stat.uid, stat.gid);
    (metadata.dev, metadata.rdev, metadata.ino, metadata.nlink) = (stat.dev, stat.rdev, stat.ino, stat.nlink);
    (metadata.size, metadata.blocks) = (stat.size, stat.blocks);
    (metadata.mtime_ns, metadata.ctime_ns, metadata.birth_ns) = (stat.mtime_ns, stat.ctime_ns, stat.birth_ns);
    let known = [
        (Fields::MODE, entry.knows(Field::Mode)),
        (Fields::NLINK, entry.knows(Field::Nlink)),
        (Fields::UID, entry.knows(Field::Uid)),
        (Fields::GID, entry.knows(Field::Gid)),
        (Fields::MTIME, entry.knows(Field::Mtime)),
        (Fields::CTIME, entry.knows(Field::Ctime)),
        // The device comes with every set.
        (Fields::INO, entry.knows(Field::Ino) && entry.knows(Field::Dev)),
        (Fields::SIZE, entry.knows(Field::Size)),
        (Fields::BLOCKS, Field::Allocated.is_of(entry)),
        (Fields::BIRTH, stat.birth_ns.is_some()),
    ];
    let mut recorded = Recorded::new(stat.file_type);
    recorded.metadata = metadata;
    recorded.known = known_fields(known);
    recorded.attributes = entry.xattrs.map(|xattrs| xattrs.iter().map(|it| &*it.name).collect());
    recorded.is_mount = header.mounts.binary_search_by_key(&entry.path, |mount| mount.path()).is_ok();
    recorded
}

/// Returns whether each directory has entries, in the order of the manifest; `None` if this is not known: nothing below
/// it is recorded, but something may have been skipped, or could not be read.
fn have_entries(manifest: &Manifest) -> anyhow::Result<Vec<Option<bool>>> {
    let header = manifest.header();
    let (mut found, mut open) = (Vec::new(), Vec::<(Vec<u8>, usize)>::new());
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let path = if entry.path == b"." { &[] } else { entry.path };
        let parent = path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &path[..end]);
        // As in `Replay`: a directory stays open while later entries can be in it.
        open.retain(|(dir, _)| {
            dir.is_empty() || path.strip_prefix(&**dir).is_some_and(|rest| rest.first() <= Some(&b'/'))
        });
        if let Some((_, nth)) = open.iter().rev().find(|(dir, _)| !path.is_empty() && dir == parent) {
            found[*nth] = Some(true);
        }
        if entry.stat.file_type == FileType::Directory {
            open.push((path.to_vec(), found.len()));
            let is_known = header.options.is_empty() && !header.failed.covers(entry.path);
            found.push(is_known.then_some(false));
        }
    }
    Ok(found)
}

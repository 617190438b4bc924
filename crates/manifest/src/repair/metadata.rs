//! Entries whose content is as recorded and whose metadata is not.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;

use ftk_file::{Stat, TRUSTED, Version, sees_trusted};
use ftk_inventory::Reservation;
use ftk_walk::FileType;

use crate::entry::key;
use crate::repair::damage::{Damage, Recorded, Why};
use crate::repair::directories::{directories_above, is_ours, was_ours};
use crate::repair::links::Unrecorded;
use crate::repair::plan::RepairPlan;
use crate::verdict::is_same_time;
use crate::walked_tree::Seen;
use crate::xattrs::{Hider, XattrReader};
use crate::{Contents, Entry, Error, Field, Shift, Xattr};

/// The bits that let a program run with the rights of the owner or group of its file.
const SET_ID: u32 = 0o6000;

/// The attribute that holds the capabilities of a program.
const CAPABILITIES: &[u8] = b"security.capability";

/// An entry whose recorded metadata is put back.
#[derive(Clone, Debug)]
pub struct OtherMetadata {
    /// The path below the root, `.` for the root itself.
    pub path: Vec<u8>,
    /// The present metadata.
    pub now: Stat,
    /// The present extended attributes, if they are recorded.
    pub xattrs: Option<Vec<Xattr>>,
    /// What is recorded.
    pub recorded: Recorded,
    /// The fields that differ: permissions, owner, group, mtime, attributes. Empty for a directory in which files are
    /// restored: its mtime is as recorded, and must be set again afterwards.
    pub changed: Vec<Field>,
    /// Whether the entry lacks recorded set-ID bits or capabilities, or would lose them with the change.
    pub lacks_rights: bool,
}

impl OtherMetadata {
    /// Returns the entry as it was seen.
    pub fn version(&self) -> Version {
        self.now.version()
    }

    /// Returns the present entry and the recorded one, with their metadata.
    pub fn entries(&self) -> [Entry<'_>; 2] {
        let Recorded { stat, absent, xattrs } = &self.recorded;
        let now = Entry { xattrs: self.xattrs.as_deref(), ..Entry::new(&self.path, self.now) };
        let recorded = Entry { xattrs: xattrs.as_deref(), absent: *absent, ..Entry::new(&self.path, *stat) };
        [now, recorded]
    }

    /// Returns whether the recorded value of a field is set.
    pub fn sets(&self, field: Field) -> bool {
        self.changed.contains(&field) || self.changed.is_empty() && field == Field::Mtime
    }
}

/// The verdict on the metadata of an entry.
pub(super) enum Judged {
    AsRecorded,
    /// It differs, and is not to be put back.
    Unasked,
    Left(Why),
    Differs(Box<OtherMetadata>),
}

/// In what a file that is replaced differs from its record besides content and time.
pub(super) struct Replaced {
    /// Whether it has the recorded owner, permissions and attributes, apart from set-ID bits and capabilities that it lacks.
    pub(super) is_as_recorded: bool,
    /// Whether it lacks recorded set-ID bits or capabilities.
    pub(super) lacks_rights: bool,
    /// Whether it has set-ID bits or capabilities.
    pub(super) has_rights: bool,
}

/// What is recorded for the first name of a file with several names.
struct FirstName {
    path: Vec<u8>,
    recorded: Recorded,
}

/// Compares the metadata of entries with their records.
pub(super) struct MetadataFinder<'f> {
    plan: &'f RepairPlan<'f>,
    xattrs: XattrReader<'f>,
    /// Whether the manifest has extended attributes, and those that only root sees.
    records: [bool; 2],
    hider: Hider,
    /// Whether this process does not see attributes of root that the record has.
    is_blind: bool,
    /// The directories whose path no other user can change, nor the names in them. Only if more than damage is repaired.
    ours: HashSet<Vec<u8>>,
    /// Files with several names. Only if metadata is put back.
    linked: HashMap<(u64, u64), FirstName>,
}

impl<'f> MetadataFinder<'f> {
    pub(super) fn new(plan: &'f RepairPlan<'f>, contents: Contents<'f>) -> Self {
        let header = plan.aligned.manifest.header();
        let xattrs = XattrReader::new(plan.aligned.tree.inventory, contents);
        let records = [header.xattrs, header.trusted_xattrs];
        let hider = Hider::new([header.trusted_xattrs, sees_trusted()]);
        let is_blind = header.trusted_xattrs && !sees_trusted();
        let (ours, linked) = (HashSet::new(), HashMap::new());
        Self { plan, xattrs, records, hider, is_blind, ours, linked }
    }

    /// Notes whether other users can change names in a directory, or could when it was recorded. Must be called before its
    /// entries are judged.
    pub(super) fn note_directory(
        &mut self,
        old: Option<&Entry<'_>>,
        seen: &Seen,
        reserved: &mut Reservation,
    ) -> Result<(), Error> {
        if self.plan.options.puts_back()
            && seen.file_type == FileType::Directory
            && seen.metadata.as_ref().is_some_and(is_ours)
            && old.is_none_or(was_ours)
            && if seen.is_root() { self.plan.options.private_root } else { self.is_private(&seen.path) }
        {
            reserved.consume((seen.path.len() + size_of::<Vec<u8>>()) as u64)?;
            self.ours.insert(key(&seen.path).to_vec());
        }
        Ok(())
    }

    /// Returns whether only the caller and root can have put an entry at this path.
    fn is_private(&self, path: &[u8]) -> bool {
        directories_above(path).next().is_some_and(|above| self.ours.contains(above))
    }

    /// Returns the present attributes of an entry, if they are recorded.
    fn read(&mut self, seen: &Seen) -> io::Result<Option<Vec<Xattr>>> {
        let xattrs = self.records[0].then(|| self.xattrs.read(seen)).transpose();
        xattrs.map(|xattrs| xattrs.map(<[Xattr]>::to_vec))
    }

    /// Returns whether an entry has set-ID bits or capabilities.
    pub(super) fn has_rights(&mut self, seen: &Seen, now: &Stat) -> bool {
        let xattrs = self.xattrs.read(seen).ok();
        has_rights(&Entry { xattrs, ..Entry::new(&seen.path, *now) })
    }

    /// Returns the present attributes of a file that the manifest does not record.
    ///
    /// Those that only root sees count as hidden if the manifest has them and this process does not see them. If neither has, a
    /// file of the caller has none, as far as the caller can know.
    pub(super) fn unrecorded(&mut self, seen: &Seen) -> Unrecorded {
        let [all, trusted] = self.records;
        match self.xattrs.read(seen) {
            Ok(_) if self.is_blind => Unrecorded::Hidden,
            Ok(xattrs) => {
                let is_recorded = |it: &&Xattr| all && (trusted || !it.name.starts_with(TRUSTED));
                Unrecorded::Known(xattrs.iter().filter(|it| !is_recorded(it)).cloned().collect())
            }
            Err(_) => Unrecorded::Hidden,
        }
    }

    /// Returns whether the record has attributes that only root sees, and this process does not see them: a new file would lack
    /// them.
    pub(super) fn hides_trusted(&self, old: &Entry<'_>) -> bool {
        self.is_blind && old.xattrs.is_some_and(|all| all.iter().any(|it| it.name.starts_with(TRUSTED)))
    }

    /// Compares the metadata of a file that is replaced with its record.
    ///
    /// # Errors
    /// If its attributes cannot be read.
    pub(super) fn compare_replaced(
        &mut self,
        old: &Entry<'_>,
        seen: &Seen,
        now: &Stat,
    ) -> io::Result<Replaced> {
        let (xattrs, has_rights) = (self.read(seen)?, self.has_rights(seen, now));
        let (mut old, mut new) = (*old, Entry { xattrs: xattrs.as_deref(), ..Entry::new(&seen.path, *now) });
        self.hider.hide([&mut old, &mut new]);
        let mut changed = changed(&old, &new, None, false);
        changed.retain(|field| *field != Field::Mtime);
        let lacks_rights = !has_rights && records_rights(&old);
        let is_as_recorded = changed.is_empty() || lacks_rights && is_only_rights(&old, &new, &changed);
        Ok(Replaced { is_as_recorded, lacks_rights, has_rights })
    }

    /// Compares an entry with its record. Its content is as recorded, as far as it was read.
    pub(super) fn judge(
        &mut self,
        old: &Entry<'_>,
        seen: &Seen,
        now: &Stat,
        shift: Option<&Shift>,
        reserved: &mut Reservation,
    ) -> Result<Judged, Error> {
        let Ok(xattrs) = self.read(seen) else { return Ok(Judged::Left(Why::Unreadable)) };
        let new = Entry { xattrs: xattrs.as_deref(), ..Entry::new(old.path, *now) };
        let (mut recorded, mut new) = (*old, new);
        let mut restored = Recorded::of(old);
        if self.hider.hide([&mut recorded, &mut new]) {
            // The present attributes that only root sees stay.
            let is_trusted = |xattr: &&Xattr| xattr.name.starts_with(TRUSTED);
            let present = xattrs.iter().flatten().filter(is_trusted).cloned();
            restored.xattrs = recorded.xattrs.map(|xattrs| xattrs.iter().cloned().chain(present).collect());
            restored.xattrs.iter_mut().for_each(|xattrs| xattrs.sort_by(|a, b| a.name.cmp(&b.name)));
        }
        let mut changed = changed(&recorded, &new, shift, self.plan.options.metadata);
        let lacks_rights = lacks_rights(&recorded, &new, &changed);
        if lacks_rights && is_only_rights(&recorded, &new, &changed) {
            return Ok(Judged::Left(Why::LacksRights));
        }
        if !self.plan.options.metadata {
            return Ok(if changed.is_empty() { Judged::AsRecorded } else { Judged::Unasked });
        }
        if now.nlink > 1 && now.file_type != FileType::Directory {
            match self.linked.get(&now.identity()) {
                Some(first) if first.recorded.is_alike(&restored) => return Ok(Judged::AsRecorded),
                Some(first) => return Ok(Judged::Left(Why::OtherLink(first.path.clone()))),
                None => {
                    let path = old.path.to_vec();
                    reserved.consume((size_of::<FirstName>() + path.len()) as u64)?;
                    self.linked.insert(now.identity(), FirstName { path, recorded: restored.clone() });
                }
            }
        }
        if changed.is_empty() {
            return Ok(Judged::AsRecorded);
        }
        if !self.is_known(seen) {
            return Ok(Judged::Left(Why::OtherEntry));
        }
        reserved.consume((size_of::<OtherMetadata>() + old.path.len()) as u64)?;
        changed.shrink_to_fit();
        Ok(Judged::Differs(Box::new(OtherMetadata {
            path: old.path.to_vec(),
            now: *now,
            xattrs,
            recorded: restored,
            changed,
            lacks_rights,
        })))
    }

    /// Returns whether no other user can have put this entry here.
    ///
    /// Another user could link or move an entry of a third user to a recorded name, and so get its owner and permissions
    /// changed: even a recorded inode could be exchanged after it was examined, or its number be used again.
    pub(super) fn is_known(&self, seen: &Seen) -> bool {
        let is_private =
            || if seen.is_root() { self.plan.options.private_root } else { self.is_private(&seen.path) };
        self.plan.options.other_root || is_private()
    }

    /// Adds the directories in which files are restored or joined, unless they are to be changed anyway: their mtime changes. Sorts all
    /// entries in the order in which they are set.
    pub(super) fn add_directories_of(&mut self, damage: &mut Damage) -> Result<(), Error> {
        if !self.plan.options.metadata {
            return Ok(());
        }
        let mut above: HashSet<Vec<u8>> = HashSet::new();
        for name in damage.wanted.iter().flat_map(|wanted| &wanted.names) {
            let nearest = name.directory.map(|nearest| &name.path[..nearest.len]);
            above.extend(nearest.or_else(|| directories_above(&name.path).next()).map(<[u8]>::to_vec));
        }
        above.extend(
            damage.joins.iter().filter_map(|it| directories_above(&it.path).next()).map(<[u8]>::to_vec),
        );
        for other in &damage.metadata {
            above.remove(key(&other.path));
        }
        if !above.is_empty() {
            self.plan.aligned.merge(|old, new| {
                if let (Some(old), Some(new)) = (old.map(|old| old.entry()), new)
                    && let Some(now) = new.seen.metadata.filter(|now| now.file_type == FileType::Directory)
                    && old.knows(Field::Mtime)
                    && old.stat.mtime_ns == now.mtime_ns
                    && above.contains(key(old.path))
                    && self.is_known(&new.seen)
                {
                    let (path, recorded) = (old.path.to_vec(), Recorded::of(&old));
                    let (xattrs, changed, lacks_rights) = (None, Vec::new(), false);
                    damage.metadata.push(OtherMetadata {
                        path,
                        now,
                        xattrs,
                        recorded,
                        changed,
                        lacks_rights,
                    });
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        damage.metadata.sort_by(|a, b| {
            let is_directory = |it: &OtherMetadata| it.now.file_type == FileType::Directory;
            is_directory(a).cmp(&is_directory(b)).then_with(|| match is_directory(a) {
                true => key(&b.path).cmp(key(&a.path)),
                false => a.path.cmp(&b.path),
            })
        });
        Ok(())
    }
}

impl Recorded {
    /// Returns whether the same permissions, owner, mtime and attributes are recorded.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let values = |it: &Self| {
            let known = |field, value: i128| it.knows(field).then_some(value);
            let Stat { mode, uid, gid, mtime_ns, .. } = it.stat;
            [
                known(Field::Mode, mode.into()),
                known(Field::Uid, uid.into()),
                known(Field::Gid, gid.into()),
                known(Field::Mtime, mtime_ns),
            ]
        };
        values(self) == values(other) && self.xattrs == other.xattrs
    }
}

/// Returns the fields that differ and can be set. `has_directory_times`: whether the mtime of directories counts.
fn changed(old: &Entry<'_>, new: &Entry<'_>, shift: Option<&Shift>, has_directory_times: bool) -> Vec<Field> {
    let file_type = new.stat.file_type;
    let mut changed = Vec::new();
    for field in [Field::Mode, Field::Uid, Field::Gid, Field::Mtime, Field::Xattrs] {
        let differs = match field {
            Field::Mode => file_type != FileType::Symlink && field.differs(old, new, None),
            Field::Mtime if !old.knows(field) || is_same_time(old, new, shift) => false,
            Field::Mtime => file_type != FileType::Directory || has_directory_times,
            field => field.differs(old, new, None),
        };
        if differs {
            changed.push(field);
        }
    }
    changed
}

/// Returns whether an entry lacks recorded set-ID bits or capabilities, or loses them if its recorded metadata is put back.
fn lacks_rights(old: &Entry<'_>, new: &Entry<'_>, changed: &[Field]) -> bool {
    let has = |field| changed.contains(&field);
    let recorded_bits = if old.knows(Field::Mode) { old.stat.mode & SET_ID } else { new.stat.mode & SET_ID };
    let is_symlink = new.stat.file_type == FileType::Symlink;
    let is_directory = new.stat.file_type == FileType::Directory;
    let is_owner_set = has(Field::Uid) || has(Field::Gid);
    let loses_bits = !is_directory
        && (is_owner_set || has(Field::Mode) || has(Field::Xattrs) && differs_in(old, new, LIST));
    let lacks_bits = !is_symlink && recorded_bits != 0 && (loses_bits || recorded_bits & !new.stat.mode != 0);
    let capability =
        |it: &Entry<'_>| it.xattrs.and_then(|all| all.iter().find(|it| it.name == CAPABILITIES).cloned());
    let recorded = capability(if old.xattrs.is_some() { old } else { new });
    lacks_bits || recorded.is_some() && (is_owner_set || recorded != capability(new))
}

/// Returns whether set-ID bits or capabilities are recorded for an entry.
pub(super) fn records_rights(old: &Entry<'_>) -> bool {
    has_rights(&Entry {
        stat: Stat { mode: if old.knows(Field::Mode) { old.stat.mode } else { 0 }, ..old.stat },
        ..*old
    })
}

/// Returns whether an entry has set-ID bits or capabilities.
fn has_rights(entry: &Entry<'_>) -> bool {
    let has_capabilities = |all: &[Xattr]| all.iter().any(|it| it.name == CAPABILITIES);
    entry.stat.mode & SET_ID != 0 || entry.xattrs.is_some_and(has_capabilities)
}

/// The attribute that holds the access control list.
const LIST: &[u8] = b"system.posix_acl_access";

/// Returns whether two entries have different values of an attribute.
fn differs_in(old: &Entry<'_>, new: &Entry<'_>, name: &[u8]) -> bool {
    let value = |it: &Entry<'_>| it.xattrs.and_then(|all| all.iter().find(|it| it.name == name).cloned());
    value(old) != value(new)
}

/// Returns whether nothing differs but set-ID bits and capabilities that the entry lacks.
fn is_only_rights(old: &Entry<'_>, new: &Entry<'_>, changed: &[Field]) -> bool {
    changed.iter().all(|field| match field {
        Field::Mode => {
            old.stat.mode & !SET_ID == new.stat.mode & !SET_ID && new.stat.mode & !old.stat.mode == 0
        }
        Field::Xattrs => {
            let others = |it: &Entry<'_>| {
                let all = it.xattrs.unwrap_or_default().iter();
                all.filter(|it| it.name != CAPABILITIES).cloned().collect::<Vec<_>>()
            };
            let has_recorded = old.xattrs.unwrap_or_default().iter().any(|it| it.name == CAPABILITIES);
            has_recorded && others(old) == others(new)
        }
        _ => false,
    })
}

//! What is damaged in a tree or missing from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use ftk_file::{Stat, Version, is_temp_name};
use ftk_inventory::{FileNo, Reservation};
use ftk_process::{FileSystems, Rows};
use ftk_select::Check;
use ftk_walk::FileType;

use crate::contents::Content;
use crate::criteria::{check_of, has_grown};
use crate::moves::Evidence;
use crate::repair::RepairPlan;
use crate::repair::directories::{NearestDirectory, directories_above, find_directories};
use crate::repair::links::{Intact, Joined, LinkTo, Links, RecordedFile, Unrecorded, WantedFile};
use crate::repair::metadata::{Judged, MetadataFinder, OtherMetadata, records_rights};
use crate::survey::lasting_difference;
use crate::verdict::{self, is_same_time};
use crate::walked_tree::Seen;
use crate::{Contents, Entry, Error, Field, FieldSet, Shift, ShiftKind, Verdict, Xattr};

/// What a manifest records of an entry besides its content.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The metadata.
    pub stat: Stat,
    /// Members that are absent. Their values in `stat` have no meaning.
    pub absent: FieldSet,
    /// The extended attributes. `None` if they were not recorded.
    pub xattrs: Option<Vec<Xattr>>,
}

impl Recorded {
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        let Entry { stat, absent, .. } = *entry;
        Self { stat, absent, xattrs: entry.xattrs.map(<[Xattr]>::to_vec) }
    }

    /// Returns whether the value of a field is known.
    pub fn knows(&self, field: Field) -> bool {
        !self.absent.contains(field)
    }
}

/// A name of a file to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The path below the root.
    pub path: Vec<u8>,
    /// The file with other content as it was read. `None` if it is missing.
    pub damaged: Option<Version>,
    /// The nearest directory above a missing name that the walk found. `None` if it found not even the root, and for
    /// damaged files.
    pub directory: Option<NearestDirectory>,
    /// Whether the manifest records this content under this name. Otherwise the name is a hard link that was
    /// made since.
    pub is_recorded: bool,
    /// Whether the manifest marks it as damaged.
    pub is_marked: bool,
}

impl Name {
    /// The name of a recorded file that is missing.
    fn of(old: &Entry<'_>) -> Self {
        let is_marked = old.damaged_ns.is_some();
        Self { path: old.path.to_vec(), damaged: None, directory: None, is_recorded: true, is_marked }
    }

    /// Returns the device of the file or, of a missing one, of the directory nearest to it, if that is known.
    pub(super) fn dev(&self) -> Option<u64> {
        self.damaged.map(|it| it.dev).or_else(|| self.directory.map(|it| it.identity.dev))
    }
}

/// A content to restore, and all names that it gets.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The names. Those of a damaged file come first. All of them are hard links of one file.
    pub names: Vec<Name>,
    /// The recorded digests, concatenated in the order of the manifest's algorithms.
    pub digests: Vec<u8>,
    /// The recorded metadata of the first name.
    pub recorded: Recorded,
    /// Whether the file was changed in a way that does not look like damage: its size or time differs.
    pub is_modified: bool,
    /// How many hard links of the damaged file are not in the tree. They keep the damaged content.
    pub other_links: u64,
    /// The bytes of disk space that the damaged file uses.
    pub allocated: u64,
    /// The file of which the names become hard links. `None` if they get a new file with the content of a copy.
    pub link_to: Option<LinkTo>,
    /// Whether the damaged file has set-ID bits or capabilities, which it loses.
    pub loses_rights: bool,
}

/// Why an entry is not repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is marked as damaged and has its recorded content again.
    Healed,
    /// Its type, link target or device differs, and nothing can restore it.
    Changed,
    /// It is marked as damaged and was changed since. It is restored with the modified files.
    Edited,
    /// Its content differs, and nothing shows whether that is an edit: its size or time is not recorded.
    Undecided,
    /// It is marked as damaged and is missing, and missing files are not restored.
    Missing,
    /// It is missing, and its content is now at this path.
    Moved(Vec<u8>),
    /// It counts as missing, but a filter or a tag keeps the walk from it or from a directory above it.
    Hidden,
    /// It could not be read.
    Unreadable,
    /// It is missing, and the directory at this path, which should contain it, is not known to be the recorded one.
    OtherDirectory(Vec<u8>),
    /// It is a hard link of this file, which is repaired, but another content is recorded for it.
    LinkOf(Vec<u8>),
    /// It is a hard link of this file, but other metadata is recorded for it.
    OtherLink(Vec<u8>),
    /// Its metadata differs, and neither is it known to be the recorded entry, nor can only the caller and root have put it
    /// there.
    OtherEntry,
    /// It lacks recorded set-ID bits or capabilities, which are never given, and nothing else that is put back.
    LacksRights,
    /// It lacks recorded attributes that only root can set.
    LacksTrusted,
    /// It would lose attributes that this process does not see.
    HidesTrusted,
    /// It is recorded as a hard link of this file, and stays a file of its own.
    Apart {
        /// The path of the other file.
        first: Vec<u8>,
        /// Whether another user could have put one of them there.
        is_exposed: bool,
    },
    /// It is a hard link of this file, and recorded as another one.
    Joined(Vec<u8>),
}

/// An entry that is not repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The path below the root.
    pub path: Vec<u8>,
    /// Why it is not repaired.
    pub why: Why,
}

/// The numbers of entries that could be restored and were not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unasked {
    /// Missing files.
    pub missing: u64,
    /// Files that were edited or truncated.
    pub modified: u64,
    /// Entries with other metadata. A file that was not read counts by its size and metadata alone.
    pub metadata: u64,
    /// Recorded files with several names that are separate files.
    pub links: u64,
}

/// The result of comparing a tree with its manifest for a repair.
#[derive(Debug, Default)]
pub struct Damage {
    /// What should be restored, in path order of the first recorded name. Modified files come last, the newest first.
    pub wanted: Vec<Wanted>,
    /// The entries whose recorded metadata is put back. Directories come last, those below first.
    pub metadata: Vec<OtherMetadata>,
    /// The names that become hard links again, after the metadata is put back.
    pub joins: Vec<Joined>,
    /// What is not restored because it was not asked for.
    pub unasked: Unasked,
    /// What is not repaired, in path order.
    pub left: Vec<Left>,
    /// Missing directories by their path below the root, if missing files are restored.
    pub directories: BTreeMap<Vec<u8>, Recorded>,
    /// How many missing links, special files and empty directories are not restored.
    pub others: u64,
    /// How many files have grown as their rules permit. Their recorded bytes were not compared.
    pub grown: u64,
    /// How many files count as damaged because the device does not return their content.
    pub lost: u64,
    /// A shift of nearly all times. A file counts as unchanged if it explains the new time.
    pub shift: Option<Shift>,
}

impl Damage {
    /// Returns whether the tree is a copy without times. Then the recorded times do not tell damage from edits until an
    /// [`Update`](crate::Update) has recorded the new ones.
    pub fn is_undecided(&self) -> bool {
        self.shift.is_some_and(|shift| matches!(shift.kind, ShiftKind::Reset { .. }))
    }

    /// Leaves the names of which it is not known whether they are missing, because the walk skipped them or a directory
    /// above them. `exists` is called with paths below the root that the walk has not found.
    pub fn leave_hidden(&mut self, mut exists: impl FnMut(&[u8]) -> bool) {
        let mut is_hidden = |Name { path, damaged, directory, .. }: &Name| {
            let found = directory.map_or(0, |it| it.len);
            let start = if found == 0 { 0 } else { found + 1 };
            let end =
                path[start..].iter().position(|byte| *byte == b'/').map_or(path.len(), |len| start + len);
            damaged.is_none() && exists(&path[..end])
        };
        for wanted in &mut self.wanted {
            let hidden = wanted.names.extract_if(.., |name| is_hidden(name));
            self.left.extend(hidden.map(|name| Left { path: name.path, why: Why::Hidden }));
        }
        self.wanted.retain(|wanted| !wanted.names.is_empty());
        self.left.sort_by(|one, other| one.path.cmp(&other.path));
    }
}

/// The state of the first pass.
struct Finder<'f> {
    plan: &'f RepairPlan<'f>,
    is_lost: &'f dyn Fn(FileNo) -> bool,
    contents: Contents<'f>,
    damage: Damage,
    metadata: MetadataFinder<'f>,
    /// Missing directories in which no file is missing.
    empty: HashSet<Vec<u8>>,
    reserved: Reservation,
    /// The wanted content by the inode of the damaged file.
    damaged: HashMap<(u64, u64), usize>,
    /// The wanted content by the recorded file.
    linked: HashMap<RecordedFile, usize>,
    /// What is recorded of the names of each wanted content.
    origins: Vec<Origin>,
    links: Links,
    /// The paths of files that are not recorded, by their digests and what shows that one of them is a missing file.
    unrecorded: HashMap<(Vec<u8>, Evidence), Vec<Vec<u8>>>,
    pending: u64,
}

/// What is recorded of the names of a wanted content.
struct Origin {
    /// The recorded file, if it had other names.
    file: Option<RecordedFile>,
    /// Whether its names may become links of another name of that file.
    may_join: bool,
    /// The attributes of the damaged file that are not recorded.
    unrecorded: Unrecorded,
    /// Whether it will lack recorded set-ID bits or capabilities.
    lacks_rights: bool,
    /// Whether it will lack recorded attributes that only root can set.
    lacks_trusted: bool,
}

impl RepairPlan<'_> {
    /// Finds what is damaged or missing, after [`files`](Self::files) were read into `rows`.
    ///
    /// A file is damaged if its size and mtime are as recorded and its content is not. So is a file whose
    /// content cannot be read, if its size and mtime are as recorded and `is_lost` says that the device does
    /// not return its content. A time that a [shift](Damage::shift) explains counts as the recorded one. In a copy
    /// [without times](Damage::is_undecided), no damage is found, only other metadata.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed meanwhile, when the result does not fit into the
    /// budget, or when a file was never processed.
    pub fn damage(&self, rows: &Rows, is_lost: &dyn Fn(FileNo) -> bool) -> Result<Damage, Error> {
        let contents = Contents::read(Some(&self.files), rows);
        let mut finder = Finder {
            plan: self,
            is_lost,
            contents,
            damage: Damage::default(),
            metadata: MetadataFinder::new(self, contents),
            empty: HashSet::new(),
            reserved: Reservation::new(self.budget),
            damaged: HashMap::new(),
            linked: HashMap::new(),
            origins: Vec::new(),
            links: Links::default(),
            unrecorded: HashMap::new(),
            pending: 0,
        };
        finder.damage.shift = Shift::find(&self.times, &self.aligned, &finder.contents, self.budget)?;
        if finder.damage.is_undecided() && !self.options.metadata {
            return Ok(finder.damage);
        }
        if self.finds_moved {
            finder.find_unrecorded()?;
        }
        self.aligned.merge(|old, new| {
            let (old, seen) = (old.map(|old| old.entry()), new.map(|new| &new.seen));
            if let Some(seen) = seen {
                finder.metadata.note_directory(old.as_ref(), seen, &mut finder.reserved)?;
            }
            match (old, seen) {
                (Some(old), Some(seen)) => finder.both(&old, seen)?,
                (Some(old), None) => finder.only_old(&old)?,
                (None, _) => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        finder.find_links()?;
        finder.damage.others += finder.empty.len() as u64;
        find_directories(self, &mut finder.damage, &mut finder.reserved)?;
        finder.join();
        finder.metadata.add_directories_of(&mut finder.damage)?;
        if finder.pending > 0 {
            return Err(Error::Unprocessed(finder.pending));
        }
        let mut damage = finder.damage;
        damage.wanted.retain(|wanted| !wanted.names.is_empty());
        damage.joins.sort_by(|a, b| a.path.cmp(&b.path));
        damage.left.sort_by_key(|left| matches!(left.why, Why::Joined(_)));
        damage.left.sort_by(|a, b| a.path.cmp(&b.path));
        let replaced = damage.wanted.iter().enumerate().flat_map(|(at, wanted)| {
            wanted.names.iter().filter(|name| name.damaged.is_some()).map(move |name| (&name.path, at))
        });
        let replaced: HashMap<_, _> = replaced.collect();
        // A name that gets another file than the other one is no longer a link of it.
        damage.left.retain(|left| match &left.why {
            Why::Joined(first) => replaced.get(&left.path) == replaced.get(first),
            _ => true,
        });
        // That two contents or two kinds of metadata are recorded for one file says more.
        let says_more = |why: &Why| matches!(why, Why::LinkOf(_) | Why::OtherLink(_));
        let is_joined = |why: &Why| matches!(why, Why::Joined(_));
        damage.left.dedup_by(|b, a| a.path == b.path && says_more(&a.why) && is_joined(&b.why));
        for wanted in &mut damage.wanted {
            wanted.names.sort_by_key(|name| name.damaged.is_none()); // stable: path order otherwise
        }
        let time_ns = |wanted: &Wanted| {
            wanted.names[0].damaged.filter(|_| wanted.is_modified).map(|it| Reverse(it.mtime_ns))
        };
        damage.wanted.sort_by_key(time_ns);
        Ok(damage)
    }
}

impl Finder<'_> {
    /// Collects the contents of files that are not recorded: missing files may have moved there.
    fn find_unrecorded(&mut self) -> Result<(), Error> {
        let (mut digests, mut found) = (Vec::new(), Vec::new());
        self.plan.aligned.merge(|old, new| {
            if let (None, Some(new)) = (old, new)
                && let Some(file) = new.seen.file
                && !is_temp_name(&new.seen.name)
                && let Content::Read(row, stat) = self.contents.of(file)
            {
                self.contents.digests(row, &mut digests);
                let evidence = Evidence::present(&stat, &self.plan.file_systems);
                let bytes = size_of::<Evidence>() + digests.len() + new.seen.path.len();
                self.reserved.consume(bytes as u64)?;
                found.push(((digests.clone(), evidence), new.seen.path.clone()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (file, path) in found.into_iter().rev() {
            self.unrecorded.entry(file).or_default().push(path);
        }
        Ok(())
    }

    fn leave(&mut self, old: &Entry<'_>, why: Why) {
        self.damage.left.push(Left { path: old.path.to_vec(), why });
    }

    /// Judges an entry that is recorded and exists.
    fn both(&mut self, old: &Entry<'_>, seen: &Seen) -> Result<(), Error> {
        let now = seen.stat();
        let check = check_of(&self.plan.checks, old);
        // What a rule permits is no damage, and no edit to undo.
        if old.stat.file_type == now.file_type && old.damaged_ns.is_none() {
            let has_grown = has_grown(check, old, &Entry::new(old.path, now));
            self.damage.grown += u64::from(has_grown);
            if has_grown || check == Check::Exists {
                return Ok(());
            }
        }
        let is_changed = |field: Field, is_changed: bool| old.knows(field) && is_changed;
        if is_changed(Field::Type, old.stat.file_type != now.file_type)
            || is_changed(Field::Rdev, now.file_type.is_device() && old.stat.rdev != now.rdev)
            || is_changed(Field::Target, now.file_type == FileType::Symlink && old.target != seen.target())
        {
            self.leave(old, Why::Changed);
            return Ok(());
        }
        self.links.note_present(old, &now, &mut self.damage.left, &mut self.reserved)?;
        match seen.file.filter(|_| old.stat.is_regular()) {
            Some(file) => self.file(old, seen, file),
            None => self.metadata(old, seen, &now, true),
        }
    }

    /// Judges a file that is recorded and exists.
    fn file(&mut self, old: &Entry<'_>, seen: &Seen, file: FileNo) -> Result<(), Error> {
        let is_marked = old.damaged_ns.is_some();
        let (row, stat) = match self.contents.of(file) {
            Content::Read(row, stat) => (row, stat),
            Content::Unread => {
                let now = seen.stat();
                if old.size().is_none_or(|size| size == now.size) {
                    return self.metadata(old, seen, &now, false);
                }
                return self.modified(old, seen, &now);
            }
            Content::Pending => {
                self.pending += 1;
                return Ok(());
            }
            Content::Failed => {
                let stat = seen.stat();
                if is_like(old, &stat, self.damage.shift.as_ref()) && (self.is_lost)(file) {
                    self.damage.lost += 1;
                    return self.damaged(old, seen, &stat, false);
                }
                self.leave(old, Why::Unreadable);
                return Ok(());
            }
        };
        let mut digests = Vec::new();
        self.contents.digests(row, &mut digests);
        if old.digests == digests {
            if is_marked {
                self.leave(old, Why::Healed);
            }
            return self.metadata(old, seen, &stat, true);
        }
        let new = Entry { digests: &digests, ..Entry::new(old.path, stat) };
        let shift = self.damage.shift.as_ref();
        let verdict = Verdict::of(old, &new, &[Field::Digests], shift);
        let is_undecided = self.damage.is_undecided();
        match () {
            () if is_undecided && verdict == Verdict::Corrupted => self.leave(old, Why::Undecided),
            () if verdict == Verdict::Corrupted => self.damaged(old, seen, &stat, false)?,
            () if !self.restores_modified() && !is_marked && verdict::is_undecided(old, &new, shift) => {
                self.leave(old, Why::Undecided);
            }
            () => self.modified(old, seen, &stat)?,
        }
        Ok(())
    }

    /// Returns whether edited files are restored. In a copy without times, nothing tells them from damaged ones.
    fn restores_modified(&self) -> bool {
        self.plan.options.modified && !self.damage.is_undecided()
    }

    /// Judges a file with other content that does not look like damage.
    fn modified(&mut self, old: &Entry<'_>, seen: &Seen, stat: &Stat) -> Result<(), Error> {
        if self.restores_modified() {
            return self.damaged(old, seen, stat, true);
        }
        if old.damaged_ns.is_some() {
            self.leave(old, Why::Edited);
        }
        self.damage.unasked.modified += 1;
        Ok(())
    }

    /// Judges the metadata and the hard links of an entry that has the recorded content, as far as it was read.
    fn metadata(&mut self, old: &Entry<'_>, seen: &Seen, now: &Stat, is_read: bool) -> Result<(), Error> {
        // In a copy without times, the recorded ones are put back.
        let shift = self.damage.shift.as_ref().filter(|_| !self.damage.is_undecided());
        let judged = self.metadata.judge(old, seen, now, shift, &mut self.reserved)?;
        if let Some(group) = old.link_group {
            let is_as_recorded = matches!(judged, Judged::AsRecorded);
            let intact = Intact {
                path: old.path.to_vec(),
                now: *now,
                recorded: Recorded::of(old),
                unrecorded: self.metadata.unrecorded(seen),
                is_read,
                is_as_recorded,
                gets_metadata: is_as_recorded
                    || matches!(judged, Judged::Differs(_) | Judged::Left(Why::LacksRights)),
                is_known: self.metadata.is_known(seen),
                is_recorded_inode: is_recorded_inode(old, now, &self.plan.file_systems),
                has_rights: self.metadata.has_rights(seen, now),
            };
            self.links.add_intact((group, old.digests), intact, &mut self.reserved)?;
        }
        match judged {
            Judged::AsRecorded => {}
            _ if check_of(&self.plan.checks, old) == Check::Content => {}
            Judged::Unasked => self.damage.unasked.metadata += 1,
            Judged::Left(why) => self.leave(old, why),
            Judged::Differs(other) => self.damage.metadata.push(*other),
        }
        Ok(())
    }

    /// Adds a file with other content. All its names in the tree are found in the second pass.
    fn damaged(&mut self, old: &Entry<'_>, seen: &Seen, stat: &Stat, is_modified: bool) -> Result<(), Error> {
        // Without other names the inode number does not matter, and some file systems make it up.
        if stat.nlink > 1 && self.damaged.contains_key(&stat.identity()) {
            return Ok(());
        }
        if self.metadata.hides_trusted(old) {
            self.leave(old, Why::HidesTrusted);
            return Ok(());
        }
        let Ok(replaced) = self.metadata.compare_replaced(old, seen, stat) else {
            self.leave(old, Why::Unreadable);
            return Ok(());
        };
        let unrecorded = self.metadata.unrecorded(seen);
        let gets_metadata = self.plan.options.metadata || replaced.is_as_recorded;
        self.damage.unasked.metadata += u64::from(!gets_metadata);
        let is_missing = |at: &usize| self.damage.wanted[*at].names.iter().all(|name| name.damaged.is_none());
        let at = match self.linked_to(old).filter(is_missing) {
            Some(at) => at,
            None => self.want(old)?,
        };
        if stat.nlink > 1 {
            self.damaged.insert(stat.identity(), at);
        }
        let name = Name { damaged: Some(stat.version()), ..Name::of(old) };
        // Names of damaged files are joined with others only on request.
        let origin = &mut self.origins[at];
        origin.may_join &= gets_metadata && (is_modified || self.plan.options.metadata);
        origin.lacks_rights = replaced.lacks_rights;
        origin.lacks_trusted = false;
        origin.unrecorded = unrecorded;
        let wanted = &mut self.damage.wanted[at];
        wanted.other_links = stat.nlink - 1;
        wanted.is_modified |= is_modified;
        wanted.allocated = stat.blocks * BLOCK;
        wanted.loses_rights = replaced.has_rights;
        wanted.names.push(name);
        Ok(())
    }

    /// Adds a wanted content without names, and returns its position.
    fn want(&mut self, old: &Entry<'_>) -> Result<usize, Error> {
        let bytes = size_of::<Wanted>() + 2 * size_of::<Name>() + 2 * old.path.len() + old.digests.len();
        self.reserved.consume(bytes as u64)?;
        self.damage.wanted.push(Wanted {
            names: Vec::new(),
            digests: old.digests.to_vec(),
            recorded: Recorded::of(old),
            is_modified: false,
            other_links: 0,
            allocated: 0,
            link_to: None,
            loses_rights: false,
        });
        let at = self.damage.wanted.len() - 1;
        let file = RecordedFile::of(old);
        if let Some(file) = file.clone() {
            self.linked.insert(file, at);
        }
        self.origins.push(Origin {
            file,
            may_join: true,
            unrecorded: Unrecorded::Missing,
            lacks_rights: records_rights(old),
            lacks_trusted: self.metadata.hides_trusted(old),
        });
        Ok(at)
    }

    /// Returns the wanted content of which an entry was a hard link when it was recorded, with the same content and metadata.
    fn linked_to(&self, old: &Entry<'_>) -> Option<usize> {
        let at = *self.linked.get(&RecordedFile::of(old)?)?;
        let wanted = &self.damage.wanted[at];
        (wanted.digests == old.digests && wanted.recorded.is_alike(&Recorded::of(old))).then_some(at)
    }

    /// Judges an entry that is recorded and missing.
    fn only_old(&mut self, old: &Entry<'_>) -> Result<(), Error> {
        if self.plan.aligned.failed.covers(old.path) {
            if old.damaged_ns.is_some() {
                self.leave(old, Why::Unreadable);
            }
            return Ok(());
        }
        let is_restored = self.plan.options.missing && !self.damage.is_undecided();
        if old.stat.file_type == FileType::Directory {
            self.reserved.consume((size_of::<Recorded>() + 2 * old.path.len()) as u64)?;
            self.empty.insert(old.path.to_vec());
            if is_restored {
                self.damage.directories.insert(old.path.to_vec(), Recorded::of(old));
            }
            return Ok(());
        }
        if !old.stat.is_regular() {
            self.damage.others += 1;
            return Ok(());
        }
        directories_above(old.path).for_each(|path| _ = self.empty.remove(path));
        let evidence = Evidence::recorded(old);
        if evidence != Evidence::Missing
            && let Some(path) = self.unrecorded.get_mut(&(old.digests.to_vec(), evidence)).and_then(Vec::pop)
        {
            if is_restored || old.damaged_ns.is_some() {
                self.leave(old, Why::Moved(path));
            }
            return Ok(());
        }
        if !is_restored {
            match old.damaged_ns {
                Some(_) => self.leave(old, Why::Missing),
                None => self.damage.unasked.missing += 1,
            }
            return Ok(());
        }
        let at = match self.linked_to(old) {
            Some(at) => at,
            None => self.want(old)?,
        };
        self.damage.wanted[at].names.push(Name::of(old));
        Ok(())
    }

    /// Finds all other names of the damaged files in the tree.
    fn find_links(&mut self) -> Result<(), Error> {
        if self.damaged.is_empty() {
            return Ok(());
        }
        let mut digests = Vec::new();
        self.plan.aligned.merge(|old, new| {
            if let Some(seen) = new.map(|new| &new.seen)
                && let Some(stat) = seen.metadata.filter(|stat| stat.is_regular() && stat.nlink > 1)
                && let Some(&at) = self.damaged.get(&stat.identity())
                && let wanted = &mut self.damage.wanted[at]
                && wanted.names.iter().all(|name| name.path != seen.path)
            {
                self.reserved.consume((size_of::<Name>() + seen.path.len()) as u64)?;
                wanted.other_links = wanted.other_links.saturating_sub(1);
                let shift = self.damage.shift.as_ref();
                let is_recorded = |old: &Entry<'_>| {
                    old.stat.is_regular() && wanted.is_modified || is_like(old, &stat, shift)
                };
                let old = old.map(|old| old.entry());
                let is_same_file =
                    old.as_ref().is_some_and(|old| RecordedFile::of(old) == self.origins[at].file);
                let recorded = old.filter(is_recorded);
                let path = seen.path.clone();
                let mut has_content = |old: &Entry<'_>| {
                    let Some(Content::Read(row, _)) = seen.file.map(|file| self.contents.of(file)) else {
                        return false;
                    };
                    self.contents.digests(row, &mut digests);
                    old.digests == digests
                };
                if is_temp_name(&seen.name) {
                    // A killed run has left it. Undo of its journal removes it.
                } else if let Some(old) =
                    old.filter(|it| it.stat.is_regular() && it.digests != wanted.digests)
                {
                    // The other name gets a new file, and then this one has what is recorded for it.
                    if !has_content(&old) {
                        let why = Why::LinkOf(wanted.names[0].path.clone());
                        self.damage.left.push(Left { path, why });
                    }
                } else if recorded.is_none() && wanted.is_modified {
                    // A name that was made since keeps the newer content.
                } else {
                    let damaged = wanted.names.iter().find_map(|name| name.damaged);
                    let is_recorded = recorded.is_some();
                    let is_marked = recorded.as_ref().is_some_and(|old| old.damaged_ns.is_some());
                    if self.plan.options.metadata
                        && recorded.is_some_and(|old| !Recorded::of(&old).is_alike(&wanted.recorded))
                    {
                        let why = Why::OtherLink(wanted.names[0].path.clone());
                        self.damage.left.push(Left { path: path.clone(), why });
                    }
                    self.origins[at].may_join &= is_same_file;
                    wanted.names.push(Name { path, damaged, directory: None, is_recorded, is_marked });
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

impl Finder<'_> {
    /// Decides which names become hard links of others, and lists what the restored files will lack.
    fn join(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        for (at, origin) in self.origins.iter().enumerate() {
            if let Some(file) = &origin.file {
                let (may_join, unrecorded) = (origin.may_join, origin.unrecorded.clone());
                let wanted = WantedFile { at, may_join, unrecorded };
                links.add_wanted(file, &self.damage.wanted[at].digests, wanted);
            }
        }
        links.join(self.plan.options.metadata, &mut self.damage);
        for (Wanted { names, link_to, .. }, origin) in self.damage.wanted.iter().zip(&self.origins) {
            let Some(name) = names.first() else { continue };
            let mut leave = |why| self.damage.left.push(Left { path: name.path.clone(), why });
            if origin.lacks_rights {
                leave(Why::LacksRights);
            }
            // A file that exists has them.
            if origin.lacks_trusted && link_to.as_ref().is_none_or(|to| to.version.is_none()) {
                leave(Why::LacksTrusted);
            }
        }
    }
}

/// Returns whether a file is the recorded inode, which needs a time of birth.
fn is_recorded_inode(old: &Entry<'_>, now: &Stat, file_systems: &FileSystems) -> bool {
    let has_birth = old.stat.birth_ns.is_some() && old.stat.birth_ns == now.birth_ns;
    has_birth && old.knows(Field::Ino) && lasting_difference(old, now, file_systems) == Some(None)
}

/// Returns whether an entry records a regular file with the size and mtime of this one, apart from a shift.
fn is_like(old: &Entry<'_>, now: &Stat, shift: Option<&Shift>) -> bool {
    old.stat.is_regular()
        && old.stat.size == now.size
        && old.knows_all(&[Field::Size, Field::Mtime])
        && is_same_time(old, &Entry::new(old.path, *now), shift)
}

/// The unit of `st_blocks` in bytes.
pub(super) const BLOCK: u64 = 512;

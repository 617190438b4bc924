//! Recorded hard links: which names become links of one file again.

use std::collections::{BTreeMap, HashMap, HashSet};

use ftk_file::{Stat, Version};
use ftk_inventory::Reservation;
use rustix::process::geteuid;

use crate::entry::LinkGroup;
use crate::repair::damage::{Damage, Left, Name, Recorded, Wanted, Why};
use crate::{Entry, Error, Field, Xattr};

/// A recorded file with several names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum RecordedFile {
    Group(LinkGroup),
    /// Device and inode number, if the manifest does not name groups.
    Inode(u64, u64),
}

impl RecordedFile {
    /// Returns the file of an entry, if it had other names.
    pub(super) fn of(old: &Entry<'_>) -> Option<Self> {
        match old.link_group {
            Some(group) => Some(Self::Group(group.into())),
            None => (old.stat.nlink > 1 && old.knows_all(&[Field::Dev, Field::Ino, Field::Nlink]))
                .then_some(Self::Inode(old.stat.dev, old.stat.ino)),
        }
    }
}

/// The file that further names are linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTo {
    /// The path below the root.
    pub path: Vec<u8>,
    /// The file as it was read. `None` if its content is restored first.
    pub version: Option<Version>,
}

/// A name with the recorded content that becomes a hard link of another one again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The path below the root.
    pub path: Vec<u8>,
    /// The file that the name leads to, as it was read.
    pub version: Version,
    /// The file that it becomes a link of.
    pub to: LinkTo,
}

/// The present attributes of a name that its record does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unrecorded {
    /// The name is missing.
    Missing,
    Known(Vec<Xattr>),
    /// They cannot be read, or this process does not see them.
    Hidden,
}

impl Unrecorded {
    /// Returns whether a name with these attributes may become a link of a file with those of `keeper`: none is lost or gained.
    fn fit(&self, keeper: &Self) -> bool {
        match (self, keeper) {
            (Self::Missing, _) => true,
            (Self::Known(all), Self::Missing) => all.is_empty(),
            (Self::Known(all), Self::Known(others)) => all == others,
            (Self::Hidden, _) | (_, Self::Hidden) => false,
        }
    }
}

/// A name that exists and has the recorded content, as far as that was read.
#[derive(Debug)]
pub(super) struct Intact {
    pub(super) path: Vec<u8>,
    pub(super) now: Stat,
    pub(super) recorded: Recorded,
    pub(super) unrecorded: Unrecorded,
    /// Whether its content was read.
    pub(super) is_read: bool,
    /// Whether it has the recorded owner, permissions, time and attributes.
    pub(super) is_as_recorded: bool,
    /// Whether it has them or gets them.
    pub(super) gets_metadata: bool,
    /// Whether no other user can have put it there.
    pub(super) is_known: bool,
    /// Whether it is the recorded inode.
    pub(super) is_recorded_inode: bool,
    /// Whether it has set-ID bits or capabilities.
    pub(super) has_rights: bool,
}

impl Intact {
    /// Returns whether other names may become links of this file. Where another user can change its path, it must be the
    /// recorded inode: that user could have put a file there that is open for writing. Linux may refuse a link to a file of
    /// another user.
    fn may_be_linked(&self) -> bool {
        let is_permitted = || {
            let euid = geteuid();
            euid.is_root() || euid.as_raw() == self.now.uid
        };
        self.now.is_regular()
            && self.gets_metadata
            && (self.is_known || self.is_recorded_inode)
            && is_permitted()
    }

    /// Returns whether this name may become a link of `keeper`, whose content it has.
    fn may_join(&self, keeper: &Self) -> bool {
        let gains_rights =
            keeper.has_rights && !(self.has_rights && self.is_as_recorded && keeper.is_as_recorded);
        self.now.is_regular()
            && self.is_read
            && keeper.is_read
            && !gains_rights
            && self.unrecorded.fit(&keeper.unrecorded)
            && self.now.dev == keeper.now.dev
            && !self.is_exposed(keeper)
    }

    /// Returns whether another user could have put this name or `keeper` there.
    fn is_exposed(&self, keeper: &Self) -> bool {
        !self.is_known || !keeper.is_known
    }
}

/// A content to restore that is recorded for a file with several names.
#[derive(Debug)]
pub(super) struct WantedFile {
    /// The position of the content.
    pub(super) at: usize,
    /// Whether it may become a link of another name, or other names links of it.
    pub(super) may_join: bool,
    pub(super) unrecorded: Unrecorded,
}

/// What is known about the names of a recorded file.
#[derive(Debug, Default)]
struct Names {
    intact: Vec<Intact>,
    wanted: Vec<WantedFile>,
}

/// The names of a recorded file with the same recorded metadata.
struct Alike {
    recorded: Recorded,
    /// The position of the name that the others become links of.
    keeper: Option<usize>,
    /// The file that restored names become links of, and its device and attributes.
    to: Option<(LinkTo, u64, Unrecorded)>,
}

impl Alike {
    /// Returns the position of the names with this record.
    fn find(all: &mut Vec<Self>, recorded: &Recorded) -> usize {
        all.iter().position(|it| it.recorded.is_alike(recorded)).unwrap_or_else(|| {
            all.push(Self { recorded: recorded.clone(), keeper: None, to: None });
            all.len() - 1
        })
    }
}

/// The recorded and the present files with several names.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// By group and recorded digests.
    files: BTreeMap<(LinkGroup, Vec<u8>), Names>,
    /// The first path of each present file with several names, and the group that is recorded for it.
    present: HashMap<(u64, u64), (Vec<u8>, Option<LinkGroup>)>,
}

impl Links {
    /// Lists an existing name if it is a hard link of one that is recorded as another file.
    pub(super) fn note_present(
        &mut self,
        old: &Entry<'_>,
        now: &Stat,
        left: &mut Vec<Left>,
        reserved: &mut Reservation,
    ) -> Result<(), Error> {
        let (Some(inode), Some(group)) = (now.linked_identity(), old.links()) else { return Ok(()) };
        match self.present.get(&inode) {
            Some((_, first)) if group.is_some() && first.as_deref() == group => {}
            Some((path, _)) => left.push(Left { path: old.path.to_vec(), why: Why::Joined(path.clone()) }),
            None => {
                reserved.consume((size_of::<(Vec<u8>, LinkGroup)>() + 2 * old.path.len()) as u64)?;
                self.present.insert(inode, (old.path.to_vec(), group.map(Into::into)));
            }
        }
        Ok(())
    }

    /// Adds a name with the recorded content, these digests, that is in this group.
    pub(super) fn add_intact(
        &mut self,
        (group, digests): (&[u8], &[u8]),
        intact: Intact,
        reserved: &mut Reservation,
    ) -> Result<(), Error> {
        let xattrs = intact.recorded.xattrs.iter().flatten();
        let xattrs: usize = xattrs.map(|it| size_of::<Xattr>() + it.name.len() + it.value.len()).sum();
        let bytes = size_of::<Intact>() + intact.path.len() + group.len() + digests.len() + 2 * xattrs;
        reserved.consume(bytes as u64)?;
        self.files.entry((group.into(), digests.into())).or_default().intact.push(intact);
        Ok(())
    }

    /// Adds a content to restore.
    pub(super) fn add_wanted(&mut self, file: &RecordedFile, digests: &[u8], wanted: WantedFile) {
        if let RecordedFile::Group(group) = file {
            self.files.entry((group.clone(), digests.into())).or_default().wanted.push(wanted);
        }
    }

    /// Decides which names become links of another one: those that get the recorded content in this run and, if `joins`, also
    /// those that have it. Counts or lists the names that stay separate files.
    pub(super) fn join(self, joins: bool, damage: &mut Damage) {
        for names in self.files.into_values() {
            join_names(names, joins, damage);
        }
        let joined: HashSet<_> = damage.joins.iter().map(|it| &it.path).collect();
        damage.metadata.retain(|other| !joined.contains(&other.path));
    }
}

fn join_names(Names { intact, wanted }: Names, joins: bool, damage: &mut Damage) {
    let mut names_of: HashMap<_, u64> = HashMap::new();
    intact.iter().for_each(|it| *names_of.entry(it.now.identity()).or_default() += 1);
    let rank = |it: &Intact| (it.is_as_recorded, it.is_recorded_inode, names_of[&it.now.identity()]);
    // Names with other recorded metadata cannot be one file.
    let mut all = Vec::new();
    let alike: Vec<_> = intact.iter().map(|it| Alike::find(&mut all, &it.recorded)).collect();
    for (at, it) in intact.iter().enumerate().filter(|(_, it)| it.may_be_linked()) {
        let keeper = &mut all[alike[at]].keeper;
        if keeper.is_none_or(|keeper| rank(it) > rank(&intact[keeper])) {
            *keeper = Some(at);
        }
    }
    // The file of the first name that stays as it is, and the names that lead to other files.
    let keepers = all.iter().filter_map(|it| it.keeper).map(|at| &intact[at]);
    let mut first = keepers.rev().max_by_key(|it| rank(it)).map(|it| it.path.clone());
    let mut first_inode = first.as_ref().and_then(|path| intact.iter().find(|it| it.path == *path));
    let mut apart = Vec::new();
    for (it, alike) in intact.iter().zip(alike) {
        let inode = it.now.identity();
        if first.is_none() {
            (first, first_inode) = (Some(it.path.clone()), Some(it));
        }
        let keeper = all[alike].keeper.map(|at| &intact[at]);
        let is_of = |other: Option<&Intact>| other.is_some_and(|other| other.now.identity() == inode);
        match keeper.filter(|keeper| joins && !is_of(Some(keeper)) && it.may_join(keeper)) {
            // A name that is not in the group keeps the metadata of its file, which is not put back then.
            Some(keeper) if names_of[&inode] == it.now.nlink => damage.joins.push(Joined {
                path: it.path.clone(),
                version: it.now.version(),
                to: LinkTo { path: keeper.path.clone(), version: Some(keeper.now.version()) },
            }),
            _ if is_of(first_inode) => {}
            _ => {
                let is_file = it.now.is_regular();
                let is_exposed = is_file && keeper.is_none_or(|keeper| it.is_exposed(keeper));
                apart.push((it.path.clone(), is_file, is_exposed));
            }
        }
    }
    // No restored name gets set-ID bits or capabilities.
    for it in &mut all {
        let keeper = it.keeper.map(|at| &intact[at]).filter(|it| !it.has_rights);
        it.to = keeper.map(|it| {
            let to = LinkTo { path: it.path.clone(), version: Some(it.now.version()) };
            (to, it.now.dev, it.unrecorded.clone())
        });
    }
    for WantedFile { at, may_join, unrecorded } in wanted {
        let Wanted { names, link_to, recorded, .. } = &mut damage.wanted[at];
        let Some(path) = names.first().map(|name| name.path.clone()) else { continue };
        let alike = Alike::find(&mut all, recorded);
        let Alike { keeper, to, .. } = &mut all[alike];
        let devs = || names.iter().map(Name::dev);
        match to {
            Some((to, dev, theirs))
                if may_join && unrecorded.fit(theirs) && devs().all(|it| it.is_none_or(|it| it == *dev)) =>
            {
                *link_to = Some(to.clone());
            }
            _ => {
                if may_join
                    && to.is_none()
                    && keeper.is_none()
                    && let Some(dev) = devs().next().flatten()
                {
                    *to = Some((LinkTo { path: path.clone(), version: None }, dev, unrecorded));
                }
                match first {
                    None => first = Some(path),
                    Some(_) => {
                        let is_exposed = keeper.is_none() && intact.iter().any(|it| !it.is_known);
                        apart.push((path, true, is_exposed));
                    }
                }
            }
        }
    }
    let Some(first) = first.filter(|_| !apart.is_empty()) else { return };
    damage.unasked.links += u64::from(!joins && apart.iter().any(|(_, is_file, _)| *is_file));
    for (path, _, is_exposed) in apart.into_iter().filter(|(_, is_file, _)| joins || !is_file) {
        damage.left.push(Left { path, why: Why::Apart { first: first.clone(), is_exposed } });
    }
}

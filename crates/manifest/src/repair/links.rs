//! Recorded hard links: which names become links of one file again.

use std::collections::{BTreeMap, HashMap, HashSet};

use ftk_file::{Stat, Version};
use ftk_inventory::Reservation;

use crate::entry::LinkGroup;
use crate::repair::damage::{Damage, Left, Wanted, Why};
use crate::{Entry, Error, Field};

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

/// A name that exists and has the recorded content, as far as that was read.
#[derive(Debug)]
pub(super) struct Intact {
    pub(super) path: Vec<u8>,
    pub(super) now: Stat,
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
    /// recorded inode: that user could have put a file there that is open for writing.
    fn may_be_linked(&self) -> bool {
        self.now.is_regular() && self.gets_metadata && (self.is_known || self.is_recorded_inode)
    }

    /// Returns whether this name may become a link of `keeper`, whose content it has.
    fn may_join(&self, keeper: &Self) -> bool {
        let gains_rights =
            keeper.has_rights && !(self.has_rights && self.is_as_recorded && keeper.is_as_recorded);
        self.now.is_regular() && self.is_read && keeper.is_read && !gains_rights && !self.is_exposed(keeper)
    }

    /// Returns whether another user could have put this name or `keeper` there.
    fn is_exposed(&self, keeper: &Self) -> bool {
        !self.is_known || !keeper.is_known
    }
}

/// What is known about the names of a recorded file.
#[derive(Debug, Default)]
struct Names {
    intact: Vec<Intact>,
    /// The positions of contents to restore, and whether each may become a link of another name, or other names links of it.
    wanted: Vec<(usize, bool)>,
}

/// The recorded and the present files with several names.
#[derive(Debug, Default)]
pub(super) struct Links {
    files: BTreeMap<LinkGroup, Names>,
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

    /// Adds a name with the recorded content that is in this group.
    pub(super) fn add_intact(
        &mut self,
        group: &[u8],
        intact: Intact,
        reserved: &mut Reservation,
    ) -> Result<(), Error> {
        reserved.consume((size_of::<Intact>() + intact.path.len() + group.len()) as u64)?;
        self.files.entry(group.into()).or_default().intact.push(intact);
        Ok(())
    }

    /// Adds a content to restore, by its position. `may_join`: whether it may become a link of another name of its file.
    pub(super) fn add_wanted(&mut self, file: &RecordedFile, at: usize, may_join: bool) {
        if let RecordedFile::Group(group) = file {
            self.files.entry(group.clone()).or_default().wanted.push((at, may_join));
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
    let rank = |it: &&Intact| (it.is_as_recorded, it.is_recorded_inode, names_of[&it.now.identity()]);
    let keeper = intact.iter().rev().filter(|it| it.may_be_linked()).max_by_key(rank);
    // The file of the first name that stays as it is, and the names that lead to other files.
    let mut first = keeper.map(|it| it.path.clone());
    let mut first_inode = keeper.map(|it| it.now.identity());
    let mut apart = Vec::new();
    for it in &intact {
        let inode = it.now.identity();
        if first.is_none() {
            (first, first_inode) = (Some(it.path.clone()), Some(inode));
        }
        if Some(inode) == first_inode {
            continue;
        }
        match keeper.filter(|keeper| joins && it.may_join(keeper)) {
            // A name that is not in the group keeps the metadata of its file, which is not put back then.
            Some(keeper) if names_of[&inode] == it.now.nlink => damage.joins.push(Joined {
                path: it.path.clone(),
                version: it.now.version(),
                to: LinkTo { path: keeper.path.clone(), version: Some(keeper.now.version()) },
            }),
            _ => {
                let is_file = it.now.is_regular();
                let is_exposed = is_file && keeper.is_none_or(|keeper| it.is_exposed(keeper));
                apart.push((it.path.clone(), is_file, is_exposed));
            }
        }
    }
    let link_to = |it: &Intact| LinkTo { path: it.path.clone(), version: Some(it.now.version()) };
    // No restored name gets set-ID bits or capabilities.
    let mut to = keeper.filter(|it| !it.has_rights).map(link_to);
    for (at, may_join) in wanted {
        let Wanted { names, link_to, .. } = &mut damage.wanted[at];
        let Some(path) = names.first().map(|name| name.path.clone()) else { continue };
        match &to {
            Some(to) if may_join => *link_to = Some(to.clone()),
            _ => {
                if may_join && keeper.is_none() {
                    to = Some(LinkTo { path: path.clone(), version: None });
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

//! `--from` with the JSON of ncdu.

use std::ffi::{CString, OsStr};
use std::io::{BufReader, Read};

use anyhow::{Context as _, anyhow, bail};
use ftk_record::{NcduEntry, NcduError, NcduEvent, NcduFacts, NcduMade, NcduMissing, NcduReader, quote};
use ftk_walk::{Doubt, Fields, FileType, Metadata, Recorded, Replay, Visitor};

use super::from::{known_fields, unreadable};

/// A tree in the JSON of ncdu, of which only the object of the root was read.
pub(super) struct NcduTree {
    reader: NcduReader<BufReader<Box<dyn Read + Send>>>,
    /// The path of the root.
    pub(super) root: Vec<u8>,
    said: Said,
}

/// What the file says about an entry.
#[derive(Clone, Copy)]
struct Said {
    facts: NcduFacts,
    missing: Option<NcduMissing>,
    is_excluded: bool,
    /// Whether its entries follow.
    is_open: bool,
}

impl NcduTree {
    /// Reads the start of a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not the JSON of ncdu.
    pub(super) fn open(path: &OsStr, input: BufReader<Box<dyn Read + Send>>) -> anyhow::Result<Self> {
        let name = || quote(path.as_encoded_bytes());
        let mut reader = NcduReader::new(input);
        let first = reader.next().map_err(|error| match error {
            NcduError::Syntax { offset: 0, .. } => anyhow!("not a manifest of ftk, and not the JSON of ncdu"),
            error => error.into(),
        });
        let Some(NcduEvent::Open(entry)) = first.with_context(name)? else { bail!("{} has no root", name()) };
        let (root, said) = (entry.name.to_vec(), Said::of(&entry, true));
        Ok(Self { reader, root, said })
    }

    /// Whether the file says on which device each directory is.
    pub(super) fn has_devices(&self) -> bool {
        self.said.facts.dev.is_some()
    }

    /// Shows all entries. Returns the number of those of which neither type nor size is known, since the program did
    /// not count them: they are not shown.
    ///
    /// # Errors
    /// If the file cannot be read further, or is malformed.
    pub(super) fn show<V: Visitor>(mut self, root: &CString, replay: &mut Replay<V>) -> anyhow::Result<u64> {
        let made = self.reader.made().clone();
        let root_dev = self.said.facts.dev;
        let mut hidden = 0;
        // The path of the innermost open directory below the root, and the lengths of the paths of those around it.
        let (mut path, mut above) = (Vec::new(), Vec::new());
        // A directory whose first entry may follow. It is shown when it is known whether one does.
        let mut begun = Some(self.said);
        loop {
            let event = self.reader.next()?;
            if let Some(said) = begun.take() {
                let mut recorded =
                    said.recorded(&made, root_dev).expect("the type of an open directory is known");
                let may_lack_some = made.is_gdu || made.filter.is_some() || said.missing.is_some();
                recorded.has_entries = match event {
                    Some(NcduEvent::Close) | None => (!may_lack_some).then_some(false),
                    Some(_) => Some(true),
                };
                if !replay.show(&path, &recorded) {
                    break;
                }
                if said.missing == Some(NcduMissing::Unreadable) {
                    replay.error(unreadable(root, &path));
                }
            }
            match event {
                None => break,
                Some(NcduEvent::Open(entry)) => {
                    above.push(path.len());
                    push(&mut path, entry.name);
                    begun = Some(Said::of(&entry, true));
                }
                Some(NcduEvent::Item(entry)) => {
                    let len = path.len();
                    push(&mut path, entry.name);
                    let said = Said::of(&entry, false);
                    match said.recorded(&made, root_dev) {
                        Some(recorded) if !replay.show(&path, &recorded) => break,
                        Some(_) => {}
                        None if said.missing == Some(NcduMissing::Unreadable) => {
                            replay.error(unreadable(root, &path));
                        }
                        None => hidden += 1,
                    }
                    path.truncate(len);
                }
                Some(NcduEvent::Close) => path.truncate(above.pop().unwrap_or_default()),
            }
        }
        Ok(hidden)
    }
}

impl Said {
    fn of(entry: &NcduEntry<'_>, is_open: bool) -> Self {
        let NcduEntry { facts, missing, is_excluded, .. } = *entry;
        Self { facts, missing, is_excluded, is_open }
    }

    /// Returns the entry; `None` if its type is not known.
    fn recorded(&self, made: &NcduMade, root_dev: Option<u64>) -> Option<Recorded<'static>> {
        let Self { facts, missing, is_excluded, is_open } = *self;
        // The bits of the type may be missing.
        let of_mode = facts.mode.filter(|mode| mode & !0o7777 != 0).map(FileType::from_mode);
        let (file_type, doubt) = match of_mode {
            _ if is_open => (FileType::Directory, Doubt::None),
            Some(file_type) => (file_type, Doubt::None),
            // ncdu also marks files on other file systems so.
            None if made.is_ftk && missing == Some(NcduMissing::OtherFileSystem) => {
                (FileType::Directory, Doubt::None)
            }
            None if missing.is_some() || is_excluded => return None,
            None if facts.is_special => (FileType::Fifo, Doubt::Special),
            // gdu does not mark FIFOs and devices, whose size is 0.
            None if made.is_gdu && facts.size_bytes == Some(0) => (FileType::Regular, Doubt::Any),
            None => (FileType::Regular, Doubt::None),
        };
        let mut metadata = Metadata::new(file_type);
        metadata.mode = facts.mode.unwrap_or_default() & 0o7777;
        (metadata.uid, metadata.gid) = (facts.uid.unwrap_or_default(), facts.gid.unwrap_or_default());
        (metadata.dev, metadata.ino) = (facts.dev.unwrap_or_default(), facts.ino.unwrap_or_default());
        metadata.nlink = facts.links.unwrap_or_default();
        metadata.size = facts.size_bytes.unwrap_or_default();
        metadata.blocks = facts.allocated_bytes.unwrap_or_default() / 512;
        metadata.mtime_ns = i128::from(facts.mtime_seconds.unwrap_or_default()) * 1_000_000_000;
        let mut recorded = Recorded::new(file_type);
        recorded.known = known_fields([
            (Fields::MODE, facts.mode.is_some()),
            (Fields::NLINK, facts.links.is_some()),
            (Fields::UID, facts.uid.is_some()),
            (Fields::GID, facts.gid.is_some()),
            (Fields::MTIME, facts.mtime_seconds.is_some()),
            (Fields::INO, facts.ino.is_some() && facts.dev.is_some()),
            (Fields::SIZE, facts.size_bytes.is_some()),
            (Fields::BLOCKS, facts.allocated_bytes.is_some()),
        ]);
        (recorded.metadata, recorded.doubt) = (metadata, doubt);
        let is_directory = file_type == FileType::Directory;
        recorded.is_mount = is_directory && root_dev.is_some() && facts.dev != root_dev;
        // A directory that was not selected, only entries below it.
        recorded.is_implied = is_open && made.is_ftk && made.filter.is_some() && facts.size_bytes.is_none();
        Some(recorded)
    }
}

fn push(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

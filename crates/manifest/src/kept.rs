//! The old records that an update keeps because their paths were not examined, and how their lines are copied.

use std::cmp::Ordering;

use ftk_file::FsId;
use ftk_inventory::OpenDirs;
use ftk_process::FileSystems;
use memchr::memmem::Finder;

use crate::entry::{key, path_of_key};
use crate::examination::is_dir;
use crate::merge::Side as _;
use crate::reader::NextLine;
use crate::respelled::AlignedEntries;
use crate::root_identity::hex;
use crate::shard::member::parent;
use crate::walked_tree::{Seen, Walk};
use crate::{Entries, Entry, Error, Examination, Field, Kinship};

/// Whether the old record of a path is kept because it was not examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// The path was examined.
    No,
    /// The directory that contains it was examined, so its tree digests are computed.
    In,
    /// The record of a directory above is kept, and with it everything below.
    Below,
}

/// What a pass does with kept records whose lines need not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raw {
    /// They are parsed like all others.
    Parse,
    /// They are skipped if their paths are ASCII: [`Aligned`](crate::aligned::Aligned) must see all others once.
    SkipAscii,
    /// They are skipped.
    Skip,
    /// Those are skipped whose directory was not examined.
    SkipBelow,
    /// Their lines are passed on, if ftk would write them as they are.
    Copy,
}

/// A step of a [merge](Kept::merge).
pub(crate) enum MergeStep<'s, 'm, 't> {
    /// The entries of a path on one side or on both.
    Entries(Option<&'s mut AlignedEntries<'m>>, Option<&'s mut Walk<'t>>, Keeps),
    /// So many records are kept that were not parsed.
    Skipped(u64),
    /// A record is kept that was not parsed.
    Line(NextLine<'s>, Keeps),
}

/// Decides which old records an update keeps because their paths were not examined. Goes through the entries in their
/// order.
#[derive(Debug)]
pub(crate) struct Kept<'e> {
    examination: Option<&'e Examination>,
    raw: Raw,
    /// Recorded directories that were examined and no longer exist.
    gone: OpenDirs<()>,
    /// Directories whose records are kept.
    dirs: OpenDirs<()>,
    /// The directory of the last path, and whether it is examined. If not, neither is anything in it.
    dir: Vec<u8>,
    is_dir_examined: bool,
}

impl<'e> Kept<'e> {
    /// Without an examination, nothing is kept.
    pub(crate) fn new(examination: Option<&'e Examination>, raw: Raw) -> Self {
        let (gone, dirs) = Default::default();
        Self { examination, raw, gone, dirs, dir: Vec::new(), is_dir_examined: true }
    }

    /// Merges the old records and the tree: entries with the same path are passed to `each` together.
    ///
    /// # Errors
    /// When `each` fails, or the manifest cannot be read.
    pub(crate) fn merge<'m, 't>(
        &mut self,
        old: &mut AlignedEntries<'m>,
        new: &mut Walk<'t>,
        each: &mut dyn FnMut(MergeStep<'_, 'm, 't>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut is_new = new.advance()?;
        let mut is_old = self.advance(old, is_new.then_some(new.path()), each)?;
        while is_old || is_new {
            let order = match (is_old, is_new) {
                (true, true) => key(old.path()).cmp(key(new.path())),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let [has_old, has_new] = [order.is_le(), order.is_ge()];
            let record = has_old.then(|| old.entry());
            let keeps = self.keeps(record.as_ref(), has_new.then_some(&new.seen));
            each(MergeStep::Entries(has_old.then_some(&mut *old), has_new.then_some(&mut *new), keeps))?;
            if has_new {
                is_new = new.advance()?;
            }
            if has_old {
                is_old = self.advance(old, is_new.then_some(new.path()), each)?;
            }
        }
        Ok(())
    }

    /// Moves to the next record. Passes those to `each` that need not be parsed and come before the path `end`.
    fn advance<'m, 't>(
        &mut self,
        old: &mut AlignedEntries<'m>,
        end: Option<&[u8]>,
        each: &mut dyn FnMut(MergeStep<'_, 'm, 't>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let examination = self.examination.filter(|_| self.raw != Raw::Parse);
        if let (Some(examination), Some(entries)) = (examination, old.unchanged()) {
            while let Some(next) = entries.peek()?
                && end.is_none_or(|end| key(next.path) < key(end))
            {
                let path = key(next.path);
                let keeps = self.place(path, examination);
                match (self.raw, keeps) {
                    (_, Keeps::No) | (Raw::SkipBelow, Keeps::In) => break,
                    (Raw::Skip | Raw::SkipBelow, Keeps::Below) => {
                        let dir = self.dirs.go_to(path).map_or(path, path_of_key).to_vec();
                        each(MergeStep::Skipped(entries.skip_below(&dir)?))?;
                        continue;
                    }
                    (Raw::SkipAscii, _) if !path.is_ascii() => break,
                    (Raw::Copy, _) if !examination.written().contains(next.number) => break,
                    (Raw::Copy, _) => each(MergeStep::Line(next, keeps))?,
                    _ => each(MergeStep::Skipped(1))?,
                }
                if next.is_dir() {
                    self.dirs.push(path, ());
                }
                entries.skip();
            }
        }
        old.advance()
    }

    /// Returns whether the old record is kept. What is below a directory that was examined and is gone counts as examined.
    fn keeps(&mut self, old: Option<&Entry<'_>>, new: Option<&Seen>) -> Keeps {
        let (Some(examination), Some(old)) = (self.examination, old) else { return Keeps::No };
        let path = key(old.path);
        let placed = self.place(path, examination);
        let keeps = if new.is_some() { Keeps::No } else { placed };
        if is_dir(old.stat.file_type) {
            match keeps {
                Keeps::No if new.is_none_or(|seen| !is_dir(seen.file_type)) => self.gone.push(path, ()),
                Keeps::No => {}
                Keeps::In | Keeps::Below => self.dirs.push(path, ()),
            }
        }
        keeps
    }

    /// Returns whether the record with this [key] is kept if the tree has no entry at its path.
    fn place(&mut self, path: &[u8], examination: &Examination) -> Keeps {
        let [is_below_gone, is_below_kept] =
            [&mut self.gone, &mut self.dirs].map(|dirs| dirs.go_to(path).is_some());
        if is_below_gone || is_below_kept {
            return if is_below_gone { Keeps::No } else { Keeps::Below };
        }
        let dir = key(parent(path_of_key(path)));
        if dir != self.dir {
            (self.dir, self.is_dir_examined) = (dir.to_vec(), examination.covers(path_of_key(dir)));
        }
        if self.is_dir_examined && examination.covers(path_of_key(path)) { Keeps::No } else { Keeps::In }
    }
}

impl NextLine<'_> {
    /// Returns whether this is certainly the line of a directory.
    pub(crate) fn is_dir(&self) -> bool {
        let start = b"{\"path\":\"".len() + self.path.len();
        self.line[start..].starts_with(b"\",\"type\":\"directory\",")
    }
}

/// The lines of a manifest that ftk writes in the same way and that have neither a group of links nor a mark of damage: one
/// bit for each line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenLines(Vec<u64>);

impl WrittenLines {
    /// Notes the line of an entry, which has this number. `line`: if it is certainly as ftk writes it.
    pub(crate) fn note(&mut self, number: u64, entry: &Entry<'_>, line: Option<&[u8]>) {
        let [word, bit] = [number / 64, number % 64];
        if self.0.len() as u64 <= word {
            self.0.resize(word as usize + 1, 0);
        }
        if line.is_some() && entry.link_group.is_none() && entry.damaged_ns.is_none() {
            self.0[word as usize] |= 1 << bit;
        }
    }

    fn contains(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Skips lines as long as they have an inode number that is not wanted.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub(crate) fn skip_inodes(
        &self,
        entries: &mut Entries<'_>,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Result<(), Error> {
        let ino = Finder::new(Field::Ino.in_line());
        while let Some(next) = entries.peek()?
            && self.contains(next.number)
            && let Some(at) = ino.find(next.line)
        {
            let digits = &next.line[at + ino.needle().len()..];
            let digits = digits.iter().map_while(|byte| byte.is_ascii_digit().then(|| byte - b'0'));
            if is_wanted(digits.fold(0_u64, |number, digit| number * 10 + u64::from(digit))) {
                break;
            }
            entries.skip();
        }
        Ok(())
    }
}

/// Changes what a kept record has in a new manifest: the file system of the present snapshot, and when its content was
/// verified. So its line is that of the entry that [`Kinship::present`] and the time of verification make.
pub(crate) struct LineChange {
    /// The member `fs` of the recorded snapshot, that of the present one, and the device number of this.
    fs: Option<(Finder<'static>, Vec<u8>, u64)>,
    verified: Vec<u8>,
    line: Vec<u8>,
}

impl LineChange {
    /// `start_ns` is that of the old manifest.
    pub(crate) fn new(kinship: Kinship, file_systems: &FileSystems, start_ns: i128) -> Self {
        let fs = match kinship {
            Kinship::History { fs, dev } => {
                let [recorded, present] = [Some(fs), file_systems.id(dev)].map(fs_member);
                Some((Finder::new(&recorded).into_owned(), present, dev))
            }
            _ => None,
        };
        let mut verified = Field::Verified.in_line().to_vec();
        verified.extend_from_slice(start_ns.to_string().as_bytes());
        verified.extend_from_slice(b"}\n");
        Self { fs, verified, line: Vec::new() }
    }

    /// Returns the new line of a record, given one of [`WrittenLines`].
    pub(crate) fn apply<'l>(&'l mut self, line: &'l [u8]) -> &'l [u8] {
        let has = |field: Field| Finder::new(field.in_line()).find(line).is_some();
        // The time of verification would be the last member.
        let name_end = line.iter().rposition(|byte| *byte == b':').map_or(0, |at| at + 1);
        let is_unverified = !line[..name_end].ends_with(Field::Verified.in_line())
            && has(Field::Digests)
            && has(Field::Ctime);
        let fs = self.fs.as_ref().and_then(|fs| Some((fs.0.find(line)?, fs)));
        if !is_unverified && fs.is_none() {
            return line;
        }
        self.line.clear();
        let mut rest = line;
        if let Some((at, (recorded, present, dev))) = fs {
            self.line.extend_from_slice(&line[..at]);
            self.line.extend_from_slice(present);
            rest = &line[at + recorded.needle().len()..];
            if let Some(old_dev) = rest.strip_prefix(Field::Dev.in_line()) {
                self.line.extend_from_slice(Field::Dev.in_line());
                self.line.extend_from_slice(dev.to_string().as_bytes());
                let digits = old_dev.iter().take_while(|byte| byte.is_ascii_digit()).count();
                rest = &old_dev[digits..];
            }
        }
        self.line.extend_from_slice(rest);
        if is_unverified {
            self.line.truncate(self.line.len() - b"}\n".len());
            self.line.extend_from_slice(&self.verified);
        }
        &self.line
    }
}

/// Returns the member `fs` in a line.
fn fs_member(id: Option<FsId>) -> Vec<u8> {
    let member = |id| [Field::Fs.in_line(), b"\"", hex(&id).as_bytes(), b"\""].concat();
    id.map(member).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ftk_file::Stat;
    use ftk_hash::Algorithm;

    use super::*;
    use crate::write::push_entry;

    /// The line of the entry that is made for a kept record.
    #[test]
    fn a_changed_line_is_that_of_the_changed_entry() {
        const ALGORITHMS: [Algorithm; 1] = [Algorithm::Xxh3];
        let [recorded, present, other] = [1, 2, 3].map(|byte| FsId::from_bytes([byte; 16]));
        let line = |entry: &Entry<'_>| {
            let mut line = Vec::new();
            push_entry(&mut line, entry, &ALGORITHMS);
            line
        };
        let file = Entry { digests: &[7; 8], ..Entry::new(b",\"fs\":\"x", Stat { dev: 40, ..Stat::EMPTY }) };
        let [mut no_dev, mut no_ctime] = [file, file];
        assert!(no_dev.absent.insert(Field::Dev) && no_ctime.absent.insert(Field::Ctime));
        let kinship = Kinship::History { fs: recorded, dev: 5 };
        for (kinship, now) in [
            (kinship, Some(present)),
            (kinship, None),
            (Kinship::None, Some(present)),
            (Kinship::SnapshotOf, None),
        ] {
            let systems = FileSystems::default().and(5, now);
            for start_ns in [77, -77] {
                let mut change = LineChange::new(kinship, &systems, start_ns);
                for entry in [file, no_dev, no_ctime, Entry { digests: &[], ..file }] {
                    for fs in [Some(recorded), Some(other), None] {
                        for verified_ns in [Some(8), Some(-8), None] {
                            let verified_ns = verified_ns.filter(|_| !entry.digests.is_empty());
                            let old = Entry { fs, verified_ns, ..entry };
                            let read_ns = old.read_ns(start_ns).filter(|_| !old.digests.is_empty());
                            let new = kinship.present(Entry { verified_ns: read_ns, ..old }, &systems);
                            let [old, new] = [old, new].map(|entry| line(&entry));
                            let changed = change.apply(&old);
                            assert_eq!(changed.escape_ascii().to_string(), new.escape_ascii().to_string());
                        }
                    }
                }
            }
        }
    }
}

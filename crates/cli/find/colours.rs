//! Colours paths as `LS_COLORS` says.

use std::io::Write as _;

use ftk_record::sanitize;
use ftk_walk::{Entry, Fields, FileType, Metadata};
use lscolors::{Indicator, LsColors, Style};
use rustix::fs::{AtFlags, statat};

use super::parts;
use super::render::facts;
use crate::colour;

/// The colours of `LS_COLORS`, or the defaults of `ls` if the variable is not set.
#[derive(Debug)]
pub(super) struct Colours(LsColors);

/// An indicator that depends on metadata, and the test for it.
type Test = (Indicator, fn(&Metadata) -> bool);

/// Tests for regular files, in the order of `ls`: the first one that applies wins.
const OF_FILES: [Test; 4] = [
    (Indicator::Setuid, |file| file.mode & 0o4000 != 0),
    (Indicator::Setgid, |file| file.mode & 0o2000 != 0),
    (Indicator::ExecutableFile, |file| file.mode & 0o111 != 0),
    (Indicator::MultipleHardLinks, |file| file.nlink > 1),
];

/// Tests for directories, in the order of `ls`.
const OF_DIRECTORIES: [Test; 3] = [
    (Indicator::StickyAndOtherWritable, |dir| dir.mode & 0o1002 == 0o1002),
    (Indicator::OtherWritable, |dir| dir.mode & 0o2 != 0),
    (Indicator::Sticky, |dir| dir.mode & 0o1000 != 0),
];

impl Colours {
    /// Returns the colours if standard output should be coloured: because of `--color`, or because it is a
    /// terminal that supports colours and `NO_COLOR` is not set.
    pub(super) fn wanted() -> Option<Self> {
        colour::wanted().then(|| Self(LsColors::from_env().unwrap_or_default()))
    }

    /// Appends the path made of `dir` and the entry's name. The directory part has the colour of directories.
    ///
    /// Makes the same system calls as `ls`: for metadata if there is a colour that depends on it, such as
    /// that of executables, and for the target of a link if there is a colour for broken links. If a call
    /// fails, the entry has the colour of its type.
    pub(super) fn push(&self, out: &mut Vec<u8>, dir: &[u8], entry: &mut Entry<'_>, escape: bool) {
        let style = self.style(entry);
        let (dir, name) = if dir.is_empty() { split(entry.name()) } else { (dir, entry.name()) };
        paint(out, self.0.style_for_indicator(Indicator::Directory), dir, escape);
        paint(out, style, name, escape);
    }

    fn style(&self, entry: &mut Entry<'_>) -> Option<&Style> {
        let indicator = self.indicator(entry);
        let by_name = match indicator {
            Indicator::RegularFile => {
                str::from_utf8(parts::name(entry.name())).ok().and_then(|name| self.0.style_for_str(name))
            }
            _ => None,
        };
        by_name.or_else(|| self.0.style_for_indicator(indicator))
    }

    fn indicator(&self, entry: &mut Entry<'_>) -> Indicator {
        match entry.file_type() {
            FileType::Regular => self.particular(entry, &OF_FILES).unwrap_or(Indicator::RegularFile),
            FileType::Directory => self.particular(entry, &OF_DIRECTORIES).unwrap_or(Indicator::Directory),
            FileType::Symlink if self.is_broken(entry) => Indicator::OrphanedSymbolicLink,
            FileType::Symlink => Indicator::SymbolicLink,
            FileType::Fifo => Indicator::FIFO,
            FileType::Socket => Indicator::Socket,
            FileType::Block => Indicator::BlockDevice,
            FileType::Char => Indicator::CharacterDevice,
            _ => Indicator::Normal,
        }
    }

    fn particular(&self, entry: &mut Entry<'_>, tests: &[Test]) -> Option<Indicator> {
        let mut known = tests.iter().filter(|test| self.0.has_explicit_style_for(test.0)).peekable();
        known.peek()?;
        let metadata = facts(entry, Fields::MODE | Fields::NLINK).ok()?;
        known.find(|test| test.1(metadata)).map(|test| test.0)
    }

    fn is_broken(&self, link: &Entry<'_>) -> bool {
        self.0.has_explicit_style_for(Indicator::OrphanedSymbolicLink)
            && link.record().is_none()
            && statat(link, link.name_c(), AtFlags::empty()).is_err()
    }
}

/// Splits a starting point into directory and name. If it ends with a slash, all of it is the name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let name = parts::name(path);
    path.split_at(if path.ends_with(name) { path.len() - name.len() } else { 0 })
}

fn paint(out: &mut Vec<u8>, style: Option<&Style>, text: &[u8], escape: bool) {
    if text.is_empty() {
        return;
    }
    let style = style.map(Style::to_nu_ansi_term_style).unwrap_or_default();
    let _ = write!(out, "{}", style.prefix()); // writing to a Vec cannot fail
    if escape {
        out.extend_from_slice(sanitize(text).as_bytes());
    } else {
        out.extend_from_slice(text);
    }
    let _ = write!(out, "{}", style.suffix());
}

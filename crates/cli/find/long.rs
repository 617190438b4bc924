//! Writes the lines of `--long`.

use std::io::Write as _;

use ftk_walk::{Entry, Fields, WalkError};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fields::{Owners, push_permissions, push_shown};
use super::render::{ShownName, all_of, facts, target};
use crate::human;
use crate::size::Unit;

/// The metadata of a line.
const COLUMNS: [Fields; 6] =
    [Fields::MODE, Fields::NLINK, Fields::UID, Fields::GID, Fields::SIZE, Fields::MTIME];

/// How columns are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) human_readable: bool,
}

/// A writer for one worker.
pub(super) struct Long<'r> {
    columns: Columns,
    name: ShownName<'r>,
    end: u8,
    zone: TimeZone,
    owners: Owners,
}

impl<'r> Long<'r> {
    pub(super) fn new(columns: Columns, name: ShownName<'r>, end: u8) -> Self {
        Self { columns, name, end, zone: TimeZone::system(), owners: Owners::default() }
    }

    /// Appends permissions, links, owner, group, size, mtime, path and target.
    ///
    /// Lines are written while others are still unknown, so the columns have fixed widths, and a longer value moves the
    /// rest of its line.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        dir: &[u8],
        entry: &mut Entry<'_>,
    ) -> Result<(), WalkError> {
        let metadata = *facts(entry, all_of(&COLUMNS))?;
        let target = target(&[dir, entry.name()].concat(), entry)?;
        push_permissions(out, metadata.file_type, metadata.mode);
        // Writing to a Vec cannot fail.
        let _ = write!(out, " {:>3} ", metadata.nlink);
        push_padded(out, self.name.escape, self.owners.user(metadata.uid));
        out.push(b' ');
        push_padded(out, self.name.escape, self.owners.group(metadata.gid));
        let is_device = metadata.file_type.is_device();
        let _ = match self.columns.human_readable {
            _ if is_device => write!(out, " {:>12}", human::device(metadata.rdev)),
            true => write!(out, " {:>5}", Unit::Binary.format(metadata.size.into())),
            false => write!(out, " {:>12}", metadata.size),
        };
        out.push(b' ');
        match Timestamp::from_nanosecond(metadata.mtime_ns) {
            Ok(time) => {
                let _ = write!(out, "{}", time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M"));
            }
            Err(_) => {
                let _ = write!(out, "@{}", metadata.mtime_ns.div_euclid(1_000_000_000));
            }
        }
        out.push(b' ');
        self.name.push(out, dir, entry);
        if let Some(target) = target {
            out.extend_from_slice(b" -> ");
            push_shown(out, self.name.escape, target.to_bytes());
        }
        out.push(self.end);
        Ok(())
    }
}

/// Appends a name in a column of eight characters.
fn push_padded(out: &mut Vec<u8>, escape: bool, name: &str) {
    push_shown(out, escape, name.as_bytes());
    out.extend(std::iter::repeat_n(b' ', 8_usize.saturating_sub(name.chars().count())));
}

//! The list that `ftk hash` prints: its lines, in path order, and where they go.

use std::io::{self, Write as _};

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::Rows;
use ftk_record::{End, Output, Style, SumFormat, sanitize, write_path};

use crate::stdout::{Lines, Stdout};

/// What a line looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) algorithm: Algorithm,
    /// One JSON object instead of a sum line.
    pub(crate) json: bool,
    /// Whether lines are shown to a person, whom a name must not harm.
    pub(crate) is_shown: bool,
}

impl Format {
    fn push(self, out: &mut Vec<u8>, digest: &[u8], path: &[u8]) {
        let start = out.len();
        if self.json {
            out.push(b'{');
            write_path(out, "path", path);
            let (algorithm, digest) = (self.algorithm, Digest::from_bytes(digest));
            let _ = writeln!(out, ",\"algorithm\":\"{algorithm}\",\"digest\":\"{digest}\"}}");
        } else {
            let format = SumFormat::new(self.algorithm.tag(), Style::Untagged, End::Newline);
            format.write_line(out, digest, path);
        }
        if self.is_shown {
            let line = sanitize(&out[start..out.len() - 1]).into_owned();
            out.truncate(start);
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
    }
}

/// Writes a line for every row that is `Ok`, and for standard input, in path order.
///
/// # Errors
/// When a line cannot be written, or a row was never processed. What fails on standard output is kept by
/// [`Stdout`] and comes up when that is finished.
pub(crate) fn emit(
    list: &mut List<'_>,
    inventory: &Inventory,
    rows: &Rows,
    mut stdin: Option<Digest>,
    format: Format,
) -> io::Result<()> {
    let mut order = inventory.in_path_order();
    let mut pending = 0_u64;
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        if item.path > b"-".as_slice()
            && let Some(digest) = stdin.take()
        {
            list.line(|out| format.push(out, digest.as_bytes(), b"-"))?;
        }
        pending += u64::from(rows.is_pending(file));
        if let Some(digest) = rows.digest(file) {
            list.line(|out| format.push(out, digest, item.path))?;
        }
    }
    if let Some(digest) = stdin {
        list.line(|out| format.push(out, digest.as_bytes(), b"-"))?;
    }
    if pending > 0 {
        return Err(io::Error::other(format!("internal error: {pending} files were not processed")));
    }
    Ok(())
}

/// Where the lines go.
pub(crate) enum List<'o> {
    Stdout(Lines<'o>),
    /// The file, and a line on its way to it.
    File(Output, Vec<u8>),
}

impl<'o> List<'o> {
    pub(crate) fn stdout(out: &'o Stdout) -> Self {
        Self::Stdout(Lines::new(out))
    }

    pub(crate) fn file(output: Output) -> Self {
        Self::File(output, Vec::new())
    }

    /// Whether it is shown to a person.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(self, Self::Stdout(_)) && Stdout::is_terminal()
    }

    /// Device and inode of the files that are this list.
    pub(crate) fn own(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Stdout(_) => Stdout::identity().into_iter().collect(),
            Self::File(output, _) => output.identities().to_vec(),
        }
    }

    fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        match self {
            Self::Stdout(lines) => {
                lines.line(push);
                Ok(())
            }
            Self::File(output, line) => {
                line.clear();
                push(line);
                output.write_all(line)
            }
        }
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut lines) => {
                lines.flush();
                Ok(())
            }
            Self::File(output, _) => output.commit(),
        }
    }
}

//! The list that `ftk hash` prints: its lines, in path order, and where they go.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::Rows;
use ftk_record::{End, Output, Style, SumFormat, quote, sanitize, write_path};

use crate::stdout::{Lines, Stdout};

/// What a record looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format<'a> {
    /// Those of the digests, in their order.
    pub(crate) algorithms: &'a [Algorithm],
    pub(crate) style: Style,
    pub(crate) end: End,
    /// One JSON object instead of a sum line for each digest.
    pub(crate) json: bool,
    /// Whether records are shown to a person, whom a name must not harm.
    pub(crate) is_shown: bool,
}

impl Format<'_> {
    fn push<'d>(self, out: &mut Vec<u8>, digests: impl Iterator<Item = &'d [u8]>, path: &[u8]) {
        if self.json {
            return self.record(out, |out| push_object(out, self.algorithms, digests, path));
        }
        for (algorithm, digest) in self.algorithms.iter().zip(digests) {
            let format = SumFormat::new(algorithm.tag(), self.style, self.end);
            self.record(out, |out| format.write_line(out, digest, path));
        }
    }

    fn record(self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        push(out);
        if self.is_shown {
            let end = out.pop().expect("a record is ended");
            let shown = sanitize(&out[start..]).into_owned();
            out.truncate(start);
            out.extend_from_slice(shown.as_bytes());
            out.push(end);
        }
    }
}

/// `{"path":"a","algorithm":"md5","digest":"..."}`, or with several
/// `{"path":"a","digests":{"md5":"...","sha1":"..."}}`.
fn push_object<'d>(
    out: &mut Vec<u8>,
    algorithms: &[Algorithm],
    digests: impl Iterator<Item = &'d [u8]>,
    path: &[u8],
) {
    out.push(b'{');
    write_path(out, "path", path);
    for (nth, (algorithm, digest)) in algorithms.iter().zip(digests).enumerate() {
        let digest = Digest::from_bytes(digest);
        let _ = match (algorithms.len(), nth) {
            (1, _) => write!(out, ",\"algorithm\":\"{algorithm}\",\"digest\":\"{digest}\""),
            (_, 0) => write!(out, ",\"digests\":{{\"{algorithm}\":\"{digest}\""),
            (..) => write!(out, ",\"{algorithm}\":\"{digest}\""),
        };
    }
    out.extend_from_slice(if algorithms.len() == 1 { b"}\n" } else { b"}}\n" });
}

/// Writes a record for every row that is `Ok`, and for standard input, in path order.
///
/// # Errors
/// When a line cannot be written, or a row was never processed. What fails on standard output is kept by
/// [`Stdout`] and comes up when that is finished.
pub(crate) fn emit(
    list: &mut List<'_>,
    inventory: &Inventory,
    rows: &Rows,
    mut stdin: Option<Vec<Digest>>,
    format: Format<'_>,
) -> io::Result<()> {
    let mut order = inventory.in_path_order();
    let mut pending = 0_u64;
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        if item.path > b"-".as_slice()
            && let Some(digests) = stdin.take()
        {
            list.line(|out| format.push(out, digests.iter().map(Digest::as_bytes), b"-"))?;
        }
        pending += u64::from(rows.is_pending(file));
        if let Some(digests) = rows.digests(file) {
            list.line(|out| format.push(out, digests, item.path))?;
        }
    }
    if let Some(digests) = stdin {
        list.line(|out| format.push(out, digests.iter().map(Digest::as_bytes), b"-"))?;
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
    /// Opens the file if there is one, else standard output.
    pub(crate) fn create(file: Option<&Path>, stdout: &'o Stdout) -> anyhow::Result<Self> {
        match file {
            Some(path) => {
                let output = Output::create(path).with_context(|| cannot_write(file))?;
                Ok(Self::File(output, Vec::new()))
            }
            None => Ok(Self::Stdout(Lines::new(stdout))),
        }
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

    pub(crate) fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
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

/// What is said when writing to the file, or else to standard output, fails.
pub(super) fn cannot_write(file: Option<&Path>) -> String {
    match file {
        Some(path) => format!("cannot write {}", shown(path)),
        None => "cannot write to standard output".into(),
    }
}

/// Met in a tree, the output is left out. Named as input, it was meant to be read, and would be lost.
pub(super) fn refuse_own_input(paths: &[OsString], own: &[(u64, u64)]) -> anyhow::Result<()> {
    if own.is_empty() {
        return Ok(());
    }
    let stdin = [OsString::from("-")];
    for path in if paths.is_empty() { &stdin[..] } else { paths } {
        let file = if path == "-" { Path::new("/dev/stdin") } else { Path::new(path) };
        if let Ok(metadata) = file.metadata()
            && own.contains(&(metadata.dev(), metadata.ino()))
        {
            bail!("{} is both input and output", shown(Path::new(path)));
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}

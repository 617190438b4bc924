//! The output of a command: standard output, or a file that appears only when it is complete.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_record::{Output, quote};

use crate::colour;
use crate::stdout::{Lines, Stdout};

/// A destination for output lines.
pub(crate) enum List<'o> {
    Stdout(Lines<'o>),
    /// The file, and a buffer for one line.
    File(Output, Vec<u8>),
}

impl<'o> List<'o> {
    /// Creates `file`, or uses standard output if `file` is `None`.
    pub(crate) fn create(file: Option<&Path>, stdout: &'o Stdout) -> anyhow::Result<Self> {
        match file {
            Some(path) => {
                let output = Output::create(path).with_context(|| cannot_write(file))?;
                Ok(Self::File(output, Vec::new()))
            }
            None => Ok(Self::Stdout(Lines::new(stdout))),
        }
    }

    /// Whether the output goes to a terminal.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(self, Self::Stdout(_)) && Stdout::is_terminal()
    }

    /// Whether words in the output have colours.
    pub(crate) fn is_coloured(&self) -> bool {
        matches!(self, Self::Stdout(_)) && colour::wanted()
    }

    /// Device and inode of the files that this output is written to.
    pub(crate) fn own(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Stdout(_) => Stdout::identity().into_iter().collect(),
            Self::File(output, _) => output.identities().to_vec(),
        }
    }

    /// Whether writing has ended early, so that further lines would be discarded.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Stdout(lines) if lines.is_over())
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

/// Returns the message for a failure to write to the file, or to standard output for `None`.
pub(crate) fn cannot_write(file: Option<&Path>) -> String {
    match file {
        Some(path) => format!("cannot write {}", shown(path)),
        None => "cannot write to standard output".into(),
    }
}

/// Refuses an input path that is also the output, since writing would destroy the input. An output file that
/// a walk finds is only skipped.
pub(crate) fn refuse_own_input(paths: &[OsString], own: &[(u64, u64)]) -> anyhow::Result<()> {
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

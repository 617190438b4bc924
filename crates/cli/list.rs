//! Where the lines of a command go: standard output, or a file that appears when it is complete.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_record::{Output, quote};

use crate::colour;
use crate::stdout::{Lines, Stdout};

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

    /// Whether it is shown on a terminal.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(self, Self::Stdout(_)) && Stdout::is_terminal()
    }

    /// Whether its words have colours.
    pub(crate) fn is_coloured(&self) -> bool {
        matches!(self, Self::Stdout(_)) && colour::wanted()
    }

    /// Returns device and inode of the files that are this list.
    pub(crate) fn own(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Stdout(_) => Stdout::identity().into_iter().collect(),
            Self::File(output, _) => output.identities().to_vec(),
        }
    }

    /// Whether no line will be written any more, so that there is no use in making more.
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

/// What is said when writing to the file, or else to standard output, fails.
pub(crate) fn cannot_write(file: Option<&Path>) -> String {
    match file {
        Some(path) => format!("cannot write {}", shown(path)),
        None => "cannot write to standard output".into(),
    }
}

/// Met in a tree, the output is left out. Named as input, it was meant to be read, and would be lost.
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

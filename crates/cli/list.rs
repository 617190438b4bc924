//! The output of a command: standard output, or a file that appears only when it is complete.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use ftk_file::{Stat, Symlinks};
use ftk_record::{Output, quote};
use rustix::fs::CWD;

use crate::colour;
use crate::console::{Console, Outcome};
use crate::stdout::{CANNOT_WRITE, Lines, Stdout};

/// A destination for output lines. After a write has failed, nothing more is written, and [`finish`](Self::finish)
/// reports the failure.
pub(crate) enum List<'o> {
    Stdout(Lines<'o>),
    File(OutputFile<'o>),
}

/// A file of lines.
pub(crate) struct OutputFile<'o> {
    path: &'o Path,
    output: Output,
    /// The buffer for one line.
    line: Vec<u8>,
    written: io::Result<()>,
}

impl<'o> List<'o> {
    /// Creates `file`, or uses standard output if `file` is `None`.
    pub(crate) fn create(file: Option<&'o Path>, stdout: &'o Stdout) -> anyhow::Result<Self> {
        let Some(path) = file else { return Ok(Self::Stdout(Lines::new(stdout))) };
        Self::of(path, Output::create(path))
    }

    /// Creates `path`, which must not exist now or when it is complete.
    pub(crate) fn create_new(path: &'o Path) -> anyhow::Result<Self> {
        Self::of(path, Output::create_new(path))
    }

    fn of(path: &'o Path, output: io::Result<Output>) -> anyhow::Result<Self> {
        let output = output.with_context(|| cannot_write(Some(path)))?;
        Ok(Self::File(OutputFile { path, output, line: Vec::new(), written: Ok(()) }))
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
            Self::File(file) => file.output.identities().to_vec(),
        }
    }

    /// Returns the path of the file; `None` for standard output.
    pub(crate) fn path(&self) -> Option<&'o Path> {
        match self {
            Self::Stdout(_) => None,
            Self::File(file) => Some(file.path),
        }
    }

    /// Returns another handle to the file that is written, for a lock on it. `None` for standard output.
    pub(crate) fn file(&self) -> io::Result<Option<File>> {
        match self {
            Self::Stdout(_) => Ok(None),
            Self::File(file) => file.output.file().try_clone().map(Some),
        }
    }

    /// Gives the new file the owner of the one that it replaces, and sets the mtime that it will have.
    ///
    /// # Errors
    /// If the process may not give the file to that owner.
    pub(crate) fn keep_owner(&mut self, modified: SystemTime) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        file.output.set_modified(modified);
        file.output.keep_owner()
    }

    /// Whether writing has ended early, so that further lines would be discarded.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Stdout(lines) => lines.is_over(),
            Self::File(file) => file.written.is_err(),
        }
    }

    /// Writes the line that `push` appends to a buffer.
    pub(crate) fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        match self {
            Self::Stdout(lines) => _ = lines.line(push),
            Self::File(OutputFile { output, line, written, .. }) => {
                line.clear();
                push(line);
                if written.is_ok() {
                    *written = output.write_all(line);
                }
            }
        }
    }

    /// Prints what is buffered. A file is complete only at the end.
    pub(crate) fn flush(&mut self) {
        if let Self::Stdout(lines) = self {
            lines.flush();
        }
    }

    /// Writes whole lines without another buffer in between.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        match self {
            Self::Stdout(lines) => lines.write(bytes),
            Self::File(OutputFile { output, written, .. }) if written.is_ok() => {
                *written = output.write_all(bytes)
            }
            Self::File(_) => {}
        }
    }

    /// Like [`own`](Self::own), for a list of what a tree has: with the incomplete lists of earlier runs.
    pub(crate) fn own_records(&self) -> Vec<(u64, u64)> {
        let siblings = self.path().into_iter().flat_map(incomplete).filter_map(|(_, path)| identity(&path));
        self.own().into_iter().chain(siblings).collect()
    }

    /// Like [`finish`](Self::finish), for a list of what a tree has: it does not replace a list with content if the run
    /// had errors or found nothing. After errors, what there is appears next to it, under a free name. Returns `Error`
    /// then, or else `outcome`.
    ///
    /// # Errors
    /// Those of `finish`, and if no name is free.
    pub(crate) fn finish_records(
        mut self,
        outcome: Outcome,
        records: u64,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let Self::File(OutputFile { path, output, .. }) = &mut self else {
            self.finish()?;
            return Ok(outcome);
        };
        if !output.replaces_content() || (outcome < Outcome::Error && records > 0) {
            self.finish()?;
            return Ok(outcome);
        }
        let kept = format!("{} was not replaced", shown(path));
        if records == 0 {
            console.error(format_args!("{kept}, since no file was hashed (is something not mounted?)"));
            return Ok(Outcome::Error);
        }
        let free = incomplete(path).find(|(_, sibling)| identity(sibling).is_none());
        let (suffix, sibling) = free.with_context(|| {
            format!("{kept}, and the new list lacks files: remove the incomplete lists next to it")
        })?;
        output.add_to_name(&suffix);
        self.finish()?;
        console.error(format_args!("{kept}, since the new list lacks files: it is {}", shown(&sibling)));
        Ok(Outcome::Error)
    }

    /// Writes what is buffered, and gives the file its name.
    ///
    /// # Errors
    /// If this fails, or a line could not be written.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(lines) => lines.finish(),
            Self::File(OutputFile { path, output, written, .. }) => {
                written.and_then(|()| output.commit()).with_context(|| cannot_write(Some(path)))
            }
        }
    }
}

/// Returns what [`List::finish_records`] may add to the name of a list that lacks files, and the paths that this gives.
/// A file of the user may have the first name.
fn incomplete(path: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    // The list is next to the file that a link leads to.
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    let list = if path.is_symlink() { target } else { path.into() }.into_os_string();
    (1..100).map(move |nth| {
        let suffix = if nth == 1 { ".incomplete".into() } else { format!(".incomplete.{nth}") };
        let mut name = list.clone();
        name.push(&suffix);
        (suffix, name.into())
    })
}

/// Returns the device and inode of a file, or of a link. `None` if the name is free.
fn identity(path: &Path) -> Option<(u64, u64)> {
    Stat::at(CWD, path, Symlinks::NoFollow).ok().map(|stat| stat.identity())
}

/// Returns the message for a failure to write to the file, or to standard output for `None`.
pub(crate) fn cannot_write(file: Option<&Path>) -> String {
    file.map_or_else(|| CANNOT_WRITE.into(), |path| format!("cannot write {}", shown(path)))
}

/// Returns the file that `-o` names. Like no option, `-` means standard output.
pub(crate) fn named(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}

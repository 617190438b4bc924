//! Starting points of a walk: arguments, and lists of paths.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use ftk_record::quote;

use crate::input;

/// Limit for a path in a list. No system accepts longer ones, so a longer line means that FILE is not a list
/// of paths.
const LONGEST: u64 = 64 << 10;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection by place")]
pub(crate) struct StartArgs {
    /// Read more starting points from FILE
    ///
    /// One per line; `-`: standard input. Lines are used as they are, byte for byte. An empty line is an error. If the
    /// list is empty and there is no PATH, nothing is searched.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// Like --files-from, with NUL after each path
    ///
    /// This is safe for every name.
    #[arg(long, value_name = "FILE")]
    files0_from: Option<PathBuf>,
}

/// Whether a path leads to the working directory.
pub(crate) fn is_here(directory: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
    identity(directory).is_some_and(|it| identity(Path::new(".")) == Some(it))
}

impl StartArgs {
    /// Whether a list was given. If so, the default starting point is not used.
    pub(crate) fn has_list(&self) -> bool {
        self.lists().next().is_some()
    }

    /// Returns the option of the first list that was given.
    pub(crate) fn list_option(&self) -> Option<&'static str> {
        let (_, end) = self.lists().next()?;
        Some(if end == 0 { "--files0-from" } else { "--files-from" })
    }

    /// Whether a list comes from standard input.
    pub(crate) fn takes_stdin(&self) -> bool {
        self.lists().any(|(list, _)| list == Path::new("-"))
    }

    /// Returns the starting points: `arguments`, then those of the lists; `default` if there is neither.
    ///
    /// # Errors
    /// If a list cannot be read, or contains a line that cannot be a path.
    pub(crate) fn read(&self, arguments: &[OsString], default: &[&CStr]) -> anyhow::Result<Vec<CString>> {
        if arguments.is_empty() && !self.has_list() {
            return Ok(default.iter().copied().map(CString::from).collect());
        }
        let argument = |argument: &OsString| CString::new(argument.as_bytes());
        let mut starts = arguments.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        let is_stdin = |list: &Path| list == Path::new("-");
        ensure!(
            self.lists().filter(|(list, _)| is_stdin(list)).count() < 2,
            "only one list can come from standard input"
        );
        for (list, end) in self.lists() {
            let shown = || quote(list.as_os_str().as_bytes());
            // No starting points are a usual list of them.
            let is_null = list == Path::new("/dev/null");
            let file = if is_null { File::open(list) } else { input::open(list.as_os_str()) };
            let file = file.with_context(|| format!("cannot open {}", shown()))?;
            let read = records(BufReader::new(file), end, "--files0-from", |path| {
                starts.push(path);
                Ok(())
            });
            read.with_context(|| format!("cannot read {}", shown()))?;
        }
        Ok(starts)
    }

    fn lists(&self) -> impl Iterator<Item = (&Path, u8)> {
        let lines = self.files_from.as_deref().map(|list| (list, b'\n'));
        lines.into_iter().chain(self.files0_from.as_deref().map(|list| (list, 0)))
    }
}

/// Passes the records of a list to `each`. The last one may lack its terminator. `zero` is the option for a list with
/// NUL after each path.
///
/// # Errors
/// If the list cannot be read, or a record cannot be a path or is refused by `each`.
pub(crate) fn records(
    mut list: impl BufRead,
    end: u8,
    zero: &str,
    mut each: impl FnMut(CString) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let what = if end == 0 { "record" } else { "line" };
    for nth in 1_u64.. {
        let mut path = Vec::new();
        if (&mut list).take(LONGEST + 1).read_until(end, &mut path)? == 0 {
            break;
        }
        path.pop_if(|last| *last == end);
        match path.len() as u64 {
            0 => bail!("{what} {nth} is empty"),
            1..=LONGEST => {}
            _ => bail!("{what} {nth} is longer than any path"),
        }
        let path = CString::new(path)
            .map_err(|_| anyhow::anyhow!("{what} {nth} contains a NUL: if paths end with NUL, use {zero}"))?;
        each(path).with_context(|| format!("{what} {nth}"))?;
    }
    Ok(())
}

/// Refuses a starting point inside another one. The walk shows it only as a starting point, so the directory around it
/// would be compared without it.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_nested(starts: &[CString]) -> anyhow::Result<()> {
    // A starting point that does not exist is reported by the walk.
    let resolve =
        |start: &CString| Some((fs::canonicalize(OsStr::from_bytes(start.to_bytes())).ok()?, start.clone()));
    let mut resolved: Vec<(PathBuf, CString)> = starts.iter().filter_map(resolve).collect();
    // Sorted by components, what is inside a directory follows it.
    resolved.sort();
    let mut outer: Option<&(PathBuf, CString)> = None;
    for start in &resolved {
        match outer {
            Some(outer) if start.0 != outer.0 && start.0.starts_with(&outer.0) => bail!(
                "{} is inside {}: to compare whole directories, name only the outer one",
                quote(start.1.as_bytes()),
                quote(outer.1.as_bytes()),
            ),
            _ => outer = Some(start),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &[u8], end: u8) -> Result<Vec<CString>, String> {
        let mut starts = vec![c"before".into()];
        let read = records(list, end, "-0", |path| {
            starts.push(path);
            Ok(())
        });
        read.map(|()| starts.split_off(1)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_record_may_lack_its_terminator() {
        for list in [&b"a\nb c\r\n-"[..], b"a\nb c\r\n-\n"] {
            assert_eq!(read(list, b'\n'), Ok(vec![c"a".into(), c"b c\r".into(), c"-".into()]));
        }
        assert_eq!(read(b"a\nb\0\xff\0", 0), Ok(vec![c"a\nb".into(), c"\xff".into()]));
        assert_eq!(read(b"", b'\n'), Ok(Vec::new()));
    }

    #[test]
    fn empty_long_and_nul_containing_paths_are_refused() {
        assert_eq!(read(b"a\n\nb\n", b'\n'), Err("line 2 is empty".into()));
        assert_eq!(read(b"\0", 0), Err("record 1 is empty".into()));
        assert!(read(b"a\nb\0c\0", b'\n').unwrap_err().starts_with("line 2 contains a NUL"));
        let longest = vec![b'x'; LONGEST as usize];
        assert!(read(&longest, b'\n').is_ok() && read(&[&longest[..], b"\n"].concat(), b'\n').is_ok());
        assert_eq!(read(&[&longest[..], b"x"].concat(), b'\n'), Err("line 1 is longer than any path".into()));
    }
}

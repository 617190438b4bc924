//! What a tool printed, and the tree after it ran.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use super::place::PATIENCE;
use super::verdict::Verdict;
pub(crate) use crate::bench::answer::has;

/// One command, and its outcome.
pub(crate) struct Run {
    pub(crate) line: String,
    /// As a shell reports it, more than 128 for a signal; `None` if the command did not end.
    pub(crate) status: Option<i32>,
    pub(crate) seconds: f64,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

impl Run {
    pub(crate) fn is_success(&self) -> bool {
        self.status == Some(0)
    }

    /// Returns the status for a message; a judge never sees a command that did not end.
    pub(crate) fn shown_status(&self) -> String {
        self.status.unwrap_or(-1).to_string()
    }

    pub(crate) fn err_text(&self) -> String {
        String::from_utf8_lossy(&self.err).trim().to_owned()
    }

    /// Lines of standard output, without their newlines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
    }

    pub(crate) fn out_has(&self, part: &[u8]) -> bool {
        has(&self.out, part)
    }

    /// Whether standard output or standard error contains `part`.
    pub(crate) fn says(&self, part: &str) -> bool {
        has(&self.out, part.as_bytes()) || has(&self.err, part.as_bytes())
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 2000;
        writeln!(f, "      $ {}\n      status {:?} after {:.2} s", self.line, self.status, self.seconds)?;
        for output in [&self.out, &self.err] {
            let output = String::from_utf8_lossy(&output[..output.len().min(MOST)]);
            output.lines().try_for_each(|line| writeln!(f, "      {}", line.escape_debug()))?;
        }
        Ok(())
    }
}

/// All commands, and the tree afterwards.
pub(crate) struct Seen {
    /// At least one.
    pub(crate) runs: Vec<Run>,
    pub(crate) tree: PathBuf,
}

impl Seen {
    pub(crate) fn last(&self) -> &Run {
        self.runs.last().expect("a scenario has lines")
    }

    /// Returns the verdict if a command hung, or ended by a signal of the processor, an abort or a panic.
    pub(crate) fn hang_or_crash(&self) -> Option<Verdict> {
        self.runs.iter().find_map(|run| match run.status {
            None => Some(Verdict::Hangs(format!("did not end within {} s", PATIENCE.as_secs()))),
            Some(status @ (132 | 134 | 135 | 136 | 139)) => {
                Some(Verdict::Crashes(format!("ended by signal {}", status - 128)))
            }
            Some(101) if has(&run.err, b"panicked at") => Some(Verdict::Crashes("panicked".into())),
            _ => None,
        })
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.tree.join(path)
    }

    /// Whether this name leads to a file with this content, directly or through links.
    pub(crate) fn holds(&self, path: impl AsRef<Path>, content: &[u8]) -> bool {
        fs::read(self.path(path)).is_ok_and(|found| found == content)
    }

    /// Whether this name exists, even as a dangling link.
    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// Returns device and inode number without following links.
    pub(crate) fn identity(&self, path: impl AsRef<Path>) -> Option<(u64, u64)> {
        self.path(path).symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()))
    }

    /// Returns the permission bits without following links.
    pub(crate) fn mode(&self, path: impl AsRef<Path>) -> Option<u32> {
        self.path(path).symlink_metadata().ok().map(|meta| meta.mode() & 0o7777)
    }

    /// Returns the names in a directory of the tree.
    pub(crate) fn names(&self, dir: impl AsRef<Path>) -> BTreeSet<Vec<u8>> {
        let entries = fs::read_dir(self.path(dir)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_vec()).collect()
    }
}

/// Converts any bytes to a path.
pub(crate) fn name(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Formats names for a message.
pub(crate) fn shown(names: &BTreeSet<Vec<u8>>) -> String {
    let names: Vec<_> = names.iter().map(|name| name.escape_ascii().to_string()).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns what a judge sees of a successful command and one with this outcome, without a tree.
    pub(in super::super) fn ended(status: Option<i32>, out: &str, err: &str) -> Seen {
        let run = |status, out: &str, err: &str| Run {
            line: String::new(),
            status,
            seconds: 0.0,
            out: out.into(),
            err: err.into(),
        };
        Seen { runs: vec![run(Some(0), "", ""), run(status, out, err)], tree: PathBuf::new() }
    }

    #[test]
    fn hangs_and_crashes_need_no_judge() {
        assert!(matches!(ended(None, "", "").hang_or_crash(), Some(Verdict::Hangs(_))));
        assert_eq!(
            ended(Some(139), "", "").hang_or_crash(),
            Some(Verdict::Crashes("ended by signal 11".into()))
        );
        let panic = "thread 'main' panicked at src/main.rs:1:1:";
        assert_eq!(ended(Some(101), "", panic).hang_or_crash(), Some(Verdict::Crashes("panicked".into())));
    }

    #[test]
    fn ordinary_statuses_and_sent_signals_are_left_to_the_judge() {
        for status in [0, 1, 2, 101, 124, 137, 143] {
            assert_eq!(ended(Some(status), "", "no room").hang_or_crash(), None, "{status}");
        }
    }

    #[test]
    fn output_has_lines_and_parts() {
        let seen = ended(Some(2), "a\n\nb", "failed");
        assert_eq!(seen.last().lines().collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(seen.last().says("failed") && !seen.last().out_has(b"failed"));
        assert!(!seen.last().says("faileda"));
    }
}

//! What a tool printed, and the tree after it ran.

use std::path::PathBuf;
use std::{fmt, fs};

use memchr::memmem::find;

use super::place::PATIENCE;
use super::verdict::Verdict;

/// One command, and its outcome.
pub struct Run {
    /// The command.
    pub line: String,
    /// As a shell reports it, more than 128 for a signal; `None` if the command did not end.
    pub status: Option<i32>,
    /// How long it ran.
    pub seconds: f64,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
}

impl Run {
    /// Whether the status is 0.
    pub fn is_success(&self) -> bool {
        self.status == Some(0)
    }

    /// Lines of standard output, without their newlines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
    }

    pub(crate) fn prints(&self, part: &str) -> bool {
        find(&self.out, part.as_bytes()).is_some()
    }

    /// Whether standard output or standard error contains `part`.
    pub(crate) fn says(&self, part: &str) -> bool {
        self.prints(part) || find(&self.err, part.as_bytes()).is_some()
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
pub struct Seen {
    /// At least one.
    pub runs: Vec<Run>,
    pub(crate) tree: PathBuf,
}

impl Seen {
    pub(crate) fn last(&self) -> &Run {
        self.runs.last().expect("a scenario has lines")
    }

    /// Returns the first command before the last that failed, or else the first command.
    pub(crate) fn earlier(&self) -> &Run {
        let before = &self.runs[..self.runs.len() - 1];
        before.iter().find(|run| !run.is_success()).unwrap_or(&self.runs[0])
    }

    /// Returns the verdict if a command hung, or ended by a signal of the processor, an abort or a panic.
    pub(crate) fn hang_or_crash(&self) -> Option<Verdict> {
        self.runs.iter().find_map(|run| match run.status {
            None => Some(Verdict::Hangs(format!("did not end within {} s", PATIENCE.as_secs()))),
            Some(status @ (132 | 134 | 135 | 136 | 139)) => {
                Some(Verdict::Crashes(format!("ended by signal {}", status - 128)))
            }
            Some(101) if find(&run.err, b"panicked at").is_some() => {
                Some(Verdict::Crashes("panicked".into()))
            }
            _ => None,
        })
    }

    /// Whether this name leads to a file with this content, directly or through links.
    pub(crate) fn holds(&self, path: &str, content: &str) -> bool {
        fs::read(self.tree.join(path)).is_ok_and(|found| found == content.as_bytes())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns what is seen of a successful command and one with this outcome, without a tree.
    pub(crate) fn ended(status: Option<i32>, out: &str, err: &str) -> Seen {
        let run = |status, out: &str, err: &str| Run {
            line: String::new(),
            status,
            seconds: 0.0,
            out: out.into(),
            err: err.into(),
        };
        Seen { runs: vec![run(Some(0), "", ""), run(status, out, err)], tree: PathBuf::from("/") }
    }

    #[test]
    fn hangs_and_crashes_need_no_check() {
        let panic = "thread 'main' panicked at src/main.rs:1:1:";
        for (status, err, expected) in [
            (None, "", Verdict::Hangs("did not end within 30 s".into())),
            (Some(139), "", Verdict::Crashes("ended by signal 11".into())),
            (Some(101), panic, Verdict::Crashes("panicked".into())),
        ] {
            assert_eq!(ended(status, "", err).hang_or_crash(), Some(expected));
        }
        // Ordinary statuses and sent signals are left to the checks.
        for status in [0, 1, 2, 101, 124, 137, 143] {
            assert_eq!(ended(Some(status), "", "no room").hang_or_crash(), None, "{status}");
        }
    }
}

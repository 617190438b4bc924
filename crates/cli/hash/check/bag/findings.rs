//! What is wrong with a bag, besides the contents of its files.

use std::fmt::Display;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_file::{Failure, File, Stream, Symlinks};

use crate::console::{Console, Outcome, cause};
use crate::human;

/// Findings of one kind that are printed. Further ones are only counted.
const NAMED: u64 = 10;

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// Prints and counts what is wrong with a bag.
pub(super) struct Findings<'a> {
    bag: &'a Path,
    console: &'a Console,
    outcome: Outcome,
    /// The number of findings of each kind.
    kinds: Vec<(&'static str, u64)>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(bag: &'a Path, console: &'a Console) -> Self {
        Self { bag, console, outcome: Outcome::Success, kinds: Vec::new() }
    }

    /// Reports that the bag is not valid. `kind` is a phrase for many such findings, such as `paths are listed
    /// twice`.
    pub(super) fn invalid(&mut self, kind: &'static str, message: impl Display) {
        self.find(Outcome::Negative, kind, message);
    }

    /// Reports that something cannot be checked.
    pub(super) fn error(&mut self, kind: &'static str, message: impl Display) {
        self.find(Outcome::Error, kind, message);
    }

    /// Raises the outcome; the reason was printed.
    pub(super) fn raise(&mut self, outcome: Outcome) {
        self.outcome = self.outcome.max(outcome);
    }

    fn find(&mut self, outcome: Outcome, kind: &'static str, message: impl Display) {
        self.raise(outcome);
        let at = self.kinds.iter().position(|(it, _)| *it == kind).unwrap_or_else(|| {
            self.kinds.push((kind, 0));
            self.kinds.len() - 1
        });
        self.kinds[at].1 += 1;
        if self.kinds[at].1 <= NAMED {
            self.console.error(message);
        }
    }

    /// Prints how many findings were not printed, and returns the outcome.
    pub(super) fn outcome(self) -> Outcome {
        for (kind, n) in self.kinds {
            if n > NAMED {
                let more = human::count(n - NAMED, "more finding");
                self.console.error(format_args!("{more}: {kind}"));
            }
        }
        self.outcome
    }

    /// Opens a file of the bag, without following a link. Returns `None` if it does not exist. Any other failure
    /// is reported, and `None` is returned too.
    pub(super) fn open(&mut self, name: &str) -> Option<BufReader<Stream<File>>> {
        let opened = open(self.bag, name);
        match opened {
            Ok(file) => Some(BufReader::with_capacity(BUFFER, Stream::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.raise(Outcome::Error);
                self.cannot("open", name, &error);
                None
            }
        }
    }

    /// Reports that a file of the bag cannot be read.
    pub(super) fn unreadable(&mut self, name: &str, error: &io::Error) {
        self.raise(Outcome::Error);
        self.cannot("read", name, error);
    }

    fn cannot(&self, verb: &str, name: &str, error: &io::Error) {
        self.console.path_error(verb, self.bag.join(name).as_os_str().as_bytes(), cause(error));
    }
}

/// Opens a regular file of the bag, without following a link.
fn open(bag: &Path, name: &str) -> io::Result<File> {
    let dir = std::fs::File::open(bag)?;
    let name = std::ffi::CString::new(name)?;
    File::open(&dir, &name, Symlinks::NoFollow).map_err(|failure| match failure {
        Failure::Io { source, .. } => source,
        _ => io::Error::other("it is not a regular file"),
    })
}

//! Entries that vanish during a run: they were listed, and do not exist any more when they are examined or entered.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::ErrorKind;
use std::sync::OnceLock;

use ftk_walk::WalkError;

use crate::console::Console;
use crate::human;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct StrictRacesArg {
    /// Treat entries that vanish during the run as errors
    ///
    /// Without this option, the summary counts entries below the starting points that another program removes between
    /// listing and examining them. A starting point that does not exist is always an error.
    #[arg(long, help_heading = "Output")]
    strict_races: bool,
}

/// Tells vanished entries from other errors.
#[derive(Debug)]
pub(crate) struct Races<'r> {
    is_strict: bool,
    roots: &'r [CString],
    /// The paths of `roots`, made when the first error needs them.
    known: OnceLock<BTreeSet<Vec<u8>>>,
}

impl<'r> Races<'r> {
    /// `roots`: the starting points.
    pub(crate) fn new(arg: StrictRacesArg, roots: &'r [CString]) -> Self {
        Self { is_strict: arg.strict_races, roots, known: OnceLock::new() }
    }

    /// Returns whether this is not an error, because the entry vanished.
    pub(crate) fn accept(&self, error: &WalkError) -> bool {
        let known = || self.roots.iter().map(|root| root.to_bytes().to_vec()).collect();
        error.source.kind() == ErrorKind::NotFound
            && !self.is_strict
            && !self.known.get_or_init(known).contains(&error.path)
    }

    /// Separates the paths of vanished entries from errors.
    pub(crate) fn separate(&self, errors: Vec<WalkError>) -> (Vec<Vec<u8>>, Vec<WalkError>) {
        let (vanished, errors): (Vec<_>, _) = errors.into_iter().partition(|error| self.accept(error));
        (vanished.into_iter().map(|error| error.path).collect(), errors)
    }
}

/// Prints one line that counts vanished entries, if there are any. A path may occur twice.
pub(crate) fn say_vanished(mut paths: Vec<Vec<u8>>, console: &Console) {
    paths.sort_unstable();
    paths.dedup();
    let n = paths.len() as u64;
    if n > 0 {
        console.stats.skipped("vanished entries", n);
        console.summary(format_args!("{} vanished during the run", human::entries(n)));
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use ftk_walk::Op;

    use super::*;

    #[test]
    fn only_missing_entries_below_the_starting_points_have_vanished() {
        let roots = [c"a".to_owned(), c"a/b".to_owned()];
        let error = |path: &str, kind: ErrorKind| WalkError::new(Op::Stat, path.into(), kind.into());
        let accept = |strict_races, error: &WalkError| {
            Races::new(StrictRacesArg { strict_races }, &roots).accept(error)
        };
        for (path, kind, expected) in [
            ("a/x", ErrorKind::NotFound, true),
            ("a/b/x", ErrorKind::NotFound, true),
            ("a", ErrorKind::NotFound, false),
            ("a/b", ErrorKind::NotFound, false),
            ("a/x", ErrorKind::PermissionDenied, false),
            ("a/x", ErrorKind::NotADirectory, false),
            ("a/x", ErrorKind::Other, false),
        ] {
            assert_eq!(accept(false, &error(path, kind)), expected, "{path} {kind}");
            assert!(!accept(true, &error(path, kind)));
        }
        let invalid = WalkError::new(Op::Stat, b"a/x".into(), io::Error::other("no such entry"));
        assert!(!accept(false, &invalid));
    }
}

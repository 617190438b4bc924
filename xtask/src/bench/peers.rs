//! The tools that ftk is measured against.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::machine::said;

/// A known tool, which may be missing.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// Another name of the program.
    alias: Option<&'static str>,
    /// The argument that prints the version.
    version: &'static str,
    pub(crate) source: Source,
}

/// Where a peer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Package of this name for `cargo install`.
    Cargo(&'static str),
    /// Package of this name in Debian.
    Debian(&'static str),
    /// Package of this name for pip, with the program in this folder of it.
    Pip(&'static str, &'static str),
    /// Part of the operating system.
    System,
}

/// Makes a peer that supports `--version`.
const fn peer(name: &'static str, source: Source) -> Peer {
    Peer { name, alias: None, version: "--version", source }
}

pub(crate) const ALL: &[Peer] = &[
    Peer { alias: Some("fdfind"), ..peer("fd", Source::Cargo("fd-find")) },
    peer("rg", Source::Cargo("ripgrep")),
    peer("bfs", Source::Debian("bfs")),
    peer("b3sum", Source::Cargo("b3sum")),
    peer("xxhsum", Source::Debian("xxhash")),
    Peer { version: "version", ..peer("openssl", Source::Debian("openssl")) },
    Peer { version: "-V", ..peer("hashdeep", Source::Debian("hashdeep")) },
    peer("fclones", Source::Cargo("fclones")),
    peer("czkawka_cli", Source::Cargo("czkawka_cli")),
    peer("yadf", Source::Cargo("yadf")),
    Peer { version: "-v", ..peer("jdupes", Source::Debian("jdupes")) },
    peer("rdfind", Source::Debian("rdfind")),
    peer("rmlint", Source::Debian("rmlint")),
    peer("fdupes", Source::Debian("fdupes")),
    peer("mtree", Source::Debian("mtree-netbsd")),
    Peer { version: "-v", ..peer("aide", Source::Debian("aide")) },
    Peer { version: "-V", ..peer("par2", Source::Debian("par2")) },
    Peer { version: "--help", ..peer("busybox", Source::Debian("busybox")) },
    peer("dust", Source::Cargo("du-dust")),
    peer("dua", Source::Cargo("dua-cli")),
    peer("pdu", Source::Cargo("parallel-disk-usage")),
    peer("diskus", Source::Cargo("diskus")),
    peer("gdu", Source::Debian("gdu")),
    peer("ncdu", Source::Debian("ncdu")),
    peer("duckdb", Source::Pip("duckdb-cli", "duckdb_cli")),
    peer("du", Source::System),
    peer("find", Source::System),
    peer("xargs", Source::System),
    peer("wc", Source::System),
    peer("diff", Source::System),
    peer("cmp", Source::System),
    peer("sha256sum", Source::System),
    peer("sha1sum", Source::System),
    peer("sha512sum", Source::System),
    peer("md5sum", Source::System),
    peer("b2sum", Source::System),
];

/// The folder of peers that are installed for the benchmark.
pub(crate) const INSTALLED: &str = "target/peers";

/// The version of a program that prints none.
const UNKNOWN: &str = "unknown";

/// The tools that were found.
pub(crate) struct Peers {
    found: BTreeMap<&'static str, PathBuf>,
}

impl Peers {
    /// Searches `folder`, the folder in `FTK_PEERS`, the folder of installed peers, and `PATH`, in this order. In
    /// each of the first three it also searches `bin`.
    pub(crate) fn find(folder: Option<&Path>) -> Self {
        let mut folders = Vec::new();
        let named = std::env::var_os("FTK_PEERS").map(PathBuf::from);
        for folder in [folder, named.as_deref(), Some(Path::new(INSTALLED))].into_iter().flatten() {
            folders.extend([folder.to_owned(), folder.join("bin")]);
        }
        if let Some(path) = std::env::var_os("PATH") {
            folders.extend(std::env::split_paths(&path));
        }
        Self::find_in(&folders)
    }

    /// Returns an empty set of tools.
    pub(crate) fn none() -> Self {
        Self::find_in(&[])
    }

    fn find_in(folders: &[PathBuf]) -> Self {
        let first = |peer: &Peer| {
            folders
                .iter()
                .flat_map(|folder| {
                    [Some(peer.name), peer.alias].into_iter().flatten().map(|name| folder.join(name))
                })
                .find(|path| is_program(path))
                .and_then(|path| std::path::absolute(path).ok())
        };
        Self { found: ALL.iter().filter_map(|peer| Some((peer.name, first(peer)?))).collect() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Path> {
        self.found.get(name).map(PathBuf::as_path)
    }

    /// Returns names and paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.found.iter().map(|(name, path)| (*name, path.as_path()))
    }

    /// Returns each known peer with the first line with a digit of its version output; `None` if it is missing.
    pub(crate) fn versions(&self) -> Vec<(&'static str, Option<String>)> {
        let version = |peer: &Peer| {
            let version = version(self.get(peer.name)?, peer.version);
            match peer.source {
                Source::Debian(package) if version == UNKNOWN => Some(packaged(package).unwrap_or(version)),
                _ => Some(version),
            }
        };
        ALL.iter().map(|peer| (peer.name, version(peer))).collect()
    }

    pub(crate) fn missing(&self) -> impl Iterator<Item = &'static Peer> {
        ALL.iter().filter(|peer| self.get(peer.name).is_none())
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns the version that the program at `path` prints, on either output.
fn version(path: &Path, argument: &str) -> String {
    let Ok(output) = Command::new(path).arg(argument).stdin(Stdio::null()).output() else {
        return UNKNOWN.into();
    };
    let text = [output.stdout, output.stderr].concat();
    first_number(&String::from_utf8_lossy(&text)).unwrap_or(UNKNOWN).to_owned()
}

/// Returns the version of an installed package, for a program that does not print its own.
fn packaged(package: &str) -> Option<String> {
    said("dpkg-query", &["-W", "-f", "${Package} ${Version}", package])
}

/// Returns the first line with a digit.
fn first_number(text: &str) -> Option<&str> {
    text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_order() {
        let peers = Peers::find_in(&["src/no-such-folder".into(), "/usr/bin".into(), "/bin".into()]);
        let found = peers.get("find").expect("GNU find is part of the system");
        assert!(found.is_absolute() && found.ends_with("find"));
        assert_eq!(Peers::find_in(&[]).missing().count(), ALL.len());
    }

    #[test]
    fn only_executable_files_are_programs() {
        assert!(!is_program(Path::new(".")));
        assert!(!is_program(Path::new("Cargo.toml")));
        assert!(is_program(Path::new("/bin/sh")));
    }

    #[test]
    fn a_version_is_a_line_with_a_digit() {
        assert_eq!(first_number("Copyright\n tool 1.2 \n2026\n"), Some("tool 1.2"));
        assert_eq!(first_number("no number"), None);
        assert_eq!(version(Path::new("/bin/true"), "-c"), "unknown");
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<_> = ALL.iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}

//! Guards against replacing a good manifest with a bad one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_manifest::{Header, Kind, Kinship, OtherRoot, RootIdentity, Survey, sniff};
use ftk_record::{Magic, quote};
use indicatif::HumanCount;

use crate::console::Console;
use crate::input;
use crate::manifest::root::Root;

/// Bytes of a file that are read to find out whether it is a manifest.
const START: u64 = 64 << 10;

/// Options that lift the guards of a command that writes a manifest from an older one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Guards")]
pub(super) struct GuardArgs {
    /// Stop if more than P% or N of the recorded entries are missing
    ///
    /// An empty mount point looks like a tree from which everything was deleted. Entries that moved count as missing.
    /// 100% removes the limit.
    #[arg(long, value_name = "P%|N", default_value = "50%")]
    max_missing: Limit,

    /// Accept a ROOT that is not the recorded directory
    ///
    /// By default, a ROOT is refused if its file system or its inode differs from the recorded one. On a file system
    /// without a lasting identity, such as tmpfs, NFS or ZFS, its path is compared instead. A ROOT is also refused if
    /// a recorded file system below it is not mounted, or another one is.
    #[arg(long)]
    pub(super) other_root: bool,
}

impl GuardArgs {
    /// Refuses a tree `root` that is not the recorded one. `updates`: the command only writes a new manifest, which may
    /// be of another state of the tree.
    ///
    /// # Errors
    /// If the root is not the recorded directory, a recorded mount is missing, or too many entries are missing.
    pub(super) fn check(
        &self,
        header: &Header,
        survey: &Survey,
        root: &Root,
        updates: Option<(Kinship, &Console)>,
    ) -> anyhow::Result<()> {
        let name = || quote(root.given().as_bytes());
        let recorded = header.root_identity.as_ref();
        let as_state = |it: &RootIdentity| it.difference_of_states(root.identity());
        let other = match (updates, recorded.and_then(|it| it.difference(root.identity()))) {
            (Some((Kinship::None, console)), Some(OtherRoot::FileSystem))
                if root.is_on_same_btrfs(header) =>
            {
                let other = recorded.and_then(as_state);
                if other.is_none() {
                    console.warning(format_args!(
                        "{} is in another subvolume than the recorded directory, perhaps after a rollback: all files are \
                         read",
                        name()
                    ));
                }
                other
            }
            (None | Some((Kinship::None, _)), other) => other.or(survey.other_root),
            _ => recorded.and_then(as_state).or(survey.other_root),
        };
        if let Some(why) = other.filter(|_| !self.other_root) {
            bail!(
                "{} is not the recorded directory: {why} (mount the right one, or add --other-root)",
                name()
            );
        }
        if !self.other_root {
            root.check_mounts(&header.mounts, header.shard.as_ref(), GONE)?;
        }
        let Survey { recorded, missing, .. } = survey;
        ensure!(
            !self.max_missing.is_exceeded(*missing, *recorded),
            "{}: {} of {} recorded entries are missing: is the file system mounted? \
             (if they were deleted or moved, raise --max-missing, which is {})",
            name(),
            HumanCount(*missing),
            HumanCount(*recorded),
            self.max_missing
        );
        Ok(())
    }
}

/// What to do if a file system will not be mounted again.
const GONE: &str = "or add --other-root, and what was recorded there counts as removed";

/// The limit for missing entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    Percent(f64),
    Entries(u64),
}

impl Limit {
    pub(crate) fn is_exceeded(self, missing: u64, recorded: u64) -> bool {
        match self {
            Self::Percent(percent) => missing as f64 * 100.0 > percent * recorded as f64,
            Self::Entries(most) => missing > most,
        }
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let limit = match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().filter(|it| (0.0..=100.0).contains(it)).map(Self::Percent),
            None => text.parse().ok().map(Self::Entries),
        };
        limit.ok_or("expected a share from 0% to 100%, or a number of entries")
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Entries(most) => write!(f, "{most}"),
        }
    }
}

/// Refuses to overwrite a manifest, or a plan of shards. `updates`: the command is `update`. `read`: device
/// and inode of the manifest that the command replaces on purpose, if it has an older one.
///
/// # Errors
/// If the output path is a manifest or a plan, may be a manifest, or cannot be examined.
pub(super) fn refuse_to_overwrite(
    output: Option<&Path>,
    read: Option<(u64, u64)>,
    updates: bool,
) -> anyhow::Result<()> {
    let Some(path) = output else { return Ok(()) };
    let name = || quote(path.as_os_str().as_encoded_bytes());
    // A path that does not exist or is not a regular file is not a manifest. Reading a FIFO would block.
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if !metadata.is_file() || read == Some((metadata.dev(), metadata.ino())) {
        return Ok(());
    }
    let start = input::start_of(path.as_os_str(), START).with_context(|| {
        format!("cannot tell whether {} is a manifest (--force replaces it anyway)", name())
    })?;
    let what = match sniff(&start) {
        Kind::Manifest => "is a manifest".to_owned(),
        Kind::Binary(Magic::Compressed { with, .. }) => {
            format!("is compressed with {with} and may be a manifest")
        }
        Kind::Plan => bail!("{} is a plan, and its parts need it: --force replaces it", name()),
        Kind::Binary(_) | Kind::List(_) | Kind::Other(_) => return Ok(()),
    };
    let instead = match updates {
        true => "name another file, or OLD itself, with -o",
        false => "use `ftk manifest update` to keep its records",
    };
    bail!("{} {what}: {instead}, or --force to replace it", name())
}

/// Refuses arguments in the wrong order, the manifest before the root.
///
/// # Errors
/// If the root is a file and the manifest is a directory.
pub(super) fn refuse_swapped(root: &OsStr, manifest: &OsStr) -> anyhow::Result<()> {
    let (is_file, is_dir) = (Path::new(root).is_file(), Path::new(manifest).is_dir());
    let name = |path: &OsStr| quote(path.as_encoded_bytes());
    ensure!(
        !(is_file && is_dir),
        "the directory comes first, then the manifest: {} {}",
        name(manifest),
        name(root)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shares_or_numbers() {
        for (limit, missing, recorded, is_exceeded) in [
            ("50%", 0, 0, false),
            ("50%", 1, 2, false),
            ("50%", 2, 3, true),
            ("5%", 5, 100, false),
            ("5%", 6, 100, true),
            ("0.1%", 1, 1000, false),
            ("0%", 1, 1_000_000, true),
            ("100%", 7, 7, false),
            ("3", 3, 4, false),
            ("3", 4, 4_000, true),
            ("0", 0, 9, false),
        ] {
            let is = limit.parse::<Limit>().unwrap().is_exceeded(missing, recorded);
            assert_eq!(is, is_exceeded, "{limit} {missing} {recorded}");
            assert_eq!(limit.parse::<Limit>().unwrap().to_string(), limit);
        }
        for bad in ["", "%", "-1", "-1%", "101%", "nan%", "1.5", "half", "5 %"] {
            assert!(bad.parse::<Limit>().is_err(), "{bad}");
        }
    }
}

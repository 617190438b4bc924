//! `--cache`, and `ftk cache`, which shows and trims the store.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use ftk_apply::{JournalError, ensure_safe_directory};
use ftk_cache::{Cache, Contents, Unusable};
use ftk_file::{Failure, FsId, Stat};
use ftk_inventory::{Collect, DirNo, FileNo, Inventory, Keep, Opener};
use ftk_record::quote;
use ftk_select::parse_bytes;
use ftk_walk::{Follow, Walker};
use indicatif::BinaryBytes;
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::calibrate::{NO_CACHE_DIR, cache_file};
use crate::console::{Console, Outcome, cause, say_failure};
use crate::globals::Globals;
use crate::human;
use crate::stdout::Stdout;

/// Whether digests of earlier runs are reused.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct CacheArgs {
    /// Reuse digests of unchanged files, and store new ones
    ///
    /// A file is unchanged if it is on the same file system with the same inode number, size, mtime and ctime, and both
    /// times are older than the read. Digests are stored every few seconds, so a run that was killed continues where it
    /// was when it is repeated. FTK_CACHE=1 does the same for every command that has this option. See `ftk cache -h`.
    #[arg(long, overrides_with = "no_cache")]
    cache: bool,

    /// Read every file, even if FTK_CACHE=1 is set
    #[arg(long, overrides_with = "cache", hide_short_help = true)]
    no_cache: bool,
}

impl CacheArgs {
    /// Whether `--cache` was given.
    pub(crate) fn is_given(self) -> bool {
        self.cache
    }

    /// Opens the store if it is to be used. If it cannot be used, says why; the run then reads every file.
    ///
    /// # Errors
    /// If FTK_CACHE has another value than 0 or 1.
    pub(crate) fn open(self, console: &Console) -> anyhow::Result<Option<Cache>> {
        let is_wanted = match env::var_os("FTK_CACHE") {
            _ if self.cache || self.no_cache => self.cache,
            None => false,
            Some(value) if value.is_empty() || value == "0" => false,
            Some(value) if value == "1" => true,
            Some(value) => bail!("FTK_CACHE is {}: it must be 0 or 1", quote(value.as_bytes())),
        };
        if !is_wanted {
            return Ok(None);
        }
        let Some(path) = path() else {
            console.warning(format_args!("cache not used: {NO_CACHE_DIR}"));
            return Ok(None);
        };
        match ensure_safe(&path).and_then(|()| Cache::open(&path)) {
            Ok(cache) => Ok(Some(cache)),
            Err(error) => {
                say_unusable(&error, console);
                Ok(None)
            }
        }
    }
}

/// Returns the part of a summary that counts reused digests; nothing without a cache.
pub(crate) fn reused(digests: Option<u64>) -> String {
    digests.map_or_else(String::new, |n| format!(", {} reused", human::count(n, "digest")))
}

/// Says why the store is not used, or no longer.
pub(crate) fn say_unusable(error: &Unusable, console: &Console) {
    let path = path().unwrap_or_default();
    console.warning(format_args!("cache {} not used: {}", quote(path.as_os_str().as_bytes()), why(error)));
}

/// Returns why the store cannot be used: the cause if there is one.
pub(crate) fn why(error: &Unusable) -> String {
    match error {
        Unusable::Io(source) => cause(source),
        Unusable::Other(source) => source.to_string(),
        _ => error.to_string(),
    }
}

fn path() -> Option<PathBuf> {
    cache_file("digests")
}

/// Checks that no other user can put another store in place, such as one that root has copied from a home directory.
fn ensure_safe(path: &Path) -> Result<(), Unusable> {
    match ensure_safe_directory(path.parent().unwrap_or(Path::new("/"))) {
        Ok(()) => Ok(()),
        Err(JournalError::Exposed { directory, mode, owner }) => {
            let directory = quote(&directory);
            let why = format!(
                "other users could have written to it: {directory} has owner {owner} and mode {mode:04o}"
            );
            Err(Unusable::Other(why.into()))
        }
        Err(JournalError::Read(error)) => Err(Unusable::Io(error)),
        Err(error) => Err(Unusable::Other(error.into())),
    }
}

/// Show, trim and clear the store of digests that --cache uses
///
/// The store is in $XDG_CACHE_HOME/ftk, or else in ~/.cache/ftk. It belongs to one user and is not used if others could
/// have written to it, or if it is on a network file system. Digests are found by file system and inode number; files
/// on FUSE, network file systems, tmpfs and overlays are never stored. Digests that no run has used for 180 days are
/// removed. Checks, comparisons and actions never use the store: they read every file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CacheCommandArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Print how many files are known, and the size of the store
    #[command(after_help = STATS)]
    Stats,
    /// Remove the store
    #[command(after_help = CLEAR)]
    Clear,
    /// Remove the digests of files, and of all files in directories
    #[command(after_help = FORGET)]
    Forget(ForgetArgs),
    /// Set the size of the store, and remove what was not used for the longest time
    #[command(after_help = TRIM)]
    Trim(TrimArgs),
}

#[derive(Debug, Args)]
struct ForgetArgs {
    /// Files and directories
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<OsString>,
}

#[derive(Debug, Args)]
struct TrimArgs {
    /// The size that the store keeps to from now on; the default is 4G
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, required = true)]
    max_size: u64,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk hash --cache -o SUMS /archive    read only what is new or changed
  ftk cache stats                      how many files are known
  ftk cache forget /archive            read these files again next time
  ftk cache trim --max-size 1G         keep to a gigabyte
  ftk cache clear                      start again";

const STATS: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk cache stats           for people
  ftk cache stats --json    for programs";

const CLEAR: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk cache clear    start again, for example if the store is damaged";

const FORGET: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk cache forget /archive    read these files again next time";

const TRIM: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk cache trim --max-size 1G    keep to a gigabyte from now on";

pub(crate) fn run(args: &CacheCommandArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let path = path().context(NO_CACHE_DIR)?;
    let shown = || quote(path.as_os_str().as_bytes()).to_string();
    let unusable = |error: Unusable| anyhow::anyhow!("cannot use {}: {}", shown(), why(&error));
    if !matches!(args.command, CacheCommand::Stats) {
        ensure_safe(&path).map_err(unusable)?;
    }
    match &args.command {
        CacheCommand::Stats => {
            let contents = Cache::contents(&path).map_err(unusable)?;
            print(contents, &path, globals.json)?;
        }
        CacheCommand::Clear => {
            let existed = Cache::clear(&path).with_context(|| format!("cannot remove {}", shown()))?;
            let done = if existed { "removed" } else { "there is no" };
            console.summary(format_args!("{done} {}", shown()));
        }
        CacheCommand::Forget(args) => {
            let (files, outcome) = files(&args.paths, console)?;
            let forgotten = match Cache::contents(&path).map_err(unusable)? {
                Some(_) => Cache::forget(&path, files.into_iter()).map_err(unusable)?,
                None => 0,
            };
            console.summary(format_args!("forgot {}", human::count(forgotten, "file")));
            return Ok(outcome);
        }
        CacheCommand::Trim(args) => {
            Cache::set_max_size(&path, args.max_size).map_err(unusable)?;
            print(Cache::contents(&path).map_err(unusable)?, &path, globals.json)?;
        }
    }
    Ok(Outcome::Success)
}

/// Prints what the store contains; `None` if there is no store.
fn print(contents: Option<Contents>, path: &Path, json: bool) -> anyhow::Result<()> {
    let Contents { rows, file_systems, bytes, .. } = contents.unwrap_or_default();
    let text = if json {
        let (path, max_bytes) = (path.to_string_lossy(), contents.map(|contents| contents.max_bytes));
        let object = serde_json::json!({
            "path": path, "files": rows, "file_systems": file_systems, "size_bytes": bytes, "max_size_bytes": max_bytes,
        });
        format!("{object}\n")
    } else if let Some(Contents { max_bytes, .. }) = contents {
        format!(
            "{} on {}, {} of at most {}\n",
            human::count(rows, "file"),
            human::count(file_systems, "file system"),
            BinaryBytes(bytes),
            BinaryBytes(max_bytes),
        )
    } else {
        let path = quote(path.as_os_str().as_bytes());
        format!("nothing is stored: there is no {path} (a run with --cache makes it)\n")
    };
    let out = Stdout::default();
    out.write(text.as_bytes());
    out.finish()
}

/// Returns the regular files at and below these paths: the identities of their file systems, and their inode numbers.
/// Files that are never stored are omitted.
fn files(paths: &[OsString], console: &Console) -> anyhow::Result<(Vec<(FsId, u64)>, Outcome)> {
    let walker = Walker::new(paths).follow(Follow::Roots);
    let mut inventory = Inventory::merge(walker.run(|worker| Collect::new(worker, Keep::Sizes)))?;
    let errors = inventory.take_errors();
    errors.iter().for_each(|error| console.path_error("examine", &error.path, cause(&error.source)));
    let mut outcome = if errors.is_empty() { Outcome::Success } else { Outcome::Error };
    let mut opener = Opener::new(&inventory);
    let mut ids = BTreeMap::new();
    let mut files = Vec::new();
    for dir in (0..inventory.dirs()).map(DirNo) {
        for file in inventory.files_of(dir).map(FileNo) {
            let (dev, ino) = inventory.identity(dir, file);
            let id = match ids.get(&dev) {
                Some(&id) => id,
                None => match file_system(&inventory, &mut opener, dir, file) {
                    Ok(id) => *ids.entry(dev).or_insert(id),
                    Err(failure) => {
                        say_failure(&inventory.path(file), &failure, "not forgotten", console);
                        outcome = Outcome::Error;
                        continue;
                    }
                },
            };
            files.extend(id.map(|id| (id, ino)));
        }
    }
    Ok((files, outcome))
}

/// Returns the identity of the file system that a file is on. If the file cannot be opened, its directory can.
fn file_system(
    inventory: &Inventory,
    opener: &mut Opener<'_>,
    dir: DirNo,
    file: FileNo,
) -> Result<Option<FsId>, Failure> {
    let failure = match opener.open_file(dir, file) {
        Ok(file) => return FsId::of(&file).map_err(|source| Failure::Io { op: "identify", source }),
        Err(failure) => failure,
    };
    let path = inventory.path(file);
    let parent = Path::new(OsStr::from_bytes(&path)).parent().filter(|it| !it.as_os_str().is_empty());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let of_parent = openat(CWD, parent.unwrap_or(Path::new(".")), flags, Mode::empty())
        .and_then(|parent| Ok((Stat::of(&parent)?.dev, parent)));
    match of_parent.map(|(dev, parent)| (dev, FsId::of(parent))) {
        Ok((dev, Ok(id))) if dev == inventory.identity(dir, file).0 => Ok(id),
        _ => Err(failure),
    }
}

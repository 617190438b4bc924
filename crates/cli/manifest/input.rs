//! Opens manifests. The digest in the last line, which seals the manifest, is checked before anything else is
//! used.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use ftk_manifest::{Error, Examined, Manifest, MergeError, Parts, Which, part_files};
use ftk_record::{quote, shell_word};
use indicatif::DecimalBytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::console::Console;
use crate::globals::Globals;
use crate::{human, input};

/// A manifest whose seal has been checked.
pub(crate) struct Input {
    pub(crate) manifest: Manifest,
    /// Device and inode of the manifest, or of its parts, as far as they are regular files. A walk skips these files,
    /// since they are not a part of the tree that they describe.
    pub(crate) own: Vec<(u64, u64)>,
}

impl Input {
    /// Opens the manifest `path`, or standard input for `-`. If `path` is a directory, opens the parts of all shards in
    /// it as one manifest, and names the directories that changed while they were recorded.
    ///
    /// # Errors
    /// If a file cannot be read, is not a manifest, is incomplete or damaged, records only one shard, or if a part is
    /// missing.
    pub(crate) fn open(path: &OsStr, globals: &Globals, console: &Console) -> anyhow::Result<Self> {
        Self::open_with(path, globals, console, Manifest::open)
    }

    /// Opens a manifest like [`open`](Self::open), which may be that of one shard.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), except for single shards.
    pub(crate) fn open_any(path: &OsStr, globals: &Globals, console: &Console) -> anyhow::Result<Self> {
        Self::open_with(path, globals, console, Manifest::open_any)
    }

    /// Opens a manifest, and says how old records may be that the last update did not examine.
    fn open_with(
        path: &OsStr,
        globals: &Globals,
        console: &Console,
        open: fn(File) -> Result<Manifest, Error>,
    ) -> anyhow::Result<Self> {
        let input = match Path::new(path).is_dir() && path != "-" {
            true => Self::open_dir(path, globals, console)?,
            false => Self::open_as(path, open)?,
        };
        Ok(input.note_age(path, console))
    }

    /// Returns the manifest in `file`, which is open. `path` is its name, or `-`.
    ///
    /// # Errors
    /// If it cannot be read, is not a manifest, is incomplete or damaged, or records only one shard.
    pub(crate) fn of_file(path: &OsStr, file: File, console: &Console) -> anyhow::Result<Self> {
        Ok(Self::of(path, file, Manifest::open)?.note_age(path, console))
    }

    /// Says how old records may be that the last update did not examine.
    fn note_age(self, path: &OsStr, console: &Console) -> Self {
        if let Some(Examined { full_ns }) = self.manifest.header().provenance.examined {
            console.stats.fully_examined(full_ns);
            let (name, date) = (quote(path.as_encoded_bytes()), human::date(full_ns));
            console.summary(format_args!("{name}: the whole tree was last examined on {date}"));
        }
        self
    }

    fn open_as(path: &OsStr, open: fn(File) -> Result<Manifest, Error>) -> anyhow::Result<Self> {
        let name = || quote(path.as_encoded_bytes());
        Self::of(path, input::open(path).with_context(|| format!("cannot open {}", name()))?, open)
    }

    fn of(path: &OsStr, file: File, open: fn(File) -> Result<Manifest, Error>) -> anyhow::Result<Self> {
        let name = || quote(path.as_encoded_bytes());
        let metadata = file.metadata().with_context(|| format!("cannot stat {}", name()))?;
        let own = metadata.is_file().then(|| (metadata.dev(), metadata.ino()));
        let manifest = open(file);
        if let Err(Error::List(what)) = manifest {
            let list = if path == "-" { "-".into() } else { shell_word(path.as_bytes()) };
            let new = new_manifest(path);
            bail!("{} is {what}: `ftk manifest import {list} -o {new}` makes a manifest of it", name());
        }
        let manifest = manifest.with_context(name)?;
        Ok(Self { manifest, own: own.into_iter().collect() })
    }

    fn open_dir(dir: &OsStr, globals: &Globals, console: &Console) -> anyhow::Result<Self> {
        let name = || quote(dir.as_encoded_bytes());
        let paths = part_files(Path::new(dir)).with_context(|| format!("cannot list {}", name()))?;
        let paths: Vec<_> = paths.into_iter().map(PathBuf::into_os_string).collect();
        ensure!(
            !paths.is_empty(),
            "{} is a directory without parts: files whose names end in .jsonl or .jsonl.zst",
            name()
        );
        let mut own = Vec::new();
        let parts = open_parts(&paths, globals, Parts::MAX_SPAN_NS, &mut own)?;
        let changes = parts.changes();
        if !changes.is_empty() {
            console.warning(format_args!("{}: {}", name(), changes.describe(human::number)));
        }
        Ok(Self { manifest: joined(parts, &paths, globals)?, own })
    }
}

/// Returns the name of a manifest that a list can be imported to, for the shell: `SHA256SUMS.jsonl`.
fn new_manifest(list: &OsStr) -> String {
    let name = Path::new(list).file_name().filter(|_| list != "-").unwrap_or(OsStr::new("list"));
    shell_word(Path::new(name).with_extension("jsonl").as_os_str().as_bytes()).to_string()
}

/// Opens the parts of all shards, which began within `max_span_ns`. Their identities are added to `own`.
///
/// # Errors
/// If one cannot be opened, they do not belong together, or one is missing.
pub(crate) fn open_parts(
    paths: &[OsString],
    globals: &Globals,
    max_span_ns: i128,
    own: &mut Vec<(u64, u64)>,
) -> anyhow::Result<Parts> {
    let are_few = allow_open_files(paths.len());
    let opened = input::all(paths, globals, |path| {
        let mut input = Input::open_as(path, Manifest::open_any)?;
        if !are_few && !input.own.is_empty() {
            input.manifest.close(path.into());
        }
        input.manifest.forget_old_changes(max_span_ns);
        Ok(input)
    })?;
    let mut manifests = Vec::new();
    for input in opened {
        own.extend(input.own);
        manifests.push(input.manifest);
    }
    Parts::new(manifests, max_span_ns).map_err(|error| in_parts(error, paths))
}

/// Joins the parts at these paths to one manifest. Parts without a plan that need more memory than is allowed are
/// merged in groups, in temporary files.
///
/// # Errors
/// If the groups need more memory than is allowed too, or cannot be merged.
pub(crate) fn joined(parts: Parts, paths: &[OsString], globals: &Globals) -> anyhow::Result<Manifest> {
    let names: Vec<_> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    let manifest = parts.into_manifest(&names);
    let (memory, least) = (globals.memory(), manifest.least_memory());
    ensure!(
        least <= memory,
        "{} without a plan need {} of memory (raise --memory to at least {}K, or record the tree with a plan)",
        human::count(paths.len() as u64, "part"),
        DecimalBytes(least),
        least.div_ceil(1024)
    );
    manifest.group(memory).context("cannot merge parts without a plan in temporary files")
}

/// Raises the limit of open files to what the system allows, if so many parts need it. Returns whether all of them can
/// be open at the same time.
fn allow_open_files(parts: usize) -> bool {
    /// Descriptors for everything else.
    const OTHERS: u64 = 64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= parts as u64 + OTHERS);
    let raise = || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    is_enough(current) || is_enough(maximum) && raise()
}

/// Adds the names of the parts that an error is about.
fn in_parts(error: MergeError, paths: &[OsString]) -> anyhow::Error {
    let names: Vec<_> = error.given().into_iter().map(|at| quote(paths[at].as_bytes()).to_string()).collect();
    if names.is_empty() { anyhow!(error) } else { anyhow!(error).context(names.join(" and ")) }
}

/// Adds the name of the affected manifest to an error, or of both if it affects both.
pub(crate) fn in_either(error: Error, paths: [&OsStr; 2]) -> anyhow::Error {
    let [first, second] = paths.map(|path| quote(path.as_encoded_bytes()));
    match error {
        Error::Of(Which::First, error) => anyhow::Error::from(*error).context(first),
        Error::Of(Which::Second, error) => anyhow::Error::from(*error).context(second),
        error => anyhow::Error::from(error).context(format!("{first} and {second}")),
    }
}

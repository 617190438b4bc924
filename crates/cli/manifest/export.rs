//! `ftk manifest export FILE`: writes a manifest in the format of another tool.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Export, ExportError, Format, Manifest};
use ftk_record::{quote, sanitize};
use jiff::Zoned;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::list::{List, cannot_write, named};
use crate::manifest::body::Body;
use crate::manifest::format::ExportFormat;
use crate::manifest::generation;
use crate::manifest::guard::refuse_to_overwrite;
use crate::manifest::input::Input;
use crate::manifest::part::{Part, PartArgs, say_unselected};
use crate::stdout::Stdout;

/// Write a manifest in the format of another tool
///
/// Members that the format does not have are omitted; docs/interop.md has a table. If the format cannot represent an
/// entry, such as a name with a newline in a list of hashdeep, nothing is written: the error names the first such entry
/// and their number. No file of the tree is read.
///
/// For bagit, FILE must be the manifest of the payload, the directory `data` of a bag. The output is its payload
/// manifest. With -o, OUT is the bag itself, the directory that contains `data`: bagit.txt, bag-info.txt and a payload
/// manifest for each algorithm are written there.
///
/// For ascmhl, OUT is the directory that FILE is about. A generation is added to its history, the directory `ascmhl` in
/// it, with hashes of files and directories and a line in the chain file. Digests are compared with those of the
/// history: other ones, and files that FILE lacks, are reported with status 1. Algorithms: md5, sha1, sha512 (as C4),
/// xxh64, xxh3, xxh128.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// The manifest; `-`: standard input
    #[arg(value_name = "FILE")]
    manifest: OsString,

    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    format: ExportFormat,

    /// Write to OUT, which appears only when it is complete
    ///
    /// `-`: standard output.
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Replace a manifest, or the files of a bag
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    part: PartArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest export --format mtree archive.jsonl | mtree -p /archive
  ftk manifest export --format ncdu archive.jsonl | ncdu -f-
                        browse a disk that is not mounted
  ftk manifest export --format bagit payload.jsonl -o /bags/2026
                        make a bag; its files are in /bags/2026/data
  ftk manifest export --format ascmhl A001.jsonl -o /media/A001
                        add a generation to the history of a card";

pub(super) fn run(args: &ExportArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    ensure!(!globals.json, "--json cannot be used: --format decides about the output");
    let name = || quote(args.manifest.as_bytes());
    let mut manifest = Input::open(&args.manifest, globals, console)?.manifest;
    let part = args.part.compile(None, &manifest.header().root, None, console)?;
    if let Some(part) = &part {
        manifest.select(part.selector());
    }
    let (format, budget) = (Format::from(args.format), Budget::new(globals.memory()));
    let failed = manifest.header().failed.paths();
    if !failed.is_empty() {
        let paths = human::count(failed.len() as u64, "path");
        console.warning(format_args!(
            "{} lacks what is at {paths} that could not be read, such as {}",
            name(),
            quote(&failed[0])
        ));
    }
    if let (Format::Bagit, Some(bag)) = (format, named(args.output.as_deref())) {
        let outcome = write_bag(&manifest, bag, args, &budget, console)?;
        say_part(part.as_ref(), &manifest, console);
        return Ok(outcome);
    }
    if format == Format::AscMhl {
        let card = named(args.output.as_deref())
            .context("--format ascmhl needs -o: the directory of the history")?;
        return generation::append(&manifest, card, &budget, console).with_context(name);
    }
    if !args.force {
        refuse_to_overwrite(named(args.output.as_deref()), None, false)?;
    }
    let export = Export::new(&manifest, format, None).with_context(name)?;
    let stdout = Stdout::default();
    let list = List::create(named(args.output.as_deref()), &stdout)?;
    let entries = write(&export, list, named(args.output.as_deref()), &args.manifest, &budget)?;
    console.summary(format_args!("{} exported", human::entries(entries)));
    say_part(part.as_ref(), &manifest, console);
    Ok(Outcome::Success)
}

/// Says what was not exported because of the selection options, and which of these matched nothing.
fn say_part(part: Option<&Part>, manifest: &Manifest, console: &Console) {
    if let Some(part) = part {
        say_unselected(Some(part), manifest.unselected(), None, &[], console);
        part.rules().say(console);
    }
}

/// Writes an export to `list`, which is that of `output`.
fn write(
    export: &Export<'_>,
    mut list: List<'_>,
    output: Option<&Path>,
    manifest: &OsStr,
    budget: &Budget,
) -> anyhow::Result<u64> {
    let is_shown = list.is_shown();
    let mut body = Body::new(&mut list, output).with_context(|| cannot_write(output))?;
    let written = export.write(budget, &mut |line: &[u8]| {
        if !is_shown {
            return body.line(line);
        }
        let end = line.len() - usize::from(line.ends_with(b"\n"));
        body.line(sanitize(&line[..end]).as_bytes())?;
        body.line(&line[end..])
    });
    let written = written.with_context(|| quote(manifest.as_bytes()))?;
    body.finish().with_context(|| cannot_write(output))?;
    list.finish()?;
    Ok(written)
}

/// Refuses a bag that has tag files already. With `force`, regular files that are to be replaced are accepted. `made`:
/// the names of the payload manifests that are to be written.
fn refuse_tag_files(bag: &Path, made: &[String], force: bool) -> anyhow::Result<()> {
    let cannot_list = || format!("cannot list {}", quote(bag.as_os_str().as_bytes()));
    let mut entries =
        fs::read_dir(bag).and_then(Iterator::collect::<io::Result<Vec<_>>>).with_context(cannot_list)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.as_bytes();
        let is_manifest = |start: &[u8]| name.starts_with(start) && name.ends_with(b".txt");
        let is_tag_manifest = is_manifest(b"tagmanifest-");
        let is_payload_manifest = is_manifest(b"manifest-");
        if !(is_tag_manifest || is_payload_manifest || matches!(name, b"bagit.txt" | b"bag-info.txt")) {
            continue;
        }
        let path = entry.path();
        let shown = quote(path.as_os_str().as_bytes());
        ensure!(force, "{shown} exists: --force replaces the files of the bag");
        // A link could lead out of the bag.
        ensure!(entry.file_type()?.is_file(), "{shown} is not a regular file: remove it first");
        let is_made = made.iter().any(|made| made.as_bytes() == name);
        ensure!(
            !is_tag_manifest && (!is_payload_manifest || is_made),
            "{shown} would not belong to the new bag: remove it first"
        );
    }
    Ok(())
}

/// Returns every file that making a bag may write.
pub(crate) fn bag_files(bag: &Path) -> Vec<PathBuf> {
    let manifests = Algorithm::ALL.iter().map(|algorithm| bag.join(payload_manifest(*algorithm)));
    manifests.chain(["bag-info.txt", "bagit.txt"].map(|name| bag.join(name))).collect()
}

/// Returns the name of the manifest of a bag.
pub(crate) fn payload_manifest(algorithm: Algorithm) -> String {
    format!("manifest-{algorithm}.txt")
}

/// The file bagit.txt of a bag.
pub(crate) const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// Returns the file bag-info.txt of a bag with this payload.
pub(crate) fn bag_info(bytes: Option<u128>, files: u64) -> String {
    let mut info = format!("Bag-Software-Agent: ftk {}\nBagging-Date: ", env!("CARGO_PKG_VERSION"));
    info += &Zoned::now().date().to_string();
    if let Some(bytes) = bytes {
        info += &format!("\nPayload-Oxum: {bytes}.{files}");
    }
    info + "\n"
}

/// Writes the tag files of a bag.
fn write_bag(
    manifest: &Manifest,
    bag: &Path,
    args: &ExportArgs,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let shown = |path: &Path| quote(path.as_os_str().as_bytes());
    let payload = bag.join("data");
    ensure!(
        payload.is_dir(),
        "{} is not a directory: a bag keeps its payload there, and ftk moves no files",
        shown(&payload)
    );
    let algorithms = Export::algorithms(manifest, Format::Bagit);
    let made: Vec<_> = algorithms.iter().map(|algorithm| payload_manifest(*algorithm)).collect();
    refuse_tag_files(bag, &made, args.force)?;
    let name = || quote(args.manifest.as_bytes());
    let exports = if algorithms.is_empty() {
        vec![Export::new(manifest, Format::Bagit, None)]
    } else {
        algorithms.iter().map(|algorithm| Export::new(manifest, Format::Bagit, Some(*algorithm))).collect()
    };
    let exports = exports.into_iter().collect::<Result<Vec<_>, ExportError>>().with_context(name)?;
    let Some(first) = exports.first() else { bail!("{}: nothing to export", name()) };
    let (files, bytes) = first.payload();
    let stdout = Stdout::default();
    for (export, algorithm) in exports.iter().zip(&algorithms) {
        let path = bag.join(payload_manifest(*algorithm));
        write(export, List::create(Some(&path), &stdout)?, Some(&path), &args.manifest, budget)?;
    }
    let info = bag_info(bytes, files);
    // The declaration comes last: without it, the directory is not a bag.
    let texts = [("bag-info.txt", info.as_str()), ("bagit.txt", DECLARATION)];
    for (name, text) in texts {
        let path = bag.join(name);
        let mut list = List::create(Some(&path), &stdout)?;
        list.line(|out| out.extend_from_slice(text.as_bytes()));
        list.finish()?;
    }
    let files = human::count(files, "file");
    console.summary(format_args!("{} is a bag of {files}", shown(bag)));
    Ok(Outcome::Success)
}

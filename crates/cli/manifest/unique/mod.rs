//! `ftk manifest unique A B`: lists files of one tree whose content is nowhere in another.

mod trees;

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::Budget;
use ftk_manifest::{ContentSet, Entry, Field, Header, Manifest, unique};
use ftk_record::{quote, sanitize, write_path, write_record};
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::diff::both;
use crate::human;
use crate::list::List;
use crate::manifest::create::join;
use crate::manifest::input::{Input, in_either};
use crate::manifest::part::{Part, PartArgs, say_unselected};
use crate::manifest::unique::trees::{Missing, Side, is_tree};
use crate::run::Run;
use crate::stdout::Stdout;

/// List the files of A whose content is not in B
///
/// Paths in a directory A begin with A, and can be used from here; those of a manifest, and all in JSON, are relative
/// to the root. Only contents are compared, not names or metadata. A and B are manifests, or directories.
/// Of a directory, ftk reads the files whose size occurs on the other side, by the algorithm of the other manifest or
/// by BLAKE3. A directory in which all files are parts of a manifest is read as that manifest. Links are not followed.
/// No file of a manifest is read; two manifests must have an algorithm in common. If something could not be read now,
/// or when the manifest was made, the answer is unknown, with status 2. The answer is about what a manifest records:
/// the summary names its selection options. A manifest A without files is an error.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UniqueArgs {
    /// The manifest or directory whose files are listed; `-`: standard input
    #[arg(value_name = "A")]
    a: OsString,

    /// The manifest or directory that is searched for their content
    #[arg(value_name = "B")]
    b: OsString,

    /// End each path with NUL instead of newline
    #[arg(short = '0', long = "null", conflicts_with = "json", help_heading = "Output")]
    zero: bool,

    #[command(flatten)]
    part: PartArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: no such file; 1: files found; 2: any error

Examples:
  ftk manifest unique old-disk.jsonl archive.jsonl
                        files that only the old disk has
  ftk manifest unique /media/card ~/photos
                        is everything on the card already there?
  ftk manifest unique -0 old-disk.jsonl archive.jsonl |
      rsync -0 --files-from=- /mnt/old /archive
                        copy them to the archive";

pub(super) fn run(args: &UniqueArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if args.a == "-" && args.b == "-" {
        bail!("standard input can be read only once");
    }
    let stdout = Stdout::default();
    let list = List::create(None, &stdout)?;
    let output = Output { list, zero: args.zero, json: globals.json, files: 0, bytes: 0 };
    match [is_tree(&args.a)?, is_tree(&args.b)?] {
        [false, false] => of_manifests(args, output, globals, console),
        are_trees => of_trees(args, are_trees, output, globals, console),
    }
}

/// Compares two manifests.
fn of_manifests(
    args: &UniqueArgs,
    mut output: Output<'_>,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let [mut a, mut b] =
        both([&args.a, &args.b], globals, |path| Ok(Input::open(path, globals, console)?.manifest))?;
    ensure_files(&a, &args.a)?;
    let parts = Parts([select(&args.part, &mut a, console)?, select(&args.part, &mut b, console)?]);
    let algorithms = &a.header().algorithms;
    let has_failed = [&a, &b].map(|manifest| !manifest.header().failed.is_empty());
    let found = unique(&a, &b, &Budget::new(globals.memory()), &mut |entry: &Entry<'_>| {
        output.entry(entry, algorithms, has_failed[1]);
        ControlFlow::Continue(())
    });
    found.map_err(|error| in_either(error, [&args.a, &args.b]))?;
    let outcome = output.finish(has_failed, "", &[("A", a.header()), ("B", b.header())], console)?;
    parts.say([a.unselected(), b.unselected()], console);
    Ok(outcome)
}

/// Reads only the selected entries of a manifest.
fn select(args: &PartArgs, manifest: &mut Manifest, console: &Console) -> anyhow::Result<Option<Part>> {
    let part = args.compile(None, &manifest.header().root, None, console)?;
    if let Some(part) = &part {
        manifest.select(part.selector());
    }
    Ok(part)
}

/// The parts of A and B that are looked at.
struct Parts([Option<Part>; 2]);

impl Parts {
    /// Says how many entries of each side were not selected, and which rules matched nothing in either.
    fn say(&self, unselected: [u64; 2], console: &Console) {
        let [Some(a), Some(b)] = &self.0 else { return };
        say_unselected(Some(a), unselected.iter().sum(), None, &[], console);
        let mut rules = a.rules();
        rules.merge(&b.rules());
        rules.say(console);
    }
}

/// Compares two sides, one of which at least is a tree.
fn of_trees(
    args: &UniqueArgs,
    are_trees: [bool; 2],
    mut output: Output<'_>,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let run = Run::new(globals, console)?;
    let open = |path: &OsStr, is_tree, is_a: bool| match is_tree {
        true => Side::walk(path, &args.part, &run),
        false => {
            let mut manifest = Input::open(path, globals, console)?.manifest;
            if is_a {
                ensure_files(&manifest, path)?;
            }
            let part = select(&args.part, &mut manifest, console)?;
            Ok((Side::Manifest(manifest), part))
        }
    };
    let ((mut a, of_a), (mut b, of_b)) =
        (open(&args.a, are_trees[0], true)?, open(&args.b, are_trees[1], false)?);
    let parts = Parts([of_a, of_b]);
    if let (Some(a), Some(b)) = (a.tree(), b.tree()) {
        a.refuse_overlap(b)?;
    }
    for (side, path) in [(&a, &args.a), (&b, &args.b)] {
        if side.tree().is_none() && side.algorithm().is_none() {
            bail!("{} has no digests that identify contents", quote(path.as_encoded_bytes()));
        }
    }
    let algorithm = a.algorithm().or(b.algorithm()).unwrap_or(Algorithm::Blake3);
    let [of_a, of_b] = [a.sizes()?, b.sizes()?];
    let mut read = Vec::new();
    for (name, side, sizes) in [("A", &mut a, &of_b), ("B", &mut b, &of_a)] {
        if let Side::Tree(tree) = side {
            tree.read(&run, sizes.as_deref(), algorithm)?;
            read.push(format!("{} of {name} read", human::count(tree.files_read(), "file")));
        }
    }
    let mut set = ContentSet::new(algorithm, &run.budget);
    b.add_to(&mut set, &a.identities())?;
    set.seal();
    let has_failed = [&a, &b].map(Side::has_failed);
    a.missing_in(&set, of_b.as_deref(), &mut |missing| match (missing, &a) {
        (Missing::Recorded(entry), Side::Manifest(manifest)) => {
            output.entry(entry, &manifest.header().algorithms, has_failed[1]);
        }
        (Missing::Recorded(_), Side::Tree(_)) => unreachable!("an entry is from a manifest"),
        (Missing::Found(path, size, digest), _) => {
            output.file(
                args.a.as_encoded_bytes(),
                path,
                size,
                digest.map(|digest| (algorithm, digest)),
                has_failed[1],
            );
        }
    })?;
    let records: Vec<_> =
        [("A", &a), ("B", &b)].into_iter().filter_map(|(name, side)| Some((name, side.header()?))).collect();
    let outcome = output.finish(has_failed, &format!("; {}", read.join(", ")), &records, console)?;
    parts.say([a.unselected(), b.unselected()], console);
    Ok(outcome)
}

/// Refuses a manifest without files, since the answer would be that the other side has all of them.
fn ensure_files(a: &Manifest, path: &OsStr) -> anyhow::Result<()> {
    let name = || quote(path.as_encoded_bytes());
    let mut entries = a.entries().with_context(name)?;
    while let Some(entry) = entries.next().with_context(name)? {
        if entry.stat.is_regular() {
            return Ok(());
        }
    }
    let options =
        if a.header().options.is_empty() { "" } else { " (it was recorded with selection options)" };
    bail!("{} records no files, so nothing was compared{options}", name())
}

/// The list of files, and their totals.
struct Output<'o> {
    list: List<'o>,
    zero: bool,
    json: bool,
    files: u64,
    bytes: u64,
}

impl Output<'_> {
    /// Writes a recorded file.
    fn entry(&mut self, entry: &Entry<'_>, algorithms: &[Algorithm], is_unknown: bool) {
        self.write(entry.path, entry.size().unwrap_or_default(), |out| {
            push_json(out, entry, algorithms, is_unknown);
        });
    }

    /// Writes a file of the tree `root`. As text, its path can be used from here.
    fn file(
        &mut self,
        root: &[u8],
        path: &[u8],
        size: u64,
        digest: Option<(Algorithm, &[u8])>,
        is_unknown: bool,
    ) {
        self.write(&join(root, path), size, |out| {
            write_record(out, |record| {
                record.path("path", path).member("size_bytes", size);
                if let Some((algorithm, digest)) = digest {
                    let digest = Digest::from_bytes(digest).to_string();
                    record.member("digests", serde_json::json!({ algorithm.name(): digest }));
                }
                if is_unknown {
                    record.member("verdict", "unknown");
                }
            });
        });
    }

    fn write(&mut self, path: &[u8], size: u64, push_json: impl FnOnce(&mut Vec<u8>)) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size); // a manifest may contain any size
        let is_shown = self.list.is_shown();
        self.list.line(|out| match (self.json, is_shown) {
            (true, _) => push_json(out),
            (_, true) if !self.zero => {
                out.extend_from_slice(sanitize(path).as_bytes());
                out.push(b'\n');
            }
            _ => {
                out.extend_from_slice(path);
                out.push(if self.zero { 0 } else { b'\n' });
            }
        });
    }

    /// Ends the list, and prints the summary. `has_failed`: whether A and B lack something that could not be read.
    /// `records`: those of the two that are manifests.
    fn finish(
        self,
        has_failed: [bool; 2],
        read: &str,
        records: &[(&str, &Header)],
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        self.list.finish()?;
        let outcome = match has_failed {
            [false, _] if self.files == 0 => Outcome::Success,
            [false, false] => Outcome::Negative,
            _ => Outcome::Error,
        };
        let (found, bytes) = (human::count(self.files, "file"), DecimalBytes(self.bytes));
        let has_options = records.iter().any(|(name, header)| *name == "A" && !header.options.is_empty());
        let recorded = if has_options { "recorded " } else { "" };
        let said = match has_failed {
            [false, _] if self.files == 0 => format!("all {recorded}content of A is in B"),
            [true, false] => format!("{found}, {bytes}, only in A, which is not complete"),
            [_, true] => format!("{found}, {bytes}, not in B as far as it is known"),
            _ => format!("{found}, {bytes}, only in A"),
        };
        let status = match outcome {
            Outcome::Success => String::new(),
            outcome => format!("   (status {})", outcome.status()),
        };
        // The answer is about the selected entries only.
        say_unselected(None, 0, None, records, console);
        console.summary(format_args!("{said}{read}{status}"));
        Ok(outcome)
    }
}

/// Appends `{"path":"a","size_bytes":3,"digests":{"sha256":"..."}}`, and `"verdict":"unknown"` for a content that B
/// may have.
fn push_json(out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm], is_unknown: bool) {
    out.push(b'{');
    write_path(out, "path", entry.path);
    out.push(b',');
    Field::Size.write_member(out, "size_bytes", entry, algorithms);
    out.push(b',');
    Field::Digests.write_member(out, "digests", entry, algorithms);
    if is_unknown {
        out.extend_from_slice(b",\"verdict\":\"unknown\"");
    }
    out.extend_from_slice(b"}\n");
}

//! `ftk manifest protect ROOT FILE -o PARITY`: writes a parity file, from which damaged files can be computed.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_inventory::Reservation;
use ftk_manifest::Manifest;
use ftk_parity::{
    Algorithms, Batch, Content, LeftOut, Plan, Protected, Redundancy, any_of, either_of, protect,
};
use ftk_record::{Output, ZstdWriter, is_zstd, quote, write_record};
use ftk_select::{Check, parse_bytes};
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome, cause};
use crate::globals::Globals;
use crate::human;
use crate::manifest::create::join;
use crate::manifest::guard::refuse_swapped;
use crate::manifest::input::Input;
use crate::manifest::parity::{OTHER_SIZE, TreeFiles};
use crate::manifest::space::Demand;
use crate::progress::{FileCounters, WorkCounters};
use crate::run::Run;
use crate::stdout::Stdout;

/// Write parity, from which damaged files can be computed
///
/// A parity file makes `ftk manifest repair --from PARITY` possible, without a copy of the tree: from the rest of the
/// tree and the parity file, ftk computes damaged, lost and missing contents, as long as less than the redundancy is
/// lost. It also has the manifest, twice.
///
/// Every file is read. One that does not have its recorded digests is reported and skipped, so that damage is never
/// protected: repair it, or update the manifest, and write the parity file again. Contents are protected, not names: a
/// file may be renamed. What is edited or removed counts as lost.
///
/// PARITY appears only when it is complete, and no file is ever replaced. Only you may read it, because it reveals
/// contents. Keep it on another disk than ROOT. For --limit-rate, what is written counts, too. docs/parity.md describes
/// the format.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ProtectArgs {
    /// The directory to protect; a symbolic link is followed
    #[arg(value_name = "ROOT")]
    root: OsString,

    /// The manifest of ROOT
    #[arg(value_name = "FILE")]
    manifest: OsString,

    /// The new parity file
    #[arg(short, long, value_name = "PARITY", required_unless_present = "dry_run", help_heading = "Output")]
    output: Option<PathBuf>,

    /// How much may be lost, as a share of the contents: more than 0% and at most 100%
    #[arg(long, value_name = "P%", default_value = "5%", value_parser = redundancy, help_heading = "Output")]
    redundancy: Redundancy,

    /// Raise the redundancy for the loss of a file of SIZE
    ///
    /// Needs more than twice as much memory (--memory) as the file is long.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Output")]
    lost_file: Option<u64>,

    /// Only print what the parity file would be
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Exit status: 0: all files are protected; 1: some are skipped; 2: any error

Examples:
  ftk manifest protect /archive archive.jsonl -o /mnt/archive.parity
  ftk manifest protect /archive archive.jsonl --redundancy 10% --dry-run
                        print the plan
  ftk manifest verify --parity /mnt/archive.parity
                        check the parity file, without the tree
  ftk manifest repair /archive archive.jsonl --from /mnt/archive.parity
                        compute damaged files (plan; --yes)";

/// Parses a share such as `5%` or `0.5%`.
fn redundancy(text: &str) -> Result<Redundancy, String> {
    let percent: Option<f64> = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let millionths = percent.filter(|it| (0.0..=100.0).contains(it)).map(|it| (it * 10_000.0).ceil() as u32);
    millionths.and_then(Redundancy::new).ok_or_else(|| "expected more than 0% and at most 100%".into())
}

pub(super) fn run(args: &ProtectArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    refuse_swapped(&args.root, &args.manifest)?;
    let name = || quote(args.manifest.as_bytes());
    let run = Run::new(globals, console)?;
    let Input { manifest, own } = Input::open(&args.manifest, globals, console)?;
    console.stats.sealed(&args.manifest, &manifest);
    let [own] = &own[..] else { bail!("{} must be one regular file, which the parity file keeps", name()) };
    let record = compressed(Path::new(&args.manifest), *own).with_context(name)?;
    let algorithms = Algorithms(manifest.header().algorithms.clone());
    ensure!(
        algorithms.0.iter().any(|algorithm| algorithm.identifies_content()),
        "{} has no digests that identify contents",
        name()
    );
    let (contents, mut outcome) = contents(&run, &manifest, console).with_context(name)?;
    let mut sources = TreeFiles::new([&*args.root], &manifest, &contents, &run.budget)?;
    let memory = run.budget.left();
    let lost_file = args.lost_file.unwrap_or(0);
    let plan = Plan::new(algorithms, contents.clone(), &mut sources, args.redundancy, lost_file, memory)
        .with_context(name)?;
    let report = Report::new(&plan, &contents, record.len() as u64);
    let stdout = Stdout::default();
    if args.dry_run {
        report.print(&stdout, globals, None);
        stdout.finish()?;
    }
    let mut demand = Demand::default();
    if let Some(path) = &args.output {
        demand.add(path.parent().unwrap_or(path), report.parity_bytes);
    }
    demand.check("nothing was written")?;
    let Some(path) = args.output.as_deref().filter(|_| !args.dry_run) else { return Ok(outcome) };
    let cannot = || format!("cannot write {}", quote(path.as_os_str().as_bytes()));
    let created = Output::create_new(path);
    if let Err(error) = &created
        && error.kind() == ErrorKind::AlreadyExists
    {
        let path = quote(path.as_os_str().as_bytes());
        bail!("{path} exists, and a parity file is never replaced: write another one, then remove it");
    }
    let output = created.with_context(cannot)?;
    output.file().set_permissions(Permissions::from_mode(0o600)).with_context(cannot)?;
    let counters = FileCounters::default();
    let done = WorkCounters::Files(&counters);
    let files = contents.len() as u64;
    let protected = console.progress.counted("protect", files, false, done, || {
        protect(plan, &mut sources, output.file(), id(), &record, &mut |bytes| counters.add(bytes))
    });
    let protected = protected.with_context(cannot)?;
    output.commit().with_context(cannot)?;
    let (root, json) = (args.root.as_bytes(), globals.json);
    outcome = outcome.max(say_skipped(&protected.skipped, &sources, root, json, &stdout, console));
    report.print(&stdout, globals, Some(&protected));
    stdout.finish()?;
    Ok(outcome)
}

/// Names the files whose contents are not protected.
pub(super) fn say_skipped(
    skipped: &[(usize, LeftOut)],
    sources: &TreeFiles<'_>,
    root: &[u8],
    json: bool,
    stdout: &Stdout,
    console: &Console,
) -> Outcome {
    let mut outcome = Outcome::Success;
    for (nth, why) in skipped {
        let path = sources.path(*nth);
        let reason = match why {
            LeftOut::Differs => "its content is not the recorded one".to_owned(),
            LeftOut::Unreadable(error) => cause(error),
        };
        let mut line = Vec::new();
        if json {
            write_record(&mut line, |record| {
                record.member("kind", "skipped").path("path", path).member("reason", &reason);
            });
        } else {
            line.extend(format!("skipped  {}  {reason}\n", human::shown(path)).bytes());
        }
        stdout.write(&line);
        outcome = outcome.max(match why {
            LeftOut::Unreadable(error) if ![ErrorKind::NotFound, OTHER_SIZE].contains(&error.kind()) => {
                console.path_error("read", &join(root, path), reason);
                Outcome::Error
            }
            _ => Outcome::Negative,
        });
    }
    outcome
}

/// Returns the distinct contents that a manifest records, in its order. Files without digests cannot be protected.
pub(super) fn contents(
    run: &Run<'_>,
    manifest: &Manifest,
    console: &Console,
) -> anyhow::Result<(Vec<Content>, Outcome)> {
    let (mut contents, mut known) = (Vec::new(), HashSet::new());
    let mut reserved = Reservation::new(&run.budget);
    let mut unknown = 0;
    let checks = manifest.header().checks()?;
    let mut changing = 0;
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let Some(size) = entry.size().filter(|_| entry.stat.is_regular()) else { continue };
        if !matches!(checks.of(entry.path, entry.stat.file_type), Check::All | Check::Content) {
            changing += 1;
        } else if size > 0 && entry.digests.is_empty() {
            unknown += 1;
        } else if size > 0 && !known.contains(entry.digests) {
            reserved.consume((2 * entry.digests.len() + 3 * size_of::<Content>()) as u64)?;
            known.insert(entry.digests.to_vec());
            contents.push(Content { size, digests: entry.digests.to_vec() });
        }
    }
    if changing > 0 {
        let files = human::count(changing, "file");
        console.summary(format_args!("{files} not protected: rules let the content change"));
    }
    let failed = manifest.header().failed.paths().len() as u64;
    if unknown + failed == 0 {
        return Ok((contents, Outcome::Success));
    }
    let paths = human::count(unknown + failed, "path");
    console.warning(format_args!("{paths} could not be read for the manifest, and cannot be protected"));
    Ok((contents, Outcome::Negative))
}

/// Returns a manifest, compressed with Zstandard. `own`: its device and inode number.
pub(super) fn compressed(path: &Path, own: (u64, u64)) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    if (metadata.dev(), metadata.ino()) != own {
        return Err(io::Error::other("it was replaced meanwhile: repeat the command"));
    }
    packed(&file)
}

/// Returns the rest of a manifest, compressed with Zstandard.
pub(super) fn packed(mut file: &fs::File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if is_zstd(&bytes) {
        return Ok(bytes);
    }
    let mut writer = ZstdWriter::new(Vec::new())?;
    writer.write_all(&bytes)?;
    writer.finish()
}

/// Returns random bytes.
fn id() -> [u8; 16] {
    let mut id = [0; 16];
    for half in id.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().hash_one(()).to_le_bytes());
    }
    id
}

/// Describes a chance.
fn chance(chance: f64) -> String {
    match chance {
        ..1e-15 => "less than 1e-15".into(),
        ..0.001 => format!("{chance:.0e}"),
        chance => format!("{:.1}%", 100.0 * chance),
    }
}

/// What a parity file has, and what it survives.
struct Report {
    contents: u64,
    content_bytes: u64,
    block: u64,
    blocks: u64,
    batches: u64,
    groups: u64,
    recovery: u64,
    parity_bytes: u64,
    /// The longest run of neighbouring bytes that may be lost in every batch.
    burst: u64,
    /// The number of blocks that may be lost anywhere.
    scattered: u64,
    /// The chance that data is lost if one sector in [`SECTORS`] is bad.
    loss: f64,
}

/// Of so many sectors of 4 KiB one is bad, when the chance of a loss is printed.
const SECTORS: u64 = 100_000;

/// Returns the chance that data is lost if one sector in [`SECTORS`] is bad.
fn loss(plan: &Plan) -> f64 {
    let sectors = plan.block_len().div_ceil(4096);
    let block = any_of(1.0 / SECTORS as f64, sectors);
    plan.batches().iter().fold(0.0, |any, batch| either_of(any, batch.loss(block)))
}

impl Report {
    fn new(plan: &Plan, contents: &[Content], manifest: u64) -> Self {
        let batches = plan.batches();
        let least = |of: fn(&Batch) -> u64| batches.iter().map(of).min().unwrap_or(0);
        Self {
            contents: contents.len() as u64,
            content_bytes: contents.iter().map(|content| content.size).sum(),
            block: plan.block_len(),
            blocks: plan.blocks(),
            batches: batches.len() as u64,
            groups: batches.iter().map(|batch| batch.groups).sum(),
            recovery: batches.iter().map(Batch::recovery_blocks).sum(),
            parity_bytes: plan.file_len(manifest),
            burst: least(Batch::burst) * plan.block_len(),
            scattered: least(|batch| batch.recovery),
            loss: loss(plan),
        }
    }

    /// Prints it. `protected`: what was written, if this is no plan.
    fn print(&self, stdout: &Stdout, globals: &Globals, protected: Option<&Protected>) {
        let skipped = protected.map_or(0, |it| it.skipped.len() as u64);
        let mut line = Vec::new();
        if globals.json {
            write_record(&mut line, |record| {
                record.member("kind", if protected.is_some() { "summary" } else { "plan" });
                record.member("contents", self.contents - skipped);
                record.member("skipped", skipped);
                record.member("content_bytes", self.content_bytes);
                record.member("block_bytes", self.block);
                record.member("blocks", self.blocks);
                record.member("batches", self.batches);
                record.member("groups", self.groups);
                record.member("recovery_blocks", self.recovery);
                record.member("parity_bytes", self.parity_bytes);
                record.member("burst_bytes", self.burst);
                record.member("scattered_blocks", self.scattered);
                record
                    .member("bad_sectors_per_million", 1_000_000 / SECTORS)
                    .member("loss_chance", self.loss);
            });
        } else {
            let word = if protected.is_some() { "protected" } else { "would protect" };
            let share = 100.0 * self.parity_bytes as f64 / self.content_bytes.max(1) as f64;
            // A few blocks are always written, also for a single byte.
            let share =
                if share > 100.0 { "more than the contents".into() } else { format!("{share:.1}% of them") };
            line.extend(
                format!(
                    "{word} {}, {}, in {} of {}\n\
                     parity: {}, {share}: {} in {}\n\
                     survives the loss of any {}, or of {} in one place\n\
                     if one sector in 100,000 is bad, data is lost with a chance of {}\n",
                    human::count(self.contents - skipped, "content"),
                    DecimalBytes(self.content_bytes),
                    human::count(self.blocks, "block"),
                    DecimalBytes(self.block),
                    DecimalBytes(self.parity_bytes),
                    human::count(self.recovery, "recovery block"),
                    human::count(self.groups, "group"),
                    human::count(self.scattered, "block"),
                    DecimalBytes(self.burst),
                    chance(self.loss),
                )
                .bytes(),
            );
        }
        stdout.write(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parsed() {
        for (text, millionths) in
            [("5%", 50_000), ("5", 50_000), ("0.5%", 5_000), ("100%", 1_000_000), ("0.00001", 1)]
        {
            assert_eq!(redundancy(text).ok(), Redundancy::new(millionths), "{text}");
        }
        for text in ["0", "0%", "101%", "-1", "x", "", "NaN"] {
            assert!(redundancy(text).is_err(), "{text}");
        }
    }
}

//! `ftk query duplicates -o`: a report for `ftk dup apply`, which proves each group again by comparing bytes.

use std::collections::HashSet;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use datafusion::arrow::array::RecordBatch;
use datafusion::physical_plan::execute_stream;
use ftk_dedup::report::{Group, Header, Writer};
use ftk_dedup::{Member, recorded_path};
use ftk_file::Version;
use ftk_hash::{Algorithm, Digest};
use ftk_record::{Output, quote, read_path};
use futures::StreamExt as _;

use crate::answer::{Cell, Parameters, prepare, watched};
use crate::args::AnswerArgs;
use crate::console::{Console, Outcome};
use crate::engine;
use crate::questions::Question;
use crate::sets::Sets;

/// The algorithms that a report can have.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Xxh128, Algorithm::Blake3, Algorithm::Sha256];

/// Writes the groups of the question as a report.
///
/// # Errors
/// If the sets do not have what a report needs, or it cannot be written.
pub(crate) fn run(
    question: &Question,
    sets: &Sets,
    output: &Path,
    args: &AnswerArgs,
    console: &Console,
) -> Result<Outcome> {
    let session = args.limits.limits().session()?;
    let mut report = Report::create(sets, output)?;
    let select = format!(
        "SELECT d.digest, d.size_bytes, e.source, e.path, e.path_b64, e.dev, e.ino, e.nlink, e.allocated_bytes,
            e.mtime_ns, e.ctime_ns
        FROM ({}) d
        JOIN entries e ON e.path = d.path AND e.path_b64 = d.path_b64 AND e.source = d.source
        ORDER BY d.waste_bytes DESC, d.digest",
        question.sql
    );
    engine::runtime()?.block_on(async {
        let (rows, frame) = prepare(&select, sets, &Parameters::default(), &session, console).await?;
        let plan = frame.create_physical_plan().await?;
        let mut batches = watched(plan.clone(), execute_stream(plan, session.task_ctx())?, rows, console);
        while let Some(batch) = batches.next().await {
            report.batch(&batch?)?;
        }
        report.finish(console)
    })
}

/// A report that is being written.
struct Report {
    output: Output,
    writer: Writer,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// Names of the trees, and their roots.
    roots: Vec<(String, Vec<u8>)>,
    group: Option<Group>,
    groups: u64,
}

impl Report {
    /// Begins a report: all sets must have the same algorithm, one whose digests tell contents apart.
    fn create(sets: &Sets, path: &Path) -> Result<Self> {
        let mut algorithms = sets.iter().filter_map(|set| set.seal.algorithm);
        let algorithm = algorithms.next().context("the sets have no digests")?;
        ensure!(algorithms.all(|it| it == algorithm), "the sets have digests by different algorithms");
        ensure!(
            ALGORITHMS.contains(&algorithm),
            "a report has digests by xxh128, blake3 or sha256, not by {algorithm}"
        );
        let sources = sets.iter().flat_map(|set| &set.seal.sources);
        let roots = sources.map(|source| Ok((source.source.clone(), source.root()?)));
        let roots = roots.collect::<Result<Vec<_>>>()?;
        let words = std::env::args_os().skip(1).map(|word| word.into_encoded_bytes());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let header = Header {
            program: env!("CARGO_PKG_VERSION"),
            algorithm,
            is_verified: false,
            min_size: 1,
            max_size: None,
            start_ns: now.as_nanos(),
            directory: None,
            roots: roots.iter().map(|(_, root)| root.clone()).collect(),
            manifests: Vec::new(),
            unused_rules: Vec::new(),
            arguments: std::iter::once(b"query".to_vec()).chain(words).collect(),
        };
        let mut lines = Vec::new();
        let writer = Writer::new(&header, &mut lines)?;
        let to = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        let output = Output::create(to).with_context(|| format!("cannot write {}", path.display()))?;
        for file in sets.paths() {
            let metadata = file.metadata().with_context(|| format!("cannot stat {}", file.display()))?;
            let is_output = output.identities().contains(&(metadata.dev(), metadata.ino()));
            ensure!(!is_output, "{} is both input and output", file.display());
        }
        Ok(Self { output, writer, lines, roots, group: None, groups: 0 })
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            let column = |nth: usize| Cell::of(&**batch.column(nth), row);
            let text = |nth: usize| -> Result<String> { Ok(column(nth)?.text().into_owned()) };
            let (path, path_b64) = (text(3)?, text(4)?);
            let is_text = path_b64.is_empty();
            let path = read_path(is_text.then_some(&path), (!is_text).then_some(&path_b64))?.into_owned();
            let (digest, source) = (text(0)?, text(2)?);
            let number = |nth: usize| match column(nth)? {
                Cell::Int(number) => Ok(number),
                _ => bail!(
                    "{} of {source:?} has no {}: a report needs manifests that ftk made",
                    quote(&path),
                    batch.schema().field(nth).name()
                ),
            };
            let root = self.roots.iter().position(|(name, _)| *name == source);
            let root = root.with_context(|| format!("no set holds {source:?}"))?;
            let size = number(1)? as u64;
            let version = Version {
                dev: number(5)? as u64,
                ino: number(6)? as u64,
                size,
                mtime_ns: number(9)?,
                ctime_ns: number(10)?,
            };
            let member = Member {
                nlink: number(7)? as u64,
                blocks: number(8)? as u64 / 512,
                ..Member::new(root, recorded_path(&self.roots[root].1, &path), version)
            };
            self.member(&digest, size, member)?;
        }
        Ok(())
    }

    fn member(&mut self, digest: &str, size: u64, member: Member) -> Result<()> {
        let digest = Digest::from_hex(digest.as_bytes()).context("a digest is not hexadecimal")?;
        match &mut self.group {
            Some(group) if group.digest == digest => group.members.push(member),
            _ => {
                self.end_group()?;
                self.group = Some(Group { size, digest, members: vec![member] });
            }
        }
        Ok(())
    }

    /// Writes the group. A path that two sets hold is listed once.
    fn end_group(&mut self) -> Result<()> {
        let Some(mut group) = self.group.take() else { return Ok(()) };
        let mut seen = HashSet::new();
        group.members.retain(|member| seen.insert(member.path.clone()));
        group.members.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if group.members.len() > 1 {
            self.groups += 1;
            self.writer.group(&group, &mut self.lines);
            self.output.write_all(&self.lines).context("cannot write the report")?;
            self.lines.clear();
        }
        Ok(())
    }

    fn finish(mut self, console: &Console) -> Result<Outcome> {
        self.end_group()?;
        self.writer.finish(&mut self.lines);
        self.output.write_all(&self.lines).context("cannot write the report")?;
        self.output.commit().context("cannot write the report")?;
        console.summary(format_args!("groups of duplicates: {}", indicatif::HumanCount(self.groups)));
        Ok(Outcome::Success)
    }
}

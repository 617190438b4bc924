//! The file of a plan: JSON lines with a footer that seals them. `docs/manifest-format.md` describes them.

use std::io::BufRead;

use ftk_record::{Object, Seal, SealedReader, read_path, write_record};
use serde::Deserialize;

use crate::header::read_options;
use crate::root_identity::RootLine;
use crate::shard::member::cut;
use crate::shard::{Balance, PathRange, Plan, PlanError, PlannedShard, Root, Shard};
use crate::text::{Text, brief, plain};
use crate::{Mount, first_line};

/// The value of the member `ftk` that marks a plan.
const KIND: &str = "plan";
/// The version that is written and read.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct PlanLine<'l> {
    #[serde(borrow)]
    root: Option<Text<'l>>,
    #[serde(borrow)]
    root_b64: Option<Text<'l>>,
    #[serde(borrow)]
    root_identity: Option<Object<RootLine<'l>>>,
    #[serde(borrow)]
    mounts: Option<Vec<Object<RootLine<'l>>>>,
    #[serde(borrow)]
    options: Vec<Object<crate::header::OptionLine<'l>>>,
    shards: u32,
    #[serde(borrow)]
    by: Text<'l>,
}

#[derive(Deserialize)]
struct PlannedShardLine<'l> {
    shard: u32,
    #[serde(borrow)]
    from: Option<Text<'l>>,
    #[serde(borrow)]
    from_b64: Option<Text<'l>>,
    #[serde(borrow)]
    to: Option<Text<'l>>,
    #[serde(borrow)]
    to_b64: Option<Text<'l>>,
    entries: u64,
    bytes: u64,
}

impl Plan {
    /// Returns the bytes of the plan's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut out, seal) = self.lines();
        seal.footer(&mut out);
        out
    }

    /// Returns the digest that identifies the plan: the SHA-256 in its footer, in lower-case hexadecimal digits.
    pub fn digest(&self) -> String {
        self.lines().1.digest()
    }

    /// Returns the lines before the footer, and their seal.
    fn lines(&self) -> (Vec<u8>, Seal) {
        let (mut out, mut seal) = (Vec::new(), Seal::new());
        write_record(&mut out, |record| {
            record.member("ftk", KIND).member("version", VERSION).path("root", &self.root.path);
            if let Some(identity) = &self.root.identity {
                record.member("root_identity", identity);
            }
            if !self.mounts.is_empty() {
                record.member("mounts", &self.mounts);
            }
            record
                .paths("options", "option", &self.options)
                .member("shards", self.shards.len())
                .member("by", self.by.name());
        });
        seal.line(&out);
        for (nth, shard) in self.shards.iter().enumerate() {
            let start = out.len();
            write_record(&mut out, |record| {
                record.member("shard", nth + 1);
                for (name, cut) in [("from", shard.range.from()), ("to", shard.range.to())] {
                    if let Some(cut) = cut {
                        record.path(name, cut);
                    }
                }
                record.member("entries", shard.entries).member("bytes", shard.bytes);
            });
            seal.line(&out[start..]);
        }
        (out, seal)
    }

    /// Reads a plan, and checks that its ranges are a partition of all paths.
    ///
    /// # Errors
    /// If this fails, or the input is not a complete plan.
    pub fn read(input: impl BufRead) -> Result<Self, PlanError> {
        let mut lines = SealedReader::new(input);
        let not_plan = |what: String| PlanError::NotPlan(brief(what));
        let first = match lines.next_line() {
            Ok(Some(line)) => header(line)?,
            Ok(None) => return Err(not_plan("it has only a footer".into())),
            Err(error) => return Err(error.into()),
        };
        let (mut plan, count) = first;
        while let Some(line) = lines.next_line()? {
            let number = plan.shards.len() as u64 + 2;
            let wrong = |what: String| PlanError::Line { number, what: brief(what) };
            if plan.shards.len() as u32 == count {
                return Err(wrong(format!("the plan has more than {count} shards")));
            }
            let shard = shard(line, &plan.shards, count).map_err(wrong)?;
            plan.shards.push(shard);
        }
        if plan.shards.len() as u32 != count {
            return Err(not_plan(format!("it has {} of {count} shards", plan.shards.len())));
        }
        Ok(plan)
    }
}

/// Reads the first line. Returns the plan without shards, and their number.
fn header(line: &[u8]) -> Result<(Plan, u32), PlanError> {
    let not_plan = |what: String| PlanError::NotPlan(brief(what));
    let version = first_line::version(line, KIND).map_err(not_plan)?;
    if version != VERSION {
        return Err(PlanError::Version(version));
    }
    let line: Result<Object<PlanLine<'_>>, _> = serde_json::from_slice(line);
    let Object(line) = line.map_err(|error| not_plan(plain(&error)))?;
    let root = read_path(line.root.as_deref(), line.root_b64.as_deref());
    let path = root.map_err(|error| not_plan(error.to_string()))?.into_owned();
    let identity = line.root_identity.as_ref().map(RootLine::read).transpose().map_err(not_plan)?;
    let mounts = Mount::read(&line.mounts).map_err(not_plan)?;
    let options = read_options(&line.options).map_err(|error| not_plan(error.to_string()))?;
    let kinds = Balance::ALL.into_iter();
    let by = kinds.clone().find(|(_, name)| *name == &*line.by);
    let (by, _) = by.ok_or_else(|| not_plan(format!("it is balanced by {:?}", &*line.by)))?;
    if !(1..=Shard::MOST).contains(&line.shards) {
        return Err(not_plan(format!("it has {} shards", line.shards)));
    }
    let root = Root { path, identity };
    Ok((Plan { root, mounts, options, by, shards: Vec::new() }, line.shards))
}

/// Reads the line of the shard after those in `before`.
fn shard(line: &[u8], before: &[PlannedShard], count: u32) -> Result<PlannedShard, String> {
    let Object(line): Object<PlannedShardLine<'_>> =
        serde_json::from_slice(line).map_err(|error| plain(&error))?;
    let number = before.len() as u32 + 1;
    if line.shard != number {
        return Err(format!("shard {} where shard {number} is expected", line.shard));
    }
    let from = cut(&line.from, &line.from_b64)?;
    let to = cut(&line.to, &line.to_b64)?;
    let expected = before.last().and_then(|last| last.range.to());
    if from.as_deref() != expected {
        return Err("the range does not start where the range before it ends".into());
    }
    if to.is_none() != (number == count) {
        return Err("only the range of the last shard has no end".into());
    }
    if from.as_ref().zip(to.as_ref()).is_some_and(|(from, to)| from > to) {
        return Err("the range ends before it starts".into());
    }
    let range = PathRange::new(from.as_deref(), to.as_deref());
    Ok(PlannedShard { range, entries: line.entries, bytes: line.bytes })
}

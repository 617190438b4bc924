//! `ftk hash --lines`: prints the digest of every line of a file, in input order.

mod blocks;
mod turns;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, bail};
use ftk_hash::{Algorithm, Digest, Engine, Platform};
use ftk_process::hash_stream;
use ftk_record::quote;
use ftk_sched::{Stop, Team, physical_cores};
use indicatif::DecimalBytes;

use crate::algorithm::{platform, wanted};
use crate::asked;
use crate::calibrate;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::lines::blocks::{Block, Blocks};
use crate::hash::lines::turns::Turns;
use crate::human;
use crate::input;
use crate::list::{List, named};
use crate::stdout::Stdout;

/// Blocks that one worker processes before the others start. They are a few hundred microseconds of work.
const ALONE: u64 = 2;

/// Lines hashed at a time: few enough that they and their digests stay in the first-level cache.
const BATCH: usize = 256;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let [algorithm] = wanted(&args.algorithms())[..] else { bail!("--lines accepts only one algorithm") };
    let path = match &args.paths[..] {
        [] => OsStr::new("-"),
        [path] => path,
        _ => bail!("--lines accepts only one file"),
    };
    asked::doing(&"hashing lines");
    let start = Instant::now();
    let platform = platform(&calibrate::in_use(|_| ()).0)?;
    let stdout = Stdout::default();
    let list = List::create(named(args.output.as_deref()), &stdout)?;
    let file;
    let source = if path == "-" {
        input::stdin().with_context(|| cannot("read", path))?
    } else {
        file = input::open_file(path).with_context(|| cannot("open", path))?;
        file.as_fd()
    };

    let end = if args.zero { b'\0' } else { b'\n' };
    let crew = Crew {
        format: Format { algorithm, end, json: globals.json },
        platform,
        source: Mutex::new(Source { blocks: Blocks::new(source, end), turn: 0, failure: None }),
        turns: Turns::new(list),
    };
    let mut done = crew.work(ALONE);
    let workers = globals.workers().unwrap_or_else(physical_cores);
    if done.blocks == ALONE {
        for part in Team::new(workers).run(&Stop::new(), |_| crew.work(u64::MAX)) {
            done.blocks += part.blocks;
            done.lines += part.lines;
        }
    }
    console.verbose(|| {
        format!(
            "plan    {}, {algorithm} {}; {}",
            human::count(if done.blocks > ALONE { workers as u64 } else { 1 }, "worker"),
            algorithm.kernel_name(platform),
            human::count(done.blocks, "block"),
        )
    });

    let Crew { source, turns, .. } = crew;
    // A digest is identified by its position alone, so incomplete output is not committed.
    let Source { blocks, failure, .. } = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    console.stats.files("lines", start, 1, u64::from(failure.is_some()), blocks.bytes());
    if let Some(error) = failure {
        return Err(error).with_context(|| cannot("read", path));
    }
    turns.into_list().finish()?;
    if path != "-" {
        console.summary(format_args!(
            "{}, {} in {}   {algorithm}",
            human::count(done.lines, "line"),
            DecimalBytes(blocks.bytes()),
            human::time(start.elapsed()),
        ));
    }
    Ok(Outcome::Success)
}

fn cannot(verb: &str, path: &OsStr) -> String {
    format!("cannot {verb} {}", quote(path.as_encoded_bytes()))
}

/// State shared by all workers.
struct Crew<'f, 'o> {
    format: Format,
    platform: Platform,
    source: Mutex<Source<'f>>,
    turns: Turns<'o>,
}

/// The input. One worker at a time reads a block.
struct Source<'f> {
    blocks: Blocks<'f>,
    /// The number of the next block.
    turn: u64,
    /// The error that ended the input.
    failure: Option<io::Error>,
}

/// The work that one worker has done.
#[derive(Default)]
struct Done {
    blocks: u64,
    lines: u64,
}

impl Crew<'_, '_> {
    /// Reads up to `most` blocks, hashes their lines, and writes the digests in the order of the input.
    fn work(&self, most: u64) -> Done {
        let _guard = self.turns.guard();
        let engine = self.format.algorithm.engine::<&[u8]>(self.platform, 0);
        let mut digests = vec![Digest::from_bytes(&[]); BATCH];
        let (mut block, mut out) = (Vec::new(), Vec::new());
        let mut done = Done::default();
        while done.blocks < most {
            out.clear();
            let Some((turn, long)) = self.next_block(&mut block) else { break };
            match long {
                Some(digest) => {
                    done.lines += 1;
                    self.format.push(&mut out, &digest);
                }
                None => done.lines += self.format.hash(&*engine, &block, &mut digests, &mut out),
            }
            done.blocks += 1;
            if !self.turns.write(turn, &out) {
                break;
            }
        }
        done
    }

    /// Reads the next block and returns its number, or `None` if the input has ended or cannot be read. If a
    /// line is longer than a block, hashes the line and also returns its digest.
    fn next_block(&self, block: &mut Vec<u8>) -> Option<(u64, Option<Digest>)> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if source.failure.is_some() {
            return None;
        }
        let read = source.blocks.next(block).and_then(|next| match next {
            Block::Over => Ok(None),
            Block::Lines => Ok(Some(None)),
            Block::Begun => {
                let line = source.blocks.line(block);
                let digests = hash_stream(line, &[self.format.algorithm], self.platform)?;
                Ok(Some(digests.first().copied()))
            }
        });
        match read {
            Ok(long_line) => {
                source.turn += 1;
                Some((source.turn - 1, long_line?))
            }
            Err(error) => {
                source.failure = Some(error);
                None
            }
        }
    }
}

/// The format of a line of output.
#[derive(Clone, Copy)]
struct Format {
    algorithm: Algorithm,
    end: u8,
    json: bool,
}

impl Format {
    /// Appends the digest of every line of a block to `out`. Returns the number of lines.
    fn hash(
        self,
        engine: &dyn Engine<&[u8]>,
        block: &[u8],
        digests: &mut [Digest],
        out: &mut Vec<u8>,
    ) -> u64 {
        let unended = block.last().is_some_and(|last| *last != self.end).then_some(block.len());
        let mut ends = memchr::memchr_iter(self.end, block).chain(unended);
        let mut lines = Vec::with_capacity(digests.len());
        let (mut from, mut n) = (0, 0);
        loop {
            lines.clear();
            lines.extend(ends.by_ref().take(digests.len()).map(|to| {
                let line = &block[from..to];
                from = to + 1;
                line
            }));
            if lines.is_empty() {
                return n;
            }
            let digests = &mut digests[..lines.len()];
            engine.hash_many(&lines, digests);
            digests.iter().for_each(|digest| self.push(out, digest));
            n += lines.len() as u64;
        }
    }

    fn push(self, out: &mut Vec<u8>, digest: &Digest) {
        if self.json {
            let _ = writeln!(out, "{{\"algorithm\":\"{}\",\"digest\":\"{digest}\"}}", self.algorithm);
        } else {
            digest.write_hex(out);
            out.push(self.end);
        }
    }
}

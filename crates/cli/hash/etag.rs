//! `ftk hash -a s3-etag`: prints the `ETag` that S3 gives to an object that is uploaded in parts of a given size.
//!
//! It is no algorithm of `ftk_hash`, because it depends on the size of the parts, which neither a list nor a manifest
//! records. So it is only printed, and never checked, cached or recorded.

use std::ffi::CString;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{bail, ensure};
use ftk_file::{AlignedBuf, Cursor, Failure, File, Symlinks};
use ftk_hash::{Algorithm, Digest, Hasher};
use ftk_inventory::{FileNo, Inventory, Keep};
use ftk_record::{End, Style, SumFormat, quote, write_path};
use ftk_sched::{Team, physical_cores};
use ftk_select::Roots;
use ftk_walk::Follow;
use rustix::fs::CWD;

use crate::algorithm::S3_ETAG as NAME;
use crate::console::{Console, Outcome, say_failure};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::list::show;
use crate::human;
use crate::list::{List, named};
use crate::progress::{FileCounters, WorkCounters};
use crate::run::Run;
use crate::stats::Phase;
use crate::stdout::Stdout;

/// The sizes of parts that S3 accepts, in bytes. The last part of an object may be smaller.
const PART_SIZES: std::ops::RangeInclusive<u64> = 5 << 20..=5 << 30;

/// The size of the parts if none is given: that of the AWS command line.
pub(super) const USUAL_PART_SIZE: u64 = 8 << 20;

/// The most parts of an object.
const MOST_PARTS: u64 = 10_000;

/// Bytes of one read.
const READ_LEN: usize = 1 << 20;

/// An `ETag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Etag {
    /// The MD5 of the content, or of the digests of its parts.
    md5: Digest,
    /// The number of parts; `None` if the content was uploaded as a whole.
    parts: Option<u64>,
}

impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts {
            None => write!(f, "{}", self.md5),
            Some(parts) => write!(f, "{}-{parts}", self.md5),
        }
    }
}

/// Why a file has no `ETag`.
enum Refused {
    Failure(Failure),
    /// It has more parts than S3 accepts.
    TooManyParts,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Computes an `ETag` from bytes that arrive in pieces.
struct EtagHasher {
    part_size: u64,
    /// The bytes that the current part lacks.
    left: u64,
    part: Hasher,
    parts: Hasher,
    ended: u64,
}

impl EtagHasher {
    fn new(part_size: u64) -> Self {
        let md5 = || Hasher::new(Algorithm::Md5);
        Self { part_size, left: part_size, part: md5(), parts: md5(), ended: 0 }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            self.part.update(&bytes[..len]);
            self.left -= len as u64;
            bytes = &bytes[len..];
            if self.left == 0 {
                self.end_part();
            }
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::replace(&mut self.part, Hasher::new(Algorithm::Md5));
        self.parts.update(part.finalize().as_bytes());
        self.ended += 1;
        self.left = self.part_size;
    }

    /// A content that is shorter than a part is uploaded as a whole.
    fn finalize(mut self) -> Etag {
        if self.ended == 0 {
            return Etag { md5: self.part.finalize(), parts: None };
        }
        if self.left < self.part_size {
            self.end_part();
        }
        Etag { md5: self.parts.finalize(), parts: Some(self.ended) }
    }
}

/// Checks the options.
///
/// # Errors
/// If one cannot be used with `-a s3-etag`.
pub(super) fn refuse_unused(args: &HashArgs) -> anyhow::Result<()> {
    ensure!(args.algorithms.len() == 1, "--algorithm {NAME} cannot be combined with other algorithms");
    let unused = [
        (args.tag, "--tag"),
        (args.base64, "--base64"),
        (args.special, "--special"),
        (args.cache.is_given(), "--cache"),
        (args.check.root.is_some(), "--root"),
    ];
    if let Some((_, option)) = unused.into_iter().find(|(is_given, _)| *is_given) {
        bail!("--algorithm {NAME} cannot be used with {option}");
    }
    Ok(())
}

/// Parses the size of the parts.
pub(super) fn part_size(text: &str) -> Result<u64, String> {
    let size = ftk_select::parse_bytes(text).map_err(|error| error.to_string())?;
    match PART_SIZES.contains(&size) {
        true => Ok(size),
        false => Err("S3 accepts parts of 5M to 5G".into()),
    }
}

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let starts = &args.selection.starts;
    ensure!(
        !args.paths.iter().any(|path| path == "-") && (!args.paths.is_empty() || starts.has_list()),
        "--algorithm {NAME} needs files or directories"
    );
    let run = Run::new(globals, console)?;
    let stdout = Stdout::default();
    let mut list = List::create(named(args.output.as_deref()), &stdout)?;
    let starts = starts.read(&args.paths, &[])?;
    let selection = args.selection.compile(&Roots::new(&starts), &list.own_records(), console)?;
    let follow = args.selection.follow(Follow::Roots);
    let scanned = run.walk(starts, follow, &selection, Keep::Files, "")?;
    scanned.rules.say(console);
    scanned.say_filtered(console);
    let part_size = args.part_size.unwrap_or(USUAL_PART_SIZE);
    let (etags, bytes) = hash(&scanned.inventory, follow, part_size, globals, console);
    let (mut failed, end) = (0, if args.zero { End::Nul } else { End::Newline });
    let is_shown = list.is_shown();
    let mut order = scanned.inventory.in_path_order();
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        match &etags[file as usize] {
            Ok(etag) => list.line(|out| {
                show(out, is_shown, |out| push(out, etag, item.path, end, globals.json));
            }),
            Err(Refused::Failure(failure)) => say_failure(item.path, failure, NOT_HASHED, console),
            Err(Refused::TooManyParts) => console.error(format_args!(
                "{} has more than {MOST_PARTS} parts, which S3 refuses: choose a larger --part-size",
                quote(item.path)
            )),
        }
        failed += u64::from(etags[file as usize].is_err());
    }
    let records = etags.len() as u64 - failed;
    let outcome = scanned.outcome.max(Outcome::error_if(failed > 0));
    let outcome = list.finish_records(outcome, records, console)?;
    let hashed = human::count(records, "file");
    let rate = human::rate(bytes, run.start.elapsed());
    console.summary(format_args!("{hashed}, {rate}   {NAME}, parts of {part_size} bytes"));
    Ok(run.say_unread(failed, NOT_HASHED).max(outcome))
}

/// The consequence for files that could not be read.
const NOT_HASHED: &str = "not hashed";

/// Reads all files. Returns the `ETag` of each, and the number of bytes read.
fn hash(
    inventory: &Inventory,
    follow: Follow,
    part_size: u64,
    globals: &Globals,
    console: &Console,
) -> (Vec<Result<Etag, Refused>>, u64) {
    let start = Instant::now();
    let files = inventory.files();
    let etags: Vec<_> = (0..files).map(|_| Mutex::new(None)).collect();
    let (counters, claims) = (FileCounters::default(), Mutex::new(0..files));
    let team = Team::new(globals.workers().unwrap_or_else(physical_cores).min(files as usize));
    let work = |_| {
        let (mut buffer, mut read) = (AlignedBuf::new(READ_LEN), 0);
        // A statement of its own: the lock is free while the file is read.
        let claim = || claims.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(file) = claim() {
            let is_start = inventory.has_starting_points(inventory.dir_of(FileNo(file)));
            let symlinks =
                Symlinks::follow_if(follow == Follow::Always || is_start && follow == Follow::Roots);
            let path = CString::new(inventory.path(FileNo(file))).expect("paths have no NUL");
            let (etag, bytes) = of_file(&path, symlinks, part_size, &mut buffer);
            counters.add(bytes);
            read += bytes;
            *etags[file as usize].lock().unwrap_or_else(PoisonError::into_inner) = Some(etag);
        }
        read
    };
    let read =
        console.progress.counted("hash", u64::from(files), files < 2, WorkCounters::Files(&counters), || {
            team.run(&ftk_sched::Stop::new(), work).into_iter().sum()
        });
    let etags: Vec<_> = etags
        .into_iter()
        .map(|etag| etag.into_inner().unwrap_or_else(PoisonError::into_inner).expect("each file was claimed"))
        .collect();
    let failed = etags.iter().filter(|etag| etag.is_err()).count() as u64;
    console.stats.phase(Phase::of_files("hash", start, u64::from(files), failed, read));
    (etags, read)
}

/// Reads a file to its end. Returns its `ETag`, and the number of bytes read.
fn of_file(
    path: &CString,
    symlinks: Symlinks,
    part_size: u64,
    buffer: &mut [u8],
) -> (Result<Etag, Refused>, u64) {
    let mut bytes = 0;
    let mut read = || -> Result<Etag, Refused> {
        let file = File::open(CWD, path, symlinks)?;
        if file.stat().size.div_ceil(part_size) > MOST_PARTS {
            return Err(Refused::TooManyParts);
        }
        let (mut cursor, mut hasher) = (Cursor::new(&file, 0), EtagHasher::new(part_size));
        loop {
            let len = cursor.fill(buffer)?;
            hasher.update(&buffer[..len]);
            bytes += len as u64;
            if len < buffer.len() {
                break;
            }
        }
        cursor.verify()?;
        Ok(hasher.finalize())
    };
    let etag = read();
    (etag, bytes)
}

/// Appends a record: a line as md5sum prints it, with the number of parts after the digest, or a JSON object.
fn push(out: &mut Vec<u8>, etag: &Etag, path: &[u8], end: End, is_json: bool) {
    if is_json {
        out.push(b'{');
        write_path(out, "path", path);
        out.extend_from_slice(format!(",\"algorithm\":\"{NAME}\",\"digest\":\"{etag}\"}}\n").as_bytes());
        return;
    }
    let start = out.len();
    SumFormat::new("", Style::Untagged, end).write_line(out, etag.md5.as_bytes(), path);
    if etag.parts.is_some() {
        let digest = etag.md5.to_string();
        // A name with characters that are escaped has a mark before the digest.
        let at = start + usize::from(out[start] == b'\\');
        out.splice(at..at + digest.len(), etag.to_string().into_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn etag(content: &[u8], part_size: u64, piece: usize) -> String {
        let mut hasher = EtagHasher::new(part_size);
        content.chunks(piece).for_each(|piece| hasher.update(piece));
        hasher.finalize().to_string()
    }

    /// The rule of S3, with all parts in memory.
    fn naive(content: &[u8], part_size: usize) -> String {
        if content.len() < part_size {
            return Algorithm::Md5.hash_one(content).to_string();
        }
        let parts: Vec<_> = content.chunks(part_size).collect();
        let digests: Vec<u8> =
            parts.iter().flat_map(|part| Algorithm::Md5.hash_one(part).as_bytes().to_vec()).collect();
        format!("{}-{}", Algorithm::Md5.hash_one(&digests), parts.len())
    }

    #[test]
    fn parts_and_pieces_of_all_lengths() {
        let content: Vec<u8> = (0..100_u8).collect();
        for len in 0..=content.len() {
            for part_size in [1, 2, 7, 33, 50, 99, 100, 101] {
                for piece in [1, 3, 50, 200] {
                    let content = &content[..len];
                    let found = etag(content, part_size, piece);
                    assert_eq!(found, naive(content, part_size as usize), "{len} {part_size} {piece}");
                }
            }
        }
    }

    #[test]
    fn lines_have_the_number_of_parts() {
        let md5 = Algorithm::Md5.hash_one(b"");
        let line = |parts, path: &[u8], is_json| {
            let mut out = Vec::new();
            push(&mut out, &Etag { md5, parts }, path, End::Newline, is_json);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(None, b"a", false), "d41d8cd98f00b204e9800998ecf8427e  a\n");
        assert_eq!(line(Some(12), b"a b", false), "d41d8cd98f00b204e9800998ecf8427e-12  a b\n");
        assert_eq!(line(Some(2), b"a\nb", false), "\\d41d8cd98f00b204e9800998ecf8427e-2  a\\nb\n");
        assert_eq!(
            line(Some(2), b"a", true),
            "{\"path\":\"a\",\"algorithm\":\"s3-etag\",\"digest\":\"d41d8cd98f00b204e9800998ecf8427e-2\"}\n"
        );
    }

    #[test]
    fn sizes_of_parts_are_those_of_s3() {
        for (text, size) in [
            ("8M", Some(8 << 20)),
            ("5MiB", Some(5 << 20)),
            ("5G", Some(5 << 30)),
            ("5MB", None),
            ("6G", None),
        ] {
            assert_eq!(part_size(text).ok(), size, "{text}");
        }
    }
}

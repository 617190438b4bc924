//! Compares two files or streams.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ftk_compare::{End, Mismatch, Options, Outcome as Found, Reason, Way, sizes_differ};
use ftk_record::{sanitize, write_record};
use indicatif::{DecimalBytes, HumanCount};

use crate::cmp::CmpArgs;
use crate::cmp::input::Input;
use crate::cmp::listing::{Listing, Style, character};
use crate::cmp::pair::{Compared, Pair};
use crate::console::{Console, Outcome, say_failure};
use crate::globals::Globals;
use crate::human;
use crate::stdout::{Lines, Stdout};

pub(super) fn run(
    args: &CmpArgs,
    inputs: [Input; 2],
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let mut pair = Pair::new(args, inputs, globals, console);
    let stdout = Stdout::default();
    let compared = if args.status {
        status(&mut pair)
    } else {
        let style = pair.style(args, globals);
        let mut listing = Listing::new(Lines::new(&stdout), style);
        let compared = match style {
            Style::Hex { has_characters } => in_words(&mut pair, has_characters, &mut listing),
            _ => pair.compare(pair.options, &mut |found| listing.push(found)).map(Some),
        };
        listing.end();
        if let Ok(Some(found)) = &compared {
            let is_first_enough = matches!(style, Style::Hex { .. }) && args.files.max_mismatches.is_none();
            say(&pair, found, style, is_first_enough, start.elapsed(), &mut listing, console);
        }
        listing.end();
        compared
    };
    stdout.finish()?;
    let failed = u64::from(compared.is_err());
    console.stats.files("compare", start, 2, failed, pair.done.load(Relaxed));
    match compared {
        Ok(Some(found)) if found.is_equal() => Ok(Outcome::Success),
        Ok(_) => Ok(Outcome::Negative),
        Err((side, failure)) => {
            say_failure(pair.input(side).name(), &failure, "not compared", console);
            Ok(Outcome::Error)
        }
    }
}

/// Finds out whether the inputs differ, as early as possible. Returns `None` if their sizes already differ.
fn status(pair: &mut Pair<'_>) -> Compared {
    if let (Some(a), Some(b)) = pair.files()
        && sizes_differ(a, b, &pair.options)
    {
        return Ok(None);
    }
    let options = Options { max_mismatches: 1, lines: false, ..pair.options };
    pair.compare(options, &mut |_| ControlFlow::Continue(())).map(Some)
}

/// Up to this many mismatches of two files are kept in memory until the first line of the output can be
/// printed: it contains the line number of the first mismatch. If more are wanted, a separate comparison
/// finds the first mismatch beforehand. Mismatches of streams are always kept, because a stream can be read
/// only once.
const KEPT: u64 = 4096;

/// Prints the first difference in the words of cmp, then the bytes that differ.
fn in_words(pair: &mut Pair<'_>, has_characters: bool, listing: &mut Listing<'_>) -> Compared {
    let options = pair.options;
    if (1..=KEPT).contains(&options.max_mismatches) || pair.has_stream() {
        let mut kept = Vec::new();
        let found = pair.compare(options, &mut |found| {
            kept.push(found);
            ControlFlow::Continue(())
        })?;
        push_first(pair, &found, kept.first().filter(|_| has_characters), listing);
        let _ = kept.into_iter().try_for_each(|found| listing.push(found));
        return Ok(Some(found));
    }
    let first = Options { max_mismatches: 1, ..options };
    let mut mismatch = None;
    let first = pair.compare(first, &mut |found| {
        mismatch = Some(found);
        ControlFlow::Continue(())
    })?;
    let Some(at) = first.first else { return Ok(Some(first)) };
    push_first(pair, &first, mismatch.as_ref().filter(|_| has_characters), listing);
    let from_there = Options {
        skip_a: options.skip_a + at,
        skip_b: options.skip_b + at,
        limit: options.limit.map(|limit| limit - at),
        lines: false,
        ..options
    };
    let mut found = pair.compare(from_there, &mut |mut found| {
        found.offset += at;
        listing.push(found)
    })?;
    (found.first, found.lines) = (first.first, first.lines);
    match &mut found.end {
        End::Shorter { bytes: end, .. } | End::Enough { at: end } => *end += at,
        End::Together | End::Stopped => {}
    }
    Ok(Some(found))
}

/// Prints `a b differ: byte 5, line 1`; with `bytes` also ` is 141 a 142 b`.
fn push_first(pair: &Pair<'_>, found: &Found, bytes: Option<&Mismatch>, listing: &mut Listing<'_>) {
    let (Some(first), Some(lines)) = (found.first, found.lines) else { return };
    let is_shown = Stdout::is_terminal();
    listing.line(|out| {
        for input in &pair.inputs {
            match is_shown {
                true => out.extend_from_slice(sanitize(input.name()).as_bytes()),
                false => out.extend_from_slice(input.name()),
            }
            out.push(b' ');
        }
        // Writing to a Vec cannot fail.
        _ = write!(out, "differ: byte {}, line {}", first + 1, lines.newlines + 1);
        if let Some(Mismatch { a, b, .. }) = bytes {
            _ = write!(out, " is {a:3o} {} {b:3o} {}", character(*a), character(*b));
        }
        out.push(b'\n');
    });
}

/// Prints the result of a completed comparison. `is_first_enough`: the user did not ask for more than the
/// first difference. As in cmp, there is then no message about the end of the shorter file after it; the
/// summary names the end.
fn say(
    pair: &Pair<'_>,
    found: &Found,
    style: Style,
    is_first_enough: bool,
    took: Duration,
    listing: &mut Listing<'_>,
    console: &Console,
) {
    if matches!(style, Style::Json | Style::JsonRanges) {
        push_result(found, listing);
    }
    let mut shorter = String::new();
    if let End::Shorter { side, bytes } = found.end {
        let name = sanitize(pair.input(side).name());
        let is_hex = matches!(style, Style::Hex { .. });
        let lines = found.lines.filter(|_| is_hex && found.first.is_none());
        // The words are those of cmp.
        match lines {
            _ if is_first_enough && found.first.is_some() => {
                shorter = format!("; {name} ends after byte {bytes}")
            }
            _ if bytes == 0 => console.warning(format_args!("EOF on {name} which is empty")),
            Some(lines) if lines.is_line_start => {
                console.warning(format_args!("EOF on {name} after byte {bytes}, line {}", lines.newlines))
            }
            Some(lines) => console
                .warning(format_args!("EOF on {name} after byte {bytes}, in line {}", lines.newlines + 1)),
            None => console.warning(format_args!("EOF on {name} after byte {bytes}")),
        }
    }
    console.verbose(|| plan(found));
    let noun = if found.mismatches == 1 { "mismatch" } else { "mismatches" };
    let shown = format!("{} {noun}", HumanCount(found.mismatches));
    match found.end {
        End::Enough { at } if !pair.is_seen => {
            let at = HumanCount(at);
            console.summary(format_args!(
                "first difference at byte {at}; the search stopped there, since output goes to /dev/null"
            ));
        }
        End::Enough { at } => {
            console.summary(format_args!("{shown} shown, search stopped at byte {}", HumanCount(at)));
        }
        _ if found.mismatches > 0 => console.summary(format_args!("{shown}{shorter}")),
        End::Together if found.plan.way == Way::SameFile => {
            console.summary("equal: both are the same file");
        }
        End::Together => {
            let bytes = pair.done.load(Relaxed);
            let (read, len) = (bytes / 2, pair.common(pair.options).unwrap_or_default());
            // Holes and shared extents are not read.
            let amount = match len > read {
                true => format!("{} each, {} of each read", DecimalBytes(len), DecimalBytes(read)),
                false => format!("{} each", DecimalBytes(read)),
            };
            let rate = bytes as f64 / took.as_secs_f64().max(1e-9);
            console.summary(format_args!(
                "equal: {amount} in {} ({}/s)",
                human::time(took),
                DecimalBytes(rate as u64),
            ));
        }
        End::Shorter { .. } | End::Stopped => {}
    }
}

/// Prints the object at the end of the list of mismatches.
fn push_result(found: &Found, listing: &mut Listing<'_>) {
    listing.line(|out| {
        write_record(out, |record| {
            record.member("equal", found.is_equal()).member("mismatches", found.mismatches);
            if let (Some(first), Some(lines)) = (found.first, found.lines) {
                record.member("first_byte", first + 1).member("line", lines.newlines + 1);
            }
            match found.end {
                End::Shorter { side, bytes } => {
                    let side = if side == ftk_compare::Side::A { "a" } else { "b" };
                    record.member("shorter", side).member("shorter_bytes", bytes);
                }
                End::Enough { at } => _ = record.member("stopped_at_byte", at),
                End::Together | End::Stopped => {}
            }
        });
    });
}

/// Returns the line of `-v`.
fn plan(found: &Found) -> String {
    let plan = &found.plan;
    let way = match plan.way {
        Way::SameFile => return "plan    nothing is read: both are the same file".into(),
        Way::Sequential => "both read from start to end",
        Way::Stream => "streamed",
        Way::Mapped => "mapped",
    };
    let why = match plan.reason {
        Reason::Asked => "as requested",
        Reason::Identity => "both are the same file",
        Reason::Pipe => "an input is not seekable",
        Reason::Small => "too small for several workers",
        Reason::Remote => "a file is on a network or FUSE file system",
        Reason::Restricted => "--polite and --limit-rate do not apply to mapped files",
        Reason::TooLarge => "the files exceed the allowed memory",
        Reason::Fits => "the files fit into memory",
    };
    let workers = human::count(plan.workers as u64, "worker");
    format!("plan    {way}, {workers}, blocks of {}: {why}", DecimalBytes(plan.block as u64))
}

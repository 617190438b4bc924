//! Reads lists of digests for all commands that accept them, and reports what cannot be used.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_hash::Algorithm;
use ftk_record::{End, ListError, ListFormat, ListLine, ListReader, likely_algorithms, quote};

use crate::console::Console;
use crate::human;
use crate::input::{foreign, open_file};

/// Lines per list that are reported because they cannot be used. Further ones are only counted.
const NAMED: u64 = 10;

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// How lists are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The terminator of lines.
    pub(crate) end: End,
    /// The possible algorithms of untagged lines, given by `-a`. If empty, the name of the list decides, and then the
    /// length of the digest.
    pub(crate) algorithms: &'a [Algorithm],
    /// What is done with lines, for messages: `check` and `checked`.
    pub(crate) verb: [&'static str; 2],
    /// Whether to report each line of other text with its number.
    pub(crate) warn: bool,
}

/// Returns a message if a list has digests, those by `found`, but none by an algorithm that was `asked` for.
pub(crate) fn lack_of_asked(list: &str, found: &[Algorithm], asked: &[Algorithm]) -> Option<String> {
    let is_lacking =
        !asked.is_empty() && !found.is_empty() && !found.iter().any(|algorithm| asked.contains(algorithm));
    let names = |all: &[Algorithm]| all.iter().map(|it| it.name()).collect::<Vec<_>>();
    is_lacking.then(|| {
        let (asked, found) = (names(asked).join(" or "), names(found).join(" and "));
        format!("no line of {list} has {asked}: the digests are by {found}")
    })
}

/// Returns a name without `./` at its start.
pub(crate) fn bare_name(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./").filter(|rest| !rest.is_empty()) {
        name = rest;
    }
    name
}

/// What was found in a list besides usable lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadList {
    /// The name of the list, quoted.
    pub(crate) name: String,
    /// The kind of file, if the first bytes show that it is not a list.
    pub(crate) foreign: Option<String>,
    /// Whether it is a film hash list.
    pub(crate) is_film: bool,
    /// Whether its lines end with a carriage return and a newline.
    pub(crate) has_dos_ends: bool,
    /// The number of usable lines.
    pub(crate) usable: u64,
    /// The algorithms of these lines.
    pub(crate) algorithms: Vec<Algorithm>,
    /// Whether it names its algorithms, as far as this shows: its format has no untagged lines, or it has a digest by
    /// an algorithm that was not asked for.
    pub(crate) names_algorithms: bool,
    /// Whether it has digests, but none by an algorithm that was asked for.
    pub(crate) lacks_asked: bool,
    /// The number of lines of other text.
    pub(crate) malformed: u64,
    /// The line number of the first one, and why it is no line with a digest.
    pub(crate) first: Option<(u64, String)>,
    /// The number of lines with a digest that cannot be used.
    pub(crate) unusable: u64,
    /// Whether the last line has no terminator.
    pub(crate) is_unended: bool,
    /// Whether the last line has no terminator and cannot be used.
    pub(crate) is_cut_off: bool,
    /// Algorithms that were guessed from the length of a digest.
    pub(crate) assumed: Vec<Algorithm>,
}

/// Returns whether the first lines of a regular file have a digest, as those of a list do. A file that cannot be read
/// is no list.
pub(crate) fn is_list(path: &Path) -> bool {
    /// The most bytes that are read. The lines before the first digest are comments.
    const HEAD: u64 = 64 << 10;
    let has_digest = || -> io::Result<bool> {
        let mut input = BufReader::new(open_file(path.as_os_str())?.take(HEAD));
        let format = ListFormat::of(path.as_os_str(), input.fill_buf()?);
        Ok(ListReader::open(input, format, End::Newline, &[])?.next()?.is_some_and(|it| it.line.is_ok()))
    };
    path.is_file() && has_digest().unwrap_or(false)
}

impl Reading<'_> {
    /// Reads the list `path`, which is open. Passes each usable line to `each`, and each message about another line to
    /// `complain`. The inner error is that of reading the input.
    ///
    /// # Errors
    /// Returns the errors of `each`.
    pub(crate) fn read(
        &self,
        path: &OsStr,
        input: File,
        mut each: impl FnMut(&ListLine<'_>) -> anyhow::Result<()>,
        mut complain: impl FnMut(String),
    ) -> anyhow::Result<(ReadList, io::Result<()>)> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let name = quote(path.as_bytes());
        let mut list = ReadList { foreign: foreign(&mut input), name, ..ReadList::default() };
        // If this read fails, the next one fails too and reports the error.
        let format = ListFormat::of(path, input.fill_buf().unwrap_or_default());
        list.is_film = format == ListFormat::Mhl;
        list.names_algorithms = format != ListFormat::Sums;
        let likely = likely_algorithms(Path::new(path).file_name().unwrap_or_default().as_bytes());
        let is_by_name = self.algorithms.is_empty() && format == ListFormat::Sums;
        let algorithms = if self.algorithms.is_empty() { &likely } else { self.algorithms };
        let mut reader = match ListReader::open(input, format, self.end, algorithms) {
            Ok(reader) => reader,
            Err(error) => return Ok((list, Err(error))),
        };
        let read = loop {
            let record = match reader.next() {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            list.is_unended = !record.is_ended;
            let unusable = match record.line {
                Ok(line) => {
                    list.usable += 1;
                    for (algorithm, _) in line.digests {
                        if !list.algorithms.contains(algorithm) {
                            list.algorithms.push(*algorithm);
                        }
                    }
                    each(&line)?;
                    continue;
                }
                Err(unusable) => unusable,
            };
            list.is_cut_off = !record.is_ended;
            let (of, number, why, verb) = (&list.name, record.number, &unusable.why, self.verb[0]);
            if why.has_digest() {
                list.unusable += 1;
                if list.unusable <= NAMED {
                    let file = unusable.name.map_or_else(|| "it".into(), |name| quote(&name));
                    complain(format!("{of}, line {number}: cannot {verb} {file}: {why}"));
                }
                continue;
            }
            if self.warn {
                complain(format!("{of}: {number}: improperly formatted checksum line: {why}"));
            }
            list.note(number, why);
        };
        if list.unusable > NAMED {
            let more = human::count(list.unusable - NAMED, "more line");
            complain(format!("{}: {more} cannot be {}", list.name, self.verb[1]));
        }
        if let Some(lack) = lack_of_asked(&list.name, &list.algorithms, self.algorithms) {
            list.lacks_asked = true;
            complain(lack);
        }
        list.names_algorithms |= list.algorithms.iter().any(|it| !algorithms.contains(it));
        list.has_dos_ends = reader.has_dos_ends();
        list.assumed = reader.assumed().to_vec();
        if is_by_name
            && likely.first() == Some(&Algorithm::Blake2b)
            && let Some(other) = list.algorithms.first().filter(|it| **it != Algorithm::Blake2b)
        {
            complain(format!(
                "{}: its name says blake2b, but digests have the length of {other} and are read as such: ftk cannot \
                 compute those of `b2sum --length`",
                list.name
            ));
        }
        Ok((list, read))
    }
}

impl ReadList {
    /// Counts a line of other text.
    pub(crate) fn note(&mut self, number: u64, why: &ListError) {
        self.malformed += 1;
        self.first.get_or_insert_with(|| (number, why.to_string()));
    }

    /// Returns why the list has no usable line, for the end of a message.
    pub(crate) fn why_empty(&self) -> String {
        match (&self.foreign, &self.first) {
            (Some(what), _) => format!(": it is {what}"),
            (None, Some((line, why))) => format!(" (line {line}: {why})"),
            (None, None) => String::new(),
        }
    }

    /// Prints notes about the list that are not errors.
    pub(crate) fn say_notes(&self, console: &Console) {
        let name = &self.name;
        if self.has_dos_ends {
            console.summary(format_args!(
                "{name} has DOS line ends: carriage returns at line ends are not part of the names"
            ));
        }
    }
}

/// Warns about lines of other text in lists, and about lists that may be cut off.
pub(crate) fn warn_of_text<'l>(lists: impl Iterator<Item = &'l ReadList> + Clone, console: &Console) {
    let malformed = lists.clone().map(|list| list.malformed).sum();
    let first = lists.clone().find_map(|list| Some((&list.name, list.first.as_ref()?)));
    if let Some((list, (line, why))) = first {
        let lines = match malformed {
            1 => "line is",
            _ => "lines are",
        };
        console.warning(format_args!(
            "WARNING: {malformed} {lines} improperly formatted ({list}, line {line}: {why})"
        ));
    }
    for list in lists.filter(|list| list.is_unended && !list.is_cut_off) {
        console.warning(format_args!(
            "WARNING: the last line of {} has no line end: the list may be cut off in a name",
            list.name
        ));
    }
}

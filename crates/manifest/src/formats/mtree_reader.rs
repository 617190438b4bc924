//! Reads specifications of mtree in all their forms.
//!
//! A name with a slash is a path from the root, as NetBSD's `mtree -C` and bsdtar write. Any other name is in the current
//! directory: an entry of type `dir` makes it the current one, and `..` leaves it. NetBSD's `mtree -D` writes the path
//! last.

use std::io::BufRead;

use ftk_file::{Stat, device_of};
use ftk_hash::{Algorithm, Digest};
use ftk_record::{MAX_LINE, MAX_NESTED_PATH, read_line};
use ftk_walk::FileType;

use super::Format;
use super::import::{Collector, ImportError, Line, Skipped, refuse_unended};
use super::mtree_line::type_of;
use super::vis::decode;
use crate::Field;
use crate::entry::ROOT;
use crate::field_set::FieldSet;
use crate::text::brief;

const NANOS: i128 = 1_000_000_000;

/// A reader of a specification. Uses memory for a line and for the path of the current directory.
#[derive(Debug)]
pub(super) struct MtreeReader<R> {
    input: R,
    /// The number of the last line that was read.
    number: u64,
    line: Vec<u8>,
    /// What `/set` has set.
    defaults: Keywords,
    /// The path of the current directory; empty for the root.
    dir: Vec<u8>,
    /// The lengths that `dir` had in the directories around the current one.
    around: Vec<usize>,
    path: Vec<u8>,
}

/// The keywords of an entry.
#[derive(Clone, Debug)]
struct Keywords {
    file_type: Option<FileType>,
    known: FieldSet,
    stat: Stat,
    /// The decoded target.
    target: Option<Vec<u8>>,
    digests: Vec<(Algorithm, Digest)>,
    /// Whether the entry may be missing.
    is_optional: bool,
    /// Whether the contents of the directory are not compared.
    is_ignored: bool,
    /// Whether nothing but the type is compared.
    is_nochange: bool,
}

impl Keywords {
    fn new() -> Self {
        Self {
            file_type: None,
            known: FieldSet::default(),
            stat: Stat::EMPTY,
            target: None,
            digests: Vec::new(),
            is_optional: false,
            is_ignored: false,
            is_nochange: false,
        }
    }

    /// Returns what a keyword without a value sets, if it has a meaning here.
    fn flag(&mut self, name: &[u8]) -> Option<&mut bool> {
        match name {
            b"optional" => Some(&mut self.is_optional),
            b"ignore" => Some(&mut self.is_ignored),
            b"nochange" => Some(&mut self.is_nochange),
            _ => None,
        }
    }

    /// Reads the keywords of a line. A type or a digest that is given twice is refused: programs disagree about which
    /// one counts.
    fn read(&mut self, line: &[u8]) -> Result<(), String> {
        let (mut types, mut algorithms) = (0, Vec::new());
        for word in words(line) {
            let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
            types += u32::from(name == b"type");
            let twice = match algorithm(name) {
                Some(algorithm) if algorithms.contains(&algorithm) => Some(algorithm.name()),
                Some(algorithm) => {
                    algorithms.push(algorithm);
                    None
                }
                None => (types > 1).then_some("type"),
            };
            if let Some(what) = twice {
                return Err(format!("{what} is given twice"));
            }
            keyword(self, word)?;
        }
        Ok(())
    }
}

/// Returns whether a file begins like a specification: with the comment of bsdtar or of NetBSD's mtree, or with an
/// entry.
pub fn begins_mtree(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    if start.starts_with(b"#mtree") {
        return true;
    }
    let Some(line) = lines.find(|line| !line.is_empty() && line[0] != b'#') else { return false };
    let is_path = |word: &[u8]| word == ROOT || word.starts_with(b"./");
    let ends = || [words(line).next(), words(line).last()].into_iter().flatten();
    let has_type = || words(line).any(|word| word.starts_with(b"type="));
    line.starts_with(b"/set ") || ends().any(is_path) && has_type()
}

impl<R: BufRead> MtreeReader<R> {
    pub(super) fn new(input: R) -> Self {
        let defaults = Keywords::new();
        Self {
            input,
            number: 0,
            line: Vec::new(),
            defaults,
            dir: Vec::new(),
            around: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Reads a line, and adds its entry to `collector`. Returns false at the end.
    pub(super) fn next(&mut self, collector: &mut Collector<'_>) -> Result<bool, ImportError> {
        let Some((number, is_ended)) = self.fill()? else { return Ok(false) };
        let line = std::mem::take(&mut self.line);
        let read = self.line(number, &line, collector);
        self.line = line;
        read?;
        refuse_unended(number, is_ended)?;
        Ok(true)
    }

    /// Reads a line with its continuations. Returns the number of its first part, and whether it has an end.
    fn fill(&mut self) -> Result<Option<(u64, bool)>, ImportError> {
        self.line.clear();
        let first = self.number + 1;
        loop {
            let start = self.line.len();
            let read = read_line(&mut self.input, &mut self.line, |buffer| memchr::memchr(b'\n', buffer))?;
            let Some(end) = read else {
                // A backslash before the end of the file continues nothing.
                return Ok((start > 0).then_some((first, false)));
            };
            self.number += 1;
            if self.line.len() > MAX_LINE {
                return Err(ImportError::Line { number: self.number, what: "the line is too long".into() });
            }
            self.line.pop_if(|last| *last == b'\r');
            let is_comment = start == 0 && self.line.trim_ascii_start().starts_with(b"#");
            let slashes = self.line[start..].iter().rev().take_while(|byte| **byte == b'\\').count();
            if end.is_none() || is_comment || slashes % 2 == 0 {
                return Ok(Some((first, end.is_some())));
            }
            self.line.pop();
            self.line.push(b' ');
        }
    }

    fn line(&mut self, number: u64, line: &[u8], collector: &mut Collector<'_>) -> Result<(), ImportError> {
        let invalid = |what: String| ImportError::Line { number, what };
        let line = line.trim_ascii();
        let (mut name, mut rest) =
            line.split_at(line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()));
        if line.is_empty() || name.starts_with(b"#") {
            return Ok(());
        }
        if name == b"/set" {
            return self.defaults.read(rest).map_err(invalid);
        }
        if name == b"/unset" {
            words(rest).for_each(|word| self.unset(word));
            return Ok(());
        }
        if name == b".." {
            let len = self.around.pop().ok_or_else(|| invalid("`..` leads out of the root".into()))?;
            self.dir.truncate(len);
            return Ok(());
        }
        if name.contains(&b'=') && !name.starts_with(b".") {
            // The form with the path last.
            let start = line.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
            let (words, last) = line.split_at(start);
            if last == ROOT || last.starts_with(b"./") {
                (name, rest) = (last, words);
            }
        }
        let mut keywords = self.defaults.clone();
        keywords.read(rest).map_err(invalid)?;
        self.entry(number, name, keywords, collector)
    }

    /// Adds an entry.
    fn entry(
        &mut self,
        number: u64,
        name: &[u8],
        mut keywords: Keywords,
        collector: &mut Collector<'_>,
    ) -> Result<(), ImportError> {
        let invalid = |what: &str| {
            let name = brief(String::from_utf8_lossy(name).into_owned());
            ImportError::Line { number, what: format!("{what}: {name:?}") }
        };
        let file_type = keywords.file_type.ok_or_else(|| invalid("an entry without a type"))?;
        let is_full = name.contains(&b'/');
        self.path.clear();
        if !is_full {
            if self.dir.len() > MAX_NESTED_PATH {
                return Err(invalid(&format!(
                    "the path of its directory is longer than {MAX_NESTED_PATH} bytes"
                )));
            }
            self.path.extend_from_slice(&self.dir);
            if !self.dir.is_empty() && name != ROOT {
                self.path.push(b'/');
            }
        }
        let start = self.path.len();
        if is_full || name != ROOT {
            decode(&mut self.path, name)
                .ok_or_else(|| invalid("a name that is not encoded as vis(3) does"))?;
            if !is_full && self.path[start..].contains(&b'/') {
                return Err(invalid("a name with an encoded slash"));
            }
        } else if self.path.is_empty() {
            self.path.extend_from_slice(ROOT);
        }
        if file_type == FileType::Directory && !is_full {
            self.around.push(self.dir.len());
            if name != ROOT {
                self.dir.clone_from(&self.path);
            }
        }
        if file_type != FileType::Symlink || keywords.is_nochange {
            keywords.target = None;
        }
        let is_file = file_type == FileType::Regular;
        if !is_file {
            // Set by `/set` perhaps. The size of other types has no meaning in a specification.
            keywords.known.remove(Field::Size);
        }
        if !is_file || keywords.is_nochange {
            keywords.digests.clear();
        }
        if keywords.is_nochange {
            keywords.known = FieldSet::default();
        }
        let skipped = match () {
            () if keywords.is_optional && self.path != ROOT => Some(Skipped::Whole),
            () if keywords.is_ignored && file_type == FileType::Directory => Some(Skipped::Below),
            () => None,
        };
        collector.skip(number, &self.path, skipped)?;
        let stat = Stat { file_type, ..keywords.stat };
        let Keywords { known, target, digests, .. } = &keywords;
        let (known, target) = (*known, target.as_deref());
        collector.add(number, &Line { path: &self.path, known, stat, target, digests, inode: None })
    }

    /// Removes a default.
    fn unset(&mut self, word: &[u8]) {
        let defaults = &mut self.defaults;
        if word == b"all" {
            *defaults = Keywords::new();
        } else if word == b"type" {
            defaults.file_type = None;
        } else if word == b"link" {
            defaults.target = None;
        } else if let Some(flag) = defaults.flag(word) {
            *flag = false;
        } else if let Some(algorithm) = algorithm(word) {
            defaults.digests.retain(|(it, _)| *it != algorithm);
        } else if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == word) {
            defaults.known.remove(*field);
        }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The keywords that are members of an entry.
const FIELDS: [(&[u8], Field); 7] = [
    (b"size", Field::Size),
    (b"mode", Field::Mode),
    (b"uid", Field::Uid),
    (b"gid", Field::Gid),
    (b"nlink", Field::Nlink),
    (b"time", Field::Mtime),
    (b"device", Field::Rdev),
];

/// Reads a keyword. Unknown ones are ignored.
fn keyword(keywords: &mut Keywords, word: &[u8]) -> Result<(), String> {
    let Some(at) = memchr::memchr(b'=', word) else {
        let has_value = matches!(word, b"type" | b"link")
            || FIELDS.iter().any(|(name, _)| *name == word)
            || algorithm(word).is_some();
        if has_value {
            return Err(format!("{} has no value", String::from_utf8_lossy(word)));
        }
        if let Some(flag) = keywords.flag(word) {
            *flag = true;
        }
        return Ok(());
    };
    let (name, value) = (&word[..at], &word[at + 1..]);
    let invalid = || brief(format!("invalid value: {:?}", String::from_utf8_lossy(word)));
    let stat = &mut keywords.stat;
    match name {
        b"type" => {
            keywords.file_type = Some(type_of(value).ok_or_else(invalid)?);
            return Ok(());
        }
        b"link" => {
            let mut target = Vec::new();
            decode(&mut target, value).ok_or_else(invalid)?;
            keywords.target = Some(target);
            return Ok(());
        }
        b"size" => stat.size = number(value).ok_or_else(invalid)?,
        b"uid" => stat.uid = number(value).ok_or_else(invalid)?,
        b"gid" => stat.gid = number(value).ok_or_else(invalid)?,
        b"nlink" => stat.nlink = number(value).ok_or_else(invalid)?,
        b"mode" => stat.mode = mode(value).ok_or_else(invalid)?,
        b"time" => stat.mtime_ns = time(value).ok_or_else(invalid)?,
        b"device" => match device(value).ok_or_else(invalid)? {
            Some(rdev) => stat.rdev = rdev,
            None => return Ok(()),
        },
        _ => {
            let Some(algorithm) = algorithm(name) else { return Ok(()) };
            let digest = Digest::from_hex(value).filter(|it| it.as_bytes().len() == algorithm.digest_len());
            let digest = digest.ok_or_else(|| {
                let hex = brief(String::from_utf8_lossy(value).into_owned());
                format!("{hex:?} is not a digest by {algorithm}")
            })?;
            keywords.digests.retain(|(it, _)| *it != algorithm);
            keywords.digests.push((algorithm, digest));
            return Ok(());
        }
    }
    let field = FIELDS.iter().find(|(known, _)| *known == name).expect("every member is in the table").1;
    keywords.known.insert(field);
    Ok(())
}

/// Returns the algorithm of a keyword such as `sha256` or `sha256digest`, if mtree has it.
fn algorithm(name: &[u8]) -> Option<Algorithm> {
    let name = str::from_utf8(name.strip_suffix(b"digest").unwrap_or(name)).ok()?;
    let known = Format::Mtree.algorithms().unwrap_or_default().contains(&name);
    Algorithm::ALL.into_iter().find(|algorithm| known && algorithm.name() == name)
}

fn number<N: std::str::FromStr>(value: &[u8]) -> Option<N> {
    // `parse` accepts a sign, which no number here has.
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    if is_number { str::from_utf8(value).ok()?.parse().ok() } else { None }
}

/// Parses octal digits. Bits for the type, which old programs write, are ignored.
fn mode(value: &[u8]) -> Option<u32> {
    let is_octal = (1..=7).contains(&value.len()) && value.iter().all(|digit| matches!(digit, b'0'..=b'7'));
    is_octal.then(|| value.iter().fold(0, |mode, digit| mode << 3 | u32::from(digit - b'0')) & 0o7777)
}

/// Parses seconds and nanoseconds. All implementations read the second number as nanoseconds, not as a fraction.
fn time(value: &[u8]) -> Option<i128> {
    let (is_negative, rest) = match value {
        [b'-', rest @ ..] => (true, rest),
        value => (false, value),
    };
    let (seconds, nanos) = match memchr::memchr(b'.', rest) {
        Some(at) => (&rest[..at], number::<u32>(&rest[at + 1..])?),
        None => (rest, 0),
    };
    let seconds = i128::from(number::<u64>(seconds)?);
    let seconds = if is_negative { -seconds } else { seconds };
    (i128::from(nanos) < NANOS).then(|| seconds * NANOS + i128::from(nanos))
}

/// Parses the number of a device: as a whole, or major and minor number in the format of this system. Returns
/// `Some(None)` for the format of another system.
fn device(value: &[u8]) -> Option<Option<u64>> {
    let mut parts = value.split(|byte| *byte == b',');
    let first = parts.next()?;
    if let [b'0', b'x' | b'X', hex @ ..] = first {
        let hex = str::from_utf8(hex).ok().filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        return u64::from_str_radix(hex, 16).ok().map(Some);
    }
    if first.iter().all(u8::is_ascii_digit) {
        return number(first).map(Some);
    }
    if first != b"native" && first != b"linux" {
        return Some(None);
    }
    let (major, minor) = (number(parts.next()?)?, number(parts.next()?)?);
    parts.next().is_none().then(|| Some(device_of(major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_strictly() {
        assert_eq!(time(b"5"), Some(5 * NANOS));
        assert_eq!(time(b"5.000000007"), Some(5 * NANOS + 7));
        assert_eq!(time(b"5.7"), Some(5 * NANOS + 7));
        assert_eq!(time(b"-2.500000000"), Some(-1_500_000_000));
        for bad in [
            &b""[..],
            b".",
            b"5.",
            b".5",
            b"5.1000000000",
            b"+5",
            b"5.-1",
            b"0x5",
            b"-",
            b"99999999999999999999",
        ] {
            assert_eq!(time(bad), None, "{}", bad.escape_ascii());
        }
        assert_eq!(mode(b"04755"), Some(0o4755));
        assert_eq!(mode(b"0100644"), Some(0o644));
        for bad in [&b""[..], b"8", b"u=rw", b"-1", b"00000644"] {
            assert_eq!(mode(bad), None);
        }
        assert_eq!(device(b"0x103"), Some(Some(0x103)));
        assert_eq!(device(b"259"), Some(Some(259)));
        assert_eq!(device(b"native,1,3"), Some(Some(device_of(1, 3))));
        assert_eq!(device(b"freebsd,1,3"), Some(None));
        for bad in [&b"native"[..], b"native,1", b"native,1,2,3", b"native,x,1", b"0x", b"0x+1", b"-1,"] {
            assert!(!matches!(device(bad), Some(Some(_))), "{}", bad.escape_ascii());
        }
        assert_eq!(number::<u32>(b"4294967295"), Some(u32::MAX));
        assert_eq!(number::<u32>(b"4294967296"), None);
        assert_eq!(number::<u32>(b"+1"), None);
    }

    #[test]
    fn specifications_are_recognised() {
        for start in [
            "#mtree\n. type=dir\n",
            "# a comment\n\n/set type=file\n",
            ". type=dir\n",
            "./a type=file size=0\n",
        ] {
            assert!(begins_mtree(start.as_bytes()), "{start}");
        }
        for start in ["", "# comment\n", "hello\n", "00 ./a\n", "./a\n"] {
            assert!(!begins_mtree(start.as_bytes()), "{start}");
        }
    }
}

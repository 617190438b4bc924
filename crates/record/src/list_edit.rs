//! Lists of digests that gain, lose and change lines, while all other bytes stay as they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufRead};
use std::ops::Range;

use data_encoding::{BASE64, BASE64_NOPAD};
use ftk_hash::{Algorithm, Digest};
use memchr::memchr2;

use crate::bag::BagLine;
use crate::list::by_tag;
use crate::parse::Separator;
use crate::sum::push_hex;
use crate::{
    Encoding, End, HashdeepReader, ListFormat, ListReader, SfvLine, Style, SumFormat, SumLine,
    check_sfv_name, write_bag_line, write_hashdeep_line,
};

/// A list of digests in memory, with its bytes.
///
/// [`edit`](Self::edit) writes it with other lines. New lines have the form of the present ones: style, algorithm,
/// case of the digits, base64, and line end.
///
/// ```
/// use ftk_hash::Algorithm;
/// use ftk_record::{EditableList, Edits, End, ListFormat};
///
/// let list = b"# by hand\nD41D8CD98F00B204E9800998ECF8427E *a\nD41D8CD98F00B204E9800998ECF8427E *c\n";
/// let list = EditableList::parse(list.to_vec(), ListFormat::Sums, End::Newline, &[], u64::MAX)?;
/// let digests = [(Algorithm::Md5, Algorithm::Md5.hash_one(b"b"))];
/// let line = list.line(b"b", 1, &digests).expect("a line can have this name");
/// let edits = Edits { added: vec![(b"b".to_vec(), line)], ..Edits::default() };
/// let expected = b"# by hand\nD41D8CD98F00B204E9800998ECF8427E *a\n92EB5FFEE6AE2FEC3AD71C777531578F *b\n\
///     D41D8CD98F00B204E9800998ECF8427E *c\n";
/// assert_eq!(list.edit(&edits)?, expected);
/// # Ok::<(), ftk_record::EditError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EditableList {
    bytes: Vec<u8>,
    form: Form,
    lines: Vec<ListedLine>,
    assumed: Vec<Algorithm>,
}

/// How the lines of a list are written.
#[derive(Clone, Debug)]
struct Form {
    format: ListFormat,
    end: End,
    separator: Option<Separator>,
    has_dos_ends: bool,
    /// Whether hexadecimal digits are capital letters.
    is_upper: bool,
    asked: Vec<Algorithm>,
}

/// A line with a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLine {
    /// The name of the file.
    pub name: Vec<u8>,
    /// The name that a line of a BagIt manifest means if a program wrote it that does not encode `%`.
    pub other_name: Option<Vec<u8>>,
    /// The size of the file, if the list has sizes.
    pub size: Option<u64>,
    /// The digests, at least one.
    pub digests: Vec<(Algorithm, Digest)>,
    /// The line number; the first line is 1.
    pub number: u64,
    /// Where it is, with its line end.
    range: Range<usize>,
}

/// The changes of a list. The numbers are indices into [`EditableList::lines`].
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// The names and the [lines](EditableList::line) to add.
    pub added: Vec<(Vec<u8>, Vec<u8>)>,
    /// Lines to remove.
    pub removed: BTreeSet<usize>,
    /// Lines with another size, if the list has sizes, and other digests: one for each of their algorithms.
    pub replaced: BTreeMap<usize, (u64, Vec<(Algorithm, Digest)>)>,
}

/// Why a list cannot be changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum EditError {
    /// A line cannot be used, with its number.
    Line(u64, String),
    /// The last line has no end.
    CutOff,
    /// The lines have different ends.
    Read(io::Error),
    /// The list needs more memory than allowed.
    TooLarge,
    /// The result, read again, differs from what it should be.
    Unfaithful,
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number, why) => write!(f, "line {number}: {why}"),
            Self::CutOff => f.write_str("the last line has no line end: the list may be cut off"),
            Self::Read(_) => f.write_str("the list cannot be read"),
            Self::TooLarge => f.write_str("the list is too large (raise --memory)"),
            Self::Unfaithful => f.write_str("internal error: the new list would have other lines"),
        }
    }
}

impl std::error::Error for EditError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Read(error) = self { Some(error) } else { None }
    }
}

impl EditableList {
    /// Parses a list. `asked` are the possible algorithms of untagged sums; if it is empty, the length of the digest
    /// decides. `memory` is the most bytes that the list may use.
    ///
    /// # Errors
    /// If any line but comments has no usable digest, such as a line of a signature, which would no longer be valid; if
    /// the last line has no end; if it is a film hash list; or if the list is too large.
    pub fn parse(
        bytes: Vec<u8>,
        format: ListFormat,
        end: End,
        asked: &[Algorithm],
        memory: u64,
    ) -> Result<Self, EditError> {
        if format == ListFormat::Mhl {
            return Err(EditError::Line(1, "a film hash list is no list of lines".into()));
        }
        let ranges = ranges(&bytes, &format, end);
        if !bytes.is_empty() && !line_ends(&format, end).iter().any(|end| bytes.ends_with(&[*end])) {
            return Err(EditError::CutOff);
        }
        check_columns(&bytes, &format)?;
        let mut used = bytes.len() + ranges.len() * size_of::<Range<usize>>();
        let mut lines = Vec::new();
        let mut reader = ListReader::open(&bytes[..], format.clone(), end, asked).map_err(EditError::Read)?;
        while let Some(record) = reader.next().map_err(EditError::Read)? {
            let number = record.number;
            let line = record.line.map_err(|unusable| EditError::Line(number, unusable.why.to_string()))?;
            let range = ranges.get(number as usize - 1).ok_or(EditError::Unfaithful)?.clone();
            used += size_of::<ListedLine>() + size_of_val(line.digests) + line.name.len();
            if used as u64 > memory {
                return Err(EditError::TooLarge);
            }
            lines.push(ListedLine {
                name: line.name.into_owned(),
                other_name: line.other_name.map(|name| name.into_owned()),
                size: line.size,
                digests: line.digests.to_vec(),
                number,
                range,
            });
        }
        let (has_dos_ends, assumed) = (reader.has_dos_ends(), reader.assumed().to_vec());
        let (separator, is_upper) = (None, format == ListFormat::Sfv);
        let mut form = Form { format, end, separator, has_dos_ends, is_upper, asked: asked.to_vec() };
        let mut case = None;
        for line in lines.iter().map(|line| &bytes[line.range.clone()]) {
            if form.format == ListFormat::Sums {
                let mut separator = form.separator;
                // The reader has accepted it.
                let _ = SumLine::parse_in(form.content(line), end, &mut separator);
                form.separator = separator;
            }
            if case.is_none()
                && let Some((digits, _, Encoding::Hex)) = form.parts(line)
            {
                case = line[digits].iter().find(|digit| digit.is_ascii_alphabetic());
            }
        }
        form.is_upper = case.map_or(form.is_upper, u8::is_ascii_uppercase);
        Ok(Self { bytes, form, lines, assumed })
    }

    /// Returns the lines with digests.
    pub fn lines(&self) -> &[ListedLine] {
        &self.lines
    }

    /// Returns the bytes of the list.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the format.
    pub fn format(&self) -> &ListFormat {
        &self.form.format
    }

    /// Returns the algorithms that were guessed from the length of a digest.
    pub fn assumed(&self) -> &[Algorithm] {
        &self.assumed
    }

    /// Returns the algorithms of the digests of each file, in the order of the first one: those that every file has.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        let mut files: BTreeMap<&[u8], Vec<Algorithm>> = BTreeMap::new();
        for line in &self.lines {
            files.entry(&line.name).or_default().extend(line.digests.iter().map(|(algorithm, _)| *algorithm));
        }
        let Some(first) = self.lines.first() else { return Vec::new() };
        let mut common = files[&*first.name].clone();
        common.retain(|algorithm| files.values().all(|of_file| of_file.contains(algorithm)));
        let mut known = BTreeSet::new();
        common.retain(|algorithm| known.insert(*algorithm));
        common
    }

    /// Returns the line of a new file, or its lines if each line has one digest: `digests` are those by
    /// [`algorithms`](Self::algorithms), in their order.
    ///
    /// # Errors
    /// Why such a line cannot have this name.
    pub fn line(&self, name: &[u8], size: u64, digests: &[(Algorithm, Digest)]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        if self.form.format == ListFormat::Hashdeep {
            let digests = digests.iter().map(|(_, digest)| digest.as_bytes());
            write_hashdeep_line(&mut out, size, digests, name).map_err(|why| why.to_string())?;
            let first = self.lines.first().map_or(&b"\n"[..], |line| &self.bytes[line.range.clone()]);
            if first.ends_with(b"\r\n") {
                out.truncate(out.len() - 1);
                out.extend_from_slice(b"\r\n");
            }
            return Ok(out);
        }
        for (algorithm, digest) in digests {
            let of_algorithm = |line: &&ListedLine| line.digests.iter().any(|(it, _)| it == algorithm);
            let mut models =
                self.lines.iter().filter(of_algorithm).map(|line| &self.bytes[line.range.clone()]);
            let line = match &self.form.format {
                ListFormat::Bag(_) => {
                    let mut line = Vec::new();
                    write_bag_line(&mut line, &[], name).map_err(|why| why.to_string())?;
                    let encoded = line.trim_ascii().to_vec();
                    models.find_map(|model| self.form.fill(model, &encoded, digest))
                }
                _ => models.find_map(|model| self.form.fill(model, name, digest)),
            };
            let first = self.lines.iter().find(of_algorithm).map(|line| &self.bytes[line.range.clone()]);
            let line =
                line.unwrap_or_else(|| self.form.usual(first.unwrap_or_default(), name, *algorithm, digest));
            self.form.check(&line, name, *algorithm, digest)?;
            out.extend_from_slice(&line);
        }
        Ok(out)
    }

    /// Returns the bytes of the list after these changes. If the names of the list are in byte order, ignoring `./` at
    /// their start, added lines get their places in this order. Otherwise they come after the last line, in the order of
    /// `added`.
    ///
    /// # Errors
    /// If the result, read again, has other lines than it should have.
    pub fn edit(&self, edits: &Edits) -> Result<Vec<u8>, EditError> {
        let is_sorted = self.lines.is_sorted_by_key(|line| bare(&line.name));
        let mut added: Vec<_> = edits.added.iter().collect();
        if is_sorted {
            added.sort_by_key(|(name, _)| bare(name));
        }
        let mut added = added.into_iter().peekable();
        let (mut out, mut names) = (Vec::with_capacity(self.bytes.len()), Vec::new());
        // Comments between two lines stay before the second one, and those before the first line at the start.
        let mut at = self.lines.first().map_or(self.bytes.len(), |line| line.range.start);
        out.extend_from_slice(&self.bytes[..at]);
        for (nth, line) in self.lines.iter().enumerate() {
            let is_before = |new: &&(Vec<u8>, Vec<u8>)| is_sorted && bare(&new.0) < bare(&line.name);
            while let Some((name, line)) = added.next_if(is_before) {
                out.extend_from_slice(line);
                names.push(&**name);
            }
            out.extend_from_slice(&self.bytes[at..line.range.start]);
            at = line.range.end;
            if edits.removed.contains(&nth) {
                continue;
            }
            let old = &self.bytes[line.range.clone()];
            match edits.replaced.get(&nth) {
                Some((size, digests)) => {
                    let new = self.form.replaced(old, line, *size, digests);
                    out.extend(new.ok_or(EditError::Unfaithful)?);
                }
                None => out.extend_from_slice(old),
            }
            names.push(&line.name);
        }
        for (name, line) in added {
            out.extend_from_slice(line);
            names.push(name);
        }
        out.extend_from_slice(&self.bytes[at..]);
        self.verify(&out, edits, &names)?;
        Ok(out)
    }

    /// Reads the result, and compares it with what it should be.
    fn verify(&self, out: &[u8], edits: &Edits, names: &[&[u8]]) -> Result<(), EditError> {
        let Form { format, end, asked, .. } = &self.form;
        let new = Self::parse(out.to_vec(), format.clone(), *end, asked, u64::MAX)?;
        // A new file may have several lines, one for each algorithm.
        let mut found: Vec<_> = new.lines.iter().map(|line| &*line.name).collect();
        found.dedup();
        let mut expected = names.to_vec();
        expected.dedup();
        let mut kept = BTreeMap::new();
        for (nth, line) in self.lines.iter().enumerate().filter(|(nth, _)| !edits.removed.contains(nth)) {
            let digests = edits.replaced.get(&nth).map_or(&line.digests, |(_, digests)| digests);
            digests.iter().for_each(|it| *kept.entry((&*line.name, it.0, it.1.as_bytes())).or_insert(0) += 1);
        }
        let mut present = BTreeMap::new();
        for line in &new.lines {
            let digests = line.digests.iter();
            digests.for_each(|it| *present.entry((&*line.name, it.0, it.1.as_bytes())).or_insert(0) += 1);
        }
        let is_kept = kept.iter().all(|(key, n)| present.get(key).is_some_and(|there| there >= n));
        if found == expected && is_kept { Ok(()) } else { Err(EditError::Unfaithful) }
    }
}

/// Returns a name without `./` at its start.
fn bare(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"./").unwrap_or(name)
}

/// Returns the bytes that end a line.
fn line_ends(format: &ListFormat, end: End) -> [u8; 2] {
    match (format, end) {
        (ListFormat::Sums, End::Nul) => [0, 0],
        (ListFormat::Bag(_), _) => [b'\n', b'\r'],
        _ => [b'\n', b'\n'],
    }
}

/// Returns where each line of a list is, with its end.
fn ranges(bytes: &[u8], format: &ListFormat, end: End) -> Vec<Range<usize>> {
    let [one, other] = line_ends(format, end);
    let (mut ranges, mut start) = (Vec::new(), 0);
    while start < bytes.len() {
        let rest = &bytes[start..];
        let mut len = memchr2(one, other, rest).map_or(rest.len(), |at| at + 1);
        if other == b'\r' && rest[..len].ends_with(b"\r") && rest.get(len) == Some(&b'\n') {
            len += 1;
        }
        ranges.push(start..start + len);
        start += len;
    }
    ranges
}

/// Refuses a list of hashdeep with a column that ftk cannot compute.
fn check_columns(bytes: &[u8], format: &ListFormat) -> Result<(), EditError> {
    if *format != ListFormat::Hashdeep {
        return Ok(());
    }
    let mut lines = bytes;
    // If the header is malformed, the reader of the list says so.
    let Ok(reader) = HashdeepReader::new(&mut lines as &mut dyn BufRead).map_err(EditError::Read)? else {
        return Ok(());
    };
    match reader.algorithms().iter().find(|name| name.parse::<Algorithm>().is_err()) {
        Some(name) => Err(EditError::Line(2, format!("unsupported algorithm {name}"))),
        None => Ok(()),
    }
}

impl Form {
    /// Returns a line without its end.
    fn content<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        match &self.format {
            ListFormat::Sums => {
                let end = if self.end == End::Nul { 0 } else { b'\n' };
                let line = line.strip_suffix(&[end]).unwrap_or(line);
                line.strip_suffix(b"\r").filter(|_| self.has_dos_ends).unwrap_or(line)
            }
            ListFormat::Bag(_) => {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                line.strip_suffix(b"\r").unwrap_or(line)
            }
            ListFormat::Sfv => line.trim_ascii_end(),
            ListFormat::Hashdeep | ListFormat::Mhl => {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                &line[..line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1)]
            }
        }
    }

    /// Returns where digest and name of a line are, and how the digest is written. An escaped name has no place.
    fn parts(&self, line: &[u8]) -> Option<(Range<usize>, Option<Range<usize>>, Encoding)> {
        let content = self.content(line);
        let place = |part: &[u8]| {
            let start = part.as_ptr().addr() - line.as_ptr().addr();
            start..start + part.len()
        };
        match &self.format {
            ListFormat::Sums => {
                let parsed = SumLine::parse_in(content, self.end, &mut self.separator.clone()).ok()?;
                let name = match &parsed.name {
                    Cow::Borrowed(name) => Some(place(name)),
                    Cow::Owned(_) => None,
                };
                Some((place(parsed.digest), name, parsed.encoding))
            }
            ListFormat::Sfv => {
                let parsed = SfvLine::parse(content).ok()?;
                Some((place(parsed.hex), Some(place(parsed.name)), Encoding::Hex))
            }
            ListFormat::Bag(_) => {
                let parsed = BagLine::parse(content).ok()?;
                Some((place(parsed.hex), Some(place(parsed.encoded())), Encoding::Hex))
            }
            ListFormat::Hashdeep | ListFormat::Mhl => None,
        }
    }

    /// Returns a line like `model` with another name and digest.
    fn fill(&self, model: &[u8], name: &[u8], digest: &Digest) -> Option<Vec<u8>> {
        let (digits, place, encoding) = self.parts(model)?;
        let place = place?;
        let (escaped, is_escaped) = self.escaped(name);
        let digits_text = self.encode(digest, &model[digits.clone()], encoding);
        let mut parts = [(digits, &*digits_text), (place, &*escaped)];
        parts.sort_by_key(|(range, _)| range.start);
        let [(one, first), (other, second)] = parts;
        let mut line = Vec::new();
        if is_escaped {
            line.push(b'\\');
        }
        for part in [&model[..one.start], first, &model[one.end..other.start], second, &model[other.end..]] {
            line.extend_from_slice(part);
        }
        Some(line)
    }

    /// Returns a line as the coreutils write it, tagged if `model` is: all lines of the list have escaped names.
    fn usual(&self, model: &[u8], name: &[u8], algorithm: Algorithm, digest: &Digest) -> Vec<u8> {
        let is_tagged = model.strip_prefix(b"\\").is_some_and(|line| {
            let tag = &line[..line.iter().position(|byte| *byte == b' ').unwrap_or(0)];
            str::from_utf8(tag).is_ok_and(|tag| by_tag(tag) == Some(algorithm))
        });
        let style = if is_tagged { Style::Tagged } else { Style::Untagged };
        let mut line = Vec::new();
        SumFormat::new(algorithm.tag(), style, self.end).write_line(&mut line, digest.as_bytes(), name);
        if self.has_dos_ends {
            line.truncate(line.len() - 1);
            line.extend_from_slice(b"\r\n");
        }
        line
    }

    /// Returns the name as it is written in a line of sums, and whether this needs a backslash at the start of the line.
    fn escaped(&self, name: &[u8]) -> (Vec<u8>, bool) {
        if self.format != ListFormat::Sums || self.end == End::Nul {
            return (name.to_vec(), false);
        }
        let mut line = Vec::new();
        SumFormat::new("", Style::Untagged, End::Newline).write_line(&mut line, &[], name);
        let is_escaped = line.starts_with(b"\\");
        let start = usize::from(is_escaped) + b"  ".len();
        (line[start..line.len() - 1].to_vec(), is_escaped)
    }

    /// Checks that a line is read as it is meant.
    fn check(&self, line: &[u8], name: &[u8], algorithm: Algorithm, digest: &Digest) -> Result<(), String> {
        if self.format == ListFormat::Sfv {
            check_sfv_name(name).map_err(|why| why.to_string())?;
        }
        let wrong = || "the list has no form of line for this name".to_owned();
        if line.starts_with(b"#") && self.format != ListFormat::Sfv {
            return Err(wrong());
        }
        let content = self.content(line);
        let mut bytes = Vec::new();
        let read = match &self.format {
            ListFormat::Sums => {
                let parsed = SumLine::parse_in(content, self.end, &mut self.separator.clone());
                let parsed = parsed.map_err(|why| why.to_string())?;
                parsed.push_digest(&mut bytes);
                parsed.name.into_owned()
            }
            ListFormat::Sfv => SfvLine::parse(content).map_err(|why| why.to_string())?.name.to_vec(),
            ListFormat::Bag(_) => BagLine::parse(content).map_err(|why| why.to_string())?.path().into_owned(),
            ListFormat::Hashdeep | ListFormat::Mhl => name.to_vec(),
        };
        let is_same = bytes.is_empty() || bytes == digest.as_bytes();
        let has_length = digest.as_bytes().len() == algorithm.digest_len();
        if read == name && is_same && has_length { Ok(()) } else { Err(wrong()) }
    }

    /// Returns a line with another size and other digests.
    fn replaced(
        &self,
        old: &[u8],
        line: &ListedLine,
        size: u64,
        digests: &[(Algorithm, Digest)],
    ) -> Option<Vec<u8>> {
        if self.format == ListFormat::Hashdeep {
            let mut new = Vec::new();
            write_hashdeep_line(&mut new, size, digests.iter().map(|it| it.1.as_bytes()), &line.name).ok()?;
            new.truncate(new.len() - 1);
            new.extend_from_slice(&old[self.content(old).len()..]);
            return Some(new);
        }
        let (digits, _, encoding) = self.parts(old)?;
        let text = self.encode(&digests.first()?.1, &old[digits.clone()], encoding);
        Some([&old[..digits.start], &text, &old[digits.end..]].concat())
    }

    /// Writes a digest as `model` is written.
    fn encode(&self, digest: &Digest, model: &[u8], encoding: Encoding) -> Vec<u8> {
        let bytes = digest.as_bytes();
        if encoding == Encoding::Base64 {
            let padded = BASE64.encode(bytes);
            let is_padded = model.len() >= padded.len();
            return if is_padded { padded } else { BASE64_NOPAD.encode(bytes) }.into_bytes();
        }
        let mut hex = Vec::new();
        push_hex(&mut hex, bytes);
        if self.is_upper {
            hex.make_ascii_uppercase();
        }
        hex
    }
}

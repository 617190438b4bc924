//! The one reader of lists of digests, in all formats that ftk reads.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_hash::{Algorithm, Digest};

use crate::{
    BagError, BagReader, Encoding, End, HASHDEEP_HEADER, HashdeepError, HashdeepReader, MhlError, MhlKind,
    MhlReader, MhlUnusable, SfvError, SfvLine, SfvReader, SumError, SumLine, SumReader, begins_mhl,
};

/// The format of a list of digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// The lines of `sha256sum` and similar tools.
    Sums,
    /// A list of hashdeep.
    Hashdeep,
    /// A BagIt manifest, with the name of its algorithm.
    Bag(String),
    /// CRC-32 in the form of Simple File Verification.
    Sfv,
    /// A film hash list: MHL 1.1, or a generation or chain file of ASC MHL 2.0. Of generations, digests of failed checks
    /// are not used.
    Mhl,
}

impl ListFormat {
    /// Returns the format of the list `path` that begins with `start`: hashdeep by its first line, film hash lists by
    /// their name or first element, SFV by its name or by a comment and the first line after it, and a BagIt manifest by
    /// its name and a file `bagit.txt` next to it.
    pub fn of(path: &OsStr, start: &[u8]) -> Self {
        if start.starts_with(HASHDEEP_HEADER) {
            return Self::Hashdeep;
        }
        let path = Path::new(path);
        if begins_mhl(start) || path.extension().is_some_and(|it| it.eq_ignore_ascii_case("mhl")) {
            return Self::Mhl;
        }
        if begins_sfv(start) || path.extension().is_some_and(|it| it.eq_ignore_ascii_case("sfv")) {
            return Self::Sfv;
        }
        match BagFile::of(path.file_name().unwrap_or_default().as_bytes()) {
            Some(file) if path.with_file_name("bagit.txt").is_file() => Self::Bag(file.algorithm),
            _ => Self::Sums,
        }
    }
}

/// Returns whether a list begins with a comment of SFV and a line that can be nothing else. Lists of MD5 have such
/// comments too.
fn begins_sfv(start: &[u8]) -> bool {
    let is_comment = |line: &&[u8]| line.is_empty() || line[0] == b';';
    let first = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !is_comment(line));
    let is_sfv = |line| SfvLine::parse(line).is_ok() && SumLine::parse(line, End::Newline).is_err();
    start.starts_with(b";") && first.is_some_and(is_sfv)
}

/// What the name of a BagIt manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BagFile {
    /// The name of the algorithm.
    pub algorithm: String,
    /// Whether it is a manifest of tag files.
    pub is_tag: bool,
}

impl BagFile {
    /// Returns what a file name says: `manifest-ALGORITHM.txt` or `tagmanifest-ALGORITHM.txt`.
    pub fn of(file_name: &[u8]) -> Option<Self> {
        let (is_tag, rest) = match file_name.strip_prefix(b"tag") {
            Some(rest) => (true, rest),
            None => (false, file_name),
        };
        let algorithm = rest.strip_prefix(b"manifest-")?.strip_suffix(b".txt")?;
        let algorithm = str::from_utf8(algorithm).ok().filter(|name| !name.is_empty())?;
        Some(Self { algorithm: algorithm.to_owned(), is_tag })
    }
}

/// A reader of a list of digests in any format. Uses memory for one line, up to a fixed limit.
///
/// Each line is usable, or has a digest that cannot be used, or is other text without a digest
/// ([`ListError::has_digest`]).
///
/// ```
/// use ftk_hash::Algorithm;
/// use ftk_record::{End, ListFormat, ListReader};
///
/// let list = b"MD5 (a) = 900150983cd24fb0d6963f7d28e17f72\nSHA3-384 (b) = 00\n";
/// let mut reader = ListReader::open(&list[..], ListFormat::Sums, End::Newline, &[])?;
/// let line = reader.next()?.expect("a line").line.unwrap();
/// assert_eq!((&*line.name, line.digests[0].0), (&b"a"[..], Algorithm::Md5));
/// let unusable = reader.next()?.expect("a line").line.unwrap_err();
/// assert_eq!(unusable.why.to_string(), "unsupported algorithm SHA3-384");
/// assert!(unusable.why.has_digest());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ListReader<'a, R> {
    lines: Lines<R>,
    /// The algorithms of untagged lines; none: the length of the digest decides.
    asked: &'a [Algorithm],
    assumed: Vec<Algorithm>,
    digests: Vec<(Algorithm, Digest)>,
}

/// The lines of a list by its format.
#[derive(Debug)]
enum Lines<R> {
    Sums(SumReader<R>),
    /// With the algorithm of each column, if ftk has it.
    Hashdeep(HashdeepReader<R>, Vec<Option<Algorithm>>),
    Bag(BagReader<R>, Algorithm),
    Sfv(SfvReader<R>),
    Mhl(Box<MhlReader<R>>),
    /// No line can be used for the reason in this one.
    Refused(Option<(u64, ListError)>),
}

/// One line of a list.
#[derive(Debug)]
pub struct ListRecord<'r> {
    /// The line number; the first line is 1.
    pub number: u64,
    /// Whether the line has an end. If not, the list may be cut off in this line.
    pub is_ended: bool,
    /// What the line says, or why it cannot be used.
    pub line: Result<ListLine<'r>, Unusable>,
}

/// What a line says about a file.
#[derive(Debug)]
pub struct ListLine<'r> {
    /// The name of the file.
    pub name: Cow<'r, [u8]>,
    /// The name that a line of a BagIt manifest means if a program wrote it that does not encode `%`.
    pub other_name: Option<Cow<'r, [u8]>>,
    /// The size of the file, if the list has sizes.
    pub size: Option<u64>,
    /// The digests, at least one, with the lengths of their algorithms.
    pub digests: &'r [(Algorithm, Digest)],
}

impl<'a, R: BufRead> ListReader<'a, R> {
    /// Creates a reader. Lines of sums end with `end`. `asked` are the possible algorithms of untagged sums; if it is
    /// empty, the length of the digest decides.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn open(input: R, format: ListFormat, end: End, asked: &'a [Algorithm]) -> io::Result<Self> {
        let lines = match format {
            ListFormat::Sums => Lines::Sums(SumReader::new(input, end)),
            ListFormat::Sfv => Lines::Sfv(SfvReader::new(input)),
            ListFormat::Mhl => Lines::Mhl(Box::new(MhlReader::new(input))),
            ListFormat::Bag(name) => match name.parse() {
                Ok(algorithm) => Lines::Bag(BagReader::new(input), algorithm),
                Err(_) => Lines::Refused(Some((1, ListError::Tag(name)))),
            },
            ListFormat::Hashdeep => match HashdeepReader::new(input)? {
                Ok(reader) => hashdeep(reader),
                Err(error) => Lines::Refused(Some((COLUMNS, ListError::Hashdeep(error)))),
            },
        };
        Ok(Self { lines, asked, assumed: Vec::new(), digests: Vec::new() })
    }

    /// Returns the next line, or `None` at the end of the list. Reading can continue after an unusable line.
    ///
    /// # Errors
    /// When the input cannot be read, or its lines have different ends: see [`SumReader::next`].
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's buffers")]
    pub fn next(&mut self) -> io::Result<Option<ListRecord<'_>>> {
        let Self { lines, asked, assumed, digests } = self;
        digests.clear();
        let (number, is_ended, line) = match lines {
            Lines::Refused(why) => {
                let refused = why.take().map(|(number, why)| ListRecord {
                    number,
                    is_ended: true,
                    line: Err(Unusable { name: None, why }),
                });
                return Ok(refused);
            }
            Lines::Sums(reader) => {
                let Some(record) = reader.next()? else { return Ok(None) };
                let line = record.line.map_err(Unusable::from).and_then(|line| {
                    let (algorithm, is_assumed) = match algorithm(&line, asked) {
                        Ok(found) => found,
                        Err(why) => return Err(Unusable { name: Some(line.name.into_owned()), why }),
                    };
                    if is_assumed && !assumed.contains(&algorithm) {
                        assumed.push(algorithm);
                    }
                    let mut digest = Vec::with_capacity(Digest::MAX_LEN);
                    line.push_digest(&mut digest);
                    digests.push((algorithm, Digest::from_bytes(&digest)));
                    Ok((line.name, None, None))
                });
                (record.number, record.is_ended, line)
            }
            Lines::Hashdeep(reader, columns) => {
                let Some(record) = reader.next()? else { return Ok(None) };
                let line = record.line.map_err(Unusable::from).and_then(|line| {
                    for (hex, column) in line.hex().zip(columns) {
                        let Some(algorithm) = *column else { continue };
                        digests.push((algorithm, digest(hex, algorithm, line.name)?));
                    }
                    Ok((Cow::Borrowed(line.name), None, Some(line.size)))
                });
                (record.number, record.is_ended, line)
            }
            Lines::Bag(reader, algorithm) => {
                let Some(record) = reader.next()? else { return Ok(None) };
                let line = record.line.map_err(Unusable::from).and_then(|line| {
                    let name = line.path();
                    digests.push((*algorithm, digest(line.hex, *algorithm, &name)?));
                    Ok((name, line.path_of_python(), None))
                });
                (record.number, record.is_ended, line)
            }
            Lines::Sfv(reader) => {
                let Some(record) = reader.next()? else { return Ok(None) };
                let line = record.line.map_err(Unusable::from).and_then(|line| {
                    digests.push((Algorithm::Crc32, digest(line.hex, Algorithm::Crc32, line.name)?));
                    Ok((Cow::Borrowed(line.name), None, None))
                });
                (record.number, record.is_ended, line)
            }
            Lines::Mhl(reader) => loop {
                let Some(record) = reader.next()? else { return Ok(None) };
                let item = match record.item {
                    Ok(item) if matches!(item.kind, MhlKind::Directory | MhlKind::Ignored) => continue,
                    Ok(item) => item,
                    Err(unusable) => break (record.line, true, Err(Unusable::from(unusable))),
                };
                digests.extend(item.usable());
                let line = match digests.is_empty() {
                    true => Err(MhlUnusable { path: Some(item.path), why: MhlError::Failed }.into()),
                    false => Ok((Cow::Owned(item.path.into_bytes()), None, item.size)),
                };
                break (record.line, true, line);
            },
        };
        let line = line.map(|(name, other_name, size)| ListLine { name, other_name, size, digests });
        Ok(Some(ListRecord { number, is_ended, line }))
    }

    /// Returns the algorithms that were guessed from the length of a digest so far.
    pub fn assumed(&self) -> &[Algorithm] {
        &self.assumed
    }

    /// Returns whether other text, such as a signature, may surround the lines. In the other formats it is a sign of
    /// damage, or of a name with a line end.
    pub fn allows_text(&self) -> bool {
        matches!(self.lines, Lines::Sums(_))
    }

    /// Returns whether the lines of the list have DOS line ends, which are not part of the names.
    pub fn has_dos_ends(&self) -> bool {
        matches!(&self.lines, Lines::Sums(reader) if reader.has_dos_ends())
    }
}

/// The line of the header of hashdeep that names the columns.
const COLUMNS: u64 = 2;

fn hashdeep<R: BufRead>(reader: HashdeepReader<R>) -> Lines<R> {
    // `hashdeep` has algorithms that ftk does not have.
    let columns: Vec<Option<Algorithm>> = reader.algorithms().iter().map(|name| name.parse().ok()).collect();
    let known: Vec<_> = columns.iter().copied().flatten().collect();
    if let Some(twice) = known.iter().enumerate().find(|(nth, it)| known[..*nth].contains(it)) {
        return Lines::Refused(Some((COLUMNS, ListError::Column(*twice.1))));
    }
    if known.is_empty() {
        return Lines::Refused(Some((COLUMNS, ListError::Tag(reader.algorithms().join(", ")))));
    }
    Lines::Hashdeep(reader, columns)
}

/// Returns the digest for hexadecimal digits, if it fits the algorithm.
fn digest(hex: &[u8], algorithm: Algorithm, name: &[u8]) -> Result<Digest, Unusable> {
    Digest::from_hex(hex).filter(|it| it.as_bytes().len() == algorithm.digest_len()).ok_or_else(|| {
        let why = ListError::Length { len: hex.len() / 2, encoding: Encoding::Hex, of: vec![algorithm] };
        Unusable { name: Some(name.to_vec()), why }
    })
}

/// Returns the algorithm of a line, and whether it was guessed.
///
/// A tag decides. Without a tag, it is the first algorithm of `asked` with digests of this length, or the one
/// of [`DEFAULT_ALGORITHMS`] if `asked` is empty.
fn algorithm(line: &SumLine<'_>, asked: &[Algorithm]) -> Result<(Algorithm, bool), ListError> {
    let len = line.digest_len();
    if let Some(tag) = line.tag {
        let algorithm = by_tag(tag).ok_or_else(|| ListError::Tag(tag.to_owned()))?;
        return if algorithm.digest_len() == len {
            Ok((algorithm, false))
        } else {
            Err(ListError::Length { len, encoding: line.encoding, of: vec![algorithm] })
        };
    }
    let known = if asked.is_empty() { &DEFAULT_ALGORITHMS[..] } else { asked };
    let found = known.iter().find(|algorithm| algorithm.digest_len() == len);
    let unusable = || ListError::Length { len, encoding: line.encoding, of: asked.to_vec() };
    found.map(|&algorithm| (algorithm, asked.is_empty())).ok_or_else(unusable)
}

/// The algorithms assumed for untagged digests, by their length. Other algorithms have digests of the same
/// lengths. XXH3, whose digests have 16 digits like those of XXH64, always has a tag.
pub(crate) const DEFAULT_ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Sha256,
    Algorithm::Sha1,
    Algorithm::Sha512,
    Algorithm::Md5,
    Algorithm::Xxh64,
    Algorithm::Sha224,
    Algorithm::Sha384,
    Algorithm::Crc32,
];

/// Returns the algorithm for a tag, which is its name or the name that openssl uses.
pub(crate) fn by_tag(tag: &str) -> Option<Algorithm> {
    match tag {
        "SHA2-256" => Some(Algorithm::Sha256),
        "SHA2-512" => Some(Algorithm::Sha512),
        "SHA2-224" => Some(Algorithm::Sha224),
        "SHA2-384" => Some(Algorithm::Sha384),
        "BLAKE2B-512" | "BLAKE2b-512" => Some(Algorithm::Blake2b),
        "BLAKE3-256" => Some(Algorithm::Blake3),
        _ => tag.parse().ok(),
    }
}

/// A line that cannot be used.
#[derive(Clone, Debug)]
pub struct Unusable {
    /// The name of the file, if the line has a valid one.
    pub name: Option<Vec<u8>>,
    /// The reason.
    pub why: ListError,
}

impl<E: Into<ListError>> From<E> for Unusable {
    fn from(why: E) -> Self {
        Self { name: None, why: why.into() }
    }
}

impl From<MhlUnusable> for Unusable {
    fn from(unusable: MhlUnusable) -> Self {
        Self { name: unusable.path.map(String::into_bytes), why: ListError::Mhl(unusable.why) }
    }
}

/// Why a line of a list, or the whole list, cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ListError {
    /// A line of `sha256sum` or a similar tool.
    Sum(SumError),
    /// A line of a list of hashdeep.
    Hashdeep(HashdeepError),
    /// A line of a BagIt manifest.
    Bag(BagError),
    /// A line of an SFV list.
    Sfv(SfvError),
    /// An item of a film hash list.
    Mhl(MhlError),
    /// The name of an unsupported algorithm, or several.
    Tag(String),
    /// A list of hashdeep has two columns of this algorithm.
    Column(Algorithm),
    /// The digest has `len` bytes, unlike those of the algorithms in `of`. If `of` is empty, no supported
    /// algorithm has digests of this length.
    Length {
        /// The number of bytes.
        len: usize,
        /// How the digest is written.
        encoding: Encoding,
        /// The possible algorithms.
        of: Vec<Algorithm>,
    },
}

impl ListError {
    /// Returns whether the line has a digest, which means that a file was meant to be checked. Otherwise it is other
    /// text.
    pub fn has_digest(&self) -> bool {
        match self {
            Self::Sum(error) => error.has_digest(),
            Self::Hashdeep(error) => error.has_digest(),
            Self::Bag(_)
            | Self::Sfv(_)
            | Self::Mhl(_)
            | Self::Tag(_)
            | Self::Column(_)
            | Self::Length { .. } => true,
        }
    }
}

impl From<SumError> for ListError {
    fn from(error: SumError) -> Self {
        Self::Sum(error)
    }
}

impl From<HashdeepError> for ListError {
    fn from(error: HashdeepError) -> Self {
        Self::Hashdeep(error)
    }
}

impl From<BagError> for ListError {
    fn from(error: BagError) -> Self {
        Self::Bag(error)
    }
}

impl From<SfvError> for ListError {
    fn from(error: SfvError) -> Self {
        Self::Sfv(error)
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sum(error) => error.fmt(f),
            Self::Sfv(error) => error.fmt(f),
            Self::Mhl(error) => error.fmt(f),
            Self::Column(algorithm) => write!(f, "two columns of {algorithm}"),
            Self::Hashdeep(error) => error.fmt(f),
            Self::Bag(error) => error.fmt(f),
            Self::Tag(tag) if tag.starts_with("TREE-") => {
                write!(
                    f,
                    "{tag} is the digest of a directory: compare it with that of `ftk hash --tree --tag`"
                )
            }
            Self::Tag(tag) => write!(f, "unsupported algorithm {tag}"),
            Self::Length { len, encoding, of } => {
                let (unit, each) = match encoding {
                    Encoding::Hex => ("digits", 2),
                    Encoding::Base64 => ("bytes in base64", 1),
                };
                let len = each * len;
                if of.is_empty() {
                    return write!(f, "no supported algorithm has digests of {len} {unit}");
                }
                let expected: Vec<_> =
                    of.iter().map(|it| format!("{} for {}", each * it.digest_len(), it.tag())).collect();
                write!(f, "the digest has {len} {unit}, expected {}", expected.join(" or "))
            }
        }
    }
}

impl std::error::Error for ListError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised() {
        let of = |path: &str, start: &str| ListFormat::of(OsStr::new(path), start.as_bytes());
        let (md5, crc) = ("d41d8cd98f00b204e9800998ecf8427e", "00000000");
        assert_eq!(of("-", "%%%% HASHDEEP-1.0\n"), ListFormat::Hashdeep);
        assert_eq!(of("a.sfv", ""), ListFormat::Sfv);
        assert_eq!(of("d/a.SFV", "x"), ListFormat::Sfv);
        assert_eq!(of("-", &format!("; by hand\r\n;\r\n\r\na {crc}\r\n")), ListFormat::Sfv);
        for start in [
            format!("; MD5 checksums\n\n{md5} *a {crc}\n"),
            format!("MD5 (a) = {md5}\n"),
            format!("a {crc}\n"),
            "; no more".into(),
            ";".into(),
            String::new(),
        ] {
            assert_eq!(of("manifest-md5.txt", &start), ListFormat::Sums, "{start:?}");
        }
    }

    fn of(line: &str, asked: &[Algorithm]) -> Result<(Algorithm, bool), String> {
        let line = SumLine::parse(line.as_bytes(), End::Newline).unwrap();
        algorithm(&line, asked).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tag_decides() {
        let digits = |algorithm: Algorithm| "0a".repeat(algorithm.digest_len());
        for algorithm in Algorithm::ALL {
            let line = format!("{} (x) = {}", algorithm.tag(), digits(algorithm));
            assert_eq!(of(&line, &[]), Ok((algorithm, false)));
            assert_eq!(of(&line, &[Algorithm::Md5]), Ok((algorithm, false)));
            assert_eq!(of(&line.to_lowercase(), &[]), Ok((algorithm, false)));
        }
        for (tag, algorithm) in [
            ("SHA2-256", Algorithm::Sha256),
            ("BLAKE2B-512", Algorithm::Blake2b),
            ("BLAKE3-256", Algorithm::Blake3),
            ("SHA2-384", Algorithm::Sha384),
            ("SHA3-512", Algorithm::Sha3_512),
        ] {
            assert_eq!(of(&format!("{tag}(x)= {}", digits(algorithm)), &[]), Ok((algorithm, false)));
        }
        let error = of("BLAKE2b-256 (x) = 00", &[]).unwrap_err();
        assert_eq!(error, "unsupported algorithm BLAKE2b-256");
        let error = of("MD5 (x) = 0011", &[]).unwrap_err();
        assert_eq!(error, "the digest has 4 digits, expected 32 for MD5");
    }

    #[test]
    fn untagged_digests_use_the_given_algorithms_or_their_length() {
        let line = |digits: usize| format!("{}  x", "a".repeat(digits));
        for (digits, algorithm) in [
            (16, Algorithm::Xxh64),
            (32, Algorithm::Md5),
            (40, Algorithm::Sha1),
            (64, Algorithm::Sha256),
            (128, Algorithm::Sha512),
            (56, Algorithm::Sha224),
            (96, Algorithm::Sha384),
            (8, Algorithm::Crc32),
        ] {
            assert_eq!(of(&line(digits), &[]), Ok((algorithm, true)));
        }
        let error = "no supported algorithm has digests of 62 digits".to_owned();
        assert_eq!(of(&line(62), &[]), Err(error));
        let asked = [Algorithm::Blake3, Algorithm::Sha256, Algorithm::Blake2b];
        assert_eq!(of(&line(64), &asked), Ok((Algorithm::Blake3, false)));
        assert_eq!(of(&line(128), &asked), Ok((Algorithm::Blake2b, false)));
        let error = of(&line(32), &asked).unwrap_err();
        assert_eq!(
            error,
            "the digest has 32 digits, expected 64 for BLAKE3 or 64 for SHA256 or 128 for BLAKE2b"
        );
    }
}

//! The reader of film hash lists.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, ErrorKind};

use ftk_hash::{Algorithm, Digest};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::element::Element;
use super::parse_digest;
use super::xml::{Bounded, is_xml_char};
use crate::MAX_LINE;
use crate::terminal::sanitize;

/// The most elements around each other. Lists have six.
const MAX_DEPTH: usize = 32;

/// What an item of a list describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MhlKind {
    /// A file and its digests.
    File,
    /// A directory with its content hashes and structure hashes. The path of the outermost one is `.`.
    Directory,
    /// A generation: in a chain file one of this history, and else one of a nested history.
    Generation,
    /// A pattern of files that are not recorded, which is the path of the item.
    Ignored,
}

/// A digest of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MhlDigest {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The digest, of the algorithm's length.
    pub digest: Digest,
    /// Whether it was found when another one was expected (`action="failed"`).
    pub is_failed: bool,
}

/// An item of a film hash list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MhlItem {
    /// What it describes.
    pub kind: MhlKind,
    /// The path as the list has it, never empty and without NUL.
    pub path: String,
    /// The path that the file or directory had before it was renamed.
    pub previous_path: Option<String>,
    /// The size in bytes, if the list has it.
    pub size: Option<u64>,
    /// The number of a generation in a chain file.
    pub number: Option<u64>,
    /// The digests of a file or generation, or the content hashes of a directory; each by another algorithm.
    pub digests: Vec<MhlDigest>,
    /// The structure hashes of a directory.
    pub structure: Vec<MhlDigest>,
}

impl MhlItem {
    /// Returns the digests that say what the content is: those of failed checks do not.
    pub fn usable(&self) -> impl Iterator<Item = (Algorithm, Digest)> {
        self.digests.iter().filter(|it| !it.is_failed).map(|it| (it.algorithm, it.digest))
    }
}

/// One item, and where it is.
#[derive(Debug)]
pub struct MhlRecord {
    /// The number of the line in which the item begins; the first is 1.
    pub line: u64,
    /// The item, or why it cannot be used.
    pub item: Result<MhlItem, MhlUnusable>,
}

/// An item that cannot be used.
#[derive(Debug)]
pub struct MhlUnusable {
    /// The path, if the item has one.
    pub path: Option<String>,
    /// The reason.
    pub why: MhlError,
}

/// Why an item cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MhlError {
    /// It has no path, or an empty one.
    NoPath,
    /// Its size is not a number.
    Size,
    /// The text of this element is not a digest of its algorithm.
    Digest(String),
    /// It has two of this element.
    Twice(String),
    /// It has no digest that ftk can check, but perhaps these elements.
    NoDigest(Vec<String>),
    /// All its digests are those of a check that failed.
    Failed,
}

impl fmt::Display for MhlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPath => f.write_str("it has no path"),
            Self::Size => f.write_str("its size is not a number"),
            Self::Digest(element) => write!(f, "the text of <{element}> is not such a digest"),
            Self::Twice(element) => write!(f, "it has <{element}> twice"),
            Self::NoDigest(elements) => {
                f.write_str("it has no digest that ftk can check")?;
                match elements.is_empty() {
                    true => Ok(()),
                    false => write!(f, ", but <{}>", elements.join(">, <")),
                }
            }
            Self::Failed => f.write_str("its digest is that of a failed check"),
        }
    }
}

impl std::error::Error for MhlError {}

/// A reader of a film hash list. Uses memory for one item.
///
/// Entities other than those of XML itself, and document type definitions, are errors.
///
/// ```
/// use ftk_record::MhlReader;
///
/// let list = br#"<hashlist version="1.1"><hash><file>a &amp; b</file><size>3</size>
///     <md5>900150983cd24fb0d6963f7d28e17f72</md5></hash></hashlist>"#;
/// let mut reader = MhlReader::new(&list[..]);
/// let item = reader.next()?.expect("an item").item.unwrap();
/// assert_eq!((&*item.path, item.size), ("a & b", Some(3)));
/// assert!(reader.next()?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MhlReader<R> {
    xml: Reader<Bounded<R>>,
    /// The bytes of one event.
    buffer: Vec<u8>,
    /// The elements around the current place.
    open: Vec<Element>,
    /// The text of the current element.
    text: String,
    /// Whether the outermost element has ended.
    is_over: bool,
    draft: Draft,
}

/// An item while it is read.
#[derive(Debug, Default)]
struct Draft {
    line: u64,
    path: Option<String>,
    previous_path: Option<String>,
    size: Option<u64>,
    number: Option<u64>,
    digests: Vec<MhlDigest>,
    structure: Vec<MhlDigest>,
    /// Elements that may be digests by algorithms that ftk does not have.
    unknown: Vec<String>,
    /// Whether the current digest was found in a failed check.
    is_failed: bool,
    wrong: Option<MhlError>,
}

impl<R: BufRead> MhlReader<R> {
    /// Creates a reader.
    pub fn new(input: R) -> Self {
        let mut xml = Reader::from_reader(Bounded::new(input));
        xml.config_mut().expand_empty_elements = true;
        Self {
            xml,
            buffer: Vec::new(),
            open: Vec::new(),
            text: String::new(),
            is_over: false,
            draft: Draft::default(),
        }
    }

    /// Returns the next item, or `None` at the end. Reading can continue after an item that cannot be used.
    ///
    /// # Errors
    /// When the input cannot be read, is not a whole film hash list in well-formed XML, or exceeds a limit of size or
    /// depth. Then the kind is `InvalidData`, and the message names the line.
    #[expect(
        clippy::should_implement_trait,
        reason = "it returns io::Result<Option<_>>, as other readers do"
    )]
    pub fn next(&mut self) -> io::Result<Option<MhlRecord>> {
        self.step_to_item().map_err(|error| match error {
            Stopped::Io(error) if error.kind() != ErrorKind::InvalidData => error,
            Stopped::Io(error) => self.invalid(&error),
            Stopped::Xml(what) => self.invalid(&what),
        })
    }

    fn invalid(&self, what: &dyn fmt::Display) -> io::Error {
        let line = self.line();
        io::Error::new(
            ErrorKind::InvalidData,
            format!("line {line}: {}", sanitize(what.to_string().as_bytes())),
        )
    }

    fn line(&self) -> u64 {
        self.xml.get_ref().newlines + 1
    }

    fn step_to_item(&mut self) -> Result<Option<MhlRecord>, Stopped> {
        loop {
            self.xml.get_mut().begin(MAX_LINE);
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let stepped = match self.xml.read_event_into(&mut buffer) {
                Ok(event) => self.event(event),
                Err(quick_xml::Error::Io(error)) => Err(Stopped::Io(io::Error::new(error.kind(), error))),
                Err(error) => Err(Stopped::Xml(error.to_string())),
            };
            self.buffer = buffer;
            match stepped? {
                Step::On => {}
                Step::Item(record) => return Ok(Some(record)),
                Step::End => return Ok(None),
            }
        }
    }

    fn event(&mut self, event: Event<'_>) -> Result<Step, Stopped> {
        match event {
            Event::Start(tag) => self.start(&tag)?,
            Event::End(tag) => return Ok(self.end(tag.local_name().as_ref())),
            Event::Text(text) => self.push(&text.xml10_content())?,
            Event::CData(text) => self.push(&text.xml10_content())?,
            Event::GeneralRef(name) => {
                let c = match name.resolve_char_ref().map_err(|error| Stopped::Xml(error.to_string()))? {
                    Some(c) => c,
                    None => {
                        predefined(&name).ok_or_else(|| Stopped::Xml(format!("the entity &{};", &*name)))?
                    }
                };
                self.push(c.encode_utf8(&mut [0; 4]))?;
            }
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().and_then(Result::ok).unwrap_or("UTF-8".into());
                if !["UTF-8", "US-ASCII"].iter().any(|it| encoding.eq_ignore_ascii_case(it)) {
                    return Err(Stopped::Xml(format!("the encoding {encoding}, and not UTF-8")));
                }
            }
            Event::DocType(_) => return Err(Stopped::Xml("a document type definition".into())),
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof if self.is_over => return Ok(Step::End),
            Event::Eof => return Err(Stopped::Xml("the list is cut off".into())),
            Event::Empty(_) => unreachable!("they are expanded"),
        }
        Ok(Step::On)
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Stopped> {
        if self.open.len() == MAX_DEPTH {
            return Err(Stopped::Xml("too many elements in each other".into()));
        }
        let name = tag.local_name();
        let found = match self.is_over {
            true => None,
            false => Element::of(self.open.last().copied(), name.as_ref()),
        };
        let name: &str = name.as_ref();
        let Some(element) = found else {
            return Err(Stopped::Xml(format!("the element <{name}>, where only <hashlist> can be")));
        };
        let attribute = |name| {
            let found = tag.try_get_attribute(name).map_err(|error| Stopped::Xml(error.to_string()))?;
            let value =
                found.map(|it| it.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned)).transpose();
            value.map_err(|error| Stopped::Xml(error.to_string()))
        };
        self.open.push(element);
        if element.has_text() {
            self.text.clear();
        }
        if element.is_item() {
            self.draft = Draft { line: self.line(), ..Draft::default() };
        }
        match element {
            Element::HashList => {
                let version = attribute("version")?.unwrap_or_default();
                if !version.starts_with("1.") && version != "2.0" {
                    return Err(Stopped::Xml(format!("version {version:?} of the list, and not 1.1 or 2.0")));
                }
            }
            Element::Path => {
                if let Some(size) = attribute("size")? {
                    self.draft.size(&size);
                }
            }
            Element::Reference => {
                self.draft.number = attribute("sequencenr")?.and_then(|number| number.parse().ok());
            }
            Element::Value => self.draft.is_failed = attribute("action")?.is_some_and(|it| it == "failed"),
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, text: &str) -> Result<(), Stopped> {
        if !self.open.last().is_some_and(|element| element.has_text()) {
            return Ok(());
        }
        if let Some(c) = text.chars().find(|c| !is_xml_char(*c)) {
            return Err(Stopped::Xml(format!("the character U+{:04X}", u32::from(c))));
        }
        self.text.push_str(text);
        if self.text.len() > MAX_LINE {
            return Err(Stopped::Xml("a text is too long".into()));
        }
        Ok(())
    }

    /// Ends the innermost element.
    fn end(&mut self, name: &str) -> Step {
        let Some(element) = self.open.pop() else { return Step::On };
        self.is_over = self.open.is_empty();
        let (draft, text) = (&mut self.draft, &mut self.text);
        match element {
            Element::Path => draft.set_path(text),
            Element::PreviousPath => draft.previous_path = Some(std::mem::take(text)),
            Element::Size => draft.size(text.trim_ascii()),
            Element::Pattern => draft.set_path(text),
            Element::Value => draft.value(name, text, self.open.last() == Some(&Element::Structure)),
            _ => {}
        }
        let kind = match element {
            Element::Hash => MhlKind::File,
            Element::DirectoryHash => MhlKind::Directory,
            Element::RootHash => {
                draft.path = Some(".".into());
                MhlKind::Directory
            }
            Element::Reference => MhlKind::Generation,
            Element::Pattern => MhlKind::Ignored,
            _ => return Step::On,
        };
        let draft = std::mem::take(draft);
        Step::Item(MhlRecord { line: draft.line, item: draft.finish(kind) })
    }
}

impl Draft {
    fn set_path(&mut self, text: &mut String) {
        match self.path {
            None => self.path = Some(std::mem::take(text)),
            Some(_) => self.wrong(MhlError::Twice("path".into())),
        }
    }

    fn wrong(&mut self, why: MhlError) {
        self.wrong.get_or_insert(why);
    }

    fn size(&mut self, text: &str) {
        match text.parse() {
            Ok(size) if text.bytes().all(|byte| byte.is_ascii_digit()) => self.size = Some(size),
            _ => self.wrong(MhlError::Size),
        }
    }

    /// Takes the text of an element that may be a digest.
    fn value(&mut self, element: &str, text: &str, is_structure: bool) {
        let Some(parsed) = parse_digest(element, text) else {
            /// More of them are not named in a message.
            const NAMED: usize = 8;
            if self.unknown.len() < NAMED && element.len() < 100 {
                self.unknown.push(element.to_owned());
            }
            return;
        };
        let digests = if is_structure { &mut self.structure } else { &mut self.digests };
        match parsed {
            Ok((algorithm, _)) if digests.iter().any(|it| it.algorithm == algorithm) => {
                self.wrong(MhlError::Twice(element.to_owned()));
            }
            Ok((algorithm, digest)) => {
                digests.push(MhlDigest { algorithm, digest, is_failed: self.is_failed });
            }
            Err(why) => self.wrong(why),
        }
    }

    fn finish(self, kind: MhlKind) -> Result<MhlItem, MhlUnusable> {
        let Self { path, previous_path, size, number, digests, structure, unknown, wrong, .. } = self;
        let path = path.filter(|path| !path.is_empty());
        let needs_digest = matches!(kind, MhlKind::File | MhlKind::Generation);
        let why = match (wrong, &path) {
            (Some(wrong), _) => wrong,
            (None, None) => MhlError::NoPath,
            (None, _) if needs_digest && digests.is_empty() => MhlError::NoDigest(unknown),
            (None, Some(_)) => {
                let path = path.expect("it was found");
                return Ok(MhlItem { kind, path, previous_path, size, number, digests, structure });
            }
        };
        Err(MhlUnusable { path, why })
    }
}

/// What an event leads to.
enum Step {
    On,
    Item(MhlRecord),
    End,
}

/// Why reading ends.
enum Stopped {
    Io(io::Error),
    Xml(String),
}

/// Returns the character of an entity that XML itself defines.
fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

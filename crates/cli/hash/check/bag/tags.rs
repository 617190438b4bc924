//! The tag files of a bag that a validator must understand: `bagit.txt`, `bag-info.txt` and `fetch.txt`.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{bail, ensure};
use ftk_record::{BagReader, FetchLine, check_bag_declaration, check_bag_info, quote, read_bag_tags};

use crate::hash::check::bag::findings::Findings;
use crate::hash::check::bag::manifests::{Listed, is_payload, plain};
use crate::hash::check::bag::payload::Payload;

/// The most bytes of a tag file that are read.
const MAX_TAG_FILE: u64 = 16 << 20;

/// The kind of findings about `fetch.txt`.
const FETCH: &str = "lines of fetch.txt are not valid";

/// What `bagit.txt` says.
pub(super) struct Declaration {
    /// The version of the specification: major and minor.
    version: (u32, u32),
}

impl Declaration {
    /// Reads `bagit.txt`.
    ///
    /// # Errors
    /// If it does not exist or cannot be read, or if it names a version or an encoding that ftk does not support.
    pub(super) fn read(bag: &Path, findings: &mut Findings<'_>) -> anyhow::Result<Self> {
        let shown = quote(bag.as_os_str().as_bytes());
        let Some(text) = text("bagit.txt", findings) else {
            bail!("{shown} is not a bag: it has no readable file bagit.txt");
        };
        if let Err(why) = check_bag_declaration(&text) {
            findings.invalid("declarations are malformed", format_args!("bagit.txt: {why}"));
        }
        let tags = tags("bagit.txt", &text, findings);
        let find = |wanted: &str| {
            let label = |label: &str| label.trim_start_matches('\u{feff}').eq_ignore_ascii_case(wanted);
            tags.iter().find(|(it, _)| label(it)).map(|(_, value)| value.as_str())
        };
        let Some(version) = find("BagIt-Version") else { bail!("bagit.txt of {shown} has no BagIt-Version") };
        let Some(encoding) = find("Tag-File-Character-Encoding") else {
            bail!("bagit.txt of {shown} has no Tag-File-Character-Encoding");
        };
        let is_known =
            ["UTF-8", "UTF8", "US-ASCII", "ASCII"].iter().any(|it| it.eq_ignore_ascii_case(encoding));
        ensure!(
            is_known,
            "the encoding {} of {shown} is not supported, only UTF-8",
            quote(encoding.as_bytes())
        );
        let number = |text: &str| {
            Some(text)
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|it| it.parse().ok())
        };
        let parts = version.split_once('.').and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        match parts {
            Some(version @ (0, 93..=97) | version @ (1, 0)) => Ok(Self { version }),
            _ => bail!("version {} of {shown} is not supported, only 0.93 to 1.0", quote(version.as_bytes())),
        }
    }

    /// Whether the manifests must be complete: each file of the payload is in every payload manifest exactly once,
    /// and each payload manifest in every tag manifest. Before version 1.0, one manifest was enough for a file.
    pub(super) fn needs_complete_manifests(&self) -> bool {
        self.version >= (1, 0)
    }

    /// Returns the name of the file with the metadata.
    fn info_name(&self) -> &'static str {
        if self.version < (0, 96) { "package-info.txt" } else { "bag-info.txt" }
    }
}

/// Checks the number of bytes and files that the metadata gives for the payload.
pub(super) fn check_oxum(declaration: &Declaration, payload: &Payload, findings: &mut Findings<'_>) {
    const KIND: &str = "values of Payload-Oxum are wrong";
    let name = declaration.info_name();
    let text = text(name, findings).unwrap_or_default();
    if let Err((line, why)) = check_bag_info(&text, !declaration.needs_complete_manifests()) {
        findings.invalid("tag files are malformed", format_args!("{name}, line {line}: {why}"));
    }
    let tags = tags(name, &text, findings);
    let values: Vec<_> = tags
        .iter()
        .filter(|(label, _)| label.eq_ignore_ascii_case("Payload-Oxum"))
        .map(|(_, value)| value)
        .collect();
    if values.len() > 1 {
        findings.invalid(KIND, format_args!("{name}: Payload-Oxum is given {} times", values.len()));
    }
    let Some((bytes, files)) = payload.totals() else { return };
    for value in values {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let parts = value.split_once('.').filter(|(bytes, files)| is_number(bytes) && is_number(files));
        let Some((listed_bytes, listed_files)) = parts else {
            let value = quote(value.as_bytes());
            findings.invalid(KIND, format_args!("{name}: Payload-Oxum is {value}, expected BYTES.FILES"));
            continue;
        };
        if (listed_bytes.parse(), listed_files.parse()) != (Ok(bytes), Ok(files)) {
            let listed = format_args!("{listed_bytes}.{listed_files}");
            let said = format_args!("{name}: Payload-Oxum is {listed}, but the payload has {bytes}.{files}");
            findings.invalid(KIND, said);
        }
    }
}

/// Checks `fetch.txt`: each file in it must be in the payload manifests, and be there.
pub(super) fn check_fetch(
    bag: &Path,
    declaration: &Declaration,
    listed: &Listed,
    findings: &mut Findings<'_>,
) {
    let Some(input) = findings.open("fetch.txt") else { return };
    let mut reader = BagReader::new(input);
    loop {
        let (number, line) = match reader.next_text() {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => return findings.unreadable("fetch.txt", &error),
        };
        let line = match FetchLine::parse(line) {
            Ok(line) => line,
            Err(why) => {
                findings.error(FETCH, format_args!("fetch.txt, line {number}: {why}"));
                continue;
            }
        };
        let shown = quote(&line.path);
        match plain(&line.path) {
            Ok(path) if is_payload(&path) => {
                let is_optional = !declaration.needs_complete_manifests() && listed.has(&path);
                for name in listed.without(&path).filter(|_| !is_optional) {
                    findings
                        .invalid(FETCH, format_args!("fetch.txt, line {number}: {shown} is not in {name}"));
                }
                if bag.join(OsStr::from_bytes(&path)).symlink_metadata().is_err() {
                    findings.invalid(
                        "files are missing: fetch.txt lists them",
                        format_args!("{shown} is missing: fetch.txt lists it, but it was not fetched"),
                    );
                }
            }
            Ok(_) => findings.error(
                FETCH,
                format_args!("fetch.txt, line {number}: {shown} is refused: it is not in data/"),
            ),
            Err(why) => {
                findings.error(FETCH, format_args!("fetch.txt, line {number}: {shown} is refused: {why}"))
            }
        }
    }
}

/// Returns the bytes of a tag file, or `None` if it does not exist or cannot be read.
fn text(name: &str, findings: &mut Findings<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut limited = findings.open(name)?.take(MAX_TAG_FILE);
    match limited.read_to_end(&mut text) {
        Ok(_) if limited.limit() > 0 => Some(text),
        Ok(_) => {
            findings.error("tag files are too large", format_args!("{name} is too large"));
            None
        }
        Err(error) => {
            findings.unreadable(name, &error);
            None
        }
    }
}

/// Returns labels and values of a tag file.
fn tags(name: &str, text: &[u8], findings: &mut Findings<'_>) -> Vec<(String, String)> {
    let mut tags = Vec::new();
    match read_bag_tags(text, |label, value| tags.push((label.to_owned(), value.to_owned()))) {
        Ok(Ok(())) => {}
        Ok(Err(line)) => findings
            .invalid("tag files are malformed", format_args!("{name}, line {line}: expected 'Label: value'")),
        Err(error) => findings.unreadable(name, &error),
    }
    tags
}

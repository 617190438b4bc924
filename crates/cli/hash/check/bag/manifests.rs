//! The manifests of a bag.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_hash::{Algorithm, Digest};
use ftk_record::{
    BagFile, End, ListFormat, ListReader, ListRecord, SortedSums, Sums, SumsOfFile, Unusable, check_bag_name,
    quote,
};

use crate::hash::check::bag::findings::Findings;
use crate::hash::check::bag::payload::Payload;
use crate::hash::check::bag::tags::Declaration;
use crate::hash::check::lists::{TOO_LARGE, Tables, resolve};
use crate::run::Run;

/// The most manifests that are read. ftk has fewer algorithms, but their names can be written in several ways.
const MAX_MANIFESTS: usize = 100;

/// The digests of all manifests.
pub(super) struct Listed {
    manifests: Vec<Manifest>,
    sums: SortedSums<Source>,
}

/// A manifest of a bag.
struct Manifest {
    /// The file name.
    name: String,
    algorithm: Algorithm,
    /// Whether it lists tag files, and not the payload.
    is_tag: bool,
}

/// Where a digest is listed: the index of the manifest, and the line number.
type Source = (u8, u64);

impl Listed {
    /// Reads all manifests. `memory` is the most bytes that the table may use.
    ///
    /// # Errors
    /// If the bag cannot be listed, has no payload manifest of an algorithm that ftk has, or the manifests do not
    /// fit into the memory.
    pub(super) fn read(bag: &Path, memory: u64, findings: &mut Findings<'_>) -> anyhow::Result<Self> {
        let manifests = manifests(bag, findings)?;
        let mut sums = Sums::default();
        for (nth, manifest) in manifests.iter().enumerate() {
            let Some(input) = findings.open(&manifest.name) else { continue };
            let format = ListFormat::Bag(manifest.algorithm.name().to_owned());
            let mut reader = ListReader::open(input, format, End::Newline, &[])?;
            loop {
                match reader.next() {
                    Ok(Some(record)) => manifest.add(nth as u8, record, bag, &mut sums, findings),
                    Ok(None) => break,
                    Err(error) => {
                        findings.unreadable(&manifest.name, &error);
                        break;
                    }
                }
                if sums.size_bytes() as u64 > memory {
                    bail!("the manifests are too large (raise --memory)");
                }
            }
        }
        let Ok(sums) = sums.sorted() else { unreachable!("each line is in the table once") };
        Ok(Self { manifests, sums })
    }

    /// Returns the files, in the byte order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = SumsOfFile<'_, Source>> {
        self.sums.files()
    }

    /// Returns whether a manifest lists this path.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.sums.find(path).is_some()
    }

    /// Returns the names of the payload manifests that do not list this path.
    pub(super) fn without(&self, path: &[u8]) -> impl Iterator<Item = &str> {
        let listed: Vec<_> = self.sums.find(path).into_iter().flat_map(|file| file.all()).collect();
        let lacks = move |nth: usize| listed.iter().all(|((manifest, _), _)| usize::from(*manifest) != nth);
        let payload = self.manifests.iter().enumerate().filter(|(_, manifest)| !manifest.is_tag);
        payload.filter(move |(nth, _)| lacks(*nth)).map(|(_, manifest)| &*manifest.name)
    }

    /// Checks that each path is listed once in every manifest that must list it.
    pub(super) fn check(&self, declaration: &Declaration, findings: &mut Findings<'_>) {
        for file in self.files() {
            let path = || quote(file.path());
            let digests: Vec<_> = file.all().collect();
            for pair in digests.windows(2) {
                let [((a, first), one), ((b, second), other)] = pair else { unreachable!("windows of two") };
                if a == b && (one != other || declaration.needs_complete_manifests()) {
                    let name = &self.manifests[usize::from(*a)].name;
                    let so = if one == other { "" } else { ", with different digests" };
                    findings.invalid(
                        "paths are listed twice",
                        format_args!("{name}: {} is listed twice (lines {first} and {second}){so}", path()),
                    );
                }
            }
            if declaration.needs_complete_manifests() && is_payload(file.path()) {
                for name in self.without(file.path()) {
                    findings.invalid(
                        "files of the payload are not in all manifests",
                        format_args!("{name}: {} is missing, which another manifest lists", path()),
                    );
                }
            }
        }
        if !declaration.needs_complete_manifests() {
            return;
        }
        for (nth, tag) in self.manifests.iter().enumerate().filter(|(_, manifest)| manifest.is_tag) {
            for payload in self.manifests.iter().filter(|manifest| !manifest.is_tag) {
                let listed = self.sums.find(payload.name.as_bytes());
                if !listed.is_some_and(|file| file.all().any(|((it, _), _)| usize::from(it) == nth)) {
                    findings.invalid(
                        "payload manifests are not in a tag manifest",
                        format_args!(
                            "{}: {} is missing, which a tag manifest must list",
                            tag.name, payload.name
                        ),
                    );
                }
            }
        }
    }

    /// Adds all files to the tables of lines and paths. Links of the payload come last: returns the path of each, and
    /// its first line.
    pub(super) fn fill(
        &self,
        payload: &Payload,
        tables: &mut Tables,
        run: &Run<'_>,
    ) -> anyhow::Result<Vec<(Vec<u8>, usize)>> {
        let (mut digests, mut links) = (Vec::new(), Vec::new());
        for file in self.files() {
            digests.clear();
            digests.extend(
                file.all().map(|((nth, _), it)| {
                    (self.manifests[usize::from(nth)].algorithm, Digest::from_bytes(it))
                }),
            );
            // The content of a link is that of the file to which it leads.
            match payload.link(file.path()) {
                None => tables.push(0, file.path(), &digests, None, &run.budget).context(TOO_LARGE)?,
                Some(target) => links.push((file.path().to_vec(), target.to_vec(), digests.clone())),
            }
        }
        let mut names = Vec::with_capacity(links.len());
        for (path, target, digests) in links {
            names.push((path, tables.lines.lines.len()));
            tables.push(0, &target, &digests, None, &run.budget).context(TOO_LARGE)?;
        }
        Ok(names)
    }
}

impl Manifest {
    /// Adds the digest of a line to the table, or reports why it cannot be used.
    fn add(
        &self,
        nth: u8,
        record: ListRecord<'_>,
        bag: &Path,
        sums: &mut Sums<Source>,
        findings: &mut Findings<'_>,
    ) {
        let (name, number) = (&self.name, record.number);
        let line = match record.line {
            Ok(line) => line,
            Err(Unusable { why, .. }) => {
                let said = format_args!("{name}, line {number}: {why}");
                return findings.error("lines of manifests cannot be used", said);
            }
        };
        let path = resolve(&line.name, line.other_name.as_deref(), bag);
        let shown = quote(path);
        let plain = match plain(path) {
            Ok(plain) => plain,
            Err(why) => {
                let said = format_args!("{name}, line {number}: {shown} is refused: {why}");
                return findings.error("paths are refused", said);
            }
        };
        if let Ok(Err(why)) = str::from_utf8(path).map(check_bag_name) {
            let said = format_args!("{name}, line {number}: {shown}: {why}: bagit-python reads another name");
            findings.invalid("names are read differently by bagit-python", said);
        }
        let why = match (self.is_tag, is_payload(&plain)) {
            (false, false) => "a payload manifest lists only files in data/",
            (true, true) => "a tag manifest lists no files in data/",
            (true, false) if BagFile::of(&plain).is_some_and(|file| file.is_tag) => {
                "a tag manifest lists no tag manifests"
            }
            _ => return sums.push((nth, number), line.digests[0].1.as_bytes(), &plain),
        };
        findings.invalid(
            "paths are in a manifest of the other kind",
            format_args!("{name}, line {number}: {shown} is refused: {why}"),
        );
    }
}

/// Returns the manifests of a bag, sorted by name.
fn manifests(bag: &Path, findings: &mut Findings<'_>) -> anyhow::Result<Vec<Manifest>> {
    let cannot = || format!("cannot list {}", quote(bag.as_os_str().as_bytes()));
    let mut names = Vec::new();
    for entry in fs::read_dir(bag).with_context(cannot)? {
        names.push(entry.with_context(cannot)?.file_name());
    }
    names.sort();
    let mut manifests = Vec::new();
    for name in &names {
        let Some(file) = BagFile::of(name.as_bytes()) else { continue };
        // It is UTF-8, since it has the form of a name of a manifest.
        let name = name.to_string_lossy().into_owned();
        match file.algorithm.parse() {
            Ok(algorithm) => {
                if !is_normalized(&file.algorithm, algorithm) {
                    let said = format_args!(
                        "{name}: the name of the algorithm must be in small letters without punctuation"
                    );
                    findings.invalid("names of manifests are wrong", said);
                }
                manifests.push(Manifest { name, algorithm, is_tag: file.is_tag });
            }
            Err(_) => {
                let of = quote(file.algorithm.as_bytes());
                let said = format_args!("cannot check {name}: unsupported algorithm {of}");
                findings.error("manifests cannot be checked", said);
            }
        }
    }
    let bag = quote(bag.as_os_str().as_bytes());
    ensure!(manifests.len() <= MAX_MANIFESTS, "{bag} has more than {MAX_MANIFESTS} manifests");
    ensure!(
        manifests.iter().any(|manifest| !manifest.is_tag),
        "{bag} has no payload manifest that ftk can check, such as manifest-sha256.txt"
    );
    if !manifests.iter().any(|manifest| !manifest.is_tag && STANDARD.contains(&manifest.algorithm)) {
        let names = STANDARD.map(Algorithm::name).join(", ");
        findings.invalid(
            "payload manifests of common algorithms are missing",
            format_args!("{bag} needs a payload manifest of one of {names}"),
        );
    }
    Ok(manifests)
}

/// The algorithms that every validator has. A bag needs a payload manifest of one of them.
const STANDARD: [Algorithm; 6] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
];

/// Returns whether the name of an algorithm in the name of a manifest has the form of RFC 8493, section 2.4.
/// bagit-python writes the names of other algorithms with an underscore, as in `sha3_256`.
fn is_normalized(name: &str, algorithm: Algorithm) -> bool {
    let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if STANDARD.contains(&algorithm) { name == algorithm.name() } else { name.chars().all(is_known) }
}

/// Whether a path is that of a file of the payload.
pub(super) fn is_payload(path: &[u8]) -> bool {
    path.starts_with(b"data/")
}

/// Returns the path without `.` and repeated slashes, or why it is refused.
pub(super) fn plain(path: &[u8]) -> Result<Vec<u8>, &'static str> {
    if path.starts_with(b"/") {
        return Err("it is absolute");
    }
    if path.starts_with(b"~") {
        return Err("it begins with ~, which may stand for a home directory");
    }
    let mut plain = Vec::with_capacity(path.len());
    for part in path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        if part == b".." {
            return Err("it has a .. component");
        }
        if !plain.is_empty() {
            plain.push(b'/');
        }
        plain.extend_from_slice(part);
    }
    if plain.is_empty() || path.ends_with(b"/") || path.ends_with(b"/.") {
        return Err("it names a directory");
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_may_lead_out_of_the_bag_are_refused() {
        for (path, expected) in [
            ("data/a", Some("data/a")),
            ("./data//a/./b", Some("data/a/b")),
            ("data/~a", Some("data/~a")),
            ("data/...", Some("data/...")),
            ("~/a", None),
            ("/a", None),
            ("data/../a", None),
            ("..", None),
            (".", None),
            ("", None),
            ("data/", None),
            ("data/.", None),
        ] {
            assert_eq!(plain(path.as_bytes()).ok().as_deref(), expected.map(str::as_bytes), "{path}");
        }
    }
}

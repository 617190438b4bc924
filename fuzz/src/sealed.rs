//! Files with a footer: complete and as they were written, or refused.

use std::fs::File;
use std::io::{BufReader, Write as _};

use ftk_dedup::report;
use ftk_hash::Algorithm;
use ftk_manifest::{Entry, Manifest, Stat, Writer, Xattr};
use ftk_record::{Seal, SealError, SealedReader};

/// Takes the input for a file, and its lines for the lines of one that is sealed.
pub fn sealed(data: &[u8]) {
    let whole = lines(SealedReader::new(data));
    let pieces = lines(SealedReader::new(BufReader::with_capacity(1, data)));
    assert_eq!(whole.0, pieces.0);
    assert_eq!(whole.1.is_ok(), pieces.1.is_ok());
    if whole.1.is_ok() {
        assert_eq!(seal(&whole.0), data, "one file a list of lines");
    }
    let texts = texts(data);
    let file = seal(&texts);
    let (found, end) = lines(SealedReader::new(&file[..]));
    assert!(end.is_ok());
    assert_eq!(found, texts);
    // The input says where it is cut off, and what is changed.
    let mix = |at: usize, byte: &u8| at.wrapping_mul(31).wrapping_add(usize::from(*byte));
    let at = data.iter().fold(0, mix) % file.len();
    assert!(matches!(lines(SealedReader::new(&file[..at])).1, Err(SealError::Incomplete)));
    let mut changed = file.clone();
    changed[at] ^= data.first().map_or(1, |byte| byte | 1);
    assert!(lines(SealedReader::new(&changed[..])).1.is_err());
}

/// Takes the lines of the input for those of a manifest, its header among them: what is understood means the same
/// when it is written again.
pub fn manifests(data: &[u8]) {
    let _ = open(data);
    let Ok(manifest) = open(&seal(&texts(data))) else { return };
    let mut entries = manifest.entries().expect("it was read to its end");
    let mut found = Vec::new();
    loop {
        match entries.next() {
            Ok(Some(entry)) => found.push(Owned::of(&entry)),
            Ok(None) => break,
            Err(error) => return assert!(error.to_string().starts_with("line "), "{error}"),
        }
    }
    let header = manifest.header();
    let mut file = Vec::new();
    let mut writer = Writer::new(header, |line: &[u8]| file.write_all(line)).expect("a Vec takes everything");
    found.iter().for_each(|entry| writer.entry(&entry.entry()).expect("a Vec takes everything"));
    writer.finish().expect("a Vec takes everything");
    let again = open(&file).expect("what is written is a manifest");
    assert_eq!(again.header(), header);
    let mut entries = again.entries().expect("it was read to its end");
    for entry in &found {
        let again = entries.next().expect("what is written is read").expect("as many entries");
        assert_eq!(again, entry.entry());
        check_path(again.path);
    }
    assert!(entries.next().expect("what is written is read").is_none());
}

/// Takes the lines of the input for those of a report of duplicates: what is understood means the same when it is
/// written again.
pub fn reports(data: &[u8]) {
    let _ = report::read(data, true);
    let Ok(report) = report::read(&seal(&texts(data))[..], false) else { return };
    let digest_len = report.groups.first().map(|group| group.digest.as_bytes().len());
    let header = report::Header {
        program: "",
        algorithm: if digest_len == Some(16) { Algorithm::Xxh128 } else { Algorithm::Sha256 },
        is_verified: false,
        min_size: 0,
        max_size: None,
        start_ns: 0,
        directory: None,
        roots: report.roots.clone(),
        arguments: Vec::new(),
    };
    let mut file = Vec::new();
    let mut writer = report::Writer::new(&header, &mut file).expect("it fitted before");
    report.groups.iter().for_each(|group| writer.group(group, &mut file));
    writer.finish(&mut file);
    assert_eq!(report::read(&file[..], false).expect("what is written is a report"), report);
    for member in report.groups.iter().flat_map(|group| &group.members) {
        let below =
            member.path.strip_prefix(&report.roots[member.root][..]).expect("below its starting point");
        assert!(!below.split(|&byte| byte == b'/').any(|name| name == b".."));
    }
}

/// A path cannot lead out of the root.
fn check_path(path: &[u8]) {
    let mut names = path.split(|&byte| byte == b'/');
    assert!(path == b"." || names.all(|name| !matches!(name, b"" | b"." | b"..") && !name.contains(&0)));
}

/// An entry that owns what it holds.
struct Owned {
    path: Vec<u8>,
    stat: Stat,
    target: Option<Vec<u8>>,
    digests: Vec<u8>,
    xattrs: Option<Vec<Xattr>>,
}

impl Owned {
    fn of(entry: &Entry<'_>) -> Self {
        Self {
            path: entry.path.to_vec(),
            stat: entry.stat,
            target: entry.target.map(<[u8]>::to_vec),
            digests: entry.digests.to_vec(),
            xattrs: entry.xattrs.map(<[Xattr]>::to_vec),
        }
    }

    fn entry(&self) -> Entry<'_> {
        Entry {
            path: &self.path,
            stat: self.stat,
            target: self.target.as_deref(),
            digests: &self.digests,
            xattrs: self.xattrs.as_deref(),
        }
    }
}

fn open(bytes: &[u8]) -> Result<Manifest, ftk_manifest::Error> {
    let mut file: File = tempfile::tempfile().expect("a file for the manifest");
    file.write_all(bytes).expect("room for the manifest");
    Manifest::open(file)
}

/// The lines of the input that can be sealed.
fn texts(data: &[u8]) -> Vec<Vec<u8>> {
    let lines = data.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"{\"footer\":"));
    lines.map(<[u8]>::to_vec).collect()
}

fn seal(lines: &[Vec<u8>]) -> Vec<u8> {
    let (mut file, mut seal) = (Vec::new(), Seal::new());
    for line in lines {
        let line = [line, &b"\n"[..]].concat();
        seal.line(&line);
        file.extend_from_slice(&line);
    }
    seal.footer(&mut file);
    file
}

/// The lines before the end, and how that was.
fn lines<R: std::io::BufRead>(mut reader: SealedReader<R>) -> (Vec<Vec<u8>>, Result<(), SealError>) {
    let mut lines = Vec::new();
    loop {
        match reader.next_line() {
            Ok(Some(line)) => lines.push(line.to_vec()),
            Ok(None) => return (lines, Ok(())),
            Err(error) => return (lines, Err(error)),
        }
    }
}

//! Compressed manifests that change after they were opened.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use ftk_hash::Algorithm;
use ftk_manifest::{Error, Manifest};
use ftk_record::ZstdWriter;
use tempfile::NamedTempFile;

use crate::changed::files;
use crate::model::{header, read, written};

pub(crate) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = ZstdWriter::new(Vec::new()).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn opened(bytes: &[u8]) -> (NamedTempFile, Result<Manifest, Error>) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let manifest = Manifest::open(file.reopen().unwrap());
    (file, manifest)
}

#[test]
fn every_pass_reads_the_lines_that_were_checked() {
    let recorded = files(4_000, 1);
    let bytes = compressed(&written(&header(&[Algorithm::Xxh3], false), &recorded));
    let (file, manifest) = opened(&bytes);
    let manifest = manifest.unwrap();
    assert_eq!(read(&manifest).unwrap(), recorded);
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(331).chain([bytes.len() - 1]) {
        file.as_file().write_all_at(&[bytes[at] ^ 1], at as u64).unwrap();
        match read(&manifest) {
            // The same lines can be compressed in several ways.
            Ok(entries) => assert_eq!(entries, recorded),
            Err(Error::Changed) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        file.as_file().write_all_at(&bytes[at..=at], at as u64).unwrap();
    }
    assert!(refused > 10, "{refused}");
    for len in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        file.as_file().set_len(len as u64).unwrap();
        assert!(matches!(read(&manifest), Err(Error::Changed)));
        file.as_file().write_all_at(&bytes, 0).unwrap();
    }
    let other = compressed(&written(&header(&[Algorithm::Xxh3], false), &files(4_000, 9)));
    file.as_file().write_all_at(&other, 0).unwrap();
    file.as_file().set_len(other.len() as u64).unwrap();
    assert!(matches!(read(&manifest), Err(Error::Changed)));
}

#[test]
fn truncated_frames_are_never_manifests() {
    let bytes = compressed(&written(&header(&[Algorithm::Xxh3], false), &files(20, 1)));
    opened(&bytes).1.unwrap();
    for len in 0..bytes.len() {
        assert!(opened(&bytes[..len]).1.is_err(), "{len}");
    }
    assert!(opened(&[&*bytes, b"x"].concat()).1.is_err());
}

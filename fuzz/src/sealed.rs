//! Files with a footer must be complete and unchanged, or be refused.

use std::io::BufReader;

use ftk_record::{Seal, SealError, SealedReader};

/// Uses the input as a file, and its lines as the lines of a sealed file.
pub fn sealed(data: &[u8]) {
    let whole = lines(SealedReader::new(data));
    let pieces = lines(SealedReader::new(BufReader::with_capacity(1, data)));
    assert_eq!(whole.0, pieces.0);
    assert_eq!(whole.1.is_ok(), pieces.1.is_ok());
    if whole.1.is_ok() {
        assert_eq!(seal(&whole.0), data, "a list of lines has one file");
    }
    let texts = texts(data);
    let file = seal(&texts);
    let (found, end) = lines(SealedReader::new(&file[..]));
    assert!(end.is_ok());
    assert_eq!(found, texts);
    // The input determines where the file is truncated, and which byte is changed.
    let mix = |at: usize, byte: &u8| at.wrapping_mul(31).wrapping_add(usize::from(*byte));
    let at = data.iter().fold(0, mix) % file.len();
    assert!(matches!(lines(SealedReader::new(&file[..at])).1, Err(SealError::Incomplete)));
    let mut changed = file.clone();
    changed[at] ^= data.first().map_or(1, |byte| byte | 1);
    assert!(lines(SealedReader::new(&changed[..])).1.is_err());
}

/// Returns the lines of the input that can be sealed.
pub(crate) fn texts(data: &[u8]) -> Vec<Vec<u8>> {
    let lines = data.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"{\"footer\":"));
    lines.map(<[u8]>::to_vec).collect()
}

pub(crate) fn seal(lines: &[Vec<u8>]) -> Vec<u8> {
    let (mut file, mut seal) = (Vec::new(), Seal::new());
    for line in lines {
        let line = [line, &b"\n"[..]].concat();
        seal.line(&line);
        file.extend_from_slice(&line);
    }
    seal.footer(&mut file);
    file
}

/// Returns the lines before the end or the first error, and the error if there was one.
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

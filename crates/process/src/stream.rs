//! The digest of a stream that is no file of the inventory, such as standard input.

use std::io::{self, ErrorKind, Read};

use ftk_hash::{Algorithm, Digest, Event, Platform};
use ftk_read::Sync;

/// Reads `input` to its end.
///
/// # Errors
/// Whatever reading gives, except interruptions, which are tried again.
pub fn hash_stream(mut input: impl Read, algorithm: Algorithm, platform: Platform) -> io::Result<Digest> {
    let mut engine = algorithm.engine::<Piece>(platform, 1);
    let mut events = Vec::new();
    let mut piece = Piece { buf: vec![0; Sync::STREAM_BUF_LEN].into(), len: 0 };
    let mut is_start = true;
    loop {
        piece.len = match input.read(&mut piece.buf) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let is_end = piece.len == 0;
        engine.feed(0, std::mem::take(&mut is_start), is_end, piece);
        engine.step(&mut events);
        match events.pop().expect("the engine was given a piece") {
            Event::Dry { data, .. } => piece = data,
            Event::Done { digest, .. } => return Ok(digest),
        }
    }
}

/// The bytes of one read.
struct Piece {
    buf: Box<[u8]>,
    len: usize,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_in_dribs_has_the_digest_of_its_bytes() {
        let bytes: Vec<u8> = (0..700_000_u32).map(|i| (i % 253) as u8).collect();
        for algorithm in Algorithm::ALL {
            let platform = Platform::detect();
            for len in [0, 1, 70_000, bytes.len()] {
                let dribs = bytes[..len]
                    .chunks(60_001)
                    .fold(Box::new(io::empty()) as Box<dyn Read>, |all, drib| Box::new(all.chain(drib)));
                let digest = hash_stream(dribs, algorithm, platform).expect("slices do not fail");
                assert_eq!(digest, algorithm.hash_one(platform, &bytes[..len]), "{algorithm} of {len} bytes");
            }
        }
    }
}

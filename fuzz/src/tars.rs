//! Tar archives: read the same in pieces, and no more than the input has.

use std::io::{self, Read};

use ftk_record::{TarMember, TarReader};

/// Bytes that are read of each member: holes may be exabytes long.
const MOST: u64 = 1 << 16;

/// Returns a few bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read(&mut buffer[..len])
    }
}

fn members(data: &[u8], piece: usize) -> (Vec<(TarMember, Vec<u8>)>, Option<String>) {
    let mut reader = TarReader::new(Pieces(data, piece));
    let mut members = Vec::new();
    loop {
        match reader.next() {
            Ok(None) => return (members, None),
            Err(error) => return (members, Some(error.to_string())),
            Ok(Some(member)) => {
                let mut content = Vec::new();
                if let Err(error) = reader.by_ref().take(MOST).read_to_end(&mut content) {
                    return (members, Some(error.to_string()));
                }
                members.push((member, content));
            }
        }
    }
}

/// Uses the input as a tar archive.
pub fn tars(data: &[u8]) {
    let (read, error) = members(data, usize::MAX);
    let (again, other) = members(data, 7);
    assert!(read == again && error == other);
    let mut after = 0;
    for (member, content) in &read {
        assert_eq!(content.len() as u64, member.size.min(MOST));
        assert!(member.at >= after && member.at % 512 == 0 && member.at + 512 <= data.len() as u64);
        after = member.at + 512;
    }
}

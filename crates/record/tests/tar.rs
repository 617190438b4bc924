//! Tar archives: what a simple writer has written is read back, whole or in pieces, and nothing of what was cut off.

use std::io::{self, ErrorKind, Read};

use ftk_record::{MemberKind, TarMember, TarReader};
use proptest::prelude::*;

const BLOCK: usize = 512;

/// How a member is written.
#[derive(Clone, Copy, Debug)]
enum Form {
    Ustar,
    Gnu,
    Pax,
    OldSparse,
    /// With this minor number: 0 and 1 are 0.0 and 0.1, and 2 is 1.0.
    PaxSparse(u8),
}

/// A file with a name, a time, and segments: a hole, and what follows it.
#[derive(Clone, Debug)]
struct File {
    form: Form,
    name: Vec<u8>,
    mtime_ns: i128,
    segments: Vec<(u16, Vec<u8>)>,
    hole: u16,
}

impl File {
    fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        for (hole, data) in &self.segments {
            content.resize(content.len() + usize::from(*hole), 0);
            content.extend_from_slice(data);
        }
        content.resize(content.len() + usize::from(self.hole), 0);
        content
    }

    /// Returns the offset and the length of each segment.
    fn map(&self) -> Vec<(usize, usize)> {
        let mut at = 0;
        let segments = self.segments.iter().map(|(hole, data)| {
            let offset = at + usize::from(*hole);
            at = offset + data.len();
            (offset, data.len())
        });
        segments.collect()
    }

    fn is_exact(&self) -> bool {
        matches!(self.form, Form::Pax | Form::PaxSparse(_))
    }
}

fn header(name: &[u8], flag: u8, size: usize, mtime: i128, magic: &[u8; 8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    block[100..108].copy_from_slice(b"0000640\0");
    block[108..116].copy_from_slice(b"0001750\0");
    // A binary number.
    block[116..124].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 3, 0xe8]);
    block[124..136].copy_from_slice(format!("{size:011o} ").as_bytes());
    block[136..148].copy_from_slice(&mtime.to_be_bytes()[4..]);
    block[136] = block[136] & 0x7f | 0x80 | if mtime < 0 { 0x40 } else { 0 };
    block[156] = flag;
    block[257..265].copy_from_slice(magic);
    block
}

fn seal(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn push(archive: &mut Vec<u8>, content: &[u8]) {
    archive.extend_from_slice(content);
    archive.resize(archive.len().next_multiple_of(BLOCK), 0);
}

const USTAR: &[u8; 8] = b"ustar\x0000";
const GNU: &[u8; 8] = b"ustar  \0";

fn record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let len = (rest + 1..).find(|len| len.to_string().len() + rest == *len).unwrap();
    [format!("{len} {key}=").as_bytes(), value, b"\n"].concat()
}

fn write(archive: &mut Vec<u8>, file: &File) {
    let seconds = file.mtime_ns.div_euclid(1_000_000_000);
    let (content, map) = (file.content(), file.map());
    let data: Vec<u8> = file.segments.iter().flat_map(|(_, data)| data.clone()).collect();
    let pax = |archive: &mut Vec<u8>, mut records: Vec<u8>| {
        let sign = if file.mtime_ns < 0 { "-" } else { "" };
        let (all, nano) = (file.mtime_ns.unsigned_abs(), 1_000_000_000);
        records.extend(record("mtime", format!("{sign}{}.{:09}", all / nano, all % nano).as_bytes()));
        archive.extend(seal(header(b"pax", b'x', records.len(), 0, USTAR)));
        push(archive, &records);
    };
    match file.form {
        Form::Ustar => {
            let name = &file.name[..file.name.len().min(100)];
            archive.extend(seal(header(name, b'0', content.len(), seconds, USTAR)));
            push(archive, &content);
        }
        Form::Gnu => {
            archive.extend(seal(header(b"././@LongLink", b'L', file.name.len() + 1, 0, GNU)));
            push(archive, &[&*file.name, b"\0"].concat());
            archive.extend(seal(header(b"short", b'0', content.len(), seconds, GNU)));
            push(archive, &content);
        }
        Form::Pax => {
            pax(archive, [record("comment", b"a\nb=c\n"), record("path", &file.name)].concat());
            archive.extend(seal(header(b"short", 0, content.len(), seconds, USTAR)));
            push(archive, &content);
        }
        Form::OldSparse => {
            let name = &file.name[..file.name.len().min(100)];
            let mut block = header(name, b'S', data.len(), seconds, GNU);
            let pair = |(offset, len): (usize, usize)| format!("{offset:011o}\0{len:011o}\0").into_bytes();
            let fields: Vec<_> = map.iter().copied().map(pair).collect();
            let (first, rest) = fields.split_at(fields.len().min(4));
            block[386..386 + 24 * first.len()].copy_from_slice(&first.concat());
            block[482] = u8::from(!rest.is_empty());
            block[483..495].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
            archive.extend(seal(block));
            let mut chunks = rest.chunks(21).peekable();
            while let Some(chunk) = chunks.next() {
                let mut block = [0; BLOCK];
                block[..24 * chunk.len()].copy_from_slice(&chunk.concat());
                block[504] = u8::from(chunks.peek().is_some());
                archive.extend(block);
            }
            push(archive, &data);
        }
        Form::PaxSparse(form) => {
            let size = content.len().to_string();
            let number = |number: usize| number.to_string().into_bytes();
            let mut records = Vec::new();
            let mut before = Vec::new();
            if form < 2 {
                records.extend(record("GNU.sparse.size", size.as_bytes()));
                records.extend(record("GNU.sparse.numblocks", &number(map.len())));
            } else {
                records.extend(record("GNU.sparse.major", b"1"));
                records.extend(record("GNU.sparse.minor", b"0"));
                records.extend(record("GNU.sparse.realsize", size.as_bytes()));
                before = format!("{}\n", map.len()).into_bytes();
                map.iter().for_each(|(offset, len)| before.extend(format!("{offset}\n{len}\n").into_bytes()));
                before.resize(before.len().next_multiple_of(BLOCK), 0);
            }
            match form {
                0 => {
                    for (offset, len) in &map {
                        records.extend(record("GNU.sparse.offset", &number(*offset)));
                        records.extend(record("GNU.sparse.numbytes", &number(*len)));
                    }
                    records.extend(record("path", &file.name));
                }
                1 => {
                    let all: Vec<_> = map.iter().map(|(offset, len)| format!("{offset},{len}")).collect();
                    records.extend(record("GNU.sparse.map", all.join(",").as_bytes()));
                    records.extend(record("GNU.sparse.name", &file.name));
                }
                _ => records.extend(record("GNU.sparse.name", &file.name)),
            }
            pax(archive, records);
            let stored = [before, data].concat();
            archive.extend(seal(header(b"GNUSparseFile.1/x", b'0', stored.len(), seconds, USTAR)));
            push(archive, &stored);
        }
    }
}

/// Returns a few bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read(&mut buffer[..len])
    }
}

type Members = Vec<(TarMember, Vec<u8>)>;

/// Returns the members that were read completely, and the error.
fn members(archive: &[u8], piece: usize) -> (Members, io::Result<bool>) {
    let mut reader = TarReader::new(Pieces(archive, piece));
    let mut members = Vec::new();
    loop {
        match reader.next() {
            Ok(None) => return (members, Ok(reader.end().unwrap().is_marked)),
            Err(error) => return (members, Err(error)),
            Ok(Some(member)) => {
                let mut content = Vec::new();
                if let Err(error) = reader.read_to_end(&mut content) {
                    return (members, Err(error));
                }
                members.push((member, content));
            }
        }
    }
}

fn file() -> impl Strategy<Value = File> {
    let form = prop_oneof![
        Just(Form::Ustar),
        Just(Form::Gnu),
        Just(Form::Pax),
        Just(Form::OldSparse),
        (0..3_u8).prop_map(Form::PaxSparse),
    ];
    let byte = prop_oneof![4 => 1_u8.., 1 => proptest::sample::select(&b"\n=/ ."[..])];
    let name = proptest::collection::vec(byte, 1..300).prop_map(|mut name| {
        // A slash at the end would make it a directory.
        name.push(b'x');
        name.truncate(299);
        if name.len() >= 100 {
            name[99] = b'y';
        }
        *name.last_mut().unwrap() = b'x';
        name
    });
    let data = proptest::collection::vec(any::<u8>(), 0..700);
    let segments = proptest::collection::vec((0..1000_u16, data), 0..30);
    let mtime = prop_oneof![Just(0), -5_000_000_000..5_000_000_000_i128, Just(1_763_713_800_123_456_789)];
    (form, name, mtime, segments, 0..1000_u16).prop_map(|(form, name, mtime_ns, segments, hole)| File {
        form,
        name,
        mtime_ns,
        segments,
        hole,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn archives_are_read_back(files in proptest::collection::vec(file(), 1..5), cut in any::<proptest::sample::Index>()) {
        let (mut archive, mut ends) = (Vec::new(), vec![0]);
        for file in &files {
            write(&mut archive, file);
            ends.push(archive.len());
        }
        let end = archive.len();
        archive.resize(end + 2 * BLOCK, 0);
        let (read, result) = members(&archive, usize::MAX);
        prop_assert!(result?);
        prop_assert_eq!(read.len(), files.len());
        for (file, (member, content)) in files.iter().zip(&read) {
            let is_short = matches!(file.form, Form::Ustar | Form::OldSparse);
            let name = if is_short { &file.name[..file.name.len().min(100)] } else { &file.name };
            prop_assert_eq!((&*member.name, member.kind), (name, MemberKind::File));
            prop_assert!(*content == file.content());
            prop_assert_eq!(member.size, content.len() as u64);
            prop_assert_eq!((member.mode, member.uid, member.gid), (0o640, 0o1750, 1000));
            let rest = if file.is_exact() { 0 } else { file.mtime_ns.rem_euclid(1_000_000_000) };
            prop_assert_eq!(member.mtime_ns, file.mtime_ns - rest);
        }
        for piece in [1, 7, BLOCK] {
            let (again, result) = members(&archive, piece);
            prop_assert!(result? && again == read);
        }
        // Without its end, an archive is never taken for a whole one.
        let at = cut.index(end + BLOCK);
        let (some, result) = members(&archive[..at], usize::MAX);
        prop_assert!(some[..] == read[..some.len()]);
        match result {
            Ok(is_marked) => prop_assert!(is_marked == (at >= end + BLOCK) && ends.contains(&at.min(end))),
            Err(error) => prop_assert!(matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)),
        }
    }

    /// Whatever the bytes are, reading ends, and is the same in pieces.
    #[test]
    fn damaged_archives_are_read_to_an_end(
        files in proptest::collection::vec(file(), 1..3),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        is_sealed in any::<bool>(),
    ) {
        let mut archive = Vec::new();
        files.iter().for_each(|file| write(&mut archive, file));
        archive.resize(archive.len() + 2 * BLOCK, 0);
        for (at, byte) in edits {
            // Most edits are in the first header, where they matter.
            let at = at.index(archive.len()) % if is_sealed { BLOCK } else { archive.len() };
            // A size of exabytes with holes would be read for years.
            if !(386..500).contains(&(at % BLOCK)) {
                archive[at] = byte;
            }
        }
        if is_sealed {
            let first = seal(archive[..BLOCK].try_into().unwrap());
            archive[..BLOCK].copy_from_slice(&first);
        }
        let (one, result) = members(&archive, usize::MAX);
        let (other, again) = members(&archive, 3);
        prop_assert!(one == other);
        prop_assert_eq!(result.map_err(|it| it.to_string()), again.map_err(|it| it.to_string()));
    }
}

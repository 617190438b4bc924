//! Trees in the JSON of ncdu: read the same in pieces, and the same when written and read again.

use std::io::BufReader;

use ftk_inventory::Budget;
use ftk_record::{
    NcduError, NcduEvent, NcduMissing, NcduObject, NcduReader, write_ncdu_object, write_ncdu_start,
};
use ftk_usage::{Keep, Part, Usage, read_ncdu};

/// An event that owns its name: a letter for its kind, the name, sizes, the inode, and what is missing.
type Event = (u8, Vec<u8>, [u64; 2], Option<(u64, u64)>, Option<NcduMissing>, bool);

fn events(data: &[u8], buffer: usize) -> Result<Vec<Event>, NcduError> {
    let mut reader = NcduReader::new(BufReader::with_capacity(buffer, data));
    let mut events = Vec::new();
    while let Some(event) = reader.next()? {
        let (kind, entry) = match event {
            NcduEvent::Open(entry) => (b'[', entry),
            NcduEvent::Item(entry) => (b'{', entry),
            NcduEvent::Close => {
                events.push((b']', Vec::new(), [0; 2], None, None, false));
                continue;
            }
        };
        let sizes = [entry.apparent_bytes, entry.allocated_bytes];
        events.push((kind, entry.name.to_vec(), sizes, entry.link, entry.missing, entry.is_excluded));
    }
    Ok(events)
}

/// Uses the input as the JSON of ncdu.
pub fn ncdu_trees(data: &[u8]) {
    let read = events(data, 1);
    let in_one = events(data, 1 << 16);
    assert_eq!(read.as_ref().ok(), in_one.as_ref().ok());
    if let (Err(one), Err(other)) = (&read, &in_one) {
        assert_eq!(one.to_string(), other.to_string());
    }
    let mut part = Part::new(0, &Keep { files: true, ..Keep::default() }, &Budget::new(1 << 30));
    let loaded = read_ncdu(data, &mut part);
    assert_eq!(loaded.is_ok(), read.is_ok());
    let Ok(read) = read else { return };
    let usage = Usage::merge(vec![part]).expect("the budget is large");
    let files = read.iter().filter(|event| event.0 == b'{' && !event.5).count() as u64;
    let directories = read.iter().filter(|event| event.0 == b'[').count() as u64;
    assert_eq!((usage.total().files, usage.total().directories), (files, directories));

    let mut again = Vec::new();
    write_ncdu_start(&mut again, 0, None);
    let mut is_first = true;
    for (kind, name, [apparent, allocated], link, missing, is_excluded) in &read {
        if *kind == b']' {
            again.push(b']');
            continue;
        }
        again.extend_from_slice(if is_first { b"" } else { b",\n" });
        is_first = false;
        again.extend_from_slice(if *kind == b'[' { b"[" } else { b"" });
        let missing = missing.or(is_excluded.then_some(NcduMissing::OtherFileSystem));
        write_ncdu_object(
            &mut again,
            &NcduObject {
                name,
                apparent_bytes: Some(*apparent),
                allocated_bytes: Some(*allocated),
                dev: link.map(|(dev, _)| dev),
                link: link.map(|(_, ino)| (ino, 2)),
                missing,
                ..NcduObject::default()
            },
        );
    }
    again.extend_from_slice(b"]\n");
    let second = events(&again, 1 << 16).expect("what was written is read");
    assert_eq!(second.len(), read.len());
    for (second, first) in second.iter().zip(&read) {
        assert_eq!((second.0, &second.1, second.2, second.3), (first.0, &first.1, first.2, first.3));
    }
}

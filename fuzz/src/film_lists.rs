//! Film hash lists: they are read the same in pieces of any size, and their items are the same when written and read again.

use std::io::BufReader;

use ftk_record::{ASC_MHL, MhlItem, MhlKind, MhlReader, push_mhl_digest, push_xml, xml_name};

/// Reads a list to its end. The error is the message.
fn read(data: &[u8], piece: usize) -> Result<Vec<(u64, Option<MhlItem>)>, String> {
    let mut reader = MhlReader::new(BufReader::with_capacity(piece, data));
    let mut items = Vec::new();
    while let Some(record) = reader.next().map_err(|error| error.to_string())? {
        items.push((record.line, record.item.ok()));
    }
    Ok(items)
}

/// Uses the input as a film hash list.
pub fn film_lists(data: &[u8]) {
    let items = read(data, 1);
    assert_eq!(items.is_ok(), read(data, 1 << 16).is_ok());
    let Ok(items) = items else { return };
    assert_eq!(Ok(&items), read(data, 1 << 16).as_ref());
    let mut list = b"<hashlist version=\"2.0\"><hashes>".to_vec();
    let mut written = Vec::new();
    for item in items.into_iter().filter_map(|(_, item)| item).filter(|item| item.kind == MhlKind::File) {
        list.extend_from_slice(b"<hash><path>");
        push_xml(&mut list, xml_name(item.path.as_bytes()).expect("it was in XML"));
        list.extend_from_slice(b"</path>");
        for it in &item.digests {
            let (_, element) =
                ASC_MHL.iter().find(|known| known.0 == it.algorithm).expect("a known algorithm");
            list.extend_from_slice(format!("<{element}>").as_bytes());
            push_mhl_digest(&mut list, it.algorithm, &it.digest);
            list.extend_from_slice(format!("</{element}>").as_bytes());
        }
        list.extend_from_slice(b"</hash>");
        written
            .push((item.path, item.digests.iter().map(|it| (it.algorithm, it.digest)).collect::<Vec<_>>()));
    }
    list.extend_from_slice(b"</hashes></hashlist>");
    let again = read(&list, 7).expect("a list that was written");
    let again = again.into_iter().map(|(_, item)| {
        let item = item.expect("an item that was written");
        let digests: Vec<_> = item.usable().collect();
        (item.path, digests)
    });
    assert_eq!(again.collect::<Vec<_>>(), written);
}

//! Lists of hashdeep and BagIt manifests: everything that is written can be read back.

use ftk_record::{
    BagLine, BagReader, HashdeepLine, HashdeepReader, check_bag_name, write_bag_line, write_hashdeep_header,
    write_hashdeep_line,
};
use proptest::prelude::*;

/// Names in which the bytes with a special meaning are frequent.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![2 => 1_u8.., 3 => proptest::sample::select(&b"\n\r\t ,%#*0AaDd25\xff"[..])];
    proptest::collection::vec(byte, 1..24)
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hashdeep_lists_are_read_back(
        files in proptest::collection::vec((any::<u64>(), any::<[u8; 16]>(), any::<[u8; 20]>(), name()), 0..4),
    ) {
        let mut list = Vec::new();
        write_hashdeep_header(&mut list, &["md5", "sha1"]);
        let mut written = Vec::new();
        for (size, md5, sha1, name) in &files {
            let before = list.len();
            let result = write_hashdeep_line(&mut list, *size, [&md5[..], sha1].into_iter(), name);
            prop_assert_eq!(result.is_ok(), !name.contains(&b'\n') && !name.ends_with(b"\r"));
            match result {
                Ok(()) => written.push((*size, hex(md5), hex(sha1), name)),
                Err(_) => prop_assert_eq!(list.len(), before),
            }
        }
        let mut reader = HashdeepReader::new(&list[..]).unwrap().unwrap();
        prop_assert_eq!(reader.algorithms(), ["md5", "sha1"]);
        for (size, md5, sha1, name) in written {
            let record = reader.next().unwrap().expect("as many lines");
            let line = record.line?;
            let digests: Vec<_> = line.hex().collect();
            prop_assert_eq!((line.size, &*digests, line.name), (size, &[&*md5, &*sha1][..], &**name));
        }
        prop_assert!(reader.next().unwrap().is_none());
    }

    #[test]
    fn bag_manifests_are_read_back(
        files in proptest::collection::vec((any::<[u8; 16]>(), name()), 0..4),
    ) {
        let mut manifest = Vec::new();
        let mut written = Vec::new();
        for (md5, path) in &files {
            let before = manifest.len();
            let result = write_bag_line(&mut manifest, md5, path);
            let is_good = str::from_utf8(path).is_ok_and(|path| check_bag_name(path).is_ok());
            prop_assert_eq!(result.is_ok(), is_good);
            match result {
                Ok(()) => written.push((hex(md5), path)),
                Err(_) => prop_assert_eq!(manifest.len(), before),
            }
        }
        let mut reader = BagReader::new(&manifest[..]);
        for (md5, path) in written {
            let record = reader.next().unwrap().expect("as many lines");
            let line = record.line?;
            prop_assert_eq!((line.hex, &*line.path()), (&*md5, &**path));
        }
        prop_assert!(reader.next().unwrap().is_none());
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for columns in 0..3 {
            if let Ok(line) = HashdeepLine::parse(&bytes, columns) {
                prop_assert_eq!(line.hex().count(), columns);
            }
        }
        if let Ok(line) = BagLine::parse(&bytes) {
            prop_assert!(!line.path().is_empty());
        }
    }
}

//! `ftk hash --json`: each line is a valid object, and names are preserved byte for byte.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::Value;

use crate::harness::Dir;

/// Returns the digests by path.
fn objects(lines: &str) -> BTreeMap<Vec<u8>, String> {
    let object = |line| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(value["algorithm"], "md5", "{line}");
        let path = match (value["path"].as_str(), value["path_b64"].as_str()) {
            (Some(text), None) => text.as_bytes().to_vec(),
            (None, Some(base64)) => {
                let path = BASE64.decode(base64.as_bytes()).unwrap();
                assert!(str::from_utf8(&path).is_err(), "{path:?} needs no base64");
                path
            }
            both => panic!("{both:?}"),
        };
        (path, value["digest"].as_str().unwrap().to_owned())
    };
    lines.lines().map(object).collect()
}

#[test]
fn every_name_is_preserved() {
    let dir = Dir::new();
    let names = [
        &b"plain"[..],
        b"new\nline",
        b"quo\"te",
        b"back\\slash",
        b"\x01\x1f\x7f",
        b"\xff",
        b"half \xc3",
        b"\xed\xa0\x80",
        "\u{e9} \u{1f600} \u{fffd} \u{2028}".as_bytes(),
        b"d/\xfe/x",
        b"{}",
        b"null",
    ];
    for (nth, name) in names.iter().enumerate() {
        dir.raw_file(name, format!("{nth}").as_bytes());
    }
    let run = dir.ftk(["hash", "--json", "-a", "md5", "."]).run().status(0);
    let objects = objects(run.text());
    assert_eq!(objects.len(), names.len());
    for name in names {
        assert!(objects.contains_key(&[b"./", name].concat()), "{name:?} in {objects:?}");
    }
}

#[test]
fn the_digest_is_that_of_the_list() {
    let dir = Dir::new();
    dir.file("abc", b"abc");
    let run = dir.ftk(["hash", "--json", "-a", "md5", "abc", "-"]).run().status(0);
    let expected = [
        (b"-".to_vec(), "d41d8cd98f00b204e9800998ecf8427e".to_owned()),
        (b"abc".to_vec(), "900150983cd24fb0d6963f7d28e17f72".to_owned()),
    ];
    assert_eq!(objects(run.text()), BTreeMap::from(expected));
}

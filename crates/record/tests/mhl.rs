//! Film hash lists: what is read of them, and what is refused.

use ftk_hash::Algorithm::{self, Md5, Sha1, Sha512, Xxh3, Xxh64, Xxh128};
use ftk_record::{
    ASC_MHL, End, ListFormat, ListReader, MhlError, MhlItem, MhlKind, MhlReader, MhlUnusable, begins_mhl,
    push_mhl_digest, push_xml, xml_name,
};
use proptest::prelude::*;

type Items = Vec<(u64, Result<MhlItem, MhlUnusable>)>;

/// Reads a list to its end, in pieces of `piece` bytes.
fn read_in(list: &[u8], piece: usize) -> Result<Items, String> {
    let mut reader = MhlReader::new(std::io::BufReader::with_capacity(piece, list));
    let mut items = Vec::new();
    while let Some(record) = reader.next().map_err(|error| error.to_string())? {
        items.push((record.line, record.item));
    }
    Ok(items)
}

fn read(list: &str) -> Result<Items, String> {
    let items = read_in(list.as_bytes(), 1 << 16);
    let text = |items: &Result<Items, String>| format!("{items:?}");
    for piece in [1, 7] {
        assert_eq!(text(&read_in(list.as_bytes(), piece)), text(&items));
    }
    items
}

fn digest(algorithm: Algorithm, content: &str) -> String {
    let mut out = Vec::new();
    push_mhl_digest(&mut out, algorithm, &algorithm.hash_one(content.as_bytes()));
    String::from_utf8(out).unwrap()
}

/// The xxHash digests of `a`, by `xxhsum`: an independent value for their byte order.
const XXH64_A: &str = "d24ec4f1a98c6e5b";
const XXH3_A: &str = "e6c632b61e964e1f";
const XXH128_A: &str = "a96faf705af16834e6c632b61e964e1f";

#[test]
fn all_algorithms_of_version_2_are_read() {
    assert_eq!(
        [Xxh64, Xxh3, Xxh128].map(|it| digest(it, "a")),
        [XXH64_A, XXH3_A, XXH128_A].map(str::to_owned)
    );
    let digests = ASC_MHL.map(|(it, element)| format!("<{element}>{}</{element}>", digest(it, "a"))).concat();
    let list = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\">\n<hashes>\n\
         <hash><path size=\"1\">d/a</path>{digests}\n<previousPath>d/old</previousPath>\
         <metadata><hash><path>x</path></hash></metadata></hash></hashes></hashlist>\n"
    );
    let items = read(&list).unwrap();
    let [(4, Ok(item))] = &*items else { panic!("{items:?}") };
    assert_eq!((item.kind, &*item.path, item.size), (MhlKind::File, "d/a", Some(1)));
    assert_eq!(item.previous_path.as_deref(), Some("d/old"));
    let found: Vec<_> = item.usable().collect();
    assert_eq!(found, ASC_MHL.map(|(it, _)| (it, it.hash_one(b"a"))));
    assert_eq!(ASC_MHL.map(|it| it.0), [Sha512, Md5, Sha1, Xxh128, Xxh3, Xxh64]);
}

#[test]
fn version_1_has_both_byte_orders_of_xxh64() {
    let reversed = "5b6e8ca9f1c44ed2";
    for (element, text) in
        [("xxhash64be", XXH64_A), ("xxhash64", reversed), ("xxhash64be", " D24EC4F1A98C6E5B\n")]
    {
        let list = format!(
            "<hashlist version=\"1.1\"><creatorinfo><name>x</name></creatorinfo><hash><file>a</file>\
             <size> 1 </size><{element}>{text}</{element}><hashdate>2016-04-18T14:46:45Z</hashdate></hash></hashlist>"
        );
        let items = read(&list).unwrap();
        let [(1, Ok(item))] = &*items else { panic!("{items:?}") };
        assert_eq!(item.usable().collect::<Vec<_>>(), [(Xxh64, Xxh64.hash_one(b"a"))]);
        assert_eq!(item.size, Some(1));
    }
}

#[test]
fn directories_generations_and_patterns_are_items() {
    let md5 = digest(Md5, "a");
    let list = format!(
        "<m:hashlist version=\"2.0\" xmlns:m=\"urn:ASC:MHL:v2.0\"><m:processinfo><m:roothash><m:content>\
         <m:md5>{md5}</m:md5></m:content><m:structure><m:md5>{md5}</m:md5></m:structure></m:roothash>\
         <m:ignore><m:pattern>*.tmp</m:pattern><m:pattern/></m:ignore></m:processinfo><m:hashes><m:directoryhash>\
         <m:path>d</m:path><m:content/><m:structure/></m:directoryhash></m:hashes><m:references>\
         <m:hashlistreference><m:path>d/ascmhl/1.mhl</m:path><m:c4>{}</m:c4></m:hashlistreference></m:references>\
         </m:hashlist>",
        digest(Sha512, "x")
    );
    assert!(begins_mhl(list.as_bytes()));
    let items = read(&list).unwrap();
    let found: Vec<_> = items
        .iter()
        .map(|(_, item)| match item {
            Ok(item) => (item.kind, &*item.path, item.digests.len(), item.structure.len()),
            Err(unusable) => {
                assert_eq!(unusable.why, MhlError::NoPath);
                (MhlKind::Ignored, "", 0, 0)
            }
        })
        .collect();
    assert_eq!(
        found,
        [
            (MhlKind::Directory, ".", 1, 1),
            (MhlKind::Ignored, "*.tmp", 0, 0),
            (MhlKind::Ignored, "", 0, 0),
            (MhlKind::Directory, "d", 0, 0),
            (MhlKind::Generation, "d/ascmhl/1.mhl", 1, 0),
        ]
    );
    let chain = format!(
        "<ascmhldirectory xmlns=\"urn:ASC:MHL:DIRECTORY:v2.0\"><hashlist sequencenr=\"7\"><path>0007.mhl</path>\
         <c4>{}</c4></hashlist></ascmhldirectory>",
        digest(Sha512, "x")
    );
    assert!(begins_mhl(chain.as_bytes()));
    let items = read(&chain).unwrap();
    let [(1, Ok(item))] = &*items else { panic!("{items:?}") };
    assert_eq!((item.kind, &*item.path, item.number), (MhlKind::Generation, "0007.mhl", Some(7)));
}

fn version_2(hashes: &str) -> String {
    format!("<hashlist version=\"2.0\"><hashes>\n{hashes}\n</hashes></hashlist>")
}

#[test]
fn items_that_cannot_be_used_are_told_apart() {
    let md5 = digest(Md5, "a");
    let c4 = digest(Sha512, "a");
    for (hash, path, why) in [
        (format!("<md5>{md5}</md5>"), None, MhlError::NoPath),
        (format!("<path/><md5>{md5}</md5>"), None, MhlError::NoPath),
        (format!("<path size=\"-1\">a</path><md5>{md5}</md5>"), Some("a"), MhlError::Size),
        (format!("<path size=\"+1\">a</path><md5>{md5}</md5>"), Some("a"), MhlError::Size),
        (format!("<path>a</path><path>b</path><md5>{md5}</md5>"), Some("a"), MhlError::Twice("path".into())),
        (format!("<path>a</path><md5>{md5}</md5><md5>{md5}</md5>"), Some("a"), MhlError::Twice("md5".into())),
        (format!("<path>a</path><md5>{}</md5>", &md5[1..]), Some("a"), MhlError::Digest("md5".into())),
        (format!("<path>a</path><sha1>{md5}</sha1>"), Some("a"), MhlError::Digest("sha1".into())),
        (format!("<path>a</path><c4>{}</c4>", &c4[2..]), Some("a"), MhlError::Digest("c4".into())),
        ("<path>a</path><null/>".into(), Some("a"), MhlError::NoDigest(vec!["null".into()])),
        (
            "<path>a</path><xxhash>4111757423</xxhash>".into(),
            Some("a"),
            MhlError::NoDigest(vec!["xxhash".into()]),
        ),
        ("<path>a</path>".into(), Some("a"), MhlError::NoDigest(Vec::new())),
    ] {
        let list = version_2(&format!("<hash>{hash}</hash>\n<hash><path>z</path><md5>{md5}</md5></hash>"));
        let items = read(&list).unwrap();
        let [(2, Err(unusable)), (3, Ok(_))] = &*items else { panic!("{items:?}") };
        assert_eq!((unusable.path.as_deref(), &unusable.why), (path, &why), "{hash}");
    }
}

#[test]
fn a_failed_check_is_not_the_truth() {
    let (a, b) = (digest(Md5, "a"), digest(Md5, "b"));
    let list = version_2(&format!(
        "<hash><path>a</path><md5 action=\"failed\">{b}</md5><xxh64 action=\"verified\">{XXH64_A}</xxh64></hash>\
         <hash><path>b</path><md5 action='failed'>{a}</md5></hash>"
    ));
    let mut reader = ListReader::open(list.as_bytes(), ListFormat::Mhl, End::Newline, &[]).unwrap();
    let record = reader.next().unwrap().unwrap();
    assert_eq!(record.line.unwrap().digests, [(Xxh64, Xxh64.hash_one(b"a"))]);
    let unusable = reader.next().unwrap().unwrap().line.unwrap_err();
    assert_eq!((unusable.name, unusable.why.has_digest()), (Some(b"b".to_vec()), true));
    assert_eq!(unusable.why.to_string(), "its digest is that of a failed check");
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn malformed_lists_name_their_line() {
    let deep = format!("<hashlist version=\"1.1\">{}", "<a>".repeat(32));
    for (list, line, what) in [
        ("", 1, "cut off"),
        ("\n<hashlist version=\"2.0\">\n", 3, "cut off"),
        ("<html></html>", 1, "the element <html>"),
        ("<hashlist version=\"2.0\"/>\n<hashlist version=\"2.0\"/>", 2, "the element <hashlist>"),
        ("<hashlist version=\"3.0\"/>", 1, "version \"3.0\""),
        ("<hashlist/>", 1, "version \"\""),
        ("<hashlist version=\"2.0\">\n</hashes>", 2, ""),
        ("<!DOCTYPE x [\n<!ENTITY a \"b\">\n]><hashlist version=\"2.0\"/>", 3, "document type definition"),
        (
            "<hashlist version=\"2.0\"><hashes><hash><path>&a;</path></hash></hashes></hashlist>",
            1,
            "entity &a;",
        ),
        ("<hashlist version=\"2.0\"><hashes><hash><path>&#1;</path></hash></hashes></hashlist>", 1, "U+0001"),
        ("<hashlist version=\"2.0\"><hashes><hash><path>\x01</path></hash></hashes></hashlist>", 1, "U+0001"),
        ("<hashlist version=\"2.0\"><hashes><hash><path>&#0;</path></hash></hashes></hashlist>", 1, ""),
        ("<?xml version=\"1.0\" encoding=\"latin1\"?><hashlist version=\"2.0\"/>", 1, "latin1"),
        (&deep, 1, "too many elements"),
    ] {
        let error = read(list).unwrap_err();
        assert!(error.starts_with(&format!("line {line}: ")) && error.contains(what), "{list}: {error}");
    }
    let not_utf8 = b"<hashlist version=\"2.0\"><hashes><hash><path>\xff</path></hash></hashes></hashlist>";
    assert!(read_in(not_utf8, 64).unwrap_err().starts_with("line 1: "));
}

/// Neither an endless element nor one with very many attributes takes much memory or time.
#[test]
fn elements_have_a_limit() {
    let list = |inside: String| format!("<hashlist version=\"2.0\">{inside}");
    let many = 17 << 20;
    for (inside, what) in [
        (format!("<{}", "a".repeat(many)), "too long"),
        (format!("<!--{}", "a".repeat(many)), "too long"),
        (format!("<hashes a=\"\"{}", " a=\"\"".repeat(many / 5)), "too long"),
        (
            "<hashes><hash><path>".to_owned() + &format!("{}<!-- -->", "a".repeat(1 << 20)).repeat(17),
            "too long",
        ),
    ] {
        let error = read_in(list(inside).as_bytes(), 1 << 16).unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn lists_are_recognised() {
    for start in
        ["<hashlist version", "\u{feff}<?xml version=\"1.0\"?>\n<!-- x -->\n<hashlist", "  <ascmhldirectory "]
    {
        assert!(begins_mhl(start.as_bytes()), "{start}");
        assert_eq!(ListFormat::of("-".as_ref(), start.as_bytes()), ListFormat::Mhl);
    }
    for start in ["", "<html>", "hashlist", "d41d8cd98f00b204e9800998ecf8427e  <hashlist"] {
        assert!(!begins_mhl(start.as_bytes()), "{start}");
    }
    assert_eq!(ListFormat::of("d/a.MHL".as_ref(), b""), ListFormat::Mhl);
}

proptest! {
    /// Any name that XML can hold is read back, and the others are refused.
    #[test]
    fn names_are_read_back(name in prop_oneof![
        prop::collection::vec(any::<u8>(), 1..12),
        "[ -~]{1,20}".prop_map(String::into_bytes),
        "\\PC{1,12}|[\t\r\n&<>\"';#x]{1,9}".prop_map(String::into_bytes),
    ]) {
        let md5 = digest(Md5, "a");
        let Ok(text) = xml_name(&name) else {
            let has_other = |text: &str| text.chars().any(|c| !(' '..='\u{fffd}').contains(&c));
            prop_assert!(str::from_utf8(&name).map_or(true, has_other));
            return Ok(());
        };
        let mut escaped = Vec::new();
        push_xml(&mut escaped, text);
        let escaped = String::from_utf8(escaped).unwrap();
        let list = version_2(&format!("<hash><path>{escaped}</path><md5>{md5}</md5></hash>"));
        let items = read(&list).unwrap();
        prop_assert_eq!(&items[0].1.as_ref().unwrap().path, text);
    }

    /// Reading ends, whatever the bytes are.
    #[test]
    fn any_input_is_read(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<hashlist version=\"2.0\">", "</hashlist>", "<hashes>", "</hashes>", "<hash>", "</hash>", "<path>", "</path>",
            "<md5>", "</md5>", "900150983cd24fb0d6963f7d28e17f72", "&amp;", "&#x41;", "&", "<", ">", "<![CDATA[", "]]>",
            "<!--", "-->", "<directoryhash>", "</directoryhash>", "<content>", "</content>", " size=\"1\"", "a", "\n", "\0",
        ]), 0..40),
    ) {
        let list = parts.concat();
        if let Ok(items) = read(&list) {
            for (_, item) in items {
                prop_assert!(item.is_err() || !item.unwrap().path.is_empty());
            }
        }
    }
}

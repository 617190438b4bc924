//! Lists that gain, lose and change lines: all other bytes stay.

use std::collections::{BTreeMap, BTreeSet};

use ftk_hash::{Algorithm, Digest};
use ftk_record::{EditError, EditableList, Edits, End, ListFormat};
use proptest::prelude::*;

fn open(list: &str, format: ListFormat) -> EditableList {
    EditableList::parse(list.as_bytes().to_vec(), format, End::Newline, &[], 1 << 20).unwrap()
}

fn digests(algorithms: &[Algorithm], content: &str) -> Vec<(Algorithm, Digest)> {
    algorithms.iter().map(|it| (*it, it.hash_one(content.as_bytes()))).collect()
}

/// Adds a file with this name and the content `x`.
fn add(list: &EditableList, name: &str) -> Result<String, String> {
    let line = list.line(name.as_bytes(), 1, &digests(&list.algorithms(), "x"))?;
    let edits = Edits { added: vec![(name.as_bytes().to_vec(), line)], ..Edits::default() };
    Ok(String::from_utf8(list.edit(&edits).unwrap()).unwrap())
}

/// MD5 of `x`, from md5sum.
const X: &str = "9dd4e461268c8034f5c8564e155c67a6";
/// MD5 of nothing.
const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";

#[test]
fn new_lines_have_the_form_of_the_others() {
    let (upper, upper_x) = (EMPTY.to_uppercase(), X.to_uppercase());
    for (list, expected) in [
        (format!("{EMPTY}  a\n"), format!("{EMPTY}  a\n{X}  b\n")),
        (format!("{EMPTY} *a\n"), format!("{EMPTY} *a\n{X} *b\n")),
        (format!("{EMPTY} a\n"), format!("{EMPTY} a\n{X} b\n")),
        (format!("{EMPTY}\ta\n"), format!("{EMPTY}\ta\n{X}\tb\n")),
        (format!("{upper}  a\r\n"), format!("{upper}  a\r\n{upper_x}  b\r\n")),
        (format!("MD5 (a) = {EMPTY}\n"), format!("MD5 (a) = {EMPTY}\nMD5 (b) = {X}\n")),
        (format!("MD5(a)= {EMPTY}\n"), format!("MD5(a)= {EMPTY}\nMD5(b)= {X}\n")),
        (format!("MD5    (a) = {EMPTY}\r\n"), format!("MD5    (a) = {EMPTY}\r\nMD5    (b) = {X}\r\n")),
        (format!("md5:{EMPTY}  a\n"), format!("md5:{EMPTY}  a\nmd5:{X}  b\n")),
        (format!("{EMPTY},a\n"), format!("{EMPTY},a\n{X},b\n")),
        (format!("a,{EMPTY}\n"), format!("a,{EMPTY}\nb,{X}\n")),
        (
            "1B2M2Y8AsgTpgAmY7PhCfg==  a\n".into(),
            "1B2M2Y8AsgTpgAmY7PhCfg==  a\nndTkYSaMgDT1yFZOFVxnpg==  b\n".into(),
        ),
        (
            "MD5 (a) = 1B2M2Y8AsgTpgAmY7PhCfg\n".into(),
            "MD5 (a) = 1B2M2Y8AsgTpgAmY7PhCfg\nMD5 (b) = ndTkYSaMgDT1yFZOFVxnpg\n".into(),
        ),
        (format!("\\{EMPTY}  a\\n\n"), format!("\\{EMPTY}  a\\n\n{X}  b\n")),
        (format!("\\MD5 (a\\n) = {EMPTY}\n"), format!("\\MD5 (a\\n) = {EMPTY}\nMD5 (b) = {X}\n")),
    ] {
        assert_eq!(add(&open(&list, ListFormat::Sums), "b"), Ok(expected), "{list}");
    }
    let list = "; by hand\r\na 00000000\r\n";
    assert_eq!(add(&open(list, ListFormat::Sfv), "b"), Ok(format!("{list}b 8CDC1683\r\n")));
    let list = "a deadbeef\n";
    assert_eq!(add(&open(list, ListFormat::Sfv), "b"), Ok(format!("{list}b 8cdc1683\n")));
    let list = format!("%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## /\n0,{EMPTY},a\n");
    assert_eq!(add(&open(&list, ListFormat::Hashdeep), "b"), Ok(format!("{list}1,{X},b\n")));
    let list = format!("{EMPTY}  data/a\r\n");
    let bag = open(&list, ListFormat::Bag("md5".into()));
    assert_eq!(add(&bag, "data/b%\n"), Ok(format!("{list}{X}  data/b%25%0A\r\n")));
    // Several algorithms.
    let list = format!("MD5 (a) = {EMPTY}\nSHA1 (a) = da39a3ee5e6b4b0d3255bfef95601890afd80709\n");
    let added = format!("{list}MD5 (b) = {X}\nSHA1 (b) = 11f6ad8ec52a2984abaafd7c3b516503785c2072\n");
    assert_eq!(add(&open(&list, ListFormat::Sums), "b"), Ok(added));
}

#[test]
fn names_are_escaped_as_in_the_coreutils_or_refused() {
    let list = open(&format!("{EMPTY}  a\n"), ListFormat::Sums);
    assert_eq!(add(&list, "b\n\\"), Ok(format!("{EMPTY}  a\n\\{X}  b\\n\\\\\n")));
    let list = open(&format!("a,{EMPTY}\n"), ListFormat::Sums);
    for name in ["#b", "b,c", "b\"", " b"] {
        assert!(add(&list, name).is_err(), "{name}");
    }
    let list = open("a 00000000\n", ListFormat::Sfv);
    for name in [";b", "b\n", " b"] {
        assert!(add(&list, name).is_err(), "{name}");
    }
}

#[test]
fn new_lines_are_sorted_in_and_other_text_stays() {
    let list = format!("# top\n\n{EMPTY}  ./b\n# about d\n{EMPTY}  ./d\n# end\n");
    let list = open(&list, ListFormat::Sums);
    for (name, expected) in [
        ("./a", format!("# top\n\n{X}  ./a\n{EMPTY}  ./b\n# about d\n{EMPTY}  ./d\n# end\n")),
        ("./c", format!("# top\n\n{EMPTY}  ./b\n{X}  ./c\n# about d\n{EMPTY}  ./d\n# end\n")),
        ("./e", format!("# top\n\n{EMPTY}  ./b\n# about d\n{EMPTY}  ./d\n{X}  ./e\n# end\n")),
    ] {
        assert_eq!(add(&list, name), Ok(expected));
    }
    let unsorted = format!("{EMPTY}  b\n{EMPTY}  a\n");
    assert_eq!(add(&open(&unsorted, ListFormat::Sums), "0"), Ok(format!("{unsorted}{X}  0\n")));
}

#[test]
fn lines_are_removed_and_their_digests_replaced() {
    let list = format!("# top\n{EMPTY} *a\n#\n{EMPTY} *b\n{EMPTY} *c\n");
    let list = open(&list, ListFormat::Sums);
    let replaced = BTreeMap::from([(1, (1, digests(&[Algorithm::Md5], "x")))]);
    let edits = Edits { removed: BTreeSet::from([0, 2]), replaced, ..Edits::default() };
    assert_eq!(list.edit(&edits).unwrap(), format!("# top\n#\n{X} *b\n").as_bytes());
    let list = format!("%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n0,{EMPTY},a \n");
    let list = open(&list, ListFormat::Hashdeep);
    let edits =
        Edits { replaced: BTreeMap::from([(0, (1, digests(&[Algorithm::Md5], "x")))]), ..Edits::default() };
    let expected = format!("%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n1,{X},a \n");
    assert_eq!(list.edit(&edits).unwrap(), expected.as_bytes());
}

#[test]
fn lists_that_are_not_understood_are_refused() {
    let parse = |list: &str, format| {
        EditableList::parse(list.as_bytes().to_vec(), format, End::Newline, &[], 1 << 20).map(drop)
    };
    let line = format!("{EMPTY}  a\n");
    for (list, number) in [
        (format!("-----BEGIN PGP SIGNED MESSAGE-----\n{line}"), 1),
        (format!("{line}{}  b\n", &EMPTY[1..]), 2),
        (format!("%%%% HASHDEEP-1.0\n%%%% size,md5,tiger,filename\n0,{EMPTY},00,a\n"), 2),
    ] {
        let format = if list.starts_with('%') { ListFormat::Hashdeep } else { ListFormat::Sums };
        let error = parse(&list, format).unwrap_err();
        assert!(matches!(error, EditError::Line(it, _) if it == number), "{list}: {error}");
    }
    assert!(matches!(parse(&line[..line.len() - 1], ListFormat::Sums), Err(EditError::CutOff)));
    let mixed = format!("{EMPTY}  a\r\n{line}");
    assert!(matches!(parse(&mixed, ListFormat::Sums), Err(EditError::Read(_))));
    let parsed = EditableList::parse(line.repeat(9).into_bytes(), ListFormat::Sums, End::Newline, &[], 500);
    assert!(matches!(parsed, Err(EditError::TooLarge)));
}

proptest! {
    /// Any names: what is added is in the list, and the list without it is the old one.
    #[test]
    fn additions_can_be_removed(
        old in prop::collection::btree_set("[ -~\n]{1,6}", 1..8),
        new in prop::collection::btree_set("[ -~\n\\\\]{1,6}", 1..8),
        style in 0..3_usize,
    ) {
        let form = [ftk_record::Style::Untagged, ftk_record::Style::Tagged][style % 2];
        let end = if style == 2 { End::Nul } else { End::Newline };
        let format = ftk_record::SumFormat::new("MD5", form, end);
        let mut bytes = Vec::new();
        for name in &old {
            format.write_line(&mut bytes, Algorithm::Md5.hash_one(b"").as_bytes(), name.as_bytes());
        }
        let list = EditableList::parse(bytes.clone(), ListFormat::Sums, end, &[], u64::MAX).unwrap();
        let mut added = Vec::new();
        for name in new.difference(&old) {
            let line = list.line(name.as_bytes(), 1, &digests(&[Algorithm::Md5], "x")).unwrap();
            added.push((name.as_bytes().to_vec(), line));
        }
        let n = added.len();
        let longer = list.edit(&Edits { added, ..Edits::default() }).unwrap();
        let longer = EditableList::parse(longer, ListFormat::Sums, end, &[], u64::MAX).unwrap();
        prop_assert_eq!(longer.lines().len(), old.len() + n);
        let is_new = |nth: &usize| !old.contains(str::from_utf8(&longer.lines()[*nth].name).unwrap());
        let removed = (0..longer.lines().len()).filter(is_new).collect();
        let shorter = longer.edit(&Edits { removed, ..Edits::default() }).unwrap();
        prop_assert_eq!(shorter, bytes);
    }
}

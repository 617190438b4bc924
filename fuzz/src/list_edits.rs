//! Lists that are changed: a list without changes is the same, and what is added can be removed.

use std::collections::BTreeSet;

use ftk_record::{EditableList, Edits, End, ListFormat};

/// Uses the input as a list in every format.
pub fn list_edits(data: &[u8]) {
    let bag = ListFormat::Bag("md5".into());
    for (format, end) in [
        (ListFormat::Sums, End::Newline),
        (ListFormat::Sums, End::Nul),
        (ListFormat::Sfv, End::Newline),
        (ListFormat::Hashdeep, End::Newline),
        (bag, End::Newline),
    ] {
        let parse = |data: &[u8]| EditableList::parse(data.to_vec(), format.clone(), end, &[], 16 << 20);
        let Ok(list) = parse(data) else { continue };
        assert_eq!(list.edit(&Edits::default()).expect("no changes"), data);
        let algorithms = list.algorithms();
        if algorithms.is_empty() {
            continue;
        }
        let digests: Vec<_> = algorithms.iter().map(|it| (*it, it.hash_one(b"content"))).collect();
        for name in ["b", "./b\nc", "#", "data/%25 (b) = ", "\u{e9}\\"] {
            let is_listed = list.lines().iter().any(|line| line.name == name.as_bytes());
            let Ok(line) = list.line(name.as_bytes(), 7, &digests) else { continue };
            if is_listed {
                continue;
            }
            let added = vec![(name.as_bytes().to_vec(), line)];
            let longer = list.edit(&Edits { added, ..Edits::default() }).expect("the new line is checked");
            let longer = parse(&longer).expect("the new list is checked");
            let new = |nth: &usize| longer.lines()[*nth].name == name.as_bytes();
            let removed: BTreeSet<_> = (0..longer.lines().len()).filter(new).collect();
            assert!(!removed.is_empty());
            let shorter = longer.edit(&Edits { removed, ..Edits::default() });
            assert_eq!(shorter.expect("lines can be removed"), data, "{name:?}");
        }
    }
}

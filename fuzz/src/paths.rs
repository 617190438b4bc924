//! Lists of paths: each path is refused, or preserved byte for byte and in order.

use std::collections::BTreeSet;

use ftk_inventory::{Inventory, PathList, Unlisted};

/// Uses the records of the input as the paths of a list, confined to a directory or not. The first byte
/// selects newline or NUL as the end of a record.
pub fn path_lists(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let end = if first % 2 == 0 { b'\n' } else { 0 };
    for is_confined in [false, true] {
        let mut list = if is_confined { PathList::confined(c".".into()) } else { PathList::new() };
        let mut accepted = Vec::new();
        for path in data.split(|byte| *byte == end) {
            let pushed = list.push(path);
            assert_eq!(pushed, may_be_listed(path, is_confined), "{}", path.escape_ascii());
            if pushed.is_ok() {
                accepted.push(path);
            }
            assert_eq!(list.len(), accepted.len());
        }
        let (inventory, files) = Inventory::from_list(list).expect("a list that fits");
        assert_eq!(files.len(), accepted.len());
        let mut path = Vec::new();
        for (file, expected) in files.iter().zip(&accepted) {
            path.clear();
            inventory.push_path(*file, &mut path);
            assert_eq!(&path, expected);
        }
        let different: BTreeSet<_> = accepted.into_iter().collect();
        let mut order = inventory.in_path_order();
        for expected in different {
            assert_eq!(order.next().map(|item| item.path), Some(expected));
        }
        assert!(order.next().is_none());
    }
}

fn may_be_listed(path: &[u8], is_confined: bool) -> Result<(), Unlisted> {
    let mut names = path.split(|byte| *byte == b'/');
    match path {
        [] | [.., b'/'] => Err(Unlisted::NoFile),
        [b'/', ..] if is_confined => Err(Unlisted::Outside),
        _ if is_confined && names.any(|name| name == b"..") => Err(Unlisted::Outside),
        _ if path.contains(&0) => Err(Unlisted::Nul),
        _ if path.split(|byte| *byte == b'/').any(|name| name.len() > 65_535) => Err(Unlisted::LongName),
        _ => Ok(()),
    }
}

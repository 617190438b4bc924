//! Contents that only one of two manifests has.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Error, unique};
use proptest::prelude::*;

use crate::model::{Entries, all_versions, entries, header, in_parts, manifest, text};

proptest! {
    #[test]
    fn contents_found_under_any_name_are_not_unique(of in entries(8), elsewhere in entries(8)) {
        let contents: Vec<_> =
            elsewhere.values().filter(|it| !it.digests.is_empty()).map(|it| (&it.digests, it.stat.size)).collect();
        let is_unique = |entry: &crate::model::Owned| {
            !entry.digests.is_empty() && !contents.contains(&(&entry.digests, entry.stat.size))
        };
        let expected: Vec<_> =
            of.iter().filter(|(_, entry)| is_unique(entry)).map(|(path, _)| text(&path.0)).collect();
        let mut versions = [&of, &elsewhere].map(|it| all_versions(&header(&[Algorithm::Xxh64], false), it));
        let [ranges, hashed] = [&of, &elsewhere].map(|it| in_parts(&header(&[Algorithm::Xxh64], false), it));
        versions[0].extend(ranges);
        versions[1].extend(hashed);
        for (a, b) in versions[0].iter().flat_map(|a| versions[1].iter().map(move |b| (a, b))) {
            let mut found = Vec::new();
            let n = unique(a, b, &Budget::new(1 << 20), &mut |entry| {
                found.push(text(entry.path));
                ControlFlow::Continue(())
            });
            prop_assert_eq!(n.unwrap(), found.len() as u64);
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn unique_without_digests_is_an_error() {
    let crc = |other| vec![Algorithm::Crc32, other];
    let all =
        [vec![Algorithm::Md5], vec![Algorithm::Sha1], vec![], crc(Algorithm::Md5), crc(Algorithm::Sha1)];
    for (a, b, why) in [
        (0, 1, "md5 and sha1"),
        (0, 2, "md5 and none"),
        (2, 2, "none and none"),
        (3, 4, "crc32, md5 and crc32, sha1 (a CRC does not identify contents)"),
    ] {
        let [a, b] = [a, b].map(|nth: usize| manifest(&header(&all[nth], false), &Entries::new()));
        let found = unique(&a, &b, &Budget::new(0), &mut |_| ControlFlow::Continue(()));
        let error = found.unwrap_err();
        assert!(matches!(error, Error::NoCommonAlgorithm { .. }));
        assert!(error.to_string().ends_with(why), "{error}");
    }
}

//! Extended attributes in words.

use ftk_file::AttributeDifference;
use ftk_record::sanitize;

/// The attributes that the kernel acts on.
const KNOWN: [(&[u8], &str); 4] = [
    (b"security.capability", "capabilities"),
    (b"security.selinux", "SELinux label"),
    (b"system.posix_acl_access", "access control list"),
    (b"system.posix_acl_default", "default access control list"),
];

/// Describes differences: `capabilities added, user.note changed`. `words` are those for attributes that only the first
/// file has, only the second one has, and both have with other values.
pub(crate) fn describe(differences: &[AttributeDifference], words: [&str; 3]) -> String {
    let one = |AttributeDifference { name, has }: &AttributeDifference| {
        let known = KNOWN.iter().find(|(known, _)| known == name);
        let name = known.map_or_else(|| sanitize(name), |(_, words)| (*words).into());
        let how = words[match has {
            [_, false] => 0,
            [false, _] => 1,
            _ => 2,
        }];
        format!("{name} {how}")
    };
    differences.iter().map(one).collect::<Vec<_>>().join(", ")
}

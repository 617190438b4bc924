//! Access control lists as archives store them, and as the attributes that Linux makes of them.

use ftk_file::Attribute;

/// The attribute with the access control list of a file.
pub(super) const ACCESS: &[u8] = b"system.posix_acl_access";

/// The version of the form of Linux.
const VERSION: u32 = 2;

/// The number of an entry without a user or group.
const NO_ID: u32 = u32::MAX;

/// The tags of entries, in the order of the kernel.
const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// A kind of account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// A user.
    User,
    /// A group.
    Group,
}

/// Returns the number of a user or group with a name.
pub type FindAccount<'f> = &'f dyn Fn(Account, &[u8]) -> Option<u32>;

/// Returns the attributes of the access control list of an entry, and of the one for what is made in a directory, given
/// as text: `user::rw-,user:ann:r--:1000,...`, separated by commas or line ends. A list that says no more than the
/// permission bits has no attribute.
///
/// # Errors
/// If a list is malformed, or has a name without a number that `find` does not know.
pub(super) fn of_lists(
    lists: &[Option<Vec<u8>>; 2],
    find: FindAccount<'_>,
) -> Result<Vec<Attribute>, String> {
    let mut found = Vec::new();
    for (name, text) in [ACCESS, b"system.posix_acl_default"].into_iter().zip(lists) {
        let Some(text) = text else { continue };
        let mut entries = Vec::new();
        for line in text.split(|byte| matches!(byte, b'\n' | b',')) {
            // `getfacl` adds the effective permissions.
            let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
            if !line.is_empty() {
                entries.push(entry(line, find)?);
            }
        }
        entries.sort_by_key(|(tag, id, _)| (*tag, *id));
        let is_minimal = entries.iter().all(|(tag, ..)| matches!(*tag, USER_OBJ | GROUP_OBJ | OTHER));
        if entries.is_empty() || is_minimal && name == ACCESS {
            continue;
        }
        let mut value = VERSION.to_le_bytes().to_vec();
        for (tag, id, permissions) in entries {
            value.extend_from_slice(&tag.to_le_bytes());
            value.extend_from_slice(&permissions.to_le_bytes());
            value.extend_from_slice(&id.to_le_bytes());
        }
        found.push((name.to_vec(), value));
    }
    Ok(found)
}

/// Returns the permission bits of a file with this access control list, in the form of Linux: those of the group are the
/// mask. Some programs store those of the group itself.
pub(super) fn mode(list: &[u8], mut mode: u32) -> u32 {
    let mut set = |shift: u32, permissions: u32| mode = mode & !(7 << shift) | (permissions & 7) << shift;
    for entry in list.get(4..).unwrap_or_default().chunks_exact(8) {
        let permissions = u32::from(u16::from_le_bytes([entry[2], entry[3]]));
        match u16::from_le_bytes([entry[0], entry[1]]) {
            USER_OBJ => set(6, permissions),
            // The mask follows the entry of the group.
            GROUP_OBJ | MASK => set(3, permissions),
            OTHER => set(0, permissions),
            _ => {}
        }
    }
    mode
}

/// Returns the tag, the number and the permissions of an entry.
fn entry(line: &[u8], find: FindAccount<'_>) -> Result<(u16, u32, u16), String> {
    let malformed = || format!("its access control list has the entry {:?}", String::from_utf8_lossy(line));
    let parts: Vec<_> = line.split(|byte| *byte == b':').collect();
    let (kind, account, permissions, id) = match *parts {
        // Some programs omit the empty name.
        [kind @ (b"mask" | b"m" | b"other" | b"o"), permissions] => (kind, &b""[..], permissions, None),
        [kind, account, permissions] => (kind, account, permissions, None),
        [kind, account, permissions, id] => (kind, account, permissions, Some(id)),
        _ => return Err(malformed()),
    };
    let (tag, of) = match kind {
        b"user" | b"u" if account.is_empty() => (USER_OBJ, None),
        b"user" | b"u" => (USER, Some(Account::User)),
        b"group" | b"g" if account.is_empty() => (GROUP_OBJ, None),
        b"group" | b"g" => (GROUP, Some(Account::Group)),
        b"mask" | b"m" if account.is_empty() => (MASK, None),
        b"other" | b"o" if account.is_empty() => (OTHER, None),
        _ => return Err(malformed()),
    };
    let mut bits = 0;
    for byte in permissions {
        bits |= match byte {
            b'r' => 4,
            b'w' => 2,
            b'x' => 1,
            b'-' => 0,
            _ => return Err(malformed()),
        };
    }
    let number = |text: &[u8]| str::from_utf8(text).ok()?.parse::<u32>().ok().filter(|it| *it != NO_ID);
    let id = match (of, id) {
        (None, _) => NO_ID,
        (Some(_), Some(id)) => number(id).ok_or_else(malformed)?,
        (Some(of), None) => find(of, account).or_else(|| number(account)).ok_or_else(|| {
            let kind = if of == Account::User { "user" } else { "group" };
            format!("its access control list has the unknown {kind} {:?}", String::from_utf8_lossy(account))
        })?,
    };
    Ok((tag, id, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(access: &str, default: Option<&str>) -> Result<Vec<Attribute>, String> {
        let find = |of, name: &[u8]| match (of, name) {
            (Account::User, b"ann") => Some(1000),
            (Account::Group, b"staff") => Some(50),
            _ => None,
        };
        of_lists(&[Some(access.into()), default.map(Into::into)], &find)
    }

    #[test]
    fn lists_are_those_of_the_kernel() {
        // What `getfattr` prints for `setfacl -m u:1000:rw` on a file with the mode 0644.
        let value =
            b"\x02\0\0\0\x01\0\x06\0\xff\xff\xff\xff\x02\0\x06\0\xe8\x03\0\0\x04\0\x04\0\xff\xff\xff\xff\
                      \x10\0\x06\0\xff\xff\xff\xff\x20\0\x04\0\xff\xff\xff\xff";
        let expected = vec![(b"system.posix_acl_access".to_vec(), value.to_vec())];
        assert_eq!(mode(value, 0o4640), 0o4664);
        assert_eq!((mode(&value[..28], 0o700), mode(b"", 0o1751)), (0o640, 0o1751));
        for text in [
            "user::rw-\nuser:ann:rw-\ngroup::r--\nmask::rw-\nother::r--\n\n",
            "user::rw-,group::r--,other::r--,user:ann:rw-:1000,mask::rw-",
            "u::rw,g::r,o:r,u:1000:rw\t#effective:rw-,m:rw",
            "user::rw-,user:elsewhere:rw-:1000,group::r--,mask::rw-,other::r--",
        ] {
            assert_eq!(of(text, None).as_ref(), Ok(&expected), "{text}");
        }
        let minimal = "user::rwx,group::r-x,other::---";
        assert_eq!(of(minimal, None), Ok(vec![]));
        assert_eq!(of("", Some("")), Ok(vec![]));
        let found =
            of(minimal, Some("user::rwx\ngroup::r-x\ngroup:staff:--x\nmask::rwx\nother::---")).unwrap();
        let [(name, value)] = &*found else { panic!("{found:?}") };
        assert_eq!((&**name, value.len()), (&b"system.posix_acl_default"[..], 4 + 5 * 8));
        assert_eq!(value[20..28], *b"\x08\0\x01\0\x32\0\0\0");
        assert_eq!(of(minimal, Some(minimal)).unwrap().len(), 1);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in [
            "user::rwz",
            "user",
            "user:a:b:c:d",
            "mask:ann:r",
            "default:user::r",
            "user:ann:r:-1",
            "user:ann:r:4294967295",
        ] {
            assert!(of(text, None).unwrap_err().contains("has the entry"), "{text}");
        }
        for (text, what) in
            [("user:staff:r", "unknown user \"staff\""), ("group:ann:r", "unknown group \"ann\"")]
        {
            assert!(of(text, None).unwrap_err().contains(what), "{text}");
        }
    }
}

//! Identities of files and directories as members of journal records.

use std::fmt::Write as _;

use data_encoding::HEXLOWER;
use ftk_file::{FsId, Identity};
use ftk_record::{type_name, type_of};
use serde::Deserialize;

/// Appends the members of an identity, without braces.
pub(crate) fn write_identity(out: &mut Vec<u8>, identity: &Identity) {
    let &Identity { fs, dev, ino, birth_ns, file_type, uid } = identity;
    let mut text = String::new();
    if let Some(fs) = fs {
        write!(text, "\"fs\":\"{}\",", HEXLOWER.encode(fs.as_bytes())).expect(INFALLIBLE);
    }
    write!(text, "\"dev\":{dev},\"ino\":{ino},").expect(INFALLIBLE);
    if let Some(birth_ns) = birth_ns {
        write!(text, "\"birth_ns\":{birth_ns},").expect(INFALLIBLE);
    }
    write!(text, "\"type\":\"{}\",\"uid\":{uid}", type_name(file_type)).expect(INFALLIBLE);
    out.extend_from_slice(text.as_bytes());
}

const INFALLIBLE: &str = "writing to a String cannot fail";

/// An identity as it is stored in the file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct IdentityRecord {
    fs: Option<String>,
    dev: u64,
    ino: u64,
    birth_ns: Option<i128>,
    #[serde(rename = "type")]
    type_name: String,
    uid: u32,
}

impl IdentityRecord {
    /// Converts a record that [`write_identity`] could have written. Returns `None` for any other.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let &Self { ref fs, dev, ino, birth_ns, ref type_name, uid } = self;
        let fs = match fs {
            None => None,
            Some(hex) => {
                let bytes = HEXLOWER.decode(hex.as_bytes()).ok()?;
                Some(FsId::from_bytes(bytes.try_into().ok()?))
            }
        };
        let file_type = type_of(type_name.as_bytes())?;
        Some(Identity { fs, dev, ino, birth_ns, file_type, uid })
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::FileType;
    use ftk_record::Object;

    use super::*;

    fn read(text: &str) -> Option<Identity> {
        serde_json::from_str::<Object<IdentityRecord>>(text).ok()?.0.identity()
    }

    #[test]
    fn written_identities_are_read_back() {
        let fs = Some(FsId::from_bytes([0xa5; 16]));
        let with = Identity {
            fs,
            dev: 7,
            ino: u64::MAX,
            birth_ns: Some(-5),
            file_type: FileType::Directory,
            uid: 1000,
        };
        for (identity, text) in [
            (
                with,
                r#"{"fs":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5","dev":7,"ino":18446744073709551615,"birth_ns":-5,"type":"directory","uid":1000}"#,
            ),
            (
                Identity { fs: None, birth_ns: None, ino: 1, file_type: FileType::Regular, ..with },
                r#"{"dev":7,"ino":1,"type":"file","uid":1000}"#,
            ),
            (
                Identity { fs: None, birth_ns: None, ino: 1, file_type: FileType::Symlink, ..with },
                r#"{"dev":7,"ino":1,"type":"symlink","uid":1000}"#,
            ),
        ] {
            let mut out = b"{".to_vec();
            write_identity(&mut out, &identity);
            out.push(b'}');
            assert_eq!(str::from_utf8(&out).unwrap(), text);
            assert_eq!(read(text), Some(identity));
        }
    }

    #[test]
    fn malformed_identities_are_refused() {
        for text in [
            r#"{"fs":"a5","dev":7,"ino":1,"type":"file","uid":0}"#,
            r#"{"fs":"A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5","dev":7,"ino":1,"type":"file","uid":0}"#,
            r#"{"dev":7,"ino":1,"type":"other","uid":0}"#,
            r#"{"dev":7,"ino":1,"uid":0}"#,
            r#"{"dev":-7,"ino":1,"type":"file","uid":0}"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}

//! One object of a bucket, as an inventory lists it.

use anyhow::{Result, ensure};
use ftk_file::Stat;
use ftk_hash::{Algorithm, Digest};
use ftk_manifest::{Entry, Field, FieldSet};

/// What the entries are passed to.
pub(super) type Put<'p> = dyn FnMut(&Entry<'_>, OfObject<'_>) -> Result<()> + 'p;

/// The `version` of an object that the bucket shows.
pub(crate) const CURRENT: &str = "current";

/// What only objects have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfObject<'o> {
    /// Without the quotes that some inventories have.
    pub(crate) e_tag: Option<&'o str>,
    pub(crate) storage_class: Option<&'o str>,
    /// `current`, `old` or `delete_marker`, if the bucket has versions.
    pub(crate) version: Option<&'static str>,
    pub(crate) version_id: Option<&'o str>,
}

/// An object, or one version of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Object<'o> {
    pub(super) key: &'o [u8],
    /// `None`: the inventory has only current versions.
    pub(super) is_latest: Option<bool>,
    pub(super) is_delete_marker: Option<bool>,
    pub(super) size: Option<u64>,
    pub(super) mtime_ns: Option<i128>,
    pub(super) e_tag: Option<&'o str>,
    pub(super) is_multipart: Option<bool>,
    pub(super) encryption: Option<&'o str>,
    pub(super) storage_class: Option<&'o str>,
    pub(super) version_id: Option<&'o str>,
}

impl Object<'_> {
    /// Passes the object to `put`.
    pub(super) fn put(&self, put: &mut Put<'_>) -> Result<()> {
        ensure!(!self.key.is_empty(), "the key is empty");
        let version = match (self.is_delete_marker, self.is_latest) {
            (Some(true), _) => Some("delete_marker"),
            (_, Some(false)) => Some("old"),
            (_, Some(true)) => Some(CURRENT),
            (_, None) => None,
        };
        let mut absent = FieldSet::default();
        for field in Field::ALL {
            let is_known = match field {
                Field::Size => self.size.is_some(),
                Field::Mtime => self.mtime_ns.is_some(),
                _ => false,
            };
            if !is_known {
                absent.insert(field);
            }
        }
        let stat = Stat {
            size: self.size.unwrap_or_default(),
            mtime_ns: self.mtime_ns.unwrap_or_default(),
            ..Stat::EMPTY
        };
        let md5 = self.md5();
        let digests = md5.as_ref().map_or(&[][..], Digest::as_bytes);
        let Self { storage_class, version_id, .. } = *self;
        let e_tag = self.e_tag.map(|e_tag| e_tag.trim_matches('"')).filter(|it| !it.is_empty());
        let of = OfObject { e_tag, storage_class, version, version_id };
        put(&Entry { absent, digests, ..Entry::new(self.key, stat) }, of)
    }

    /// Returns the MD5 of the content if the `ETag` is one. The `ETag` is not an MD5 if the object was uploaded in
    /// parts (it then ends with `-` and their number), or if the object is encrypted with a key other than that of S3
    /// itself. An inventory that does not say how the object is encrypted leaves this open, and no MD5 is returned.
    fn md5(&self) -> Option<Digest> {
        let is_plain = matches!(self.encryption, Some("SSE-S3" | "NOT-SSE"));
        if self.is_multipart == Some(true) || !is_plain {
            return None;
        }
        let e_tag = self.e_tag?.trim_matches('"');
        let digest = Digest::from_hex(e_tag.as_bytes())?;
        (digest.as_bytes().len() == Algorithm::Md5.digest_len()).then_some(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_e_tag_that_is_an_md5_is_used() {
        let md5 = "d41d8cd98f00b204e9800998ecf8427e";
        let object = |e_tag| Object { e_tag: Some(e_tag), encryption: Some("SSE-S3"), ..Object::default() };
        assert!(object(md5).md5().is_some());
        assert!(object("\"d41d8cd98f00b204e9800998ecf8427e\"").md5().is_some());
        assert!(object("D41D8CD98F00B204E9800998ECF8427E").md5().is_some());
        for e_tag in [
            "",
            "d41d8cd98f00b204e9800998ecf8427e-2",
            "d41d8cd98f00b204e9800998ecf8427",
            "x41d8cd98f00b204e9800998ecf8427e",
        ] {
            assert!(object(e_tag).md5().is_none(), "{e_tag}");
        }
        assert!(Object { is_multipart: Some(true), ..object(md5) }.md5().is_none());
        for (encryption, is_used) in [
            (Some("NOT-SSE"), true),
            (Some("SSE-KMS"), false),
            (Some("DSSE-KMS"), false),
            (Some("SSE-C"), false),
            (None, false),
        ] {
            assert_eq!(Object { encryption, ..object(md5) }.md5().is_some(), is_used, "{encryption:?}");
        }
    }
}

//! The values of a line, and how they are read from JSON.

use std::borrow::Cow;
use std::fmt;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{Object, read_base64, read_path};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::field::Field;
use crate::field_set::FieldSet;
use crate::parse::Owned;
use crate::text::Text;
use crate::{EntryError, Header, Xattr};

/// The values of a line's members, in the form of one parser. Each method reads the value of the current member,
/// and returns `None` if it cannot.
pub(crate) trait Values<'l> {
    fn natural(&mut self) -> Option<u64>;
    fn natural_32(&mut self) -> Option<u32>;
    fn integer(&mut self) -> Option<i128>;
    fn text(&mut self) -> Option<Cow<'l, [u8]>>;
    /// Appends a digest by each algorithm. `wrong` is the error for a number of digests other than that of the
    /// algorithms.
    fn digests(&mut self, algorithms: &[Algorithm], digests: &mut Vec<u8>, wrong: EntryError) -> Option<()>;
    fn xattrs(&mut self) -> Option<Vec<Xattr>>;
    /// Returns what was made of a value, or notes why nothing can be made of it.
    fn check<T>(&mut self, made: Option<T>, error: impl FnOnce() -> EntryError) -> Option<T>;
}

/// The values of a JSON object.
struct JsonValues<M, E> {
    map: M,
    failed: Option<Failed<E>>,
}

/// Why a value was not read.
enum Failed<E> {
    /// It is `null`, as if the member were absent.
    Null,
    Json(E),
    Invalid(EntryError),
}

impl<'l, M: MapAccess<'l>> JsonValues<M, M::Error> {
    fn value<T: Deserialize<'l>>(&mut self) -> Option<T> {
        let value = self.map.next_value();
        value
            .map_err(Failed::Json)
            .and_then(|value: Option<T>| value.ok_or(Failed::Null))
            .map_err(|failed| self.failed = Some(failed))
            .ok()
    }
}

impl<'l, M: MapAccess<'l>> Values<'l> for JsonValues<M, M::Error> {
    fn natural(&mut self) -> Option<u64> {
        self.value()
    }

    fn natural_32(&mut self) -> Option<u32> {
        self.value()
    }

    fn integer(&mut self) -> Option<i128> {
        self.value()
    }

    fn text(&mut self) -> Option<Cow<'l, [u8]>> {
        Some(match self.value::<Text<'l>>()?.0 {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        })
    }

    fn digests(&mut self, algorithms: &[Algorithm], digests: &mut Vec<u8>, wrong: EntryError) -> Option<()> {
        let Digests(found) = self.value()?;
        let is_complete = (found.len() == algorithms.len()).then_some(());
        self.check(is_complete, || wrong)?;
        for algorithm in algorithms {
            let hex = found.iter().find(|(name, _)| &**name == algorithm.name());
            let (_, hex) = self.check(hex, || EntryError::NoDigest(*algorithm))?;
            let digest = Digest::from_hex(hex.as_bytes());
            let digest = digest.filter(|digest| digest.as_bytes().len() == algorithm.digest_len());
            let digest = self.check(digest, || EntryError::Digest(*algorithm, hex.to_string()))?;
            digests.extend_from_slice(digest.as_bytes());
        }
        Some(())
    }

    fn xattrs(&mut self) -> Option<Vec<Xattr>> {
        let found: Vec<Object<XattrLine<'l>>> = self.value()?;
        let mut xattrs = Vec::with_capacity(found.len());
        for Object(xattr) in &found {
            let name = read_path(xattr.name.as_deref(), xattr.name_b64.as_deref());
            let name =
                name.map_err(|error| self.failed = Some(Failed::Invalid(EntryError::XattrName(error))));
            let value = self.check(read_base64(&xattr.value_b64), || EntryError::XattrValue);
            xattrs.push(Xattr { name: name.ok()?.into_owned(), value: value? });
        }
        let is_sorted = xattrs.is_sorted_by(|a, b| a.name < b.name).then_some(());
        self.check(is_sorted, || EntryError::XattrOrder)?;
        Some(xattrs)
    }

    fn check<T>(&mut self, made: Option<T>, error: impl FnOnce() -> EntryError) -> Option<T> {
        if made.is_none() {
            self.failed = Some(Failed::Invalid(error()));
        }
        made
    }
}

/// The members that are text, or base64 if they are not UTF-8.
///
/// Version 1 has only those of the path and the target.
const NAMES: [&str; 6] = ["path", "path_b64", "target", "target_b64", "link_group", "link_group_b64"];

/// Reads the members of a line into an entry.
pub(crate) struct EntryLine<'a> {
    pub(crate) entry: &'a mut Owned,
    pub(crate) header: &'a Header,
}

/// What a line has, apart from the values that are in the entry.
pub(crate) struct Found<'l> {
    pub(crate) members: FieldSet,
    /// The values of [`NAMES`].
    pub(crate) names: [Option<Text<'l>>; NAMES.len()],
    /// The first value that is valid JSON but not a value of its member.
    pub(crate) invalid: Option<EntryError>,
}

impl<'l> DeserializeSeed<'l> for EntryLine<'_> {
    type Value = Found<'l>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Found<'l>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for EntryLine<'_> {
    type Value = Found<'l>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Ignores unknown members. A known member must not occur twice.
    fn visit_map<M: MapAccess<'l>>(self, map: M) -> Result<Found<'l>, M::Error> {
        let Self { entry, header } = self;
        let mut found = Found { members: FieldSet::default(), names: [const { None }; _], invalid: None };
        let (mut seen, mut seen_names) = (FieldSet::default(), [false; NAMES.len()]);
        let mut values = JsonValues { map, failed: None };
        while let Some(name) = values.map.next_key::<Text<'l>>()? {
            let known = if header.version > 1 { NAMES.len() } else { 4 };
            if let Some(nth) = NAMES[..known].iter().position(|known| *known == &*name) {
                if std::mem::replace(&mut seen_names[nth], true) {
                    return Err(M::Error::duplicate_field(NAMES[nth]));
                }
                found.names[nth] = values.map.next_value()?;
                continue;
            }
            let is_member = |field: &Field| field.name() == &*name && field.is_in(header.version);
            let Some(field) = Field::ALL.into_iter().find(is_member) else {
                let IgnoredAny = values.map.next_value()?;
                continue;
            };
            if !seen.insert(field) {
                return Err(M::Error::duplicate_field(field.name()));
            }
            match (field.read(&mut values, entry, header), values.failed.take()) {
                (None, Some(Failed::Json(error))) => return Err(error),
                (None, Some(Failed::Null)) => {}
                (None, Some(Failed::Invalid(error))) => {
                    found.members.insert(field);
                    found.invalid.get_or_insert(error);
                }
                _ => {
                    found.members.insert(field);
                }
            }
        }
        for (field, names) in [(Field::Target, 2..4), (Field::LinkGroup, 4..6)] {
            if found.names[names].iter().any(Option::is_some) {
                found.members.insert(field);
            }
        }
        Ok(found)
    }
}

#[derive(Debug, Deserialize)]
struct XattrLine<'l> {
    #[serde(borrow)]
    name: Option<Text<'l>>,
    #[serde(borrow)]
    name_b64: Option<Text<'l>>,
    #[serde(borrow)]
    value_b64: Text<'l>,
}

/// The digests by the names of their algorithms, in the order of the line.
#[derive(Debug)]
struct Digests<'l>(Vec<(Text<'l>, Text<'l>)>);

impl<'l, 'de: 'l> Deserialize<'de> for Digests<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'l> Visitor<'l> for Members {
            type Value = Digests<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of digests")
            }

            fn visit_map<M: MapAccess<'l>>(self, mut map: M) -> Result<Digests<'l>, M::Error> {
                let mut digests = Vec::new();
                while let Some(digest) = map.next_entry()? {
                    digests.push(digest);
                }
                Ok(Digests(digests))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

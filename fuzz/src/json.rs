//! A JSON reader without derives: records are read member by member.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value, as it is in the text.
#[derive(Clone, Copy)]
pub(crate) struct Json<'j>(&'j RawValue);

impl<'j> Json<'j> {
    pub(crate) fn read(text: &'j [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().map(Self)
    }

    pub(crate) fn members(self) -> Option<Members<'j>> {
        self.read_as()
    }

    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let items: Vec<&RawValue> = self.read_as()?;
        Some(items.into_iter().map(Self).collect())
    }

    pub(crate) fn text(self) -> Option<String> {
        self.read_as()
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        self.read_as()
    }

    /// Returns a number without fraction and exponent. Unsigned numbers must not have a minus sign.
    pub(crate) fn integer<T: TryFrom<i128>>(self) -> Option<T> {
        let text = self.0.get();
        let is_unsigned = T::try_from(-1).is_err();
        let number = text.parse::<i128>().ok().filter(|_| !(is_unsigned && text.starts_with('-')));
        number.and_then(|number| number.try_into().ok())
    }

    fn read_as<T: Deserialize<'j>>(self) -> Option<T> {
        serde_json::from_str(self.0.get()).ok()
    }
}

/// The members of an object, including repeated ones.
pub(crate) struct Members<'j>(pub(crate) Vec<(String, Json<'j>)>);

impl<'j> Members<'j> {
    /// Returns the member with this name, or `None` if it is missing or repeated.
    pub(crate) fn get(&self, name: &str) -> Option<Json<'j>> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        let first = found.next()?.1;
        found.next().is_none().then_some(first)
    }

    /// The same as [`get`](Self::get), but the member may be missing or `null`.
    pub(crate) fn optional(&self, name: &str) -> Option<Option<Json<'j>>> {
        if self.0.iter().all(|(known, _)| known != name) {
            return Some(None);
        }
        self.get(name).map(|value| Some(value).filter(|value| value.0.get() != "null"))
    }

    /// Reads a member that may be missing or `null`.
    pub(crate) fn optional_as<T>(
        &self,
        name: &str,
        read: impl FnOnce(Json<'j>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.optional(name)?.map_or(Some(None), |value| read(value).map(Some))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.text()
    }

    pub(crate) fn integer<T: TryFrom<i128>>(&self, name: &str) -> Option<T> {
        self.get(name)?.integer()
    }

    /// Returns the bytes of `name` or, in base64, of `name_b64`; `Some(None)` if both are missing.
    pub(crate) fn optional_bytes(&self, name: &str) -> Option<Option<Vec<u8>>> {
        let string = |name: &str| self.optional_as(name, Json::text);
        let bytes = match (string(name)?, string(&format!("{name}_b64"))?) {
            (None, None) => return Some(None),
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => base64(&text)?,
            (Some(_), Some(_)) => return None,
        };
        (!bytes.contains(&0)).then_some(Some(bytes))
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.optional_bytes(name)?
    }
}

impl<'j> Deserialize<'j> for Members<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'j> Visitor<'j> for All {
            type Value = Members<'j>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'j>>(self, mut map: M) -> Result<Members<'j>, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry()? {
                    members.push((name, Json(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(All)
    }
}

/// Decodes base64, accepting only the canonical text.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let bytes = data_encoding::BASE64.decode(text.as_bytes()).ok()?;
    (data_encoding::BASE64.encode(&bytes) == text).then_some(bytes)
}

/// Decodes hexadecimal digits of either case.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// Parses four octal digits.
pub(crate) fn mode(text: &str) -> Option<u32> {
    let is_mode = text.len() == 4 && text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    is_mode.then(|| text.bytes().fold(0, |mode, digit| mode * 8 + u32::from(digit - b'0')))
}

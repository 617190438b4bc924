//! Records that must be JSON objects.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A JSON object that is read as a `T`.
///
/// The code that serde derives for a struct also accepts an array of the members in their order. That would
/// be a second form of every record, in which one missing member shifts all later ones. `Object` refuses it.
///
/// ```
/// # use ftk_record::Object;
/// #[derive(serde::Deserialize)]
/// struct Record {
///     step: u64,
/// }
///
/// let Object(Record { step }) = serde_json::from_str("{\"step\":1}")?;
/// assert_eq!(step, 1);
/// assert!(serde_json::from_str::<Record>("[1]").is_ok());
/// assert!(serde_json::from_str::<Object<Record>>("[1]").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object<T>(
    /// The value.
    pub T,
);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<Self::Value, M::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

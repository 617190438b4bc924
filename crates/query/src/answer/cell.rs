//! One value of an answer.

use std::borrow::Cow;

use anyhow::Result;
use datafusion::arrow::array::{Array, AsArray as _};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use serde::{Serialize, Serializer};

/// A value as all formats print it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Cow<'a, str>),
}

impl<'a> Cell<'a> {
    /// Returns the value in a row. Types that questions do not have become text.
    ///
    /// # Errors
    /// If a value has no text.
    pub(crate) fn of(column: &'a dyn Array, row: usize) -> Result<Self> {
        if column.is_null(row) {
            return Ok(Self::Null);
        }
        Ok(match column.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(column.as_boolean().value(row)),
            DataType::Int32 => Self::Int(column.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Self::Int(column.as_primitive::<Int64Type>().value(row).into()),
            DataType::UInt32 => Self::Int(column.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Self::Int(column.as_primitive::<UInt64Type>().value(row).into()),
            DataType::Float64 => Self::Float(column.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8 => Self::Text(column.as_string::<i32>().value(row).into()),
            DataType::LargeUtf8 => Self::Text(column.as_string::<i64>().value(row).into()),
            DataType::Utf8View => Self::Text(column.as_string_view().value(row).into()),
            _ => {
                let formatter = ArrayFormatter::try_new(column, &FormatOptions::default())?;
                Self::Text(formatter.value(row).try_to_string()?.into())
            }
        })
    }

    /// Returns whether the value is aligned to the right.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Float(_))
    }

    /// Returns the text of the value; that of null is empty.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => "".into(),
            Self::Bool(value) => value.to_string().into(),
            Self::Int(value) => value.to_string().into(),
            Self::Float(value) => value.to_string().into(),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i128(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

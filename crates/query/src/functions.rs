//! Functions on columns that DataFusion lacks.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use data_encoding::HEXLOWER_PERMISSIVE;
use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::sort_properties::ExprProperties;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

/// Returns all functions.
pub(crate) fn all() -> Vec<ScalarUDF> {
    vec![hex(), of_path("dirname", dirname), of_path("basename", basename)]
}

/// Returns the function that makes text of the columns with digests.
pub(crate) fn hex() -> ScalarUDF {
    ScalarUDF::new_from_impl(Hex { signature: Signature::any(1, Volatility::Immutable) })
}

/// Returns a function of paths.
pub(crate) fn of_path(name: &'static str, function: fn(&str) -> &str) -> ScalarUDF {
    ScalarUDF::new_from_impl(OfPath {
        name,
        function,
        signature: Signature::string(1, Volatility::Immutable),
    })
}

/// Returns the directory of a path as the column `parent` has it.
pub(crate) fn dirname(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) => &path[..at],
        None if path == "." => "",
        None => ".",
    }
}

/// Returns the last name of a path.
pub(crate) fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A function from one path to a part of it.
#[derive(Debug)]
struct OfPath {
    name: &'static str,
    function: fn(&str) -> &str,
    signature: Signature,
}

/// The name determines the function.
impl PartialEq for OfPath {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OfPath {}

impl Hash for OfPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for OfPath {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        each_row(&args, |paths, made| {
            let paths = cast(paths, &DataType::Utf8View)?;
            for path in paths.as_string_view() {
                made.append_option(path.map(self.function));
            }
            Ok(())
        })
    }
}

/// Binary digests as lower-case hexadecimal digits. They have the same order.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Hex {
    signature: Signature,
}

impl ScalarUDFImpl for Hex {
    fn name(&self) -> &str {
        "hex"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        each_row(&args, |digests, made| {
            let DataType::FixedSizeBinary(_) = digests.data_type() else {
                return exec_err!("hex: {} is not a digest", digests.data_type());
            };
            let mut digits = String::new();
            for digest in digests.as_fixed_size_binary() {
                digits.clear();
                made.append_option(digest.map(|digest| {
                    data_encoding::HEXLOWER.encode_append(digest, &mut digits);
                    &*digits
                }));
            }
            Ok(())
        })
    }

    /// Compares the digest with the bytes of the text, so that files can skip rows by it.
    fn preimage(&self, args: &[Expr], text: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        let text = match text {
            Expr::Cast(Cast { expr, .. }) => expr,
            other => other,
        };
        let [column] = args else { return Ok(PreimageResult::None) };
        let (Expr::Literal(text, _), DataType::FixedSizeBinary(len)) = (text, info.get_data_type(column)?)
        else {
            return Ok(PreimageResult::None);
        };
        let bytes = text.try_as_str().flatten().and_then(|text| {
            let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
            HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().filter(|_| is_lower)
        });
        let Some((digest, next)) =
            bytes.filter(|it| it.len() as i32 == len).and_then(|it| Some((it.clone(), after(it)?)))
        else {
            return Ok(PreimageResult::None);
        };
        let bound = |bytes| ScalarValue::FixedSizeBinary(len, Some(bytes));
        let interval = Box::new(Interval::try_new(bound(digest), bound(next))?);
        Ok(PreimageResult::Range { expr: column.clone(), interval })
    }

    fn preserves_lex_ordering(&self, _: &[ExprProperties]) -> Result<bool> {
        Ok(true)
    }

    fn strictly_order_preserving(&self, _: &[ExprProperties]) -> Result<bool> {
        Ok(true)
    }
}

/// Returns the bytes that follow these in their order; `None` after the last ones.
fn after(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let at = bytes.iter().rposition(|byte| *byte < u8::MAX)?;
    bytes[at] += 1;
    bytes[at + 1..].fill(0);
    Some(bytes)
}

/// Makes a text for each row of the first argument.
fn each_row(
    args: &ScalarFunctionArgs,
    make: impl FnOnce(&dyn Array, &mut StringViewBuilder) -> Result<()>,
) -> Result<ColumnarValue> {
    let (argument, is_scalar) = match &args.args[0] {
        ColumnarValue::Array(array) => (Arc::clone(array), false),
        ColumnarValue::Scalar(scalar) => (scalar.to_array()?, true),
    };
    let mut made = StringViewBuilder::with_capacity(argument.len());
    make(&*argument, &mut made)?;
    let made: ArrayRef = Arc::new(made.finish());
    Ok(if is_scalar {
        ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)
    } else {
        ColumnarValue::Array(made)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths() {
        for (path, dir, name) in
            [(".", "", "."), ("a", ".", "a"), ("a/b", "a", "b"), ("a/b/c.d", "a/b", "c.d"), ("é/ü", "é", "ü")]
        {
            assert_eq!((dirname(path), basename(path)), (dir, name));
        }
    }

    #[test]
    fn bytes_have_a_next() {
        assert_eq!(after(vec![0, 0xff]), Some(vec![1, 0]));
        assert_eq!(after(vec![0xff, 1]), Some(vec![0xff, 2]));
        assert_eq!(after(vec![0xff; 2]), None);
    }
}

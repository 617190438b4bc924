//! Functions on columns that DataFusion lacks.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, Int64Array, StringViewArray, StringViewBuilder,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::sort_properties::ExprProperties;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, create_udf,
};
use datafusion::scalar::ScalarValue;
use ftk_manifest::Failed;
use indicatif::DecimalBytes;
use jiff::Timestamp;

/// Returns all functions.
pub(crate) fn all() -> Vec<ScalarUDF> {
    use DataType::{Int64, Utf8View};
    let of_times = Volatility::Stable;
    let of_values = Volatility::Immutable;
    vec![
        hex(),
        of_text("dirname", dirname),
        of_text("basename", basename),
        of_text("extension", extension),
        create_udf(
            "depth",
            vec![Utf8View],
            Int64,
            of_values,
            Arc::new(|args| {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                let depths = arrays[0].as_string_view().iter().map(|path| path.map(depth));
                Ok(ColumnarValue::Array(Arc::new(Int64Array::from_iter(depths))))
            }),
        ),
        create_udf(
            "prefix",
            vec![Utf8View, Int64],
            Utf8View,
            of_values,
            Arc::new(|args| {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                let (paths, numbers) = (arrays[0].as_string_view(), arrays[1].as_primitive::<Int64Type>());
                let prefixes = paths.iter().zip(numbers).map(|(path, n)| Some(prefix(path?, n?)));
                Ok(ColumnarValue::Array(Arc::new(StringViewArray::from_iter(prefixes))))
            }),
        ),
        create_udf(
            "age",
            vec![Int64],
            Int64,
            of_times,
            Arc::new(|args| {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                let now = Timestamp::now().as_nanosecond();
                let ages = arrays[0].as_primitive::<Int64Type>().iter().map(|ns| ns.map(|ns| age(ns, now)));
                Ok(ColumnarValue::Array(Arc::new(Int64Array::from_iter(ages))))
            }),
        ),
        create_udf(
            "human",
            vec![Int64],
            Utf8View,
            of_values,
            Arc::new(|args| {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                let sizes = arrays[0].as_primitive::<Int64Type>().iter().map(|bytes| bytes.map(human));
                Ok(ColumnarValue::Array(Arc::new(StringViewArray::from_iter(sizes))))
            }),
        ),
    ]
}

/// Returns the function that makes text of the columns with digests.
pub(crate) fn hex() -> ScalarUDF {
    ScalarUDF::new_from_impl(Hex { signature: Signature::any(1, Volatility::Immutable) })
}

/// Returns a function from text to text.
pub(crate) fn of_text(name: &'static str, function: fn(&str) -> Cow<'_, str>) -> ScalarUDF {
    ScalarUDF::new_from_impl(OfText {
        name,
        function,
        signature: Signature::string(1, Volatility::Immutable),
    })
}

/// Returns the function of `path` and `path_b64` that says whether one of these failures [covers](Failed::covers) the
/// path.
pub(crate) fn covered_by(failed: Failed) -> ScalarUDF {
    let signature = Signature::uniform(2, vec![DataType::Utf8View], Volatility::Immutable);
    ScalarUDF::new_from_impl(CoveredBy { failed: Arc::new(failed), signature })
}

/// Returns the directory of a path as the column `parent` has it.
pub(crate) fn dirname(path: &str) -> Cow<'_, str> {
    match path.rfind('/') {
        Some(at) => path[..at].into(),
        None if path == "." => "".into(),
        None => ".".into(),
    }
}

/// Returns the last name of a path.
pub(crate) fn basename(path: &str) -> Cow<'_, str> {
    path.rsplit('/').next().unwrap_or(path).into()
}

/// Returns the extension of the last name of a path as the column `extension` has it: in lower case, or empty.
pub(crate) fn extension(path: &str) -> Cow<'_, str> {
    let name = &path[path.rfind('/').map_or(0, |at| at + 1)..];
    match name.rfind('.') {
        Some(dot @ 1..) if name[dot..].bytes().any(|byte| byte.is_ascii_uppercase()) => {
            name[dot + 1..].to_ascii_lowercase().into()
        }
        Some(dot @ 1..) => name[dot + 1..].into(),
        _ => "".into(),
    }
}

/// Returns the nearest directory at or above `dir` whose path is UTF-8.
pub(crate) fn ancestor(dir: &[u8]) -> &str {
    let valid = match str::from_utf8(dir) {
        Ok(dir) => return dir,
        Err(error) => &dir[..error.valid_up_to()],
    };
    let end = valid.iter().rposition(|byte| *byte == b'/');
    end.and_then(|end| str::from_utf8(&valid[..end]).ok()).unwrap_or(".")
}

/// Returns the same of a directory in base64.
pub(crate) fn ancestor_of_b64(dir: &str) -> Cow<'_, str> {
    BASE64.decode(dir.as_bytes()).map_or_else(|_| ".".into(), |dir| ancestor(&dir).to_owned().into())
}

/// Returns the number of names in a path, 0 for the root.
fn depth(path: &str) -> i64 {
    if path == "." { 0 } else { 1 + path.bytes().filter(|byte| *byte == b'/').count() as i64 }
}

/// Returns the first `n` names of a path, `.` for 0 of them.
fn prefix(path: &str, n: i64) -> &str {
    let Some(last) = n.checked_sub(1).filter(|last| *last >= 0) else { return "." };
    let slash = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').nth(last as usize);
    slash.map_or(path, |(at, _)| &path[..at])
}

/// Returns how many whole days before `now_ns` a time was. It is negative for a time after it.
fn age(time_ns: i64, now_ns: i128) -> i64 {
    (now_ns - i128::from(time_ns)).div_euclid(86_400_000_000_000) as i64
}

/// Returns a size for people: `1.50 GB`.
fn human(bytes: i64) -> String {
    format!("{}{}", if bytes < 0 { "-" } else { "" }, DecimalBytes(bytes.unsigned_abs()))
}

/// A function from text to text.
#[derive(Debug)]
struct OfText {
    name: &'static str,
    function: fn(&str) -> Cow<'_, str>,
    signature: Signature,
}

/// The name determines the function.
impl PartialEq for OfText {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OfText {}

impl Hash for OfText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for OfText {
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
        each_row(&args, |texts, made| {
            let texts = cast(texts, &DataType::Utf8View)?;
            for text in texts.as_string_view() {
                made.append_option(text.map(self.function));
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

/// Whether something at or above a path could not be read.
#[derive(Debug, PartialEq, Eq)]
struct CoveredBy {
    failed: Arc<Failed>,
    signature: Signature,
}

impl Hash for CoveredBy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.failed.paths().hash(state);
    }
}

impl ScalarUDFImpl for CoveredBy {
    fn name(&self) -> &str {
        "covered"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [paths, paths_b64] = [&arrays[0], &arrays[1]].map(|array| array.as_string_view());
        let mut covered = Vec::with_capacity(paths.len());
        for (path, path_b64) in paths.iter().zip(paths_b64) {
            covered.push(match (path.unwrap_or_default(), path_b64.unwrap_or_default()) {
                (path, "") => self.failed.covers(path.as_bytes()),
                (_, path_b64) => match BASE64.decode(path_b64.as_bytes()) {
                    Ok(path) => self.failed.covers(&path),
                    Err(_) => return exec_err!("a path is not valid base64"),
                },
            });
        }
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::from(covered))))
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
            assert_eq!((&*dirname(path), &*basename(path)), (dir, name));
        }
        for (path, expected) in [
            (".", ""),
            ("a", ""),
            ("a.JPG", "jpg"),
            ("x.y/a", ""),
            ("d/.b", ""),
            ("d/.b.c", "c"),
            ("a.", ""),
            ("a.\u{c9}x", "\u{c9}x"),
        ] {
            assert_eq!(extension(path), expected, "{path}");
        }
    }

    /// A naive model: the names of the path.
    #[test]
    fn the_first_names_of_paths() {
        for path in ["a", "a/b", "a/b/c", "\u{e9}/\u{fc}/x.y/z"] {
            let names: Vec<_> = path.split('/').collect();
            assert_eq!(depth(path), names.len() as i64);
            for n in 1..6 {
                assert_eq!(prefix(path, n), names[..names.len().min(n as usize)].join("/"), "{path} {n}");
            }
            assert_eq!([0, -1, i64::MIN].map(|n| prefix(path, n)), ["."; 3]);
        }
        assert_eq!((depth("."), prefix(".", 3)), (0, "."));
    }

    #[test]
    fn ancestors_are_utf_8() {
        for (dir, expected) in [
            (&b"."[..], "."),
            (b"a/b", "a/b"),
            (b"\xff", "."),
            (b"a/\xff", "a"),
            (b"a/b/c\xffd/e", "a/b"),
            (b"a\xff/b", "."),
            ("\u{e9}/\u{e9}".as_bytes(), "\u{e9}/\u{e9}"),
        ] {
            assert_eq!(ancestor(dir), expected, "{}", dir.escape_ascii());
            assert_eq!(ancestor_of_b64(&BASE64.encode(dir)), expected);
        }
    }

    #[test]
    fn ages_and_sizes() {
        const DAY: i64 = 86_400_000_000_000;
        let ages = [0, 1, DAY, DAY + 1, -1].map(|ns| age(10 * DAY - ns, i128::from(10 * DAY)));
        assert_eq!(ages, [0, 0, 1, 1, -1]);
        assert_eq!(age(i64::MIN, i128::from(i64::MAX)), 213_503);
        assert_eq!([0, 1500, -2_500_000].map(human), ["0 B", "1.50 kB", "-2.50 MB"]);
    }

    #[test]
    fn bytes_have_a_next() {
        assert_eq!(after(vec![0, 0xff]), Some(vec![1, 0]));
        assert_eq!(after(vec![0xff, 1]), Some(vec![0xff, 2]));
        assert_eq!(after(vec![0xff; 2]), None);
    }
}

//! The members `ftk` and `version`, which the first lines of all formats and versions have.

use ftk_record::Object;
use serde::Deserialize;

use crate::text::{Text, plain};

#[derive(Deserialize)]
struct FirstLine<'l> {
    #[serde(borrow)]
    ftk: Option<Text<'l>>,
    version: Option<u64>,
}

/// Returns the version of a file of this kind from its first line. It may be newer than all that are known.
///
/// # Errors
/// A description, if the line is the first one of something else.
pub(crate) fn version(line: &[u8], kind: &str) -> Result<u64, String> {
    let Object(line): Object<FirstLine<'_>> = serde_json::from_slice(line).map_err(|error| plain(&error))?;
    match line.ftk.as_deref() {
        Some(found) if found == kind => {}
        Some(other) => return Err(format!("it is a {other:?}")),
        None => return Err("its first line has no member `ftk`".into()),
    }
    match line.version {
        Some(0) => Err("there is no version 0".into()),
        Some(version) => Ok(version),
        None => Err("its version is missing".into()),
    }
}

//! The CSV files of an inventory: no header, and keys encoded as in URLs.

use std::io::{BufRead as _, BufReader, Read};

use anyhow::{Context as _, Result, bail, ensure};
use csv::{ByteRecord, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;
use jiff::Timestamp;

use super::object::{Object, Put};

/// The columns that are used, and where they are.
#[derive(Default)]
struct Columns {
    key: usize,
    is_latest: Option<usize>,
    is_delete_marker: Option<usize>,
    size: Option<usize>,
    last_modified: Option<usize>,
    e_tag: Option<usize>,
    is_multipart: Option<usize>,
    encryption: Option<usize>,
    storage_class: Option<usize>,
    version_id: Option<usize>,
}

impl Columns {
    fn new(names: &[String]) -> Result<Self> {
        let at = |name: &str| names.iter().position(|known| known == name);
        Ok(Self {
            key: at("Key").context("the inventory has no column `Key`")?,
            is_latest: at("IsLatest"),
            is_delete_marker: at("IsDeleteMarker"),
            size: at("Size"),
            last_modified: at("LastModifiedDate"),
            e_tag: at("ETag"),
            is_multipart: at("IsMultipartUploaded"),
            encryption: at("EncryptionStatus"),
            storage_class: at("StorageClass"),
            version_id: at("VersionId"),
        })
    }
}

/// Passes the objects of a file to `put`. The file may be compressed with gzip.
pub(super) fn read(file: impl Read, names: &[String], put: &mut Put<'_>) -> Result<()> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_gzip = file.fill_buf().context("cannot read")?.starts_with(&[0x1f, 0x8b]);
    let input: Box<dyn Read + '_> =
        if is_gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let columns = Columns::new(names)?;
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
    let mut record = ByteRecord::new();
    let mut number = 0;
    while reader.read_byte_record(&mut record).context("cannot read")? {
        number += 1;
        object(&record, &columns, names.len(), put).with_context(|| format!("row {number}"))?;
    }
    Ok(())
}

fn object(record: &ByteRecord, columns: &Columns, len: usize, put: &mut Put<'_>) -> Result<()> {
    ensure!(record.len() == len, "it has {} columns instead of {len}", record.len());
    let text = |at: Option<usize>| match at.map(|at| str::from_utf8(&record[at])) {
        None | Some(Ok("")) => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => bail!("a column is not UTF-8"),
    };
    let flag = |at| match text(at)? {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => bail!("{other:?} is neither true nor false"),
    };
    let size =
        text(columns.size)?.map(|text| text.parse().with_context(|| format!("{text:?} is not a size")));
    let time = text(columns.last_modified)?
        .map(|text| text.parse::<Timestamp>().with_context(|| format!("{text:?} is not a time")));
    let key = decoded(&record[columns.key])?;
    let object = Object {
        key: &key,
        is_latest: flag(columns.is_latest)?,
        is_delete_marker: flag(columns.is_delete_marker)?,
        size: size.transpose()?,
        mtime_ns: time.transpose()?.map(Timestamp::as_nanosecond),
        e_tag: text(columns.e_tag)?,
        is_multipart: flag(columns.is_multipart)?,
        encryption: text(columns.encryption)?,
        storage_class: text(columns.storage_class)?,
        version_id: text(columns.version_id)?,
    };
    object.put(put)
}

/// Decodes a key: `%` and two digits are a byte, and `+` is a space.
fn decoded(key: &[u8]) -> Result<Vec<u8>> {
    let mut decoded = Vec::with_capacity(key.len());
    let mut rest = key.iter();
    while let Some(byte) = rest.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(*digit).to_digit(16));
                match (digit(), digit()) {
                    (Some(high), Some(low)) => (high << 4 | low) as u8,
                    _ => bail!("the key {:?} is not encoded as in a URL", String::from_utf8_lossy(key)),
                }
            }
            other => *other,
        });
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded() {
        for (encoded, key) in
            [("", ""), ("a/b.txt", "a/b.txt"), ("a+b%20c%2Bd", "a b c+d"), ("%C3%a9", "\u{e9}"), ("%25", "%")]
        {
            assert_eq!(decoded(encoded.as_bytes()).unwrap(), key.as_bytes(), "{encoded}");
        }
        for encoded in ["%", "%1", "%zz", "a%2"] {
            assert!(decoded(encoded.as_bytes()).is_err(), "{encoded}");
        }
    }
}

//! Inventories of S3: the manifest and the rows in CSV are read as by simpler readers, and rows are the same when they
//! are compressed, and when they are written and read again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;

use data_encoding::HEXLOWER_PERMISSIVE;
use flate2::Compression;
use flate2::write::GzEncoder;
use ftk_manifest::{Entry, Field};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use manifest::{Format, Manifest};

// Included by path: `ftk-query` is a program, and has dependencies that take minutes to build.
#[path = "../../crates/query/src/input/inventory/csv.rs"]
mod csv;
#[path = "../../crates/query/src/input/inventory/manifest.rs"]
mod manifest;
#[path = "../../crates/query/src/input/inventory/object.rs"]
mod object;

/// Key, size, modification time and MD5 of an object, and its `version`, `ETag`, storage class and `version_id`.
type Found = (Vec<u8>, Option<u64>, Option<i128>, Vec<u8>, [Option<String>; 4]);

/// Uses the first line as `manifest.json` and the rest as a CSV file with its columns.
pub fn s3_inventories(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (json, rows) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let Ok(manifest) = Manifest::read(json) else { return };
    let columns = check_manifest(&manifest, json);
    let (found, is_whole) = read(rows, &columns);
    assert!(found.iter().all(|(key, ..)| !key.is_empty()));
    if rows.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    assert_eq!((found.clone(), is_whole), expected(rows, &columns));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(rows).expect("memory can be written");
    assert_eq!(read(&gzip.finish().expect("memory can be written"), &columns), (found.clone(), is_whole));
    let columns = [
        "Key",
        "Size",
        "LastModifiedDate",
        "ETag",
        "EncryptionStatus",
        "IsLatest",
        "IsDeleteMarker",
        "StorageClass",
        "VersionId",
    ]
    .map(str::to_owned);
    assert_eq!(read(written(&found).as_bytes(), &columns), (found, true));
}

/// The members of an object. Those that are not used are not parsed, so that they can be anything.
type Members<'j> = HashMap<String, &'j RawValue>;

/// Parses a member, which is a string, a number or an array.
fn member<'j, T: Deserialize<'j>>(members: &Members<'j>, name: &str) -> Option<T> {
    let value: &'j RawValue = members.get(name)?;
    Some(serde_json::from_str(value.get()).expect("a member of its type"))
}

/// Compares a manifest with its JSON, and returns its columns.
fn check_manifest(manifest: &Manifest, json: &[u8]) -> Vec<String> {
    // The manifest has no text that is not UTF-8 in the members that are used.
    let json = String::from_utf8_lossy(json);
    let json: Members<'_> = serde_json::from_str(&json).expect("JSON");
    assert_eq!(member(&json, "sourceBucket"), Some(manifest.source_bucket.clone()));
    let files: Vec<Members<'_>> = member(&json, "files").expect("an array");
    assert_eq!(files.len(), manifest.files.len());
    for (json, file) in files.iter().zip(&manifest.files) {
        assert_eq!(member(json, "key"), Some(file.0.key.clone()));
        assert_eq!(member(json, "size"), Some(file.0.size));
        assert_eq!(member::<Option<String>>(json, "MD5checksum").flatten(), file.0.md5);
    }
    let format = match member::<String>(&json, "fileFormat").as_deref() {
        Some("CSV") => Some(Format::Csv),
        Some("Parquet") => Some(Format::Parquet),
        _ => None,
    };
    assert_eq!(manifest.format().ok(), format);
    let columns = manifest.columns();
    let schema: String = member(&json, "fileSchema").expect("text");
    let mut schema = &*schema;
    for column in &columns {
        schema = schema.trim_start().strip_prefix(&**column).expect("the next column").trim_start();
        schema = schema.strip_prefix(',').unwrap_or(schema);
    }
    assert_eq!(schema, "");
    columns
}

/// Returns the objects up to the first invalid row, and whether all rows are valid.
fn read(rows: &[u8], columns: &[String]) -> (Vec<Found>, bool) {
    let mut found = Vec::new();
    let is_whole = csv::read(rows, columns, &mut |entry: &Entry<'_>, of| {
        let mtime_ns = entry.knows(Field::Mtime).then_some(entry.stat.mtime_ns);
        let of = [of.version, of.e_tag, of.storage_class, of.version_id].map(|text| text.map(str::to_owned));
        found.push((entry.path.to_vec(), entry.size(), mtime_ns, entry.digests.to_vec(), of));
        Ok(())
    });
    (found, is_whole.is_ok())
}

/// Like [`read`], by a simpler reader.
fn expected(rows: &[u8], columns: &[String]) -> (Vec<Found>, bool) {
    let mut found = Vec::new();
    if !columns.iter().any(|column| column == "Key") {
        return (found, false);
    }
    for row in split(rows) {
        if row.len() != columns.len() {
            return (found, false);
        }
        match object(&row, columns) {
            Some(object) => found.push(object),
            None => return (found, false),
        }
    }
    (found, true)
}

/// Splits rows as RFC 4180 says. Empty lines are skipped, and a quote within a value stands for itself.
fn split(rows: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut row: Vec<Vec<u8>> = Vec::new();
    let (mut value, mut is_new, mut is_quoted) = (Vec::new(), true, false);
    let mut bytes = rows.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rows).iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if is_quoted && bytes.next_if_eq(&b'"').is_some() => value.push(b'"'),
            b'"' if is_quoted => is_quoted = false,
            _ if is_quoted => value.push(byte),
            b'"' if is_new => (is_new, is_quoted) = (false, true),
            b',' => {
                row.push(std::mem::take(&mut value));
                is_new = true;
            }
            b'\r' | b'\n' => {
                if !is_new || !row.is_empty() {
                    row.push(std::mem::take(&mut value));
                    found.push(std::mem::take(&mut row));
                }
                is_new = true;
            }
            _ => {
                value.push(byte);
                is_new = false;
            }
        }
    }
    if !is_new || !row.is_empty() {
        row.push(value);
        found.push(row);
    }
    found
}

/// Returns the object of a row: `None` if the row is invalid.
fn object(row: &[Vec<u8>], columns: &[String]) -> Option<Found> {
    let bytes = |name: &str| columns.iter().position(|column| column == name).map(|at| &*row[at]);
    let text = |name: &str| str::from_utf8(bytes(name).unwrap_or_default()).ok();
    let flag = |name: &str| match text(name)? {
        "" => Some(None),
        word => Some(Some(word.parse::<bool>().ok()?)),
    };
    let size = match text("Size")? {
        "" => None,
        digits => Some(digits.parse::<u64>().ok()?),
    };
    let mtime_ns = match text("LastModifiedDate")? {
        "" => None,
        time => Some(time.parse::<Timestamp>().ok()?.as_nanosecond()),
    };
    let mut parts = bytes("Key")?.split(|byte| *byte == b'%');
    let blanks = |part: &[u8]| -> Vec<u8> {
        part.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect()
    };
    let mut key = blanks(parts.next()?);
    for part in parts {
        key.extend(HEXLOWER_PERMISSIVE.decode(part.get(..2)?).ok()?);
        key.extend(blanks(&part[2..]));
    }
    let (latest, deleted, multipart) =
        (flag("IsLatest")?, flag("IsDeleteMarker")?, flag("IsMultipartUploaded")?);
    let (e_tag, encryption) = (text("ETag")?, text("EncryptionStatus")?);
    let version = match (deleted, latest) {
        (Some(true), _) => "delete_marker",
        (_, Some(false)) => "old",
        (_, Some(true)) => "current",
        _ => "",
    };
    let of = [version, text("StorageClass")?, text("VersionId")?];
    let [version, class, id] = of.map(|text| (!text.is_empty()).then(|| text.to_owned()));
    if key.is_empty() {
        return None;
    }
    let has_md5 = multipart != Some(true) && ["SSE-S3", "NOT-SSE"].contains(&encryption);
    let e_tag = e_tag.trim_matches('"');
    let of = [version, (!e_tag.is_empty()).then(|| e_tag.to_owned()), class, id];
    let md5 = (has_md5 && e_tag.len() == 32).then(|| HEXLOWER_PERMISSIVE.decode(e_tag.as_bytes()).ok());
    Some((key, size, mtime_ns, md5.flatten().unwrap_or_default(), of))
}

/// Writes objects as S3 does: every value in quotes, and keys encoded as in URLs.
fn written(objects: &[Found]) -> String {
    let mut rows = String::new();
    for (key, size, mtime_ns, md5, [version, e_tag, class, id]) in objects {
        let key: String = key.iter().map(|byte| format!("%{byte:02x}")).collect();
        let size = size.map(|size| size.to_string()).unwrap_or_default();
        let time = mtime_ns.map(|ns| Timestamp::from_nanosecond(ns).expect("a time").to_string());
        let time = time.unwrap_or_default();
        let encryption = if md5.is_empty() { "" } else { "SSE-S3" };
        let (latest, deleted) = match version.as_deref() {
            None => ("", ""),
            Some("current") => ("true", "false"),
            Some("old") => ("false", "false"),
            Some(_) => ("true", "true"),
        };
        let [e_tag, class, id] =
            [e_tag, class, id].map(|text| text.as_deref().unwrap_or_default().replace('"', "\"\""));
        write!(rows, "\"{key}\",\"{size}\",\"{time}\",\"{e_tag}\",\"{encryption}\",")
            .expect("memory can be written");
        writeln!(rows, "\"{latest}\",\"{deleted}\",\"{class}\",\"{id}\"").expect("memory can be written");
    }
    rows
}

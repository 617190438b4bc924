//! S3 Inventory, as S3 writes it.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::harness::Dir;

const MD5: &str = "0cc175b9c0f1b6a831c399e269772661";

/// Writes an inventory of CSV rows.
fn inventory(dir: &Dir, schema: &str, rows: &str) {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(rows.as_bytes()).unwrap();
    let data = gzip.finish().unwrap();
    dir.file("inv/data/1.csv.gz", &data);
    let manifest = format!(
        "{{\"sourceBucket\":\"photos\",\"destinationBucket\":\"arn:aws:s3:::inventories\",\"version\":\"2016-11-30\",\
         \"creationTimestamp\":\"1514944800000\",\"fileFormat\":\"CSV\",\"fileSchema\":\"{schema}\",\
         \"files\":[{{\"key\":\"inv/photos/all/data/1.csv.gz\",\"size\":{},\"MD5checksum\":\"{}\"}}]}}",
        data.len(),
        md5(dir, "inv/data/1.csv.gz")
    );
    dir.file("inv/2018-01-03T02-00Z/manifest.json", manifest.as_bytes());
}

fn md5(dir: &Dir, name: &str) -> String {
    dir.ftk(&["hash", "-a", "md5", name]).text()[..32].to_owned()
}

const SCHEMA: &str = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, IsMultipartUploaded, EncryptionStatus";
const MANIFEST: &str = "inv/2018-01-03T02-00Z/manifest.json";

fn row(key: &str, latest: bool, deleted: bool, e_tag: &str, is_multipart: bool, encryption: &str) -> String {
    format!(
        "\"photos\",\"{key}\",\"v1\",\"{latest}\",\"{deleted}\",\"1\",\"2018-01-01T00:00:00.000Z\",\"{e_tag}\",\"{is_multipart}\",\"{encryption}\"\n"
    )
}

#[test]
fn current_objects_become_entries() {
    let dir = Dir::new();
    let multipart = format!("{MD5}-2");
    let rows = [
        row("z/last.jpg", true, false, MD5, false, "SSE-S3"),
        row("a+b%2Bc%C3%A9.txt", true, false, MD5, false, "NOT-SSE"),
        row("old", false, false, MD5, false, "SSE-S3"),
        row("deleted", true, true, "", false, ""),
        row("kms", true, false, MD5, false, "SSE-KMS"),
        row("parts", true, false, &multipart, true, "SSE-S3"),
    ];
    inventory(&dir, SCHEMA, &rows.concat());
    dir.ask(&["convert", MANIFEST, "-o", "set"]);
    let sql = "SELECT source, path, parent, type, size_bytes, mtime_ns, ino, algorithm, digest FROM entries";
    let csv = dir.ask(&["sql", sql, "set", "--format", "csv"]);
    let time = "1514764800000000000";
    assert_eq!(
        csv,
        format!(
            "source,path,parent,type,size_bytes,mtime_ns,ino,algorithm,digest\r\n\
             s3://photos,a b+c\u{e9}.txt,.,file,1,{time},,md5,{MD5}\r\n\
             s3://photos,kms,.,file,1,{time},,,\r\n\
             s3://photos,parts,.,file,1,{time},,,\r\n\
             s3://photos,z/last.jpg,z,file,1,{time},,md5,{MD5}\r\n"
        )
    );
    let csv = dir.ask(&["sql", "SELECT count(*) AS n FROM contents", "set", "--format", "csv"]);
    assert_eq!(csv, "n\r\n2\r\n");
}

/// Old versions and delete markers are only in the table `versions`.
#[test]
fn versions_are_kept_apart() {
    let dir = Dir::new();
    let schema = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass, EncryptionStatus";
    let row = |key: &str, id: &str, latest: bool, deleted: bool, size: &str, day: u32, class: &str| {
        let e_tag = if deleted { "" } else { MD5 };
        format!(
            "\"photos\",\"{key}\",\"{id}\",\"{latest}\",\"{deleted}\",\"{size}\",\"2018-01-{day:02}T00:00:00.000Z\",\
             \"{e_tag}\",\"{class}\",\"SSE-S3\"\n"
        )
    };
    let rows = [
        row("kept", "k2", true, false, "2", 2, "STANDARD"),
        row("kept", "k1", false, false, "100", 1, "GLACIER"),
        row("gone", "g3", true, true, "", 3, ""),
        row("gone", "g2", false, false, "20", 2, "STANDARD"),
        row("gone", "g1", false, false, "10", 1, "STANDARD"),
        row("only", "o1", true, false, "7", 1, "STANDARD"),
    ];
    inventory(&dir, schema, &rows.concat());
    dir.ask(&["convert", MANIFEST, "-o", "set"]);
    let columns = "path, size_bytes, version, version_id, e_tag, storage_class";
    let entries = dir.rows(&["sql", &format!("SELECT {columns} FROM entries ORDER BY path"), "set"]);
    assert_eq!(
        entries,
        [format!("kept,2,current,k2,{MD5},STANDARD"), format!("only,7,current,o1,{MD5},STANDARD")]
    );
    for table in ["contents", "digests"] {
        assert_eq!(dir.rows(&["sql", &format!("SELECT count(*) AS n FROM {table}"), "set"]), ["2"]);
    }
    assert_eq!(dir.rows(&["sql", "SELECT count(*) AS n FROM versions", "set"]), ["6"]);
    let cost = dir.rows(&["old-versions", "set"]);
    assert_eq!(cost, ["s3://photos,GLACIER,1,100,0,0", "s3://photos,STANDARD,2,30,2,30"]);
    let versions = dir.rows(&["versions-of", "set"]);
    let found: Vec<_> = versions.iter().map(|row| row.split(',').collect::<Vec<_>>()).collect();
    let found: Vec<_> = found.iter().map(|row| (row[0], row[1], row[7], row[8])).collect();
    assert_eq!(
        found,
        [
            ("2", "gone", "old", "g1"),
            ("2", "gone", "old", "g2"),
            ("2", "gone", "delete_marker", "g3"),
            ("2", "kept", "old", "k1"),
            ("2", "kept", "current", "k2"),
        ]
    );
    assert_eq!(dir.rows(&["versions-of", "set", "--name", "kept"]).len(), 2);
    assert!(dir.rows(&["versions-of", "set", "--name", "only"]).is_empty());
}

/// A local tree with MD5 is compared with a bucket without reading either.
#[test]
fn a_tree_is_compared_with_a_bucket() {
    let dir = Dir::new();
    dir.file("t/there", b"a").file("t/missing", b"b");
    dir.ftk(&["manifest", "create", "-a", "sha256", "-a", "md5", "t", "-o", "t.jsonl"]).status(0);
    dir.ask(&["convert", "t.jsonl", "-a", "md5", "-o", "t.set"]);
    inventory(&dir, SCHEMA, &row("a", true, false, MD5, false, "SSE-S3"));
    dir.ask(&["convert", MANIFEST, "-o", "bucket"]);
    let csv = dir.ask(&["missing-in", "t.set", "bucket", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.contains(",missing,"), "{csv}");
}

/// The same objects as Parquet, with both types of dates.
#[test]
fn parquet_inventories_are_read() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    let set = dir.set("t", &[]);
    for date in ["arrow_cast(1514764800000, 'Timestamp(Millisecond, None)')", "1514764800000"] {
        let sql = format!(
            "SELECT 'photos' AS bucket, column1 AS key, true AS is_latest, false AS is_delete_marker, 1 AS size,
             {date} AS last_modified_date, '{MD5}' AS e_tag, false AS is_multipart_uploaded, 'SSE-S3' AS encryption_status
             FROM (VALUES ('b+%20'), ('a'))"
        );
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_ftk-query"))
            .args(["sql", &sql, &set, "--format", "parquet"])
            .current_dir(dir.path(""))
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        dir.file("p/x.parquet", &made.stdout);
        let manifest = format!(
            "{{\"sourceBucket\":\"photos\",\"fileFormat\":\"Parquet\",\"fileSchema\":\"message s3.inventory {{ }}\",\
             \"files\":[{{\"key\":\"data/x.parquet\",\"size\":{}}}]}}",
            made.stdout.len()
        );
        dir.file("p/manifest.json", manifest.as_bytes());
        let _ = fs::remove_dir_all(dir.path("set"));
        dir.ask(&["convert", "p/manifest.json", "-o", "set"]);
        let csv = dir.ask(&["sql", "SELECT path, mtime_ns, digest FROM entries", "set", "--format", "csv"]);
        let time = "1514764800000000000";
        assert_eq!(
            csv,
            format!("path,mtime_ns,digest\r\na,{time},{MD5}\r\nb+%20,{time},{MD5}\r\n"),
            "{date}"
        );
    }
}

#[test]
fn a_wrong_inventory_is_refused() {
    let dir = Dir::new();
    let good = row("a", true, false, MD5, false, "SSE-S3");
    for (schema, rows, why) in [
        ("Bucket, Size", "\"b\",\"1\"\n", "no column `Key`"),
        (SCHEMA, "\"b\",\"k\"\n", "columns"),
        (SCHEMA, &*good.replace("\"1\"", "\"many\""), "not a size"),
        (SCHEMA, &*good.replace("2018-01-01T", "yesterday"), "not a time"),
        (SCHEMA, &*good.replace("\"a\"", "\"%zz\""), "URL"),
        (SCHEMA, &*good.replacen("\"true\"", "\"yes\"", 1), "neither true nor false"),
    ] {
        inventory(&dir, schema, rows);
        let error = dir.refused(&["convert", MANIFEST, "-o", "set"]);
        assert!(error.contains(why), "{why}: {error}");
        assert!(!dir.path("set/_set.jsonl").exists());
    }
    inventory(&dir, SCHEMA, &good);
    dir.file("inv/data/1.csv.gz", b"other");
    assert!(dir.refused(&["convert", MANIFEST, "-o", "set"]).contains("its size differs"));
    fs::remove_file(dir.path("inv/data/1.csv.gz")).unwrap();
    assert!(dir.refused(&["convert", MANIFEST, "-o", "set"]).contains("is missing"));
}

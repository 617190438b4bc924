//! Builds batches of rows from entries.

use std::ops::Range;
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use datafusion::arrow::array::{ArrayRef, Int64Builder, RecordBatch, StringBuilder};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use ftk_hash::Algorithm;
use ftk_manifest::{Entry, Field};
use ftk_record::type_name;

use crate::schema::Table;

/// Rows of one batch. DataFusion prefers batches of this size.
pub(crate) const BATCH: usize = 8192;

/// What all rows of an input have in common.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The tree that the rows belong to.
    pub(crate) source: String,
    /// The number of the shard and of all shards, if the input is a part of a manifest.
    pub(crate) shard: Option<(u32, u32)>,
    /// The algorithms of the input, in the order of the digests of its entries.
    pub(crate) algorithms: Vec<Algorithm>,
    /// When the run that read the files began; `None` if ftk did not read them.
    pub(crate) start_ns: Option<i128>,
}

/// The algorithms of a set.
#[derive(Clone, Debug)]
pub(crate) struct Algorithms {
    /// The algorithm of `digest` and `tree`; `None` if no input has digests.
    pub(crate) main: Option<Algorithm>,
    /// The others, which have their own columns.
    pub(crate) extra: Vec<Algorithm>,
}

/// The rows of an input that are not yet in a batch.
pub(crate) struct Rows {
    origin: Origin,
    main: Option<Algorithm>,
    /// Where the main digest is in those of an entry.
    main_at: Option<Range<usize>>,
    /// The same for each column of more algorithms.
    extra_at: Vec<Option<Range<usize>>>,
    /// Entries whose paths are UTF-8.
    named: Entries,
    /// Entries with other paths. They sort before all others, so they are collected separately.
    encoded: Entries,
    contents: Contents,
}

/// Full batches.
pub(crate) enum Batch {
    /// Entries whose paths are UTF-8.
    Named(RecordBatch),
    /// Entries with other paths.
    Encoded(RecordBatch),
    Contents(RecordBatch),
}

impl Rows {
    pub(crate) fn new(origin: Origin, algorithms: &Algorithms) -> Self {
        let at = |wanted: Algorithm| {
            let before = origin.algorithms.iter().take_while(|it| **it != wanted);
            let start = before.map(|it| it.digest_len()).sum();
            origin.algorithms.contains(&wanted).then(|| start..start + wanted.digest_len())
        };
        Self {
            main: algorithms.main,
            main_at: algorithms.main.and_then(at),
            extra_at: algorithms.extra.iter().map(|algorithm| at(*algorithm)).collect(),
            named: Entries::new(&algorithms.extra),
            encoded: Entries::new(&algorithms.extra),
            contents: Contents::new(),
            origin,
        }
    }

    /// Adds an entry. Returns the number of rows in the longest batch.
    pub(crate) fn push(&mut self, entry: &Entry<'_>) -> usize {
        let Self { origin, main, main_at, extra_at, named, encoded, contents } = self;
        let is_utf8 = str::from_utf8(entry.path).is_ok();
        let part = |bytes: &[u8], at: &Option<Range<usize>>| -> Option<Hex> {
            let bytes = at.clone().filter(|_| !bytes.is_empty()).and_then(|at| bytes.get(at))?;
            Some(Hex::new(bytes))
        };
        let (digest, tree) = (part(entry.digests, main_at), part(entry.tree, main_at));
        let has_digest = digest.is_some() || tree.is_some();
        let algorithm = main.filter(|_| has_digest).map(Algorithm::name);
        if let (Some(digest), Some(algorithm)) = (&digest, algorithm) {
            contents.push(entry, &origin.source, algorithm, digest);
        }
        let table = if is_utf8 { named } else { encoded };
        table.push(entry, origin, algorithm);
        table.digest.append_option(digest.as_ref().map(Hex::as_str));
        table.tree.append_option(tree.as_ref().map(Hex::as_str));
        let (digests, trees) = table.extra.split_at_mut(extra_at.len());
        for (column, at) in digests.iter_mut().zip(&*extra_at) {
            column.append_option(part(entry.digests, at).as_ref().map(Hex::as_str));
        }
        for (column, at) in trees.iter_mut().zip(&*extra_at) {
            column.append_option(part(entry.tree, at).as_ref().map(Hex::as_str));
        }
        table.rows.max(contents.rows)
    }

    /// Returns all batches that have at least `least` rows.
    pub(crate) fn full(&mut self, least: usize) -> Result<Vec<Batch>> {
        let mut batches = Vec::new();
        if self.named.rows >= least {
            batches.push(Batch::Named(self.named.finish()?));
        }
        if self.encoded.rows >= least {
            batches.push(Batch::Encoded(self.encoded.finish()?));
        }
        if self.contents.rows >= least {
            batches.push(Batch::Contents(self.contents.finish()?));
        }
        Ok(batches)
    }
}

/// The hexadecimal digits of a digest, without an allocation.
struct Hex {
    digits: [u8; 128],
    len: usize,
}

impl Hex {
    fn new(bytes: &[u8]) -> Self {
        let mut digits = [0; 128];
        let len = 2 * bytes.len();
        HEXLOWER.encode_mut(bytes, &mut digits[..len]);
        Self { digits, len }
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.digits[..self.len]).expect("digits are ASCII")
    }
}

/// A name as text, or as base64 if it is not UTF-8.
struct Name {
    text: StringBuilder,
    b64: StringBuilder,
}

impl Name {
    fn new() -> Self {
        Self { text: StringBuilder::new(), b64: StringBuilder::new() }
    }

    fn push(&mut self, name: &[u8]) {
        match str::from_utf8(name) {
            Ok(text) => self.push_text(text),
            Err(_) => {
                self.text.append_value("");
                self.b64.append_value(BASE64.encode(name));
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        self.text.append_value(text);
        self.b64.append_value("");
    }

    fn push_null(&mut self) {
        self.text.append_null();
        self.b64.append_null();
    }

    fn finish(&mut self) -> [ArrayRef; 2] {
        [Arc::new(self.text.finish()), Arc::new(self.b64.finish())]
    }
}

/// Columns of `entries`.
struct Entries {
    schema: SchemaRef,
    rows: usize,
    source: StringBuilder,
    path: Name,
    parent: Name,
    name: Name,
    extension: StringBuilder,
    of_type: StringBuilder,
    size: Int64Builder,
    allocated: Int64Builder,
    mtime: Int64Builder,
    ctime: Int64Builder,
    birth: Int64Builder,
    mode: StringBuilder,
    uid: Int64Builder,
    gid: Int64Builder,
    fs: StringBuilder,
    dev: Int64Builder,
    ino: Int64Builder,
    nlink: Int64Builder,
    rdev: Int64Builder,
    target: Name,
    algorithm: StringBuilder,
    digest: StringBuilder,
    tree: StringBuilder,
    verified: Int64Builder,
    damaged: Int64Builder,
    shard: StringBuilder,
    /// The digests by other algorithms, then the tree digests.
    extra: Vec<StringBuilder>,
}

impl Entries {
    fn new(extra: &[Algorithm]) -> Self {
        let (text, number) = (StringBuilder::new, Int64Builder::new);
        Self {
            schema: Table::Entries.schema(extra),
            rows: 0,
            source: text(),
            path: Name::new(),
            parent: Name::new(),
            name: Name::new(),
            extension: text(),
            of_type: text(),
            size: number(),
            allocated: number(),
            mtime: number(),
            ctime: number(),
            birth: number(),
            mode: text(),
            uid: number(),
            gid: number(),
            fs: text(),
            dev: number(),
            ino: number(),
            nlink: number(),
            rdev: number(),
            target: Name::new(),
            algorithm: text(),
            digest: text(),
            tree: text(),
            verified: number(),
            damaged: number(),
            shard: text(),
            extra: (0..2 * extra.len()).map(|_| text()).collect(),
        }
    }

    /// Adds everything except the digests.
    fn push(&mut self, entry: &Entry<'_>, origin: &Origin, algorithm: Option<&str>) {
        let Entry { path, stat, .. } = entry;
        self.rows += 1;
        self.source.append_value(&origin.source);
        self.path_parts(path);
        self.of_type.append_value(type_name(stat.file_type));
        let known = |field, value: u64| entry.knows(field).then_some(value as i64);
        self.size.append_option(size(entry));
        let allocated = stat.blocks.checked_mul(512).filter(|_| entry.knows(Field::Allocated));
        self.allocated.append_option(allocated.and_then(|bytes| bytes.try_into().ok()));
        self.mtime.append_option(entry.knows(Field::Mtime).then(|| time(stat.mtime_ns)).flatten());
        self.ctime.append_option(entry.knows(Field::Ctime).then(|| time(stat.ctime_ns)).flatten());
        self.birth.append_option(stat.birth_ns.and_then(time));
        if entry.knows(Field::Mode) {
            let digit = |shift: u32| b'0' + (stat.mode >> shift & 7) as u8;
            let digits = [digit(9), digit(6), digit(3), digit(0)];
            self.mode.append_value(str::from_utf8(&digits).expect("digits are ASCII"));
        } else {
            self.mode.append_null();
        }
        self.uid.append_option(known(Field::Uid, stat.uid.into()));
        self.gid.append_option(known(Field::Gid, stat.gid.into()));
        push_fs(&mut self.fs, entry);
        self.dev.append_option(known(Field::Dev, stat.dev));
        self.ino.append_option(known(Field::Ino, stat.ino));
        self.nlink.append_option(known(Field::Nlink, stat.nlink));
        self.rdev.append_option(known(Field::Rdev, stat.rdev).filter(|_| stat.is_device()));
        match entry.target {
            Some(target) => self.target.push(target),
            None => self.target.push_null(),
        }
        self.algorithm.append_option(algorithm);
        let is_read = stat.is_regular() && !entry.digests.is_empty();
        let verified = origin.start_ns.filter(|_| is_read).and_then(|start| entry.read_ns(start));
        self.verified.append_option(verified.and_then(time));
        self.damaged.append_option(entry.damaged_ns.and_then(time));
        self.shard.append_option(origin.shard.map(|(number, of)| format!("{number}/{of}")));
    }

    /// Adds the path, the directory, the name and its extension.
    fn path_parts(&mut self, path: &[u8]) {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let name_at = slash.map_or(0, |at| at + 1);
        match str::from_utf8(path) {
            Ok(text) => {
                let (parent, name) = (&text[..slash.unwrap_or(0)], &text[name_at..]);
                let parent = match slash {
                    Some(_) => parent,
                    None if path == b"." => "",
                    None => ".",
                };
                self.path.push_text(text);
                self.parent.push_text(parent);
                self.name.push_text(name);
                self.push_extension(name);
            }
            Err(_) => {
                let (parent, name) = (slash.map_or(&b"."[..], |at| &path[..at]), &path[name_at..]);
                self.path.push(path);
                self.parent.push(parent);
                self.name.push(name);
                self.push_extension(str::from_utf8(name).unwrap_or(""));
            }
        }
    }

    fn push_extension(&mut self, name: &str) {
        match name.rfind('.') {
            Some(dot @ 1..) if name[dot..].bytes().any(|byte| byte.is_ascii_uppercase()) => {
                self.extension.append_value(name[dot + 1..].to_ascii_lowercase());
            }
            Some(dot @ 1..) => self.extension.append_value(&name[dot + 1..]),
            _ => self.extension.append_value(""),
        }
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [path, path_b64] = self.path.finish();
        let [parent, parent_b64] = self.parent.finish();
        let [name, name_b64] = self.name.finish();
        let [target, target_b64] = self.target.finish();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.source.finish()),
            path,
            path_b64,
            parent,
            parent_b64,
            name,
            name_b64,
            Arc::new(self.extension.finish()),
            Arc::new(self.of_type.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.allocated.finish()),
            Arc::new(self.mtime.finish()),
            Arc::new(self.ctime.finish()),
            Arc::new(self.birth.finish()),
            Arc::new(self.mode.finish()),
            Arc::new(self.uid.finish()),
            Arc::new(self.gid.finish()),
            Arc::new(self.fs.finish()),
            Arc::new(self.dev.finish()),
            Arc::new(self.ino.finish()),
            Arc::new(self.nlink.finish()),
            Arc::new(self.rdev.finish()),
            target,
            target_b64,
            Arc::new(self.algorithm.finish()),
            Arc::new(self.digest.finish()),
            Arc::new(self.tree.finish()),
            Arc::new(self.verified.finish()),
            Arc::new(self.damaged.finish()),
            Arc::new(self.shard.finish()),
        ];
        columns.extend(self.extra.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

/// Columns of `contents`.
struct Contents {
    schema: SchemaRef,
    rows: usize,
    algorithm: StringBuilder,
    digest: StringBuilder,
    size: Int64Builder,
    source: StringBuilder,
    path: Name,
    fs: StringBuilder,
    dev: Int64Builder,
    ino: Int64Builder,
    damaged: Int64Builder,
}

impl Contents {
    fn new() -> Self {
        let (text, number) = (StringBuilder::new, Int64Builder::new);
        Self {
            schema: Table::Contents.schema(&[]),
            rows: 0,
            algorithm: text(),
            digest: text(),
            size: number(),
            source: text(),
            path: Name::new(),
            fs: text(),
            dev: number(),
            ino: number(),
            damaged: number(),
        }
    }

    fn push(&mut self, entry: &Entry<'_>, source: &str, algorithm: &str, digest: &Hex) {
        let known = |field, value: u64| entry.knows(field).then_some(value as i64);
        self.rows += 1;
        self.algorithm.append_value(algorithm);
        self.digest.append_value(digest.as_str());
        self.size.append_option(size(entry));
        self.source.append_value(source);
        self.path.push(entry.path);
        push_fs(&mut self.fs, entry);
        self.dev.append_option(known(Field::Dev, entry.stat.dev));
        self.ino.append_option(known(Field::Ino, entry.stat.ino));
        self.damaged.append_option(entry.damaged_ns.and_then(time));
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [path, path_b64] = self.path.finish();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.algorithm.finish()),
            Arc::new(self.digest.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.source.finish()),
            path,
            path_b64,
            Arc::new(self.fs.finish()),
            Arc::new(self.dev.finish()),
            Arc::new(self.ino.finish()),
            Arc::new(self.damaged.finish()),
        ];
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

fn push_fs(column: &mut StringBuilder, entry: &Entry<'_>) {
    column.append_option(entry.fs.as_ref().map(|fs| Hex::new(fs.as_bytes())).as_ref().map(Hex::as_str));
}

/// Returns the size. One that needs more than 63 bits is null.
fn size(entry: &Entry<'_>) -> Option<i64> {
    entry.size().and_then(|size| size.try_into().ok())
}

/// Converts a time. One that needs more than 64 bits is null.
fn time(ns: i128) -> Option<i64> {
    i64::try_from(ns).ok()
}

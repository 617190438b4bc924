//! Builds batches of rows from entries.

use std::ops::Range;
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use datafusion::arrow::array::{
    ArrayRef, FixedSizeBinaryBuilder, Int64Array, Int64Builder, RecordBatch, StringBuilder,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use ftk_hash::Algorithm;
use ftk_manifest::{Entry, Field};
use ftk_record::type_name;

use crate::functions::{ancestor, extension};
use crate::input::OfObject;
use crate::schema::{ENTRIES, Table};

/// Rows of one batch, and the most of a page. DataFusion prefers batches of this size.
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
    /// When the last update began that examined the whole tree, if a later one examined only a part.
    pub(crate) full_ns: Option<i128>,
    /// The date of the snapshot.
    pub(crate) snapshot: Option<String>,
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
    algorithms: Algorithms,
    /// Where the main digest is in those of an entry.
    main_at: Option<Range<usize>>,
    /// The same for each column of more algorithms.
    extra_at: Vec<Option<Range<usize>>>,
    /// Entries whose paths are UTF-8.
    named: Entries,
    /// Entries with other paths. They sort before all others, so they are collected separately.
    encoded: Entries,
}

/// Full batches. Their rows have no numbers yet.
pub(crate) enum Batch {
    /// Entries whose paths are UTF-8.
    Named(RecordBatch),
    /// Entries with other paths.
    Encoded(RecordBatch),
}

impl Rows {
    pub(crate) fn new(origin: Origin, algorithms: &Algorithms) -> Self {
        let at = |wanted: Algorithm| {
            let before = origin.algorithms.iter().take_while(|it| **it != wanted);
            let start = before.map(|it| it.digest_len()).sum();
            origin.algorithms.contains(&wanted).then(|| start..start + wanted.digest_len())
        };
        Self {
            algorithms: algorithms.clone(),
            main_at: algorithms.main.and_then(at),
            extra_at: algorithms.extra.iter().map(|algorithm| at(*algorithm)).collect(),
            named: Entries::new(algorithms),
            encoded: Entries::new(algorithms),
            origin,
        }
    }

    /// Creates another one for the same input, without rows.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.origin.clone(), &self.algorithms)
    }

    /// Adds an entry. Returns the number of rows in its batch.
    pub(crate) fn push(&mut self, entry: &Entry<'_>, of: OfObject<'_>) -> usize {
        let Self { origin, algorithms, main_at, extra_at, named, encoded } = self;
        let table = if str::from_utf8(entry.path).is_ok() { named } else { encoded };
        let is_read = !entry.digests.is_empty() || !entry.tree.is_empty();
        table.push(
            entry,
            origin,
            algorithms.main.filter(|_| is_read && main_at.is_some()).map(Algorithm::name),
        );
        table.push_object(of, origin);
        table.digest.push(entry.digests, main_at);
        table.tree.push(entry.tree, main_at);
        let (digests, trees) = table.extra.split_at_mut(extra_at.len());
        for (nth, at) in extra_at.iter().enumerate() {
            digests[nth].push(entry.digests, at);
            trees[nth].push(entry.tree, at);
        }
        table.rows
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
        Ok(batches)
    }
}

/// The digests by one algorithm.
struct Digests {
    column: FixedSizeBinaryBuilder,
}

impl Digests {
    fn new(schema: &SchemaRef, name: &str) -> Self {
        let len = match schema.field_with_name(name).map(|field| field.data_type()) {
            Ok(DataType::FixedSizeBinary(len)) => *len,
            _ => unreachable!("the columns of digests are binary"),
        };
        Self { column: FixedSizeBinaryBuilder::new(len) }
    }

    /// Adds the digest that is at this place in those of an entry, if it has some.
    fn push(&mut self, digests: &[u8], at: &Option<Range<usize>>) {
        match at.clone().and_then(|at| digests.get(at)) {
            Some(digest) => {
                self.column.append_value(digest).expect("a digest has the length of its algorithm")
            }
            None => self.column.append_null(),
        }
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

/// Columns of a file of `entries`, without the numbers of the rows.
struct Entries {
    schema: SchemaRef,
    rows: usize,
    source: StringBuilder,
    path: Name,
    parent: Name,
    ancestor: StringBuilder,
    name: Name,
    extension: StringBuilder,
    of_type: StringBuilder,
    size: Int64Builder,
    allocated: Int64Builder,
    mtime: Int64Builder,
    ctime: Int64Builder,
    ctime_after: Int64Builder,
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
    digest: Digests,
    tree: Digests,
    verified: Int64Builder,
    damaged: Int64Builder,
    shard: StringBuilder,
    snapshot: StringBuilder,
    e_tag: StringBuilder,
    storage_class: StringBuilder,
    version: StringBuilder,
    version_id: StringBuilder,
    /// The digests by other algorithms, then the tree digests.
    extra: Vec<Digests>,
}

impl Entries {
    fn new(Algorithms { main, extra }: &Algorithms) -> Self {
        let (text, number) = (StringBuilder::new, Int64Builder::new);
        let schema = Table::Entries.schema(*main, extra);
        Self {
            digest: Digests::new(&schema, "digest"),
            tree: Digests::new(&schema, "tree"),
            extra: schema.fields()[FIXED..].iter().map(|it| Digests::new(&schema, it.name())).collect(),
            rows: 0,
            source: text(),
            path: Name::new(),
            parent: Name::new(),
            ancestor: text(),
            name: Name::new(),
            extension: text(),
            of_type: text(),
            size: number(),
            allocated: number(),
            mtime: number(),
            ctime: number(),
            ctime_after: number(),
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
            verified: number(),
            damaged: number(),
            shard: text(),
            snapshot: text(),
            e_tag: text(),
            storage_class: text(),
            version: text(),
            version_id: text(),
            schema,
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
        let mtime = entry.knows(Field::Mtime).then(|| time(stat.mtime_ns)).flatten();
        let ctime = entry.knows(Field::Ctime).then(|| time(stat.ctime_ns)).flatten();
        // The difference needs fewer bits: both change together in most files.
        let after = ctime.zip(mtime).and_then(|(ctime, mtime)| ctime.checked_sub(mtime));
        self.mtime.append_option(mtime);
        self.ctime.append_option(ctime.filter(|_| after.is_none()));
        self.ctime_after.append_option(after);
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

    /// Adds the path and the extension. The directory and the name are in the path, unless that is in base64.
    fn path_parts(&mut self, path: &[u8]) {
        self.path.push(path);
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let name = &path[slash.map_or(0, |at| at + 1)..];
        if str::from_utf8(path).is_ok() {
            self.parent.push_null();
            self.ancestor.append_null();
            self.name.push_null();
        } else {
            let parent = slash.map_or(&b"."[..], |at| &path[..at]);
            self.ancestor.append_option(str::from_utf8(parent).is_err().then(|| ancestor(parent)));
            self.parent.push(parent);
            self.name.push(name);
        }
        self.extension.append_value(extension(str::from_utf8(name).unwrap_or("")));
    }

    /// Adds what only objects have, and what all rows of the input have.
    fn push_object(&mut self, of: OfObject<'_>, origin: &Origin) {
        self.snapshot.append_option(origin.snapshot.as_deref());
        self.e_tag.append_option(of.e_tag);
        self.storage_class.append_option(of.storage_class);
        self.version.append_option(of.version);
        self.version_id.append_option(of.version_id);
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        let row_ids = Int64Array::from(vec![0; std::mem::take(&mut self.rows)]);
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
            Arc::new(self.ancestor.finish()),
            name,
            name_b64,
            Arc::new(self.extension.finish()),
            Arc::new(self.of_type.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.allocated.finish()),
            Arc::new(self.mtime.finish()),
            Arc::new(self.ctime.finish()),
            Arc::new(self.ctime_after.finish()),
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
            Arc::new(self.digest.column.finish()),
            Arc::new(self.tree.column.finish()),
            Arc::new(self.verified.finish()),
            Arc::new(self.damaged.finish()),
            Arc::new(self.shard.finish()),
            Arc::new(self.snapshot.finish()),
            Arc::new(self.e_tag.finish()),
            Arc::new(self.storage_class.finish()),
            Arc::new(self.version.finish()),
            Arc::new(self.version_id.finish()),
            Arc::new(row_ids),
        ];
        columns.extend(self.extra.iter_mut().map(|it| Arc::new(it.column.finish()) as ArrayRef));
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

/// The columns that every file has: those of the table, and the difference of the times.
const FIXED: usize = ENTRIES.len() + 1;

fn push_fs(column: &mut StringBuilder, entry: &Entry<'_>) {
    let Some(fs) = &entry.fs else { return column.append_null() };
    let mut digits = [0; 32];
    HEXLOWER.encode_mut(fs.as_bytes(), &mut digits);
    column.append_value(str::from_utf8(&digits).expect("digits are ASCII"));
}

/// Returns the size. One that needs more than 63 bits is null.
fn size(entry: &Entry<'_>) -> Option<i64> {
    entry.size().and_then(|size| size.try_into().ok())
}

/// Converts a time. One that needs more than 64 bits is null.
fn time(ns: i128) -> Option<i64> {
    i64::try_from(ns).ok()
}

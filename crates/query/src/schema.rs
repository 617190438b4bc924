//! The columns of both tables. `docs/parquet.md` describes them.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::logical_expr::SortExpr;
use datafusion::prelude::col;
use ftk_hash::Algorithm;

/// A table of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    Entries,
    Contents,
}

/// Name, type and whether the column may be null.
type Column = (&'static str, DataType, bool);

use DataType::{Int64, Utf8};

/// The columns of every `entries`, in their order. Columns of more algorithms follow.
const ENTRIES: [Column; 30] = [
    ("source", Utf8, false),
    ("path", Utf8, false),
    ("path_b64", Utf8, false),
    ("parent", Utf8, false),
    ("parent_b64", Utf8, false),
    ("name", Utf8, false),
    ("name_b64", Utf8, false),
    ("extension", Utf8, false),
    ("type", Utf8, false),
    ("size_bytes", Int64, true),
    ("allocated_bytes", Int64, true),
    ("mtime_ns", Int64, true),
    ("ctime_ns", Int64, true),
    ("birth_ns", Int64, true),
    ("mode", Utf8, true),
    ("uid", Int64, true),
    ("gid", Int64, true),
    ("fs", Utf8, true),
    ("dev", Int64, true),
    ("ino", Int64, true),
    ("nlink", Int64, true),
    ("rdev", Int64, true),
    ("target", Utf8, true),
    ("target_b64", Utf8, true),
    ("algorithm", Utf8, true),
    ("digest", Utf8, true),
    ("tree", Utf8, true),
    ("verified_ns", Int64, true),
    ("damaged_ns", Int64, true),
    ("shard", Utf8, true),
];

const CONTENTS: [Column; 10] = [
    ("algorithm", Utf8, false),
    ("digest", Utf8, false),
    ("size_bytes", Int64, true),
    ("source", Utf8, false),
    ("path", Utf8, false),
    ("path_b64", Utf8, false),
    ("fs", Utf8, true),
    ("dev", Int64, true),
    ("ino", Int64, true),
    ("damaged_ns", Int64, true),
];

impl Table {
    pub(crate) const ALL: [Self; 2] = [Self::Entries, Self::Contents];

    /// Returns the name in questions, which is also the start of the names of files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Contents => "contents",
        }
    }

    /// Returns the columns that the rows are sorted by.
    pub(crate) fn order(self) -> [&'static str; 2] {
        match self {
            Self::Entries => ["path", "path_b64"],
            Self::Contents => ["algorithm", "digest"],
        }
    }

    /// Returns the order as DataFusion declares it.
    pub(crate) fn sort_exprs(self) -> Vec<SortExpr> {
        self.order().iter().map(|column| col(*column).sort(true, false)).collect()
    }

    /// Returns the columns that every set has.
    pub(crate) fn columns(self) -> &'static [Column] {
        match self {
            Self::Entries => &ENTRIES,
            Self::Contents => &CONTENTS,
        }
    }

    /// Returns the schema; `extra` are the algorithms that have their own columns in `entries`.
    pub(crate) fn schema(self, extra: &[Algorithm]) -> SchemaRef {
        let fixed = self.columns().iter().map(|(name, of, null)| Field::new(*name, of.clone(), *null));
        let mut fields: Vec<_> = fixed.collect();
        if self == Self::Entries {
            let digest = |algorithm: &Algorithm| Field::new(column(*algorithm), Utf8, true);
            let tree = |algorithm: &Algorithm| Field::new(format!("tree_{}", column(*algorithm)), Utf8, true);
            fields.extend(extra.iter().map(digest).chain(extra.iter().map(tree)));
        }
        Arc::new(Schema::new(fields))
    }
}

/// Returns the name of the column for the digests of an algorithm.
fn column(algorithm: Algorithm) -> String {
    algorithm.name().replace('-', "_")
}

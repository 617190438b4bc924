//! The columns of tables and files. `docs/parquet.md` describes them.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use ftk_hash::Algorithm;

/// What the files of a set hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    Entries,
    Digests,
}

/// Name, type and whether the column may be null.
type Column = (&'static str, DataType, bool);

use DataType::{Int64, Utf8};

/// The columns of the table `entries`, in their order. Columns of more algorithms follow.
pub(crate) const ENTRIES: [Column; 37] = [
    ("source", Utf8, false),
    ("path", Utf8, false),
    ("path_b64", Utf8, false),
    ("parent", Utf8, false),
    ("parent_b64", Utf8, false),
    ("ancestor", Utf8, false),
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
    ("snapshot", Utf8, true),
    ("e_tag", Utf8, true),
    ("storage_class", Utf8, true),
    ("version", Utf8, true),
    ("version_id", Utf8, true),
    ("row_id", Int64, false),
];

/// The columns of the table `contents`: those of `entries`, of files with a digest.
pub(crate) const CONTENTS: [&str; 10] =
    ["algorithm", "digest", "size_bytes", "source", "path", "path_b64", "fs", "dev", "ino", "damaged_ns"];

/// The columns of the table `digests`: enough to find equal contents, and their entries.
pub(crate) const DIGESTS: [&str; 6] = ["algorithm", "digest", "source", "row_id", "damaged_ns", "snapshot"];

/// Columns that are null in a file where the path says the same.
pub(crate) const DERIVED: [&str; 5] = ["parent", "parent_b64", "ancestor", "name", "name_b64"];

/// Columns that sets of version 1 lack.
pub(crate) const SINCE_2: [&str; 7] =
    ["ancestor", "snapshot", "e_tag", "storage_class", "version", "version_id", "row_id"];

/// The column of files from which `ctime_ns` is computed, where that is null.
pub(crate) const CTIME_AFTER: &str = "ctime_after_ns";

/// The number of the first row whose path is not UTF-8. These are before all others, and how many they are is not known
/// before all are there.
pub(crate) const FIRST_IN_BASE64: i64 = -1 << 62;

/// The length of a digest where no input has one.
const NO_DIGEST: i32 = 32;

impl Table {
    pub(crate) const ALL: [Self; 2] = [Self::Entries, Self::Digests];

    /// Returns the start of the names of files, which is also the name in questions.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Digests => "digests",
        }
    }

    /// Returns the columns that the rows of a file are sorted by.
    pub(crate) fn order(self) -> [&'static str; 3] {
        match self {
            Self::Entries => ["path", "path_b64", "source"],
            Self::Digests => ["algorithm", "digest", "row_id"],
        }
    }

    /// Returns the columns of a file. `main` is the algorithm of `digest` and `tree`, and `extra` are those that have
    /// their own columns in `entries`.
    pub(crate) fn schema(self, main: Option<Algorithm>, extra: &[Algorithm]) -> SchemaRef {
        let binary = |algorithm: Algorithm| DataType::FixedSizeBinary(algorithm.digest_len() as i32);
        let digest = main.map_or(DataType::FixedSizeBinary(NO_DIGEST), binary);
        let mut fields = Vec::new();
        for (name, of, is_nullable) in ENTRIES {
            let of = if matches!(name, "digest" | "tree") { digest.clone() } else { of };
            fields.push(Field::new(name, of, is_nullable || DERIVED.contains(&name)));
            if name == "ctime_ns" {
                fields.push(Field::new(CTIME_AFTER, Int64, true));
            }
        }
        if self == Self::Digests {
            let column = |name: &&str| fields.iter().find(|field| field.name() == name).cloned();
            let fields = DIGESTS.iter().filter_map(column);
            let is_nullable = |field: &Field| ["damaged_ns", "snapshot"].contains(&&**field.name());
            return Arc::new(Schema::new(
                fields.map(|field| field.clone().with_nullable(is_nullable(&field))).collect::<Vec<_>>(),
            ));
        }
        fields.extend(extra.iter().map(|it| Field::new(column(*it), binary(*it), true)));
        fields.extend(extra.iter().map(|it| Field::new(format!("tree_{}", column(*it)), binary(*it), true)));
        Arc::new(Schema::new(fields))
    }
}

/// Returns the name of the column for the digests of an algorithm.
fn column(algorithm: Algorithm) -> String {
    algorithm.name().replace('-', "_")
}

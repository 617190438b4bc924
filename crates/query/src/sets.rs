//! Sets as tables: their seals are checked, and their files become sorted tables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt as _, SortExpr, cast, when};
use datafusion::prelude::{SessionContext, col, lit};
use datafusion::scalar::ScalarValue;
use ftk_manifest::Failed;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::console::Console;
use crate::functions;
use crate::input::CURRENT;
use crate::progress::Progress;
use crate::schema::{CONTENTS, CTIME_AFTER, DIGESTS, ENTRIES, FIRST_IN_BASE64, SINCE_2, Table};
use crate::seal::{SealedFile, SetSeal, Source};

/// The sets of a question.
pub(crate) struct Sets(Vec<Set>);

/// A directory with a seal.
pub(crate) struct Set {
    dir: PathBuf,
    pub(crate) seal: SetSeal,
}

/// Which sets a table of a question has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// All, each of another tree.
    All,
    /// All, each of another tree or another snapshot.
    History,
    /// The first.
    A,
    /// All but the first.
    B,
}

/// A table of a question, without its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum View {
    Entries,
    Versions,
    Contents,
    Digests,
    /// What could not be read. It is in the seal.
    Failed,
}

const TABLES: [(&str, Side, View); 15] = [
    ("history", Side::History, View::Entries),
    ("history_failed", Side::History, View::Failed),
    ("versions", Side::All, View::Versions),
    ("failed", Side::All, View::Failed),
    ("a_failed", Side::A, View::Failed),
    ("b_failed", Side::B, View::Failed),
    ("entries", Side::All, View::Entries),
    ("contents", Side::All, View::Contents),
    ("digests", Side::All, View::Digests),
    ("a_entries", Side::A, View::Entries),
    ("a_contents", Side::A, View::Contents),
    ("a_digests", Side::A, View::Digests),
    ("b_entries", Side::B, View::Entries),
    ("b_contents", Side::B, View::Contents),
    ("b_digests", Side::B, View::Digests),
];

/// The table of the numbers from 0 to 99, which are the depths of directories that questions have rows for.
pub(crate) const LEVELS: &str = "levels";

/// Returns whether questions have a table of this name.
pub(crate) fn is_table(name: &str) -> bool {
    ["parameters", LEVELS].contains(&name) || TABLES.iter().any(|(known, ..)| *known == name)
}

impl Sets {
    /// Reads the seals.
    ///
    /// # Errors
    /// If a directory is not a complete set.
    pub(crate) fn open(dirs: &[PathBuf]) -> Result<Self> {
        let open = |dir: &PathBuf| Ok(Set { dir: dir.clone(), seal: SetSeal::read(dir)? });
        dirs.iter().map(open).collect::<Result<_>>().map(Self)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Set> {
        self.0.iter()
    }

    /// Returns the paths of all files of the sets.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let of_set = |set: &Set| {
            let files = set.seal.files.iter().map(|file| set.dir.join(&file.file));
            files.chain([set.dir.join(crate::seal::NAME)]).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_set).collect()
    }

    /// Checks that each set holds one tree.
    ///
    /// # Errors
    /// If one holds several.
    pub(crate) fn need_one_source(&self) -> Result<()> {
        match self.0.iter().find(|set| set.seal.sources.len() > 1) {
            Some(set) => {
                bail!("{} holds several trees: this question needs sets of one tree", set.dir.display())
            }
            None => Ok(()),
        }
    }

    /// Checks that each set has the tree digests of all its directories.
    ///
    /// # Errors
    /// If one was made from shards: no shard has the digests of the directories that it shares with others.
    pub(crate) fn need_trees(&self) -> Result<()> {
        match self.0.iter().find(|set| set.seal.sources.iter().any(|source| source.shards.is_some())) {
            Some(set) => bail!(
                "{} was made from shards, which lack the tree digests of directories that they share: merge them \
                 with `ftk manifest merge` and convert the result",
                set.dir.display()
            ),
            None => Ok(()),
        }
    }

    /// Checks that all sets have digests by one algorithm, as far as they have any.
    ///
    /// # Errors
    /// If they do not. Then equal contents would look different.
    pub(crate) fn need_one_algorithm(&self) -> Result<()> {
        let algorithms: Vec<_> = self.0.iter().filter_map(|set| Some((set, set.seal.algorithm?))).collect();
        match algorithms.windows(2).find(|pair| pair[0].1 != pair[1].1) {
            Some([(one, its), (other, others)]) => bail!(
                "{} has digests by {its} and {} by {others}: convert with --algorithm",
                one.dir.display(),
                other.dir.display()
            ),
            _ => Ok(()),
        }
    }

    /// Says which sets lack something, and how old records may be that the last update did not examine.
    pub(crate) fn say_limits(&self, console: &Console) {
        for set in &self.0 {
            let full_ns = set.seal.sources.iter().filter_map(|source| source.full_ns).min();
            if let Some(time) = full_ns.and_then(|ns| Timestamp::from_nanosecond(ns.into()).ok()) {
                let date = time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
                let dir = set.dir.display();
                console.summary(format_args!("{dir}: the whole tree was last examined on {date}"));
            }
            let failed: usize = set.seal.sources.iter().map(|source| source.failed_paths().len()).sum();
            if failed > 0 {
                console.warning(format_args!(
                    "{}: {failed} paths could not be read when it was recorded: what is below them is unknown",
                    set.dir.display()
                ));
            }
        }
    }

    /// Registers the tables that a question names, after a check of their files. Returns the number of their rows.
    ///
    /// # Errors
    /// If the sets do not suffice for the question, or a file is not the one that was sealed.
    pub(crate) fn register(
        &self,
        session: &SessionContext,
        names: &[String],
        console: &Console,
    ) -> Result<u64> {
        let used: BTreeSet<_> =
            TABLES.iter().filter(|(name, ..)| names.iter().any(|used| used == name)).collect();
        let uses = |wanted: Side| used.iter().any(|(_, side, _)| *side == wanted);
        if uses(Side::A) || uses(Side::B) {
            let n = self.0.len();
            ensure!(n >= 2, "the tables `a_...` and `b_...` need two sets, not {n}");
        }
        if uses(Side::All) {
            self.need_distinct_sources(false)?;
        } else if uses(Side::History) {
            self.need_distinct_sources(true)?;
        }
        let files = used.iter().flat_map(|(_, side, view)| self.files(*side, *view));
        check(files.collect(), false, console)?;
        // Questions that find digests join them with their entries.
        let is_by_number = used.iter().any(|(_, _, view)| *view == View::Digests);
        let mut rows = 0;
        for (name, side, view) in used {
            let (table, of_table) = match view {
                View::Failed => (session.read_batch(self.failed_paths(*side)?)?, 0),
                _ => self.table(session, *side, *view, is_by_number)?,
            };
            rows += of_table;
            session.register_table(*name, table.into_view())?;
        }
        Ok(rows)
    }

    /// Checks all bytes of all files.
    ///
    /// # Errors
    /// If a file is not the one that was sealed.
    pub(crate) fn check(&self, console: &Console) -> Result<()> {
        let files = self.0.iter().flat_map(|set| set.seal.files.iter().map(move |file| (set, file)));
        check(files.collect(), true, console)
    }

    /// A tree that is in two sets would be a duplicate of itself. `is_history`: it may be in sets of different
    /// snapshots.
    fn need_distinct_sources(&self, is_history: bool) -> Result<()> {
        let mut seen: Vec<(&Source, &Path)> = Vec::new();
        for set in &self.0 {
            for source in &set.seal.sources {
                let is_same = |other: &Source| {
                    other.source == source.source && !(is_history && other.snapshot != source.snapshot)
                };
                if let Some((_, other)) = seen.iter().find(|(known, _)| is_same(known)) {
                    let (dirs, name) = ((other.display(), set.dir.display()), &source.source);
                    bail!(
                        "{} and {} both hold {name:?}: give each set of another tree its own --source, and compare \
                         snapshots of one tree with `trend`, or in the table `history`",
                        dirs.0,
                        dirs.1
                    );
                }
                seen.push((source, &set.dir));
            }
        }
        Ok(())
    }

    /// Checks that all trees have the date of their snapshot.
    ///
    /// # Errors
    /// If one lacks it.
    pub(crate) fn need_snapshots(&self) -> Result<()> {
        let lacks = |set: &&Set| set.seal.sources.iter().any(|source| source.snapshot.is_none());
        match self.0.iter().find(lacks) {
            Some(set) => bail!("{} has no snapshot: convert with --snapshot DATE", set.dir.display()),
            None => Ok(()),
        }
    }

    /// Returns the rows of a table of what could not be read.
    fn failed_paths(&self, side: Side) -> Result<RecordBatch> {
        let (mut sources, mut snapshots) = (Vec::new(), Vec::new());
        let (mut paths, mut paths_b64) = (Vec::new(), Vec::new());
        for source in self.of(side).iter().flat_map(|set| &set.seal.sources) {
            for failed in source.failed_paths() {
                sources.push(&*source.source);
                snapshots.push(source.snapshot.as_deref());
                paths.push(failed.path.as_deref().unwrap_or_default());
                paths_b64.push(failed.path_b64.as_deref().unwrap_or_default());
            }
        }
        let column = |name, rows: Vec<&str>| (name, Arc::new(StringArray::from(rows)) as ArrayRef, false);
        let snapshots: ArrayRef = Arc::new(StringArray::from(snapshots));
        let columns = [
            column("source", sources),
            ("snapshot", snapshots, true),
            column("path", paths),
            column("path_b64", paths_b64),
        ];
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }

    /// Returns what the sets of a side could not read, as one list.
    fn failed_of(&self, side: Side) -> Result<Failed> {
        let sources = self.of(side).iter().flat_map(|set| &set.seal.sources);
        let failed = sources.map(Source::failed).collect::<Result<Vec<_>>>()?;
        Ok(Failed::union(&failed))
    }

    fn of(&self, side: Side) -> &[Set] {
        match side {
            Side::All | Side::History => &self.0,
            Side::A => &self.0[..1],
            Side::B => &self.0[1..],
        }
    }

    /// Returns the files of a table.
    fn files(&self, side: Side, view: View) -> impl Iterator<Item = (&Set, &SealedFile)> {
        self.of(side).iter().flat_map(move |set| set.files(view).map(move |file| (set, file)))
    }

    /// Returns the rows of a table, in order, and their number. Each file is a sorted table of its own, so that merging
    /// them keeps the order. `is_by_number`: entries are in the order of their numbers, if that is known.
    fn table(
        &self,
        session: &SessionContext,
        side: Side,
        view: View,
        is_by_number: bool,
    ) -> Result<(DataFrame, u64)> {
        let files: Vec<_> = self.files(side, view).collect();
        let opened = files.iter().map(|(set, file)| SetFile::open(set, file, is_by_number));
        let opened = opened.collect::<Result<Vec<_>>>()?;
        let other_failed = match side {
            Side::A => Some(self.failed_of(Side::B)?),
            Side::B => Some(self.failed_of(Side::A)?),
            Side::All | Side::History => None,
        };
        let mut extra: Vec<&str> = Vec::new();
        for name in opened.iter().flat_map(SetFile::extra) {
            if matches!(view, View::Entries | View::Versions) && !extra.contains(&name) {
                extra.push(name);
            }
        }
        let mut all: Option<DataFrame> = None;
        for (file, (set, _)) in opened.iter().zip(&files) {
            let unknown = match &other_failed {
                Some(other) => set.unknown(other)?,
                None => Vec::new(),
            };
            let one = file.rows(session, view, &extra, unknown)?;
            all = Some(match all {
                Some(all) => all.union(one)?,
                None => one,
            });
        }
        let rows = files.iter().map(|(_, file)| file.rows).sum();
        Ok((all.context("a set has files of both tables")?, rows))
    }
}

impl Set {
    /// Returns the files that the rows of a table are made from.
    fn files(&self, view: View) -> impl Iterator<Item = &SealedFile> {
        let table =
            if view == View::Digests && self.seal.version > 1 { Table::Digests } else { Table::Entries };
        self.seal.files.iter().filter(move |file| file.table() == Some(table))
    }

    /// Returns the columns that tell which rows are unknown: because the run that recorded the set could not read them,
    /// or the one that recorded the other side.
    fn unknown(&self, other: &Failed) -> Result<Vec<Expr>> {
        let covered = |failed: Failed| match failed.is_empty() {
            true => lit(false),
            false => functions::covered_by(failed).call(vec![col("path"), col("path_b64")]),
        };
        let mut own = lit(false);
        for source in self.seal.sources.iter().filter(|source| !source.failed_paths().is_empty()) {
            own = when(col("source").eq(lit(&*source.source)), covered(source.failed()?)).otherwise(own)?;
        }
        Ok(vec![own.alias("failed"), covered(other.clone()).alias("other_failed")])
    }
}

/// Checks files, several at once.
fn check(mut files: Vec<(&Set, &SealedFile)>, is_whole: bool, console: &Console) -> Result<()> {
    files.sort_by_key(|(set, file)| (&set.dir, &file.file));
    files.dedup_by_key(|(set, file)| (&set.dir, &file.file));
    let bytes = files.iter().map(|(_, file)| file.check_bytes(is_whole)).sum();
    let progress = Progress::new(console, "checking", bytes);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((set, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            file.check(&set.dir, is_whole, &|n| progress.add(n))?;
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a check does not panic")).collect()
    });
    progress.finish();
    results.into_iter().collect()
}

/// A file of a set whose columns are known.
struct SetFile {
    path: PathBuf,
    table: Table,
    version: u32,
    /// The columns that the rows are sorted by. Entries have two orders, but the engine forgets when it merges files by
    /// one of them that the other does not hold any more.
    order: Vec<&'static str>,
    schema: Schema,
}

impl SetFile {
    /// Reads the columns of a file.
    ///
    /// # Errors
    /// If it is not Parquet, lacks a column that every set of its version has, or has it with another type.
    fn open(set: &Set, file: &SealedFile, is_by_number: bool) -> Result<Self> {
        let path = set.dir.join(&file.file);
        let read = || -> Result<Schema> {
            let file = SerializedFileReader::new(std::fs::File::open(&path)?)?;
            let metadata = file.metadata().file_metadata();
            Ok(parquet_to_arrow_schema(metadata.schema_descr(), metadata.key_value_metadata())?)
        };
        let schema = read().with_context(|| format!("cannot use {}", path.display()))?;
        let version = set.seal.version;
        let table = file.table().context("a file of a set belongs to a table")?;
        let order = match (version, table) {
            (1, _) => vec!["path", "path_b64"],
            (_, Table::Entries) if is_by_number && set.seal.sources.len() == 1 => vec!["source", "row_id"],
            _ => table.order().to_vec(),
        };
        let opened = Self { path, table, version, order, schema };
        let main = set.seal.algorithm;
        let expected = table.schema(main, &[]);
        for field in
            expected.fields().iter().filter(|field| version > 1 || !SINCE_2.contains(&&**field.name()))
        {
            opened.check(field)?;
        }
        Ok(opened)
    }

    /// Checks that the file has a column.
    fn check(&self, expected: &Field) -> Result<()> {
        let (path, name) = (self.path.display(), expected.name());
        if self.version == 1 && name == CTIME_AFTER {
            return Ok(());
        }
        let found = self.schema.field_with_name(name);
        let found = found.ok().with_context(|| format!("{path} has no column `{name}`"))?.data_type();
        let is_text = self.version == 1 && matches!(expected.data_type(), DataType::FixedSizeBinary(_));
        let is_same = found == expected.data_type() || is_text && *found == DataType::Utf8;
        ensure!(is_same, "{path}: the column `{name}` has the type {found}");
        Ok(())
    }

    /// Returns the names of the columns that only some sets have.
    fn extra(&self) -> impl Iterator<Item = &str> {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        names.filter(|name| *name != CTIME_AFTER && ENTRIES.iter().all(|(known, ..)| known != name))
    }

    /// Returns the rows as those of a table.
    /// Those of entries and contents get more columns, `unknown`.
    fn rows(
        &self,
        session: &SessionContext,
        view: View,
        extra: &[&str],
        unknown: Vec<Expr>,
    ) -> Result<DataFrame> {
        let rows = self.read(session)?;
        if self.table == Table::Digests {
            return Ok(rows.select(DIGESTS.map(|name| self.column(name)))?);
        }
        let names: Vec<&str> = match view {
            View::Contents => CONTENTS.to_vec(),
            View::Digests => DIGESTS.to_vec(),
            _ => ENTRIES.iter().map(|(name, ..)| *name).chain(extra.iter().copied()).collect(),
        };
        let has_versions = self.schema.field_with_name("version").is_ok();
        let rows = match view {
            View::Versions if has_versions => rows.filter(col("version").is_not_null())?,
            View::Versions => rows.filter(lit(false))?,
            _ if has_versions => rows.filter(col("version").is_null().or(col("version").eq(lit(CURRENT))))?,
            _ => rows,
        };
        let has_all = matches!(view, View::Entries | View::Versions);
        let rows = if has_all { rows } else { rows.filter(col("digest").is_not_null())? };
        let unknown = if view == View::Digests { Vec::new() } else { unknown };
        let columns = names.into_iter().map(|name| self.column(name)).chain(unknown);
        Ok(rows.select(columns.collect::<Vec<_>>())?)
    }

    /// Returns a column of a table, computed from those of the file.
    fn column(&self, name: &str) -> Expr {
        let stored = col(name);
        if name == "row_id" && self.version == 1 {
            // Those of other files must differ.
            let first = i64::from(self.path.ends_with("entries-0.parquet")) * FIRST_IN_BASE64;
            return (cast(col(NUMBER), DataType::Int64) + lit(first)).alias(name);
        }
        if name == "ancestor" && self.version == 1 {
            let of_b64 = functions::of_text("ancestor_of", functions::ancestor_of_b64);
            let is_text = col("parent_b64").eq(lit(""));
            return when(is_text, col("parent"))
                .otherwise(of_b64.call(vec![col("parent_b64")]))
                .expect("both are text")
                .alias(name);
        }
        let Ok(field) = self.schema.field_with_name(name) else {
            return lit(ScalarValue::Utf8View(None)).alias(name);
        };
        let of_path = |of, function| functions::of_text(of, function).call(vec![col("path")]);
        let value = match name {
            _ if self.version == 1 => return stored,
            "parent" => coalesce(vec![stored, of_path("dirname", functions::dirname)]),
            "ancestor" => coalesce(vec![stored, self.column("parent").unalias()]),
            "name" => coalesce(vec![stored, of_path("basename", functions::basename)]),
            "parent_b64" | "name_b64" => coalesce(vec![stored, lit(ScalarValue::from(""))]),
            "ctime_ns" => coalesce(vec![stored, col("mtime_ns") + col(CTIME_AFTER)]),
            _ if matches!(field.data_type(), DataType::FixedSizeBinary(_)) => {
                functions::hex().call(vec![stored])
            }
            _ => return stored,
        };
        value.alias(name)
    }

    /// Returns the rows of the file as a sorted table.
    fn read(&self, session: &SessionContext) -> Result<DataFrame> {
        // The engine refuses `..` in a path.
        let path = self.path.canonicalize().with_context(|| format!("cannot use {}", self.path.display()))?;
        let url = url::Url::from_file_path(&path).ok().filter(|_| path.to_str().is_some());
        let url =
            url.with_context(|| format!("cannot use {}: the path of a set must be UTF-8", path.display()))?;
        let fields = self.schema.fields().iter().map(|field| match field.data_type() {
            // Text without copies.
            DataType::Utf8 => field.as_ref().clone().with_data_type(DataType::Utf8View),
            _ => field.as_ref().clone(),
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let order: Vec<SortExpr> = self.order.iter().map(|column| col(*column).sort(true, false)).collect();
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_file_sort_order(vec![order.clone()]);
        let config = ListingTableConfig::new(ListingTableUrl::try_new(url, None)?);
        let config = config.with_listing_options(options).with_schema(Arc::new(schema));
        let rows = session.read_table(Arc::new(ListingTable::try_new(config)?))?;
        if self.version > 1 {
            return Ok(rows);
        }
        let order = order.into_iter().chain([col("source").sort(true, false)]);
        Ok(rows.window(vec![row_number().order_by(order.collect()).build()?.alias(NUMBER)])?)
    }
}

/// The numbers that the rows of a file of version 1 get, in their order.
const NUMBER: &str = "row_number";

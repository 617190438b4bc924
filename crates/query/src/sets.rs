//! Sets as tables: their seals are checked, and their files become sorted tables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::prelude::SessionContext;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::console::Console;
use crate::progress::Progress;
use crate::schema::Table;
use crate::seal::{SealedFile, SetSeal};

/// The sets of a question.
pub(crate) struct Sets(Vec<Set>);

/// A directory with a seal.
pub(crate) struct Set {
    dir: PathBuf,
    pub(crate) seal: SetSeal,
}

/// Which sets a table of a question has: all, the first or the second of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    All,
    A,
    B,
}

/// A table that a question uses.
type Used = (Side, Table);

const TABLES: [(&str, Used); 6] = [
    ("entries", (Side::All, Table::Entries)),
    ("contents", (Side::All, Table::Contents)),
    ("a_entries", (Side::A, Table::Entries)),
    ("a_contents", (Side::A, Table::Contents)),
    ("b_entries", (Side::B, Table::Entries)),
    ("b_contents", (Side::B, Table::Contents)),
];

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

    /// Checks that everything could be read when the trees were recorded.
    ///
    /// # Errors
    /// If something could not. It would look removed, or as if it had no copy.
    pub(crate) fn need_all(&self) -> Result<()> {
        let failed = |set: &Set| set.seal.sources.iter().filter_map(|source| source.failed).sum::<u64>();
        match self.0.iter().find(|set| failed(set) > 0) {
            Some(set) => bail!(
                "{} lacks what is at {} paths that could not be read, so the answer is unknown: `ftk manifest diff` and \
                 `unique` say what is",
                set.dir.display(),
                failed(set)
            ),
            None => Ok(()),
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
        let mut used = BTreeSet::new();
        for name in names {
            let known = TABLES.iter().find(|(known, _)| known == name);
            used.extend(known.map(|(name, of)| (*of, *name)));
        }
        let sides: BTreeSet<Side> = used.iter().map(|((side, _), _)| *side).collect();
        if sides.contains(&Side::A) || sides.contains(&Side::B) {
            let n = self.0.len();
            ensure!(n == 2, "the tables `a_...` and `b_...` need two sets, not {n}");
        }
        if sides.contains(&Side::All) {
            self.need_distinct_sources()?;
        }
        self.check(&used.iter().map(|(used, _)| *used).collect::<Vec<_>>(), console)?;
        let mut rows = 0;
        for ((side, table), name) in used {
            let (tables, of_table) = self.tables(session, side, table)?;
            rows += of_table;
            session.register_table(name, tables.into_view())?;
        }
        Ok(rows)
    }

    /// A tree that is in two sets would be a duplicate of itself.
    fn need_distinct_sources(&self) -> Result<()> {
        let mut seen: Vec<(&str, &Path)> = Vec::new();
        for set in &self.0 {
            for source in &set.seal.sources {
                if let Some((name, other)) = seen.iter().find(|(name, _)| *name == source.source) {
                    bail!(
                        "{} and {} both hold {name:?}: give each set of another tree its own --source",
                        other.display(),
                        set.dir.display()
                    );
                }
                seen.push((&source.source, &set.dir));
            }
        }
        Ok(())
    }

    fn of(&self, side: Side) -> &[Set] {
        match side {
            Side::All => &self.0,
            Side::A => &self.0[..1],
            Side::B => &self.0[1..2],
        }
    }

    /// Returns the files of a table.
    fn files(&self, (side, table): Used) -> impl Iterator<Item = (&Set, &SealedFile)> {
        let files = self.of(side).iter().flat_map(|set| set.seal.files.iter().map(move |file| (set, file)));
        files.filter(move |(_, file)| file.table() == Some(table))
    }

    /// Checks the files of these tables, several at once.
    fn check(&self, used: &[Used], console: &Console) -> Result<()> {
        let mut files: Vec<_> = used.iter().flat_map(|used| self.files(*used)).collect();
        files.sort_by_key(|(set, file)| (&set.dir, &file.file));
        files.dedup_by_key(|(set, file)| (&set.dir, &file.file));
        let bytes = files.iter().map(|(_, file)| file.size_bytes).sum();
        let progress = Progress::new(console, "checking", bytes);
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((set, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                file.check(&set.dir, &|n| progress.add(n))?;
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

    /// Returns the rows of a table, in order. Each file is a sorted table of its own, so that merging them keeps the
    /// order.
    fn tables(&self, session: &SessionContext, side: Side, table: Table) -> Result<(DataFrame, u64)> {
        let files: Vec<_> = self.files((side, table)).collect();
        let paths: Vec<_> = files.iter().map(|(set, file)| set.dir.join(&file.file)).collect();
        let schema = common_schema(&paths, table)?;
        let mut all: Option<DataFrame> = None;
        let mut rows = 0;
        for (path, (_, file)) in paths.iter().zip(&files) {
            rows += file.rows;
            let one = read(session, path, table, schema.clone())?;
            all = Some(match all {
                Some(all) => all.union(one)?,
                None => one,
            });
        }
        Ok((all.context("a set has files of both tables")?, rows))
    }
}

/// Reads one file as a sorted table.
fn read(session: &SessionContext, path: &Path, table: Table, schema: SchemaRef) -> Result<DataFrame> {
    let path = std::path::absolute(path)?;
    let url = url::Url::from_file_path(&path).ok().filter(|_| path.to_str().is_some());
    let url =
        url.with_context(|| format!("cannot use {}: the path of a set must be UTF-8", path.display()))?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_file_sort_order(vec![table.sort_exprs()]);
    let config = ListingTableConfig::new(ListingTableUrl::try_new(url, None)?);
    let config = config.with_listing_options(options).with_schema(schema);
    Ok(session.read_table(Arc::new(ListingTable::try_new(config)?))?)
}

/// Returns the columns of all files. A column that a file lacks is null there.
///
/// # Errors
/// If a file is not Parquet, lacks a column that every set has, or has it with another type.
fn common_schema(paths: &[PathBuf], table: Table) -> Result<SchemaRef> {
    let mut fields: Vec<Field> = Vec::new();
    for (name, of, is_nullable) in table.columns() {
        fields.push(Field::new(*name, viewed(of), *is_nullable));
    }
    for path in paths {
        let of_file = || -> Result<Schema> {
            let file = SerializedFileReader::new(std::fs::File::open(path)?)?;
            let metadata = file.metadata().file_metadata();
            Ok(parquet_to_arrow_schema(metadata.schema_descr(), metadata.key_value_metadata())?)
        };
        let of_file = of_file().with_context(|| format!("cannot use {}", path.display()))?;
        for (name, of, _) in table.columns() {
            let found = of_file.field_with_name(name);
            let found = found.ok().with_context(|| format!("{} has no column `{name}`", path.display()))?;
            let is_same = viewed(found.data_type()) == viewed(of);
            ensure!(is_same, "{}: the column `{name}` has the type {}", path.display(), found.data_type());
        }
        for field in of_file.fields() {
            if fields.iter().all(|known| known.name() != field.name()) {
                fields.push(Field::new(field.name(), viewed(field.data_type()), true));
            }
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Returns the type in which the engine reads a column: text without copies.
fn viewed(of: &DataType) -> DataType {
    if *of == DataType::Utf8 { DataType::Utf8View } else { of.clone() }
}

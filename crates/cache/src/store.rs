//! The SQLite database that holds the blocks.
//!
//! Each file system has a table. Its key is the number of a [block](crate::block), which SQLite then uses as its own
//! row number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::time::Duration;

use ftk_file::FsId;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::batch::Place;
use crate::block::{Builder, Rows, key, number};
use crate::place::prepare;
use crate::row::Row;
use crate::{Batch, Contents, Unusable};

/// The version of the tables. A store of another version is not used.
const VERSION: i32 = 2;

/// Marks the file as a store of ftk: `ftkc` in ASCII.
const APPLICATION: i32 = 0x6674_6b63;

/// Bytes of a page of a new store. Three full blocks of SHA-256 digests fit into one.
const PAGE: i32 = 8 << 10;

/// A commit syncs the journal, then the database. After a power cut, two things may happen: the last commit is lost, or
/// SQLite uses a journal that is only partly on the disk and damages the store. Neither makes a digest wrong, because
/// blocks have checksums. `FULL` prevents both, but each commit needs two more syncs.
const SYNCHRONOUS: &str = "NORMAL";

/// KiB of pages that a commit keeps in memory. If it needs more, it syncs the journal several times.
const COMMIT_KIB: i32 = 8 << 10;

/// How long a command waits for other processes that use the store, and a run at its end. Others commit every few
/// seconds, or look up a million files in a second or two.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

/// How long look-ups wait for a commit of another process. The run does nothing else meanwhile.
pub(crate) const LOOK_UP_WAIT: Duration = Duration::from_secs(5);

/// The size that the store is trimmed to, in bytes, unless another one was set.
const MAX_SIZE: u64 = 4 << 30;

/// The number of days after which a row is removed if no run has used it.
const MAX_AGE: u32 = 180;

/// Days between two searches for old rows, each of which reads the whole store.
const TRIM_EVERY: u32 = 7;

/// The setting with the day of the last such search.
const TRIMMED: &str = "trimmed";

/// The setting with the size that the store is trimmed to.
const LIMIT: &str = "max-size";

/// Counts the tables.
const TABLES: &str = "SELECT count(*) FROM sqlite_schema";

/// The store, as one thread uses it.
#[derive(Debug)]
pub(crate) struct Store {
    db: Connection,
    /// Whether the tables exist. Those of a new store are made together with its first rows.
    has_tables: bool,
    tables: HashMap<FsId, Table>,
}

/// The table of one file system, with the texts of its statements.
#[derive(Debug)]
struct Table {
    name: String,
    find: String,
    put: String,
    delete: String,
}

impl Table {
    fn new(number: u32) -> Self {
        let name = format!("blocks{number}");
        Self {
            find: format!("SELECT rows FROM {name} WHERE number = ?1"),
            put: format!("INSERT OR REPLACE INTO {name} (number, day, files, rows) VALUES (?1, ?2, ?3, ?4)"),
            delete: format!("DELETE FROM {name} WHERE number = ?1"),
            name,
        }
    }

    fn create(&self, db: &Connection) -> rusqlite::Result<()> {
        db.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {} (number INTEGER PRIMARY KEY, day INTEGER NOT NULL,
                 files INTEGER NOT NULL, rows BLOB NOT NULL) STRICT",
            self.name
        ))
    }

    /// Calls `read` with the rows of a block: none, if there is no such block or it is not intact.
    fn read<T>(
        &self,
        db: &Connection,
        fs: FsId,
        block: u64,
        read: impl FnOnce(Rows<'_>) -> T,
    ) -> rusqlite::Result<T> {
        let mut find = db.prepare_cached(&self.find)?;
        let mut found = find.query([block as i64])?;
        let rows = match found.next()? {
            Some(row) => Rows::new(&key(fs, block), block, row.get_ref(0)?.as_blob()?),
            None => None,
        };
        Ok(read(rows.unwrap_or(Rows::NONE)))
    }

    /// Replaces a block by rows in ascending order.
    fn write<'r>(
        &self,
        db: &Connection,
        fs: FsId,
        block: u64,
        rows: impl Iterator<Item = (u64, &'r [u8])>,
        bytes: &mut Vec<u8>,
    ) -> rusqlite::Result<()> {
        let mut builder = Builder::new(bytes);
        rows.for_each(|(ino, row)| builder.add(ino, row));
        let (day, files) = (builder.day, builder.files);
        if files == 0 {
            db.prepare_cached(&self.delete)?.execute([block as i64])?;
        } else {
            builder.finish(&key(fs, block));
            db.prepare_cached(&self.put)?.execute(params![block as i64, day, files, &*bytes])?;
        }
        Ok(())
    }
}

impl Store {
    /// Opens the store, and creates its file if it does not exist. `wait`: how long every access waits for others that
    /// use it.
    pub(crate) fn open(path: &Path, wait: Duration) -> Result<Self, Unusable> {
        let mut store = Self { db: connect(path, wait)?, has_tables: false, tables: HashMap::new() };
        store.freeze()?;
        store.db.execute_batch("COMMIT")?;
        Ok(store)
    }

    /// Sets how long every access waits for others that use the store.
    pub(crate) fn set_wait(&self, wait: Duration) -> Result<(), Unusable> {
        Ok(self.db.busy_timeout(wait)?)
    }

    /// Until this is dropped, keeps other threads and processes from writing. The look-ups then need no locks of their
    /// own, and all see one state of the store.
    pub(crate) fn freeze(&mut self) -> Result<(), Unusable> {
        self.db.execute_batch("BEGIN")?;
        // Another process may have cleared the store since it was opened.
        self.has_tables = has_tables(&self.db)?;
        self.tables = load_tables(&self.db)?;
        Ok(())
    }

    /// Empties a store of any version. Returns whether there was anything in it.
    ///
    /// The file stays in place: a process that has opened it would go on with a removed file, and take the journal of a
    /// new store for its own. It is not truncated without SQLite either: SQLite counts the changes of a file in the
    /// file, and a process that finds the count it remembers relies on the pages that it has in memory.
    pub(crate) fn clear(path: &Path) -> Result<bool, Unusable> {
        let mut db = connect(path, WAIT)?;
        // The tables are not dropped, because that reads every page, and fails if one is damaged.
        db.pragma_update(None, "writable_schema", "ON")?;
        let transaction = db.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        // From here on, all locks are kept until `db` is dropped. Earlier, that would keep the lock of a read too: this and
        // a commit of another process would wait for each other.
        transaction.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        let tables = value(&transaction, TABLES)?;
        if tables == 0 && value(&transaction, "PRAGMA page_count")? <= 1 {
            return Ok(false);
        }
        transaction.execute("DELETE FROM sqlite_schema", [])?;
        // Tells other connections that the tables they know are gone.
        let schema = value(&transaction, "PRAGMA schema_version")?;
        transaction.pragma_update(None, "schema_version", (schema as i32).wrapping_add(1))?;
        transaction.commit()?;
        db.pragma_update(None, "writable_schema", "RESET")?;
        db.pragma_update(None, "page_size", PAGE)?;
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        db.execute_batch("VACUUM")?;
        Ok(true)
    }

    /// Whether there may be rows of files on this file system.
    pub(crate) fn knows(&self, fs: FsId) -> bool {
        self.tables.contains_key(&fs)
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Calls `read` with the rows of a block: none, if there is no such block or it is not intact.
    pub(crate) fn read<T>(
        &self,
        fs: FsId,
        block: u64,
        read: impl FnOnce(Rows<'_>) -> T,
    ) -> Result<T, Unusable> {
        Ok(match self.tables.get(&fs) {
            Some(table) => table.read(&self.db, fs, block, read)?,
            None => read(Rows::NONE),
        })
    }

    /// Stores rows in one transaction, merged with what is already known about the same versions of the files.
    pub(crate) fn commit(&mut self, batches: &[Batch]) -> Result<(), Unusable> {
        // By file system, then inode number. A file may have been read under several names: the sort is stable, and
        // the last row wins.
        let mut files: Vec<(&Batch, &Place)> =
            batches.iter().flat_map(|batch| batch.files.iter().map(move |place| (batch, place))).collect();
        files.sort_by_key(|(_, place)| (place.fs, place.ino));
        let first_day = || {
            let day = |row| Row::decode(row).map(|row| row.head.day);
            files.iter().filter_map(|(batch, place)| day(batch.row(place))).min().unwrap_or(0)
        };

        self.db.pragma_update(None, "cache_size", -COMMIT_KIB)?;
        let transaction = begin(&mut self.db, first_day)?;
        let mut tables = load_tables(&transaction)?;
        let mut bytes = Vec::new();
        for files in files.chunk_by(|(_, a), (_, b)| a.fs == b.fs) {
            let fs = files[0].1.fs;
            let table = match tables.entry(fs) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(add_table(&transaction, fs)?),
            };
            for files in files.chunk_by(|(_, a), (_, b)| number(a.ino) == number(b.ino)) {
                let block = number(files[0].1.ino);
                let new = files.iter().map(|&(batch, place)| (place.ino, batch.row(place)));
                let rows = table.read(&transaction, fs, block, |earlier| merge(earlier, new))?;
                let rows = rows.iter().map(|(ino, row)| (*ino, &**row));
                table.write(&transaction, fs, block, rows, &mut bytes)?;
            }
        }
        transaction.commit()?;
        (self.has_tables, self.tables) = (true, tables);
        Ok(())
    }

    /// Removes the rows of these files. Returns how many there were.
    pub(crate) fn forget(&mut self, files: impl Iterator<Item = (FsId, u64)>) -> Result<u64, Unusable> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.tables = load_tables(&transaction)?;
        let mut files: Vec<_> = files.filter(|(fs, _)| self.tables.contains_key(fs)).collect();
        files.sort_unstable();
        let (mut forgotten, mut bytes) = (0, Vec::new());
        for files in files.chunk_by(|a, b| (a.0, number(a.1)) == (b.0, number(b.1))) {
            let (fs, block) = (files[0].0, number(files[0].1));
            let table = &self.tables[&fs];
            let rows: Vec<_> = table.read(&transaction, fs, block, own)?;
            let is_kept = |ino| files.binary_search(&(fs, ino)).is_err();
            let kept = rows.iter().filter(|(ino, _)| is_kept(*ino));
            let removed = rows.len() - kept.clone().count();
            if removed > 0 {
                forgotten += removed as u64;
                let kept = kept.map(|(ino, row)| (*ino, &**row));
                table.write(&transaction, fs, block, kept, &mut bytes)?;
            }
        }
        transaction.commit()?;
        if forgotten > 0 {
            self.vacuum()?;
        }
        Ok(forgotten)
    }

    /// Removes rows that were not used for a long time and, if the store is larger than its limit, those that
    /// were not used for the longest time. Does nothing if this was done a few days ago and the store is
    /// not too large.
    pub(crate) fn trim(&mut self, today: u32) -> Result<(), Unusable> {
        if !self.has_tables {
            return Ok(());
        }
        let transaction = self.db.unchecked_transaction()?;
        let limit = max_size(&transaction)?;
        let trimmed = setting(&transaction, TRIMMED)?.unwrap_or(0) as u32;
        drop(transaction);
        if today.saturating_sub(trimmed) >= TRIM_EVERY {
            let transaction = begin(&mut self.db, || today)?;
            set(&transaction, TRIMMED, today.into())?;
            transaction.commit()?;
            self.remove_before(today.saturating_sub(MAX_AGE), None)?;
        }
        while self.size()? > limit {
            let Some(oldest) = self.oldest_day()? else { break };
            self.remove_before(oldest + 1, Some(limit))?;
        }
        Ok(())
    }

    /// Removes rows that were not used since before this day: all, or with a limit only about as many as the store is
    /// too large.
    fn remove_before(&mut self, day: u32, limit: Option<u64>) -> Result<(), Unusable> {
        let size = self.size()?;
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.tables = load_tables(&transaction)?;
        let (mut removed, mut bytes) = (0, Vec::new());
        for (&fs, table) in &self.tables {
            let name = &table.name;
            let blocks = value(&transaction, &format!("SELECT count(*) FROM {name}"))?;
            let some = limit.map_or(blocks, |limit| {
                (u128::from(blocks) * u128::from(size.saturating_sub(limit)) / u128::from(size.max(1))) as u64
                    + 1
            });
            let mut old = transaction
                .prepare(&format!("SELECT number FROM {name} WHERE day < ?1 ORDER BY number LIMIT ?2"))?;
            let numbers = old.query_map(params![day, some as i64], |row| row.get::<_, i64>(0))?;
            let numbers: Vec<_> = numbers.collect::<Result<_, _>>()?;
            for block in numbers.into_iter().map(|number| number as u64) {
                // A block that is not intact has no rows, and is removed.
                let rows: Vec<_> = table.read(&transaction, fs, block, own)?;
                let is_kept = |row: &[u8]| Row::decode(row).is_some_and(|row| row.head.day >= day);
                let kept = rows.iter().map(|(ino, row)| (*ino, &**row)).filter(|(_, row)| is_kept(row));
                table.write(&transaction, fs, block, kept, &mut bytes)?;
                removed += 1;
            }
        }
        transaction.commit()?;
        if removed > 0 {
            self.vacuum()?;
        }
        Ok(())
    }

    /// Returns free pages to the file system.
    fn vacuum(&self) -> Result<(), Unusable> {
        let mut free = self.db.prepare("PRAGMA incremental_vacuum")?;
        let mut pages = free.query([])?;
        while pages.next()?.is_some() {}
        Ok(())
    }

    fn oldest_day(&self) -> Result<Option<u32>, Unusable> {
        // One state of the store: another process may clear it.
        let transaction = self.db.unchecked_transaction()?;
        let oldest = |Table { name, .. }: &Table| {
            transaction.query_row(&format!("SELECT min(day) FROM {name}"), [], |row| row.get(0))
        };
        let days: Vec<Option<u32>> =
            load_tables(&transaction)?.values().map(oldest).collect::<Result<_, _>>()?;
        Ok(days.into_iter().flatten().min())
    }

    /// Returns the number of rows and file systems, and the size in bytes.
    pub(crate) fn contents(mut self) -> Result<Contents, Unusable> {
        self.freeze()?;
        let count =
            |table: &Table| value(&self.db, &format!("SELECT coalesce(sum(files), 0) FROM {}", table.name));
        let rows = self.tables.values().map(count).sum::<Result<u64, _>>()?;
        let file_systems = self.tables.len() as u64;
        let max_bytes = max_size(&self.db)?;
        Ok(Contents { rows, file_systems, bytes: self.size()?, max_bytes })
    }

    /// Returns the size of the store in bytes.
    fn size(&self) -> Result<u64, Unusable> {
        Ok(value(&self.db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?)
    }

    /// Sets the size to which the store is trimmed from now on, in bytes.
    pub(crate) fn set_max_size(&mut self, bytes: u64, today: u32) -> Result<(), Unusable> {
        let transaction = begin(&mut self.db, || today)?;
        set(&transaction, LIMIT, bytes)?;
        transaction.commit()?;
        self.has_tables = true;
        Ok(())
    }
}

/// Opens the database, and creates its file if it does not exist. Every access waits this long for others that use it.
fn connect(path: &Path, wait: Duration) -> Result<Connection, Unusable> {
    let path = prepare(path)?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(wait)?;
    // Not `WAL`, which maps a file that others can truncate: the process would be killed by a signal.
    db.pragma_update(None, "journal_mode", "TRUNCATE")?;
    db.pragma_update(None, "synchronous", SYNCHRONOUS)?;
    // Damaged pages are errors instead of wrong rows.
    db.pragma_update(None, "cell_size_check", "ON")?;
    Ok(db)
}

/// Copies the rows of a block.
fn own(rows: Rows<'_>) -> Vec<(u64, Vec<u8>)> {
    rows.map(|(ino, row)| (ino, row.to_vec())).collect()
}

/// Merges the earlier rows of a block with new ones. Both are in ascending order; a file may have several new rows, the
/// last of which is the newest.
fn merge<'n>(earlier: Rows<'_>, new: impl Iterator<Item = (u64, &'n [u8])>) -> Vec<(u64, Cow<'n, [u8]>)> {
    let mut rows: Vec<(u64, Cow<'n, [u8]>)> = earlier.map(|(ino, row)| (ino, row.to_vec().into())).collect();
    for (ino, new) in new {
        match rows.binary_search_by_key(&ino, |(ino, _)| *ino) {
            Err(at) => rows.insert(at, (ino, new.into())),
            Ok(at) => {
                let row = &mut rows[at].1;
                if let (Some(newer), Some(earlier)) = (Row::decode(new), Row::decode(row)) {
                    let mut both = Vec::new();
                    newer.merge(&earlier, &mut both);
                    *row = both.into();
                }
            }
        }
    }
    rows
}

/// Returns whether the tables of a store exist. Must be called in a transaction: another process may clear the store.
fn has_tables(db: &Connection) -> Result<bool, Unusable> {
    if value(db, TABLES)? == 0 {
        return Ok(false);
    }
    let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if pragma("application_id")? != APPLICATION || pragma("user_version")? != VERSION {
        return Err(Unusable::OtherVersion);
    }
    Ok(true)
}

/// Begins to write. If the store is new or was cleared, creates the tables that every store has. In a new store no row
/// was used before `first_day`.
fn begin(db: &mut Connection, first_day: impl FnOnce() -> u32) -> Result<Transaction<'_>, Unusable> {
    let pages = value(db, "PRAGMA page_count")?;
    if pages == 0 {
        // Both have an effect only before the first table is made. The second is a commit of its own, which need not be
        // synced: the next one follows at once.
        db.pragma_update(None, "page_size", PAGE)?;
        db.pragma_update(None, "synchronous", "OFF")?;
        let incremental = db.pragma_update(None, "auto_vacuum", "INCREMENTAL");
        db.pragma_update(None, "synchronous", SYNCHRONOUS)?;
        incremental?;
    } else if pages > 1 && value(db, TABLES)? == 0 {
        // A process was killed while it cleared the store. Nothing refers to these pages, so they would stay.
        db.execute_batch("VACUUM")?;
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !has_tables(&transaction)? {
        transaction.execute_batch(
            "CREATE TABLE file_systems (id BLOB PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
             CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
        )?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        set(&transaction, TRIMMED, first_day().into())?;
    }
    Ok(transaction)
}

/// Returns the size to which the store is trimmed, in bytes.
fn max_size(db: &Connection) -> Result<u64, Unusable> {
    Ok(setting(db, LIMIT)?.unwrap_or(MAX_SIZE))
}

/// Returns a setting, if it was set. Must be called in a transaction.
fn setting(db: &Connection, name: &str) -> Result<Option<u64>, Unusable> {
    if !has_tables(db)? {
        return Ok(None);
    }
    let get = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let found = db.query_row("SELECT value FROM settings WHERE name = ?1", [name], get).optional()?;
    Ok(found.map(|value| value as u64))
}

/// Returns the tables of all file systems. Must be called in a transaction.
fn load_tables(db: &Connection) -> Result<HashMap<FsId, Table>, Unusable> {
    if !has_tables(db)? {
        return Ok(HashMap::new());
    }
    let mut query = db.prepare_cached("SELECT id, number FROM file_systems")?;
    let rows = query.query_map([], |row| Ok((FsId::from_bytes(row.get(0)?), Table::new(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Creates the table of a file system, unless another process has done so.
fn add_table(db: &Connection, fs: FsId) -> rusqlite::Result<Table> {
    let id = fs.as_bytes();
    db.execute(
        "INSERT OR IGNORE INTO file_systems (id, number)
             SELECT ?1, coalesce(max(number), 0) + 1 FROM file_systems",
        [id],
    )?;
    let number = db.query_row("SELECT number FROM file_systems WHERE id = ?1", [id], |row| row.get(0))?;
    let table = Table::new(number);
    table.create(db)?;
    Ok(table)
}

fn set(db: &Connection, name: &str, value: u64) -> rusqlite::Result<()> {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    db.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)", params![name, value])?;
    Ok(())
}

fn value(db: &Connection, query: &str) -> rusqlite::Result<u64> {
    Ok(db.query_row(query, [], |row| row.get::<_, i64>(0))? as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    /// Another process makes and removes the tables again and again.
    #[test]
    fn a_store_is_opened_before_or_after_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("digests");
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut db = connect(&path, WAIT).unwrap();
                while !is_done.load(Ordering::Relaxed) {
                    begin(&mut db, || 0).unwrap().commit().unwrap();
                    db.pragma_update(None, "synchronous", "OFF").unwrap();
                    db.execute_batch("BEGIN IMMEDIATE; DROP TABLE file_systems; DROP TABLE settings; COMMIT")
                        .unwrap();
                }
            });
            let opened: Vec<_> =
                (0..2000).map(|_| Store::open(&path, WAIT).and_then(Store::contents)).collect();
            is_done.store(true, Ordering::Relaxed);
            opened.into_iter().for_each(|contents| assert_eq!(contents.unwrap().rows, 0));
        });
    }

    #[test]
    fn a_store_that_was_half_cleared_is_made_small() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("digests");
        let mut store = Store::open(&path, WAIT).unwrap();
        store.set_max_size(1 << 30, 0).unwrap();
        assert!(store.size().unwrap() > 2 * PAGE as u64);
        let half = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema; PRAGMA writable_schema = RESET";
        store.db.execute_batch(half).unwrap();
        let begun = begin(&mut store.db, || 0).unwrap();
        assert_eq!(setting(&begun, LIMIT).unwrap(), None);
        begun.rollback().unwrap();
        assert_eq!(store.size().unwrap(), PAGE as u64);
    }

    #[test]
    fn commits_are_synced_after_another_process_was_in_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("digests");
        let mut db = connect(&path, Duration::ZERO).unwrap();
        let other = connect(&path, Duration::ZERO).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(begin(&mut db, || 0), Err(Unusable::Busy)));
        assert_eq!(value(&db, "PRAGMA synchronous").unwrap(), 1);
        other.execute_batch("ROLLBACK").unwrap();
        begin(&mut db, || 0).unwrap().commit().unwrap();
        let modes = "SELECT auto_vacuum + synchronous FROM pragma_auto_vacuum, pragma_synchronous";
        assert_eq!(value(&db, modes).unwrap(), 2 + 1);
    }
}

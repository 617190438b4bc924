//! The SQLite database that holds the rows.
//!
//! Each file system has a table. Its key is the inode number, which SQLite then uses as its own row number. A
//! row has the day of its last use and the bytes of a [`Row`].

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use ftk_file::FsId;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use crate::place::prepare;
use crate::row::{Row, key};
use crate::{Contents, Remembered, Unusable};

/// The version of the tables. A store of another version is not used.
const VERSION: i32 = 1;

/// Marks the file as a store of ftk: `ftkc` in ASCII.
const APPLICATION: i32 = 0x6674_6b63;

/// How long a write waits for other users of the store, and a look-up for a write. Others commit every few seconds, or
/// look up a million files in a second or two.
const BUSY: Duration = Duration::from_secs(30);

/// The size that the store is trimmed to, in bytes, unless another one was set.
const MAX_SIZE: u64 = 4 << 30;

/// The number of days after which a row is removed if no run has used it.
const MAX_AGE: u32 = 180;

/// Days between two searches for old rows, each of which reads the whole store.
const TRIM_EVERY: u32 = 7;

/// The store, as one thread uses it.
#[derive(Debug)]
pub(crate) struct Store {
    db: Connection,
    tables: HashMap<FsId, Table>,
}

/// The table of one file system, with the text of its most frequent statement.
#[derive(Debug)]
struct Table {
    name: String,
    find: String,
}

impl Table {
    fn new(number: u32) -> Self {
        let name = format!("rows{number}");
        Self { find: format!("SELECT row FROM {name} WHERE ino = ?1"), name }
    }

    /// Returns the row of a file, if there is one and it is intact.
    fn row(&self, db: &Connection, fs: FsId, ino: u64) -> rusqlite::Result<Option<Row>> {
        let decode = |row: &rusqlite::Row<'_>| Ok(Row::decode(&key(fs, ino), row.get_ref(0)?.as_blob()?));
        Ok(db.prepare_cached(&self.find)?.query_row([ino as i64], decode).optional()?.flatten())
    }
}

impl Store {
    /// Opens the store, and creates it if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, Unusable> {
        let path = prepare(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(BUSY)?;
        if value(&db, "SELECT count(*) FROM sqlite_schema")? == 0 {
            create(&mut db)?;
        }
        let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        if pragma("application_id")? != APPLICATION || pragma("user_version")? != VERSION {
            return Err(Unusable::OtherVersion);
        }
        // Not `WAL`, which maps a file that others can truncate: the process would be killed by a signal.
        db.pragma_update(None, "journal_mode", "TRUNCATE")?;
        // Each commit survives a power cut.
        db.pragma_update(None, "synchronous", "FULL")?;
        // Damaged pages are errors instead of wrong rows.
        db.pragma_update(None, "cell_size_check", "ON")?;
        let mut store = Self { db, tables: HashMap::new() };
        store.load_tables()?;
        Ok(store)
    }

    /// From the first look-up until this is dropped, keeps other threads and processes from writing. The look-ups then
    /// need no locks of their own.
    pub(crate) fn freeze(&self) -> Result<(), Unusable> {
        Ok(self.db.execute_batch("BEGIN")?)
    }

    fn load_tables(&mut self) -> Result<(), Unusable> {
        let mut query = self.db.prepare("SELECT id, number FROM file_systems")?;
        let rows = query.query_map([], |row| Ok((FsId::from_bytes(row.get(0)?), Table::new(row.get(1)?))))?;
        self.tables = rows.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Returns the row of a file, if there is one and it is intact.
    pub(crate) fn row(&self, fs: FsId, ino: u64) -> Result<Option<Row>, Unusable> {
        Ok(self.tables.get(&fs).map_or(Ok(None), |table| table.row(&self.db, fs, ino))?)
    }

    /// Stores rows in one transaction, merged with what is already known about the same versions of the files.
    pub(crate) fn commit(&mut self, rows: &[Remembered]) -> Result<(), Unusable> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for rows in rows.chunk_by(|a, b| a.fs == b.fs) {
            let fs = rows[0].fs;
            let id = fs.as_bytes();
            transaction.execute("INSERT OR IGNORE INTO file_systems (id) VALUES (?1)", [id])?;
            let number: u32 =
                transaction
                    .query_row("SELECT number FROM file_systems WHERE id = ?1", [id], |row| row.get(0))?;
            let table = Table::new(number);
            let name = &table.name;
            transaction.execute_batch(&format!(
                "CREATE TABLE IF NOT EXISTS {name}
                     (ino INTEGER PRIMARY KEY, day INTEGER NOT NULL, row BLOB NOT NULL) STRICT"
            ))?;
            let mut put = transaction.prepare_cached(&format!(
                "INSERT OR REPLACE INTO {name} (ino, day, row) VALUES (?1, ?2, ?3)"
            ))?;
            let mut bytes = Vec::new();
            for Remembered { ino, row, .. } in rows {
                let row = match table.row(&transaction, fs, *ino)? {
                    Some(earlier) => &row.clone().merged(earlier),
                    None => row,
                };
                bytes.clear();
                row.encode(&key(fs, *ino), &mut bytes);
                put.execute(params![*ino as i64, row.day, bytes])?;
            }
        }
        transaction.commit()?;
        self.load_tables()
    }

    /// Removes the rows of these files. Returns how many there were.
    pub(crate) fn forget(&mut self, files: impl Iterator<Item = (FsId, u64)>) -> Result<u64, Unusable> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut forgotten = 0;
        for (fs, ino) in files {
            let Some(Table { name: table, .. }) = self.tables.get(&fs) else { continue };
            let mut delete = transaction.prepare_cached(&format!("DELETE FROM {table} WHERE ino = ?1"))?;
            forgotten += delete.execute([ino as i64])? as u64;
        }
        transaction.commit()?;
        self.vacuum()?;
        Ok(forgotten)
    }

    /// Removes rows that were not used for a long time and, if the store is larger than its limit, those that
    /// were not used for the longest time. Does nothing if this was done a few days ago and the store is
    /// not too large.
    pub(crate) fn trim(&mut self, today: u32) -> Result<(), Unusable> {
        let limit = self.max_size()?;
        let trimmed = self.setting("trimmed")?.unwrap_or(0) as u32;
        let is_large = self.size()? > limit;
        if !is_large && today.saturating_sub(trimmed) < TRIM_EVERY {
            return Ok(());
        }
        self.set("trimmed", today.into())?;
        self.remove_before(today.saturating_sub(MAX_AGE))?;
        while self.size()? > limit {
            let Some(oldest) = self.oldest_day()? else { break };
            self.remove_some(oldest, limit)?;
        }
        Ok(())
    }

    /// Removes rows of this day: about as many as the store is too large, at least one.
    fn remove_some(&mut self, day: u32, limit: u64) -> Result<(), Unusable> {
        let Contents { rows, bytes, .. } = self.contents()?;
        let surplus = (u128::from(rows) * u128::from(bytes - limit) / u128::from(bytes)) as i64 + 1;
        for Table { name: table, .. } in self.tables.values() {
            let some = format!("SELECT ino FROM {table} WHERE day = ?1 LIMIT ?2");
            self.db.execute(&format!("DELETE FROM {table} WHERE ino IN ({some})"), params![day, surplus])?;
        }
        self.vacuum()
    }

    fn remove_before(&mut self, day: u32) -> Result<(), Unusable> {
        for Table { name: table, .. } in self.tables.values() {
            self.db.execute(&format!("DELETE FROM {table} WHERE day < ?1"), [day])?;
        }
        self.vacuum()
    }

    /// Returns free pages to the file system.
    fn vacuum(&self) -> Result<(), Unusable> {
        let mut free = self.db.prepare("PRAGMA incremental_vacuum")?;
        let mut pages = free.query([])?;
        while pages.next()?.is_some() {}
        Ok(())
    }

    fn oldest_day(&self) -> Result<Option<u32>, Unusable> {
        let oldest = |Table { name, .. }: &Table| {
            self.db.query_row(&format!("SELECT min(day) FROM {name}"), [], |row| row.get(0))
        };
        let days: Vec<Option<u32>> = self.tables.values().map(oldest).collect::<Result<_, _>>()?;
        Ok(days.into_iter().flatten().min())
    }

    /// Returns the number of rows and file systems, and the size in bytes.
    pub(crate) fn contents(&self) -> Result<Contents, Unusable> {
        let count = |table: &Table| value(&self.db, &format!("SELECT count(*) FROM {}", table.name));
        let rows = self.tables.values().map(count).sum::<Result<u64, _>>()?;
        let file_systems = self.tables.len() as u64;
        Ok(Contents { rows, file_systems, bytes: self.size()?, max_bytes: self.max_size()? })
    }

    /// Returns the size of the store in bytes.
    fn size(&self) -> Result<u64, Unusable> {
        value(&self.db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    }

    fn max_size(&self) -> Result<u64, Unusable> {
        Ok(self.setting("max-size")?.unwrap_or(MAX_SIZE))
    }

    /// Sets the size to which the store is trimmed from now on, in bytes.
    pub(crate) fn set_max_size(&mut self, bytes: u64) -> Result<(), Unusable> {
        self.set("max-size", bytes)
    }

    fn setting(&self, name: &str) -> Result<Option<u64>, Unusable> {
        let get = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let found =
            self.db.query_row("SELECT value FROM settings WHERE name = ?1", [name], get).optional()?;
        Ok(found.map(|value| value as u64))
    }

    fn set(&mut self, name: &str, value: u64) -> Result<(), Unusable> {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.db
            .execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)", params![name, value])?;
        Ok(())
    }
}

/// Creates the tables that every store has.
fn create(db: &mut Connection) -> Result<(), Unusable> {
    // This must come before the first table.
    db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS file_systems (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE) STRICT;
         CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;",
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

fn value(db: &Connection, query: &str) -> Result<u64, Unusable> {
    Ok(db.query_row(query, [], |row| row.get::<_, i64>(0))? as u64)
}

//! Writes a Parquet file that appears only when the whole set is complete.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use ftk_record::Output;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use sha2::{Digest as _, Sha256};

use crate::schema::Table;
use crate::seal::SealedFile;

/// Rows in a row group: enough for good compression, few enough that a reader can use several threads.
const GROUP: usize = 1 << 18;

/// Columns in which nearly every value occurs once: a dictionary would only cost time.
const UNIQUE: [&str; 6] = ["path", "digest", "tree", "ino", "ctime_ns", "birth_ns"];

/// A Parquet file that is being written.
pub(crate) struct TableFile {
    name: String,
    writer: ArrowWriter<Hashed>,
    rows: u64,
}

/// A complete file that has no name yet.
pub(crate) struct Written {
    pub(crate) sealed: SealedFile,
    output: Output,
}

impl TableFile {
    /// Begins the file of this number.
    ///
    /// # Errors
    /// If no file can be created in the directory.
    pub(crate) fn create(dir: &Path, table: Table, number: usize, schema: SchemaRef) -> Result<Self> {
        let name = format!("{}-{number}.parquet", table.name());
        let output = Hashed { output: Output::create(&dir.join(&name))?, sha256: Sha256::new(), bytes: 0 };
        let order = table.order().map(|column| {
            let column_idx = schema.index_of(column).map(|index| index as i32);
            column_idx.map(|column_idx| SortingColumn { column_idx, descending: false, nulls_first: false })
        });
        let order = order.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut properties = WriterProperties::builder()
            // Version 2 would use encodings that some engines cannot read.
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP))
            .set_sorting_columns(Some(order))
            .set_created_by(concat!("ftk-query ", env!("CARGO_PKG_VERSION")).into());
        for column in UNIQUE {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(output, Arc::clone(&schema), options)?;
        Ok(Self { name, writer, rows: 0 })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        Ok(self.writer.write(batch)?)
    }

    /// Ends the file, without giving it its name.
    pub(crate) fn finish(self) -> Result<Written> {
        let Hashed { output, sha256, bytes } = self.writer.into_inner()?;
        let sha256 = HEXLOWER.encode(&sha256.finalize());
        Ok(Written {
            sealed: SealedFile { file: self.name, rows: self.rows, size_bytes: bytes, sha256 },
            output,
        })
    }
}

impl Written {
    /// Gives the file its name.
    pub(crate) fn commit(self) -> io::Result<SealedFile> {
        self.output.commit()?;
        Ok(self.sealed)
    }
}

/// An output whose bytes are hashed.
struct Hashed {
    output: Output,
    sha256: Sha256,
    bytes: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.output.write(bytes)?;
        self.sha256.update(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

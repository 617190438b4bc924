//! Writes a Parquet file that appears only when the whole set is complete.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use datafusion::arrow::compute::BatchCoalescer;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use ftk_record::Output;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};

use super::pages::Pages;
use super::rows::BATCH;
use crate::schema::{CTIME_AFTER, Table};
use crate::seal::SealedFile;

/// Rows in a row group: enough for good compression, few enough that a reader can use several threads.
const GROUP: usize = 16 * BATCH;

/// Columns in which many values occur once: a dictionary would be larger. So do those with digests.
const UNIQUE: [&str; 8] =
    ["row_id", "path", "size_bytes", "allocated_bytes", "mtime_ns", CTIME_AFTER, "birth_ns", "ino"];

/// Columns whose pages have their least and largest value, so that readers skip pages.
const INDEXED: [&str; 8] =
    ["row_id", "path", "size_bytes", "mtime_ns", "digest", "verified_ns", "damaged_ns", "ino"];

/// Row groups that are encoded at the same time, so that no thread waits for the end of one.
const GROUPS: usize = 2;

/// A Parquet file that is being written.
pub(crate) struct TableFile {
    name: String,
    schema: SchemaRef,
    writer: SerializedFileWriter<Hashed>,
    rows: u64,
    /// Makes batches of one length, so that pages do not depend on how rows arrive.
    batches: BatchCoalescer,
    group: Option<Group>,
    encoded: VecDeque<Vec<JoinHandle<Result<Encoded>>>>,
    threads: usize,
}

/// A complete file that has no name yet.
pub(crate) struct Written {
    pub(crate) sealed: SealedFile,
    output: Output,
}

/// A row group to which rows are added. Each thread encodes some of the columns.
struct Group {
    rows: usize,
    threads: Vec<(Sender<RecordBatch>, JoinHandle<Result<Encoded>>)>,
}

/// Columns of a row group by their numbers.
type Encoded = Vec<(usize, Bytes, ColumnCloseResult)>;

impl TableFile {
    /// Begins the file of this number, whose row groups this many threads encode.
    ///
    /// # Errors
    /// If no file can be created in the directory.
    pub(crate) fn create(
        dir: &Path,
        table: Table,
        number: usize,
        schema: SchemaRef,
        threads: usize,
    ) -> Result<Self> {
        let name = format!("{}-{number}.parquet", table.name());
        let output = Hashed::new(Output::create(&dir.join(&name))?);
        let order = table.order().map(|column| {
            let column_idx = schema.index_of(column).map(|index| index as i32);
            column_idx.map(|column_idx| SortingColumn { column_idx, descending: false, nulls_first: false })
        });
        let order = order.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut properties = WriterProperties::builder()
            // Version 2 would use pages that some engines cannot read. They read the encodings that are set below.
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_data_page_row_count_limit(BATCH)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_sorting_columns(Some(order))
            .set_created_by(concat!("ftk-query ", env!("CARGO_PKG_VERSION")).into());
        for field in schema.fields() {
            // Where there is a dictionary, the encoding is for what does not fit in it.
            let (has_dictionary, encoding) = match field.data_type() {
                DataType::Int64 => (!UNIQUE.contains(&&**field.name()), Encoding::DELTA_BINARY_PACKED),
                DataType::FixedSizeBinary(_) => (false, Encoding::PLAIN),
                _ => (!UNIQUE.contains(&&**field.name()), Encoding::DELTA_BYTE_ARRAY),
            };
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), has_dictionary)
                .set_column_encoding(column, encoding);
        }
        for column in INDEXED {
            properties =
                properties.set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::Page);
        }
        let columns = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
        let writer = SerializedFileWriter::new(output, columns, Arc::new(properties.build()))?;
        let batches = BatchCoalescer::new(Arc::clone(&schema), BATCH);
        let encoded = VecDeque::new();
        Ok(Self { name, schema, writer, rows: 0, batches, group: None, encoded, threads })
    }

    /// Adds rows.
    pub(crate) async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.batches.push_batch(batch)?;
        self.encode().await
    }

    /// Passes the rows that are complete batches to the threads that encode them.
    async fn encode(&mut self) -> Result<()> {
        while let Some(batch) = self.batches.next_completed_batch() {
            let group = match &mut self.group {
                Some(group) => group,
                none => none.insert(Group::begin(&self.writer, &self.schema, self.threads)?),
            };
            group.rows += batch.num_rows();
            for (thread, _) in &group.threads {
                // A thread that has ended returns its error when it is joined.
                let _ = thread.send(batch.clone()).await;
            }
            if group.rows == GROUP {
                self.end_group(GROUPS - 1).await?;
            }
        }
        Ok(())
    }

    /// Ends the row group, and writes the oldest ones until this number is left.
    async fn end_group(&mut self, left: usize) -> Result<()> {
        if let Some(group) = self.group.take() {
            self.encoded.push_back(group.threads.into_iter().map(|(_, thread)| thread).collect());
        }
        while self.encoded.len() > left {
            let mut columns = Vec::new();
            for thread in self.encoded.pop_front().into_iter().flatten() {
                columns.extend(thread.await.map_err(|error| DataFusionError::External(error.into()))??);
            }
            columns.sort_unstable_by_key(|(column, _, _)| *column);
            let mut group = self.writer.next_row_group()?;
            for (_, bytes, close) in columns {
                group.append_column(&bytes, close)?;
            }
            group.close()?;
        }
        Ok(())
    }

    /// Ends the file, without giving it its name.
    pub(crate) async fn finish(mut self) -> Result<Written> {
        self.batches.finish_buffered_batch()?;
        self.encode().await?;
        self.end_group(0).await?;
        let index_at = self.writer.bytes_written() as u64;
        self.writer.inner_mut().index_at = index_at;
        let Hashed { output, sha256, index_sha256, bytes, .. } = self.writer.into_inner()?;
        let sealed = SealedFile {
            file: self.name,
            rows: self.rows,
            size_bytes: bytes,
            sha256: HEXLOWER.encode(&sha256.finalize()),
            index_bytes: Some(bytes - index_at),
            index_sha256: Some(HEXLOWER.encode(&index_sha256.finalize())),
        };
        Ok(Written { sealed, output })
    }
}

impl Group {
    fn begin(writer: &SerializedFileWriter<Hashed>, schema: &SchemaRef, threads: usize) -> Result<Self> {
        let pages = Pages::new(schema.fields().len());
        let factory = ArrowRowGroupWriterFactory::new(writer, Arc::clone(schema))
            .with_page_store_factory(Arc::new(pages.clone()));
        let mut columns: Vec<Vec<(usize, ArrowColumnWriter)>> = (0..threads).map(|_| Vec::new()).collect();
        // The number of the row group matters only for encryption.
        let writers = factory.create_column_writers(0)?;
        for (nth, writer) in writers.into_iter().enumerate() {
            columns[nth % threads].push((nth, writer));
        }
        let begin = |columns| {
            let (sender, mut batches) = channel::<RecordBatch>(2);
            let (pages, schema) = (pages.clone(), Arc::clone(schema));
            let encode = move || -> Result<Encoded> {
                let mut columns: Vec<(usize, ArrowColumnWriter)> = columns;
                while let Some(batch) = batches.blocking_recv() {
                    for (nth, writer) in &mut columns {
                        for leaf in compute_leaves(schema.field(*nth), batch.column(*nth))? {
                            writer.write(&leaf)?;
                        }
                    }
                }
                let encoded = columns.into_iter().map(|(nth, writer)| -> Result<_> {
                    let (bytes, close) = pages.chunk(nth, writer.close()?.close())?;
                    Ok((nth, bytes, close))
                });
                encoded.collect()
            };
            (sender, spawn_blocking(encode))
        };
        Ok(Self { rows: 0, threads: columns.into_iter().map(begin).collect() })
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
    /// The bytes that were written.
    bytes: u64,
    /// Where the indexes and the footer begin. Their bytes have a digest of their own.
    index_at: u64,
    index_sha256: Sha256,
}

impl Hashed {
    fn new(output: Output) -> Self {
        Self { output, sha256: Sha256::new(), bytes: 0, index_at: u64::MAX, index_sha256: Sha256::new() }
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.output.write(bytes)?;
        self.sha256.update(&bytes[..n]);
        let before = self.index_at.saturating_sub(self.bytes).min(n as u64) as usize;
        self.index_sha256.update(&bytes[before..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

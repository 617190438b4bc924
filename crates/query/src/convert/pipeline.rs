//! From inputs to files: every input has a thread that makes batches, and every file a task that writes them.
//!
//! Manifests are in path order already, so their entries are only merged. Several threads parse a manifest. Names that
//! are not UTF-8 have an empty `path` and sort before all others: they get their own file. Rows get their numbers when
//! they are written. Then their digests are sorted with these numbers, on disk if the memory does not suffice. Rows of
//! other inputs are sorted as a whole.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{AsArray as _, BooleanArray, Int64Array};
use datafusion::arrow::compute::{and, filter_record_batch, is_not_null};
use datafusion::arrow::datatypes::{Field, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result as DfResult, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::expressions::col;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties as _, execute_stream};
use datafusion::prelude::SessionContext;
use ftk_manifest::Entry;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::console::Console;
use crate::convert::Algorithms;
use crate::convert::rows::{BATCH, Batch, Rows};
use crate::convert::table::{TableFile, Written};
use crate::engine;
use crate::input::parts::{self, NotedPart};
use crate::input::{CURRENT, Input, OfObject};
use crate::progress::Progress;
use crate::schema::{FIRST_IN_BASE64, Table};
use crate::seal::SealedFile;

/// The batches that wait for a writer.
const WAITING: usize = 2;

/// Writes the files of a set, and gives them their names when all are complete. `threads` parse the inputs, and as many
/// encode each file. Their number does not change the files.
pub(crate) fn run(
    inputs: Vec<Input>,
    algorithms: &Algorithms,
    dir: &Path,
    session: &SessionContext,
    threads: usize,
    console: &Console,
) -> Result<Vec<SealedFile>> {
    let runtime = engine::runtime()?;
    let Algorithms { main, extra } = algorithms;
    let [schema, digest_schema] = Table::ALL.map(|table| table.schema(*main, extra));
    let task = session.task_ctx();
    let is_sorted = inputs.iter().all(Input::is_sorted);
    let (digests, digests_out) = channel(WAITING);
    let (encoded, encoded_out) = channel(WAITING);
    // Many inputs share the memory for batches.
    let batch = (16 * BATCH / inputs.len()).clamp(256, BATCH);
    let mut named_out = Vec::new();
    let total = inputs.iter().map(Input::rows).sum::<Option<u64>>();
    let progress = Progress::new(console, "converting", total.unwrap_or(0));
    let divisible = inputs.iter().filter(|input| input.is_divisible()).count();
    let parsers = (threads / divisible.max(1)).max(1);
    let mut sinks = Vec::new();
    for input in &inputs {
        let named = if is_sorted {
            let (named, out) = channel(WAITING);
            named_out.push(out);
            named
        } else {
            encoded.clone()
        };
        let rows = Rows::new(input.origin.clone(), algorithms);
        let (encoded, progress) = (encoded.clone(), progress.clone());
        sinks.push(Sink { rows, batch, parsers, batches: Batches { named, encoded, progress, root: None } });
    }
    drop(encoded);

    let failed = format!("cannot write to {}", dir.display());
    let writer = |table: Table, number, plan, rows| -> Result<JoinHandle<Result<Option<Written>>>> {
        let schema = if table == Table::Entries { &schema } else { &digest_schema };
        let file = TableFile::create(dir, table, number, schema.clone(), threads).context(failed.clone())?;
        let _inside = runtime.enter();
        Ok(runtime.spawn(write(execute_stream(plan, task.clone())?, file, rows, failed.clone())))
    };
    let mut writers = Vec::new();
    let in_base64 = sorted(Table::Entries, &schema, encoded_out)?;
    let entries =
        |first| Some(Numbered { next: first, digests: digests.clone(), schema: digest_schema.clone() });
    if is_sorted {
        writers.push(writer(Table::Entries, 0, in_base64, entries(FIRST_IN_BASE64))?);
        writers.push(writer(Table::Entries, 1, merged(Table::Entries, &schema, named_out)?, entries(0))?);
    } else {
        writers.push(writer(Table::Entries, 1, in_base64, entries(0))?);
    }
    drop(digests);
    let plan = sorted(Table::Digests, &digest_schema, digests_out)?;
    writers.push(writer(Table::Digests, 1, plan, None)?);

    let produced: Vec<Result<Option<NotedPart>>> = std::thread::scope(|scope| {
        let produce = |(input, sink): (Input, Sink)| scope.spawn(move || input.produce(sink));
        let threads: Vec<_> = inputs.into_iter().zip(sinks).map(produce).collect();
        threads.into_iter().map(|thread| thread.join().expect("an input does not panic")).collect()
    });
    let mut written = Vec::new();
    for writer in writers {
        written.extend(runtime.block_on(writer).context("a writer failed")??);
    }
    let noted = produced.into_iter().filter_map(Result::transpose).collect::<Result<_>>()?;
    let renames = parts::renames(noted)?;
    progress.finish();
    let commit = |file: Written| file.commit().with_context(|| format!("cannot write to {}", dir.display()));
    let files = written.into_iter().map(commit).collect();
    renames.iter().for_each(|line| console.warning(line));
    files
}

/// What numbers the rows of a file of entries and passes on their digests.
struct Numbered {
    next: i64,
    digests: Sender<RecordBatch>,
    schema: SchemaRef,
}

impl Numbered {
    /// Numbers the rows of a batch.
    async fn number(&mut self, batch: RecordBatch) -> DfResult<RecordBatch> {
        let schema = batch.schema();
        let end = self.next + batch.num_rows() as i64;
        let mut columns = batch.columns().to_vec();
        columns[schema.index_of("row_id")?] = Arc::new(Int64Array::from_iter_values(self.next..end));
        self.next = end;
        let batch = RecordBatch::try_new(schema, columns)?;
        let of = |field: &Arc<Field>| batch.schema().index_of(field.name());
        let columns = self.schema.fields().iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let digests = batch.project(&columns)?;
        let is_current = {
            let version = batch.column(batch.schema().index_of("version")?);
            let is_current = version.as_string::<i32>().iter().map(|it| it.is_none_or(|it| it == CURRENT));
            BooleanArray::from(is_current.collect::<Vec<_>>())
        };
        let has_digest = and(&is_not_null(digests.column(DIGEST))?, &is_current)?;
        let digests = filter_record_batch(&digests, &has_digest)?;
        if digests.num_rows() > 0 {
            let digests = RecordBatch::try_new(self.schema.clone(), digests.columns().to_vec())?;
            // A writer that has ended returns its error when it is joined.
            let _ = self.digests.send(digests).await;
        }
        Ok(batch)
    }
}

/// The column of digests in their table.
const DIGEST: usize = 1;

/// Writes all batches of a stream to a file. `rows`: numbers the rows, if the file is one of entries. Returns `None`
/// if the file is only for paths that are not UTF-8, and there are no rows. `failed` says that the file cannot be
/// written. Errors of the stream do not get this context, because they have other causes, such as temporary files.
async fn write(
    mut batches: SendableRecordBatchStream,
    mut file: TableFile,
    mut rows: Option<Numbered>,
    failed: String,
) -> Result<Option<Written>> {
    let is_optional = rows.as_ref().is_some_and(|rows| rows.next == FIRST_IN_BASE64);
    let mut is_empty = true;
    while let Some(mut batch) = batches.try_next().await? {
        is_empty &= batch.num_rows() == 0;
        if let Some(rows) = &mut rows {
            batch = rows.number(batch).await?;
        }
        file.write(batch).await.with_context(|| failed.clone())?;
    }
    drop(rows);
    if is_empty && is_optional { Ok(None) } else { file.finish().await.map(Some).context(failed) }
}

/// Merges sorted inputs.
fn merged(
    table: Table,
    schema: &SchemaRef,
    inputs: Vec<Receiver<RecordBatch>>,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    let order = order(table, schema)?;
    let inputs = received(schema, inputs, Some(order.clone()))?;
    if inputs.output_partitioning().partition_count() == 1 {
        return Ok(inputs);
    }
    Ok(Arc::new(SortPreservingMergeExec::new(order, inputs)))
}

/// Sorts the rows of an input.
fn sorted(
    table: Table,
    schema: &SchemaRef,
    input: Receiver<RecordBatch>,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    Ok(Arc::new(SortExec::new(order(table, schema)?, received(schema, vec![input], None)?)))
}

fn order(table: Table, schema: &SchemaRef) -> DfResult<LexOrdering> {
    // All rows of a set have the same algorithm.
    let by = table.order().into_iter().filter(|column| *column != "algorithm").map(|column| {
        let options = datafusion::arrow::compute::SortOptions { descending: false, nulls_first: false };
        Ok(PhysicalSortExpr::new(col(column, schema)?, options))
    });
    let by: Vec<_> = by.collect::<DfResult<_>>()?;
    match LexOrdering::new(by) {
        Some(order) => Ok(order),
        None => exec_err!("an order has columns"),
    }
}

/// Makes a plan that reads from channels, one partition for each.
fn received(
    schema: &SchemaRef,
    inputs: Vec<Receiver<RecordBatch>>,
    order: Option<LexOrdering>,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    let partition = |input| {
        let input = Mutex::new(Some(input));
        Arc::new(Received { schema: schema.clone(), input }) as Arc<dyn PartitionStream>
    };
    let partitions = inputs.into_iter().map(partition).collect();
    Ok(Arc::new(StreamingTableExec::try_new(schema.clone(), partitions, None, order, false, None)?))
}

/// A partition whose batches come from a channel.
struct Received {
    schema: SchemaRef,
    /// Taken when the partition is executed.
    input: Mutex<Option<Receiver<RecordBatch>>>,
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Received")
    }
}

impl PartitionStream for Received {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let batches = stream::unfold(input, |input| async move {
            let mut input = input?;
            let batch = input.recv().await?;
            Some((Ok(batch), Some(input)))
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), batches.boxed()))
    }
}

/// Where an input puts its entries.
pub(crate) struct Sink {
    rows: Rows,
    /// Rows in a batch.
    batch: usize,
    /// The number of threads that may parse the entries.
    parsers: usize,
    batches: Batches,
}

impl Sink {
    /// Adds an entry.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.push_object(entry, OfObject::default())
    }

    /// Adds an object of a bucket.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn push_object(&mut self, entry: &Entry<'_>, of: OfObject<'_>) -> Result<()> {
        if self.rows.push(entry, of) < self.batch {
            return Ok(());
        }
        self.batches.send(self.rows.full(self.batch)?)
    }

    /// Sends the rows that are left.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.batches.send(self.rows.full(1)?)?;
        self.batches.finish()
    }

    /// Returns rows for each thread, the number of rows in a batch, and what takes the batches of all threads in their
    /// order.
    pub(crate) fn divide(self) -> (Vec<Rows>, usize, Batches) {
        ((0..self.parsers).map(|_| self.rows.another()).collect(), self.batch, self.batches)
    }
}

/// Passes the batches of an input on in the order of their paths as text. A manifest begins with the root, whose path
/// `.` sorts after some others.
pub(crate) struct Batches {
    named: Sender<RecordBatch>,
    encoded: Sender<RecordBatch>,
    progress: Progress,
    /// The row of the root, while paths that sort before it follow.
    root: Option<RecordBatch>,
}

impl Batches {
    /// Sends batches.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn send(&mut self, batches: Vec<Batch>) -> Result<()> {
        for batch in batches {
            match batch {
                Batch::Named(batch) => self.send_named(batch)?,
                Batch::Encoded(batch) => self.send_to(&self.encoded, batch)?,
            }
        }
        Ok(())
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.root.take().map_or(Ok(()), |root| self.send_to(&self.named, root))
    }

    fn send_named(&mut self, mut batch: RecordBatch) -> Result<()> {
        let paths = |batch: &RecordBatch| batch.column(PATH).as_string::<i32>().clone();
        if self.root.is_none() && paths(&batch).iter().next() == Some(Some(ROOT)) {
            self.root = Some(batch.slice(0, 1));
            batch = batch.slice(1, batch.num_rows() - 1);
        }
        if let Some(root) = self.root.take_if(|_| paths(&batch).iter().next_back() > Some(Some(ROOT))) {
            let before = paths(&batch).iter().take_while(|path| *path < Some(ROOT)).count();
            self.send_to(&self.named, batch.slice(0, before))?;
            self.send_to(&self.named, root)?;
            batch = batch.slice(before, batch.num_rows() - before);
        }
        self.send_to(&self.named, batch)
    }

    fn send_to(&self, to: &Sender<RecordBatch>, batch: RecordBatch) -> Result<()> {
        self.progress.add(batch.num_rows() as u64);
        if batch.num_rows() > 0 && to.blocking_send(batch).is_err() {
            bail!("a writer stopped");
        }
        Ok(())
    }
}

/// The column of paths in `entries`.
const PATH: usize = 1;

const ROOT: &str = ".";

//! From inputs to files: every input has a thread that makes batches, and every file a task that writes them.
//!
//! Manifests are in path order already, so their entries are only merged. Names that are not UTF-8 have an empty `path`
//! and sort before all others: they get their own file. Everything else is sorted, on disk if the memory does not
//! suffice.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::datatypes::SchemaRef;
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
use crate::input::Input;
use crate::progress::Progress;
use crate::schema::Table;
use crate::seal::SealedFile;

/// The batches that wait for a writer.
const WAITING: usize = 2;

/// Writes the files of a set, and gives them their names when all are complete.
pub(crate) fn run(
    inputs: Vec<Input>,
    algorithms: &Algorithms,
    dir: &Path,
    session: &SessionContext,
    console: &Console,
) -> Result<Vec<SealedFile>> {
    let runtime = engine::runtime()?;
    let schema = Table::Entries.schema(&algorithms.extra);
    let task = session.task_ctx();
    let is_sorted = inputs.iter().all(Input::is_sorted);
    let (contents, contents_out) = channel(WAITING);
    let (encoded, encoded_out) = channel(WAITING);
    // Many inputs share the memory for batches.
    let batch = (16 * BATCH / inputs.len()).clamp(256, BATCH);
    let mut named_out = Vec::new();
    let total = inputs.iter().map(Input::rows).sum::<Option<u64>>();
    let progress = Progress::new(console, "converting", total.unwrap_or(0));
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
        sinks.push(Sink {
            rows,
            named,
            encoded: encoded.clone(),
            contents: contents.clone(),
            batch,
            progress: progress.clone(),
        });
    }
    drop((encoded, contents));

    let writer = |table: Table, number, plan, is_needed| -> Result<JoinHandle<Result<Option<Written>>>> {
        let schema = if table == Table::Entries { schema.clone() } else { table.schema(&[]) };
        let failed = format!("cannot write to {}", dir.display());
        let file = TableFile::create(dir, table, number, schema).context(failed.clone())?;
        let _inside = runtime.enter();
        Ok(runtime.spawn(write(execute_stream(plan, task.clone())?, file, is_needed, failed)))
    };
    let mut writers = Vec::new();
    if is_sorted {
        let plan = merged(Table::Entries, &schema, named_out)?;
        writers.push(writer(Table::Entries, 0, sorted(Table::Entries, &schema, encoded_out)?, false)?);
        writers.push(writer(Table::Entries, 1, plan, true)?);
    } else {
        writers.push(writer(Table::Entries, 1, sorted(Table::Entries, &schema, encoded_out)?, true)?);
    }
    let plan = sorted(Table::Contents, &Table::Contents.schema(&[]), contents_out)?;
    writers.push(writer(Table::Contents, 1, plan, true)?);

    let produced: Vec<Result<()>> = std::thread::scope(|scope| {
        let produce = |(input, sink): (Input, Sink)| scope.spawn(move || input.produce(sink));
        let threads: Vec<_> = inputs.into_iter().zip(sinks).map(produce).collect();
        threads.into_iter().map(|thread| thread.join().expect("an input does not panic")).collect()
    });
    let mut written = Vec::new();
    for writer in writers {
        written.extend(runtime.block_on(writer).context("a writer failed")??);
    }
    for result in produced {
        result?;
    }
    progress.finish();
    let commit = |file: Written| file.commit().with_context(|| format!("cannot write to {}", dir.display()));
    written.into_iter().map(commit).collect()
}

/// Writes all batches of a stream to a file. Returns `None` if there are no rows and the file is not needed. `failed`
/// says that the file cannot be written. Errors of the stream do not get this context, because they have other causes,
/// such as temporary files.
async fn write(
    mut batches: SendableRecordBatchStream,
    mut file: TableFile,
    is_needed: bool,
    failed: String,
) -> Result<Option<Written>> {
    let mut is_empty = true;
    while let Some(batch) = batches.try_next().await? {
        is_empty &= batch.num_rows() == 0;
        file.write(&batch).with_context(|| failed.clone())?;
    }
    if is_empty && !is_needed { Ok(None) } else { file.finish().map(Some).context(failed) }
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
    let by = table.order().map(|column| {
        let options = datafusion::arrow::compute::SortOptions { descending: false, nulls_first: false };
        Ok(PhysicalSortExpr::new(col(column, schema)?, options))
    });
    let by: Vec<_> = by.into_iter().collect::<DfResult<_>>()?;
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
    named: Sender<RecordBatch>,
    encoded: Sender<RecordBatch>,
    contents: Sender<RecordBatch>,
    /// Rows in a batch.
    batch: usize,
    progress: Progress,
}

impl Sink {
    /// Adds an entry.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        if self.rows.push(entry) >= self.batch { self.send(self.batch) } else { Ok(()) }
    }

    /// Sends the rows that are left.
    ///
    /// # Errors
    /// If a writer has failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.send(1)
    }

    fn send(&mut self, least: usize) -> Result<()> {
        for batch in self.rows.full(least)? {
            let sent = match batch {
                Batch::Named(batch) => self.entries(&self.named, batch),
                Batch::Encoded(batch) => self.entries(&self.encoded, batch),
                Batch::Contents(batch) => self.contents.blocking_send(batch).is_ok(),
            };
            if !sent {
                bail!("a writer stopped");
            }
        }
        Ok(())
    }

    fn entries(&self, to: &Sender<RecordBatch>, batch: RecordBatch) -> bool {
        self.progress.add(batch.num_rows() as u64);
        to.blocking_send(batch).is_ok()
    }
}

//! The progress of a running plan: the rows that its scans have read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use futures::{Stream, StreamExt as _};

use crate::console::Console;
use crate::progress::Progress;

/// How often the rows are counted.
const TICK: Duration = Duration::from_millis(200);

/// The stream of a plan whose progress is shown until its first rows come: then these may be on the same terminal.
pub(crate) type Scan = Pin<Box<dyn Stream<Item = Result<RecordBatch>>>>;

/// Shows the progress of a plan, which reads `rows` rows.
pub(crate) fn watched(
    plan: Arc<dyn ExecutionPlan>,
    mut batches: SendableRecordBatchStream,
    rows: u64,
    console: &Console,
) -> Scan {
    let mut watch = console.has_progress().then(|| Watch::new(plan, Progress::new(console, "reading", rows)));
    Box::pin(futures::stream::poll_fn(move |context| {
        let next = batches.poll_next_unpin(context);
        if next.is_ready() {
            drop(watch.take());
        }
        next
    }))
}

/// A thread that shows the progress. It ends when this is dropped.
struct Watch {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn new(plan: Arc<dyn ExecutionPlan>, progress: Progress) -> Self {
        let (end, is_over) = channel();
        let thread = std::thread::spawn(move || {
            while is_over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                progress.set(scanned(&*plan, "output_rows"));
            }
            progress.finish();
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It has only shown progress.
            let _ = thread.join();
        }
    }
}

/// Returns a number that the scans of a plan have counted, such as the rows that they have read.
pub(super) fn scanned(plan: &dyn ExecutionPlan, what: &str) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        let count = plan.metrics().and_then(|metrics| metrics.sum_by_name(what));
        return count.map_or(0, |count| count.as_usize()) as u64;
    }
    children.into_iter().map(|child| scanned(&**child, what)).sum()
}

//! Runs a SELECT and prints its rows.

mod cell;
mod csv;
mod json;
mod parquet;
mod scan;
mod table;

use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SessionContext, lit};
use datafusion::scalar::ScalarValue;
use ftk_file::StandardStream;
use futures::StreamExt as _;
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{AnswerArgs, Format};
use crate::console::{Console, Outcome};
use crate::engine;
use crate::own_table::TableFile;
use crate::sets::{LEVELS, Sets};

pub(crate) use cell::Cell;
use scan::scanned;
pub(crate) use scan::watched;

/// The values of the table `parameters`.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) since_ns: Option<i64>,
    pub(crate) name: Option<String>,
    pub(crate) at_ns: Option<i64>,
    pub(crate) depth: Option<i64>,
    pub(crate) by: Option<&'static str>,
    /// Tables that are files of the user.
    pub(crate) tables: Vec<TableFile>,
}

/// The rows that a table on a terminal has without `--limit`.
const LIMIT: usize = 50;

/// Prints the rows of an answer in one format.
trait Print {
    /// Prints a batch.
    fn batch(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Prints what is left.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Runs a SELECT over sets and prints its rows. `may_be_unknown`: rows whose first column is `unknown` make the outcome
/// an error, also those beyond `--limit`.
///
/// # Errors
/// If the sets or the SELECT cannot be used, or the output fails.
pub(crate) fn run(
    sql: &str,
    may_be_unknown: bool,
    sets: &Sets,
    of: &Parameters,
    args: &AnswerArgs,
    console: &Console,
) -> Result<Outcome> {
    StandardStream::Output.check().context("cannot write to standard output")?;
    let session = args.limits.limits().session()?;
    let runtime = engine::runtime()?;
    let is_terminal = io::stdout().is_terminal();
    ensure!(
        args.format != Format::Parquet || !is_terminal,
        "Parquet is not for terminals: write it to a file with `>`"
    );
    let limit = args.limit.or((args.format == Format::Table && is_terminal).then_some(LIMIT));
    runtime.block_on(async {
        let (rows, frame) = prepare(sql, sets, of, &session, console).await?;
        // One row more shows whether there are more.
        let frame = match limit {
            Some(limit) if !may_be_unknown => frame.limit(0, Some(limit.saturating_add(1)))?,
            _ => frame,
        };
        let schema = SchemaRef::new(frame.schema().as_arrow().clone());
        let plan = frame.create_physical_plan().await?;
        let stream = execute_stream(Arc::clone(&plan), session.task_ctx())?;
        let mut batches = watched(Arc::clone(&plan), stream, rows, console);
        let out = io::BufWriter::with_capacity(1 << 16, io::stdout());
        let mut printer = printer(args.format, schema, out)?;
        let mut left = limit.unwrap_or(usize::MAX);
        let (mut has_more, mut printed, mut unknown) = (false, 0, 0_u64);
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            if may_be_unknown {
                unknown += count_unknown(&batch)?;
            }
            has_more |= batch.num_rows() > left;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            printed += batch.num_rows() as u64;
            printer.batch(&batch)?;
        }
        printer.finish()?;
        let (printed, read) = (HumanCount(printed), DecimalBytes(scanned(&*plan, "bytes_scanned")));
        console.summary(format_args!("{printed} rows; {read} of the sets were read"));
        if has_more {
            console
                .summary(format_args!("there are more rows: --limit N prints N of them, --format csv all"));
        }
        if unknown == 0 {
            return Ok(Outcome::Success);
        }
        console.summary(format_args!("{} rows are unknown   (status 2)", HumanCount(unknown)));
        Ok(Outcome::Error)
    })
}

/// Counts the rows of a batch whose first column is `unknown`.
fn count_unknown(batch: &RecordBatch) -> Result<u64> {
    let mut unknown = 0;
    for row in 0..batch.num_rows() {
        unknown += u64::from(Cell::of(&**batch.column(0), row)?.text() == "unknown");
    }
    Ok(unknown)
}

/// Registers the tables that a SELECT uses. Returns the number of their rows, and the SELECT.
pub(crate) async fn prepare(
    sql: &str,
    sets: &Sets,
    of: &Parameters,
    session: &SessionContext,
    console: &Console,
) -> Result<(u64, DataFrame)> {
    let names = names(&session.state(), sql)?;
    let rows = sets.register(session, &names, console)?;
    for table in &of.tables {
        table.register(session).await?;
    }
    let parameters = [
        lit(ScalarValue::Int64(of.since_ns)).alias("since_ns"),
        lit(ScalarValue::Utf8(of.name.clone())).alias("name"),
        lit(ScalarValue::Int64(of.at_ns)).alias("at_ns"),
        lit(ScalarValue::Int64(of.depth)).alias("depth"),
        lit(ScalarValue::Utf8(of.by.map(Into::into))).alias("by_what"),
    ];
    session.register_table("parameters", session.read_empty()?.select(parameters)?.into_view())?;
    let levels = Int64Array::from_iter_values(0..100);
    let levels = RecordBatch::try_from_iter([("level", Arc::new(levels) as ArrayRef)])?;
    session.register_table(LEVELS, session.read_batch(levels)?.into_view())?;
    let only_select =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    Ok((rows, session.sql_with_options(sql, only_select).await?))
}

/// Returns the names of the tables in a SELECT.
fn names(state: &SessionState, sql: &str) -> Result<Vec<String>> {
    let dialect = state.config().options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, &dialect).context("the SQL cannot be used")?;
    let tables = state.resolve_table_references(&statement)?;
    Ok(tables.iter().map(|table| table.table().to_owned()).collect())
}

fn printer<'o>(
    format: Format,
    schema: SchemaRef,
    out: impl Write + Send + 'o,
) -> Result<Box<dyn Print + 'o>> {
    Ok(match format {
        Format::Table => Box::new(table::Table::new(schema, out)),
        Format::Csv => Box::new(csv::Csv::new(&schema, out)?),
        Format::Json => Box::new(json::Json::new(out)),
        Format::Parquet => Box::new(parquet::Parquet::new(schema, out)?),
    })
}

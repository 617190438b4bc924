//! The Parquet files of an inventory.

use std::fs::File;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{Array, AsArray as _, BooleanArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::object::{Object, Put};

/// Passes the objects of a file to `put`.
pub(super) fn read(file: File, put: &mut Put<'_>) -> Result<()> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).context("not a Parquet file")?;
    for batch in reader.build().context("cannot read")? {
        let batch = batch.context("cannot read")?;
        let columns = Columns::new(&batch)?;
        for row in 0..batch.num_rows() {
            columns.object(row)?.put(put)?;
        }
    }
    Ok(())
}

/// The columns that are used.
struct Columns {
    key: StringArray,
    is_latest: Option<BooleanArray>,
    is_delete_marker: Option<BooleanArray>,
    size: Option<Int64Array>,
    last_modified: Option<Int64Array>,
    e_tag: Option<StringArray>,
    is_multipart: Option<BooleanArray>,
    encryption: Option<StringArray>,
    storage_class: Option<StringArray>,
    version_id: Option<StringArray>,
}

impl Columns {
    fn new(batch: &RecordBatch) -> Result<Self> {
        let text = |name| -> Result<_> {
            Ok(column(batch, name, &[DataType::Utf8])?.map(|it| it.as_string().clone()))
        };
        let flag = |name| -> Result<_> {
            Ok(column(batch, name, &[DataType::Boolean])?.map(|it| it.as_boolean().clone()))
        };
        let number = |column: Option<std::sync::Arc<dyn Array>>| {
            column.map(|it| it.as_primitive::<Int64Type>().clone())
        };
        Ok(Self {
            key: text("key")?.context("the inventory has no column `key`")?,
            is_latest: flag("is_latest")?,
            is_delete_marker: flag("is_delete_marker")?,
            size: number(column(batch, "size", &[DataType::Int64])?),
            last_modified: number(times(batch)?),
            e_tag: text("e_tag")?,
            is_multipart: flag("is_multipart_uploaded")?,
            encryption: text("encryption_status")?,
            storage_class: text("storage_class")?,
            version_id: text("version_id")?,
        })
    }

    fn object(&self, row: usize) -> Result<Object<'_>> {
        if self.key.is_null(row) {
            bail!("a row has no key");
        }
        let size = number(&self.size, row).map(|size| u64::try_from(size).context("a size is negative"));
        Ok(Object {
            key: self.key.value(row).as_bytes(),
            is_latest: flag(&self.is_latest, row),
            is_delete_marker: flag(&self.is_delete_marker, row),
            size: size.transpose()?,
            mtime_ns: number(&self.last_modified, row).map(|ms| i128::from(ms) * 1_000_000),
            e_tag: text(&self.e_tag, row),
            is_multipart: flag(&self.is_multipart, row),
            encryption: text(&self.encryption, row),
            storage_class: text(&self.storage_class, row),
            version_id: text(&self.version_id, row),
        })
    }
}

/// Returns a column as the first of these types. It may have another one of them, or be text in another form.
fn column(batch: &RecordBatch, name: &str, types: &[DataType]) -> Result<Option<std::sync::Arc<dyn Array>>> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    let of = column.data_type();
    let is_text = |of: &DataType| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if !types.contains(of) && !(types[0] == DataType::Utf8 && (is_text(of) || *of == DataType::Binary)) {
        bail!("the column `{name}` has the type {of}, which is not that of an S3 Inventory");
    }
    Ok(Some(cast(column, &types[0]).with_context(|| format!("the column `{name}`"))?))
}

/// Returns the column `last_modified_date` in milliseconds. Inventories have it as a timestamp or as a number of
/// milliseconds.
fn times(batch: &RecordBatch) -> Result<Option<std::sync::Arc<dyn Array>>> {
    const NAME: &str = "last_modified_date";
    let Some(column) = batch.column_by_name(NAME) else { return Ok(None) };
    let millis = match column.data_type() {
        DataType::Int64 => return Ok(Some(column.clone())),
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        other => bail!("the column `{NAME}` has the type {other}, which is not that of an S3 Inventory"),
    };
    Ok(Some(cast(&cast(column, &millis)?, &DataType::Int64)?))
}

fn text(column: &Option<StringArray>, row: usize) -> Option<&str> {
    column.as_ref().filter(|column| column.is_valid(row)).map(|column| column.value(row))
}

fn flag(column: &Option<BooleanArray>, row: usize) -> Option<bool> {
    column.as_ref().filter(|column| column.is_valid(row)).map(|column| column.value(row))
}

fn number(column: &Option<Int64Array>, row: usize) -> Option<i64> {
    column.as_ref().filter(|column| column.is_valid(row)).map(|column| column.value(row))
}

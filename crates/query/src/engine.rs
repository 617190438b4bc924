//! DataFusion with limits for memory and disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use crate::memory::{self, Memory};
use crate::spill::Spills;
use crate::{console, functions};

/// What a run may use.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes for rows that are sorted, grouped or joined.
    pub(crate) memory: u64,
    /// Where rows go that do not fit; `None` is the system's directory for temporary files.
    pub(crate) temp_dir: Option<PathBuf>,
}

/// The smallest memory that all questions work with, in bytes.
pub(crate) const LEAST_MEMORY: u64 = 64 << 20;

impl Limits {
    /// Creates a session in which all questions run.
    ///
    /// # Errors
    /// If the memory is too small, or the directory cannot be used.
    pub(crate) fn session(&self) -> Result<SessionContext> {
        let memory = self.memory;
        if memory < LEAST_MEMORY {
            bail!("--memory is too small: at least {}M is needed", LEAST_MEMORY >> 20);
        }
        let dir = self.temp_dir();
        let is_dir =
            dir.metadata().with_context(|| format!("cannot use {} for temporary files", dir.display()))?;
        if !is_dir.is_dir() {
            bail!("cannot use {} for temporary files: it is not a directory", dir.display());
        }
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Custom(Arc::new(Spills { dir })));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(Memory::new(memory)))
            .with_disk_manager_builder(disk)
            .build_arc()?;
        let mut config = SessionConfig::new().with_information_schema(false);
        let options = config.options_mut();
        // Tables are sorted by the columns of joins and groups: merging them needs little memory, hash tables do not
        // spill.
        options.optimizer.prefer_hash_join = false;
        options.optimizer.prefer_existing_sort = true;
        options.sql_parser.collect_spans = true;
        options.execution.sort_spill_reservation_bytes = (memory / 64).min(10 << 20);
        let session = SessionContext::new_with_config_rt(config, runtime);
        functions::all().into_iter().for_each(|function| session.register_udf(function));
        Ok(session)
    }
}

impl Limits {
    /// Returns the directory for temporary files.
    fn temp_dir(&self) -> PathBuf {
        self.temp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Says in an error of the engine what suffices if the memory or the directory for temporary files does not.
    pub(crate) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        if let Some(full) = full_disk(&error) {
            return anyhow::anyhow!(
                "cannot write temporary files to {}: {}: choose another directory with --temp-dir, or a larger --memory",
                self.temp_dir().display(),
                console::cause(full)
            );
        }
        let exhausted = error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<DataFusionError>())
            .find(|cause| matches!(cause.find_root(), DataFusionError::ResourcesExhausted(_)))
            .map(memory::needed);
        let Some(needed) = exhausted else { return error };
        let tried = self.memory >> 20;
        // The engine does not say how much a row needs that is larger than the memory.
        let needed = needed.map_or(2 * tried, |bytes| (bytes as u64).div_ceil(1 << 20));
        anyhow::anyhow!("--memory {tried}M does not suffice: at least {needed}M is needed")
    }
}

/// Returns why there was no space for a file of the engine. It writes only temporary files: errors of outputs have a
/// context.
fn full_disk(error: &anyhow::Error) -> Option<&io::Error> {
    let is_full = |error: &&io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        ) && error.raw_os_error().is_some()
    };
    error.chain().next().filter(|first| first.is::<DataFusionError>())?;
    error.chain().filter_map(|cause| cause.downcast_ref()).find(is_full)
}

/// Creates the threads that queries run on.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().build().context("cannot start threads")
}

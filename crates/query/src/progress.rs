//! The progress of a run: a bar on standard error, if that is a terminal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;

/// A run that ends earlier shows nothing.
const DELAY: Duration = Duration::from_secs(1);

/// The bar of one phase. Clones are the same bar.
#[derive(Clone)]
pub(crate) struct Progress(Option<Arc<Bar>>);

struct Bar {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// Begins a phase of `total` rows or bytes; 0 if that is not known. `phase`: what is done, as a verb.
    pub(crate) fn new(console: &Console, phase: &'static str, total: u64) -> Self {
        Self(console.has_progress().then(|| {
            let bar =
                ProgressBar::with_draw_target((total > 0).then_some(total), ProgressDrawTarget::hidden());
            let form = match total {
                0 => "{msg} {human_pos} {per_sec}",
                _ => "{msg} {wide_bar} {percent}% {eta}",
            };
            bar.set_style(
                ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.set_message(phase);
            Arc::new(Bar { bar, start: Instant::now() })
        }))
    }

    /// Adds finished rows or bytes.
    pub(crate) fn add(&self, n: u64) {
        if let Some(bar) = self.shown() {
            bar.inc(n);
        }
    }

    /// Sets the number of finished rows or bytes.
    pub(crate) fn set(&self, n: u64) {
        if let Some(bar) = self.shown() {
            bar.set_position(n);
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.bar.finish_and_clear();
        }
    }

    fn shown(&self) -> Option<&ProgressBar> {
        let Bar { bar, start } = &**self.0.as_ref()?;
        if bar.is_hidden() && start.elapsed() >= DELAY {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Some(bar)
    }
}

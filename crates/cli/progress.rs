//! The progress bar.

use ftk_process::Progress;
use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error that counts files, and says bytes and their rate beside it.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// For a run of `files` files. Nothing is drawn before the first [`show`](Self::show).
    pub(crate) fn new(files: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(files), ProgressDrawTarget::hidden());
        let template =
            "  hashing  {bar:24.cyan}  {percent:>3} %   {msg}   eta {eta}   {human_pos} of {human_len} files";
        let style = ProgressStyle::with_template(template).expect("the template is sound");
        bar.set_style(style.progress_chars("━╸─"));
        Self(bar)
    }

    pub(crate) fn show(&self, done: Progress) {
        if self.0.is_hidden() {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        let rate = done.bytes as f64 / self.0.elapsed().as_secs_f64().max(1e-9);
        self.0.set_message(format!("{}   {}/s", DecimalBytes(done.bytes), DecimalBytes(rate as u64)));
        self.0.set_position(done.files);
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

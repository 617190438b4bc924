//! The two inputs and the options to compare them with.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;

use ftk_compare::{FileResources, Mismatch, Options, Outcome as Found, Side, compare};
use ftk_file::{Failure, File};
use ftk_sched::Stop;

use crate::asked;
use crate::cmp::input::Input;
use crate::cmp::listing::Style;
use crate::cmp::{CmpArgs, MethodArg};
use crate::console::Console;
use crate::globals::Globals;
use crate::progress::WorkCounters;
use crate::stdout::Stdout;

/// Mismatches shown by default.
const SHOWN: u64 = 8;

/// Two inputs and their options.
pub(super) struct Pair<'p> {
    pub(super) inputs: [Input; 2],
    pub(super) options: Options,
    /// Whether standard output is anything but the null device.
    pub(super) is_seen: bool,
    workers: usize,
    memory: u64,
    console: &'p Console,
    /// Bytes of both inputs compared so far.
    pub(super) done: AtomicU64,
}

/// The result of a comparison; `None` if the sizes differ and nothing was read.
pub(super) type Compared = Result<Option<Found>, (Side, Failure)>;

impl<'p> Pair<'p> {
    pub(super) fn new(args: &CmpArgs, inputs: [Input; 2], globals: &Globals, console: &'p Console) -> Self {
        let files = &args.files;
        let [skip_a, skip_b] = files.ignore_initial.unwrap_or_default().0;
        // If a skip is given twice, the larger one counts, as in cmp.
        let skip_a = skip_a.max(files.skip_a.unwrap_or_default());
        let skip_b = skip_b.max(files.skip_b.unwrap_or_default());
        let shown = if files.list || files.ranges { 0 } else { SHOWN };
        let is_seen = !Stdout::is_null();
        let options = Options {
            // If the output is discarded, the first mismatch is enough for the status.
            max_mismatches: if is_seen { files.max_mismatches.unwrap_or(shown) } else { 1 },
            skip_a,
            skip_b,
            limit: files.bytes,
            block: usize::try_from(files.block_size.unwrap_or_default()).unwrap_or(usize::MAX),
            method: files.method.unwrap_or(MethodArg::Auto).method(),
            shortcuts: !args.no_shortcuts,
            lines: is_seen && !files.list && !files.ranges,
        };
        let workers = globals.workers().unwrap_or_default();
        let (memory, done) = (memory(globals), AtomicU64::new(0));
        Self { inputs, options, is_seen, workers, memory, console, done }
    }

    pub(super) fn input(&self, side: Side) -> &Input {
        &self.inputs[side as usize]
    }

    /// The files, for inputs that are regular files.
    pub(super) fn files(&self) -> (Option<&File>, Option<&File>) {
        let [a, b] = &self.inputs;
        (a.file(), b.file())
    }

    pub(super) fn has_stream(&self) -> bool {
        self.inputs.iter().any(|input| input.file().is_none())
    }

    /// Chooses the output format of mismatches.
    pub(super) fn style(&self, args: &CmpArgs, globals: &Globals) -> Style {
        let has_characters = args.files.print_bytes;
        match (globals.json, args.files.ranges, args.files.list) {
            (true, true, _) => Style::JsonRanges,
            (true, ..) => Style::Json,
            (_, true, _) => Style::Ranges,
            (.., true) => Style::Octal { width: self.width(), has_characters },
            _ => Style::Hex { has_characters },
        }
    }

    /// Compares the inputs. Shows progress if their sizes are known.
    pub(super) fn compare(
        &mut self,
        options: Options,
        found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
    ) -> Result<Found, (Side, Failure)> {
        let all = self.common(options);
        let Self { inputs: [a, b], workers, memory, console, done, .. } = self;
        let resources = FileResources { workers: *workers, memory: *memory, stop: &Stop::new(), done };
        let mut work = || compare(a.source(), b.source(), &options, &resources, found);
        let Some(all) = all else {
            asked::doing(&"comparing");
            return work();
        };
        console.progress.counted("compare", 1, all < SHORT, WorkCounters::Pair(done, 2 * all), work)
    }

    /// Returns the number of bytes of each input that will be compared, if known.
    pub(super) fn common(&self, options: Options) -> Option<u64> {
        let [a, b] = &self.inputs;
        let (a, b) = (a.size()?.saturating_sub(options.skip_a), b.size()?.saturating_sub(options.skip_b));
        Some(a.min(b).min(options.limit.unwrap_or(u64::MAX)))
    }

    /// Returns the width of the offset column of `cmp -l`: the number of digits of the number of bytes to
    /// compare, as far as it is known. Like cmp, this lets the number become negative if a skip goes past the
    /// end of a file.
    fn width(&self) -> usize {
        let [a, b] = &self.inputs;
        let sizes = [(a.size(), self.options.skip_a), (b.size(), self.options.skip_b)];
        let known = sizes.into_iter().filter_map(|(size, skip)| Some(i128::from(size?) - i128::from(skip)));
        let limit = self.options.limit.map_or(i64::MAX.into(), i128::from);
        let most = known.fold(limit.min(i64::MAX.into()), i128::min);
        most.unsigned_abs().checked_ilog10().unwrap_or_default() as usize + 1
    }
}

/// Comparisons of fewer bytes run without a progress thread.
const SHORT: u64 = 64 << 20;

/// Returns how many bytes of both files together may be mapped: the value of `--memory`, else half of the
/// memory.
pub(super) fn memory(globals: &Globals) -> u64 {
    // The default of `Globals::memory` is a quarter of the memory.
    globals.memory.unwrap_or_else(|| 2 * globals.memory())
}

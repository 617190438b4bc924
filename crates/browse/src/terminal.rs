//! The terminal: raw mode, the alternate screen and keys, and that everything is as before at the end.

use std::io;
use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui_core::backend::Backend;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{Event, poll, read};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::{Browser, Key, Request, Source, draw};

/// How long a signal may wait.
const TICK: Duration = Duration::from_millis(100);

/// Whether the terminal has to be restored from raw mode, and from the other screen.
static IS_RAW: AtomicBool = AtomicBool::new(false);
static IS_OTHER: AtomicBool = AtomicBool::new(false);

/// Shows the browser in the terminal until the user quits or a plan is to be carried out. Ends as well when `is_over`
/// returns `true`, as after a signal, and when the terminal is gone. The terminal is as before then, also after a panic of any thread.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn run<S: Source>(
    browser: &mut Browser<S>,
    is_coloured: bool,
    is_over: impl Fn() -> bool,
) -> io::Result<Request> {
    let _open = Open::new()?;
    // `Terminal` would ask for the position of the cursor, and fail where no answer comes.
    let mut backend = CrosstermBackend::new(io::stdout());
    let mut shown = Buffer::default();
    loop {
        let Size { width, height } = backend.size()?;
        let mut next = Buffer::empty(Rect { x: 0, y: 0, width, height });
        draw(browser, &mut next, is_coloured);
        if next.area != shown.area {
            execute!(io::stdout(), Clear(ClearType::All))?;
            shown = Buffer::empty(next.area);
        }
        backend.draw(shown.diff(&next).into_iter())?;
        Backend::flush(&mut backend)?;
        shown = next;
        // Nothing is drawn while nothing happens.
        let Some(event) = next_event(&is_over)? else { return Ok(Request::Quit) };
        if let Event::Key(event) = event
            && let Some(key) = Key::of(event)
        {
            match browser.press(key) {
                Request::Nothing => {}
                request => return Ok(request),
            }
        }
    }
}

/// Waits for a key, without another screen. Ends as well when `is_over` returns `true`, and when the terminal is gone.
///
/// # Errors
/// If the terminal cannot be read.
pub fn wait_for_key(is_over: impl Fn() -> bool) -> io::Result<()> {
    let _raw = Open::raw()?;
    while let Some(event) = next_event(&is_over)? {
        if let Event::Key(event) = event
            && Key::of(event).is_some()
        {
            break;
        }
    }
    Ok(())
}

/// Waits for an event. Returns `None` when `is_over` returns `true`, and when the terminal is gone.
fn next_event(is_over: &impl Fn() -> bool) -> io::Result<Option<Event>> {
    // Events that were read before come at once.
    let mut time = Duration::ZERO;
    // `poll` of crossterm never returns when the terminal has hung up, not even by a signal.
    while !is_over() && !hangs_up_within(time)? {
        if poll(Duration::ZERO)? {
            return read().map(Some);
        }
        time = TICK;
    }
    Ok(None)
}

/// Waits for input, for a signal or until the time is over. Returns whether the terminal has hung up.
fn hangs_up_within(time: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match rustix::event::poll(&mut terminal, Some(&time)) {
        Ok(_) => Ok(terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The terminal in raw mode, mostly with another screen.
struct Open;

impl Open {
    fn new() -> io::Result<Self> {
        let open = Self::raw()?;
        IS_OTHER.store(true, Ordering::SeqCst);
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(open)
    }

    /// Sets raw mode only.
    fn raw() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = take_hook();
            // The message would be lost with the other screen.
            set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        enable_raw_mode()?;
        IS_RAW.store(true, Ordering::SeqCst);
        Ok(Self)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, if that is still to be done. If that fails, no message would be seen either.
fn restore() {
    if IS_OTHER.swap(false, Ordering::SeqCst) {
        _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
    if IS_RAW.swap(false, Ordering::SeqCst) {
        _ = disable_raw_mode();
    }
}

//! The model: lists in lists, a cursor in each, and the question for the word that acts.

use crate::{Key, Plan, Row, Source};

/// What the program has to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Show the browser again.
    Nothing,
    /// End.
    Quit,
    /// Carry out the plan for the marked rows: this word was typed.
    Act(&'static str),
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The largest first, then by name.
    #[default]
    Size,
    Name,
}

/// What is on the screen.
#[derive(Debug, Default)]
pub(crate) enum Mode {
    #[default]
    List,
    Help,
    /// The plan, the first line of it on the screen, and what was typed.
    Plan {
        plan: Plan,
        top: usize,
        typed: String,
    },
}

/// A list, and where the user is in it.
#[derive(Debug)]
pub(crate) struct Level {
    /// The row that it is in.
    of: Option<u64>,
    /// The path to it.
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) cursor: usize,
}

/// A browser of the rows of a source. The [front page](crate) has an example.
#[derive(Debug)]
pub struct Browser<S> {
    source: S,
    /// The open lists, the innermost last. There is at least one.
    levels: Vec<Level>,
    order: Order,
    pub(crate) mode: Mode,
    /// What is said until the next key.
    pub(crate) message: Option<String>,
    /// Lines by which a page key moves.
    pub(crate) page: usize,
}

/// The longest word that can be typed.
const MAX_TYPED: usize = 20;

impl<S: Source> Browser<S> {
    /// Opens the outermost list of a source. `title` is shown above it.
    pub fn new(source: S, title: String) -> Self {
        let outermost = Level { of: None, title, rows: Vec::new(), cursor: 0 };
        let (order, mode, message) = Default::default();
        let mut browser = Self { source, levels: vec![outermost], order, mode, message, page: 10 };
        browser.refresh();
        browser
    }

    /// Returns the source.
    pub fn source(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns whether the plan is shown, and a word can be typed.
    pub fn is_asking(&self) -> bool {
        matches!(self.mode, Mode::Plan { .. })
    }

    /// Returns the row under the cursor, in the list that is open.
    pub fn current(&self) -> Option<&Row> {
        let level = self.level();
        level.rows.get(level.cursor)
    }

    /// Reads the rows of all open lists again. A list that is gone is closed.
    pub fn refresh(&mut self) {
        let open = std::mem::take(&mut self.levels);
        for (depth, mut level) in open.into_iter().enumerate() {
            let is_there = |above: &Level| above.rows.iter().any(|row| Some(row.id) == level.of);
            if depth > 0 && !self.levels.last().is_some_and(is_there) {
                break;
            }
            let id = level.rows.get(level.cursor).map(|row| row.id);
            match self.source.rows(level.of) {
                Ok(rows) => level.rows = rows,
                Err(message) if depth > 0 => {
                    self.message = Some(message);
                    break;
                }
                Err(message) => {
                    self.message = Some(message);
                    level.rows.clear();
                }
            }
            self.levels.push(level);
            self.sort(id);
        }
    }

    /// Opens the only row of the outermost list, if it is the only one.
    #[must_use]
    pub fn inside(mut self) -> Self {
        if let [row] = &*self.level().rows
            && row.opens
        {
            self.open();
        }
        self
    }

    /// Handles a key.
    pub fn press(&mut self, key: Key) -> Request {
        self.message = None;
        if key == Key::Interrupt {
            return Request::Quit;
        }
        match &mut self.mode {
            Mode::List => return self.press_in_list(key),
            Mode::Help => self.mode = Mode::List,
            Mode::Plan { plan, top, typed } => match key {
                Key::Escape | Key::Left => self.mode = Mode::List,
                Key::Up => *top = top.saturating_sub(1),
                Key::Down => *top = (*top + 1).min(plan.lines.len().saturating_sub(1)),
                Key::PageUp => *top = top.saturating_sub(self.page),
                Key::PageDown => *top = (*top + self.page).min(plan.lines.len().saturating_sub(1)),
                Key::Backspace => _ = typed.pop(),
                Key::Char(c) if typed.len() < MAX_TYPED && c.is_ascii_graphic() => typed.push(c),
                Key::Enter => {
                    if let Some(word) = plan.words.iter().find(|word| word.word == typed) {
                        let word = word.word;
                        self.mode = Mode::List;
                        return Request::Act(word);
                    }
                    let words = plan.words.iter().map(|it| it.word).collect::<Vec<_>>().join(" or ");
                    self.message = Some(match (&*words, typed.is_empty()) {
                        ("", _) => "nothing can be done: Esc goes back".into(),
                        (words, true) => format!("type {words}, or Esc to go back"),
                        (words, false) => format!("nothing was done: type {words} in full"),
                    });
                    typed.clear();
                }
                _ => {}
            },
        }
        Request::Nothing
    }

    fn press_in_list(&mut self, key: Key) -> Request {
        let page = self.page;
        let level = self.levels.last_mut().expect("the outermost list is open");
        let last = level.rows.len().saturating_sub(1);
        match key.as_arrow() {
            Key::Up => level.cursor = level.cursor.saturating_sub(1),
            Key::Down => level.cursor = (level.cursor + 1).min(last),
            Key::PageUp => level.cursor = level.cursor.saturating_sub(page),
            Key::PageDown => level.cursor = (level.cursor + page).min(last),
            Key::Home => level.cursor = 0,
            Key::End => level.cursor = last,
            Key::Right | Key::Enter => self.open(),
            Key::Left | Key::Backspace if self.levels.len() > 1 => {
                self.levels.pop();
                self.sort_by(self.order);
            }
            Key::Char(' ') => self.mark(),
            Key::Char('s') => self.sort_by(Order::Size),
            Key::Char('n') => self.sort_by(Order::Name),
            Key::Char('d') if self.source.marked().rows == 0 => {
                self.message = Some("nothing is marked: Space marks".into());
            }
            Key::Char('d') => {
                self.mode = Mode::Plan { plan: self.source.plan(), top: 0, typed: String::new() };
            }
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('q') => return Request::Quit,
            _ => {}
        }
        Request::Nothing
    }

    fn mark(&mut self) {
        let level = self.levels.last_mut().expect("the outermost list is open");
        let Some(row) = level.rows.get(level.cursor) else { return };
        match self.source.mark(row.id) {
            Ok(()) => level.cursor = (level.cursor + 1).min(level.rows.len() - 1),
            Err(message) => self.message = Some(message),
        }
    }

    fn open(&mut self) {
        let level = self.level();
        let Some(row) = level.rows.get(level.cursor).filter(|row| row.opens) else { return };
        let slash = if level.of.is_none() || level.title.ends_with('/') { "" } else { "/" };
        let above = if level.of.is_none() { "" } else { &*level.title };
        let title = format!("{above}{slash}{}", row.name.strip_suffix('/').unwrap_or(&row.name));
        let of = Some(row.id);
        match self.source.rows(of) {
            Ok(rows) => {
                self.levels.push(Level { of, title, rows, cursor: 0 });
                self.sort(None);
            }
            Err(message) => self.message = Some(message),
        }
    }

    fn sort_by(&mut self, order: Order) {
        self.order = order;
        let level = self.level();
        let id = level.rows.get(level.cursor).map(|row| row.id);
        self.sort(id);
    }

    /// Sorts the innermost list. The cursor goes to the row `id`, or stays at its place.
    fn sort(&mut self, id: Option<u64>) {
        let order = self.order;
        let level = self.levels.last_mut().expect("the outermost list is open");
        match order {
            Order::Size => {
                level.rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
            }
            Order::Name => level.rows.sort_by(|a, b| a.name.cmp(&b.name)),
        }
        let found = id.and_then(|id| level.rows.iter().position(|row| row.id == id));
        level.cursor = found.unwrap_or(level.cursor).min(level.rows.len().saturating_sub(1));
    }

    pub(crate) fn level(&self) -> &Level {
        self.levels.last().expect("the outermost list is open")
    }

    pub(crate) fn is_marked(&self, row: &Row) -> bool {
        self.source.is_marked(row.id)
    }

    pub(crate) fn marked(&self) -> crate::Total {
        self.source.marked()
    }
}

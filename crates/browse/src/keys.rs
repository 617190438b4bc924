//! The keys that a browser knows.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key, whatever terminal it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Ctrl-C.
    Interrupt,
    /// A character.
    Char(char),
}

/// What `?` shows.
pub(crate) const HELP: [(&str, &str); 11] = [
    ("up, down, k, j", "move"),
    ("page up, page down", "move by a screen"),
    ("home, end", "first, last"),
    ("right, Enter, l", "open"),
    ("left, Backspace, h", "go back"),
    ("Space", "mark, or take the mark away"),
    ("s", "sort by size"),
    ("n", "sort by name"),
    ("d", "show the plan for what is marked"),
    ("?", "this list"),
    ("q, Ctrl-C", "quit"),
];

impl Key {
    /// Returns the arrow that a letter stands for, as in vi; other keys stay.
    pub(crate) fn as_arrow(self) -> Self {
        match self {
            Self::Char('k') => Self::Up,
            Self::Char('j') => Self::Down,
            Self::Char('h') => Self::Left,
            Self::Char('l') => Self::Right,
            key => key,
        }
    }

    /// Returns the key of an event; `None` if the browser does not know it.
    pub(crate) fn of(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let is_plain = !event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        Some(match event.code {
            KeyCode::Char('c') if event.modifiers.contains(KeyModifiers::CONTROL) => Self::Interrupt,
            KeyCode::Char(c) if is_plain => Self::Char(c),
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left => Self::Left,
            KeyCode::Right => Self::Right,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            KeyCode::Enter => Self::Enter,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Esc => Self::Escape,
            _ => return None,
        })
    }
}

//! What the browser shows, as text, and what random keys make it do.

use ftk_browse::{Browser, Key, Plan, Request, Row, Source, Total, Word, draw};
use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier};
use ratatui_core::terminal::Terminal;

/// A tree of made-up names, ten rows in each.
#[derive(Default)]
struct Made {
    marked: Vec<u64>,
}

const NAMES: [&str; 10] = [
    "photos/",
    "a name with spaces",
    "\\x1b[31mred",
    "rev\\u{202e}gpj.exe",
    "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30d5}\u{30a9}\u{30eb}\u{30c0}/",
    "\u{5d0}\u{5d1}\u{5d2}",
    "cafe\u{301}",
    "\\xff",
    "a long name that does not fit into a narrow terminal, and not into one of eighty columns either, whatever happens",
    "empty",
];

impl Source for Made {
    fn rows(&mut self, of: Option<u64>) -> Result<Vec<Row>, String> {
        let base = of.map_or(0, |of| (of + 1) * 10);
        if base > 100_000 {
            return Err("cannot list it: too deep".into());
        }
        let row = |(nth, name): (u64, &str)| {
            let bytes = if name == "empty" { 0 } else { 1_000_000_000_u128 >> (4 * nth) };
            let opens = name.ends_with('/');
            let note = if opens { "1,204 files".into() } else { String::new() };
            Row { id: base + nth, name: name.into(), bytes, size: format!("{bytes} B"), note, opens }
        };
        Ok((0..).zip(NAMES).map(row).collect())
    }

    fn is_marked(&self, id: u64) -> bool {
        self.marked.contains(&id)
    }

    fn mark(&mut self, id: u64) -> Result<(), String> {
        if id == 9 {
            return Err("it was not counted, so it cannot be marked".into());
        }
        match self.marked.iter().position(|marked| *marked == id) {
            Some(at) => _ = self.marked.remove(at),
            None => self.marked.push(id),
        }
        Ok(())
    }

    fn marked(&self) -> Total {
        Total { rows: self.marked.len() as u64, size: "1.2 GB".into() }
    }

    fn plan(&mut self) -> Plan {
        let word = |word, what: &str| Word { word, what: what.into() };
        Plan {
            lines: self.marked.iter().map(|id| format!("row {id}")).collect(),
            words: vec![
                word("quarantine", "moves to /q; `ftk undo` moves back"),
                word("delete", "CANNOT BE UNDONE"),
            ],
        }
    }
}

fn browser() -> Browser<Made> {
    Browser::new(Made::default(), "/srv/data".into())
}

fn press(browser: &mut Browser<Made>, keys: &str) -> Request {
    let mut last = Request::Nothing;
    for key in keys.chars() {
        last = browser.press(match key {
            '>' => Key::Enter,
            '<' => Key::Left,
            'v' => Key::Down,
            '^' => Key::Up,
            key => Key::Char(key),
        });
    }
    last
}

/// Returns the screen, with `|` before each line in reverse, and `:` before others.
fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let (mut line, mut skip) = (String::new(), 0);
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line += symbol;
            }
            skip = ratatui_core::text::Span::raw(symbol).width().max(skip).saturating_sub(1);
        }
        let is_reversed = buffer[(0, y)].modifier.contains(Modifier::REVERSED);
        text += if is_reversed { "|" } else { ":" };
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn screen(browser: &mut Browser<Made>, width: u16, height: u16, is_coloured: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(browser, frame.buffer_mut(), is_coloured)).unwrap();
    terminal.backend().buffer().clone()
}

fn shown(keys: &str, width: u16, height: u16) -> String {
    let mut browser = browser();
    press(&mut browser, keys);
    text(&screen(&mut browser, width, height, false))
}

#[test]
fn screens_of_three_sizes() {
    for (name, keys) in [
        ("list", "v "),
        ("inside", ">n "),
        ("help", "?"),
        ("plan", "  d"),
        ("typed", " dquaran"),
        ("wrong", " ddel>"),
    ] {
        for (width, height) in [(80, 24), (200, 50), (20, 5)] {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), shown(keys, width, height));
        }
    }
}

#[test]
fn nothing_has_a_colour_without_colours() {
    for is_coloured in [false, true] {
        let mut browser = browser();
        press(&mut browser, " ");
        let buffer = screen(&mut browser, 80, 24, is_coloured);
        let has_colours =
            buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(has_colours, is_coloured);
    }
}

#[test]
fn only_the_whole_word_acts() {
    for (keys, expected) in [
        (" ddelete>", Request::Act("delete")),
        (" dquarantine>", Request::Act("quarantine")),
        (" ddelet>", Request::Nothing),
        (" ddeletes>", Request::Nothing),
        (" dDELETE>", Request::Nothing),
        (" d>", Request::Nothing),
        ("ddelete>", Request::Nothing),
        ("delete>", Request::Nothing),
    ] {
        assert_eq!(press(&mut browser(), keys), expected, "{keys}");
    }
    let mut it = browser();
    press(&mut it, " ddelete");
    assert_eq!(it.press(Key::Escape), Request::Nothing);
    assert_eq!(it.press(Key::Enter), Request::Nothing);
    assert_eq!(it.press(Key::Interrupt), Request::Quit);
    assert_eq!(press(&mut it, "q"), Request::Quit);
    // In the question, q is a letter.
    assert_eq!(press(&mut browser(), " dq"), Request::Nothing);
}

/// Random keys, and now and then what could be a word.
fn keys() -> impl Strategy<Value = Vec<Key>> {
    let word = |word: &'static str| word.chars().map(Key::Char).chain([Key::Enter]).collect::<Vec<_>>();
    let words = ["d", "delete", "quarantine", "delet", "edelete", "DELETE", " ddelete"].map(word);
    let some = prop_oneof![8 => key().prop_map(|key| vec![key]), 1 => prop::sample::select(words.to_vec())];
    prop::collection::vec(some, 0..150).prop_map(|keys| keys.concat())
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        Just(Key::Up),
        Just(Key::Down),
        Just(Key::Left),
        Just(Key::Right),
        Just(Key::PageUp),
        Just(Key::PageDown),
        Just(Key::Home),
        Just(Key::End),
        Just(Key::Enter),
        Just(Key::Backspace),
        Just(Key::Escape),
        prop::sample::select("  ddsn?deletequarantine".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        any::<char>().prop_map(Key::Char),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The last keys before an action are the whole word, in the question that follows `d`.
    #[test]
    fn random_keys_draw_and_act_only_by_the_word(
        keys in keys(),
        sizes in prop::collection::vec((0_u16..90, 0_u16..30), 1..6),
    ) {
        let mut browser = browser();
        let mut typed = String::new();
        for (nth, key) in keys.into_iter().enumerate() {
            if let Request::Act(word) = browser.press(key) {
                prop_assert!(typed.ends_with(word) && key == Key::Enter);
                prop_assert!(!browser.source().marked.is_empty());
            }
            match key {
                Key::Char(c) if c.is_ascii_graphic() => typed.push(c),
                Key::Backspace => _ = typed.pop(),
                Key::Enter | Key::Escape | Key::Left => typed.clear(),
                _ => {}
            }
            let (width, height) = sizes[nth % sizes.len()];
            let mut buffer = Buffer::empty(ratatui_core::layout::Rect::new(0, 0, width, height));
            draw(&mut browser, &mut buffer, nth % 2 == 0);
            for cell in &buffer.content {
                prop_assert!(!cell.symbol().chars().any(char::is_control));
            }
        }
    }
}

//! What the terminal shows.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

use crate::browser::{Level, Mode};
use crate::keys::HELP;
use crate::{Browser, Plan, Row, Source};

/// Widths of the columns of a list.
const SIZE: usize = 9;
const BAR: usize = 10;
/// A terminal with fewer columns shows neither bars nor notes.
const WIDE: u16 = 60;

/// Draws the browser, in colours or without. Works for any size of the buffer.
pub fn draw<S: Source>(browser: &mut Browser<S>, buffer: &mut Buffer, is_coloured: bool) {
    let area = buffer.area;
    if area.is_empty() {
        return;
    }
    let mut screen = Screen { buffer, area, is_coloured };
    let body = area.height.saturating_sub(2);
    browser.page = usize::from(body).max(1);
    match &browser.mode {
        Mode::List => screen.list(browser, body),
        Mode::Help => {
            screen.bar(0, " keys");
            for (y, (keys, what)) in (1..=body).zip(HELP) {
                screen.text(0, y, &format!("  {keys:<20} {what}"), Style::new());
            }
            screen.bar(area.height - 1, " any key goes back");
        }
        Mode::Plan { plan, top, typed } => screen.plan(plan, *top, typed, body),
    }
    if let Some(message) = &browser.message {
        screen.bar(area.height - 1, &format!(" {message}"));
    }
}

struct Screen<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    is_coloured: bool,
}

impl Screen<'_> {
    fn list<S: Source>(&mut self, browser: &Browser<S>, body: u16) {
        let level = browser.level();
        self.title(level);
        let most = level.rows.iter().map(|row| row.bytes).max().unwrap_or_default();
        let rows = usize::from(body);
        // The cursor is in the middle, except near both ends.
        let top = level.cursor.saturating_sub(rows / 2).min(level.rows.len().saturating_sub(rows));
        for (y, (nth, row)) in (1..=body).zip(level.rows.iter().enumerate().skip(top)) {
            self.row(y, row, most, nth == level.cursor, browser.is_marked(row));
        }
        if level.rows.is_empty() && body > 0 {
            self.text(0, 1, "  nothing is here", Style::new());
        }
        let marked = browser.marked();
        let keys = "? keys  Space mark  d act  q quit";
        let footer = match marked.rows {
            0 => format!(" {keys}"),
            rows => format!(" {rows} marked, {}  {keys}", marked.size),
        };
        self.bar(self.area.height - 1, &footer);
    }

    fn title(&mut self, level: &Level) {
        let place = match level.rows.len() {
            0 => String::new(),
            rows => format!("  {}/{rows}", level.cursor + 1),
        };
        let width = usize::from(self.area.width).saturating_sub(1 + place.len());
        self.bar(0, &format!(" {}{place}", end_of(&level.title, width)));
    }

    fn row(&mut self, y: u16, row: &Row, most: u128, is_current: bool, is_marked: bool) {
        let mark = if is_marked { '*' } else { ' ' };
        let mut line = format!("{mark} {:>SIZE$} ", row.size);
        if self.area.width >= WIDE {
            let filled = filled(row.bytes, most);
            line += &format!("{:<BAR$} ", "#".repeat(filled));
        }
        let mut style = Style::new();
        if self.is_coloured && is_marked {
            style = style.fg(Color::Yellow);
        } else if self.is_coloured && row.opens {
            style = style.fg(Color::Blue);
        }
        if is_current {
            style = style.add_modifier(Modifier::REVERSED);
            self.fill(y, style);
        }
        let note = Span::raw(&*row.note).width() as u16;
        let has_note = note > 0 && self.area.width >= WIDE;
        let end = if has_note { self.area.width.saturating_sub(note + 1) } else { self.area.width };
        let width = usize::from(end).saturating_sub(Span::raw(&*line).width() + usize::from(has_note));
        self.text(0, y, &(line + &end_of(&row.name, width)), style);
        if has_note {
            self.text(end, y, &row.note, style);
        }
    }

    fn plan(&mut self, plan: &Plan, top: usize, typed: &str, body: u16) {
        self.bar(0, " plan: nothing is changed yet");
        // What the words do is always shown; the lines of the plan get the rest.
        let said = plan.words.iter().map(|word| format!(" {}: {}", word.word, word.what));
        let mut said: Vec<_> = said.collect();
        let whole: Vec<_> = said.iter().flat_map(|text| wrapped(text, self.area.width.into())).collect();
        // On a small screen, the start of each has to suffice.
        if whole.len() < usize::from(body) {
            said = whole;
        }
        let words = said.len().min(usize::from(body)) as u16;
        let lines = body - words;
        for (y, line) in (1..=lines).zip(plan.lines.iter().skip(top)) {
            self.text(0, y, &format!("  {line}"), Style::new());
        }
        let left = plan.lines.len().saturating_sub(top + usize::from(lines));
        if left > 0 && lines > 0 {
            self.clear(lines);
            self.text(0, lines, &format!("  (and {} more: down)", left + 1), Style::new());
        }
        let bold = Style::new().add_modifier(Modifier::BOLD);
        for (y, text) in (lines + 1..=body).zip(&said) {
            self.text(0, y, text, bold);
        }
        let names = plan.words.iter().map(|it| it.word).collect::<Vec<_>>().join(" or ");
        let question = match &*names {
            "" => " Esc goes back".into(),
            names => format!(" type {names} and Enter; Esc goes back: {typed}_"),
        };
        // What was typed stays visible.
        self.bar(self.area.height - 1, &end_of(&question, usize::from(self.area.width)));
    }

    /// Draws a line in reverse.
    fn bar(&mut self, y: u16, text: &str) {
        let style = Style::new().add_modifier(Modifier::REVERSED);
        self.clear(y);
        self.fill(y, style);
        self.text(0, y, text, style);
    }

    fn clear(&mut self, y: u16) {
        self.text(0, y, &" ".repeat(self.area.width.into()), Style::reset());
    }

    fn fill(&mut self, y: u16, style: Style) {
        self.buffer.set_style(Rect { y: self.area.y + y, height: 1, ..self.area }, style);
    }

    /// Writes text up to the right border.
    fn text(&mut self, x: u16, y: u16, text: &str, style: Style) {
        let width = usize::from(self.area.width.saturating_sub(x));
        let (x, y) = (self.area.x + x, self.area.y + y);
        self.buffer.set_stringn(x, y, text, width, style);
    }
}

/// Returns how many characters of a bar are filled.
fn filled(bytes: u128, most: u128) -> usize {
    match most {
        0 => 0,
        _ => (bytes.saturating_mul(BAR as u128).saturating_add(most / 2) / most) as usize,
    }
}

/// Breaks a text into lines of so many columns. Those after the first are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    const INDENT: &str = "   ";
    let mut lines = vec![String::new()];
    for c in text.chars() {
        let line = lines.last_mut().expect("there is a line");
        line.push(c);
        if Span::raw(&**line).width() > width && line.chars().count() > INDENT.len() + 1 {
            line.pop();
            lines.push(format!("{INDENT}{c}"));
        }
    }
    lines
}

/// Returns the end of a text that fits into so many columns.
fn end_of(text: &str, width: usize) -> String {
    if Span::raw(text).width() <= width {
        return text.into();
    }
    let starts = text.char_indices().map(|(at, _)| at).skip(1);
    let end = starts.map(|at| &text[at..]).find(|end| Span::raw(*end).width() < width);
    format!("<{}", end.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_never_too_long() {
        for (bytes, most, expected) in
            [(0, 0, 0), (0, 9, 0), (1, 2, 5), (9, 9, 10), (1, 1 << 70, 0), (u128::MAX, u128::MAX, 1)]
        {
            assert_eq!(filled(bytes, most), expected, "{bytes} {most}");
        }
    }

    #[test]
    fn lines_are_broken_where_the_screen_ends() {
        for (text, width, expected) in [
            ("to a/b", 6, &["to a/b"][..]),
            ("to a/bcdef", 6, &["to a/b", "   cde", "   f"]),
            ("to \u{65e5}\u{672c}", 6, &["to \u{65e5}", "   \u{672c}"]),
            ("abcdef", 2, &["abcd", "   e", "   f"]),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text} {width}");
        }
    }

    #[test]
    fn the_end_of_a_path_fits_in_columns_not_bytes() {
        for (text, width, expected) in
            [("/a/b", 4, "/a/b"), ("/a/b", 3, "</b"), ("/\u{65e5}\u{672c}", 4, "<\u{672c}"), ("abc", 0, "<")]
        {
            assert_eq!(end_of(text, width), expected, "{text} {width}");
        }
    }
}

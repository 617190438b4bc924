//! Bar charts of times.

use super::svg::{Svg, WIDTH};
use crate::bench::case::is_ftk;
use crate::bench::format;
use crate::bench::record::{Group, Row, is_slower};

/// Number of panels in a row.
const COLUMNS: usize = 3;
const MARGIN: f64 = 16.0;
/// Height of a bar and the space below it.
const STEP: f64 = 17.0;
const BAR: f64 = 12.0;
/// Width for the name of a tool before its bar, and for the figures after the longest bar.
const NAME: f64 = 104.0;
const FIGURES: f64 = 90.0;
const HEAD: f64 = 22.0;

/// One task, with the time of each tool.
pub(crate) struct Panel<'r> {
    pub(crate) title: String,
    pub(crate) group: &'r Group,
}

impl<'r> Panel<'r> {
    /// Makes a panel with the title of the group in its section.
    pub(crate) fn of(group: &'r Group) -> Self {
        Self { title: group.title.clone(), group }
    }
}

/// Draws panels below the title of their section, unless it is empty. Each panel has its own scale, from zero.
pub(crate) fn bars(title: &str, sections: &[(String, Vec<Panel<'_>>)]) -> String {
    let mut svg = Svg::default();
    svg.text(
        "faint",
        WIDTH - MARGIN,
        28.0,
        true,
        "time, and its ratio to that of ftk; orange: faster than ftk",
    );
    let mut top = 44.0;
    for (section, panels) in sections {
        if !section.is_empty() {
            svg.text("section", MARGIN, top + 14.0, false, section);
            top += 24.0;
        }
        for row in panels.chunks(COLUMNS) {
            let width = (WIDTH - 2.0 * MARGIN) / COLUMNS as f64;
            for (column, panel) in row.iter().enumerate() {
                draw(&mut svg, panel, MARGIN + width * column as f64, top, width);
            }
            let longest = row.iter().map(|panel| measured(panel.group).count()).max().unwrap_or(0);
            top += HEAD + STEP * longest as f64 + 8.0;
        }
    }
    svg.finish(title, top + 6.0)
}

/// Returns names, times and ratios of the measured rows.
fn measured(group: &Group) -> impl Iterator<Item = (&Row, f64, Option<f64>)> {
    group.rows.iter().filter_map(|row| Some((row, row.outcome.summary()?.median, group.ratio(row))))
}

fn draw(svg: &mut Svg, panel: &Panel<'_>, left: f64, top: f64, width: f64) {
    svg.text("group", left, top + 12.0, false, &panel.title.replace('`', ""));
    let longest = measured(panel.group).map(|(_, median, _)| median).fold(0.0, f64::max);
    let scale = (width - NAME - FIGURES) / longest.max(f64::MIN_POSITIVE);
    for (nth, (row, median, ratio)) in measured(panel.group).enumerate() {
        let y = top + HEAD + STEP * nth as f64;
        let class = match ratio {
            Some(ratio) if is_slower(ratio) => "ahead",
            _ if is_ftk(&row.tool) => "ftk",
            _ => "peer",
        };
        let length = (median * scale).max(1.0);
        svg.text("", left + NAME - 6.0, y + 10.0, true, &row.tool);
        svg.bar(class, left + NAME, y, length, BAR);
        let ratio = ratio.map(|ratio| format!(" {}", format::ratio(ratio))).unwrap_or_default();
        let figures = format!("{}{ratio}", format::time(median));
        svg.text("faint", left + NAME + length + 5.0, y + 10.0, false, &figures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::example;

    fn picture() -> String {
        let table = example();
        let group = &table.sections[0].groups[0];
        let panel = || Panel { title: "`a`".into(), group };
        bars("Listing", &[("small".into(), vec![panel(), panel(), panel(), panel()])])
    }

    #[test]
    fn lengths_are_proportional_to_times() {
        let picture = picture();
        let width = |class: &str| -> f64 {
            let bar = picture.split_once(&format!(r#"<rect class="{class}""#)).unwrap().1;
            bar.split_once(r#"width=""#).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
        };
        assert!((width("peer") / width("ftk") - 2.0).abs() < 0.01, "{picture}");
        assert!((width("ahead") / width("ftk") - 0.5).abs() < 0.01, "{picture}");
    }

    #[test]
    fn only_measured_tools_are_drawn() {
        let picture = picture();
        assert!(!picture.contains(">bad<"));
        assert_eq!(picture.matches(">40.0 ms 2.0x<").count(), 4);
        assert_eq!(picture.matches(">a</text>").count(), 4);
    }

    #[test]
    fn a_fourth_panel_begins_a_new_row() {
        let picture = picture();
        let heads: Vec<_> = picture.lines().filter(|line| line.contains(">a</text>")).collect();
        let y = |line: &str| line.split_once("y=").unwrap().1.split_once('>').unwrap().0.to_owned();
        assert_eq!(y(heads[0]), y(heads[2]));
        assert_ne!(y(heads[0]), y(heads[3]));
    }
}

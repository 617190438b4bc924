//! Line charts of times over the number of files, both scales logarithmic.

use super::svg::{Svg, WIDTH};
use crate::bench::format;
use crate::bench::record::{Group, Section};

const LEFT: f64 = 70.0;
/// Width for the names of the lines.
const RIGHT: f64 = 120.0;
const TOP: f64 = 60.0;
const HEIGHT: f64 = 300.0;
const BELOW: f64 = 40.0;
/// Height of a line of text, so that names do not overlap.
const TEXT: f64 = 14.0;

/// Draws a line for each tool of a section whose groups are numbers of files.
pub(crate) fn lines(title: &str, section: &Section) -> String {
    let points = |tool: &str| -> Vec<(f64, f64)> {
        let of = |group: &Group| {
            let row = group.rows.iter().find(|row| row.tool == tool)?;
            Some((group.files as f64, row.outcome.summary()?.median))
        };
        section.groups.iter().filter_map(of).collect()
    };
    let lines: Vec<_> = section.tools().into_iter().map(|tool| (tool, points(tool))).collect();
    let all = || lines.iter().flat_map(|(_, points)| points);
    let files = Axis::around(all().map(|point| point.0));
    let times = Axis::around(all().map(|point| point.1));
    let x = |count: f64| LEFT + files.part(count) * (WIDTH - LEFT - RIGHT);
    let y = |time: f64| TOP + (1.0 - times.part(time)) * HEIGHT;

    let mut svg = Svg::default();
    svg.text("faint", WIDTH - 16.0, 28.0, true, "time over the number of files, both scales logarithmic");
    for count in files.powers() {
        svg.path("grid", &[(x(count), TOP), (x(count), TOP + HEIGHT)]);
        svg.text("faint", x(count) + 4.0, TOP + HEIGHT + 16.0, true, &count.to_string());
    }
    for time in times.powers() {
        svg.path("grid", &[(LEFT, y(time)), (WIDTH - RIGHT, y(time))]);
        svg.text("faint", LEFT - 8.0, y(time) + 4.0, true, &format::time(time));
    }
    let mut names: Vec<(f64, &str, &str)> = Vec::new();
    for (nth, (tool, points)) in lines.iter().enumerate() {
        // ftk comes first; its other modes have the grey class, and peers the orange one.
        let class = if nth == 0 {
            "ftk"
        } else if tool.starts_with("ftk") {
            "peer"
        } else {
            "ahead"
        };
        let drawn: Vec<_> = points.iter().map(|&(files, time)| (x(files), y(time))).collect();
        svg.path(&format!("{class} line"), &drawn);
        names.extend(drawn.last().map(|last| (last.1, class, *tool)));
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::MIN;
    for (y, class, tool) in names {
        lowest = y.max(lowest + TEXT);
        svg.text(class, WIDTH - RIGHT + 8.0, lowest + 4.0, false, tool);
    }
    svg.finish(title, TOP + HEIGHT + BELOW)
}

/// A logarithmic scale between two powers of ten.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    /// Makes the smallest scale that contains all values.
    fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(1e-6).log10().floor() as i32;
        let high = values.fold(0.0, f64::max).max(1e-6).log10().ceil() as i32;
        Self { low, high: high.max(low + 1) }
    }

    /// Returns the position of `value`: 0 at the low end, 1 at the high end.
    fn part(&self, value: f64) -> f64 {
        (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low)
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10f64.powi(power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::{example, measured};

    #[test]
    fn an_axis_ends_at_powers_of_ten() {
        let axis = Axis::around([3.0, 450.0].into_iter());
        assert_eq!((axis.low, axis.high), (0, 3));
        assert!((axis.part(1.0), axis.part(1000.0)) == (0.0, 1.0));
        assert_eq!(axis.powers().collect::<Vec<_>>(), [1.0, 10.0, 100.0, 1000.0]);
        let one = Axis::around([1.0].into_iter());
        assert_eq!((one.low, one.high), (0, 1));
    }

    #[test]
    fn every_tool_has_a_line_and_a_name() {
        let mut section = example().sections.remove(0);
        let mut more = section.groups[0].clone();
        more.files = 10_000;
        for row in &mut more.rows {
            row.outcome = measured(&[200.0]);
        }
        more.rows.truncate(2);
        section.groups[0].rows.truncate(2);
        section.groups.push(more);
        let picture = lines("Scale", &section);
        assert_eq!(picture.matches(" line\"").count(), 2);
        let name =
            |tool: &str| picture.lines().find(|line| line.contains(&format!(">{tool}</text>"))).unwrap();
        let y = |line: &str| line.split_once("y=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
        assert_ne!(y(name("ftk")), y(name("fd")), "both end at the same time");
    }
}

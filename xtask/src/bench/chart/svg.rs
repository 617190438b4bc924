//! Writes SVG drawings.

use std::fmt::Write as _;

/// Width of every drawing in pixels, which fits into a page of text.
pub(super) const WIDTH: f64 = 880.0;

/// Colours by class. The drawing has its own background, because the page may be light or dark.
const STYLE: &str = "\
text{font:11px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}.section{font-size:13px;font-weight:600}.group{font-weight:600}
.faint{fill:#59636e}.ground{fill:#fff;stroke:#d1d9e0}.grid{stroke:#d1d9e0;fill:none}
.ftk{fill:#0969da;stroke:#0969da}.peer{fill:#afb8c1;stroke:#818b98}.ahead{fill:#bc4c00;stroke:#bc4c00}
.line{fill:none;stroke-width:2}text.ftk,text.peer,text.ahead{stroke:none}text.peer{fill:#59636e}
@media(prefers-color-scheme:dark){
text{fill:#f0f6fc}.faint,text.peer{fill:#9198a1}.ground{fill:#0d1117;stroke:#3d444d}.grid{stroke:#3d444d}
.ftk{fill:#4493f8;stroke:#4493f8}.peer{fill:#656c76;stroke:#9198a1}.ahead{fill:#db6d28;stroke:#db6d28}.line{fill:none}}
";

/// The drawing so far.
#[derive(Default)]
pub(super) struct Svg(String);

impl Svg {
    /// Draws text with its base line at `y`. It begins at `x`, or ends there if `is_end`.
    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, is_end: bool, text: &str) {
        let anchor = if is_end { r#" text-anchor="end""# } else { "" };
        let text = escaped(text);
        let _ = writeln!(self.0, r#"<text class="{class}" x="{x:.1}" y="{y:.1}"{anchor}>{text}</text>"#);
    }

    pub(super) fn bar(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.0,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        );
    }

    /// Draws a line through these points.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.0, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
    }

    /// Returns the whole drawing, with a title for screen readers.
    pub(super) fn finish(self, title: &str, height: f64) -> String {
        let (title, body) = (escaped(title), self.0);
        let (inner_width, inner_height) = (WIDTH - 1.0, height - 1.0);
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">
<title>{title}</title>
<style>
{STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="{inner_width}" height="{inner_height}" rx="6"/>
<text class="title" x="16" y="28">{title}</text>
{body}</svg>
"#
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut svg = Svg::default();
        svg.text("group", 1.0, 2.0, true, "a<b>&\"c\"");
        let picture = svg.finish("x & y", 40.0);
        assert!(picture.contains(">a&lt;b&gt;&amp;&quot;c&quot;</text>"), "{picture}");
        assert!(picture.contains("<title>x &amp; y</title>"), "{picture}");
    }

    #[test]
    fn light_and_dark_screens_have_colours() {
        let picture = Svg::default().finish("x", 40.0);
        let dark = picture.split_once("@media(prefers-color-scheme:dark){").unwrap().1;
        for class in [".ground", ".ftk", ".peer", ".ahead", ".faint", ".grid"] {
            assert!(picture.matches(class).count() > dark.matches(class).count(), "{class}");
            assert!(dark.contains(class), "{class}");
        }
    }
}

//! The picture of docs/performance.md and README.md: a bar per family from its worst to its best speed, with its median, on
//! a logarithmic axis. Plain SVG without a font of this machine.

use super::comparison::{self, median, speed};
use super::family::FAMILIES;
use crate::bench::result::Table;
use std::fmt::Write;

/// The picture.
pub fn picture(table: &Table) -> String {
    let speeds = FAMILIES.iter().map(|family| {
        let all: Vec<f64> = comparison::comparisons(family, table).iter().map(|one| one.speed).collect();
        (family.title, all)
    });
    let mut bars: Vec<(&str, Vec<f64>)> = speeds.filter(|(_, all)| !all.is_empty()).collect();
    bars.sort_by(|(_, one), (_, other)| median(other).total_cmp(&median(one)));
    let height = TOP + ROW * bars.len() as f64 + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"20\" font-weight=\"bold\">Speed against the best other library: bar from worst to best size, dot at the median</text>\n"
    );
    axis(&mut svg, height - BOTTOM);
    for (index, (title, all)) in bars.iter().enumerate() {
        bar(&mut svg, TOP + ROW * index as f64, title, all);
    }
    svg + "</svg>\n"
}

fn axis(svg: &mut String, bottom: f64) {
    for mark in MARKS {
        let (x, bold) = (place(mark), mark == 1.0);
        let (color, width) = if bold { ("#333333", 2) } else { ("#dddddd", 1) };
        _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"{color}\" stroke-width=\"{width}\"/>",
            TOP - 6.0
        );
        _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">{mark}</text>",
            bottom + 16.0
        );
    }
    _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">slower ← 1 = the best other library → faster</text>",
        place(1.0) + 60.0,
        bottom + 34.0
    );
}

/// What is beyond the axis ends at its edge.
fn bar(svg: &mut String, top: f64, title: &str, sorted: &[f64]) {
    let (worst, best, middle) = (sorted[0], sorted[sorted.len() - 1], median(sorted));
    let (left, right, dot) = (place(worst), place(best), place(middle));
    let (text, center) = (top + ROW / 2.0 + 4.0, top + ROW / 2.0);
    _ = writeln!(svg, "<text x=\"10\" y=\"{text}\">{title}</text>");
    let one = place(1.0);
    for (from, to, color) in [(left, right.min(one), LOSS), (left.max(one), right, WIN)] {
        if to > from {
            let (y, width, height) = (top + 5.0, to - from, ROW - 10.0);
            _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{color}\"/>"
            );
        }
    }
    _ = writeln!(svg, "<circle cx=\"{dot:.1}\" cy=\"{center}\" r=\"5\" fill=\"#222222\"/>");
    _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{text}\">{}</text>", RIGHT + 8.0, speed(middle));
}

fn place(speed: f64) -> f64 {
    let (least, most) = (MARKS[0].ln(), MARKS[MARKS.len() - 1].ln());
    LEFT + (RIGHT - LEFT) * ((speed.ln() - least) / (most - least)).clamp(0.0, 1.0)
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 260.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 40.0;
const ROW: f64 = 26.0;
const BOTTOM: f64 = 46.0;
const MARKS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
pub(super) const LOSS: &str = "#d98880";
pub(super) const WIN: &str = "#7fb3d5";

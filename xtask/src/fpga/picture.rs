//! Pictures of the documentation: the wires of wires.txt, the states of a node, times over the number of nodes.

use std::fmt::Write;

/// One wire of the picture.
pub struct Line<'a> {
    /// Of the DB-25 connector.
    pub pin: u8,
    /// `data.0` and so on.
    pub place: String,
    /// Its name.
    pub name: &'a str,
    /// The port inverts it.
    pub inverted: bool,
    /// The node reads it.
    pub inward: bool,
}

/// A node's port, its cable and the machine.
pub fn wiring(lines: &[Line<'_>]) -> String {
    let height = 90 + 26 * lines.len();
    let mut svg = begin(760, height, "The wires between a node's parallel port and the barrier machine");
    _ = writeln!(svg, "<rect class=\"box\" x=\"20\" y=\"40\" width=\"250\" height=\"{}\"/>", height - 60);
    _ = writeln!(svg, "<rect class=\"box\" x=\"540\" y=\"40\" width=\"200\" height=\"{}\"/>", height - 60);
    svg += "<text class=\"head\" x=\"30\" y=\"30\">parallel port: register bit, pin</text>\n";
    svg += "<text class=\"head\" x=\"550\" y=\"30\">machine</text>\n";
    for (index, line) in lines.iter().enumerate() {
        let y = 66 + 26 * index;
        // A circle at the port's edge is an inverter, as in drawings of gates.
        let inverter = if line.inverted {
            format!("<circle class=\"box\" cx=\"275\" cy=\"{}\" r=\"5\"/>", y - 4)
        } else {
            String::new()
        };
        let (from, to) = if line.inward { (540, 284) } else { (284, 540) };
        let text = |x: usize, words: &str| format!("<text x=\"{x}\" y=\"{y}\">{words}</text>\n");
        svg += &text(30, &line.place);
        svg += &text(215, &format!("pin {}", line.pin));
        svg += &text(550, &line.name.replace('_', " "));
        _ = writeln!(svg, "<path class=\"wire\" d=\"M{from} {} H{to}\"/>{inverter}", y - 4);
    }
    svg + "</svg>\n"
}

/// The states of a node in one channel, as `hw_fpga::node` has them.
pub fn states() -> String {
    let mut svg = begin(760, 330, "The states of a node: outside, waiting, stopped, dead");
    for (x, y, name) in [(120, 90, "outside"), (560, 90, "waiting"), (340, 210, "stopped"), (340, 295, "dead")] {
        _ = writeln!(svg, "<ellipse class=\"box\" cx=\"{x}\" cy=\"{y}\" rx=\"70\" ry=\"24\"/>");
        _ = writeln!(svg, "<text class=\"middle\" x=\"{x}\" y=\"{}\">{name}</text>", y + 5);
    }
    for (path, x, y, words) in [
        ("M180 76 Q340 30 500 76", 340, 40, "write !level"),
        ("M492 94 H190", 340, 112, "level flipped, in as many readings as are believed"),
        ("M140 114 Q190 190 272 204", 120, 170, "heard of a stop"),
        ("M540 114 Q490 190 408 204", 570, 170, "late, or heard of a stop"),
        ("M340 234 V269", 545, 256, "all have stopped and told a number: the highest decides"),
    ] {
        _ = writeln!(
            svg,
            "<path class=\"wire\" d=\"{path}\"/><text class=\"middle\" x=\"{x}\" y=\"{y}\">{words}</text>"
        );
    }
    svg + "</svg>\n"
}

/// One curve: its name, a class of the style, microseconds by number of nodes.
pub type Curve<'a> = (&'a str, &'a str, Vec<(usize, f64)>);

/// Times over the logarithm of the number of nodes.
pub fn times(curves: &[Curve<'_>], title: &str) -> String {
    let mut svg = begin(760, 420, title);
    let highest = curves.iter().flat_map(|(_, _, points)| points).map(|point| point.1).fold(1.0, f64::max).ceil();
    let x = |nodes: usize| 70.0 + (nodes as f64).log2() * 100.0;
    let y = |us: f64| 370.0 - us / highest * 320.0;
    for nodes in [2, 4, 8, 16, 32, 60] {
        _ = writeln!(svg, "<text class=\"middle\" x=\"{:.0}\" y=\"392\">{nodes}</text>", x(nodes));
    }
    for part in 0..=4 {
        let us = highest * f64::from(part) / 4.0;
        _ = writeln!(svg, "<path class=\"grid\" d=\"M150 {:.0} H670\"/>", y(us));
        _ = writeln!(svg, "<text x=\"100\" y=\"{:.0}\">{us:.1}</text>", y(us) + 5.0);
    }
    _ = writeln!(svg, "<text class=\"head\" x=\"20\" y=\"30\">{title}</text>");
    svg += "<text class=\"middle\" x=\"400\" y=\"412\">nodes</text>\n";
    for (name, class, points) in curves {
        let places: Vec<String> = points.iter().map(|(nodes, us)| format!("{:.0},{:.1}", x(*nodes), y(*us))).collect();
        _ = writeln!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", places.join(" "));
        if let Some((nodes, us)) = points.last() {
            _ = writeln!(svg, "<text x=\"{:.0}\" y=\"{:.0}\">{name}</text>", x(*nodes) + 6.0, y(*us) + 4.0);
        }
    }
    svg + "</svg>\n"
}

fn begin(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n\
         {STYLE}<rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    )
}

const STYLE: &str = "\
<style>text{font:13px sans-serif;fill:#222}.head{font-weight:bold}.middle{text-anchor:middle}
.box{fill:#f4f4f4;stroke:#444}.wire{fill:none;stroke:#1a5fb4;stroke-width:1.5;marker-end:url(#to)}.grid{stroke:#ddd}
.a,.b,.c{fill:none;stroke-width:2}.a{stroke:#1a5fb4}.b{stroke:#26a269}.c{stroke:#c01c28}</style>
<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">
<path d=\"M0 0 L8 4 L0 8 z\" fill=\"#1a5fb4\"/></marker></defs>
";

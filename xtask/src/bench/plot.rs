//! Curves over the size of a message: one picture per row, as SVG and PNG.
//!
//! An SVG names its font and leaves it to the reader's program. A PNG needs one here: the first that is found among a few
//! usual places; without one there are SVGs only.

mod svg;

use super::result::{Figure, Measured, SizeLine, Table};
use crate::failure::{At, Result};
use crate::shell;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::path::Path;
use svg::Measuring;

/// Draws every row that has a curve; returns their names, and whether there are PNGs.
pub fn draw(table: &Table, folder: &Path) -> Result<(Vec<String>, bool)> {
    shell::folder(folder)?;
    let png = register();
    let mut names = Vec::new();
    for row in &table.rows {
        let curves = curves(table, row);
        if curves.iter().all(|curve| curve.points.len() < 3) {
            continue;
        }
        let file = |extension: &str| folder.join(format!("{}.{extension}", row.name));
        let (path, picture) = (file("svg"), Picture { row, curves: &curves });
        picture.draw(&Measuring::new(&path, SIZE).into_drawing_area()).at(format!("write {}", path.display()))?;
        if png {
            let path = file("png");
            picture
                .draw(&BitMapBackend::new(&path, SIZE).into_drawing_area())
                .at(format!("write {}", path.display()))?;
        }
        names.push(row.name.clone());
    }
    Ok((names, png))
}

/// One contestant's line.
struct Curve {
    name: String,
    color: RGBColor,
    width: u32,
    points: Vec<(f64, f64)>,
}

struct Picture<'a> {
    row: &'a Measured,
    curves: &'a [Curve],
}

fn curves(table: &Table, row: &Measured) -> Vec<Curve> {
    // The logarithm of the size is drawn: an empty message has no place on that axis.
    let points = |figure: &dyn Fn(&SizeLine) -> Option<Figure>| {
        let sizes = row.sizes.iter().filter(|line| line.size > 0 && line.label.is_none());
        sizes.filter_map(|line| Some((line.size as f64, figure(line)?.best?))).collect::<Vec<_>>()
    };
    let libraries = table.libraries.iter().enumerate().map(|(index, library)| Curve {
        name: library.name.clone(),
        color: COLORS[index % COLORS.len()],
        width: if index == 0 { 3 } else { 2 },
        points: points(&|line| line.figures.get(index).copied().flatten()),
    });
    let raw = Curve { name: "raw".to_owned(), color: GRAY, width: 1, points: points(&|line| line.raw) };
    libraries.chain([raw]).filter(|curve| !curve.points.is_empty()).collect()
}

impl Picture<'_> {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> std::result::Result<(), String> {
        self.paint(area).map_err(|error| error.to_string())
    }

    fn paint<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> std::result::Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        area.fill(&WHITE)?;
        let all = || self.curves.iter().flat_map(|curve| &curve.points);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (left, right) = range(&mut all().map(|point| point.0));
        let (low, high) = range(&mut all().map(|point| point.1));
        let font = |height: u32| ("sans-serif", height).into_font();
        let title = format!("{}, {} ({} ranks)", self.row.name, self.row.unit.name(), self.row.ranks);
        area.draw(&Text::new(title, (20, 12), font(22).color(&BLACK)))?;
        let mut chart = ChartBuilder::on(area)
            .margin_top(45)
            .margin_right(150)
            .margin_bottom(10)
            .x_label_area_size(45)
            .y_label_area_size(70)
            .build_cartesian_2d((left..right * 1.05).log_scale().base(4.0), (low * 0.8..high * 1.25).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(RGBColor(235, 235, 235))
            .bold_line_style(RGBColor(215, 215, 215))
            .label_style(font(15))
            .x_labels(8)
            .x_desc(self.row.over.as_str())
            .axis_desc_style(font(16))
            .x_label_formatter(&|size| bytes(*size))
            .y_label_formatter(&|value| super::print::digits(*value))
            .draw()?;
        for (index, curve) in self.curves.iter().enumerate() {
            let line = ShapeStyle { color: curve.color.into(), filled: true, stroke_width: curve.width };
            chart.draw_series(LineSeries::new(curve.points.iter().copied(), line))?;
            chart.draw_series(curve.points.iter().map(|point| Circle::new(*point, 3, curve.color.filled())))?;
            let (x, y) = (SIZE.0 as i32 - 140, 60 + 24 * index as i32);
            area.draw(&PathElement::new([(x, y + 8), (x + 22, y + 8)], line))?;
            area.draw(&Text::new(curve.name.clone(), (x + 28, y), font(15).color(&BLACK)))?;
        }
        area.present()
    }
}

/// 64, 4k, 1M.
fn bytes(size: f64) -> String {
    match size {
        size if size >= 1048576.0 => format!("{:.0}M", size / 1048576.0),
        size if size >= 1024.0 => format!("{:.0}k", size / 1024.0),
        _ => format!("{size:.0}"),
    }
}

/// Makes a font known to the bitmap backend, if this machine has one.
fn register() -> bool {
    FONTS.iter().any(|path| {
        // It lives as long as the program: the registry wants it so.
        let read = std::fs::read(path).ok().map(|bytes| &*Box::leak(bytes.into_boxed_slice()));
        read.is_some_and(|bytes| register_font("sans-serif", FontStyle::Normal, bytes).is_ok())
    })
}

const SIZE: (u32, u32) = (860, 480);
const GRAY: RGBColor = RGBColor(120, 120, 120);
/// Ours first; people who see few colors can tell them apart, too.
const COLORS: &[RGBColor] = &[
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
/// `apt-get install fonts-dejavu-core`, and where other systems have theirs.
const FONTS: &[&str] = &[
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
    "/usr/share/fonts/truetype/lato/Lato-Regular.ttf",
    "/System/Library/Fonts/Supplemental/Arial.ttf",
];

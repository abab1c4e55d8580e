//! This library against the best of all others, in one number that reads alike for times and rates.

use super::family::{self, Family};
use crate::bench::print::digits;
use crate::bench::result::{Measured, SizeLine, Table};

/// One size of one row.
pub struct Comparison<'a> {
    /// The row.
    pub row: &'a Measured,
    /// Its size.
    pub line: &'a SizeLine,
    /// How many times as fast as the best other library: 2 halves its time, or doubles its rate.
    pub speed: f64,
    ours: f64,
    other: f64,
}

impl<'a> Comparison<'a> {
    /// All sizes of a row that others ran, too.
    pub fn of_row(table: &'a Table, row: &'a Measured) -> impl Iterator<Item = Comparison<'a>> {
        row.sizes.iter().filter_map(move |line| {
            let peer = line.best_peer.as_deref()?;
            let index = table.libraries.iter().position(|library| library.name == peer)?;
            let best = |index: usize| line.figures.get(index)?.as_ref()?.best;
            let (ours, other) = (best(0)?, best(index)?);
            let speed = if row.unit.is_time() { other / ours } else { ours / other };
            Some(Comparison { row, line, speed, ours, other })
        })
    }

    /// Slower, by what two digits show.
    pub fn is_loss(&self) -> bool {
        self.speed < 0.995
    }

    /// `0.060 µs`.
    pub fn ours(&self) -> String {
        format!("{} {}", digits(self.ours), self.row.unit.name())
    }

    /// `0.150 µs (openmpi)`.
    pub fn other(&self) -> String {
        let peer = self.line.best_peer.as_deref().unwrap_or("");
        format!("{} {} ({peer})", digits(self.other), self.row.unit.name())
    }

    /// The size as tables show it.
    pub fn size(&self) -> String {
        label(self.line)
    }
}

/// The measured rows of a family, in the order of the table. A row belongs to the first family that holds its name.
pub fn rows<'a>(family: &'static Family, table: &'a Table) -> impl Iterator<Item = &'a Measured> {
    table.rows.iter().filter(move |row| std::ptr::eq(family::of(&row.name), family))
}

/// The comparisons of a family, the slowest first.
pub fn comparisons<'a>(family: &'static Family, table: &'a Table) -> Vec<Comparison<'a>> {
    let mut all: Vec<_> = rows(family, table).flat_map(|row| Comparison::of_row(table, row)).collect();
    all.sort_by(|one, other| one.speed.total_cmp(&other.speed));
    all
}

/// `2.50`, `650`.
pub fn speed(value: f64) -> String {
    if value < 99.5 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The middle one of an ascending list, of an even number the lower one.
pub fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// A line's first cell: 8, 4 Ki, 1 Mi, or its name.
pub fn label(line: &SizeLine) -> String {
    line.label.clone().unwrap_or_else(|| size(line.size))
}

fn size(size: u64) -> String {
    match size {
        size if size >= 1 << 20 && size % (1 << 20) == 0 => format!("{} Mi", size >> 20),
        size if size >= 1 << 10 && size % (1 << 10) == 0 => format!("{} Ki", size >> 10),
        _ => size.to_string(),
    }
}

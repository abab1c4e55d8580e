//! Tables for people: columns as wide as their widest cell.

use alloc::string::String;
use alloc::vec::Vec;

/// The lines of a table; the first row is its head.
pub fn lines(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let width = |column| cells(column).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str("  ");
            line.push_str(cell);
            line.extend(core::iter::repeat_n(' ', width - cell.chars().count()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `0-3,5`, of ranks in ascending order.
pub fn ranges(ranks: &[u32]) -> String {
    let mut text = String::new();
    for run in ranks.chunk_by(|first, second| first + 1 == *second) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&match run {
            [only] => alloc::format!("{only}"),
            [first, .., last] => alloc::format!("{first}-{last}"),
            [] => continue,
        });
    }
    text
}

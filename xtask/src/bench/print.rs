//! The table on the terminal.

use super::result::{Figure, Measured, SizeLine, Table};

/// Prints all rows: best and median of each contestant, ratio to the best peer, and what the machine does.
pub fn table(table: &Table) {
    for row in &table.rows {
        println!("\n{}", heading(row));
        let width = row.sizes.iter().map(|line| first(line).len()).max().unwrap_or(0).max(9);
        let mut head = format!("{:>width$}", row.over);
        for library in &table.libraries {
            head += &format!(" {:>19}", library.name);
        }
        let compared = row.sizes.iter().any(|line| line.ratio.is_some());
        let before = row.sizes.iter().any(|line| line.baseline_ratio.is_some());
        let raw = row.sizes.iter().any(|line| line.raw.is_some());
        head += if raw { "                 raw" } else { "" };
        head += if before { "  /baseline" } else { "" };
        head += if compared { "  ratio  to            aim" } else { "" };
        println!("{head}");
        for line in &row.sizes {
            println!("{:>width$}{}", first(line), text(line, raw, before, compared));
        }
        row.failures.iter().for_each(|failure| println!("  ! {failure}"));
    }
    let disturbed: usize = figures(table).map(|figure| figure.disturbed).sum();
    let clean: usize = figures(table).map(|figure| figure.clean).sum();
    println!("\nbest median of each; {disturbed} of {} samples were disturbed and left out", disturbed + clean);
}

/// How many launches failed.
pub fn troubles(table: &Table) -> usize {
    table.rows.iter().map(|row| row.failures.len()).sum()
}

/// What a row is, as a sentence begins.
pub fn title(row: &Measured) -> String {
    let mut letters = row.title.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn heading(row: &Measured) -> String {
    let crowded = if row.crowded { ", more ranks or threads than cores: no sample left out" } else { "" };
    format!("{} ({}, {} ranks{crowded}): {}", row.name, row.unit.name(), row.ranks, row.title)
}

fn first(line: &SizeLine) -> String {
    line.label.clone().unwrap_or_else(|| line.size.to_string())
}

fn text(line: &SizeLine, raw: bool, before: bool, compared: bool) -> String {
    let mut text = String::new();
    for figure in &line.figures {
        text += &format!(" {:>19}", pair(figure.as_ref()));
    }
    if raw {
        text += &format!(" {:>19}", pair(line.raw.as_ref()));
    }
    if before {
        text += &line.baseline_ratio.map_or(format!("{:>11}", "-"), |ratio| format!("{ratio:>11.3}"));
    }
    if compared {
        text += &line.ratio.map_or(format!("{:>7}", "-"), |ratio| format!("{ratio:>7.2}"));
        text += &format!("  {:<14} ", line.best_peer.as_deref().unwrap_or(""));
        text += &line.aim.map_or(String::new(), |aim| format!("{aim:.2}"));
    }
    text
}

fn pair(figure: Option<&Figure>) -> String {
    match figure {
        Some(Figure { best: Some(best), median: Some(median), .. }) => format!("{} {}", digits(*best), digits(*median)),
        Some(_) => "all disturbed".to_owned(),
        None => "-".to_owned(),
    }
}

/// Three or four digits that say something.
pub fn digits(value: f64) -> String {
    match value {
        value if value < 9.9995 => format!("{value:.3}"),
        value if value < 99.995 => format!("{value:.2}"),
        value if value < 999.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn figures(table: &Table) -> impl Iterator<Item = &Figure> {
    table.rows.iter().flat_map(|row| &row.sizes).flat_map(|line| line.figures.iter().flatten().chain(&line.raw))
}

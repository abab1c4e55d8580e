//! docs/performance.md: one screen of losses and wins, and the links to everything else.

use super::comparison::{self, Comparison, median, speed};
use super::family::{self, FAMILIES, Family};
use crate::bench::result::Table;
use std::fmt::Write;

/// The page.
pub fn page(table: &Table) -> String {
    let others: Vec<&str> = table.libraries.iter().skip(1).map(|library| library.name.as_str()).collect();
    let (machine, date) = (&table.machine, &table.machine.date);
    let mut page = format!(
        "# Performance\n\nGenerated from one run's figures by `cargo xtask bench report`; do not edit. {date}: {}, {} cores, against {}. \
         Best of many short samples, launches in turn; [what was measured, and where](performance/method.md).\n\n\
         *Speed* compares with the best of all other libraries in each size: 2.00 halves its time or doubles its rate, below 1.00 \
         this library is slower.\n\n![Speed by family of rows](performance/overview.svg)\n",
        machine.processor,
        machine.cores,
        if others.is_empty() { "no other library".to_owned() } else { others.join(", ") },
    );
    losses(&mut page, table);
    wins(&mut page, table);
    if super::aims::page(table).is_some() {
        page += "\nSome rows have an aim: [aims](performance/aims.md) lists the reached and the missed ones.\n";
    }
    page += "\nTo measure on your machine: `cargo xtask bench --against openmpi,mpich,impi --json figures.json --plot plots`; \
             `cargo xtask bench --quick` takes about a minute. Programs: [benches/c](../benches/c).\n";
    page
}

/// Each row that loses somewhere, by its worst size, the worst first: some in a table, the others in a sentence.
fn losses(page: &mut String, table: &Table) {
    let rows = table.rows.iter().map(|row| Comparison::of_row(table, row).collect::<Vec<_>>());
    let all: Vec<Vec<Comparison<'_>>> = rows.collect();
    let (compared, lost) =
        all.iter().flatten().fold((0, 0), |(compared, lost), one| (compared + 1, lost + usize::from(one.is_loss())));
    let mut losers: Vec<Comparison<'_>> = all.into_iter().filter_map(slowest).filter(Comparison::is_loss).collect();
    losers.sort_by(|one, other| one.speed.total_cmp(&other.speed));
    _ = write!(page, "\n## Where it loses\n\n{lost} of {compared} sizes are slower than the best other library.");
    if losers.is_empty() {
        *page += "\n";
        return;
    }
    *page += " Each row by its worst size:\n\n| row | size | ours | best other | speed |\n|---|---:|---:|---:|---:|\n";
    for loser in losers.iter().take(TABLED) {
        let name = &loser.row.name;
        _ = writeln!(
            page,
            "| [{name}](performance/{}.md#{name}) | {} | {} | {} | {} |",
            family::of(name).file,
            loser.size(),
            loser.ours(),
            loser.other(),
            speed(loser.speed),
        );
    }
    let rest = losers.iter().skip(TABLED);
    let rest: Vec<String> =
        rest.map(|loser| format!("{} {} {}", loser.row.name, loser.size(), speed(loser.speed))).collect();
    if !rest.is_empty() {
        _ = writeln!(page, "\nAnd {} rows by less: {}.", rest.len(), rest.join(", "));
    }
}

fn slowest(row: Vec<Comparison<'_>>) -> Option<Comparison<'_>> {
    row.into_iter().min_by(|one, other| one.speed.total_cmp(&other.speed))
}

/// Each family, the least win first.
fn wins(page: &mut String, table: &Table) {
    let families = FAMILIES.iter().filter(|family| comparison::rows(family, table).next().is_some());
    let mut families: Vec<(&Family, Vec<Comparison<'_>>)> =
        families.map(|family| (family, comparison::comparisons(family, table))).collect();
    let middle = |all: &[Comparison<'_>]| median(&all.iter().map(|one| one.speed).collect::<Vec<_>>());
    families.sort_by(|(_, one), (_, other)| middle(one).total_cmp(&middle(other)));
    *page += "\n## Where it wins\n\nFamilies of rows, the least win first:\n\n| figures | sizes | won | median speed | best |\n|---|---:|---:|---:|---|\n";
    for (family, all) in families {
        let link = format!("[{}](performance/{}.md)", family.title, family.file);
        let Some(best) = all.last() else {
            _ = writeln!(page, "| {link} | 0 | – | – | – |");
            continue;
        };
        let won = all.iter().filter(|one| !one.is_loss()).count();
        let best = format!("{} of {}, {}", speed(best.speed), best.row.name, best.size());
        _ = writeln!(page, "| {link} | {} | {won} | {} | {best} |", all.len(), speed(middle(&all)));
    }
}

/// So many rows fit on the first screen.
const TABLED: usize = 10;

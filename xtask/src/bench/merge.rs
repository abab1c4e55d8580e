//! Several runs on one machine as one: contestants that take minutes in some rows are left out of those, not of all.

use super::result::{Contestant, Measured, Table};
use super::rows;
use crate::failure::{Result, fail, refuse};

/// All rows of all tables, in the order of [`rows::all`], what is none of them behind; each contestant has one column.
pub fn tables(tables: Vec<Table>) -> Result<Table> {
    let mut tables = tables.into_iter();
    let mut all = tables.next().ok_or_else(|| fail("there are no figures to merge"))?;
    for table in tables {
        add(&mut all, table)?;
    }
    all.rows.sort_by_key(|row| rows::all().position(|known| known.name == row.name).unwrap_or(usize::MAX));
    Ok(all)
}

fn add(all: &mut Table, more: Table) -> Result<()> {
    let same = (&all.machine.processor, all.machine.cores, &all.machine.kernel)
        == (&more.machine.processor, more.machine.cores, &more.machine.kernel);
    if !same || all.format != more.format {
        return Err(refuse(
            "the files have figures of different machines or formats, whose ratios mean nothing together; measure all on one machine",
        ));
    }
    let mut places = Vec::new();
    for library in more.libraries {
        places.push(place(&mut all.libraries, library)?);
    }
    if places.first() != Some(&0) {
        return Err(refuse(
            "each file must have this library as its first contestant; write the files by `cargo xtask bench --json`",
        ));
    }
    for mut row in more.rows {
        if all.rows.iter().any(|known| known.name == row.name) {
            return Err(refuse(format!("row {} is in several of the files; measure it in one run", row.name)));
        }
        for line in &mut row.sizes {
            let mut figures = vec![None; all.libraries.len()];
            for (figure, place) in line.figures.iter().zip(&places) {
                figures[*place] = *figure;
            }
            line.figures = figures;
        }
        all.rows.push(row);
    }
    let columns = all.libraries.len();
    all.rows.iter_mut().for_each(|row| widen(row, columns));
    all.seconds += more.seconds;
    all.machine.load = all.machine.load.max(more.machine.load);
    Ok(())
}

/// The contestant's column; a new one if it took no part before.
fn place(all: &mut Vec<Contestant>, library: Contestant) -> Result<usize> {
    match all.iter().position(|known| known.name == library.name) {
        Some(index) if all[index].version != library.version => Err(refuse(format!(
            "{} is `{}` in one file and `{}` in another",
            library.name, all[index].version, library.version
        ))),
        Some(index) => Ok(index),
        None => {
            all.push(library);
            Ok(all.len() - 1)
        }
    }
}

fn widen(row: &mut Measured, columns: usize) {
    row.sizes.iter_mut().for_each(|line| line.figures.resize(columns, None));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::result::{Figure, Machine, SizeLine};
    use crate::bench::rows::Unit;

    fn table(libraries: &[&str], row: &str, figures: &[f64]) -> Table {
        let machine = Machine {
            processor: "p".to_owned(),
            cores: 2,
            memory_gib: 1.0,
            kernel: "k".to_owned(),
            compiler: "c".to_owned(),
            rustc: "r".to_owned(),
            date: "d".to_owned(),
            load: 0.1,
        };
        let contestant =
            |name: &&str| Contestant { name: (*name).to_owned(), version: "1".to_owned(), settings: Vec::new() };
        let figure = |best: &f64| Some(Figure { best: Some(*best), median: Some(*best), clean: 1, disturbed: 0 });
        let line = SizeLine {
            size: 8,
            label: None,
            figures: figures.iter().map(figure).collect(),
            raw: None,
            best_peer: None,
            ratio: None,
            baseline_ratio: None,
            aim: None,
        };
        let row = Measured {
            name: row.to_owned(),
            title: String::new(),
            ranks: 2,
            over: String::new(),
            crowded: false,
            rounds: 3,
            samples: 8,
            unit: Unit::Us,
            sizes: vec![line],
            failures: Vec::new(),
        };
        let libraries = libraries.iter().map(contestant).collect();
        Table { format: 2, machine, seconds: 10.0, libraries, rows: vec![row] }
    }

    #[test]
    fn each_contestant_keeps_its_column() {
        let late = table(&["ours", "b", "c"], "barrier-4", &[1.0, 2.0, 3.0]);
        let early = table(&["ours", "c", "a"], "latency", &[4.0, 5.0, 6.0]);
        let all = tables(vec![late, early]).unwrap();
        let names: Vec<&str> = all.libraries.iter().map(|library| library.name.as_str()).collect();
        assert_eq!(names, ["ours", "b", "c", "a"]);
        let best = |row: usize| -> Vec<Option<f64>> {
            all.rows[row].sizes[0].figures.iter().map(|figure| figure.and_then(|figure| figure.best)).collect()
        };
        assert_eq!((all.rows[0].name.as_str(), best(0)), ("latency", vec![Some(4.0), None, Some(5.0), Some(6.0)]));
        assert_eq!((all.rows[1].name.as_str(), best(1)), ("barrier-4", vec![Some(1.0), Some(2.0), Some(3.0), None]));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let one = || table(&["ours", "a"], "latency", &[1.0, 2.0]);
        let mut elsewhere = table(&["ours"], "rate", &[1.0]);
        elsewhere.machine.cores = 4;
        let mut newer = table(&["ours", "a"], "rate", &[1.0, 2.0]);
        newer.libraries[1].version = "2".to_owned();
        assert!(tables(vec![one(), one()]).is_err(), "a row twice");
        assert!(tables(vec![one(), elsewhere]).is_err(), "another machine");
        assert!(tables(vec![one(), newer]).is_err(), "another version");
        assert!(tables(vec![one(), table(&["a"], "rate", &[1.0])]).is_err(), "not ours first");
        assert!(tables(Vec::new()).is_err());
    }
}

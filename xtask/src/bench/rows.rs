//! Measurements: one row is one program with its arguments, over several sizes.

mod collective;
mod file;
mod first;
mod objects;
mod point_to_point;
mod rma;
mod row;

pub use row::{PLAIN, Row, Transport, Unit};

use crate::failure::{Result, refuse};

/// The rows that the command line names; all, or with `quick` a few, when it names none. Of them those with one of these
/// numbers of ranks, if any are given.
pub fn chosen(words: &[String], ranks: &[u32], quick: bool) -> Result<Vec<Row>> {
    let rows: Vec<Row> = all()
        .filter(|row| match words.is_empty() {
            true => !quick || row.quick,
            // A name that is exactly a row's means that row alone.
            false => words.iter().any(|word| match all().any(|row| row.name == word) {
                true => row.name == word,
                false => row.name.contains(word.as_str()),
            }),
        })
        .filter(|row| ranks.is_empty() || ranks.contains(&row.ranks))
        .cloned()
        .collect();
    match (rows.is_empty(), ranks.is_empty()) {
        (true, true) => {
            Err(refuse(format!("no row has a name with {}; `cargo xtask bench --list` names them", words.join(" or "))))
        }
        (true, false) => {
            Err(refuse(format!("--ranks {ranks:?}: no selected row has this number of ranks; rows have 2, 4 or 8")))
        }
        (false, _) => Ok(rows),
    }
}

/// All of them, in the order of a page that a visitor reads.
pub fn all() -> impl Iterator<Item = &'static Row> + Clone {
    point_to_point::ROWS
        .iter()
        .chain(collective::ROWS)
        .chain(rma::ROWS)
        .chain(first::ROWS)
        .chain(file::ROWS)
        .chain(objects::ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_by_name() {
        let names = |words: &[&str], quick| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words, &[], quick).map(|rows| rows.iter().map(|row| row.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["rate"], false).unwrap(), ["rate"]);
        assert_eq!(names(&["barrier-"], true).unwrap(), ["barrier-2", "barrier-4", "barrier-8"]);
        assert_eq!(names(&[], false).unwrap().len(), all().count());
        assert!(names(&[], true).unwrap().len() < 6 && names(&["nothing"], false).is_err());
        let crowded = chosen(&["barrier".to_owned()], &[4, 8], false).unwrap();
        assert_eq!(crowded.iter().map(|row| row.name).collect::<Vec<_>>(), ["barrier-4", "barrier-8"]);
        assert!(chosen(&[], &[3], false).is_err());
    }

    #[test]
    fn each_row_is_one_and_its_aims_are_measured() {
        assert_eq!(all().map(|row| row.name).collect::<BTreeSet<_>>().len(), all().count());
        for row in all() {
            assert!(row.aims.iter().all(|(size, _)| row.sizes.contains(size)), "{}", row.name);
            assert!(row.quick || row.sizes.is_sorted(), "{}", row.name);
        }
    }
}

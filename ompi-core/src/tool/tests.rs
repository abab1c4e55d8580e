//! Tables that tools read.

use super::*;

// Of frameworks without components.
opal_core::image![];

use std::collections::BTreeSet;

#[test]
fn names_are_unique() {
    let cvars: BTreeSet<&str> = cvar::all().iter().map(|cvar| cvar.name.as_str()).collect();
    assert_eq!(cvars.len(), cvar::all().len());
    let categories: BTreeSet<&str> = category::all().iter().map(|category| category.name.as_str()).collect();
    assert_eq!(categories.len(), category::all().len());
    let pvars: BTreeSet<&str> = pvar::all().into_iter().map(|pvar| pvar.name.as_str()).collect();
    assert_eq!(pvars.len(), pvar::count());
    assert!(cvars.contains("mpi_compat_mpi3") && categories.contains("pml"));
}

#[test]
fn each_is_in_one_category() {
    let all = category::all();
    let mut inner: std::vec::Vec<i32> = all.iter().flat_map(|category| category.categories.iter().copied()).collect();
    inner.sort_unstable();
    assert!(inner.windows(2).all(|pair| pair[0] != pair[1]));
    // All but the three layers.
    assert_eq!(inner.len() + 3, all.len());
    let mut cvars: std::vec::Vec<i32> = all.iter().flat_map(|category| category.cvars.iter().copied()).collect();
    cvars.sort_unstable();
    let pvars: usize = all.iter().map(|category| category.pvars().len()).sum();
    assert_eq!(pvars, pvar::count());
    assert_eq!(cvars, (0..cvar::all().len() as i32).collect::<std::vec::Vec<_>>());
}

#[test]
fn verbosities() {
    assert_eq!((verbosity(1), verbosity(5), verbosity(9)), (9, 18, 36));
    assert_eq!((verbosity(0), verbosity(200)), (9, 36));
}

#[test]
fn indices_that_are_none() {
    for index in [-1, i32::MIN, i32::MAX, 2] {
        assert_eq!(element(&[1, 2], index, "numbers").unwrap_err().get(), Class::ToolInvalidIndex as i32);
    }
    assert_eq!(element(&[1, 2], 1, "numbers").unwrap(), &2);
}

//! What every placement promises: each rank gets a place of its own, and every process computes the same.

use ompi_core::framework::topo::{ANYWHERE, Component, LEVELS, Pattern, Place, cost};

/// Runs every case: how many patterns were placed; the first broken promise is the error.
pub fn suite(component: &dyn Component) -> Result<usize, String> {
    let mut cases = 0;
    for ranks in [1, 2, 3, 5, 8, 16, 33] {
        for spare in [0, 1, 7] {
            for seed in 1..5 {
                let mut dice = seed * 0x9e37_79b9 + ranks as u64;
                let (pattern, places) = (pattern(ranks, &mut dice), places(ranks + spare, &mut dice));
                case(component, &pattern, &places)
                    .map_err(|what| format!("{ranks} ranks, {spare} to spare: {what}"))?;
                cases += 1;
            }
        }
    }
    Ok(cases)
}

fn case(component: &dyn Component, pattern: &Pattern, places: &[Place]) -> Result<(), String> {
    let order = component.order(pattern, places);
    if order.len() != pattern.edges.len() {
        return Err(format!("{} places for {} ranks", order.len(), pattern.edges.len()));
    }
    let mut taken = vec![false; places.len()];
    for (rank, place) in order.iter().enumerate() {
        match taken.get_mut(*place) {
            None => return Err(format!("rank {rank} at place {place} of {}", places.len())),
            Some(true) => return Err(format!("place {place} is given to two ranks")),
            Some(free) => *free = true,
        }
    }
    if component.order(pattern, places) != order {
        return Err("another order for equal arguments".to_owned());
    }
    let as_they_are: Vec<usize> = (0..pattern.edges.len()).collect();
    let (before, after) = (cost(pattern, places, &as_they_are), cost(pattern, places, &order));
    match after <= before {
        true => Ok(()),
        false => Err(format!("a cost of {after}, where leaving all ranks as they are costs {before}")),
    }
}

fn pattern(ranks: usize, dice: &mut u64) -> Pattern {
    let edges = |_| (0..next(dice) % 4).map(|_| (next(dice) as usize % ranks, 1 + next(dice) % 9)).collect();
    Pattern { edges: (0..ranks).map(edges).collect() }
}

fn places(count: usize, dice: &mut u64) -> Vec<Place> {
    let mut place = || {
        let mut place = [ANYWHERE; LEVELS];
        let known = next(dice) as usize % (LEVELS + 1);
        place[..known].iter_mut().for_each(|level| *level = next(dice) % 3);
        place
    };
    (0..count).map(|_| place()).collect()
}

fn next(dice: &mut u64) -> u64 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    *dice >> 11
}

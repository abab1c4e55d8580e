//! Who waits for whom: the cycle, if there is one.

use std::collections::HashMap;

/// The ranks of a cycle, each of which waits for the next one and the last for the first. Of each rank the one without which its
/// wait does not end is known, if it waits and there is such a rank.
pub fn find(awaits: &[(u32, Option<u32>)]) -> Option<Vec<u32>> {
    let next: HashMap<u32, u32> = awaits.iter().filter_map(|(rank, awaited)| Some((*rank, (*awaited)?))).collect();
    awaits.iter().find_map(|(first, _)| {
        let mut path = vec![*first];
        loop {
            let awaited = *next.get(path.last()?)?;
            match path.iter().position(|rank| *rank == awaited) {
                // A cycle that does not hold the first rank is found from one that is in it.
                Some(0) => return Some(path),
                Some(_) => return None,
                None => path.push(awaited),
            }
        }
    })
}

/// `rank 0 waits for rank 1, which waits for rank 0`.
pub fn words(cycle: &[u32]) -> String {
    let (Some(first), [_, others @ ..]) = (cycle.first(), cycle) else { return String::new() };
    if others.is_empty() {
        return format!("rank {first} waits for itself");
    }
    let others: String = others.iter().map(|rank| format!(" waits for rank {rank}, which")).collect();
    format!("rank {first}{others} waits for rank {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles() {
        assert_eq!(find(&[(0, Some(1)), (1, Some(0))]), Some(vec![0, 1]));
        assert_eq!(find(&[(0, Some(1)), (1, Some(2)), (2, None)]), None);
        // Rank 0 only waits for those in the cycle.
        assert_eq!(find(&[(0, Some(2)), (1, Some(3)), (2, Some(3)), (3, Some(1))]), Some(vec![1, 3]));
        assert_eq!(find(&[(4, Some(4))]), Some(vec![4]));
        assert_eq!(find(&[(0, Some(9))]), None);
        assert_eq!(words(&[0, 1, 3]), "rank 0 waits for rank 1, which waits for rank 3, which waits for rank 0");
        assert_eq!(words(&[4]), "rank 4 waits for itself");
    }
}

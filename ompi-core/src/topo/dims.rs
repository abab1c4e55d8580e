//! MPI_Dims_create: balanced grids. MPI 5.0 §8.5.2.

use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;
use opal_core::sort;

/// Fills in the zeros of `dims`, in non-increasing order, so that the grid has `nodes` places.
///
/// Of all ways to do so it takes one with the smallest difference between the largest and the smallest number filled in,
/// and among those the one with the smallest largest (then second, …) number.
pub fn fill(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return Err(Fault::new(Class::Arg)
            .argument("nnodes")
            .because(format!("{nodes} nodes cannot form a grid; at least 1 is needed")));
    }
    let wrong = |argument, why| Err(Fault::new(Class::Dims).argument(argument).because(why));
    if let Some(negative) = dims.iter().find(|places| **places < 0) {
        return wrong("dims", format!("{negative} is negative; 0 leaves the number to MPI"));
    }
    let mut given = dims.iter().filter(|places| **places > 0);
    let given = given.try_fold(1i32, |all, places| all.checked_mul(*places)).filter(|given| nodes % given == 0);
    let Some(given) = given else {
        return wrong("dims", format!("the given dimensions do not divide {nodes} nodes evenly"));
    };
    let free = dims.iter().filter(|places| **places == 0).count();
    let rest = nodes / given;
    if free == 0 {
        return match rest == 1 || dims.is_empty() {
            true => Ok(()),
            false => wrong(
                "dims",
                format!("all dimensions are given, but their product is {given} and there are {nodes} nodes"),
            ),
        };
    }
    let mut found = balanced(rest as u32, free).into_iter();
    dims.iter_mut().filter(|places| **places == 0).for_each(|places| *places = found.next().unwrap_or(1) as i32);
    Ok(())
}

/// `count` factors of `product`, in non-increasing order.
fn balanced(product: u32, count: usize) -> Vec<u32> {
    // No product of 32 bits has more than 31 factors above 1.
    let used = count.min(32);
    let mut divisors: Vec<u32> =
        (1..=product.isqrt()).filter(|one| product.is_multiple_of(*one)).flat_map(|one| [one, product / one]).collect();
    sort::ascending(&mut divisors);
    divisors.dedup();
    let mut search = Search { divisors: &divisors, best: None };
    search.descend(product, used, product, &mut Vec::new());
    let mut best = search.best.unwrap_or_default();
    best.resize(count, 1);
    best
}

struct Search<'a> {
    divisors: &'a [u32],
    best: Option<Vec<u32>>,
}

impl Search<'_> {
    /// Tries all ways to write `rest` as `left` factors of at most `limit`, the smallest first factor first.
    fn descend(&mut self, rest: u32, left: usize, limit: u32, chosen: &mut Vec<u32>) {
        if left == 1 {
            chosen.push(rest);
            if rest <= limit && self.best.as_ref().is_none_or(|best| spread(chosen) < spread(best)) {
                self.best = Some(chosen.clone());
            }
            chosen.pop();
            return;
        }
        for &factor in self.divisors.iter().take_while(|factor| **factor <= limit) {
            // The others are no larger, so that all together must still reach the product.
            if !rest.is_multiple_of(factor) || u64::from(factor).saturating_pow(left as u32) < u64::from(rest) {
                continue;
            }
            chosen.push(factor);
            // The smallest of those to come is at most their geometric mean.
            let least = chosen[0] - chosen[0].min(root(rest / factor, left as u32 - 1));
            if self.best.as_ref().is_none_or(|best| least < spread(best)) {
                self.descend(rest / factor, left - 1, factor, chosen);
            }
            chosen.pop();
        }
    }
}

fn spread(factors: &[u32]) -> u32 {
    factors[0] - factors[factors.len() - 1]
}

/// The integer part of a root.
fn root(of: u32, degree: u32) -> u32 {
    let (mut low, mut high) = (1u32, of);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match u64::from(middle).saturating_pow(degree) <= u64::from(of) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(nodes: i32, dims: &[i32]) -> Result<Vec<i32>> {
        let mut dims = dims.to_vec();
        fill(nodes, &mut dims).map(|()| dims)
    }

    #[test]
    fn the_standards_examples() {
        assert_eq!(filled(6, &[0, 0]).unwrap(), [3, 2]);
        assert_eq!(filled(7, &[0, 0]).unwrap(), [7, 1]);
        assert_eq!(filled(6, &[0, 3, 0]).unwrap(), [2, 3, 1]);
        assert_eq!(filled(7, &[0, 3, 0]).unwrap_err().get(), Class::Dims as i32);
    }

    #[test]
    fn all_small_grids_are_as_square_as_can_be() {
        for nodes in 1..=200i32 {
            for count in 1..=4usize {
                let dims = filled(nodes, &[0; 4][..count]).unwrap();
                assert_eq!(dims.iter().product::<i32>(), nodes);
                assert!(dims.is_sorted_by(|one, two| one >= two), "{dims:?}");
                assert_eq!(dims[0] - dims[count - 1], least(nodes, count, nodes, 0, i32::MAX), "{nodes} {dims:?}");
            }
        }
    }

    /// The smallest difference of all ways, found by trying all of them.
    fn least(rest: i32, count: usize, limit: i32, first: i32, best: i32) -> i32 {
        if count == 1 {
            let first = if first == 0 { rest } else { first };
            return if rest <= limit { best.min(first - rest) } else { best };
        }
        (1..=limit.min(rest)).filter(|factor| rest % factor == 0).fold(best, |best, factor| {
            least(rest / factor, count - 1, factor, if first == 0 { factor } else { first }, best)
        })
    }

    #[test]
    fn odd_requests() {
        assert_eq!(filled(1 << 30, &[0; 40]).unwrap().iter().product::<i32>(), 1 << 30);
        assert_eq!(filled(735_134_400, &[0; 8]).unwrap().iter().map(|at| *at as i64).product::<i64>(), 735_134_400);
        assert_eq!(filled(i32::MAX, &[0, 0]).unwrap(), [i32::MAX, 1]);
        assert_eq!(filled(5, &[]).unwrap(), []);
        assert_eq!(filled(6, &[3, 2]).unwrap(), [3, 2]);
        assert_eq!(filled(0, &[0]).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(filled(-4, &[0]).unwrap_err().get(), Class::Arg as i32);
        for (nodes, dims) in [(6, &[3, 1][..]), (4, &[-2, 0]), (4, &[i32::MAX, i32::MAX, 0])] {
            assert_eq!(filled(nodes, dims).unwrap_err().get(), Class::Dims as i32, "{nodes} {dims:?}");
        }
    }
}

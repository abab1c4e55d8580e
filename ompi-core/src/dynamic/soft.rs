//! The info key `soft` of MPI_Comm_spawn: how many processes would do, as a list of numbers and ranges `a:b:c`. MPI 5.0 §11.8.4.

use alloc::format;
use alloc::string::String;

/// The most processes that would do, at most `most`. `Err` with a sentence.
pub fn best(text: &str, most: u32) -> Result<u32, String> {
    let wrong =
        || format!("the info key soft is `{text}`; it is a list of numbers and ranges first:last or first:last:step");
    let mut best = None;
    for triplet in text.split(',') {
        let mut numbers = triplet.split(':').map(|number| number.trim().parse::<i64>());
        let mut next = || numbers.next().transpose().map_err(|_| wrong());
        let first = next()?.ok_or_else(wrong)?;
        let last = next()?.unwrap_or(first);
        let step = next()?.unwrap_or(1);
        if numbers.next().is_some() || step == 0 {
            return Err(wrong());
        }
        best = best.max(most_of(first, last, step, i64::from(most)));
    }
    best.map(|count| count as u32)
        .ok_or_else(|| format!("the info key soft is `{text}`, which allows no number from 1 to {most}"))
}

/// The greatest element of a range from 1 to `most`.
fn most_of(first: i64, last: i64, step: i64, most: i64) -> Option<i64> {
    let steps = (last.checked_sub(first)?).checked_div(step).filter(|steps| *steps >= 0)?;
    let end = first + steps * step;
    let (low, high, step) = (first.min(end), first.max(end), step.unsigned_abs() as i64);
    if low > most {
        return None;
    }
    let greatest = low + (high.min(most) - low) / step * step;
    (greatest >= 1).then_some(greatest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_number_that_would_do() {
        for (text, most, want) in
            [("1:8", 4, 4), ("2", 9, 2), ("1:9:3", 6, 4), ("9:1:-3", 6, 6), ("8, 2, 5:6", 7, 6), (" 3 : 3 ", 3, 3)]
        {
            assert_eq!(best(text, most), Ok(want), "{text}");
        }
        for text in ["", "x", "1:2:3:4", "1:2:0", "9", "-4:-1", "3:1"] {
            assert!(best(text, 4).is_err(), "{text}");
        }
    }
}

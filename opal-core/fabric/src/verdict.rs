//! Why an offer of a library is taken or not, in words.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::verbose;

/// What becomes of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken.
    Taken,
    /// It is not, and why.
    Left(String),
}

impl Verdict {
    /// With the offer's name.
    pub fn line(&self, offer: &str) -> String {
        match self {
            Verdict::Taken => format!("{offer}: taken"),
            Verdict::Left(why) => format!("{offer}: not taken, {why}"),
        }
    }
}

/// A line for each offer, in their order; what a library says twice stands once.
pub fn lines(offers: impl IntoIterator<Item = String>, verdicts: &[Verdict]) -> Vec<String> {
    let mut lines: Vec<String> =
        offers.into_iter().zip(verdicts).map(|(offer, verdict)| verdict.line(&offer)).collect();
    lines.dedup();
    lines
}

/// Says them where the user wants to know why.
pub fn tell(component: &str, lines: &[String]) {
    for line in lines {
        verbose!(btl::FRAMEWORK, 20, "{component}: {line}");
    }
}

/// The words of a list that a parameter holds.
pub fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The place of the first word in a list that is meant. `Err`: the list has words, and none of them is; its text, for people.
pub fn place_in(parameter: &str, list: &str, is_meant: impl FnMut(&str) -> bool) -> Result<Option<usize>, String> {
    let place = words(list).position(is_meant);
    if place.is_none() && !list.trim().is_empty() {
        return Err(format!("{parameter} is `{list}`"));
    }
    Ok(place)
}

/// The number of the best of those that were not refused.
pub fn best<T: Ord>(judged: &[Result<T, String>], counts: impl Fn(&T) -> bool) -> Option<usize> {
    let ranks = judged.iter().enumerate().filter_map(|(at, judged)| Some((judged.as_ref().ok()?, at)));
    ranks.filter(|(rank, _)| counts(rank)).min().map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_offer_and_none_twice() {
        let left = |why: &str| Verdict::Left(String::from(why));
        let offers = ["a", "b", "b", "c"].map(String::from);
        let said = lines(offers, &[Verdict::Taken, left("x"), left("x"), left("y")]);
        assert_eq!(said, ["a: taken", "b: not taken, x", "c: not taken, y"]);
    }

    #[test]
    fn places_in_lists() {
        let place = |list, wanted: &str| place_in("p", list, |word| word == wanted);
        assert_eq!(place("a, b,,c ", "c"), Ok(Some(2)));
        assert_eq!([place("", "c"), place(" ", "c")], [Ok(None), Ok(None)]);
        assert_eq!(place("a,b", "c"), Err(String::from("p is `a,b`")));
    }

    #[test]
    fn the_least_is_the_best() {
        let judged = [Err(String::from("no")), Ok(3), Ok(1), Ok(1), Ok(0)];
        assert_eq!(best(&judged, |rank| *rank > 0), Some(2), "the first of equals");
        assert_eq!(best(&judged, |rank| *rank > 5), None);
    }
}

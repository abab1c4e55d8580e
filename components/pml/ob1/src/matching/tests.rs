//! Random posts, arrivals and cancellations against a model that follows the standard's words with plain lists.

use super::*;
use std::vec::Vec;

#[derive(Default)]
struct Model {
    posted: Vec<(u32, Option<u32>, Tag)>,
    kept: Vec<(u32, u32, i32)>,
}

impl Model {
    // MPI 5.0 §3.5: a message goes to the receive that was posted first of those that match.
    fn arrive(&mut self, number: u32, source: u32, tag: i32) -> Option<u32> {
        let matches = |(_, from, wanted): &(u32, Option<u32>, Tag)| {
            from.is_none_or(|from| from == source) && (*wanted == Tag::ANY || *wanted == Tag::only(tag))
        };
        match self.posted.iter().position(matches) {
            Some(index) => Some(self.posted.remove(index).0),
            None => {
                self.kept.push((number, source, tag));
                None
            }
        }
    }

    fn post(&mut self, number: u32, from: Option<u32>, wanted: Tag) -> Option<(u32, u32, i32)> {
        let matches = |(_, source, tag): &(u32, u32, i32)| {
            from.is_none_or(|from| from == *source) && (wanted == Tag::ANY || wanted == Tag::only(*tag))
        };
        match self.kept.iter().position(matches) {
            Some(index) => Some(self.kept.remove(index)),
            None => {
                self.posted.push((number, from, wanted));
                None
            }
        }
    }
}

struct Random(u64);
impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % limit
    }
}

struct Pair {
    model: Model,
    matcher: Matcher<u32, u32>,
    // Number of a receive, its place in the matcher.
    places: Vec<(u32, u32)>,
}

impl Pair {
    fn post(&mut self, number: u32, from: Option<u32>, wanted: Tag, what: &str) {
        // A receive from any is asked for about some of the sources.
        let some = |source: &u32| *source != number % 4;
        let senders = || 0..self.matcher.sources.len() as u32;
        let sources: Vec<u32> = senders().filter(|source| from.map_or(some(source), |from| from == *source)).collect();
        let asked = || sources.iter().copied();
        let quiet = match from {
            Some(from) => self.matcher.cannot_match(from),
            None => self.matcher.none_can_match(asked()),
        };
        let free = match from {
            Some(from) => self.matcher.cannot_match_exact(from, wanted),
            None => self.matcher.none_can_match_exact(asked(), wanted),
        };
        assert!(free || !quiet, "{what}");
        let overlaps = |(_, other, tag): &(u32, Option<u32>, Tag)| {
            other.is_none_or(|other| sources.contains(&other))
                && (*tag == Tag::ANY || wanted == Tag::ANY || *tag == wanted)
        };
        let overlapped = self.model.posted.iter().any(overlaps);
        let expected = self.model.post(number, from, wanted);
        assert_eq!(free, expected.is_none() && !overlapped, "is free, {what}");
        let seen = self.matcher.peek(from, wanted).map(|(source, tag, message)| (*message, source, tag));
        assert_eq!(seen, expected, "look, {what}");
        if let Some(from) = from
            && let Some(slot) = self.matcher.free_slot(from)
        {
            assert_eq!(expected, None, "a free slot, {what}");
            self.places.push((number, slot.number()));
            return slot.post(wanted, number);
        }
        let got = self.matcher.take(from, wanted).map(|(source, tag, message)| (message, source, tag));
        assert_eq!(got, expected, "post, {what}");
        if got.is_none() {
            self.places.push((number, self.matcher.post(from, wanted, number)));
        }
    }

    fn arrive(&mut self, number: u32, source: u32, tag: i32, what: &str) {
        let expected = self.model.arrive(number, source, tag);
        let mut list = self.matcher.posted_list(source);
        let got = match list.as_mut().and_then(|list| list.first(tag)) {
            Some(mut first) => {
                let receive = *first.receive();
                first.consume();
                Some(receive)
            }
            None => self.matcher.arrive(source, tag),
        };
        assert_eq!(got, expected, "arrival, {what}");
        match got {
            Some(receive) => self.places.retain(|(posted, _)| *posted != receive),
            None => self.matcher.enqueue(source, tag, number),
        }
    }

    fn cancel(&mut self, index: usize) {
        let (posted, place) = self.places.swap_remove(index);
        assert_eq!(self.matcher.posted_mut(place).copied(), Some(posted));
        assert_eq!(self.matcher.cancel(place), posted);
        self.model.posted.retain(|(other, _, _)| *other != posted);
    }
}

// Phases of mostly receives and phases of mostly messages, so that both kinds of lists become long and empty again.
fn run(seed: u64, sources: u32, tags: u32, steps: u32) -> usize {
    let mut random = Random(seed | 1);
    let mut pair = Pair { model: Model::default(), matcher: Matcher::new(sources as usize), places: Vec::new() };
    let (mut posts, mut wildcards, mut longest) = (4, 4, 0);
    for number in 0..steps {
        if number % 250 == 0 {
            posts = 1 + random.below(7);
            wildcards = 1 + random.below(40);
        }
        let what = std::format!("seed {seed} step {number}");
        let (source, tag) = (random.below(sources), random.below(tags) as i32);
        let from = (random.below(wildcards) != 0).then_some(source);
        let wanted = if random.below(wildcards) == 0 { Tag::ANY } else { Tag::only(tag) };
        match random.below(9) {
            8 if !pair.places.is_empty() => pair.cancel(random.below(pair.places.len() as u32) as usize),
            kind if kind < posts => pair.post(number, from, wanted, &what),
            _ => pair.arrive(number, source, tag, &what),
        }
        let lists = [&pair.matcher.posted_index, &pair.matcher.unexpected_index, &pair.matcher.arrivals_index];
        longest |= lists.map(Index::is_used).iter().rev().fold(0, |all, used| 2 * all + usize::from(*used));
        assert_eq!(pair.matcher.is_posted(), !pair.model.posted.is_empty());
    }
    while let Some((source, tag, message)) = pair.matcher.take_any() {
        assert_eq!((message, source, tag), pair.model.kept.remove(0), "what is left, seed {seed}");
    }
    assert!(pair.model.kept.is_empty());
    for source in 0..sources {
        while pair.matcher.cancel_from(Some(source)).is_some() {}
    }
    while let Some((_, place)) = pair.places.pop() {
        if pair.matcher.posted_mut(place).is_some() {
            pair.matcher.cancel(place);
        }
    }
    assert_eq!(
        (pair.matcher.arrival_slow_paths, pair.matcher.post_slow_paths),
        (0, 0),
        "all lists are empty, seed {seed}"
    );
    assert!(pair.matcher.none_can_match(0..sources), "seed {seed}");
    longest
}

#[test]
fn as_the_model_does() {
    for seed in 1..100u64 {
        run(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1 + seed as u32 % 5, 1 + seed as u32 % 7, 2000);
    }
}

#[test]
fn as_the_model_does_with_long_lists() {
    let kinds = (1..40u64).map(|seed| run(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1 + seed as u32 % 3, 300, 3000));
    assert_eq!(kinds.fold(0, |all, kinds| all | kinds), 7, "each kind of list had an index at some time");
}

#[test]
fn a_source_that_is_gone_closes_the_fast_path_here_and_nowhere_else() {
    let mut matchers: [Matcher<u32, u32>; 2] = core::array::from_fn(|_| Matcher::new(2));
    for matcher in &mut matchers {
        let entry = matcher.post(Some(1), Tag::only(5), 9);
        matcher.cancel(entry);
        assert!(matcher.free_slot(0).is_some() && matcher.none_can_match(0..2));
    }
    matchers[0].mark_lost();
    matchers[0].mark_lost();
    let [one, other] = &mut matchers;
    assert!(one.has_lost() && one.free_slot(0).is_none());
    assert!(!one.none_can_match(0..2) && !one.none_can_match_exact(0..2, Tag::ANY));
    assert!(!other.has_lost() && other.free_slot(0).is_some() && other.none_can_match(0..2));
}

// 20,000 receives and as many messages, matched in the opposite order: quadratic, it would need 200 million steps each.
#[test]
fn a_posted_list_is_that_of_a_source_or_of_any() {
    let mut matcher: Matcher<u32, u32> = Matcher::new(2);
    matcher.post(None, Tag::ANY, 7);
    assert!(!matcher.cannot_match(1));
    let mut list = matcher.posted_list(1).unwrap();
    let mut first = list.first(5).unwrap();
    assert_eq!(*first.receive(), 7);
    first.consume();
    assert!(matcher.cannot_match(1));
    // Where receives of both kinds are posted, their order decides.
    matcher.post(None, Tag::only(5), 8);
    matcher.post(Some(1), Tag::only(5), 9);
    assert!(matcher.posted_list(1).is_none());
    assert!(matcher.posted_list(0).unwrap().first(5).is_some());
    assert!(matcher.posted_list(0).unwrap().first(4).is_none());
    assert_eq!((matcher.arrive(1, 5), matcher.arrive(1, 5)), (Some(8), Some(9)));
}

#[test]
fn a_list_with_an_index_is_left_to_the_slow_path() {
    let mut matcher: Matcher<u32, u32> = Matcher::new(2);
    for from in [None, Some(1)] {
        let last = WALKED as i32 + 1;
        for tag in 0..=last {
            matcher.post(from, Tag::only(tag), tag as u32);
        }
        assert!(matcher.posted_list(1).is_some());
        assert_eq!(matcher.arrive(1, last), Some(last as u32));
        assert!(matcher.posted_list(1).is_none(), "what is taken would stay in the index");
        for tag in 0..last {
            assert_eq!(matcher.arrive(1, tag), Some(tag as u32));
        }
        assert!(matcher.posted_list(1).is_some());
    }
}

#[test]
fn many_are_matched_in_any_order() {
    const MANY: i32 = 20_000;
    let mut matcher: Matcher<u32, u32> = Matcher::new(1);
    for tag in 0..MANY {
        matcher.post(Some(0), Tag::only(tag), tag as u32);
    }
    for tag in (0..MANY).rev() {
        assert_eq!(matcher.arrive(0, tag), Some(tag as u32));
        assert_eq!(matcher.posted_index.has(0), tag > 0, "nothing is walked until the list is empty");
    }
    for tag in 0..MANY {
        matcher.enqueue(0, tag, tag as u32);
    }
    for tag in (0..MANY).rev() {
        let from = (tag % 2 == 0).then_some(0);
        assert_eq!(matcher.take(from, Tag::only(tag)), Some((0, tag, tag as u32)));
    }
}

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
            from.is_none_or(|from| from == source) && (*wanted == Tag::Any || *wanted == Tag::Only(tag))
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
            from.is_none_or(|from| from == *source) && (wanted == Tag::Any || wanted == Tag::Only(*tag))
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

fn run(seed: u64, sources: u32, tags: u32, steps: u32) {
    let (mut random, mut model) = (Random(seed | 1), Model::default());
    let mut matcher: Matcher<u32, u32> = Matcher::new(sources as usize);
    let mut places: Vec<(u32, u32)> = Vec::new();
    for number in 0..steps {
        let (source, tag) = (random.below(sources), random.below(tags) as i32);
        let from = (random.below(4) != 0).then_some(source);
        let wanted = if random.below(4) == 0 { Tag::Any } else { Tag::Only(tag) };
        match random.below(9) {
            0..4 => {
                let free = from.is_some_and(|from| {
                    let alone = Tag::Only(tag);
                    let before = matcher.is_free(from, alone);
                    assert!(before || !matcher.is_quiet(from));
                    before && wanted == alone
                });
                let expected = model.post(number, from, wanted);
                assert!(!free || expected.is_none());
                let seen = matcher.look(from, wanted).map(|(source, tag, message)| (*message, source, tag));
                assert_eq!(seen, expected, "look, seed {seed} step {number}");
                let got = matcher.take(from, wanted).map(|(source, tag, message)| (message, source, tag));
                assert_eq!(got, expected, "post, seed {seed} step {number}");
                if got.is_none() {
                    places.push((number, matcher.post(from, wanted, number)));
                }
            }
            4..8 => {
                let expected = model.arrive(number, source, tag);
                let got = matcher.arrive(source, tag);
                assert_eq!(got, expected, "arrival, seed {seed} step {number}");
                match got {
                    Some(receive) => places.retain(|(posted, _)| *posted != receive),
                    None => matcher.keep(source, tag, number),
                }
            }
            _ if !places.is_empty() => {
                let (posted, place) = places.swap_remove(random.below(places.len() as u32) as usize);
                assert_eq!(matcher.cancel(place), posted);
                model.posted.retain(|(other, _, _)| *other != posted);
            }
            _ => {}
        }
        assert_eq!(matcher.posted(), model.posted.len());
    }
}

#[test]
fn as_the_model_does() {
    for seed in 1..200u64 {
        run(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1 + seed as u32 % 5, 1 + seed as u32 % 7, 2000);
    }
}

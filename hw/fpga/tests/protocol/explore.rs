//! Every reachable state of a model, and the way to the first one that is wrong.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A system whose parts move one at a time, in any order.
pub trait Model {
    /// Everything that decides what can happen next.
    type State: Clone + Eq + Hash;
    /// The name of a step.
    type Step: Copy + Debug;

    /// Where it begins.
    fn begin(&self) -> Self::State;
    /// Every step that is possible here; `Err` says what is wrong with it.
    fn steps(&self, state: &Self::State, each: &mut dyn FnMut(Self::Step, Result<Self::State, String>));
    /// Whether it may end here.
    fn may_end(&self, state: &Self::State) -> bool;
}

/// Nothing can go wrong.
pub fn holds(model: &(impl Model + Debug)) {
    match explore(model) {
        Ok(states) => println!("{states} states"),
        Err(why) => panic!("{model:?}\n{why}"),
    }
}

/// What was broken on purpose is found: one of these is what went wrong.
pub fn finds(model: &(impl Model + Debug), wrong: &[&str]) {
    match explore(model) {
        Ok(states) => panic!("{states} states and nothing found: {model:?}"),
        Err(why) => assert!(wrong.iter().any(|wrong| why.contains(wrong)), "{why}"),
    }
}

/// How many states there are; or what went wrong and the steps that lead there.
fn explore<M: Model>(model: &M) -> Result<usize, String> {
    let mut parents: Vec<(usize, Option<M::Step>)> = vec![(0, None)];
    let mut index: HashMap<M::State, usize, BuildHasherDefault<Quick>> = HashMap::default();
    index.insert(model.begin(), 0);
    let mut open = std::collections::VecDeque::from([(0, model.begin())]);
    while let Some((at, state)) = open.pop_front() {
        let mut moved = false;
        let mut wrong = None;
        model.steps(&state, &mut |step, next| match next {
            Ok(next) if next == state => {}
            Ok(next) => {
                moved = true;
                let fresh = parents.len();
                if let std::collections::hash_map::Entry::Vacant(place) = index.entry(next) {
                    open.push_back((fresh, place.key().clone()));
                    place.insert(fresh);
                    parents.push((at, Some(step)));
                }
            }
            Err(why) => wrong = wrong.take().or(Some((step, why))),
        });
        if let Some((step, why)) = wrong {
            return Err(format!("{why}\n{}{step:?}", way::<M>(&parents, at)));
        }
        if !moved && !model.may_end(&state) {
            return Err(format!("nothing moves any more\n{}", way::<M>(&parents, at)));
        }
    }
    Ok(parents.len())
}

/// The steps to a state, first to last.
fn way<M: Model>(parents: &[(usize, Option<M::Step>)], mut at: usize) -> String {
    let mut steps = Vec::new();
    while let (parent, Some(step)) = &parents[at] {
        steps.push(format!("{step:?}\n"));
        at = *parent;
    }
    steps.into_iter().rev().collect()
}

/// States are many, small and not hostile: a multiplication for each word is enough to spread them.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

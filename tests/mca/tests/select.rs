//! Opening and choosing. The selection list and the record of decisions belong to the process: one test at a time.

use opal_core::Error;
use opal_core::mca::select::{Decision, Verdict, decisions};
use opal_core::mca::{self, Source};
use std::sync::{Mutex, MutexGuard};
use test_mca::{Component, btl, fruit};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Sets a framework's list for the length of a test.
struct List {
    framework: &'static mca::Framework,
    first_decision: usize,
    counts: Vec<(usize, usize)>,
    _turn: MutexGuard<'static, ()>,
}

impl List {
    fn new(framework: &'static mca::Framework, list: &'static str) -> List {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        framework.selection.set(list, Source::Environment).unwrap();
        let counts = all().iter().map(|component| component.counts()).collect();
        List { framework, first_decision: decisions().len(), counts, _turn: turn }
    }

    /// What was decided since.
    fn decided(&self) -> Vec<(&'static str, Verdict)> {
        let new = decisions().into_iter().skip(self.first_decision);
        new.map(|Decision { framework, component, verdict }| {
            assert_eq!(framework, self.framework.name);
            (component, verdict)
        })
        .collect()
    }

    /// How often `name` was opened and closed since.
    fn counts(&self, name: &str) -> (usize, usize) {
        let all = all();
        let at = all.iter().position(|component| component.info().name == name).unwrap();
        let (now, before) = (all[at].counts(), self.counts[at]);
        (now.0 - before.0, now.1 - before.1)
    }
}

fn all() -> Vec<&'static dyn Component> {
    let mut all: Vec<&'static dyn Component> =
        fruit::TEST_FRUITS.iter().chain(btl::TEST_BTLS.iter()).copied().collect();
    all.sort_by_key(|component| (component.info().framework.name, component.info().name));
    all
}

fn eat(slice: &[&'static dyn Component]) -> opal_core::Result<&'static str> {
    mca::select_one(&fruit::FRAMEWORK, slice, |component| component.query()).map(|(component, module)| {
        assert_eq!(component.info().name, module);
        module
    })
}

#[test]
fn the_best_runs_and_ties_go_to_the_first_name_whatever_the_link_order() {
    let mut order: Vec<&'static dyn Component> = fruit::TEST_FRUITS.to_vec();
    assert_eq!(order.len(), 5);
    // Every rotation and its reverse.
    for _ in 0..order.len() {
        order.rotate_left(1);
        let list = List::new(&fruit::FRAMEWORK, "");
        assert_eq!(eat(&order), Ok("banana"));
        drop(list);
        let reversed: Vec<_> = order.iter().rev().copied().collect();
        let _list = List::new(&fruit::FRAMEWORK, "");
        assert_eq!(eat(&reversed), Ok("banana"));
    }
}

#[test]
fn every_decision_is_recorded_once() {
    let list = List::new(&fruit::FRAMEWORK, "");
    assert_eq!(eat(&fruit::TEST_FRUITS), Ok("banana"));
    let mut decided = list.decided();
    decided.sort_by_key(|(component, _)| *component);
    let wanted = [
        ("apple", Verdict::LowerPriority(10)),
        ("banana", Verdict::Chosen(Some(30))),
        ("cherry", Verdict::LowerPriority(30)),
        ("durian", Verdict::Declined("it smells")),
        ("elder", Verdict::Declined("not ripe")),
    ];
    assert_eq!(decided, wanted);
}

#[test]
fn who_does_not_run_is_closed_exactly_once() {
    let list = List::new(&fruit::FRAMEWORK, "^cherry");
    assert_eq!(eat(&fruit::TEST_FRUITS), Ok("banana"));
    assert_eq!(list.counts("apple"), (1, 1), "outbid");
    assert_eq!(list.counts("durian"), (1, 1), "declined in open");
    assert_eq!(list.counts("elder"), (1, 1), "declined in query");
    assert_eq!(list.counts("banana"), (1, 0), "runs");
    assert_eq!(list.counts("cherry"), (0, 0), "left out: never touched");
}

#[test]
fn lists_include_and_exclude() {
    for (text, wanted) in [
        ("apple", Ok("apple")),
        ("cherry,apple", Ok("cherry")),
        ("^banana", Ok("cherry")),
        ("^banana,cherry", Ok("apple")),
        (" apple , , elder ", Ok("apple")),
        // What is not there can be left out.
        ("^fig,banana", Ok("cherry")),
    ] {
        let _list = List::new(&fruit::FRAMEWORK, text);
        assert_eq!(eat(&fruit::TEST_FRUITS), wanted, "{text}");
    }
}

#[test]
fn left_out_is_recorded() {
    let list = List::new(&fruit::FRAMEWORK, "apple");
    assert_eq!(eat(&fruit::TEST_FRUITS), Ok("apple"));
    let excluded = list.decided().into_iter().filter(|(_, verdict)| *verdict == Verdict::Excluded);
    assert_eq!(excluded.map(|(name, _)| name).collect::<Vec<_>>(), ["banana", "cherry", "durian", "elder"]);
}

#[test]
fn nobody_accepts() {
    let list = List::new(&fruit::FRAMEWORK, "durian,elder");
    assert_eq!(eat(&fruit::TEST_FRUITS), Err(Error::NotFound));
    assert_eq!((list.counts("durian"), list.counts("elder")), ((1, 1), (1, 1)));
}

#[test]
fn an_unknown_name_is_invalid_and_nothing_is_opened() {
    let list = List::new(&fruit::FRAMEWORK, "apple,aple");
    assert_eq!(eat(&fruit::TEST_FRUITS), Err(Error::Invalid));
    assert_eq!(list.counts("apple"), (0, 0));
    assert_eq!(list.decided(), []);
}

#[test]
fn many_open_in_the_order_of_names() {
    let list = List::new(&btl::FRAMEWORK, "");
    let mut order: Vec<&'static dyn Component> = btl::TEST_BTLS.to_vec();
    order.sort_by_key(|component| std::cmp::Reverse(component.info().name));
    let open = mca::open(&btl::FRAMEWORK, &order).unwrap();
    assert_eq!(open.iter().map(|component| component.info().name).collect::<Vec<_>>(), ["self", "sm", "tcp"]);
    assert_eq!(list.counts("sm"), (1, 0));
}

#[test]
fn the_older_name_of_a_component_works() {
    for (text, wanted) in [("vader,self", &["self", "sm"][..]), ("^vader", &["self", "tcp"])] {
        let _list = List::new(&btl::FRAMEWORK, text);
        let open = mca::open(&btl::FRAMEWORK, &btl::TEST_BTLS).unwrap();
        assert_eq!(open.iter().map(|component| component.info().name).collect::<Vec<_>>(), wanted, "{text}");
    }
}

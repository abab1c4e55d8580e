//! Opening and choosing components, and a record of why.

use super::{Component, Declined, Framework, Info, name, name::Selection, open_mpi};
use crate::sort;
use crate::sync::Mutex;
use crate::{Error, Result, message, verbose};
use alloc::string::String;
use alloc::vec::Vec;

/// What became of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs; with the priority it offered where the framework asks for one.
    Chosen(Option<i32>),
    /// It offered a lower priority than the chosen one.
    LowerPriority(i32),
    /// It did not want to, and why.
    Declined(&'static str),
    /// The user's list leaves it out.
    Excluded,
}

/// The record of one decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Of which framework.
    pub framework: &'static str,
    /// On which component.
    pub component: &'static str,
    /// What became of it.
    pub verdict: Verdict,
}

static DECISIONS: Mutex<Vec<Decision>> = Mutex::new(Vec::new());

/// All decisions so far, in order; for `mpi_show_components`, `ompi_info` and tests.
pub fn decisions() -> Vec<Decision> {
    DECISIONS.lock().clone()
}

/// Notes a decision and says it at verbosity 10.
pub fn record(info: &'static Info, verdict: Verdict) {
    let (framework, component) = (info.framework, info.name);
    match &verdict {
        Verdict::Chosen(None) => verbose!(framework, 10, "{component} runs"),
        Verdict::Chosen(Some(priority)) => verbose!(framework, 10, "{component} is chosen with priority {priority}"),
        Verdict::LowerPriority(priority) => {
            verbose!(framework, 10, "{component} offered priority {priority}; another component offered more")
        }
        Verdict::Declined(why) => verbose!(framework, 10, "{component} declines: {why}"),
        Verdict::Excluded => verbose!(framework, 10, "{component} is left out by the selection list"),
    }
    DECISIONS.lock().push(Decision { framework: framework.name, component, verdict });
}

/// Opens those components of a framework that the user's list wants, sorted by name.
///
/// `Err(Invalid)` after a message when the list names an unknown component; one that declines is closed and left out.
pub fn open<C: Component + ?Sized>(framework: &'static Framework, slice: &[&'static C]) -> Result<Vec<&'static C>> {
    let opened = open_listed(framework, &infos(slice), &|at| slice[at].open(), &|at| slice[at].close())?;
    Ok(opened.into_iter().map(|at| slice[at]).collect())
}

/// [`open`] for all frameworks, which is compiled once: by index, with what it calls of the component there.
fn open_listed(
    framework: &'static Framework,
    infos: &[&'static Info],
    open: &dyn Fn(usize) -> core::result::Result<(), Declined>,
    close: &dyn Fn(usize),
) -> Result<Vec<usize>> {
    let have: Vec<&str> = infos.iter().map(|info| info.name).collect();
    let list = open_mpi::known(Selection::parse(framework.selection.text()), framework.name, &have);
    check_names(framework, &list, have)?;
    let mut opened: Vec<usize> = (0..infos.len()).collect();
    // linkme's order changes with the link; people and tests want one order.
    sort::by_key(&mut opened, |at| infos[*at].name);
    opened.retain(|&at| {
        if !list.wants(infos[at].name) {
            record(infos[at], Verdict::Excluded);
            return false;
        }
        match open(at) {
            Ok(()) => true,
            Err(Declined(why)) => {
                close(at);
                record(infos[at], Verdict::Declined(why));
                false
            }
        }
    });
    Ok(opened)
}

fn infos<C: Component + ?Sized>(components: &[&'static C]) -> Vec<&'static Info> {
    components.iter().map(|component| component.info()).collect()
}

/// Opens the component of a static framework. The calls of that framework go to it whatever it says, so one that
/// cannot run here ends the start: `Err(Unsupported)` after a message.
pub fn open_static<C: Component + ?Sized>(framework: &'static Framework, slice: &[&'static C]) -> Result<()> {
    for component in slice {
        let info = component.info();
        if let Err(Declined(why)) = component.open() {
            component.close();
            record(info, Verdict::Declined(why));
            message!(
                "component {}/{} is built into this library but cannot run here: {why}",
                framework.name,
                info.name
            );
            return Err(Error::Unsupported);
        }
        record(info, Verdict::Chosen(None));
    }
    Ok(())
}

/// Opens all, asks each for a priority and a module, keeps the best and closes the others.
///
/// `Err(NotFound)` after a message when nobody accepts.
pub fn select_one<C: Component + ?Sized, M>(
    framework: &'static Framework,
    slice: &[&'static C],
    query: impl Fn(&'static C) -> core::result::Result<(i32, M), Declined>,
) -> Result<(&'static C, M)> {
    let before = DECISIONS.lock().len();
    select_best(framework, slice, query)?.ok_or_else(|| {
        say_why_none(framework, before);
        Error::NotFound
    })
}

/// As [`select_one`] for a framework that nobody needs: `None`, without a message, when nobody accepts.
pub fn select_best<C: Component + ?Sized, M>(
    framework: &'static Framework,
    slice: &[&'static C],
    query: impl Fn(&'static C) -> core::result::Result<(i32, M), Declined>,
) -> Result<Option<(&'static C, M)>> {
    let opened = open(framework, slice)?;
    let mut modules: Vec<Option<M>> = Vec::new();
    let mut ask = |at: usize| {
        let offer = query(opened[at]);
        let priority = offer.as_ref().map(|(priority, _)| *priority).map_err(|declined| *declined);
        modules.push(offer.ok().map(|(_, module)| module));
        priority
    };
    let best = choose(&infos(&opened), &mut ask, &|at| opened[at].close());
    Ok(best.and_then(|at| modules.swap_remove(at).map(|module| (opened[at], module))))
}

/// [`select_best`] for all frameworks, which is compiled once: asks each in turn for its priority and returns the index of the best.
fn choose(
    infos: &[&'static Info],
    ask: &mut dyn FnMut(usize) -> core::result::Result<i32, Declined>,
    close: &dyn Fn(usize),
) -> Option<usize> {
    let mut best: Option<(i32, usize)> = None;
    for (at, info) in infos.iter().enumerate() {
        match ask(at) {
            Ok(priority) => {
                let loser = match best {
                    Some((held, _)) if held >= priority => Some((priority, at)),
                    _ => best.replace((priority, at)),
                };
                if let Some((offered, at)) = loser {
                    close(at);
                    record(infos[at], Verdict::LowerPriority(offered));
                }
            }
            Err(Declined(why)) => {
                close(at);
                record(info, Verdict::Declined(why));
            }
        }
    }
    best.map(|(priority, at)| {
        record(infos[at], Verdict::Chosen(Some(priority)));
        at
    })
}

/// Says what was decided after the first `before` decisions.
fn say_why_none(framework: &'static Framework, before: usize) {
    let mut reasons = String::new();
    for decision in decisions()[before..].iter().filter(|decision| decision.framework == framework.name) {
        if !reasons.is_empty() {
            reasons.push_str("; ");
        }
        let why = match decision.verdict {
            Verdict::Declined(why) => why,
            _ => "left out by the selection list",
        };
        reasons.push_str(decision.component);
        reasons.push_str(": ");
        reasons.push_str(why);
    }
    if reasons.is_empty() {
        reasons.push_str("this library was built without any");
    }
    message!("no component of framework {} can run here ({reasons})", framework.name);
}

fn check_names(framework: &'static Framework, list: &Selection<'_>, have: Vec<&str>) -> Result<()> {
    let source = framework.selection.source();
    if let Selection::Without(names) = list {
        for typed in names.iter().filter(|typed| !have.contains(&name::canonical(typed))) {
            verbose!(framework, 1, "{typed} is left out but is not part of this library");
        }
    }
    match name::unknown_name(framework.name, list, have, &alloc::format!("from {source}")) {
        Some(sentence) => {
            message!("{sentence}");
            Err(Error::Invalid)
        }
        None => Ok(()),
    }
}

/// Refuses selections that name what this library does not have, of all frameworks at once: those that select late, or
/// never in this run, too.
pub fn check_all(frameworks: &[&'static Framework], components: &[&'static Info]) -> Result<()> {
    let mut sound = Ok(());
    for framework in frameworks {
        let own = components.iter().filter(|info| core::ptr::eq(info.framework, *framework));
        let have: Vec<&str> = own.map(|info| info.name).collect();
        let list = open_mpi::known(Selection::parse(framework.selection.text()), framework.name, &have);
        let source = framework.selection.source();
        if let Some(text) = name::unknown_name(framework.name, &list, have, &alloc::format!("from {source}")) {
            message!("{text}");
            sound = Err(Error::Invalid);
        }
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mca::{Layer, Policy};
    use crate::sync::{AtomicU32, Ordering};

    struct Fixed {
        answer: core::result::Result<(), Declined>,
        closed: AtomicU32,
    }

    static FRAMEWORK: Framework = Framework::new("tests", "For tests.", Layer::Opal, 1, Policy::Static, |_| {});
    static INFO: Info = Info {
        framework: &FRAMEWORK,
        framework_version: 1,
        name: "fixed",
        version: "1",
        doc: "Fixed.",
        params: &[],
        pvars: &[],
    };

    impl Component for Fixed {
        fn info(&self) -> &'static Info {
            &INFO
        }

        fn open(&self) -> core::result::Result<(), Declined> {
            self.answer
        }

        fn close(&self) {
            self.closed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn verdict() -> Verdict {
        decisions().into_iter().rfind(|decision| decision.framework == "tests").unwrap().verdict
    }

    #[test]
    fn a_static_component_that_cannot_run_ends_the_start() {
        static WELL: Fixed = Fixed { answer: Ok(()), closed: AtomicU32::new(0) };
        static ILL: Fixed = Fixed { answer: Err(Declined("it is ill")), closed: AtomicU32::new(0) };
        assert_eq!(open_static(&FRAMEWORK, &[&WELL]), Ok(()));
        assert_eq!((verdict(), WELL.closed.load(Ordering::Relaxed)), (Verdict::Chosen(None), 0));
        assert_eq!(open_static(&FRAMEWORK, &[&ILL]), Err(Error::Unsupported));
        assert_eq!((verdict(), ILL.closed.load(Ordering::Relaxed)), (Verdict::Declined("it is ill"), 1));
    }
}

//! Whether a fabric is wanted, and what becomes of one that was asked for in vain.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;
use opal_core::framework::btl::{self, Job, Module};
use opal_core::mca::Declined;
use opal_core::mca::name::Selection;
use opal_core::sync::{AtomicBool, Ordering};

/// What the user asked for of one component: an explicit wish that cannot be met ends the start.
pub struct Request {
    is_in_vain: AtomicBool,
}

impl Request {
    /// Nothing was asked yet.
    pub const fn new() -> Request {
        Request { is_in_vain: AtomicBool::new(false) }
    }

    /// A component's `query`: `open` gets the job if it may need the fabric, and says whether the user's wishes are explicit, and its module
    /// or half a sentence.
    pub fn query(
        &self,
        open: impl FnOnce(&Job) -> (bool, Result<&'static dyn Module, String>),
    ) -> Result<Vec<&'static dyn Module>, Declined> {
        let job = match btl::job() {
            Some(job) if job.size > 1 && !(job.one_node && btl::is_node_served()) => *job,
            _ => return Err(Declined("no rank of this job is on another node")),
        };
        match open(&job) {
            (_, Ok(module)) => Ok(Vec::from([module])),
            (is_explicit, Err(sentence)) => {
                self.is_in_vain.store(is_explicit, Ordering::Relaxed);
                // Once in the life of a process, so the sentence may stay for ever.
                Err(Declined(Box::leak(Box::from(sentence))))
            }
        }
    }

    /// A component's `is_required`.
    pub fn is_in_vain(&self) -> bool {
        self.is_in_vain.load(Ordering::Relaxed)
    }
}

impl Default for Request {
    fn default() -> Request {
        Request::new()
    }
}

/// A component's `devices`: what is behind it, and a line for each of its offers; or why there are none.
pub fn devices(look: impl FnOnce() -> Result<(String, Vec<String>), String>) -> Vec<String> {
    match look() {
        Ok((library, lines)) => iter::once(format!("{library}, for ranks on other nodes:")).chain(lines).collect(),
        Err(sentence) => Vec::from([sentence]),
    }
}

/// Whether `--mca btl` lists this component among those to use.
pub fn is_named(component: &str) -> bool {
    let selection = Selection::parse(btl::FRAMEWORK.selection.text());
    matches!(selection, Selection::Only(_)) && selection.wants(component)
}

/// Why a program that was linked with `-static` has no fabric, for people.
pub fn no_loader(library: &str) -> String {
    format!("a program opens {library} for fabrics; one that was linked with -static cannot: link it without")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_there_and_one_that_is_not() {
        let offers = || Ok((String::from("lib 1.2"), Vec::from(["a: taken"].map(String::from))));
        assert_eq!(devices(offers), ["lib 1.2, for ranks on other nodes:", "a: taken"]);
        assert_eq!(devices(|| Err(no_loader("lib"))), [no_loader("lib")]);
    }

    /// Without a job nobody needs a fabric, and nothing is opened.
    #[test]
    fn nothing_is_opened_without_need() {
        let request = Request::new();
        let asked = request.query(|_| panic!("it was opened"));
        assert_eq!(asked.err(), Some(Declined("no rank of this job is on another node")));
        assert!(!request.is_in_vain());
    }
}

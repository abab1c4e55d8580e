//! Registration.

use crate::module::Singleton;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use opal_core::mca::{self, Declined};
use orte_core::environment::{ADVICE, BOOT_SIZE, SEGMENT, SIZE};
use orte_core::framework::ess;

/// The component.
pub struct Component {
    module: Singleton,
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if opal_core::sys::variable(SEGMENT).is_some() {
            return Err(Declined("a launcher started this process, so it does not run alone"));
        }
        if cfg!(ompi_bare) && opal_core::sys::variable(BOOT_SIZE).is_some_and(|size| size != "1") {
            return Err(Declined("the boot line says that this rank is one of several"));
        }
        match other_launcher(opal_core::sys::variable) {
            Some(sentence) => Err(Declined(Box::leak(Box::from(sentence)))),
            None => Ok(()),
        }
    }
}

/// Whether another launcher started this process as one of several: Open MPI's, those that speak PMI (MPICH's, Intel
/// MPI's, Slurm's), or PMIx, which names no size, so that only rank 0 can be alone.
fn other_launcher<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let number = |name: &str| variable(name).and_then(|text| text.parse::<u32>().ok());
    let several = [SIZE, "PMI_SIZE"].into_iter().find(|name| number(name).is_some_and(|size| size > 1));
    let name = several.or_else(|| number("PMIX_RANK").filter(|rank| *rank > 0).map(|_| "PMIX_RANK"))?;
    let value = number(name)?;
    Some(format!(
        "{name} is {value}, so another launcher started this process as one of several; {ADVICE}, or unset {name} to run it \
         alone"
    ))
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        opal_core::log::set_prefix(format!("{}:{} rank 0", opal_core::sys::hostname(), opal_core::sys::pid()));
        Ok((PRIORITY, &COMPONENT.module))
    }
}

opal_core::component! {
    /// A process that nobody launched: rank 0 of 1.
    pub static COMPONENT: Component = Component { module: Singleton::new() };
    in orte_core::framework::ess, name "singleton", params &[]
}

const PRIORITY: i32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_launchers_are_recognised() {
        let said = |name: &'static str, value: &'static str| other_launcher(|asked| (asked == name).then_some(value));
        for (name, value) in [("OMPI_COMM_WORLD_SIZE", "2"), ("PMI_SIZE", "3"), ("PMIX_RANK", "1")] {
            let sentence = said(name, value).unwrap();
            assert!(sentence.contains(&format!("{name} is {value}")) && sentence.contains(ADVICE), "{sentence}");
        }
        for (name, value) in [("OMPI_COMM_WORLD_SIZE", "1"), ("PMI_SIZE", "x"), ("PMIX_RANK", "0"), ("HOME", "2")] {
            assert_eq!(said(name, value), None);
        }
    }
}

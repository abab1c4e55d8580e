//! Registration, and the component whose copies get faults.

use crate::module::Faulty;
use crate::{params, pvars};
use opal_core::framework::{btl, smsc};
use opal_core::mca::name::Selection;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Faulty>,
}

fn wrapped() -> Option<&'static dyn smsc::Component> {
    let name = params::WRAPS.text();
    smsc::OMPI_SMSCS.iter().copied().find(|component| component.info().name == name && name != INFO.name)
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if params::WRAPS.text().is_empty() {
            return Err(Declined("smsc_faulty_wraps names no component"));
        }
        let wrapped = wrapped().ok_or(Declined("this library has no component of the name in smsc_faulty_wraps"))?;
        if Selection::parse(smsc::FRAMEWORK.selection.text()).wants(wrapped.info().name) {
            return Err(Declined(
                "the component that it wraps may run by itself; choose this one with `--mca smsc faulty`",
            ));
        }
        wrapped.open()
    }

    fn close(&self) {
        if let Some(wrapped) = wrapped() {
            wrapped.close();
        }
    }
}

impl smsc::Component for Component {
    fn query(&self, launcher: Option<u32>) -> Result<(i32, &'static dyn smsc::Module), Declined> {
        let wrapped = wrapped().ok_or(Declined("this library has no component of the name in smsc_faulty_wraps"))?;
        let (priority, copier) = wrapped.query(launcher)?;
        let rank = btl::job().map_or(0, |job| u64::from(job.index));
        let seed = (params::SEED.size() as u64) << 32 | rank;
        let faulty = || Faulty::new(copier, seed, params::CORRUPT.size() as u64);
        Ok((priority, COMPONENT.module.call_once(faulty)))
    }
}

opal_core::component! {
    /// Changed bits on purpose, from a seed, in what another component copies.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::smsc, name "faulty", params params::ALL, pvars pvars::ALL
}

//! Registration; the transports are opened here.

use crate::module::{R2, Transport};
use alloc::vec::Vec;
use ompi_core::framework::bml;
use opal_core::framework::btl;
use opal_core::mca::select::{self, Verdict};
use opal_core::mca::{self, Declined};
use opal_core::message;
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<R2>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl bml::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn bml::Module), Declined> {
        let transports = open_transports()?;
        for transport in transports.iter().filter(|transport| transport.module.is_polled_without_peers()) {
            transport.poll().map_err(|_| Declined("there are more transports than progress has places for"))?;
        }
        Ok((PRIORITY, COMPONENT.module.call_once(|| R2::new(transports))))
    }
}

fn open_transports() -> Result<Vec<Transport>, Declined> {
    let components = mca::open(&btl::FRAMEWORK, &btl::OMPI_BTLS)
        .map_err(|_| Declined("the list in parameter `btl` is invalid, see the message above"))?;
    let mut transports = Vec::new();
    // What reaches the whole node first: the others may have nothing left to do.
    let (node, rest): (Vec<_>, Vec<_>) = components.into_iter().partition(|component| component.serves_node());
    for component in node.into_iter().chain(rest) {
        let info = component.info();
        match component.query() {
            Ok(modules) => {
                select::record(info, Verdict::Chosen(None));
                transports.extend(modules.into_iter().map(|module| Transport::new(info.name, module)));
            }
            Err(Declined(why)) => {
                component.close();
                select::record(info, Verdict::Declined(why));
                if component.is_required() {
                    message!("btl/{} was asked for and cannot run: {why}", info.name);
                    return Err(Declined("a transport that was asked for cannot run, see the message above"));
                }
            }
        }
    }
    if transports.is_empty() {
        return Err(Declined("no transport can run"));
    }
    Ok(transports)
}

const PRIORITY: i32 = 10;

opal_core::component! {
    /// Chooses the transports by which each process is reached.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in ompi_core::framework::bml, name "r2", params &[]
}

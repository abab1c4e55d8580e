//! Registration; the endpoint is opened here.

use crate::module::{OFI, Ofi};
use crate::params::{FRAGMENT_SIZE, INTERFACE, LIBRARY, PROVIDER_EXCLUDE, PROVIDER_INCLUDE, RECEIVES, SENDS};
use crate::raw::{Fabric, Library, Offer};
use crate::selection::{self, Wishes};
use crate::wire::HEADER_BYTES;
use crate::{params, pvars};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Job};
use opal_core::mca::{self, Declined};
use opal_core::{verbose, wait};
use opal_fabric::request::{self, Request};
use opal_fabric::verdict::{self, Verdict};

/// The component.
pub struct Component(Request);

impl mca::Component for Component {
    opal_core::component_info!();
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        self.0.query(|job| {
            let wishes = wishes(job.one_node);
            (wishes.are_explicit(), open(job, &wishes).map(|ofi| ofi as &dyn btl::Module))
        })
    }

    fn is_required(&self) -> bool {
        self.0.is_in_vain()
    }

    fn devices(&self) -> Vec<String> {
        request::devices(|| {
            let library = Library::open(LIBRARY.text())?;
            let offers = library.offers()?;
            let (_, verdicts) = selection::choose(&offers, &wishes(false));
            Ok((format!("libfabric {}", library.version()), lines(&offers, &verdicts)))
        })
    }
}

fn wishes(one_node: bool) -> Wishes<'static> {
    Wishes {
        include: PROVIDER_INCLUDE.text(),
        exclude: PROVIDER_EXCLUDE.text(),
        interface: INTERFACE.text(),
        is_named: request::is_named(INFO.name),
        one_node,
    }
}

/// Opens libfabric, and the endpoint of the best offer. `Err` with half a sentence.
fn open(job: &Job, wishes: &Wishes<'_>) -> Result<&'static Ofi, String> {
    let library = Library::open(LIBRARY.text())?;
    let offers = library.offers()?;
    let (best, verdicts) = selection::choose(&offers, wishes);
    let lines = lines(&offers, &verdicts);
    verdict::tell(INFO.name, &lines);
    let Some(best) = best else { return Err(none(&library, &lines)) };
    let offer = &offers[best];
    let buffer_bytes =
        HEADER_BYTES + FRAGMENT_SIZE.size().clamp(FRAGMENT_BYTES.0, FRAGMENT_BYTES.1).min(offer.message_bytes());
    let counts = [&SENDS, &RECEIVES].map(|count| count.size().clamp(COUNTS.0, COUNTS.1));
    let counts = (counts[0].min(offer.sizes().0) as u32, counts[1].min(offer.sizes().1) as u32);
    let opened = Fabric::open(library, offer, counts, buffer_bytes)
        .and_then(|fabric| Ofi::new(fabric, offer, job, buffer_bytes));
    let ofi = opened.map_err(|why| format!("{}: {why}", offer.described()))?;
    let ofi = OFI.call_once(|| ofi);
    ofi.state.lock().try_again();
    if !ofi.watch() {
        wait::shorten_sleeps();
    }
    verbose!(btl::FRAMEWORK, 10, "ofi: libfabric {}, {}", library.version(), offer.described());
    Ok(ofi)
}

/// Why nothing is taken.
fn none(library: &Library, lines: &[String]) -> String {
    let version = library.version();
    if lines.is_empty() {
        return format!(
            "libfabric {version} finds no provider of reliable messages on this host; `fi_info -l` lists what it has"
        );
    }
    format!("libfabric {version} has no provider that is taken here: {}", lines.join("; "))
}

fn lines(offers: &[Offer], verdicts: &[Verdict]) -> Vec<String> {
    verdict::lines(offers.iter().map(Offer::described), verdicts)
}

opal_core::component! {
    /// Fabrics that libfabric reaches.
    pub static COMPONENT: Component = Component(Request::new());
    in opal_core::framework::btl, name "ofi", params params::ALL, pvars pvars::ALL
}

/// The least and the most of a fragment.
const FRAGMENT_BYTES: (usize, usize) = (4096, 1 << 24);
/// The least and the most buffers.
const COUNTS: (usize, usize) = (4, 1 << 14);

//! Registration; the endpoint is opened here.

use crate::module::{OFI, Ofi};
use crate::params::{FRAGMENT_SIZE, INTERFACE, LIBRARY, PROVIDER_EXCLUDE, PROVIDER_INCLUDE, RECEIVES, SENDS};
use crate::raw::{Fabric, Library, Offer};
use crate::selection::{self, Verdict, Wishes};
use crate::wire::HEADER_BYTES;
use crate::{params, pvars};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Job};
use opal_core::mca::name::Selection;
use opal_core::mca::{self, Declined};
use opal_core::sync::{AtomicBool, Ordering};
use opal_core::{verbose, wait};

/// The component.
pub struct Component {
    is_required: AtomicBool,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        let job = match btl::job() {
            Some(job) if job.size > 1 && !(job.one_node && btl::is_node_served()) => *job,
            _ => return Err(Declined("no rank of this job is on another node")),
        };
        let wishes = wishes(job.one_node);
        match open(&job, &wishes) {
            Ok(ofi) => Ok(Vec::from([ofi as &dyn btl::Module])),
            Err(sentence) => {
                self.is_required.store(wishes.are_explicit(), Ordering::Relaxed);
                // Once in the life of a process, so the sentence may stay for ever.
                Err(Declined(Box::leak(Box::from(sentence))))
            }
        }
    }

    fn is_required(&self) -> bool {
        self.is_required.load(Ordering::Relaxed)
    }

    fn devices(&self) -> Vec<String> {
        let found = Library::open(LIBRARY.text()).and_then(|library| {
            let offers = library.offers()?;
            Ok((library, offers))
        });
        let (library, offers) = match found {
            Ok(found) => found,
            Err(sentence) => return Vec::from([sentence]),
        };
        let (_, verdicts) = selection::choose(&offers, &wishes(false));
        let head = format!("libfabric {}, for ranks on other nodes:", library.version());
        let lines = offers.iter().zip(&verdicts).map(|(offer, verdict)| line(offer, verdict));
        let mut lines: Vec<String> = core::iter::once(head).chain(lines).collect();
        // libfabric offers one thing several times, with other attributes.
        lines.dedup();
        lines
    }
}

fn wishes(one_node: bool) -> Wishes<'static> {
    let named = Selection::parse(btl::FRAMEWORK.selection.text());
    Wishes {
        include: PROVIDER_INCLUDE.text(),
        exclude: PROVIDER_EXCLUDE.text(),
        interface: INTERFACE.text(),
        is_named: matches!(named, Selection::Only(_)) && named.wants(INFO.name),
        one_node,
    }
}

/// Opens libfabric, and the endpoint of the best offer. `Err` with half a sentence.
fn open(job: &Job, wishes: &Wishes<'_>) -> Result<&'static Ofi, String> {
    let library = Library::open(LIBRARY.text())?;
    let offers = library.offers()?;
    let (best, verdicts) = selection::choose(&offers, wishes);
    for (offer, verdict) in offers.iter().zip(&verdicts) {
        verbose!(btl::FRAMEWORK, 20, "ofi: {}", line(offer, verdict));
    }
    let Some(best) = best else { return Err(none(&library, &offers, &verdicts)) };
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
fn none(library: &Library, offers: &[Offer], verdicts: &[Verdict]) -> String {
    let version = library.version();
    if offers.is_empty() {
        return format!(
            "libfabric {version} finds no provider of reliable messages on this host; `fi_info -l` lists what it has"
        );
    }
    let mut lines: Vec<String> = offers.iter().zip(verdicts).map(|(offer, verdict)| line(offer, verdict)).collect();
    lines.dedup();
    format!("libfabric {version} has no provider that is taken here: {}", lines.join("; "))
}

fn line(offer: &Offer, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Taken => format!("{}: taken", offer.described()),
        Verdict::Left(why) => format!("{}: not taken, {why}", offer.described()),
    }
}

opal_core::component! {
    /// Fabrics that libfabric reaches.
    pub static COMPONENT: Component = Component { is_required: AtomicBool::new(false) };
    in opal_core::framework::btl, name "ofi", params params::ALL, pvars pvars::ALL
}

/// The least and the most of a fragment.
const FRAGMENT_BYTES: (usize, usize) = (4096, 1 << 24);
/// The least and the most buffers.
const COUNTS: (usize, usize) = (4, 1 << 14);

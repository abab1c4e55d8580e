//! Registration; the interface is opened here.

use crate::module::{UCT, Uct};
use crate::params::{DEVICES, FRAGMENT_SIZE, LIBRARY, TRANSPORTS};
use crate::raw::{Interface, Library, Offer};
use crate::selection::{self, TransportKind, Verdict, Wishes};
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
            Ok(uct) => Ok(Vec::from([uct as &dyn btl::Module])),
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
        let head = format!("{}, for ranks on other nodes:", named(&library));
        let lines = offers.iter().zip(&verdicts).map(|(offer, verdict)| line(offer, verdict));
        core::iter::once(head).chain(lines).collect()
    }
}

fn wishes(one_node: bool) -> Wishes<'static> {
    let named = Selection::parse(btl::FRAMEWORK.selection.text());
    Wishes {
        transports: TRANSPORTS.text(),
        devices: DEVICES.text(),
        is_named: matches!(named, Selection::Only(_)) && named.wants(INFO.name),
        one_node,
    }
}

/// Opens UCX, and the interface of the best offer. `Err` with half a sentence.
fn open(job: &Job, wishes: &Wishes<'_>) -> Result<&'static Uct, String> {
    let library = Library::open(LIBRARY.text())?;
    let offers = library.offers()?;
    let (choice, verdicts) = selection::choose(&offers, wishes);
    for (offer, verdict) in offers.iter().zip(&verdicts) {
        verbose!(btl::FRAMEWORK, 20, "uct: {}", line(offer, verdict));
    }
    let Some(choice) = choice else { return Err(none(&library, &offers, &verdicts)) };
    let (messages, memory) = (&offers[choice.messages], choice.memory.map(|at| &offers[at]));
    let path = memory.map_or_else(
        || messages.described(),
        |memory| format!("{}, memory by {}", messages.described(), memory.transport),
    );
    let longest = HEADER_BYTES + FRAGMENT_SIZE.size().clamp(FRAGMENT_BYTES.0, FRAGMENT_BYTES.1);
    let kind = TransportKind::of(&messages.transport, messages.kind);
    let opened = Interface::open(library, messages, memory, longest)
        .and_then(|interface| Uct::new(interface, library.version(), (kind, path.clone()), job));
    let uct = opened.map_err(|why| format!("{path}: {why}"))?;
    let uct = UCT.call_once(|| uct);
    // Whoever connects to this process wakes nobody, whatever descriptor there is for what follows.
    wait::shorten_sleeps();
    let wakes = uct.watch();
    verbose!(btl::FRAMEWORK, 10, "uct: {}, {path}; arrivals end sleeps: {wakes}", named(&library));
    Ok(uct)
}

/// Why nothing is taken.
fn none(library: &Library, offers: &[Offer], verdicts: &[Verdict]) -> String {
    let lines: Vec<String> = offers.iter().zip(verdicts).map(|(offer, verdict)| line(offer, verdict)).collect();
    format!("{} has no transport that is taken here: {}", named(library), lines.join("; "))
}

fn line(offer: &Offer, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Taken => format!("{}: taken", offer.described()),
        Verdict::Left(why) => format!("{}: not taken, {why}", offer.described()),
    }
}

fn named(library: &Library) -> String {
    let [major, minor] = library.version();
    format!("UCX {major}.{minor}")
}

opal_core::component! {
    /// Fabrics that UCX reaches.
    pub static COMPONENT: Component = Component { is_required: AtomicBool::new(false) };
    in opal_core::framework::btl, name "uct", params params::ALL, pvars pvars::ALL
}

/// The least and the most of a fragment.
const FRAGMENT_BYTES: (usize, usize) = (4096, 1 << 20);

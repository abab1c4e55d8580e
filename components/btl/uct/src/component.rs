//! Registration; the interface is opened here.

use crate::module::{UCT, Uct};
use crate::params::{DEVICES, FRAGMENT_SIZE, LIBRARY, TRANSPORTS};
use crate::raw::{Interface, Library, Offer};
use crate::selection::{self, TransportKind, Wishes};
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
            (wishes.are_explicit(), open(job, &wishes).map(|uct| uct as &dyn btl::Module))
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
            Ok((named(&library), lines(&offers, &verdicts)))
        })
    }
}

fn wishes(one_node: bool) -> Wishes<'static> {
    Wishes { transports: TRANSPORTS.text(), devices: DEVICES.text(), is_named: request::is_named(INFO.name), one_node }
}

/// Opens UCX, and the interface of the best offer. `Err` with half a sentence.
fn open(job: &Job, wishes: &Wishes<'_>) -> Result<&'static Uct, String> {
    let library = Library::open(LIBRARY.text())?;
    let offers = library.offers()?;
    let (choice, verdicts) = selection::choose(&offers, wishes);
    let lines = lines(&offers, &verdicts);
    verdict::tell(INFO.name, &lines);
    let Some(choice) = choice else { return Err(none(&library, &lines)) };
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
fn none(library: &Library, lines: &[String]) -> String {
    format!("{} has no transport that is taken here: {}", named(library), lines.join("; "))
}

fn lines(offers: &[Offer], verdicts: &[Verdict]) -> Vec<String> {
    verdict::lines(offers.iter().map(Offer::described), verdicts)
}

fn named(library: &Library) -> String {
    let [major, minor] = library.version();
    format!("UCX {major}.{minor}")
}

opal_core::component! {
    /// Fabrics that UCX reaches.
    pub static COMPONENT: Component = Component(Request::new());
    in opal_core::framework::btl, name "uct", params params::ALL, pvars pvars::ALL
}

/// The least and the most of a fragment.
const FRAGMENT_BYTES: (usize, usize) = (4096, 1 << 20);

//! What people are told of the path to a process.

use crate::checksum;
use crate::params::LONG_MESSAGES;
use crate::peers::endpoint::Endpoint;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use ompi_core::framework::bml;
use ompi_core::framework::pml::PathInfo;
use opal_core::framework::smsc;

/// Of a process that is connected.
pub fn of(endpoint: &Endpoint) -> PathInfo {
    let slot_bytes = if endpoint.fifo_pair.is_some() { endpoint.fast_path_bytes } else { 0 };
    PathInfo { transport: transports(endpoint), slot_bytes, eager_bytes: endpoint.eager_bytes, long: long(endpoint) }
}

/// All transports that carry something, the one of matched messages first.
fn transports(endpoint: &Endpoint) -> String {
    let Some(bml) = bml::selected() else { return String::new() };
    let name = |path: &bml::Path| {
        let name = bml.transport_name(path).unwrap_or("?");
        let detail = path.module.path_detail(path.endpoint);
        if detail.is_empty() { String::from(name) } else { format!("{name} ({detail})") }
    };
    let names = bml.paths(endpoint.process).iter().map(name).collect::<Vec<_>>().join(" + ");
    if checksum::is_on() { format!("{names}, with checksums") } else { names }
}

/// As `answer_rts` chooses.
fn long(endpoint: &Endpoint) -> String {
    let fragments = format!("in fragments of {}", bytes(endpoint.rails.fragment_bytes()));
    if endpoint.is_self || endpoint.fifo_pair.is_none() && endpoint.smsc_endpoint.is_none() {
        return fragments;
    }
    let mechanism = |mechanism: &smsc::Mechanism| {
        let (of, least) = (
            if mechanism.module.caps().any_memory { "" } else { " (of shareable memory)" },
            mechanism.module.caps().min_bytes,
        );
        format!("smsc/{} from {}{of}", mechanism.name, bytes(least))
    };
    // What serves all memory comes first.
    let mechanisms: Vec<String> =
        endpoint.smsc_endpoint.iter().flat_map(|smsc| smsc.mechanisms().rev().map(mechanism)).collect();
    let mechanisms = mechanisms.join(" or ");
    match LONG_MESSAGES.text() {
        "fragments" => fragments,
        "streamed" => format!("{fragments}, stored around the cache"),
        "single" if !mechanisms.is_empty() => format!("in one copy by {mechanisms}, else {fragments}"),
        "measured" if !mechanisms.is_empty() => format!("in one copy by {mechanisms}, or {fragments}, as measured"),
        _ => format!("{fragments}; no single copy"),
    }
}

fn bytes(bytes: usize) -> String {
    if bytes.is_multiple_of(1024) { format!("{} KiB", bytes / 1024) } else { format!("{bytes} B") }
}

//! What UCT offers: its components, their memory domains, and the transports over the devices of each.
#![allow(unsafe_code)]

use super::library::{Library, copied_from};
use crate::abi::{
    COMPONENT_MD_COUNT, COMPONENT_MDS, COMPONENT_NAME, COMPONENT_NAME_BYTES, ComponentAttr, DEVICE_ACCELERATOR,
    DEVICE_NODE, DEVICE_SELF, Handle, MD_NAME_BYTES, MdResource, TransportResource,
};
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::null_mut;

/// A transport over a device.
pub struct Offer {
    /// The transport's name.
    pub transport: String,
    /// The device's.
    pub device: String,
    /// What the device reaches.
    pub kind: DeviceKind,
    component: Handle,
    domain: String,
}

/// What a device reaches, as UCT says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Other nodes.
    Network,
    /// Processes of this node.
    Node,
    /// An accelerator's memory.
    Accelerator,
    /// This process.
    Itself,
}

// SAFETY: components belong to UCX and stay; nobody writes to them.
unsafe impl Send for Offer {}

/// A memory domain that is open, and the component it came from.
#[derive(Clone, Copy)]
pub struct Domain {
    pub component: Handle,
    pub handle: Handle,
}

impl Library {
    /// All transports over all devices, in UCT's order. `Err` with half a sentence.
    pub fn offers(&self) -> Result<Vec<Offer>, String> {
        let (mut components, mut count) = (null_mut(), 0);
        // SAFETY: room for an address and a number; the list is never given back, as its entries are kept.
        self.check("uct_query_components", unsafe { (self.uct_query_components)(&mut components, &mut count) })?;
        let mut offers = Vec::new();
        for at in 0..count as usize {
            // SAFETY: the list has so many entries.
            let component = unsafe { *components.wrapping_add(at) };
            for domain in self.domains(component)? {
                // One that cannot be opened here, for want of a device or of rights, offers nothing.
                let Ok(opened) = self.open_domain(component, &domain) else { continue };
                let found = self.transports(opened, component, &domain);
                // SAFETY: opened above, and nothing of it is used any more.
                unsafe { (self.uct_md_close)(opened.handle) };
                offers.extend(found?);
            }
        }
        Ok(offers)
    }

    /// Opens the memory domain of an offer.
    pub fn domain_of(&self, offer: &Offer) -> Result<Domain, String> {
        self.open_domain(offer.component, &offer.domain)
    }

    fn domains(&self, component: Handle) -> Result<Vec<String>, String> {
        let mut attr = ComponentAttr {
            field_mask: COMPONENT_NAME | COMPONENT_MD_COUNT,
            name: [0; COMPONENT_NAME_BYTES],
            md_count: 0,
            mds: null_mut(),
            flags: 0,
        };
        // SAFETY: a component, and its attributes whose mask says what to fill in.
        self.check("uct_component_query", unsafe { (self.uct_component_query)(component, &mut attr) })?;
        let mut mds = alloc::vec![MdResource { name: [0; MD_NAME_BYTES] }; attr.md_count as usize];
        attr.mds = mds.as_mut_ptr();
        attr.field_mask = COMPONENT_MDS;
        // SAFETY: as above, with room for as many domains as it said.
        self.check("uct_component_query", unsafe { (self.uct_component_query)(component, &mut attr) })?;
        Ok(mds.iter().map(|md| copied_from(&md.name)).collect())
    }

    fn open_domain(&self, component: Handle, name: &str) -> Result<Domain, String> {
        let (mut config, mut handle) = (null_mut(), null_mut());
        let name = CString::new(name).map_err(|_| String::from("its name has a zero in it"))?;
        let (prefix, file) = (core::ptr::null(), core::ptr::null());
        // SAFETY: a component, and room for an address.
        let read = unsafe { (self.uct_md_config_read)(component, prefix, file, &mut config) };
        self.check("uct_md_config_read", read)?;
        // SAFETY: a component, the name of one of its domains, what was read for it, and room for an address.
        let opened = unsafe { (self.uct_md_open)(component, name.as_ptr(), config, &mut handle) };
        // SAFETY: read above, and used no more.
        unsafe { (self.uct_config_release)(config) };
        self.check("uct_md_open", opened)?;
        Ok(Domain { component, handle })
    }

    fn transports(&self, opened: Domain, component: Handle, domain: &str) -> Result<Vec<Offer>, String> {
        let (mut list, mut count): (*mut TransportResource, _) = (null_mut(), 0);
        // SAFETY: an open domain, and room for an address and a number.
        let asked = unsafe { (self.uct_md_query_tl_resources)(opened.handle, &mut list, &mut count) };
        self.check("uct_md_query_tl_resources", asked)?;
        let offer = |at: usize| {
            // SAFETY: the list has so many entries.
            let one = unsafe { &*list.wrapping_add(at) };
            let kind = match one.device_kind {
                DEVICE_NODE => DeviceKind::Node,
                DEVICE_ACCELERATOR => DeviceKind::Accelerator,
                DEVICE_SELF => DeviceKind::Itself,
                _ => DeviceKind::Network,
            };
            let (transport, device) = (copied_from(&one.transport), copied_from(&one.device));
            Offer { transport, device, kind, component, domain: String::from(domain) }
        };
        let offers = (0..count as usize).map(offer).collect();
        // SAFETY: UCT's list, of which everything was copied.
        unsafe { (self.uct_release_tl_resource_list)(list) };
        Ok(offers)
    }
}

impl Offer {
    /// For people.
    pub fn described(&self) -> String {
        format!("{} over {}", self.transport, self.device)
    }

    /// One that is never opened.
    #[cfg(test)]
    pub fn for_tests(transport: &str, device: &str, kind: DeviceKind) -> Offer {
        let [transport, device] = [transport, device].map(String::from);
        Offer { transport, device, kind, component: null_mut(), domain: String::new() }
    }
}

//! Whether a name is that of the host that mpirun runs on.

use opal_core::sys;

/// By its own name, with or without its domain, or by one of its addresses.
pub fn is_here(name: &str) -> bool {
    let own = sys::hostname();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if let Ok(address) = name.parse::<std::net::IpAddr>() {
        // What cannot be listed is not here; then the machine logs in to itself.
        return address.is_loopback()
            || sys::interfaces().is_some_and(|all| all.iter().any(|interface| interface.address == address));
    }
    let same =
        name.eq_ignore_ascii_case(&own) || (short(name) == short(&own) && (!name.contains('.') || !own.contains('.')));
    same || name == "localhost"
}

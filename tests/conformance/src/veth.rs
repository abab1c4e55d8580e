//! A virtual wire of the system, in a network namespace that ends with the processes in it.

use std::process::Command;

/// The interfaces at its ends.
pub const ENDS: [&str; 2] = ["one", "two"];

/// Gives this process a network namespace of its own, in which the wire is all there is. `Err` says why this machine has none. Before any
/// thread exists.
pub fn lay() -> Result<(), String> {
    // SAFETY: no pointers. The user may be root, or become root of a namespace.
    let alone = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 || as_root_of_a_namespace();
    if !alone {
        return Err(format!("the system gives no network namespace: {}", std::io::Error::last_os_error()));
    }
    let [one, two] = ENDS;
    ip(&["link", "add", one, "type", "veth", "peer", "name", two])?;
    ENDS.iter().try_for_each(|end| ip(&["link", "set", end, "up"]))
}

/// Runs `ip` with these words.
pub fn ip(words: &[&str]) -> Result<(), String> {
    let said = Command::new("ip").args(words).output().map_err(|error| format!("ip of iproute2: {error}"))?;
    match said.status.success() {
        true => Ok(()),
        false => Err(format!("ip {}: {}", words.join(" "), String::from_utf8_lossy(&said.stderr).trim())),
    }
}

fn as_root_of_a_namespace() -> bool {
    // SAFETY: no preconditions.
    let user = unsafe { libc::getuid() };
    // SAFETY: no pointers.
    let made = unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) } == 0;
    made && std::fs::write("/proc/self/uid_map", format!("0 {user} 1")).is_ok()
}

//! The name server that the user names.

use std::fs;

/// The text of a port from the value of `oob_name_server`; `None` if it is empty. `Err` with a sentence.
pub fn text_of(value: &str) -> Result<Option<String>, String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    let refused = |why: String| format!("--ompi-server (oob_name_server) {value}: {why}");
    let text = match value.strip_prefix("file:") {
        None => value.to_owned(),
        Some(file) => fs::read_to_string(file)
            .map_err(|error| {
                refused(format!("{error}; mpirun --name-server {file} writes it, and removes it at its end"))
            })?
            .trim()
            .to_owned(),
    };
    match orte_core::port::reach(&text) {
        Some(_) => Ok(Some(text)),
        None => {
            Err(refused("file:FILE is wanted, with the FILE of mpirun --name-server FILE, or what is in it".to_owned()))
        }
    }
}

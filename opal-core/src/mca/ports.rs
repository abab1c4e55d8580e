//! Ranges of ports as parameters name them.

use alloc::format;
use alloc::string::String;

/// The first and last port to listen on; 0 and 0 for any. `Err` with half a sentence.
pub fn ports(text: &str) -> Result<(u16, u16), String> {
    let text = text.trim();
    if text.is_empty() || text == "0" {
        return Ok((0, 0));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((first, last)),
        _ => Err(format!("`{text}` is no range of ports; write one such as 5000-5100")),
    }
}

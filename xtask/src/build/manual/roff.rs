//! Texts as roff wants them.

/// Without anything that roff would take for its own.
pub fn plain(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq").replace('`', "\\(ga");
    // Unlike others, the plain letters of ASCII are read by every roff in every locale.
    let escaped = escaped.replace('…', "...");
    match escaped.starts_with(['.', '\'']) {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}

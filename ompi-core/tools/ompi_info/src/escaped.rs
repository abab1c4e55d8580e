//! Values in lines for programs.

/// A text with a colon or a quote in it stands in quotes, so that a line can be split at its colons.
pub fn escaped(text: &str) -> String {
    match text.contains([':', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\\\"").replace('\n', "\\n")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn quotes_what_would_split() {
        assert_eq!(escaped("plain text"), "plain text");
        assert_eq!(escaped("a:b"), "\"a:b\"");
        assert_eq!(escaped("say \"x\""), "\"say \\\"x\\\"\"");
    }
}

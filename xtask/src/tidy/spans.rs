//! Where brackets, attributes and items end in a row of tokens.

use super::tokens::{Token, tokens};

/// The tokens of a source without those of its tests.
pub fn without_tests(source: &str) -> Vec<Token<'_>> {
    let all = tokens(source);
    let mut kept = Vec::new();
    let mut at = 0;
    while at < all.len() {
        if all[at].text == "#" && text(&all, at + 1) == "[" {
            let end = close(&all, at + 1);
            if is_test(&all[(at + 2).min(end)..end]) {
                at = end_of_tested(&all, end + 1);
                continue;
            }
        }
        kept.push(all[at]);
        at += 1;
    }
    kept
}

/// The text of a token; empty behind the last one.
pub fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

/// Something such as `unsafe` or `extern "C"` before the keyword of an item.
pub fn is_modifier(tokens: &[Token], at: usize) -> bool {
    let next = text(tokens, at + 1);
    match text(tokens, at) {
        "unsafe" | "async" | "default" | "safe" => next != "!" && next != "{",
        "const" | "auto" => ["fn", "unsafe", "extern", "async", "trait"].contains(&next),
        "extern" => next == "fn" || (next.starts_with('"') && text(tokens, at + 2) == "fn"),
        abi => abi.starts_with('"') && next == "fn",
    }
}

/// Behind the last token of the item whose keyword stands here.
pub fn end_of_item(tokens: &[Token], start: usize) -> usize {
    let ends_at_semicolon = matches!(text(tokens, start), "use" | "const" | "static" | "type");
    let is_macro = text(tokens, start + 1) == "!" || text(tokens, start + 1) == "::";
    let mut at = start;
    while at < tokens.len() {
        match tokens[at].text {
            ";" => return at + 1,
            "{" if ends_at_semicolon => at = close(tokens, at),
            "{" => return close(tokens, at) + 1,
            "(" | "[" => {
                at = close(tokens, at);
                if is_macro && text(tokens, at + 1) != ";" {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    tokens.len()
}

/// Behind a field or a statement.
fn end_of_part(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while at < tokens.len() {
        match tokens[at].text {
            ";" | "," => return at + 1,
            "{" => return close(tokens, at) + 1,
            "(" | "[" => at = close(tokens, at),
            ")" | "]" | "}" => return at,
            _ => {}
        }
        at += 1;
    }
    tokens.len()
}

/// Behind what an attribute for tests marks: an item, a field or a statement.
pub fn end_of_tested(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while text(tokens, at) == "#" {
        at = close(tokens, at + 1) + 1;
    }
    if text(tokens, at) == "pub" {
        at = if text(tokens, at + 1) == "(" { close(tokens, at + 1) + 1 } else { at + 1 };
    }
    while is_modifier(tokens, at) {
        at += 1;
    }
    match text(tokens, at) {
        "use" | "mod" | "fn" | "impl" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" => {
            end_of_item(tokens, at)
        }
        _ => end_of_part(tokens, at),
    }
}

/// `cfg(test)`, `cfg(all(test, …))`, `test`.
pub fn is_test(attribute: &[Token]) -> bool {
    let says = |word: &str| attribute.iter().any(|token| token.text == word);
    match text(attribute, 0) {
        "cfg" => says("test") && !says("not"),
        "test" => attribute.len() == 1,
        _ => false,
    }
}

/// Where the bracket that opens here closes.
pub fn close(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_tests_out() {
        let source = "fn a() {} #[cfg(test)] #[inline] pub(crate) unsafe fn b<C, D>() { e() } struct F { #[cfg(test)] g: H, i: J } \
                      #[cfg(all(test, x))] mod tests { k!(); } #[cfg(not(test))] const L: M = { n };";
        let words: String = without_tests(source).iter().filter(|one| one.is_word()).map(|one| one.text).collect();
        assert_eq!(words, "fnastructFiJcfgnottestconstLMn");
    }
}

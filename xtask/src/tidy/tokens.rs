//! The words and marks of a Rust source, without comments: enough to find items, paths and names.

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// An identifier, a number, a literal with its quotes, a lifetime, `::`, or one other mark.
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
}

impl Token<'_> {
    /// An identifier or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(begins_a_word)
    }
}

/// All tokens of a source. Raw identifiers lose their `r#`.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { text, at: 0, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = reader.next() {
        tokens.push(token);
    }
    tokens
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (skipped, length) = match first {
            '"' => (0, quoted(rest, '"')),
            '\'' => (0, char_or_lifetime(rest)),
            _ if rest.starts_with("::") => (0, 2),
            _ if begins_a_word(first) => literal_or_word(rest),
            _ if first.is_ascii_digit() => (0, word(rest)),
            _ => (0, first.len_utf8()),
        };
        let token = Token { text: &rest[skipped..length], line: self.line };
        self.advance(length);
        Some(token)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let length = match rest.as_bytes() {
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => comment(rest),
                [first, ..] if first.is_ascii_whitespace() => 1,
                _ => return,
            };
            self.advance(length);
        }
    }

    fn advance(&mut self, length: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + length];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at += length;
    }
}

/// Bytes to leave out at the beginning, and bytes in all: of a word, or of a literal with a prefix such as `b"`.
fn literal_or_word(rest: &str) -> (usize, usize) {
    let length = word(rest);
    let after = &rest[length..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    match &rest[..length] {
        "r" | "br" | "cr" if after[hashes..].starts_with('"') => {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &after[hashes + 1..];
            let found = body.find(&end).map_or(body.len(), |at| at + end.len());
            (0, length + hashes + 1 + found)
        }
        "r" if hashes == 1 && after[1..].starts_with(begins_a_word) => (2, 2 + word(&rest[2..])),
        "b" | "c" if after.starts_with('"') => (0, length + quoted(after, '"')),
        "b" if after.starts_with('\'') => (0, length + quoted(after, '\'')),
        _ => (0, length),
    }
}

fn begins_a_word(first: char) -> bool {
    first.is_alphabetic() || first == '_'
}

fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

fn char_or_lifetime(rest: &str) -> usize {
    let mut inside = rest[1..].chars();
    let (first, second) = (inside.next(), inside.next());
    match first.is_some_and(begins_a_word) && second != Some('\'') {
        true => 1 + word(&rest[1..]),
        false => quoted(rest, '\''),
    }
}

/// Bytes of a literal that begins with `quote` and ends with the next one that no `\` precedes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

/// Bytes of a block comment; these nest.
fn comment(rest: &str) -> usize {
    let mut depth = 0;
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_source() {
        let text = "// a::b\nuse x::r#type; /* c /* d */ e */ let s = \"f::\\\"g\" + r#\"h\"i\"# + b'\\'' + 'j';\nfn k<'l>() {}";
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
        let expected = [
            "use",
            "x",
            "::",
            "type",
            ";",
            "let",
            "s",
            "=",
            "\"f::\\\"g\"",
            "+",
            "r#\"h\"i\"#",
            "+",
            "b'\\''",
            "+",
            "'j'",
            ";",
            "fn",
            "k",
            "<",
            "'l",
            ">",
            "(",
            ")",
            "{",
            "}",
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens(text).last().map(|token| token.line), Some(3));
    }
}

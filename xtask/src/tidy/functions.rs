//! How long a function may be. Counts on rustfmt: a function ends where a `}` stands under its first letter. Lines
//! that hold nothing but a text, such as assembly, do not count.

use super::files::Sources;

/// Functions that are too long.
pub fn check(sources: &Sources) -> Vec<String> {
    let files = sources.rust().filter(|source| !source.is_test());
    let long = files.flat_map(|source| {
        let long = lengths(&source.text).into_iter().filter(|(_, _, lines)| *lines > LIMIT);
        long.map(|(at, name, lines)| {
            format!("{}:{at}: function {name} has {lines} lines; the limit is {LIMIT}: split it", source.path)
        })
    });
    long.collect()
}

/// Line, name and length of every function before the tests of a file.
fn lengths(text: &str) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| *line == "mod tests {").unwrap_or(lines.len());
    let functions = (0..end).filter_map(|at| {
        let line = lines[at];
        let indent = line.len() - line.trim_start().len();
        let name = name(line)?;
        let close = format!("{}}}", " ".repeat(indent));
        // On one line, without a body, or with its body until the brace under its first letter.
        let ends_here = |line: &str| line.ends_with(';') || (line.ends_with('}') && line.contains('{'));
        if ends_here(line) {
            return Some((at + 1, name, 1));
        }
        // The same on several lines.
        let no_body = format!("{})", " ".repeat(indent));
        let ends = |line: &&str| **line == close || **line == format!("{close},") || line.starts_with(&no_body);
        let end = at + lines[at..].iter().position(ends)?;
        if lines[end].ends_with(';') {
            return Some((at + 1, name, end - at + 1));
        }
        let body = lines[at..].iter().position(|line| *line == close || *line == format!("{close},"))?;
        let text = lines[at..at + body].iter().filter(|line| line.trim_start().starts_with('"')).count();
        Some((at + 1, name, body + 1 - text))
    });
    functions.collect()
}

fn name(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let rest = code.strip_prefix("fn ").or_else(|| {
        let (before, rest) = code.split_once(" fn ")?;
        let words = ["pub", "const", "unsafe", "extern", "async", "safe", "\"C\"", "\"Rust\""];
        before.split(' ').all(|word| words.contains(&word) || word.starts_with("pub(")).then_some(rest)
    })?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

const LIMIT: usize = 70;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_functions() {
        let body = "    x();\n".repeat(69);
        let text = format!(
            "pub(crate) const unsafe fn long(\n    a: u8,\n) {{\n{body}}}\nimpl X {{\n    fn short(&self) -> u8 {{\n        1\n    }}\n\n    \
             fn line() {{}}\n\n    fn assembly() {{\n        asm!(\n            \"ret\",\n        );\n    }}\n\n    fn declared(\n        a: u8,\n    ) -> u8;\n}}\n// a fn in a comment\n#[cfg(test)]\nmod tests {{\n    fn never() {{\n{body}    }}\n}}\n"
        );
        assert_eq!(
            lengths(&text),
            [(1, "long", 73), (75, "short", 3), (79, "line", 1), (81, "assembly", 4), (87, "declared", 3)]
        );
    }
}

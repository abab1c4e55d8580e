//! How the library was built and what it offers: what `cargo xtask build` left beside it.

use crate::about;
use crate::command_line::Arguments;
use crate::failure::Failure;
use serde_json::Value as Json;
use std::io::Write;

/// Writes `share/ompi-rs/components.json`.
pub fn show(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let config = read()?;
    if arguments.json {
        writeln!(out, "{config:#}")?;
        return Ok(());
    }
    about::show(&about::all(Some(&config)), arguments.parsable, out)?;
    for (key, value) in facts(&config) {
        match arguments.parsable {
            true => writeln!(out, "config:{key}:{value}")?,
            false => writeln!(out, "{key:>24}: {value}")?,
        }
    }
    Ok(())
}

/// What `share/ompi-rs/components.json` says.
pub fn read() -> Result<Json, Failure> {
    let path = crate::path::prefix().map_err(Failure::Failed)?.join("share/ompi-rs/components.json");
    let failed = |why: &dyn std::fmt::Display| {
        Failure::Failed(format!("{}: {why}; `cargo xtask build` writes it beside the library", path.display()))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

fn facts(config: &Json) -> Vec<(&'static str, String)> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str, name: fn(&Json) -> &Json| {
        let words: Vec<String> = config[key].as_array().into_iter().flatten().map(|one| text(name(one))).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(" ") }
    };
    vec![
        ("version", text(&config["version"])),
        ("optimization", format!("{} link-time", text(&config["lto"]))),
        ("components", list("components", |component| &component["name"])),
        ("direct", list("direct", |name| name)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_build() {
        let config = serde_json::json!({
            "version": "1", "lto": "thin", "components": [{"name": "btl/sm"}, {"name": "btl/self"}], "direct": [],
        });
        let said: Vec<String> = facts(&config).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(said, ["version=1", "optimization=thin link-time", "components=btl/sm btl/self", "direct=none"]);
    }
}

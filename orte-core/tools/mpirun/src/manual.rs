//! The source of the manual page: the table of options as lines of fields separated by tabs, for `cargo xtask build`.
//!
//! `name`, `about` and `usage` with one field, `option` with the names and the meaning, `text` for what follows.

use std::fmt::Write;

/// The argument that asks for it. Not in the help: nobody types it.
pub const ARGUMENT: &str = "--ompi-rs-manual";

/// The lines.
pub fn lines(mut command: clap::Command) -> String {
    command.build();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage().to_string();
    let mut text = format!("name\t{}\nabout\t{about}\n", command.get_name());
    for line in usage.trim_start_matches("Usage:").lines() {
        _ = writeln!(text, "usage\t{}", line.trim());
    }
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        _ = writeln!(text, "option\t{}\t{help}", names(argument));
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    after.lines().for_each(|line| _ = writeln!(text, "text\t{line}"));
    text
}

/// `-n N, --np N`.
fn names(argument: &clap::Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let longs = argument.get_long().into_iter().chain(argument.get_visible_aliases().unwrap_or_default());
    let values: String = match argument.get_action().takes_values() {
        true => argument.get_value_names().unwrap_or_default().iter().map(|name| format!(" {name}")).collect(),
        false => String::new(),
    };
    let names = short.into_iter().chain(longs.map(|long| format!("--{long}")));
    names.map(|name| name + &values).collect::<Vec<_>>().join(", ")
}

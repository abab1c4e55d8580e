//! `cargo xtask tidy`: the rules of this source tree that no compiler checks. Fast enough to run before every commit.

mod arrows;
mod documents;
pub mod files;
mod functions;
mod glossary;
mod identifiers;
mod links;
mod module_order;
mod modules;
mod names;
mod retired;
mod spans;
mod tests_list;
mod tokens;
mod type_names;
mod unsafe_places;

use crate::failure::{Failure, Result, refuse};
use crate::progress::Progress;
use crate::tree::{self, Tree};
use files::Sources;

/// Options of `tidy`.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Write tests/tests.list anew, and retire the words that wait for it and have gone
    #[arg(long)]
    bless: bool,
    /// Run only the check of this name
    #[arg(long, value_name = "CHECK")]
    only: Option<String>,
    /// With `--only module_order`: show every circle of modules below this folder, known or not
    #[arg(long, value_name = "FOLDER", requires = "only")]
    under: Option<String>,
}

/// One rule.
pub struct Check {
    /// As `cargo xtask test tidy/<name>` names it.
    pub name: &'static str,
    look: fn(&Tree, &Sources) -> Result<Vec<String>>,
}

/// All of them.
pub const CHECKS: &[Check] = &[
    Check { name: "conflicts", look: |_, sources| Ok(names::conflicts(sources)) },
    Check { name: "arrows", look: |tree, _| arrows::check(tree) },
    Check { name: "no_std", look: arrows::no_std },
    Check { name: "descriptions", look: |tree, _| arrows::descriptions(tree) },
    Check { name: "dead_tests", look: arrows::dead_tests },
    Check { name: "file_sizes", look: |_, sources| Ok(files::sizes(sources)) },
    Check { name: "function_sizes", look: |_, sources| Ok(functions::check(sources)) },
    Check { name: "unsafe_places", look: |_, sources| Ok(unsafe_places::check(sources)) },
    Check { name: "module_order", look: |_, sources| Ok(module_order::check(sources)) },
    Check { name: "type_names", look: |_, sources| Ok(type_names::check(sources)) },
    Check { name: "retired_words", look: |_, sources| Ok(retired::check(sources)) },
    Check { name: "glossary", look: |_, sources| Ok(glossary::check(sources)) },
    Check { name: "names", look: |_, sources| Ok(names::files(sources)) },
    Check { name: "unfinished", look: |_, sources| Ok(names::unfinished(sources)) },
    Check { name: "machine_paths", look: |_, sources| Ok(names::machine_paths(sources)) },
    Check { name: "links", look: |tree, sources| Ok(links::check(&tree.root, sources)) },
    Check { name: "document_sizes", look: |_, sources| Ok(documents::sizes(sources)) },
    Check { name: "documents_linked", look: |_, sources| Ok(documents::linked(sources)) },
    Check { name: "foreign_crates", look: |tree, sources| documents::crates(&tree.root, sources) },
    Check { name: "tests_list", look: |tree, sources| tests_list::check(&tree.root, sources) },
    Check { name: "wires", look: |tree, _| crate::fpga::wires::check(tree) },
    Check { name: "format", look: |tree, _| format(tree) },
];

/// `cargo xtask tidy`.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let sources = Sources::read(&tree.root)?;
    if options.bless {
        let count = tests_list::bless(&tree.root, &sources)?;
        progress.note(&format!("tests/tests.list names {count} tests"));
        let count = retired::bless(&tree.root, &sources)?;
        progress.note(&format!("{count} more words are retired"));
    }
    let chosen = chosen(options)?;
    let mut count = 0;
    for check in &chosen {
        let findings = match &options.under {
            Some(folder) => module_order::under(&sources, folder)?,
            None => (check.look)(&tree, &sources)?,
        };
        for finding in &findings {
            eprintln!("{}: {finding}", check.name);
        }
        count += findings.len();
    }
    for advice in files::advice(&sources).iter().filter(|_| options.only.is_none()) {
        progress.note(advice);
    }
    match count {
        0 => {
            progress.note(&format!("{} checks passed", chosen.len()));
            Ok(())
        }
        _ => Err(Failure { status: 1, text: format!("{count} findings") }),
    }
}

fn chosen(options: &Options) -> Result<Vec<&'static Check>> {
    let wanted = |check: &&Check| options.only.as_ref().is_none_or(|name| name == check.name);
    let chosen: Vec<&Check> = CHECKS.iter().filter(wanted).collect();
    let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    match (&options.under, chosen.first()) {
        (_, None) => Err(refuse(format!("tidy has no check of this name; it has {}", names.join(", ")))),
        (Some(_), Some(check)) if check.name != "module_order" => {
            Err(refuse("--under needs --only module_order: no other check takes a folder"))
        }
        _ => Ok(chosen),
    }
}

/// One check by itself.
pub fn one(tree: &Tree, check: &Check) -> Result<Vec<String>> {
    (check.look)(tree, &Sources::read(&tree.root)?)
}

fn format(tree: &Tree) -> Result<Vec<String>> {
    let mut cargo = tree::cargo();
    cargo.args(["fmt", "--all", "--check", "--manifest-path"]).arg(tree.root.join("Cargo.toml"));
    let outcome = crate::shell::outcome(cargo.args(["--", "-l"]), std::time::Duration::from_secs(60))?;
    let files = outcome.stdout.lines().chain(outcome.stderr.lines());
    Ok(match outcome.status.success() {
        true => Vec::new(),
        false => files.map(|file| format!("{file} is not as rustfmt writes it; run `cargo fmt`")).collect(),
    })
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask tidy                                                 all checks, before every commit
  cargo xtask tidy --bless                                         after a test was added, renamed or removed
  cargo xtask tidy --only module_order --under components/btl/sm   the circles of one crate";

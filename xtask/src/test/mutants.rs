//! Mistakes in the algorithms of coll/sm, one at a time: a rank reads what a wrong one wrote, or takes from or puts to a wrong place.
//! Each is compiled in a copy of the tree, and the differential test of that way must fail. The table is
//! `tests/coll/mutants.txt`.
//!
//! Algorithms that send messages need no compiler for it: `tests/coll/tests/flaws.rs` and `levels.rs` let each message go wrong.

use super::{Session, Verdict};
use crate::failure::{Result, fail};
use crate::shell;
use crate::tidy::files::Sources;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// `mutants/…`: that the table still fits the sources, and with `--all` each of its mutants.
pub fn tier(session: &mut Session) -> Result<()> {
    let table = read(&shell::read(&session.tree.root.join(TABLE))?)?;
    session.case("mutants/table", |session| fits(session, &table).unwrap_or_else(Verdict::from));
    if session.options.all {
        for mutant in &table {
            session.case(&format!("mutants/{}", mutant.name), |session| {
                run(session, mutant).unwrap_or_else(Verdict::from)
            });
        }
    }
    Ok(())
}

/// One mistake.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    /// Which must fail.
    test: String,
    file: String,
    /// Lines as they are, without what they are indented by.
    right: Vec<String>,
    wrong: Vec<String>,
}

impl Mutant {
    /// The text with the mistake in it. `Err` unless its lines are there exactly once.
    fn made_in(&self, text: &str) -> Result<String> {
        let lines: Vec<&str> = text.lines().collect();
        let number = self.right.len();
        let is_here = |window: &[&str]| window.iter().zip(&self.right).all(|(line, right)| line.trim() == right);
        let places: Vec<usize> = (0..=lines.len().saturating_sub(number))
            .filter(|at| lines.get(*at..at + number).is_some_and(is_here))
            .collect();
        let [place] = places[..] else {
            let Mutant { name, file, .. } = self;
            return Err(fail(format!(
                "mutant {name}: its lines stand {} times in {file} instead of once; write into {TABLE} what the source says now",
                places.len()
            )));
        };
        let wrong = self.wrong.iter().map(String::as_str);
        let all = lines[..place].iter().copied().chain(wrong).chain(lines[place + number..].iter().copied());
        Ok(all.flat_map(|line| [line, "\n"]).collect())
    }
}

/// Reads the table: `mutant NAME TEST FILE`, then `- lines` of the file and `+ lines` instead; `#` begins a comment.
fn read(text: &str) -> Result<Vec<Mutant>> {
    let mut table: Vec<Mutant> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = || {
            fail(format!(
                "{TABLE}:{}: `{line}` is not understood; write `mutant NAME TEST FILE`, `- line`, `+ line` or `# comment`",
                number + 1
            ))
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words.first().copied(), table.last_mut()) {
            (None, _) => {}
            (Some(word), _) if word.starts_with('#') => {}
            (Some("mutant"), _) => {
                let [_, name, test, file] = words[..] else { return Err(wrong()) };
                let [name, test, file] = [name, test, file].map(str::to_owned);
                table.push(Mutant { name, test, file, right: Vec::new(), wrong: Vec::new() });
            }
            (Some("-"), Some(mutant)) => mutant.right.push(line[1..].trim().to_owned()),
            (Some("+"), Some(mutant)) => mutant.wrong.push(line[1..].trim().to_owned()),
            _ => return Err(wrong()),
        }
    }
    match table.iter().find(|mutant| mutant.right.is_empty() || mutant.right == mutant.wrong) {
        Some(mutant) => Err(fail(format!(
            "{TABLE}: mutant {} changes nothing; its + lines must differ from its - lines",
            mutant.name
        ))),
        None => Ok(table),
    }
}

fn fits(session: &Session, table: &[Mutant]) -> Result<Verdict> {
    for mutant in table {
        mutant.made_in(&shell::read(&session.tree.root.join(&mutant.file))?)?;
    }
    Ok(Verdict::Passed(format!("{} mutants", table.len())))
}

fn run(session: &Session, mutant: &Mutant) -> Result<Verdict> {
    let home = session.tree.target.join("mutants");
    let tree = home.join("tree");
    let mut sources = Sources::read(&session.tree.root)?;
    for source in sources.0.iter_mut().filter(|source| source.path == mutant.file) {
        source.text = mutant.made_in(&source.text)?;
    }
    written(&sources, &tree)?;
    let mut test = Command::new("cargo");
    test.args(["xtask", "test", &mutant.test]).current_dir(&tree).env("CARGO_TARGET_DIR", home.join("target"));
    // Nobody measures it: a mutant takes some ten seconds instead of two minutes.
    let quick = [("OPT_LEVEL", "1"), ("LTO", "off"), ("DEBUG", "false")];
    test.envs(quick.map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value)));
    let ended = shell::outcome(&mut test, LIMIT)?;
    let said = format!("{}{}", ended.stdout, ended.stderr);
    let failed = ended.stdout.lines().any(|line| line.starts_with("FAILED") && line.ends_with(&mutant.test));
    Ok(match failed && !said.contains("could not be built") && !said.contains("is not in the trace") {
        true => Verdict::Passed(format!("{} fails", mutant.test)),
        false if ended.status.success() => Verdict::Failed(format!(
            "{} passes although the source has this mistake; the test must check what the mistake breaks",
            mutant.test
        )),
        false => Verdict::Failed(format!("{} failed for another reason than the mistake\n{said}", mutant.test)),
    })
}

// Only what changed: cargo goes by times.
fn written(sources: &Sources, tree: &Path) -> Result<()> {
    for source in &sources.0 {
        let path = tree.join(&source.path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == source.text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            shell::folder(folder)?;
        }
        shell::write(&path, &source.text)?;
    }
    Ok(())
}

const TABLE: &str = "tests/coll/mutants.txt";
const LIMIT: Duration = Duration::from_secs(1200);

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "# c\n\nmutant a/b coll/x@3 f.rs\n- let a = 1;\n- b\n+ let a = 2;\n";

    #[test]
    fn a_mutant_replaces_its_lines_once() {
        let table = read(ONE).unwrap();
        assert_eq!(table.len(), 1);
        assert_eq!(table[0].test, "coll/x@3");
        assert_eq!(table[0].made_in("x\n    let a = 1;\n  b\ny\n").unwrap(), "x\nlet a = 2;\ny\n");
        assert!(table[0].made_in("x\nlet a = 1;\ny\n").is_err());
        assert!(table[0].made_in("let a = 1;\nb\nlet a = 1;\nb\n").is_err());
        assert!(table[0].made_in("").is_err());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for wrong in ["- a\n", "mutant a b\n", "mutant a b c\n", "mutant a b c\n- x\n+ x\n", "mutant a b c\n? x\n"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

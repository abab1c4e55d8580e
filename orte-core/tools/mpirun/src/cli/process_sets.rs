//! `--pset`: named sets of ranks, as the parameter `mpi_process_sets` has them.

use super::app::App;
use super::map::processors;
use crate::refusal::Refusal;
use std::collections::BTreeSet;

/// The parameter of what was said of each program; `None` if nothing was.
pub fn parameter(of_programs: &[Vec<String>], apps: &[App]) -> Result<Option<String>, Refusal> {
    let total: u32 = apps.iter().map(|app| app.ranks).sum();
    let (mut sets, mut names, mut first) = (Vec::new(), BTreeSet::new(), 0);
    for (texts, app) in of_programs.iter().zip(apps) {
        for text in texts {
            let (name, ranks) = match text.rsplit_once(':').filter(|(_, ranks)| is_list(ranks)) {
                Some((name, ranks)) => (name, ranks.to_owned()),
                None => (text.as_str(), format!("{first}-{}", first + app.ranks - 1)),
            };
            let wrong = |why: &str| Refusal::usage(format!("--pset {text}: {why}"));
            if name.is_empty() || name.contains(';') {
                return Err(wrong("a name before a colon is wanted, without a semicolon in it"));
            }
            if name.to_ascii_lowercase().starts_with("mpi") && name.contains("://") {
                return Err(wrong("names that begin with mpi…:// are those of the library's own sets"));
            }
            if !names.insert(name.to_owned()) {
                return Err(wrong("there is a set of this name already"));
            }
            let list = processors("--pset", &ranks)?;
            if let Some(rank) = list.iter().find(|rank| **rank >= total as usize) {
                return Err(wrong(&format!("there is no rank {rank}; the job has {total}")));
            }
            sets.push(format!("{name}:{ranks}"));
        }
        first += app.ranks;
    }
    Ok((!sets.is_empty()).then(|| sets.join(";")))
}

/// The parameter behind `--pset`.
pub const PROCESS_SETS: &str = "mpi_process_sets";

/// Whether it looks like a list of ranks; a name may have colons, too.
fn is_list(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(ranks: u32) -> App {
        App { ranks, wdir: None, path: None, environment: Default::default(), command: Vec::new() }
    }

    #[test]
    fn sets_of_ranks_and_of_programs() {
        let of = |texts: &[&[&str]]| {
            let texts: Vec<Vec<String>> =
                texts.iter().map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()).collect();
            parameter(&texts, &[app(2), app(3)]).map_err(|refusal| refusal.sentence)
        };
        assert_eq!(of(&[&[], &[]]), Ok(None));
        assert_eq!(of(&[&["a:0,2-3"], &["b"]]), Ok(Some("a:0,2-3;b:2-4".into())));
        assert_eq!(of(&[&["app://x:y"], &[]]), Ok(Some("app://x:y:0-1".into())));
        for (wrong, why) in [
            ("a:5", "no rank 5"),
            (":1", "a name"),
            ("a;b", "semicolon"),
            ("mpi://WORLD", "own sets"),
            ("a:3-1", "3-1"),
        ] {
            let sentence = of(&[&[wrong], &[]]).unwrap_err();
            assert!(sentence.contains(why), "{wrong}: {sentence}");
        }
        assert!(of(&[&["a", "a:1"], &[]]).unwrap_err().contains("already"));
    }
}

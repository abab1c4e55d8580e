//! Which frameworks, components and parameters the command line asks for.

use crate::command_line::Arguments;
use crate::facts::{Facts, Family, Row};
use opal_core::mca::name::{self, Selection};
use opal_core::mca::{Policy, open_mpi};

/// What to show.
#[derive(Debug)]
pub struct Filter {
    /// Nothing but the version.
    pub version_only: bool,
    /// Frameworks and components.
    pub components: bool,
    /// Parameters of these, or none.
    pub params: Option<Scope>,
    /// The highest level shown.
    pub level: u8,
    /// Of one type only.
    kind: Option<&'static str>,
    /// Components that the selection lists leave out, as framework and component.
    left_out: Vec<(&'static str, &'static str)>,
}

/// Parameters of what.
#[derive(Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every framework.
    All,
    /// A framework, and if named one component of it.
    Of(Vec<(String, Option<String>)>),
}

impl Filter {
    /// From the command line; `Err` is a sentence with the nearest name.
    pub fn new(arguments: &Arguments, facts: &Facts) -> Result<Filter, String> {
        let kind = arguments.r#type.as_deref().map(kind).transpose()?;
        let params = match (arguments.all || kind.is_some(), &arguments.param[..]) {
            (true, []) => Some(Scope::All),
            (false, []) => None,
            (_, words) => Some(scope(words, facts)?),
        };
        Ok(Filter {
            version_only: arguments.version,
            components: arguments.param.is_empty() && (kind.is_none() || arguments.all),
            params,
            level: arguments.level.unwrap_or(if arguments.all { 9 } else { 3 }),
            kind,
            left_out: if arguments.selected_only { left_out(facts) } else { Vec::new() },
        })
    }

    /// Whether `--selected-only` lets this component be shown.
    pub fn shows(&self, family: &Family, component: &str) -> bool {
        !self.left_out.contains(&(family.framework.name, component))
    }

    /// Whether the parameters of this framework's own are in scope.
    pub fn covers_framework(&self, name: &str) -> bool {
        match &self.params {
            None => false,
            Some(Scope::All) => self.kind.is_none_or(|kind| kind == "bool"),
            Some(Scope::Of(list)) => list
                .iter()
                .any(|(framework, component)| framework == name && component.as_deref().is_none_or(str::is_empty)),
        }
    }

    /// Whether this parameter is in scope, whatever its level.
    pub fn covers(&self, row: &Row) -> bool {
        if self.kind.is_some_and(|kind| row.kind() != kind) || self.left_out.contains(&(row.framework, row.component)) {
            return false;
        }
        match &self.params {
            None => false,
            Some(Scope::All) => true,
            Some(Scope::Of(list)) => list.iter().any(|(framework, component)| {
                row.framework == framework && component.as_deref().is_none_or(|component| row.component == component)
            }),
        }
    }

    /// The parameters to show.
    pub fn rows<'a>(&'a self, facts: &'a Facts) -> impl Iterator<Item = &'a Row> {
        facts.params.iter().filter(|row| self.covers(row) && row.param.level <= self.level)
    }
}

/// Our name of a type that may be called as Open MPI calls it.
fn kind(typed: &str) -> Result<&'static str, String> {
    let of_open_mpi = match typed {
        "unsigned_int" | "unsigned_long" | "unsigned_long_long" | "unsigned" | "long" => "int",
        "size_t" => "size",
        "version_string" => "string",
        other => other,
    };
    KINDS
        .iter()
        .copied()
        .find(|kind| *kind == of_open_mpi)
        .ok_or_else(|| format!("no parameter of this library has the type {typed}; there are {}", KINDS.join(", ")))
}

/// What [`Row::kind`] answers.
const KINDS: &[&str] = &["int", "size", "bool", "string", "choice"];

/// What the selection lists keep out of the frameworks where somebody can choose at run time.
fn left_out(facts: &Facts) -> Vec<(&'static str, &'static str)> {
    let mut out = Vec::new();
    for family in &facts.frameworks {
        let framework = family.framework;
        if !matches!(framework.policy, Policy::ManyOfMany | Policy::OneOfMany) {
            continue;
        }
        let have: Vec<&str> = family.components.iter().map(|info| info.name).collect();
        let list = open_mpi::known(Selection::parse(framework.selection.text()), framework.name, &have);
        let unwanted = family.components.iter().filter(|info| !list.wants(info.name));
        out.extend(unwanted.map(|info| (framework.name, info.name)));
    }
    out
}

/// `--param btl sm`, `--param btl`, `--param all`, `--param btl/sm`; clap hands all words over in one list, so a word
/// that follows a framework is its component.
fn scope(words: &[String], facts: &Facts) -> Result<Scope, String> {
    let mut list = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let (framework, joined) = match word.split_once('/') {
            Some((framework, component)) => (framework, Some(component.to_owned())),
            None => (word.as_str(), None),
        };
        if framework == "all" {
            return Ok(Scope::All);
        }
        let family = facts.frameworks.iter().find(|family| family.framework.name == framework).ok_or_else(|| {
            let all = facts.frameworks.iter().map(|family| family.framework.name);
            unknown("there is no framework", framework, all.collect())
        })?;
        let is_framework = |word: &str| facts.frameworks.iter().any(|family| family.framework.name == word);
        let next = words.next_if(|next| joined.is_none() && !is_framework(next)).cloned();
        let component = joined.or(next).filter(|component| component != "all");
        let component = component.map(|component| match component.as_str() {
            // What the framework itself has, as Open MPI calls it.
            "base" => String::new(),
            name => name::canonical(name).to_owned(),
        });
        if let Some(component) = component.as_deref().filter(|component| !component.is_empty())
            && !family.components.iter().any(|info| info.name == component)
        {
            let all = family.components.iter().map(|info| info.name);
            return Err(unknown(&format!("framework {framework} has no component"), component, all.collect()));
        }
        list.push((framework.to_owned(), component));
    }
    Ok(Scope::Of(list))
}

pub fn unknown(what: &str, typed: &str, have: Vec<&str>) -> String {
    match (name::nearest(typed, have.iter().copied()), have.is_empty()) {
        (Some(near), _) => format!("{what} {typed}; did you mean {near}?"),
        (None, true) => format!("{what} {typed}; this library has none"),
        (None, false) => format!("{what} {typed}; this library has: {}", have.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(words: &[&str]) -> Result<Scope, String> {
        scope(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &Facts::collect())
    }

    #[test]
    fn scopes() {
        let one = |framework: &str, component: Option<&str>| (framework.to_owned(), component.map(str::to_owned));
        assert_eq!(ask(&["all"]), Ok(Scope::All));
        assert_eq!(ask(&["btl"]), Ok(Scope::Of(vec![one("btl", None)])));
        assert_eq!(ask(&["timer", "clock"]), Ok(Scope::Of(vec![one("timer", Some("clock"))])));
        assert_eq!(ask(&["timer/clock"]), ask(&["timer", "clock"]));
        assert_eq!(ask(&["btl", "timer"]), Ok(Scope::Of(vec![one("btl", None), one("timer", None)])));
        assert_eq!(ask(&["btl", "all"]), ask(&["btl"]));
        assert_eq!(ask(&["btl", "base"]), Ok(Scope::Of(vec![one("btl", Some(""))])));
    }

    #[test]
    fn unknown_names() {
        assert_eq!(ask(&["btk"]), Err("there is no framework btk; did you mean btl?".to_owned()));
        assert_eq!(
            ask(&["timer", "cluck"]),
            Err("framework timer has no component cluck; did you mean clock?".to_owned())
        );
        assert!(ask(&["qqqqqqqq"]).unwrap_err().contains("this library has: "));
        assert!(ask(&["shmem", "memfd"]).unwrap_err().ends_with("this library has none"));
    }
}

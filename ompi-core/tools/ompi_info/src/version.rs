//! `--show-version WHAT[:WHICH]`.

use crate::facts::{Facts, Family, STANDARD};
use crate::failure::Failure;
use crate::filter::unknown;
use opal_core::mca::name;
use std::io::Write;

/// Writes the versions asked for.
pub fn show(typed: &str, facts: &Facts, parsable: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let (what, which) = split(typed);
    if ["all", "ompi", "opal", "orte", "ompi-rs"].contains(&what) {
        let version = part(env!("CARGO_PKG_VERSION"), which);
        match parsable {
            true => writeln!(out, "ompi:version:{which}:{version}\nmpi-api:version:full:{STANDARD}")?,
            false => writeln!(out, "{:>24}: {version}\n{:>24}: {STANDARD}", "ompi-rs", "MPI API")?,
        }
    }
    match what {
        "all" => facts.frameworks.iter().try_for_each(|family| components(family, None, which, parsable, out)),
        "ompi" | "opal" | "orte" | "ompi-rs" => Ok(()),
        _ => {
            let (framework, component) = what.split_once([':', '/']).map_or((what, None), |(a, b)| (a, Some(b)));
            let family = facts.frameworks.iter().find(|family| family.framework.name == framework);
            let family = family.ok_or_else(|| {
                let all = facts.frameworks.iter().map(|family| family.framework.name).chain(["ompi", "all"]);
                Failure::Refused(unknown("there is no framework", framework, all.collect()))
            })?;
            components(family, component.filter(|name| *name != "all"), which, parsable, out)
        }
    }
}

fn components(
    family: &Family,
    only: Option<&str>,
    which: &str,
    parsable: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let framework = family.framework.name;
    let wanted = |name: &str| only.is_none_or(|only| name::canonical(only) == name);
    if let Some(only) = only.filter(|_| !family.components.iter().any(|info| wanted(info.name))) {
        let all = family.components.iter().map(|info| info.name).collect();
        return Err(Failure::Refused(unknown(&format!("framework {framework} has no component"), only, all)));
    }
    for info in family.components.iter().filter(|info| wanted(info.name)) {
        let version = part(info.version, which);
        match parsable {
            true if which == "full" => writeln!(out, "mca:{framework}:{}:version:component:{version}", info.name)?,
            true => writeln!(out, "mca:{framework}:{}:version:component:{which}:{version}", info.name)?,
            false => writeln!(out, "{:>24}: {:<12} (Component v{version})", format!("MCA {framework}"), info.name)?,
        }
    }
    Ok(())
}

/// `btl:sm:major` is `btl:sm` and `major`; without a word at the end that names a part it is the full version.
fn split(typed: &str) -> (&str, &str) {
    match typed.rsplit_once(':') {
        Some((what, which)) if PARTS.contains(&which) => (what, which),
        _ => (typed, PARTS[0]),
    }
}

fn part<'a>(version: &'a str, which: &str) -> &'a str {
    match PARTS[1..].iter().position(|part| *part == which) {
        Some(place) => version.split('.').nth(place).unwrap_or("0"),
        None => version,
    }
}

const PARTS: &[&str] = &["full", "major", "minor", "release"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_and_which() {
        assert_eq!(split("btl:sm:major"), ("btl:sm", "major"));
        assert_eq!(split("btl:sm"), ("btl:sm", "full"));
        assert_eq!(split("ompi:full"), ("ompi", "full"));
        assert_eq!([part("1.2.3", "full"), part("1.2.3", "minor"), part("1.2.3", "release")], ["1.2.3", "2", "3"]);
    }
}

//! Resolves the words of `--components`, `--exclude` and `--direct` into the components of an image.

use crate::build::components::{Catalogue, Component, Policy};
use crate::build::{groups, header};
use crate::failure::{Result, refuse};
use std::collections::BTreeMap;

/// What was typed.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names, groups and paths; empty means `default`.
    pub components: Vec<String>,
    /// Names to leave out.
    pub exclude: Vec<String>,
    /// Names to call directly.
    pub direct: Vec<String>,
    /// For a machine without an operating system.
    pub bare: bool,
}

/// The components of one image.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Sorted by name.
    pub components: Vec<Component>,
    /// Names of those that are called directly, sorted.
    pub direct: Vec<String>,
    /// What the user should know about the choice, as sentences.
    pub notes: Vec<String>,
}

/// Resolves names and refuses what cannot be built.
pub fn resolve(catalogue: &Catalogue, request: &Request) -> Result<Choice> {
    let mut chosen = Chosen::default();
    let default = ["default".to_owned()];
    let typed = if request.components.is_empty() { &default[..] } else { &request.components };
    for item in typed {
        if groups::GROUPS.iter().any(|(name, _)| name == item) {
            group(catalogue, item, request.bare).into_iter().for_each(|component| chosen.add(component, false));
        } else if item.starts_with(['.', '/']) {
            chosen.add(catalogue.outside(item)?, true);
        } else {
            let component = named(catalogue, item, "--components")?;
            if !runs(component, request.bare) {
                let (where_it_runs, instead) = match request.bare {
                    true => ("needs an operating system", "leave --target out"),
                    false => ("runs on bare metal only", "write `cargo xtask boot`"),
                };
                return Err(refuse(format!(
                    "--components: {} {where_it_runs}; leave it out, or {instead}",
                    component.name
                )));
            }
            header::check(&component.name, &component.package)?;
            chosen.add(component.clone(), true);
        }
    }
    for item in &request.exclude {
        let name = named(catalogue, item, "--exclude")?.name.clone();
        chosen.0.remove(&name);
    }
    one_per_static(catalogue, &mut chosen)?;
    let (direct, notes) = direct(catalogue, &mut chosen, &request.direct)?;
    required(catalogue, &chosen)?;
    let components = chosen.0.into_values().map(|(component, _)| component).collect();
    Ok(Choice { components, direct, notes })
}

/// By name: the component and whether the user named it (else a group did).
#[derive(Default)]
struct Chosen(BTreeMap<String, (Component, bool)>);

impl Chosen {
    fn add(&mut self, component: Component, explicit: bool) {
        let entry = self.0.entry(component.name.clone()).or_insert((component, false));
        entry.1 |= explicit;
    }

    fn of(&self, framework: &str) -> Vec<(String, bool)> {
        let these = self.0.values().filter(|(component, _)| component.framework == framework);
        these.map(|(component, explicit)| (component.name.clone(), *explicit)).collect()
    }
}

/// Whether a component runs there.
fn runs(component: &Component, bare: bool) -> bool {
    if bare { component.package.facts.bare } else { component.package.facts.hosted }
}

fn group(catalogue: &Catalogue, name: &str, bare: bool) -> Vec<Component> {
    let wanted = |component: &&Component| {
        let policy = catalogue.framework(&component.framework).map(|framework| framework.policy);
        let listed = |list: &[&str]| list.contains(&component.name.as_str());
        if policy == Some(Policy::Static) {
            return listed(groups::STATIC_CHOICE);
        }
        match name {
            "minimal" if bare => listed(groups::MINIMAL_BARE),
            "minimal" => listed(groups::MINIMAL),
            "default" => runs(component, bare) && !listed(groups::NOT_DEFAULT),
            _ => runs(component, bare) && header::lacks(&component.package).is_none(),
        }
    };
    catalogue.components.iter().filter(wanted).cloned().collect()
}

/// The component that was meant: `btl/sm`, `btl-sm`, `btl=sm`.
fn named<'a>(catalogue: &'a Catalogue, typed: &str, option: &str) -> Result<&'a Component> {
    let mut name = typed.replacen(['-', '='], "/", usize::from(!typed.contains('/')));
    if let Some((_, meant)) = groups::ALIASES.iter().find(|(alias, _)| *alias == name) {
        name = (*meant).to_owned();
    }
    if let Some(component) = catalogue.find(&name) {
        return Ok(component);
    }
    let all = catalogue.components.iter().map(|component| component.name.as_str());
    let last = all.clone().find(|candidate| candidate.ends_with(&format!("/{typed}")));
    let groups = groups::GROUPS.iter().map(|(group, _)| *group);
    let near = last.or_else(|| nearest(&name, all.chain(groups)));
    let hint = match near {
        Some(near) => format!("write {near}"),
        None => format!(
            "write one of {}, or a group ({})",
            list(catalogue.components.iter().map(|component| component.name.as_str())),
            list(groups::GROUPS.iter().map(|(group, _)| *group))
        ),
    };
    Err(refuse(format!("{option}: there is no component `{typed}`; {hint}")))
}

/// What the user names replaces what a group brought; two are too many.
fn one_per_static(catalogue: &Catalogue, chosen: &mut Chosen) -> Result<()> {
    for framework in catalogue.frameworks.iter().filter(|framework| framework.policy == Policy::Static) {
        let these = chosen.of(&framework.name);
        let explicit: Vec<&str> =
            these.iter().filter(|(_, explicit)| *explicit).map(|(name, _)| name.as_str()).collect();
        match explicit[..] {
            [] => {}
            [_] => chosen.0.retain(|_, (component, explicit)| component.framework != framework.name || *explicit),
            [first, second, ..] => {
                return Err(refuse(format!(
                    "framework {} is static: exactly one component is built in, but --components names {first} and \
                     {second}; leave one out",
                    framework.name
                )));
            }
        }
    }
    Ok(())
}

fn required(catalogue: &Catalogue, chosen: &Chosen) -> Result<()> {
    let statics = catalogue.frameworks.iter().filter(|framework| framework.policy == Policy::Static);
    let statics = statics.map(|framework| (framework.name.as_str(), None));
    for (framework, component) in groups::REQUIRED.iter().copied().chain(statics) {
        let candidates: Vec<&str> = catalogue.of(framework).map(|component| component.name.as_str()).collect();
        let these = chosen.of(framework);
        let wanted = component.map(|component| format!("{framework}/{component}"));
        let wanted = wanted.filter(|wanted| candidates.contains(&wanted.as_str()));
        let missing = match &wanted {
            Some(wanted) => !these.iter().any(|(name, _)| name == wanted),
            None => these.is_empty() && !candidates.is_empty(),
        };
        if missing {
            let what = wanted.unwrap_or_else(|| candidates.join(" or "));
            return Err(refuse(format!(
                "no MPI runs without a component of framework {framework}; add {what} to --components, or begin the \
                 list with a group: --components minimal,…"
            )));
        }
    }
    Ok(())
}

fn direct(catalogue: &Catalogue, chosen: &mut Chosen, typed: &[String]) -> Result<(Vec<String>, Vec<String>)> {
    let (mut direct, mut notes) = (Vec::<String>::new(), Vec::new());
    for item in typed {
        let outside = item.replacen('-', "/", usize::from(!item.contains('/')));
        let name = match chosen.0.contains_key(&outside) {
            true => outside,
            false => named(catalogue, item, "--direct")?.name.clone(),
        };
        let Some((component, _)) = chosen.0.get(&name) else {
            return Err(refuse(format!(
                "--direct {name}: it is not among the chosen components; write --components …,{name} too"
            )));
        };
        let framework = component.framework.clone();
        if let Some(other) = direct.iter().find(|other| other.starts_with(&format!("{framework}/"))) {
            return Err(refuse(format!(
                "--direct names {other} and {name}; one component per framework can be called directly"
            )));
        }
        match catalogue.framework(&framework).map(|framework| framework.policy) {
            Some(Policy::Static) => {
                return Err(refuse(format!(
                    "--direct {name}: a static framework is always called directly; leave it out"
                )));
            }
            Some(Policy::One) => notes.extend(alone(chosen, &framework, &name)?),
            _ => {}
        }
        direct.push(name);
    }
    direct.sort();
    Ok((direct, notes))
}

/// Makes `name` the only component of a one-of-many framework.
fn alone(chosen: &mut Chosen, framework: &str, name: &str) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for (other, explicit) in chosen.of(framework).into_iter().filter(|(other, _)| other != name) {
        if explicit {
            return Err(refuse(format!(
                "--direct {name} makes it the only component of {framework}, but --components names {other} too; \
                 leave one out"
            )));
        }
        notes.push(format!("{other} is left out: {name} is called directly"));
        chosen.0.remove(&other);
    }
    Ok(notes)
}

/// The candidate nearest to what was typed, if one is near enough to be meant.
fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    crate::name::nearest(typed, candidates)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

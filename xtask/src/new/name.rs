//! The name of a new component.

use crate::build::components::Catalogue;
use crate::failure::{Result, refuse};

/// A name that a component can have.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    /// `btl`.
    pub framework: String,
    /// `mine`.
    pub name: String,
}

impl Name {
    /// Reads `btl/mine`, `btl-mine` or `btl=mine`, and refuses what cannot be.
    pub fn parse(catalogue: &Catalogue, typed: &str) -> Result<Name> {
        let Some((framework, name)) = typed.split_once(['/', '-', '=']) else {
            return Err(refuse(format!("`{typed}` must have the form <framework>/<name>; write for example btl/mine")));
        };
        let frameworks: Vec<&str> = catalogue.frameworks.iter().map(|framework| framework.name.as_str()).collect();
        if !frameworks.contains(&framework) {
            let hint = match crate::name::nearest(framework, frameworks.iter().copied()) {
                Some(near) => format!("write {near}/{name}"),
                None => format!("frameworks are {}", frameworks.join(", ")),
            };
            return Err(refuse(format!("there is no framework `{framework}`; {hint}")));
        }
        if let Some(why) = wrong(name) {
            return Err(refuse(format!("`{name}` cannot be the name of a component: {why}")));
        }
        let made = Name { framework: framework.to_owned(), name: name.to_owned() };
        if let Some(there) = catalogue.find(&made.full()) {
            return Err(refuse(format!(
                "{} is there already, in {}; choose another name",
                there.name,
                there.package.folder.display()
            )));
        }
        Ok(made)
    }

    /// `btl/mine`.
    pub fn full(&self) -> String {
        format!("{}/{}", self.framework, self.name)
    }

    /// `btl-mine`.
    pub fn package(&self) -> String {
        format!("{}-{}", self.framework, self.name)
    }

    /// A template's text for this component.
    pub fn put_into(&self, text: &str) -> String {
        let mut type_name = self.name.clone();
        type_name[..1].make_ascii_uppercase();
        text.replace("Template", &type_name).replace("template", &self.name)
    }
}

/// Why it is no name. It is part of a package, a crate, a parameter and a type.
fn wrong(name: &str) -> Option<&'static str> {
    let first = name.chars().next();
    if !first.is_some_and(|first| first.is_ascii_lowercase()) {
        return Some("it must begin with a lower-case letter");
    }
    if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return Some("it consists of lower-case letters and digits, as part of a package, a crate and parameters");
    }
    match name {
        "base" => Some("parameters such as btl_base_verbose belong to the framework"),
        "template" => Some("components/template holds what new ones are made of"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn names() {
        let catalogue = Catalogue::read(&Tree::open().unwrap()).unwrap();
        let refusal = |typed: &str| Name::parse(&catalogue, typed).unwrap_err().text;
        for typed in ["btl/mine", "btl-mine", "btl=mine"] {
            assert_eq!(Name::parse(&catalogue, typed).unwrap().full(), "btl/mine");
        }
        assert!(refusal("mine").contains("write for example btl/mine"));
        assert!(refusal("btll/mine").ends_with("no framework `btll`; write btl/mine"));
        assert!(refusal("infiniband/mine").contains("frameworks are atomics, bml, "));
        assert!(refusal("btl/sm").contains("btl/sm is there already"));
        for bad in ["btl/", "btl/Mine", "btl/my-net", "btl/4x", "btl/my net", "btl/../x", "btl/base", "btl/template"] {
            assert!(refusal(bad).contains("cannot be the name of a component"), "{bad}");
        }
    }

    #[test]
    fn every_framework_has_a_template() {
        let tree = Tree::open().unwrap();
        for framework in Catalogue::read(&tree).unwrap().frameworks {
            let manifest = tree.root.join("components/template").join(&framework.name).join("Cargo.toml");
            assert!(manifest.is_file(), "{} is missing", manifest.display());
        }
    }

    #[test]
    fn a_name_takes_the_templates_place() {
        let name = Name { framework: "btl".to_owned(), name: "r2".to_owned() };
        let text = "btl-template btl_template \"template\" TemplateModule";
        assert_eq!(name.put_into(text), "btl-r2 btl_r2 \"r2\" R2Module");
    }
}

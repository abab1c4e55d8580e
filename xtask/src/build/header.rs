//! Components for a library of others: its header must be there and say what the component says.

use crate::failure::{Result, refuse};
use crate::shell;
use crate::tree::Package;
use std::process::Command;

/// Whether the component can be built here, if it needs a header at all: `Some` with what it lacks, half a sentence.
pub fn lacks(package: &Package) -> Option<String> {
    let header = package.facts.header.as_ref()?;
    let install = format!("apt-get install --no-install-recommends pkg-config {}", header.package);
    let flags = Command::new("pkg-config").args(["--cflags", &header.pkg_config]).output();
    let Some(flags) = flags.ok().filter(|flags| flags.status.success()) else {
        return Some(format!("pkg-config does not find {}: {install}", header.pkg_config));
    };
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    let source = package.folder.join(&header.check);
    let mut gcc = Command::new("gcc");
    gcc.args(["-fsyntax-only", "-Wall", "-Werror"]).args(flags.split_whitespace()).arg(&source);
    match shell::output(&mut gcc) {
        Ok(_) => None,
        Err(why) => Some(format!("the header of {} is not one that it knows: {}", header.pkg_config, why.text.trim())),
    }
}

/// Refuses a component that was named and cannot be built here.
pub fn check(name: &str, package: &Package) -> Result<()> {
    match lacks(package) {
        Some(why) => Err(refuse(format!("--components: {name} cannot be built here: {why}; or leave it out"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Facts, ForeignHeader};

    #[test]
    fn what_is_lacking_is_said() {
        let package = |header: Option<ForeignHeader>| Package {
            name: "ess-x".to_owned(),
            version: "1.0.0".to_owned(),
            folder: "/nowhere".into(),
            facts: Facts { bare: false, hosted: true, exports: Vec::new(), header },
        };
        assert_eq!(lacks(&package(None)), None);
        let text = r#"{ "pkg-config": "no-such-library", "check": "src/header.c", "package": "no-such-dev" }"#;
        let absent = package(Some(serde_json::from_str(text).unwrap()));
        let sentence = check("ess/x", &absent).unwrap_err().text;
        for part in ["ess/x cannot be built here", "does not find no-such-library", "pkg-config no-such-dev"] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}

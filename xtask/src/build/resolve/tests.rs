//! Names and refusals, over a catalogue made up here.

use super::*;
use crate::build::components::Framework;
use crate::tree::{Facts, Package};

fn catalogue() -> Catalogue {
    let policies = [
        ("atomics", Policy::Static),
        ("btl", Policy::Many),
        ("coll", Policy::Many),
        ("ess", Policy::One),
        ("memcpy", Policy::Static),
        ("pml", Policy::One),
    ];
    let names = [
        "atomics/core",
        "btl/ivshmem",
        "btl/self",
        "btl/sm",
        "btl/tcp",
        "coll/basic",
        "ess/env",
        "memcpy/portable",
        "memcpy/repmovs",
        "pml/cm",
        "pml/ob1",
    ];
    Catalogue {
        frameworks: policies.map(|(name, policy)| Framework { name: name.to_owned(), policy }).to_vec(),
        components: names.map(component).to_vec(),
    }
}

fn component(name: &str) -> Component {
    let facts = Facts { bare: true, hosted: name != "btl/ivshmem", exports: Vec::new(), header: None };
    let package = Package { name: name.replace('/', "-"), version: "1.0.0".to_owned(), folder: name.into(), facts };
    let framework = name.split('/').next().unwrap().to_owned();
    Component { name: name.to_owned(), framework, package, outside: false }
}

fn split(list: &str) -> Vec<String> {
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn choose(components: &str, exclude: &str, direct: &str) -> Result<Choice> {
    let request =
        Request { components: split(components), exclude: split(exclude), direct: split(direct), bare: false };
    resolve(&catalogue(), &request)
}

fn names(components: &str, exclude: &str, direct: &str) -> String {
    let choice = choose(components, exclude, direct).unwrap();
    choice.components.iter().map(|component| component.name.as_str()).collect::<Vec<_>>().join(",")
}

/// The sentence of a refusal; its status must be 2.
fn refusal(components: &str, exclude: &str, direct: &str) -> String {
    let failure = choose(components, exclude, direct).unwrap_err();
    assert_eq!(failure.status, 2);
    failure.text
}

#[test]
fn groups() {
    let default = "atomics/core,btl/self,btl/sm,btl/tcp,coll/basic,ess/env,memcpy/portable,pml/cm,pml/ob1";
    assert_eq!(names("", "", ""), default);
    assert_eq!(names("default", "", ""), default);
    // What runs on bare metal only is in no group.
    assert_eq!(names("all", "", ""), default);
    assert!(refusal("all,btl/ivshmem", "", "").contains("btl/ivshmem runs on bare metal only"));
    assert_eq!(names("minimal", "", ""), "atomics/core,btl/self,btl/sm,coll/basic,ess/env,memcpy/portable,pml/ob1");
}

#[test]
fn spellings() {
    let with_tcp = names("minimal,btl/tcp", "", "");
    assert!(with_tcp.contains("btl/tcp"));
    assert_eq!(names("minimal,btl-tcp", "", ""), with_tcp);
    assert_eq!(names("minimal,btl=tcp", "", ""), with_tcp);
    assert_eq!(names("default", "btl/vader", ""), names("default", "btl/sm", ""));
}

#[test]
fn a_name_replaces_the_groups_static_choice() {
    let chosen = names("default,memcpy/repmovs", "", "");
    assert!(chosen.contains("memcpy/repmovs") && !chosen.contains("memcpy/portable"));
    assert_eq!(names("memcpy/repmovs,default", "", ""), chosen);
    let text = refusal("default,memcpy/repmovs,memcpy/portable", "", "");
    assert!(text.contains("exactly one") && text.contains("memcpy/portable and memcpy/repmovs"), "{text}");
}

#[test]
fn unknown_names() {
    assert!(refusal("default,btl/tpc", "", "").ends_with("write btl/tcp"));
    assert!(refusal("sm", "", "").ends_with("write btl/sm"));
    assert!(refusal("defualt", "", "").ends_with("write default"));
    assert!(refusal("", "btl/slef", "").contains("--exclude: there is no component `btl/slef`; write btl/self"));
    assert!(refusal("infiniband", "", "").contains("write one of atomics/core, "));
}

#[test]
fn missing_frameworks() {
    assert!(refusal("btl/sm", "", "").contains("add ess/env to --components"));
    assert!(refusal("default", "pml/ob1,pml/cm", "").contains("add pml/cm or pml/ob1"));
    assert!(refusal("default", "btl/self", "").contains("add btl/self"));
    assert!(refusal("default", "memcpy/portable", "").contains("memcpy/portable or memcpy/repmovs"));
}

#[test]
fn paths() {
    assert!(refusal("default,./nowhere", "", "").contains("`./nowhere` has no Cargo.toml"));
    // This very package is a crate, but no component.
    let here = env!("CARGO_MANIFEST_DIR");
    let text = refusal(&format!("default,{here}"), "", "");
    assert!(text.contains("package.name is `xtask`, but a component is named <framework>-<name>"), "{text}");
}

#[test]
fn direct_calls() {
    let choice = choose("default", "", "pml/ob1,btl/sm").unwrap();
    assert_eq!(choice.direct, ["btl/sm", "pml/ob1"]);
    let names: Vec<_> = choice.components.iter().map(|component| component.name.as_str()).collect();
    // One-of-many: alone. Many-of-many: the others stay.
    assert!(!names.contains(&"pml/cm") && names.contains(&"btl/tcp"));
    assert_eq!(choice.notes, ["pml/cm is left out: pml/ob1 is called directly"]);
    assert!(refusal("minimal", "", "btl/tcp").contains("not among the chosen components"));
    assert!(refusal("default,pml/cm", "", "pml/ob1").contains("--components names pml/cm too"));
    assert!(refusal("default", "", "memcpy/portable").contains("always called directly"));
    assert!(refusal("default", "", "btl/sm,btl/tcp").contains("one component per framework"));
}

/// What the groups name must be in the tree, once its framework has any component.
#[test]
fn groups_name_what_is_there() {
    let tree = crate::tree::Tree::open().unwrap();
    let catalogue = Catalogue::read(&tree).unwrap();
    for name in groups::STATIC_CHOICE.iter().chain(groups::MINIMAL).chain(groups::NOT_DEFAULT) {
        let framework = name.split('/').next().unwrap();
        if catalogue.of(framework).next().is_some() {
            assert!(catalogue.find(name).is_some(), "groups.rs names {name}, which components/ does not have");
        }
    }
}

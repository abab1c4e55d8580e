//! The image's list and what is linked are compared both ways; each kind of difference is found and said.

use opal_core::mca::image::{Fault, differences};
use opal_core::mca::{Framework, Info};
use test_mca::{SOUND, SOUND_COMPONENTS, driver, fruit, radio, wheel};

fn without(name: &str) -> Vec<&'static Info> {
    let rest: Vec<_> = SOUND_COMPONENTS.iter().copied().filter(|info| info.name != name).collect();
    assert_eq!(rest.len() + 1, SOUND_COMPONENTS.len(), "{name} is not there to be removed");
    rest
}

#[test]
fn a_sound_image_has_no_differences() {
    assert_eq!(differences(SOUND, SOUND_COMPONENTS), []);
}

#[test]
fn order_does_not_matter() {
    let reversed: Vec<&Info> = SOUND_COMPONENTS.iter().rev().copied().collect();
    let frameworks: Vec<&Framework> = SOUND.iter().rev().copied().collect();
    assert_eq!(differences(&frameworks, &reversed), []);
}

#[test]
fn linked_but_not_named() {
    assert_eq!(differences(SOUND, &without("cherry")), [Fault::NotNamed("fruit", "cherry")]);
}

#[test]
fn named_but_not_linked() {
    // As when an archive member was dropped: a component of whose registration the program knows nothing.
    static LOST: Info = Info {
        framework: &fruit::FRAMEWORK,
        framework_version: 3,
        name: "fig",
        version: "0",
        doc: "Made for tests.",
        params: &[],
        pvars: &[],
    };
    let named: Vec<&Info> = SOUND_COMPONENTS.iter().copied().chain([&LOST]).collect();
    assert_eq!(differences(SOUND, &named), [Fault::NotRegistered("fruit", "fig")]);
}

#[test]
fn both_ways_at_once() {
    static TWIN: Info = Info {
        framework: &fruit::FRAMEWORK,
        framework_version: 3,
        name: "cherry",
        version: "0",
        doc: "Made for tests.",
        params: &[],
        pvars: &[],
    };
    // The same name, but not the same component: two builds of one crate in one program.
    let named: Vec<&Info> = without("cherry").into_iter().chain([&TWIN]).collect();
    let faults = differences(SOUND, &named);
    assert_eq!(faults, [Fault::NotRegistered("fruit", "cherry"), Fault::NotNamed("fruit", "cherry")]);
}

#[test]
fn another_version_of_the_interface() {
    let faults = differences(&[&radio::FRAMEWORK], &[&radio::tube::INFO]);
    assert_eq!(faults, [Fault::FrameworkVersion("radio", "tube", 6, 7)]);
    let text = faults[0].to_string();
    assert!(text.contains("version 6") && text.contains("version 7") && text.contains("radio/tube"), "{text}");
}

#[test]
fn a_static_framework_needs_exactly_one() {
    assert_eq!(differences(&[&wheel::FRAMEWORK], &[]), [Fault::NotOne("wheel", 0)]);
    let two = [&driver::anna::INFO, &driver::bert::INFO];
    assert_eq!(differences(&[&driver::FRAMEWORK], &two), [Fault::NotOne("driver", 2)]);
}

#[test]
fn every_difference_says_what_to_do() {
    let faults = [
        Fault::NotRegistered("fruit", "fig"),
        Fault::NotNamed("fruit", "fig"),
        Fault::FrameworkVersion("fruit", "fig", 1, 2),
        Fault::NotOne("fruit", 0),
    ];
    for fault in faults {
        let text = fault.to_string();
        assert!(
            text.contains("fruit") && (text.contains("cargo xtask build") || text.contains("build both")),
            "{text}"
        );
    }
}

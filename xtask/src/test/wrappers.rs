//! How programs of others are built with this library: mpicc in every way that build systems call it, pkg-config, CMake,
//! Meson, autoconf, a plain Makefile; tools and plug-ins beside it; and the manual pages.

mod build_systems;
mod compile;
mod copies;
mod manual;
mod place;

use super::{Session, Verdict};
use crate::failure::Result;
use place::Place;

/// `wrappers/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let cases: &[(&str, Case)] = &[
        ("compile-and-link", compile::compile_and_link),
        ("static", compile::fully_static),
        ("shared", compile::shared),
        ("show", compile::show),
        ("other-compiler", compile::other_compiler),
        ("cplusplus", compile::cplusplus),
        ("other-names", compile::other_names),
        ("beside-the-abi", compile::beside_the_abi),
        ("several-programs", compile::several_programs),
        ("pkg-config", build_systems::pkg_config),
        ("cmake", build_systems::cmake),
        ("meson", build_systems::meson),
        ("autoconf", build_systems::autoconf),
        ("fortran", build_systems::fortran),
        ("make", build_systems::make),
        ("without-path", build_systems::without_path),
        ("plugin", copies::plugin),
        ("second-copy", copies::second_copy),
        ("tool", copies::tool),
        ("profile", copies::profile),
        ("moved", copies::moved),
        ("manual", manual::manual),
    ];
    for (name, test) in cases {
        session.case(&format!("wrappers/{name}"), |session| {
            Place::new(session, name).and_then(|place| test(&place)).unwrap_or_else(Verdict::from)
        });
    }
    Ok(())
}

type Case = fn(&Place) -> Result<Verdict>;

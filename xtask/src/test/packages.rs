//! Programs that people use: built from the source of Debian's packages by our wrappers, and checked by what they check
//! themselves. Only in the full tier; `cargo xtask bench programs` runs them on other libraries, too, and writes docs/programs.md.

mod list;
mod program;

use super::{Session, Verdict};
use crate::failure::{Result, fail};
pub use list::PACKAGES;
pub use program::{PackagedProgram, Tools};

/// `packages/NAME@RANKS`.
pub fn tier(session: &mut Session) -> Result<()> {
    if !session.options.all {
        return Ok(());
    }
    for package in PACKAGES {
        for ranks in package.ranks {
            session.case(&format!("packages/{}@{ranks}", package.name()), |session| {
                verdict(session, package, *ranks).unwrap_or_else(|verdict| verdict)
            });
        }
    }
    Ok(())
}

fn verdict(session: &mut Session, package: &PackagedProgram, ranks: u32) -> std::result::Result<Verdict, Verdict> {
    let tools = Tools { bin: session.library().map_err(fail)?.dist.join("bin"), environment: Vec::new() };
    let target = session.tree.target.clone();
    let log = session.scratch().join("packages").join(package.name());
    let folder = package.built(&tools, &target.join("debian").join(package.name()), &target, &log)?;
    let (did, _) = package.ran(&tools, &folder, ranks, &log)?;
    Ok(Verdict::Passed(did))
}

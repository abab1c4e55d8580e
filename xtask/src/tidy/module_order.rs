//! A file knows only what stands below it: the modules of a crate do not import each other in a circle. A name counts
//! for the file that defines it, whatever re-exports it, and so a parent may re-export what its children define.

mod circles;

use super::files::Sources;
use super::modules::{CrateSource, Target, crates};
use crate::failure::{Result, refuse};
use std::collections::{BTreeMap, BTreeSet};

/// Circles that are not known, and known ones that are gone.
pub fn check(sources: &Sources) -> Vec<String> {
    let circles = all(sources);
    let new = circles.iter().filter(|circle| !KNOWN.contains(&circle.folder.as_str())).map(Circle::describe);
    let gone = KNOWN.iter().filter(|folder| !circles.iter().any(|circle| circle.folder == **folder));
    let gone = gone.map(|folder| {
        format!("{folder} has no circle any more; take it off the list in xtask/src/tidy/module_order.rs")
    });
    new.chain(gone).collect()
}

/// Every circle below a folder, known or not; `.` is the whole tree.
pub fn under(sources: &Sources, folder: &str) -> Result<Vec<String>> {
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    let below = |one: &&CrateSource| folder == "." || format!("{}/", one.folder).starts_with(&format!("{folder}/"));
    let all = crates(sources);
    if !all.iter().any(|one| below(&one)) {
        return Err(refuse(format!("{folder} is no crate and holds none; give a folder such as components/btl/sm")));
    }
    Ok(all.iter().filter(below).flat_map(circles_of).map(|circle| circle.describe()).collect())
}

/// Files of one crate that depend on each other.
#[derive(Debug)]
struct Circle {
    folder: String,
    files: BTreeSet<String>,
    edges: Edges,
}

/// From file to file: the names that the first one takes.
type Edges = BTreeMap<(String, String), BTreeSet<String>>;

impl Circle {
    fn describe(&self) -> String {
        let place = format!("{}/src/", self.folder);
        let short = |file: &str| file.strip_prefix(&place).unwrap_or(file).to_owned();
        let mut text = format!("{}: {} files in a circle:", self.folder, self.files.len());
        for ((from, to), names) in &self.edges {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text += &format!("\n    {} -> {} ({})", short(from), short(to), names.join(", "));
        }
        text
    }
}

fn all(sources: &Sources) -> Vec<Circle> {
    crates(sources).iter().flat_map(circles_of).collect()
}

fn circles_of(all: &CrateSource) -> Vec<Circle> {
    let edges = edges(all);
    let mut circles = Vec::new();
    for files in circles::find(edges.keys().map(|(from, to)| (from.as_str(), to.as_str()))) {
        let files: BTreeSet<String> = files.into_iter().map(str::to_owned).collect();
        let inside = edges.iter().filter(|((from, to), _)| files.contains(from) && files.contains(to));
        let edges = inside.map(|(edge, names)| (edge.clone(), names.clone())).collect();
        circles.push(Circle { folder: all.folder.clone(), files, edges });
    }
    circles
}

/// Which module takes which names from which other one.
fn edges(all: &CrateSource) -> Edges {
    let mut edges = Edges::new();
    for (index, module) in all.modules.iter().enumerate() {
        // A name that is passed on is not used, unless the code says it. A trait may be used without being said.
        let used = module.imports.iter().filter(|import| !import.is_public || module.words.contains(import.name));
        let imported = used.filter(|import| import.name != "*").map(|import| import.path.clone());
        let globs = module.imports.iter().filter(|import| import.name == "*");
        let by_globs = globs.flat_map(|glob| {
            module.words.iter().map(|word| glob.path.iter().copied().chain([*word]).collect::<Vec<_>>())
        });
        let by_globs = by_globs.filter(|path| all.defines(index, path));
        for path in module.paths.iter().cloned().chain(imported).chain(by_globs) {
            for target in all.resolve(index, &path) {
                let Target::Item(found) = target else { continue };
                if found.file != module.file {
                    let names = edges.entry((module.file.clone(), found.file)).or_default();
                    names.insert(found.name.to_owned());
                }
            }
        }
    }
    edges
}

/// Crates with circles that stood before this rule. The list must shrink.
const KNOWN: &[&str] = &[];

#[cfg(test)]
mod tests {
    use super::super::files::Source;
    use super::*;

    /// A crate of these files below a/src; its edges as `from > to: names`, and its circles.
    fn read(files: &[(&str, &str)]) -> (Vec<String>, Vec<Vec<String>>) {
        let mut all: Vec<Source> = files
            .iter()
            .map(|(name, text)| Source { path: format!("a/src/{name}.rs"), text: (*text).to_owned() })
            .collect();
        all.push(Source { path: "a/Cargo.toml".to_owned(), text: "[package]\n".to_owned() });
        let sources = Sources(all);
        let crates = crates(&sources);
        assert_eq!(crates.len(), 1);
        let stem = |file: &str| file.trim_start_matches("a/src/").trim_end_matches(".rs").to_owned();
        let edges = edges(&crates[0]).into_iter().map(|((from, to), names)| {
            let names: Vec<String> = names.into_iter().collect();
            format!("{} > {}: {}", stem(&from), stem(&to), names.join(" "))
        });
        let circles = circles_of(&crates[0]).into_iter();
        let circles = circles.map(|circle| circle.files.iter().map(|file| stem(file)).collect());
        (edges.collect(), circles.collect())
    }

    #[test]
    fn circle_of_two() {
        let x = "use crate::y::Y; pub struct X(Y);";
        let (edges, circles) =
            read(&[("lib", "mod x; mod y;"), ("x", x), ("y", "pub struct Y; fn f() { crate::x::X }")]);
        assert_eq!(edges, ["x > y: Y", "y > x: X"]);
        assert_eq!(circles, [["x", "y"]]);
        let (edges, circles) = read(&[("lib", "mod x; mod y;"), ("x", x), ("y", "/// [`crate::x::X`]\npub struct Y;")]);
        assert_eq!(edges, ["x > y: Y"]);
        assert!(circles.is_empty());
    }

    #[test]
    fn circle_through_a_reexport() {
        let parent = "mod below; pub use below::{Below as Renamed, other::*}; #[cfg(unix)] pub fn own() {}";
        let below = "pub(super) mod other; pub struct Below(crate::z::Z);";
        let files =
            [("lib", "mod p; mod z;"), ("p", parent), ("p/below", below), ("p/below/other", "pub type Deep = u8;")];
        let (edges, circles) = read(
            &[
                &files[..],
                &[("z", "use super::p::{self, Renamed, Deep}; pub struct Z; fn z(_: p::Renamed) { p::own() }")],
            ]
            .concat(),
        );
        assert_eq!(edges, ["p/below > z: Z", "z > p: own", "z > p/below: Below", "z > p/below/other: Deep"]);
        assert_eq!(circles, [["p/below", "z"]]);
    }

    #[test]
    fn parents_and_children() {
        // A parent that re-exports stands above nobody: the child may use what the parent defines.
        let child = "use super::Base; pub struct Child(Base);";
        let passes_on = "mod child; pub use child::Child; pub struct Base;";
        let (edges, circles) = read(&[("lib", passes_on), ("child", child)]);
        assert_eq!(edges, ["child > lib: Base"]);
        assert!(circles.is_empty());
        let uses = "mod child; pub use child::Child; pub struct Base; fn f() -> Child { g() }";
        let (edges, circles) = read(&[("lib", uses), ("child", child)]);
        assert_eq!(edges, ["child > lib: Base", "lib > child: Child"]);
        assert_eq!(circles, [["child", "lib"]]);
    }

    #[test]
    fn tests_do_not_count() {
        let x = "pub struct X; #[cfg(test)] use crate::y::Y; #[cfg(test)] mod tests { use crate::y::Y; } \
                 impl X { #[cfg(test)] fn f() { crate::y::Y } } #[cfg(loom)] mod models; #[cfg(test)] mod test_image; \
                 #[cfg(not(test))] fn g(x: X) { crate::z::Z }";
        let models = "use crate::y::Y;";
        let root = "mod x; mod y; mod z;";
        let (edges, circles) = read(&[
            ("lib", root),
            ("x", x),
            ("x/models", models),
            ("x/test_image", models),
            ("y", "pub struct Y(super::x::X);"),
            ("z", "pub struct Z;"),
        ]);
        assert_eq!(edges, ["x > z: Z", "y > x: X"]);
        assert!(circles.is_empty());
    }

    #[test]
    fn nested_groups_and_macros() {
        let x = "use crate::{\n    y::{self, inner::{Deep, self as i}, Y as Other},\n    z::*, // a comment\n};\n\
                 macro_rules! m { () => { $crate::w::W } }\nfn f() { y::g(); i::h(); Z; a.w; }";
        let y = "pub struct Y; pub fn g() {} pub mod inner { pub struct Deep; pub fn h() {} pub fn unused() {} }";
        let (edges, _) = read(&[
            ("lib", "mod w; mod x; mod y; mod z;"),
            ("w", "pub struct W;"),
            ("x", x),
            ("y", y),
            ("z", "made! { pub struct Z; } pub fn w() {}"),
        ]);
        assert_eq!(edges, ["x > y: Deep Y g h", "x > z: Z"]);
    }
}

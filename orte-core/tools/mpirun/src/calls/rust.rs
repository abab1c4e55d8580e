//! Names of Rust functions, as `opal_core::stack::Name` writes them: `function + offset (file)`.

/// The path of a function. A method of a trait has its type's path: `<a::B as c::D>::e` is `a::B::e`.
pub fn path(name: &str) -> String {
    // A type may contain a plus, too.
    let name = name.rsplit_once(" + 0x").map_or(name, |(path, _)| path);
    let Some(inside) = name.strip_prefix('<') else { return name.to_owned() };
    let mut depth = 1;
    let end = inside.char_indices().find(|(at, letter)| {
        match letter {
            '<' => depth += 1,
            // An arrow is no bracket.
            '>' if !inside[..*at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some((end, _)) = end else { return name.to_owned() };
    let own = inside[..end].split(" as ").next().unwrap_or_default();
    format!("{own}{}", &inside[end + 1..])
}

/// Whether it is a function in Rust that belongs neither to the library nor to what the library calls.
pub fn is_of_program(name: &str) -> bool {
    let path = path(name);
    let Some(package) = package(&path) else { return false };
    !is_ours(name) && !CALLED.iter().any(|start| package.starts_with(start))
}

/// Whether it is a function of the library.
pub fn is_ours(name: &str) -> bool {
    package(&path(name)).is_some_and(|package| {
        OURS.contains(&package) || COMPONENTS.iter().any(|framework| package.starts_with(framework))
    })
}

/// The crate that a path begins with; names of C have none.
fn package(path: &str) -> Option<&str> {
    let own = path.trim_start_matches(['&', '*', '[', '(']);
    let own = ["mut ", "const ", "dyn "].iter().fold(own, |own, word| own.strip_prefix(word).unwrap_or(own));
    own.split_once("::").map(|(package, _)| package)
}

const OURS: &[&str] = &["libmpi_abi", "opal_core", "orte_core", "ompi_core", "ompi"];
/// What names of components' crates begin with.
const COMPONENTS: &[&str] =
    &["pml_", "bml_", "btl_", "coll_", "smsc_", "memcpy_", "topo_", "ess_", "shmem_", "timer_", "op_"];
/// What the library calls: Rust's own crates, the system's calls, locks, memory, the connections' cryptography.
const CALLED: &[&str] = &[
    "std",
    "core",
    "alloc",
    "compiler_builtins",
    "rustix",
    "libc",
    "linux_raw_sys",
    "spin",
    "dlmalloc",
    "aes",
    "ghash",
    "polyval",
    "ctr",
    "cipher",
    "digest",
    "hmac",
    "sha2",
];

#[cfg(test)]
mod tests {
    use super::{is_of_program, is_ours, path};

    #[test]
    fn paths() {
        assert_eq!(path("pml_ob1::module::recv_slow + 0x3 (x)"), "pml_ob1::module::recv_slow");
        let of_trait =
            "<coll_sm::module::Sm<[u8; 4], fn(u8) -> u8> as ompi_core::framework::coll::module::Module>::call";
        assert_eq!(path(of_trait), "coll_sm::module::Sm<[u8; 4], fn(u8) -> u8>::call");
        for other in ["main", "<a", "", "_ZN3abc"] {
            assert_eq!(path(other), other);
        }
    }

    #[test]
    fn owners() {
        for ours in [
            "ompi::time",
            "<ompi_core::a::B as core::C>::d",
            "btl_sm::poll::poll + 0x1 (y)",
            "<&mut ompi::A as b::B>::c",
        ] {
            assert!(is_ours(ours) && !is_of_program(ours), "{ours}");
        }
        for called in
            ["core::ptr::read", "rustix::thread::nanosleep", "<alloc::vec::Vec<heat::Cell> as ompi::Buffer>::count"]
        {
            assert!(!is_ours(called) && !is_of_program(called), "{called}");
        }
        for program in ["heat::main", "<heat::Grid as core::ops::Drop>::drop", "compile::sum"] {
            assert!(!is_ours(program) && is_of_program(program), "{program}");
        }
        assert!(!is_ours("main") && !is_of_program("nanosleep + 0x1 (libc.so.6)"));
    }
}

//! Names of Rust functions in symbol tables.

/// The path that a symbol stands for, without the hash at its end; a symbol of another kind stays as it is. A method of a
/// trait has its type's path: `<a::B as c::D>::e` is `a::B::e`.
pub fn path(symbol: &str) -> String {
    let mut rest = symbol.strip_prefix("_ZN").unwrap_or_default();
    let mut parts = Vec::new();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0) {
        let Some(part) = rest[..end].parse().ok().and_then(|length: usize| rest[end..].get(..length)) else { break };
        parts.push(part);
        rest = &rest[end + part.len()..];
    }
    let is_hash = |part: &&str| part.len() == 17 && part.starts_with('h');
    if parts.len() < 2 || !parts.last().is_some_and(is_hash) || !rest.starts_with('E') {
        return symbol.to_owned();
    }
    parts.pop();
    let words = parts.iter().map(|part| {
        let own = part.split("$u20$as$u20$").next().unwrap_or(part).trim_start_matches('_').trim_start_matches("$LT$");
        let text = own.replace("..", "::").replace("$LT$", "<").replace("$GT$", ">").replace("$u20$", " ");
        text.replace("$RF$", "&").replace("$u7b$", "{").replace("$u7d$", "}").replace("$C$", ",")
    });
    words.collect::<Vec<_>>().join("::")
}

/// Whether it is a function in Rust that belongs neither to the library nor to Rust's own crates.
pub fn is_of_program(symbol: &str) -> bool {
    let own = path(symbol.split(" + ").next().unwrap_or(symbol));
    let crates = ["std", "core", "alloc", "compiler_builtins"];
    symbol.starts_with("_ZN") && !crates.iter().any(|name| own.split("::").next() == Some(name)) && !is_ours(&own)
}

/// Whether it is a function of the library.
pub fn is_ours(name: &str) -> bool {
    CRATES.iter().any(|part| name.contains(part))
}

/// What names of the library's crates contain: in mangled names a length stands before each part.
const CRATES: &[&str] = &[
    "libmpi_abi",
    "opal_core",
    "orte_core",
    "ompi_core",
    "4ompi",
    "pml_",
    "bml_",
    "btl_",
    "coll_",
    "smsc_",
    "memcpy_",
    "topo_",
];

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn paths() {
        assert_eq!(path("_ZN7pml_ob16module9recv_slow17hf2d233b317f2d158E"), "pml_ob1::module::recv_slow");
        let of_trait = "_ZN82_$LT$coll_sm..module..Sm$u20$as$u20$ompi_core..framework..coll..module..Module$GT$4call\
                        17ha48f290fb578f787E";
        assert_eq!(path(of_trait), "coll_sm::module::Sm::call");
        for other in ["main", "_ZN3abcE", "_ZN4abc", "_ZN99x17hf2d233b317f2d158E", "_ZN"] {
            assert_eq!(path(other), other);
        }
    }
}

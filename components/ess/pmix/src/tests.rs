//! Libraries that are none, and the header.

use crate::raw::Library;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

#[test]
fn a_library_that_is_absent_or_another() {
    for (name, why) in
        [("libno_pmix.so.2", "libno_pmix.so.2: cannot open"), ("libc.so.6", "what was found lacks PMIx_Init")]
    {
        let sentence = Library::open(name, "4.2.2").unwrap_err();
        for part in
            [why, "speaks PMIx (4.2.2)", "install libpmix", "or start the program with the mpirun of this ompi-rs"]
        {
            assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
        }
    }
}

/// Where the header is not installed, `cargo xtask build` refuses the component.
#[test]
fn the_header_says_the_same() {
    test_header::compile(env!("CARGO_MANIFEST_DIR"), "pmix", "PMIX");
}

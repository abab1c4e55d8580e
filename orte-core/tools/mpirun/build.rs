//! Has the linker export what debuggers look for (`src/raw/mpir.rs`): they find it in a program without symbols, too.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in [
        "MPIR_Breakpoint",
        "MPIR_being_debugged",
        "MPIR_debug_state",
        "MPIR_i_am_starter",
        "MPIR_partial_attach_ok",
        "MPIR_proctable",
        "MPIR_proctable_size",
    ] {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
}

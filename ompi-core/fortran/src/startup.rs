//! Procedures that have other arguments than the C functions, or no error.

use crate::arguments::{Buffer, Handle, Ierror, In, Int};
use crate::section::Section;

unsafe extern "C" {
    safe fn PMPI_Init(argc: *mut Int, argv: usize) -> Int;
    safe fn PMPI_Init_thread(argc: *mut Int, argv: usize, required: Int, provided: *mut Int) -> Int;
    safe fn PMPI_Info_create_env(argc: Int, argv: usize, info: *mut usize) -> Int;
    // C's has an ellipsis behind the level; a call without more arguments is the same.
    safe fn PMPI_Pcontrol(level: Int) -> Int;
    safe fn PMPI_Wtime() -> f64;
    safe fn PMPI_Wtick() -> f64;
    safe fn PMPI_Aint_add(base: i64, disp: i64) -> i64;
    safe fn PMPI_Aint_diff(addr1: i64, addr2: i64) -> i64;
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_init_(ierror: Ierror) {
    ierror.set(PMPI_Init(core::ptr::null_mut(), 0));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_init_thread_(required: In<Int>, provided: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Init_thread(core::ptr::null_mut(), 0, required.get(), provided));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_info_create_env_(info: Handle, ierror: Ierror) {
    let mut info_c = info.load();
    let result = PMPI_Info_create_env(0, 0, &raw mut info_c);
    info.store(info_c);
    ierror.set(result);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_pcontrol_(level: In<Int>) {
    PMPI_Pcontrol(level.get());
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_wtime_() -> f64 {
    PMPI_Wtime()
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_wtick_() -> f64 {
    PMPI_Wtick()
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_aint_add_(base: In<i64>, disp: In<i64>) -> i64 {
    PMPI_Aint_add(base.get(), disp.get())
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_aint_diff_(addr1: In<i64>, addr2: In<i64>) -> i64 {
    PMPI_Aint_diff(addr1.get(), addr2.get())
}

/// Does nothing: that the compiler cannot know this is its use. MPI 5.0 §19.1.8.
#[unsafe(no_mangle)]
extern "C" fn pmpi_f_sync_reg_(_buf: Buffer) {}

#[unsafe(no_mangle)]
extern "C" fn pmpi_f_sync_reg_f08ts_(_buf: Section) {}

/// The bytes of one element. MPI 5.0 §19.1.9.
#[unsafe(no_mangle)]
extern "C" fn pmpi_sizeof_f08ts_(x: Section, size: crate::arguments::Out<Int>, ierror: Ierror) {
    size.set(x.element_bytes() as Int);
    ierror.set(0);
}

plain_names! { init init_thread info_create_env pcontrol wtime wtick aint_add aint_diff f_sync_reg }
f08_names! { init init_thread info_create_env pcontrol wtime wtick aint_add aint_diff }
f08ts_names! { f_sync_reg sizeof }

routines! {
    pmpi_init_ = "MPI_Init(ierror)"
    pmpi_init_thread_ = "MPI_Init_thread(required, provided, ierror)"
    pmpi_info_create_env_ = "MPI_Info_create_env(info, ierror)"
}

//! Texts whose length the program asks for. C counts its NUL, Fortran does not: MPI 5.0 §10, §11.3.3.

use crate::arguments::{Ierror, In, Int, NO_MEM, Out, SUCCESS, Text};
use crate::memory::Memory;

unsafe extern "C" {
    safe fn PMPI_Info_get(info: usize, key: usize, valuelen: Int, value: *mut u8, flag: *mut Int) -> Int;
    safe fn PMPI_Info_get_string(info: usize, key: usize, buflen: *mut Int, value: *mut u8, flag: *mut Int) -> Int;
    safe fn PMPI_Session_get_nth_pset(
        session: usize,
        info: usize,
        n: Int,
        pset_len: *mut Int,
        pset_name: *mut u8,
    ) -> Int;
}

/// Room for a text and its NUL, which is there from the beginning.
struct Room {
    memory: Memory,
    bytes: usize,
}

impl Room {
    fn new(length: Int) -> Option<Room> {
        let bytes = usize::try_from(length).unwrap_or(0) + 1;
        let memory = Memory::new(bytes)?;
        // SAFETY: the memory has that many bytes.
        unsafe { memory.start().cast::<u8>().write_bytes(0, bytes) };
        Some(Room { memory, bytes })
    }

    fn pointer(&self) -> *mut u8 {
        self.memory.start().cast()
    }

    fn text(&self) -> &[u8] {
        // SAFETY: `new` wrote that many bytes; C wrote at most as many.
        unsafe { core::slice::from_raw_parts(self.pointer(), self.bytes) }
    }
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_info_get_(
    info: In<Int>,
    key: Text,
    valuelen: In<Int>,
    value: Text,
    flag: Out<Int>,
    ierror: Ierror,
    key_len: usize,
    value_len: usize,
) {
    let Some(key_c) = key.stripped(key_len) else { return ierror.set(NO_MEM) };
    let Some(room) = Room::new(valuelen.get()) else { return ierror.set(NO_MEM) };
    let result = PMPI_Info_get(info.handle(), key_c.address(), valuelen.get(), room.pointer(), flag.0);
    if result == SUCCESS && flag.get() != 0 {
        value.fill(value_len, room.text(), result);
    }
    ierror.set(result);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_info_get_string_(
    info: In<Int>,
    key: Text,
    buflen: Out<Int>,
    value: Text,
    flag: Out<Int>,
    ierror: Ierror,
    key_len: usize,
    value_len: usize,
) {
    let Some(key_c) = key.stripped(key_len) else { return ierror.set(NO_MEM) };
    let length = buflen.get();
    let Some(room) = Room::new(length) else { return ierror.set(NO_MEM) };
    let mut with_nul = with_nul(length);
    let result = PMPI_Info_get_string(info.handle(), key_c.address(), &raw mut with_nul, room.pointer(), flag.0);
    if result == SUCCESS && flag.get() != 0 {
        buflen.set((with_nul - 1).max(0));
        if length > 0 {
            value.fill(value_len, room.text(), result);
        }
    }
    ierror.set(result);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_session_get_nth_pset_(
    session: In<Int>,
    info: In<Int>,
    n: In<Int>,
    pset_len: Out<Int>,
    pset_name: Text,
    ierror: Ierror,
    name_len: usize,
) {
    let length = pset_len.get();
    let Some(room) = Room::new(length) else { return ierror.set(NO_MEM) };
    let mut with_nul = with_nul(length);
    let result = PMPI_Session_get_nth_pset(session.handle(), info.handle(), n.get(), &raw mut with_nul, room.pointer());
    if result == SUCCESS {
        pset_len.set((with_nul - 1).max(0));
        if length > 0 {
            pset_name.fill(name_len, room.text(), result);
        }
    }
    ierror.set(result);
}

/// Zero asks for the length alone.
fn with_nul(length: Int) -> Int {
    if length > 0 { length.saturating_add(1) } else { length }
}

plain_names! { info_get info_get_string session_get_nth_pset }
f08_names! { info_get info_get_string session_get_nth_pset }

routines! {
    pmpi_info_get_ = "MPI_Info_get(info, key, valuelen, value, flag, ierror)"
    pmpi_info_get_string_ = "MPI_Info_get_string(info, key, buflen, value, flag, ierror)"
    pmpi_session_get_nth_pset_ = "MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)"
}

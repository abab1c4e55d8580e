//! Commands and their arguments: arrays of texts of one length, the last one blank, that lose the blanks at both ends. MPI 5.0 §11.8.

use crate::arguments::{Handle, Handles, Ierror, Ignorable, In, Int, List, NO_MEM, Text, stripped};
use crate::memory::Memory;

unsafe extern "C" {
    safe fn PMPI_Comm_spawn(
        command: usize,
        argv: usize,
        maxprocs: Int,
        info: usize,
        root: Int,
        comm: usize,
        intercomm: *mut usize,
        errcodes: usize,
    ) -> Int;
    safe fn PMPI_Comm_spawn_multiple(
        count: Int,
        commands: usize,
        argvs: usize,
        maxprocs: *const Int,
        infos: *mut usize,
        root: Int,
        comm: usize,
        intercomm: *mut usize,
        errcodes: usize,
    ) -> Int;
}

/// Texts for C, and the addresses of them with a null behind.
struct Words {
    pointers: List,
    _texts: Memory,
}

impl Words {
    /// `word(n)` is the text of that number.
    fn new<'a>(count: usize, length: usize, word: impl Fn(usize) -> &'a [u8]) -> Option<Words> {
        let room = length.checked_add(1)?;
        let texts = Memory::new(count.checked_mul(room)?)?;
        let mut pointers = List::new(count + 1)?;
        for number in 0..count {
            let bytes = stripped(word(number));
            let end = bytes.len();
            let place = texts.start().cast::<u8>().wrapping_add(number * room);
            // SAFETY: each word has `room` bytes there.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, end) };
            // SAFETY: `end` is at most the length, and there is one byte more.
            unsafe { place.wrapping_add(end).write(0) };
            pointers.slice()[number] = place as usize;
        }
        Some(Words { pointers, _texts: texts })
    }

    /// Up to the first blank one of them.
    fn until_blank<'a>(length: usize, word: impl Fn(usize) -> &'a [u8]) -> Option<Words> {
        let count = (0..).find(|number| word(*number).iter().all(|byte| *byte == b' '))?;
        Words::new(count, length, word)
    }
}

/// A text of an array; the array lives as long as the call.
fn element<'a>(array: Text, length: usize, at: usize) -> &'a [u8] {
    let start = array.0.wrapping_add(at * length);
    // SAFETY: the array has it: it ends with a blank element, by the interface.
    unsafe { core::slice::from_raw_parts(start, length) }
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_comm_spawn_(
    command: Text,
    argv: Text,
    maxprocs: In<Int>,
    info: In<Int>,
    root: In<Int>,
    comm: In<Int>,
    intercomm: Handle,
    errcodes: Ignorable,
    ierror: Ierror,
    command_len: usize,
    argv_len: usize,
) {
    let Some(command_c) = command.stripped(command_len) else { return ierror.set(NO_MEM) };
    let mut words = None;
    if !is_constant(argv) {
        words = Words::until_blank(argv_len, |at| element(argv, argv_len, at));
        if words.is_none() {
            return ierror.set(NO_MEM);
        }
    }
    let argv_c = words.as_mut().map_or(0, |words| words.pointers.pointer() as usize);
    let mut intercomm_c = intercomm.load();
    let result = PMPI_Comm_spawn(
        command_c.address(),
        argv_c,
        maxprocs.get(),
        info.handle(),
        root.get(),
        comm.handle(),
        &raw mut intercomm_c,
        errcodes.address(),
    );
    intercomm.store(intercomm_c);
    ierror.set(result);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_comm_spawn_multiple_(
    count: In<Int>,
    commands: Text,
    argvs: Text,
    maxprocs: *const Int,
    infos: Handles,
    root: In<Int>,
    comm: In<Int>,
    intercomm: Handle,
    errcodes: Ignorable,
    ierror: Ierror,
    commands_len: usize,
    argvs_len: usize,
) {
    let programs = count.length();
    let commands = Words::new(programs, commands_len, |at| element(commands, commands_len, at));
    let (Some(mut commands), Some(mut infos_c)) = (commands, infos.load(programs)) else { return ierror.set(NO_MEM) };
    let mut lists = None;
    if !is_constant(argvs) {
        lists = argument_lists(argvs, argvs_len, programs);
        if lists.is_none() {
            return ierror.set(NO_MEM);
        }
    }
    let argvs_c = lists.as_mut().map_or(0, |lists| lists.0.pointer() as usize);
    let mut intercomm_c = intercomm.load();
    let result = PMPI_Comm_spawn_multiple(
        count.get(),
        commands.pointers.pointer() as usize,
        argvs_c,
        maxprocs,
        infos_c.pointer(),
        root.get(),
        comm.handle(),
        &raw mut intercomm_c,
        errcodes.address(),
    );
    intercomm.store(intercomm_c);
    ierror.set(result);
}

/// The list of each program is a row of the table, whose columns lie one behind the other. All texts share one memory, and so do
/// all addresses: the lists point there.
fn argument_lists(table: Text, length: usize, programs: usize) -> Option<(List, Memory, Memory)> {
    let cell = |program: usize, at: usize| element(table, length, at * programs + program);
    let blank = |program: usize, at: usize| cell(program, at).iter().all(|byte| *byte == b' ');
    let words = |program: usize| (0..).position(|at| blank(program, at)).unwrap_or(0);
    let total: usize = (0..programs).map(words).sum();
    let texts = Memory::new(total.checked_mul(length + 1)?)?;
    let mut lists = List::new(programs)?;
    let pointers = Memory::new((total + programs) * size_of::<usize>())?;
    let (mut next, mut place) = (pointers.start().cast::<usize>(), texts.start().cast::<u8>());
    for program in 0..programs {
        lists.slice()[program] = next as usize;
        for at in 0..words(program) {
            let bytes = stripped(cell(program, at));
            let end = bytes.len();
            // SAFETY: there is room for `total` texts of this length and their NULs.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, end) };
            // SAFETY: as before.
            unsafe { place.wrapping_add(end).write(0) };
            // SAFETY: there is room for `total` addresses and a null for each program.
            unsafe { next.write(place as usize) };
            next = next.wrapping_add(1);
            place = place.wrapping_add(length + 1);
        }
        // SAFETY: as before.
        unsafe { next.write(0) };
        next = next.wrapping_add(1);
    }
    Some((lists, pointers, texts))
}

/// MPI_ARGV_NULL or MPI_ARGVS_NULL.
fn is_constant(argv: Text) -> bool {
    Ignorable::of(argv.0).address() == 0
}

plain_names! { comm_spawn comm_spawn_multiple }
f08_names! { comm_spawn comm_spawn_multiple }

routines! {
    pmpi_comm_spawn_ = "MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes, ierror)"
    pmpi_comm_spawn_multiple_ = "MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes, ierror)"
}

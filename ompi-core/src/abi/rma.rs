//! Windows and access to them. MPI 5.0 §12.2 and §12.3.

use super::kinds::{
    Aint, Buffer, Comm, Committed, ConstBuffer, Count, Hints, Op, Out, OutCount, Rank, Raw, Signed, Text, Win,
};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// A window over memory of the user's. MPI 5.0 §12.2.1.
    fn Win_create(
        base: Buffer, size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, win: Out<usize>,
    ) [large] => unsupported

    /// A window with memory of its own. MPI 5.0 §12.2.2.
    fn Win_allocate(
        size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, baseptr: Raw<*mut c_void>, win: Out<usize>,
    ) [large] => unsupported

    /// A window whose memory all processes can address. MPI 5.0 §12.2.3.
    fn Win_allocate_shared(
        size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, baseptr: Raw<*mut c_void>, win: Out<usize>,
    ) [large] => unsupported

    /// Where another process's part of a shared window lies. MPI 5.0 §12.2.3.
    fn Win_shared_query(
        win: Win, rank: Rank, size: Out<Aint>, disp_unit: OutCount, baseptr: Raw<*mut c_void>,
    ) [large] => unsupported

    /// A window to which memory is attached later. MPI 5.0 §12.2.4.
    fn Win_create_dynamic(info: Hints, comm: Comm, win: Out<usize>) [] => unsupported

    /// Attaches memory to a dynamic window. MPI 5.0 §12.2.4.
    fn Win_attach(win: Win, base: Buffer, size: Raw<Aint>) [] => unsupported

    /// Detaches memory from a dynamic window. MPI 5.0 §12.2.4.
    fn Win_detach(win: Win, base: ConstBuffer) [] => unsupported

    /// Frees a window. MPI 5.0 §12.2.5.
    fn Win_free(win: Out<usize>) [] => unsupported

    /// The group of a window. MPI 5.0 §12.2.6.
    fn Win_get_group(win: Win, group: Out<usize>) [] => unsupported

    /// Gives a window hints. MPI 5.0 §12.2.7.
    fn Win_set_info(win: Win, info: Hints) [] => unsupported

    /// The hints in use. MPI 5.0 §12.2.7.
    fn Win_get_info(win: Win, info_used: Out<usize>) [] => unsupported

    /// Names a window. MPI 5.0 §7.8.
    fn Win_set_name(win: Win, win_name: Text) [] => unsupported

    /// The name of a window. MPI 5.0 §7.8.
    fn Win_get_name(win: Win, win_name: Out<c_char>, resultlen: Out<c_int>) [] => unsupported

    /// Writes to a window. MPI 5.0 §12.3.1.
    fn Put(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win,
    ) [large] => unsupported

    /// Reads from a window. MPI 5.0 §12.3.2.
    fn Get(
        origin_addr: Buffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win,
    ) [large] => unsupported

    /// Combines data into a window. MPI 5.0 §12.3.4.
    fn Accumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, op: Op, win: Win,
    ) [large] => unsupported

    /// Reads from a window and combines data into it. MPI 5.0 §12.3.4.
    fn Get_accumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, result_addr: Buffer,
        result_count: Count, result_datatype: Committed, target_rank: Rank, target_disp: Raw<Aint>,
        target_count: Count, target_datatype: Committed, op: Op, win: Win,
    ) [large] => unsupported

    /// Reads one element and combines one into it. MPI 5.0 §12.3.4.
    fn Fetch_and_op(
        origin_addr: ConstBuffer, result_addr: Buffer, datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, op: Op, win: Win,
    ) [] => unsupported

    /// Replaces one element if it has the expected value. MPI 5.0 §12.3.4.
    fn Compare_and_swap(
        origin_addr: ConstBuffer, compare_addr: ConstBuffer, result_addr: Buffer, datatype: Committed,
        target_rank: Rank, target_disp: Raw<Aint>, win: Win,
    ) [] => unsupported

    /// MPI_Put with a request. MPI 5.0 §12.3.5.
    fn Rput(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win, request: Out<usize>,
    ) [large] => unsupported

    /// MPI_Get with a request. MPI 5.0 §12.3.5.
    fn Rget(
        origin_addr: Buffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win, request: Out<usize>,
    ) [large] => unsupported

    /// MPI_Accumulate with a request. MPI 5.0 §12.3.5.
    fn Raccumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, op: Op, win: Win,
        request: Out<usize>,
    ) [large] => unsupported

    /// MPI_Get_accumulate with a request. MPI 5.0 §12.3.5.
    fn Rget_accumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, result_addr: Buffer,
        result_count: Count, result_datatype: Committed, target_rank: Rank, target_disp: Raw<Aint>,
        target_count: Count, target_datatype: Committed, op: Op, win: Win, request: Out<usize>,
    ) [large] => unsupported
}

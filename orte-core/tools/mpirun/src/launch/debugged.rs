//! Debuggers of parallel programs: where the ranks are, and a stop before they do much.

use super::Running;
use crate::raw::mpir;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

impl Running {
    /// Once all ranks run: debuggers find them, and one that started mpirun has them stopped until mpirun goes on.
    pub(super) fn tell_debugger(&mut self) {
        let Some(pids) = self.pids.iter().copied().collect::<Option<Vec<u32>>>() else { return };
        // Neither can have a NUL: both came through the system.
        let text = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
        let described = (0..).zip(pids).map(|(rank, pid)| {
            let host = &self.job.names[self.node_of(rank) as usize];
            let program = &self.apps[self.job.app_of(rank)].path;
            (text(host.as_bytes()), text(program.as_os_str().as_bytes()), pid)
        });
        mpir::publish(described.collect());
        if mpir::is_debugged() {
            self.signal(libc::SIGSTOP, true);
            mpir::MPIR_Breakpoint();
            self.signal(libc::SIGCONT, true);
        }
    }
}

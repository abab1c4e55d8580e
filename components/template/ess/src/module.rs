//! The module: this process's place in its job.

use alloc::vec::Vec;
use opal_core::framework::shmem::Inherited;
use opal_core::{Error, Result, message};
use orte_core::framework::ess::{Identity, Module, State};

/// What the launcher said.
pub struct TemplateModule {
    identity: Identity,
}

impl TemplateModule {
    /// 3. Reads what the launcher left; `None` if it left nothing. Numbers out of range are no answer.
    pub fn find() -> Option<TemplateModule> {
        let identity: Option<Identity> = None;
        identity.map(|identity| TemplateModule { identity })
    }
}

impl Module for TemplateModule {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn node_of(&self, rank: u32) -> u32 {
        // 4. Equal numbers share memory. No two ranks do, as long as nothing is known.
        rank
    }

    fn publish(&self, _addresses: &[u8]) -> Result<()> {
        // 5. All others find them with `lookup`.
        Err(Error::Unsupported)
    }

    fn lookup(&self, _rank: u32) -> Result<Vec<u8>> {
        // 6. Waits for them, with a deadline and a message that names the rank.
        Err(Error::Unsupported)
    }

    fn barrier(&self, _meanwhile: &mut dyn FnMut()) -> Result<()> {
        Err(Error::Unsupported)
    }

    fn inherited(&self) -> Option<Inherited> {
        // 7. Shared memory of the node, if the launcher left some: btl/sm and coll/sm run over it.
        None
    }

    fn set_state(&self, _state: State) {}

    fn epoch(&self) -> u32 {
        // 8. Rises when a rank has died.
        0
    }

    fn abort(&self, status: i32, text: &str) -> ! {
        // 9. Tell the launcher, which ends the others. This ends one process only.
        message!("this process ended itself with status {status}: {text}");
        opal_core::sys::exit(if status != 0 && status & 0xff == 0 { 1 } else { status })
    }
}

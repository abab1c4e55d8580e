//! The common part of the model checks of one team and of several: the state of a member, and whether each barrier was done by
//! wire or in software.

/// Where a member is. `J`: the steps of becoming one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<J> {
    /// No member of a channel yet, or not of one that all agree on.
    Joining(J),
    /// Between two barriers.
    Running,
    /// Its toggle is out.
    Waiting,
    /// Waits for all to stop, and for their agreement.
    Stopped,
    /// In a software barrier.
    Software,
    /// Waits for all to have ended their barriers.
    Leaving,
    /// No member any more.
    Gone,
}

/// Of a team: barriers that ended in hardware (bit 0, 2, …) or in software (bit 1, 3, …).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modes(u16);

impl Modes {
    /// A member has ended a barrier in one of the two ways: all must do it in the same one.
    pub fn note(&mut self, barrier: u8, software: bool) -> Result<(), String> {
        let (mine, other) = (1 << (2 * barrier + u8::from(software)), 1 << (2 * barrier + u8::from(!software)));
        if self.0 & other != 0 {
            return Err(format!("barrier {barrier} is in hardware for some and in software for others"));
        }
        self.0 |= mine;
        Ok(())
    }
}

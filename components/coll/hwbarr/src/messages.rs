//! The teams of this process and the messages between their members.

use crate::device;
use crate::raw::{self, Sent};
use crate::team::{Team, TeamMessage};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::Result;
use opal_core::progress;
use opal_core::sync::{Mutex, Once};

struct MessageState {
    teams: Vec<Arc<Team>>,
    /// Messages for a team that this process has not made yet.
    early: Vec<(u64, u32, TeamMessage)>,
    sent: Vec<Sent>,
}

/// From now on messages for this team arrive.
pub fn enter(team: &Arc<Team>) {
    static CALLBACK: Once<()> = Once::new();
    // Without room for a callback teams leave late, when another barrier passes by; nothing else is lost.
    CALLBACK.call_once(|| _ = progress::add_callback(poll_quietly));
    let mut state = STATE.lock();
    state.teams.push(team.clone());
    state.early.retain(|(name, from, message)| {
        let is_its = *name == team.name;
        if is_its {
            team.hear(*from, *message);
        }
        !is_its
    });
}

/// Tells all other members.
pub fn tell(team: &Team, message: TeamMessage) -> Result<()> {
    let [kind, value] = message.words();
    for (place, member) in team.members.iter().enumerate() {
        if place != team.own {
            let sent = raw::send(*member, [team.name, kind, value])?;
            STATE.lock().sent.push(sent);
        }
    }
    Ok(())
}

/// This process calls no barrier of the team any more.
pub fn leave(team: &Team) -> Result<()> {
    team.leaves().map_or(Ok(()), |message| tell(team, message))
}

/// `leave` for all teams.
pub fn leave_all() -> Result<()> {
    let teams = STATE.lock().teams.clone();
    teams.iter().try_for_each(|team| leave(team))
}

/// Whether another member may still ask this process for something.
pub fn has_teams() -> bool {
    !STATE.lock().teams.is_empty()
}

/// Takes what has arrived, and moves agreements and leaving teams on. Returns how many things moved.
pub fn poll() -> Result<usize> {
    let mut moved = 0;
    // The thread that is inside already does it all.
    let Some(_token) = TAKING.try_lock() else { return Ok(0) };
    while let Some((from, [name, kind, value])) = raw::receive()? {
        moved += 1;
        let Some(message) = TeamMessage::of([kind, value]) else { continue };
        let mut state = STATE.lock();
        match state.teams.iter().find(|team| team.name == name) {
            Some(team) => team.hear(from, message),
            // A member that has not come out of setup yet; what a team left behind says no more to anybody.
            None if state.early.len() < EARLY => state.early.push((name, from, message)),
            None => {}
        }
    }
    let Ok(Some(device)) = device::opened() else { return Ok(moved) };
    let moving: Vec<Arc<Team>> = STATE.lock().teams.iter().filter(|team| team.is_moving()).cloned().collect();
    for team in moving {
        while let Some(message) = team.advance(device) {
            tell(&team, message)?;
            moved += 1;
        }
    }
    let mut sent = core::mem::take(&mut STATE.lock().sent);
    sent.retain_mut(|sent| !sent.is_gone());
    let mut state = STATE.lock();
    state.sent.append(&mut sent);
    state.teams.retain(|team| !team.is_gone());
    Ok(moved)
}

fn poll_quietly() -> usize {
    // The wait for it reports what goes wrong here.
    poll().unwrap_or(0)
}

static STATE: Mutex<MessageState> = Mutex::new(MessageState { teams: Vec::new(), early: Vec::new(), sent: Vec::new() });
static TAKING: Mutex<()> = Mutex::new(());
const EARLY: usize = 4096;

//! The teams of this process and the notes between their members.

use crate::device;
use crate::raw::{self, Sent};
use crate::team::{Note, Team};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::Result;
use opal_core::progress;
use opal_core::sync::{Mutex, Once};

struct Post {
    teams: Vec<Arc<Team>>,
    /// Notes for a team that this process has not made yet.
    early: Vec<(u64, u32, Note)>,
    sent: Vec<Sent>,
}

/// From now on notes for this team arrive.
pub fn enter(team: &Arc<Team>) {
    static CALLBACK: Once<()> = Once::new();
    // Without room for a callback teams leave late, when another barrier passes by; nothing else is lost.
    CALLBACK.call_once(|| _ = progress::add_callback(poll_quietly));
    let mut post = POST.lock();
    post.teams.push(team.clone());
    post.early.retain(|(name, from, note)| {
        let is_its = *name == team.name;
        if is_its {
            team.hear(*from, *note);
        }
        !is_its
    });
}

/// Tells all other members.
pub fn tell(team: &Team, note: Note) -> Result<()> {
    let [kind, value] = note.words();
    for (place, member) in team.members.iter().enumerate() {
        if place != team.own {
            let sent = raw::send(*member, [team.name, kind, value])?;
            POST.lock().sent.push(sent);
        }
    }
    Ok(())
}

/// This process calls no barrier of the team any more.
pub fn leave(team: &Team) -> Result<()> {
    team.leaves().map_or(Ok(()), |note| tell(team, note))
}

/// `leave` for all teams.
pub fn leave_all() -> Result<()> {
    let teams = POST.lock().teams.clone();
    teams.iter().try_for_each(|team| leave(team))
}

/// Whether another member may still ask this process for something.
pub fn has_teams() -> bool {
    !POST.lock().teams.is_empty()
}

/// Takes what has arrived, and lets agreements and those who are leaving go on. Returns how many things moved.
pub fn poll() -> Result<usize> {
    let mut moved = 0;
    // Whoever is inside already does it all.
    let Some(_token) = TAKING.try_lock() else { return Ok(0) };
    while let Some((from, [name, kind, value])) = raw::receive()? {
        moved += 1;
        let Some(note) = Note::of([kind, value]) else { continue };
        let mut post = POST.lock();
        match post.teams.iter().find(|team| team.name == name) {
            Some(team) => team.hear(from, note),
            // A member that has not come out of setup yet; what a team left behind says no more to anybody.
            None if post.early.len() < EARLY => post.early.push((name, from, note)),
            None => {}
        }
    }
    let Ok(Some(device)) = device::opened() else { return Ok(moved) };
    let moving: Vec<Arc<Team>> = POST.lock().teams.iter().filter(|team| team.is_moving()).cloned().collect();
    for team in moving {
        while let Some(note) = team.advance(device) {
            tell(&team, note)?;
            moved += 1;
        }
    }
    let mut sent = core::mem::take(&mut POST.lock().sent);
    sent.retain_mut(|sent| !sent.is_gone());
    let mut post = POST.lock();
    post.sent.append(&mut sent);
    post.teams.retain(|team| !team.is_gone());
    Ok(moved)
}

fn poll_quietly() -> usize {
    // What goes wrong here is met by whoever waits for it.
    poll().unwrap_or(0)
}

static POST: Mutex<Post> = Mutex::new(Post { teams: Vec::new(), early: Vec::new(), sent: Vec::new() });
static TAKING: Mutex<()> = Mutex::new(());
const EARLY: usize = 4096;

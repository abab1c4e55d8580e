//! The protocol of `hw_fpga::node` over every order of events, for up to four nodes: nobody leaves a barrier before all
//! have come, nothing gets stuck, and members never disagree on what was done in hardware and what in software.

#[path = "protocol/board.rs"]
mod board;
#[path = "protocol/explore.rs"]
mod explore;
#[path = "protocol/member.rs"]
mod member;

use board::{Board, Mistake};
use explore::{finds, holds};

/// Nothing goes wrong on the machine as published.
fn board(nodes: usize) -> Board {
    Board {
        nodes,
        classic: true,
        teams: vec![(1 << nodes) - 1],
        barriers: 3,
        readings: 1,
        timeouts: false,
        stuck: 0,
        bounces: 0,
        longest: 0,
        unfiltered: 0,
        restarts: 0,
        meets: false,
        followers: 0,
        mistake: Mistake::None,
    }
}

#[test]
fn barriers_back_to_back() {
    (2..=4).for_each(|nodes| holds(&board(nodes)));
}

#[test]
fn timeouts_at_any_moment() {
    (2..=4).for_each(|nodes| holds(&Board { timeouts: true, barriers: 2, ..board(nodes) }));
    (3..=4).for_each(|nodes| holds(&Board { timeouts: true, ..board(nodes) }));
}

#[test]
fn who_waits_for_the_late_one_elsewhere_hears_of_it() {
    for nodes in 2..=3 {
        let meeting = Board { timeouts: true, meets: true, ..board(nodes) };
        holds(&meeting);
        holds(&Board { restarts: 1, ..meeting.clone() });
        finds(&Board { mistake: Mistake::HearsLate, stuck: 1, ..meeting }, &["nothing moves"]);
    }
}

#[test]
fn wires_get_stuck() {
    (2..=3).for_each(|nodes| holds(&Board { timeouts: true, stuck: 2, ..board(nodes) }));
    holds(&Board { timeouts: true, stuck: 1, barriers: 2, ..board(4) });
}

#[test]
fn wires_bounce() {
    for nodes in 2..=3 {
        let bouncing = Board { bounces: 4, longest: 1, readings: 2, ..board(nodes) };
        holds(&bouncing);
        holds(&Board { timeouts: true, ..bouncing.clone() });
        finds(&Board { readings: 1, ..bouncing }, &["has not come"]);
    }
    holds(&Board { bounces: 2, longest: 1, readings: 2, barriers: 2, ..board(4) });
}

#[test]
fn an_output_that_bounces_needs_the_filter() {
    finds(&Board { unfiltered: 1, ..board(2) }, &["has not come"]);
}

#[test]
fn the_machine_begins_anew() {
    for (nodes, restarts, barriers) in [(2, 2, 3), (3, 1, 2)] {
        let restarting = Board { restarts, timeouts: true, barriers, ..board(nodes) };
        holds(&restarting);
        finds(&Board { mistake: Mistake::Unseen, ..restarting.clone() }, &["has not come"]);
        finds(&Board { mistake: Mistake::Cold, ..restarting }, &["has not come"]);
    }
    holds(&Board { restarts: 1, timeouts: true, barriers: 1, ..board(4) });
}

#[test]
fn joining_and_leaving() {
    let two = |nodes, teams: &[u8]| Board { classic: false, teams: teams.to_vec(), barriers: 2, ..board(nodes) };
    holds(&two(2, &[0b11, 0b11]));
    holds(&two(3, &[0b011, 0b110]));
    holds(&two(4, &[0b0011, 0b1100]));
    holds(&Board { barriers: 1, ..two(4, &[0b0111, 0b1110]) });
    finds(&Board { mistake: Mistake::JoinsUnread, barriers: 1, ..two(3, &[0b011, 0b110]) }, &[""]);
}

#[test]
fn joining_and_leaving_when_something_fails() {
    let teams = |nodes, teams: &[u8]| Board {
        classic: false,
        teams: teams.to_vec(),
        barriers: 2,
        timeouts: true,
        ..board(nodes)
    };
    holds(&teams(3, &[0b011, 0b110]));
    holds(&Board { stuck: 1, ..teams(2, &[0b11]) });
    holds(&Board { stuck: 1, ..teams(3, &[0b111]) });
    holds(&Board { restarts: 1, ..teams(3, &[0b111]) });
}

#[test]
fn ranks_that_share_a_port() {
    let shared = |nodes, followers| Board { followers, ..board(nodes) };
    for (nodes, followers) in [(2, 0b01), (2, 0b11), (3, 0b011)] {
        holds(&shared(nodes, followers));
        let late = Board { timeouts: true, barriers: 2, ..shared(nodes, followers) };
        holds(&late);
        holds(&Board { stuck: 1, ..late.clone() });
        holds(&Board { restarts: 1, barriers: 1, ..late });
    }
    finds(&Board { mistake: Mistake::AheadOfFollower, ..shared(2, 0b01) }, &["has not come"]);
    finds(&Board { mistake: Mistake::FollowerAhead, ..shared(2, 0b01) }, &["the follower of 0 leaves"]);
    // The others' answer may be what the follower waits for before it comes.
    let meeting = Board { timeouts: true, stuck: 1, meets: true, ..shared(2, 0b01) };
    holds(&meeting);
    finds(&Board { mistake: Mistake::DeafWhileGathering, ..meeting }, &["nothing moves"]);
}

#[test]
fn mistakes_are_found() {
    let late = Board { timeouts: true, barriers: 2, ..board(2) };
    finds(&Board { mistake: Mistake::Retracts, ..late.clone() }, &[""]);
    finds(&Board { mistake: Mistake::LeavesAlone, ..late.clone() }, &["nothing moves"]);
    // A member that has stopped sees no flip any more, so that what it knows is final.
    holds(&Board { mistake: Mistake::TellsEarly, stuck: 1, ..late.clone() });
    finds(&Board { mistake: Mistake::OwnNumber, ..late.clone() }, &[""]);
    let joining = Board { classic: false, restarts: 1, ..late };
    holds(&joining);
    finds(&Board { mistake: Mistake::ChecksOnce, ..joining }, &["has not come"]);
}

/// Runs of wrong samples shorter than the filter never come through, so that the machine sees every edge once: what the
/// boards above assume of outputs.
#[test]
fn the_filter_hides_every_bounce() {
    for filter in 2..=4usize {
        for samples in 0..1u32 << 16 {
            // From low to high: the wire is high at last, and no run of highs before that nor of lows after it is long.
            let wire: Vec<bool> = (0..16).map(|at| samples >> at & 1 == 1).collect();
            let runs_end = wire.windows(filter).position(|window| window.iter().all(|one| *one));
            let Some(arrived) = runs_end else { continue };
            if wire[arrived..].windows(filter).any(|window| window.iter().all(|one| !*one)) {
                continue;
            }
            let mut sync = hw_fpga::machine::Synchronizer::new(2, filter);
            let mut seen = Vec::new();
            for sample in wire.iter().copied().chain([true; 8]) {
                sync.tick(u64::from(sample));
                seen.push(sync.seen(0) == 1);
            }
            let edges = seen.windows(2).filter(|pair| pair[0] != pair[1]).count() + usize::from(seen[0]);
            assert_eq!(edges, 1, "{samples:#x}");
        }
    }
}

//! Mapping of ranks to hosts (rmaps): which host each rank of a job runs on.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What a host has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Ranks that it should get.
    pub slots: u32,
    /// Ranks that it may get at most, if that was said.
    pub most: Option<u32>,
}

/// How ranks are dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One host after the other, as many ranks as it has slots.
    Slot,
    /// One rank a host, in turn, while slots last.
    Node,
    /// One host after the other, so many ranks each.
    PerNode(u32),
    /// So many ranks a host, in turn until all have a place.
    InTurn(u32),
}

/// The host of each rank, by its place in `rooms`. `Err` with half a sentence. More ranks than slots are spread evenly over the
/// hosts, unless `only_slots` forbids them.
pub fn map(rooms: &[Room], ranks: u32, policy: Policy, only_slots: bool) -> Result<Vec<u32>, String> {
    let room = |sizes: &[u32]| sizes.iter().fold(0u32, |sum, size| sum.saturating_add(*size));
    let mosts: Vec<u32> = rooms.iter().map(|room| room.most.unwrap_or(u32::MAX)).collect();
    let slots: Vec<u32> = rooms.iter().zip(&mosts).map(|(room, most)| room.slots.min(*most)).collect();
    if let Policy::InTurn(each) = policy {
        return in_turn(if only_slots { &slots } else { &mosts }, ranks, each);
    }
    let mut shares = match policy {
        Policy::PerNode(each) => mosts.iter().map(|most| each.min(*most)).collect(),
        Policy::Slot | Policy::Node | Policy::InTurn(_) => slots,
    };
    let has = room(&shares);
    if ranks > has {
        let count = rooms.len();
        if let Policy::PerNode(each) = policy {
            return Err(format!("{ranks} ranks do not fit on {count} hosts with at most {each} each"));
        }
        if only_slots {
            return Err(format!("{ranks} ranks do not fit into the {has} slots of {count} hosts"));
        }
        if ranks > room(&mosts) {
            return Err(format!("{ranks} ranks are more than max_slots of the hosts allow: {}", room(&mosts)));
        }
        // One more on each host in turn.
        let mut left = ranks - has;
        while left > 0 {
            for (share, most) in shares.iter_mut().zip(&mosts) {
                if left > 0 && *share < *most {
                    *share += 1;
                    left -= 1;
                }
            }
        }
    }
    Ok(deal(&shares, ranks, if policy == Policy::Node { 1 } else { u32::MAX }))
}

/// Ranks in blocks of `each`, while there is room anywhere.
fn in_turn(mosts: &[u32], ranks: u32, each: u32) -> Result<Vec<u32>, String> {
    let has = mosts.iter().fold(0u32, |sum, most| sum.saturating_add(*most));
    if ranks > has || each == 0 {
        return Err(format!("{ranks} ranks are more than the hosts allow: {has}"));
    }
    Ok(deal(mosts, ranks, each))
}

/// The same ranks of each host, counted over the hosts in turn or over one host after the other.
pub fn count(map: &[u32], by_node: bool) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::new();
    map.iter().for_each(|host| {
        if !order.contains(host) {
            order.push(*host);
        }
    });
    let shares: Vec<u32> = order.iter().map(|host| map.iter().filter(|one| *one == host).count() as u32).collect();
    let dealt = deal(&shares, map.len() as u32, if by_node { 1 } else { u32::MAX });
    dealt.into_iter().map(|place| order[place as usize]).collect()
}

/// At most `each` ranks a host in turn, up to its share.
fn deal(shares: &[u32], ranks: u32, each: u32) -> Vec<u32> {
    let mut got = vec![0; shares.len()];
    let mut hosts = Vec::with_capacity(ranks as usize);
    while hosts.len() < ranks as usize {
        for (host, share) in shares.iter().enumerate() {
            let take = each.min(share - got[host]).min(ranks - hosts.len() as u32);
            got[host] += take;
            hosts.extend((0..take).map(|_| host as u32));
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(slots: &[u32]) -> Vec<Room> {
        slots.iter().map(|slots| Room { slots: *slots, most: None }).collect()
    }

    #[test]
    fn by_slot_node_and_number() {
        let by = |ranks, policy| map(&rooms(&[2, 1, 3]), ranks, policy, false).unwrap();
        assert_eq!(by(6, Policy::Slot), [0, 0, 1, 2, 2, 2]);
        assert_eq!(by(2, Policy::Slot), [0, 0]);
        assert_eq!(by(6, Policy::Node), [0, 1, 2, 0, 2, 2]);
        assert_eq!(by(4, Policy::PerNode(2)), [0, 0, 1, 1]);
        assert_eq!(by(6, Policy::InTurn(2)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(by(7, Policy::InTurn(1)), [0, 1, 2, 0, 1, 2, 0]);
        // More than slots: evenly, and still one host after the other.
        assert_eq!(by(9, Policy::Slot), [0, 0, 0, 1, 1, 2, 2, 2, 2]);
        assert_eq!(by(7, Policy::Node), [0, 1, 2, 0, 2, 0, 2]);
    }

    #[test]
    fn ranks_are_counted_anew() {
        assert_eq!(count(&[2, 2, 0, 0, 0], true), [2, 0, 2, 0, 0]);
        assert_eq!(count(&[1, 0, 1, 0], false), [1, 1, 0, 0]);
        assert_eq!(count(&[], true), []);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |ranks, policy, only| map(&rooms(&[2, 1]), ranks, policy, only).unwrap_err();
        assert!(refused(5, Policy::PerNode(2), false).contains("at most 2 each"));
        assert!(refused(4, Policy::Slot, true).contains("3 slots"));
        assert!(refused(4, Policy::InTurn(2), true).contains("allow: 3"));
        let mut bounded = rooms(&[2, 1]);
        bounded[0].most = Some(2);
        assert_eq!(map(&bounded, 5, Policy::InTurn(1), false).unwrap(), [0, 1, 0, 1, 1]);
        assert_eq!(map(&bounded, 5, Policy::Slot, false).unwrap(), [0, 0, 1, 1, 1]);
        bounded[1].most = Some(2);
        assert!(map(&bounded, 5, Policy::Slot, false).unwrap_err().contains("max_slots"));
        assert!(map(&[], 1, Policy::Slot, false).is_err());
    }
}

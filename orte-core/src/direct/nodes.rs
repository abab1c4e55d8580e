//! PMI_process_mapping: which node each rank is on, as `(vector,(first node,nodes,ranks on each),…)`.

use alloc::vec::Vec;

/// The node of each of `size` ranks; `None` if the text is no mapping, or leaves ranks out.
///
/// Blocks count ranks in order; if they hold fewer ranks than there are, they count on from the first block.
pub fn nodes(mapping: &str, size: u32) -> Option<Vec<u32>> {
    let blocks = blocks(mapping)?;
    let size = size as usize;
    let mut nodes = Vec::new();
    while nodes.len() < size {
        let before = nodes.len();
        for (first, count, each) in &blocks {
            // What the text claims is never more than what the job has.
            for node in (0..*count).take(size - nodes.len().min(size)) {
                let node = first.checked_add(node)?;
                let room = size - nodes.len().min(size);
                nodes.extend(core::iter::repeat_n(node, room.min(*each as usize)));
                if *each == 0 {
                    break;
                }
            }
        }
        if nodes.len() == before {
            return None;
        }
    }
    Some(nodes)
}

fn blocks(mapping: &str) -> Option<Vec<(u32, u32, u32)>> {
    let mut rest = mapping.trim().strip_prefix("(vector")?.strip_suffix(')')?;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let (block, after) = rest.strip_prefix(",(")?.split_once(')')?;
        let mut numbers = block.split(',').map(|number| number.trim().parse::<u32>().ok());
        blocks.push((numbers.next()??, numbers.next()??, numbers.next()??));
        if numbers.next().is_some() {
            return None;
        }
        rest = after;
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings() {
        assert_eq!(nodes("(vector,(0,1,4))", 4), Some([0, 0, 0, 0].into()));
        assert_eq!(nodes("(vector,(0,2,2))", 4), Some([0, 0, 1, 1].into()));
        assert_eq!(nodes("(vector,(0,2,1))", 5), Some([0, 1, 0, 1, 0].into()));
        assert_eq!(nodes("(vector,(0,1,1),(1,2,2))", 5), Some([0, 1, 1, 2, 2].into()));
        assert_eq!(nodes("(vector,(5,1,4294967295))", 2), Some([5, 5].into()));
        assert_eq!(nodes("(vector,(0,4294967295,1))", 3), Some([0, 1, 2].into()));
        for wrong in [
            "",
            "(vector)",
            "(vector,(0,1,0))",
            "(vector,(0,4294967295,0))",
            "(vector,(0,1))",
            "(vector,(0,1,1,1))",
            "(vector,(4294967295,2,1))",
        ] {
            assert_eq!(nodes(wrong, 3), None, "{wrong}");
        }
    }
}

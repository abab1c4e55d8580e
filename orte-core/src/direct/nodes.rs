//! PMI_process_mapping: which node each rank is on, as `(vector,(first node,nodes,ranks on each),…)`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The node of each of `size` ranks, by the mapping in the store of a manager that the user knows by `name`. `Err` with
/// a sentence that ends with `advice`.
pub fn of_job(mapping: Option<&str>, size: u32, name: &str, advice: &str) -> Result<Vec<u32>, String> {
    let Some(mapping) = mapping else {
        return Err(format!(
            "the process manager ({name}) does not say which ranks share a node (PMI_process_mapping); {advice}"
        ));
    };
    nodes(mapping, size).ok_or_else(|| {
        let shown = &mapping[..mapping.floor_char_boundary(200)];
        format!(
            "the process manager says that PMI_process_mapping is `{shown}`, which places no {size} ranks; {advice}"
        )
    })
}

/// The node of each of `size` ranks; `None` if the text is no mapping, or leaves ranks out.
///
/// Blocks count ranks in order; if they hold fewer ranks than there are, they count on from the first block.
fn nodes(mapping: &str, size: u32) -> Option<Vec<u32>> {
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
    fn what_is_wrong_is_said() {
        let said = |mapping| of_job(mapping, 3, "PMI_FD=6", "do this").unwrap_err();
        for (mapping, word) in
            [(None, "(PMI_FD=6) does not say"), (Some("(vector)"), "is `(vector)`, which places no 3 ranks")]
        {
            let sentence = said(mapping);
            assert!(sentence.contains(word) && sentence.ends_with("; do this"), "{sentence}");
        }
        assert_eq!(of_job(Some("(vector,(0,1,3))"), 3, "", ""), Ok([0, 0, 0].into()));
    }

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

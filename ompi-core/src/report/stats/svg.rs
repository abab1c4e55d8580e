//! The statistics as a picture: who sent how much to whom, and when each rank waited.

use super::record::RankRecord;
use super::text::seconds_of;
use crate::report::paths::bytes;
use alloc::format;
use alloc::string::String;

/// One SVG document.
pub fn of(ranks: &[RankRecord]) -> String {
    let count = ranks.len().max(1);
    let cell = (MATRIX / count as f64).clamp(2.0, 40.0);
    let matrix = (cell * count as f64).max(TITLE);
    let (width, height) = (LEFT + matrix + GAP + LINE + 40.0, TOP + cell * count as f64 + 40.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    draw_matrix(&mut text, ranks, cell);
    draw_lines(&mut text, ranks, LEFT + matrix + GAP, cell);
    text.push_str("</svg>\n");
    text
}

/// A square for each pair of ranks, darker where more bytes went.
fn draw_matrix(text: &mut String, ranks: &[RankRecord], cell: f64) {
    let most = ranks.iter().flat_map(|rank| &rank.peers).map(|peer| peer.messages.sent_bytes).max().unwrap_or(0);
    let title = format!("bytes sent, at most {} by a pair (rows: from, columns: to)", bytes(most as usize));
    words(text, LEFT, TOP - 24.0, &title);
    for (row, rank) in ranks.iter().enumerate() {
        let y = TOP + row as f64 * cell;
        if is_labelled(row, ranks.len()) {
            words(text, LEFT - 26.0, y + cell / 2.0 + 4.0, &format!("{}", rank.rank));
            words(text, LEFT + row as f64 * cell + cell / 2.0 - 4.0, TOP - 6.0, &format!("{}", rank.rank));
        }
        square(text, [LEFT, y, cell * ranks.len() as f64, cell], "#f4f4f4", "");
        for peer in rank.peers.iter().filter(|peer| peer.messages.sent > 0) {
            // Those of other jobs, and of a rank that stands alone, have no column.
            let Some(column) = ranks.iter().position(|one| i64::from(one.rank) == peer.process) else { continue };
            let x = LEFT + column as f64 * cell;
            let all = peer.messages;
            let tip = format!(
                "rank {} to rank {}: {} messages, {} bytes, by {}",
                rank.rank, peer.process, all.sent, all.sent_bytes, peer.transport
            );
            square(text, [x, y, cell, cell], &shade([8, 48, 107], share(all.sent_bytes, most)), &tip);
        }
    }
}

/// A row of pieces of time for each rank, darker where it waited longer.
fn draw_lines(text: &mut String, ranks: &[RankRecord], left: f64, height: f64) {
    let first = ranks.iter().map(|rank| rank.from_ns).min().unwrap_or(0);
    let last = ranks.iter().map(|rank| rank.until_ns).max().unwrap_or(first).max(first + 1);
    let scale = LINE / (last - first) as f64;
    let title = format!("waiting over {:.3} s (darker: a larger part of the time)", seconds_of(last - first));
    words(text, left, TOP - 24.0, &title);
    for (row, rank) in ranks.iter().enumerate() {
        let y = TOP + row as f64 * height;
        let own = rank.until_ns.saturating_sub(rank.from_ns) as f64 * scale;
        // Hosts have clocks of their own: where they lie far apart, each rank begins at the left.
        let x = left + rank.from_ns.saturating_sub(first) as f64 * scale;
        if is_labelled(row, ranks.len()) {
            words(text, left - 26.0, y + height / 2.0 + 4.0, &format!("{}", rank.rank));
        }
        square(text, [x, y, own, (height - 1.0).max(1.0)], "#f4f4f4", "");
        let mut piece = 0;
        // Pieces that are alike are drawn as one.
        for run in rank.pieces.chunk_by(|one, next| one == next) {
            let at = x + piece as f64 * rank.piece_ns as f64 * scale;
            piece += run.len();
            if run[0] > 0 {
                let width = (run.len() as f64 * rank.piece_ns as f64 * scale).min(x + own - at).max(0.2);
                let tip = format!("rank {}: waited {:.6} s", rank.rank, seconds_of(run.iter().sum()));
                square(
                    text,
                    [at, y, width, (height - 1.0).max(1.0)],
                    &shade([165, 15, 21], share(run[0], rank.piece_ns)),
                    &tip,
                );
            }
        }
    }
    let below = TOP + ranks.len() as f64 * height;
    words(text, left, below + 16.0, "0");
    words(text, left + LINE - 40.0, below + 16.0, &format!("{:.3} s", seconds_of(last - first)));
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { (part as f64 / of as f64).min(1.0) }
}

/// From nearly white to a colour; the least that there is can be seen.
fn shade(full: [u8; 3], share: f64) -> String {
    let share = 0.12 + 0.88 * share;
    let [red, green, blue] = full.map(|part| 255.0 + (f64::from(part) - 255.0) * share);
    format!("rgb({red:.0},{green:.0},{blue:.0})")
}

fn square(text: &mut String, [x, y, width, height]: [f64; 4], fill: &str, tip: &str) {
    text.push_str(&format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" fill=\"{fill}\""
    ));
    match tip {
        "" => text.push_str("/>\n"),
        _ => text.push_str(&format!("><title>{}</title></rect>\n", escaped(tip))),
    }
}

fn words(text: &mut String, x: f64, y: f64, words: &str) {
    text.push_str(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(words)));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Of many ranks every tenth or hundredth.
fn is_labelled(rank: usize, ranks: usize) -> bool {
    rank.is_multiple_of(if ranks > 400 {
        100
    } else if ranks > 24 {
        10
    } else {
        1
    })
}

const LEFT: f64 = 40.0;
const TOP: f64 = 50.0;
const GAP: f64 = 60.0;
/// Room for the words above the matrix.
const TITLE: f64 = 380.0;
const MATRIX: f64 = 400.0;
const LINE: f64 = 640.0;

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;

    #[test]
    fn a_picture() {
        let picture = of(&record::two());
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("rank 0 to rank 1: 3 messages, 3000 bytes, by sm").count(), 1);
        assert_eq!(picture.matches("<title>rank 0: waited").count(), 2);
        assert_eq!(
            picture.matches("<rect").count(),
            picture.matches("/>").count() + picture.matches("</rect>").count()
        );
        // Nobody counted anything.
        assert!(of(&[]).ends_with("</svg>\n"));
    }
}

//! docs/performance.md, made from the figures of a run: the page that a visitor reads first.

use super::peers;
use super::print::{digits, title};
use super::result::{Contestant, Figure, Machine, Measured, SizeLine, Table};
use crate::failure::Result;
use crate::shell;
use std::fmt::Write;
use std::path::Path;

/// Writes the page and its plots beside it.
pub fn write(table: &Table, docs: &Path) -> Result<bool> {
    let (plots, png) = super::plot::draw(table, &docs.join("performance"))?;
    shell::write(&docs.join("performance.md"), &page(table, &plots))?;
    Ok(png)
}

fn page(table: &Table, plots: &[String]) -> String {
    let mut page = String::from(
        "# Performance\n\n\
         Generated from one run's figures by `cargo xtask bench report`; do not edit.\n\n\
         Every number below is the best of many short samples, with the median of the same samples behind it. A ratio below 1 is \
         good for times, above 1 for rates; it compares with the best of all other libraries in the same run. *Raw* is what \
         the machine does without any MPI, measured in the same turns. *Aim* is the ratio this library wants to reach.\n\n",
    );
    summary(&mut page, table);
    page += "## What was measured, and where\n\n";
    machine(&mut page, &table.machine, table);
    libraries(&mut page, &table.libraries);
    page += "\n## Figures\n";
    for row in &table.rows {
        rows(&mut page, row, table, plots.contains(&row.name));
    }
    page += TRIED;
    _ = write!(page, "\n## Method\n\n```text\n{}\n```\n\n", peers::HELP);
    page += "To measure on your machine: `cargo xtask bench --against openmpi,mpich,impi --json figures.json --plot plots`; \
             `cargo xtask bench --quick` takes about a minute. Programs: [benches/c](../benches/c).\n";
    page
}

/// The rows that have an aim.
fn summary(page: &mut String, table: &Table) {
    let aimed = |line: &&SizeLine| line.aim.is_some() && line.ratio.is_some();
    if !table.rows.iter().flat_map(|row| &row.sizes).any(|line| aimed(&line)) {
        return;
    }
    *page += "## In short\n\n| row | size | ours | best other | ratio | aim | |\n|---|---:|---:|---:|---:|---:|---|\n";
    for row in &table.rows {
        for line in row.sizes.iter().filter(aimed) {
            let (ratio, aim) = (line.ratio.unwrap_or(f64::NAN), line.aim.unwrap_or(f64::NAN));
            let met = if row.unit.is_time() { ratio <= aim } else { ratio >= aim };
            let peer = line.best_peer.as_deref().unwrap_or("");
            let index = table.libraries.iter().position(|library| library.name == peer);
            let best = |index: Option<usize>| {
                let figure = index.and_then(|index| line.figures.get(index)?.as_ref()?.best);
                figure.map_or("–".to_owned(), digits)
            };
            let (unit, met) = (row.unit.name(), if met { "reached" } else { "missed" });
            _ = writeln!(
                page,
                "| {} | {} | {} {unit} | {} {unit} ({peer}) | {ratio:.2} | {aim:.2} | {met} |",
                row.name,
                size(line.size),
                best(Some(0)),
                best(index),
            );
        }
    }
    *page += "\n";
}

fn machine(page: &mut String, machine: &Machine, table: &Table) {
    _ = writeln!(
        page,
        "* {}, {} cores, {} GiB; Linux {}",
        machine.processor, machine.cores, machine.memory_gib, machine.kernel
    );
    _ = writeln!(page, "* {}; {}", machine.compiler, machine.rustc);
    let minutes = (table.seconds / 60.0).ceil();
    _ = writeln!(
        page,
        "* {}: {minutes} minutes; others on the machine at the start: load {}",
        machine.date, machine.load
    );
}

fn libraries(page: &mut String, libraries: &[Contestant]) {
    for library in libraries {
        _ = writeln!(page, "* **{}**: {}", library.name, library.version);
        for setting in &library.settings {
            _ = writeln!(page, "  * `{setting}`");
        }
    }
}

fn rows(page: &mut String, row: &Measured, table: &Table, plot: bool) {
    let crowded = if row.crowded { " More ranks than cores: the system decides who runs." } else { "" };
    let turns = format!("{} of {}", counted(row.rounds, "turn"), counted(row.samples, "sample"));
    _ = write!(page, "\n### {}\n\n{}, in {}; {turns}.{crowded}\n\n", row.name, title(row), row.unit.name());
    if plot {
        _ = write!(page, "![{0}](performance/{0}.svg)\n\n", row.name);
    }
    let raw = row.sizes.iter().any(|line| line.raw.is_some());
    let compared = row.sizes.iter().any(|line| line.ratio.is_some());
    // A library that took no part in the row has no column.
    let took_part = |index: &usize| {
        *index == 0 || row.sizes.iter().any(|line| line.figures.get(*index).is_some_and(Option::is_some))
    };
    let columns: Vec<usize> = (0..table.libraries.len()).filter(took_part).collect();
    let names = columns.iter().map(|index| table.libraries[*index].name.as_str());
    let mut head: Vec<&str> = [row.over.as_str()].into_iter().chain(names).collect();
    head.extend(raw.then_some("raw"));
    head.extend(compared.then_some("ratio"));
    _ = writeln!(page, "| {} |", head.join(" | "));
    _ = writeln!(page, "|{}", "---:|".repeat(head.len()));
    for line in &row.sizes {
        let mut cells = vec![line.label.clone().unwrap_or_else(|| size(line.size))];
        cells.extend(columns.iter().map(|index| cell(line.figures.get(*index).and_then(Option::as_ref))));
        cells.extend(raw.then(|| cell(line.raw.as_ref())));
        cells.extend(compared.then(|| line.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"))));
        _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    if !row.failures.is_empty() {
        let mut who: Vec<&str> = row.failures.iter().filter_map(|failure| failure.split(':').next()).collect();
        who.dedup();
        _ = writeln!(page, "\nLaunches without figures: {}.", who.join(", "));
    }
}

fn cell(figure: Option<&Figure>) -> String {
    match figure {
        Some(Figure { best: Some(best), median: Some(median), .. }) => {
            format!("**{}** {}", digits(*best), digits(*median))
        }
        Some(_) => "all disturbed".to_owned(),
        None => "–".to_owned(),
    }
}

/// `1 turn`, `5 turns`.
fn counted(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// 8, 4 Ki, 1 Mi.
fn size(size: u64) -> String {
    match size {
        size if size >= 1 << 20 && size % (1 << 20) == 0 => format!("{} Mi", size >> 20),
        size if size >= 1 << 10 && size % (1 << 10) == 0 => format!("{} Ki", size >> 10),
        _ => size.to_string(),
    }
}

/// Written by hand: what no table says.
const TRIED: &str = "
## What was tried, and where the cycles go

* **Long messages within a node.** Two ways, and no machine on which one of them always wins: a *single copy* by the system \
(each side copies half) and *fragments* through shared memory. On an Intel Xeon single copies win while nobody writes the \
buffers and lose as soon as somebody does (64 KiB one way: 3.3 µs, rewritten 15; Intel's library, which goes through shared \
memory, 6.9 and 8.5); on an AMD EPYC, measured with \
no library at all, fragments win always (64 KiB: 1.5 against 4.1 µs, rewritten 2.3 against 6.9; 1 MiB: 23 against 46, \
rewritten 43 against 68). The library therefore measures both now and then for each peer and size. What a single copy costs \
is mostly not the copy: the system looks up and pins each page, and the sender's next store to its buffer waits for every \
line that the receiver's core has taken away.
* **How long the ring is** matters more than how bytes are copied: a line that is written again soon must come back from the \
other core's cache. Through rings of 256 KiB, 512 KiB and 1 MiB (a program without MPI, AMD EPYC, cores that share no cache): 4 KiB \
0.42, 0.37, 0.33 µs, 16 KiB 0.88, 0.76, 0.69, 64 KiB 2.9, 2.4, 2.3; 2 MiB gain nothing more. So nodes of up to 8 ranks have 1 MiB per \
pair and direction.
* **Tried for them without gain:** the sender alone writes all of it to the receiver's memory (64 KiB rewritten 7.7 µs, halves \
6.1); a quarter read and three quarters written (8.5); copy loops of 256-bit loads and stores with or without prefetching \
(4.1 against 2.3 for the processor's own string copy, which is what the C library uses there); prefetching the lines of the \
next payload for writing (fragments twice as slow, a stream of 4 KiB 17 instead of 32 GB/s on the EPYC; now only up to 2 KiB); rings of 16 to 64 KiB, which stay in the first cache (no \
faster); pieces below 8 KiB (a third slower), above 16 KiB (equal); payload that lies 8 bytes off a line (a tenth slower, so it \
does not); the first 4 KiB inside the announcement (round trips of 32 and 64 KiB 5.2 and 8.1 µs, 4.3 and 7.2 without), and 8 or \
32 KiB behind it (no better than the 16 that now go there, which take 0.3 µs off: until the receiver had answered 0.44 µs passed in \
which neither side copied); first fragments of 4 KiB (5 % slower with the rest of 16 behind them); a receiver that begins one piece later, so that it \
never waits again (3 % with pieces of 8 KiB, none with 16); prefetching the source 512 bytes ahead (2 %); writing lines back (`clwb`: \
three to six times as long).
* **Long data of collectives within a node.** Directly between buffers or piece by piece through rings in shared memory, measured \
by the ranks in turn and agreed on. On the AMD EPYC, interleaved with what was there before (short chunks, on a busy machine, \
where all copies between cores took half as long again): two ranks, 16 KiB, directly and in a pipeline: MPI_Bcast 2.74 and 1.08 µs, \
MPI_Reduce 5.4 and 1.2, MPI_Allreduce 5.9 and 1.6, MPI_Allgather 3.8 and 1.6; 64 KiB: 4.8 and 3.6, 8.7 and \
3.7, 10.5 and 5.4, 8.9 and 6.1, 8.9 and 6.6; 1 MiB of MPI_Bcast 49 and 57, of MPI_Allreduce 139 and 100. Four and eight ranks on two \
cores, MPI_Bcast of 64 KiB: 20 and 8.5, 93 and 19 µs; MPI_Alltoall of 1 KiB by eight, which were messages: 18 and 11. \
Who writes ahead of what it reads by 1, 2 or 4 pieces makes no difference; pieces of 2 KiB are better than 8 for what one writes \
and the others wait for (8 KiB: 0.54 and 0.68 µs), and worse where all write and read (MPI_Allgather of 64 KiB, 4 and 8 KiB: 7.1 and 6.1). \
What the length of a ring does (two ranks, always in a pipeline, on a busy machine in its slow state; rings of 64, \
256, 512 KiB, 1 MiB with pieces of 8 KiB, and 1 MiB with pieces of 16): MPI_Bcast of 64 KiB 11.1, 10.8, 10.1, 9.0, 8.4 \
µs, of 1 MiB 166, 152, 147, 145, 141; MPI_Allreduce of 64 KiB 16.6, 15.3, 14.8, 14.2, 13.3, of 1 MiB 271, 238, 236, \
234, 220; MPI_Alltoall of 64 KiB 17.4, 16.1, 16.0, 15.3, 14.4. A line that is soon written again must be fetched from \
the other core's cache. If both of two ranks combine all of MPI_Allreduce, instead of a half each, that gains nothing \
(64 KiB: 15.0 and 14.8). Four ranks on two cores, rings of 64 KiB, and of 1 MiB with 4, 8, 16, 32 pieces of 16 KiB \
written ahead: MPI_Alltoall of 64 KiB 69, 51, 41, 37, 35 µs, of 1 MiB 1620, 1310, 1070, 1120, 1090; MPI_Allreduce of 1 \
MiB 432 and 331 to 351.
* **Short messages.** Of 8 bytes one way nearly all is two trips of a cache line between cores. 64 bytes need a second line, \
because a line holds 56 bytes beside its header. From the C symbol to its return MPI_Send of 8 bytes takes 99 instructions, \
MPI_Isend 97, MPI_Recv of a message that is there 145 (`cargo xtask test instructions`); they were 183, 194 and 230. Of \
the 183 some 40 were calls and saved registers, 35 checks, 20 the description of the data and its size, 20 the way to the \
link, 20 locks and conditions, 25 addresses of slots from their numbers, 10 the copy and 12 the header; the checks are still \
made, but in one function that keeps what C passes in its registers. One way 0.060 instead of 0.065 µs; under \
MPI_THREAD_MULTIPLE, where the same way now takes its locks instead of being closed, 0.19 instead of 0.46 in minutes in \
which the machine's cores were far apart.
* **Message rate.** The receiver is the slower side: to post, match and complete a receive takes some 390 instructions; it \
was 500. What went was a call through a table for each message, now that the PML takes all that waits in a queue in one \
loop, and looking up requests by their numbers, now that receives know the addresses of theirs: 44.3 instead of 28.5 million \
messages of 8 bytes per second, where Open MPI 5 reached 14.3 in the same minutes (AMD EPYC). Tried for it without gain: \
longer messages in that loop, too (8 bytes 26.0 instead of 27.2, 512 bytes 7.4 instead of 8.1); slots of 32 or 16 bytes (two \
processes without matching, windows of 64: 3.65 and 5.4 ns per message, with 64 bytes 3.69).
* **After the message.** A look at the next slot behind a message that was waited for holds up the answer until that line \
is here, because stores leave a core behind the loads before them. So after a lull one message is taken, and only what is \
there at the next look is taken in one go: from MPI_ANY_SOURCE 0.116 instead of 0.136 µs one way (Open MPI 5: 0.151).
* **From MPI_ANY_SOURCE.** A blocking receive was posted, and matched by the pass of progress that found its message: 8 bytes \
0.135 µs one way, from a named source 0.061. Now it looks at the queues of up to 16 senders in turn and takes the message \
itself: 0.071 (cores far apart 0.30 and 0.20); a stream from one sender 0.044 instead of 0.10 µs per message, from seven on two \
cores 0.06 instead of 0.10.
* **Data with gaps.** MPI_Send packs it straight into the queue and MPI_Recv takes it straight out of it, without a convertor: \
of 64 bytes in blocks of 8 562 and 482 instructions, 948 and 1434 with a convertor on the heap and a posted receive; one way \
0.150 instead of 0.240 µs, 512 bytes 0.208 instead of 0.310, 4 KiB 0.54 instead of 0.65.
* **More ranks than cores.** Who waits makes one pass of progress and, if it was in vain, yields its core; it was ten passes: \
a request and its answer, three askers on two cores, 1.9 instead of 3.5 µs, seven 2.1 instead of 4.3; a ring of MPI_Sendrecv both ways \
by four and eight ranks 5.0 and 13.3 instead of 7.7 and 18.8 (Open MPI's 6.1 and 12.2), of MPI_Isend and MPI_Irecv 3.1 and 6.6 instead \
of 3.9 and 8.4 (4.0 and 7.8). In collectives whose ranks all wait for all, those \
who share a core count together, and who waits gives its core up at once if one of them still has to come, and otherwise keeps \
looking: a change of ranks costs 2 µs here, and of 0.76 in each operation of four ranks 0.26 were for nothing. Four ranks on two \
cores: MPI_Barrier 3.6 -> 2.3 µs, MPI_Alltoall of 8 bytes 4.3 -> 2.8; eight: 7.7 -> 6.8, 8.5 -> 6.8. Long reductions of more \
than two ranks go through rings up to 8 MiB instead of 512 KiB: MPI_Allreduce of 1 MiB by four 0.65 to 0.76 ms directly, 0.30 to \
0.87 in a pipeline, as far apart as the cores are; of 4 MiB by eight 9.4 to 10.3, and 5.8 to 6.2.
* **First messages.** The first touch of a page of shared memory takes the system 3 to 4 µs here, as long as copying through 16 pages \
that are in use, and each queue and ring of 1 MiB was used from its beginning to its end before anything was used again. Now both use \
little of it (128 and 256 KiB) and twice as much after 32 laps. Two ranks, round trips: of 64 KiB the first four took 209, 158, 161, \
154 µs and take 240, 147, 33, 30 (Open MPI 5: 69, 32, 28, 38); of 256 KiB the next three 0.6 ms and now 0.06; of 1 MiB the first one \
2.7 ms and now 0.7 (0.57). MPI_Allreduce of 64 KiB took 90 to 120 µs until the 32nd call and takes 12 from the ninth on (Open MPI's \
60 to 90). Tried without gain: filling all pages at once (`MADV_POPULATE_WRITE` 3.5 µs a page, `fallocate` 1.6 and 2.2 for \
the first touch after it), 64 laps instead of 32 (1 MiB a tenth slower among them), direct copies until 2 MiB have gone (first calls \
half as long, all of 48 calls as long or longer).
* **Asking in vain.** With more ranks than cores MPI_Test, MPI_Iprobe and their relatives never gave a core up, and each \
exchange of a program that waits by asking took as long as the system lets a process run. They yield after 64 vain calls now: \
HPL (hpcc 1.5.0, order 2000, four ranks on two cores) 0.0035 to 0.006 -> 0.034 Tflop/s, Open MPI's 0.032; a ring of two ranks \
on one core, 1400 messages, 11.2 -> 0.02 s. To yield after each vain call, as Open MPI does, makes programs slow that ask between \
pieces of work: MPIRandomAccess 0.0008 instead of 0.009 Gup/s. The whole of hpcc takes 3.5 and 23.8 s \
there, with two ranks 2.3 to 2.9 and 10.0 to 10.8. A vain MPI_Testany asks each request once instead of three times.
* **The other collectives.** MPI_Gather and MPI_Scatter of long data, MPI_Allgatherv, MPI_Alltoallv, MPI_Reduce_scatter_block and \
MPI_Scan were messages in an order that algorithms for many nodes have. Four ranks on two cores, before and after, where others \
worked on the machine: MPI_Scan of 8 bytes 5.8 -> 0.63 µs (nobody waits for who is behind), of 64 KiB 130 -> 13 to 38; \
MPI_Alltoallv of 8 bytes 17 -> 3.8 (lengths and short blocks told in shared memory at once), MPI_Allgatherv 9.3 -> 2.6 and of \
64 KiB 189 -> 35, MPI_Reduce_scatter_block of 1 KiB 26 -> 4.1 and of 64 KiB 168 -> 43. Two ranks, 8 bytes, as single messages: \
MPI_Scatter 0.37 -> 0.13, MPI_Scan 0.45 -> 0.22, MPI_Reduce_scatter_block 0.44 -> 0.24. Of long blocks two ranks gather and \
scatter in a pipeline, and a root copies its own block while others write, not when all is there: 64 KiB 4.2 -> 2.9 and \
3.5 -> 2.9 µs, 1 MiB 68 -> 49 and 67 -> 47.
* **Computing meanwhile.** Where a program computes while messages are under way and calls MPI_Test now and then, a single copy \
is over sooner than fragments and takes more of the program's time. The trial of both ways counted the first; it leaves \
out what passes while nobody looks, now: MPI_Iallreduce of 64 KiB around some 115 µs of computing 134 -> 122 µs.
* **Halos.** In a ring of two ranks with a microsecond of computing the same loop took 0.55 or 1.0 µs, depending on where the \
compiler put it; it has a line of its own now. A step takes 0.85 µs with 8 bytes and 0.96 with 512, Open MPI's 0.90 and 1.31.
* **What is longer than the caches.** Where windows of 16 MiB and more arrive, fragments stored around the receiver's caches may \
be faster or slower: on the EPYC 17 to 18 instead of 13 GB/s while both cores share a third cache, 6.4 instead of 9.4 while they \
do not. So that is a third way that is measured, in such periods only: 1 MiB 18.7 instead of 12.6 GB/s, 4 MiB 18.2 instead of \
12.3 (Intel's 13.2 and 18.1). One core that only writes into a ring does 17.8, one that only reads 17.3: there is no more.
* **64 KiB.** A program without MPI that copies in and out of a ring of 1 MiB in pieces of 16 KiB takes 2.4 to 2.5 µs one way and \
4.9 to 5.2 for an exchange with a copy of the own block, as MPI_Alltoall has it; Intel's library takes 2.27 and 5.8 to 6.1. Tried \
without gain: vector instructions (3.1 µs), pieces of 2 to 8 KiB, looking for the next fragment while one is copied, fragments \
without a header, asking for the next piece's lines early.
* **Two ranks.** What is one word each way goes through one line with nothing else around it, and MPI_Bcast is the one message \
that it is: 8 bytes of MPI_Alltoall 0.143 -> 0.119 µs (820 -> 681 instructions), MPI_Allreduce 0.124 -> 0.104, MPI_Barrier \
0.097 -> 0.073, MPI_Bcast 0.122 -> 0.092 (675 -> 336), MPI_Allgather 0.135 -> 0.119. MPI_Allreduce of up to 8 KiB both combine: \
1 KiB 0.40 -> 0.25 µs.
* **Pipelines of collectives** write, combine and read eight pieces each in one go instead of one piece of each: MPI_Allreduce of \
1 MiB 85 -> 76 µs, of 256 KiB by 4 ranks on 2 cores 76 -> 59; longer pieces gain as much from 256 KiB on and lose at 64 KiB. \
Kernels write the result elsewhere than over an operand, which saves a copy: 64 KiB 4.6 -> 4.2 µs. What was combined is copied \
to the caller 8 KiB at a time, while it is in the first cache, and what each step reckoned again is reckoned once: 4.23 -> 3.97 \
µs, of 256 KiB 19.3 -> 18.2. MPI_Bcast in pieces half as long: 64 KiB 3.15 instead of 2.70.
* **Copies a few bytes behind.** Where the target of a copy lies 1 to 31 bytes behind its source, counted within a page, AMD's \
Zen 3 runs `rep movsb` at 3 GB/s instead of 96: the C library's memcpy of 16 KiB takes 5.7 instead of 0.17 µs, and so do the \
system's copies. malloc's large buffers begin 16 bytes behind a page, so this is no rare case. Here such copies are plain moves \
(0.32 µs; `opal-core/src/mem/aliasing.rs`).
* **TCP.** The same in the system: behind a header of 16 bytes it copied page-aligned payloads at 3 GB/s. They begin 64 bytes \
behind now: 64 KiB one way 31 instead of 57 µs (raw socket 26). Such a message is also a little longer than what the loopback \
carries in one piece, whose end came by itself; in two writes of 32 KiB, the first of which the receiver copies while the \
system takes the second, it takes 26. So it leaves where the peer probably waits for just this one; a stream of them would lose \
(4.0 instead of 4.8 GB/s). A message whose receive is posted is read straight to it. Tried without gain: two writes for other \
lengths (48 KiB 22.6 instead of 21.1 µs, 1 MiB 292 instead of 276), larger buffers of the system (equal), asking first (a round \
trip more), fragments of 64 KiB to 1 MiB (equal).
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::Unit;

    #[test]
    fn the_page_says_what_was_reached() {
        let figure = |best| Some(Figure { best: Some(best), median: Some(best * 1.1), clean: 9, disturbed: 1 });
        let line = |size, ratio, aim| SizeLine {
            size,
            label: None,
            figures: vec![figure(0.1), figure(0.2)],
            raw: figure(0.05),
            best_peer: Some("other".to_owned()),
            ratio: Some(ratio),
            baseline_ratio: None,
            aim,
        };
        let contestant =
            |name: &str| Contestant { name: name.to_owned(), version: "1".to_owned(), settings: Vec::new() };
        let row = Measured {
            name: "latency".to_owned(),
            title: "one way".to_owned(),
            ranks: 2,
            over: "bytes".to_owned(),
            crowded: false,
            rounds: 5,
            samples: 8,
            unit: Unit::Us,
            sizes: vec![line(8, 0.5, Some(0.6)), line(4096, 0.7, Some(0.6)), line(64, 0.5, None)],
            failures: vec!["third: it crashed".to_owned()],
        };
        let table = Table {
            format: 2,
            machine: super::super::machine::look(),
            seconds: 1.0,
            libraries: vec![contestant("ours"), contestant("other")],
            rows: vec![row],
        };
        let page = page(&table, &["latency".to_owned()]);
        assert!(page.contains("| latency | 8 | 0.100 µs | 0.200 µs (other) | 0.50 | 0.60 | reached |"), "{page}");
        assert!(page.contains("| 0.70 | 0.60 | missed |") && page.contains("Launches without figures: third."));
        assert!(page.contains("| 4 Ki | **0.100** 0.110 | **0.200** 0.220 | **0.050** 0.055 | 0.70 |"));
        assert!(page.contains("## What was tried") && page.contains("## Method"));
        assert!(
            page.contains("in µs; 5 turns of 8 samples.\n\n![latency](performance/latency.svg)")
                && !page.contains("it crashed")
        );
    }
}

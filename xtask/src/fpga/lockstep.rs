//! Verilog and Rust model side by side: the parts over all states (reachable or not) and all inputs, whole machines with
//! 60 nodes at random.

use super::missing::need;
use crate::failure::{At, Result, fail};
use crate::shell;
use crate::tree::Tree;
use hw_fpga::machine::{Channel, Channels, Classic, Member, Pins, Synchronizer, celement};
use hw_fpga::{CLAIM, JOIN, LEAVE, NODES};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Compiles the Verilog with Verilator and compares; a line for each part. Every `stride`th state of the one big part.
pub fn verify(tree: &Tree, stride: usize, ticks: u64, seed: u64) -> Result<Vec<String>> {
    need(VERILATOR)?;
    let mut lines = Vec::new();
    let program = compile(tree, "lock_parts", "lock_parts")?;
    lines.push(notices_mistakes(&program)?);
    for nodes in 1..=6 {
        lines.push(part(
            &program,
            &Part { which: nodes, state: 4 + 2 * nodes, input: nodes, stride: 1, step: classic },
        )?);
        lines.push(part(&program, &Part { which: 6 + nodes, state: 1, input: nodes, stride: 1, step: element })?);
    }
    lines.push(part(&program, &Part { which: 13, state: 4, input: 1, stride: 1, step: filter })?);
    lines.push(part(&program, &Part { which: 14, state: 2, input: 12, stride: 1, step: channel })?);
    let program = compile(tree, "lock_member", "lock_parts")?;
    lines.push(part(&program, &Part { which: 15, state: 17, input: 9, stride, step: member })?);
    let program = compile(tree, "lock_whole", "lock_whole")?;
    lines.push(whole(&program, ticks, seed)?);
    Ok(lines)
}

/// Programs that Verilator needs, itself included, and their packages.
pub const VERILATOR: &[(&str, &str)] = &[("verilator", "verilator"), ("g++", "g++"), ("make", "make")];

/// The files of the machine itself.
pub fn rtl(tree: &Tree) -> Vec<PathBuf> {
    RTL.iter().map(|name| tree.root.join(format!("hw/fpga/rtl/{name}.v"))).collect()
}

/// Has Verilator make `program` in a folder of its own of a top module and the C++ that drives it.
pub fn compile(tree: &Tree, top: &str, driver: &str) -> Result<PathBuf> {
    verilated(tree, top, driver, (&tree.target.join("fpga").join(top), "Vlock"), &["-CFLAGS", "-O1"])
}

/// The Verilog machines of so many nodes as a library that tuc-fpga takes as `--core`.
pub fn core(tree: &Tree, nodes: usize) -> Result<PathBuf> {
    need(VERILATOR)?;
    let folder = tree.target.join(format!("fpga/core_{nodes}"));
    let size = format!("-GN={nodes}");
    let options = [&size, "-CFLAGS", "-O1 -fPIC", "-LDFLAGS", "-shared"];
    verilated(tree, "lock_whole", "core", (&folder, "libtuc_core.so"), &options)
}

fn verilated(
    tree: &Tree,
    top: &str,
    driver: &str,
    (folder, product): (&Path, &str),
    options: &[&str],
) -> Result<PathBuf> {
    let hardware = tree.root.join("hw/fpga");
    shell::folder(folder)?;
    let mut verilator = Command::new("verilator");
    verilator.args(["--cc", "--exe", "--build", "-O3", "-Wall", "-Wno-fatal", "--prefix", "Vlock"]);
    verilator.args(["--top-module", top, "-Mdir"]).arg(folder).args(["-o", product]).args(options);
    verilator.arg(format!("-I{}", hardware.join("rtl").display()));
    // Of tests: state is set from outside on purpose, and the machine without a clock is a loop.
    verilator.args(["-Wno-MULTIDRIVEN", "-Wno-UNOPTFLAT", "-Wno-DECLFILENAME", "-Wno-BLKSEQ", "-Wno-UNUSED"]);
    verilator.args(rtl(tree)).arg(hardware.join(format!("sim/{top}.v")));
    verilator.arg(hardware.join(format!("sim/{driver}.cpp")));
    shell::output(&mut verilator)?;
    Ok(folder.join(product))
}

/// A part of the machine: its number, how many bits its state and input have, and the model's step.
struct Part {
    which: usize,
    state: usize,
    input: usize,
    stride: usize,
    /// What comes out before the tick, and the state after it.
    step: fn(part: &Part, state: u64, input: u64) -> (u64, u64),
}

fn part(program: &Path, part: &Part) -> Result<String> {
    let mut child = start(program)?;
    let request: Vec<u8> = [part.which, part.state, part.input, part.stride]
        .iter()
        .flat_map(|word| (*word as u64).to_le_bytes())
        .collect();
    child
        .stdin
        .take()
        .ok_or_else(|| fail("the Verilog model was started without a pipe"))?
        .write_all(&request)
        .at("ask the Verilog model")?;
    let mut out = child.stdout.take().ok_or_else(|| fail("the Verilog model was started without a pipe"))?;
    let mut count = 0;
    for state in (0..1u64 << part.state).step_by(part.stride) {
        count += 1;
        let mut answer = [0; 8];
        out.read_exact(&mut answer).at("read what the Verilog model answers")?;
        if u64::from_le_bytes(answer) != digest(part, state) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(fail(format!("part {} differs from its Rust model in state {state:#x}", part.which)));
        }
    }
    child.wait().at("wait for the Verilog model")?;
    Ok(format!("{}: {} states x {} inputs agree", name(part.which), count, 1u64 << part.input))
}

/// The comparison must find models that are wrong in one bit of one step.
fn notices_mistakes(program: &Path) -> Result<String> {
    let mistakes = [
        Part { which: 3, state: 10, input: 3, stride: 1, step: any_output_flips },
        Part { which: 9, state: 1, input: 3, stride: 1, step: level_is_not_held },
        Part { which: 13, state: 4, input: 1, stride: 1, step: filter_is_short },
        Part { which: 14, state: 2, input: 12, stride: 1, step: nobody_flips },
    ];
    for mistake in &mistakes {
        match part(program, mistake) {
            Err(found) if found.text.contains("differs from its Rust model") => {}
            Err(other) => return Err(other),
            Ok(_) => {
                return Err(fail(format!(
                    "part {} agrees with a Rust model that has a seeded mistake: the comparison cannot fail",
                    mistake.which
                )));
            }
        }
    }
    Ok(format!("{} models that are wrong on purpose were found", mistakes.len()))
}

/// Wrong: one output is enough.
fn any_output_flips(part: &Part, state: u64, input: u64) -> (u64, u64) {
    classic(part, state, if input != 0 { 7 } else { 0 })
}

/// Wrong: falls when the first output does.
fn level_is_not_held(part: &Part, _state: u64, input: u64) -> (u64, u64) {
    element(part, 0, input)
}

/// Wrong: two equal samples are enough.
fn filter_is_short(part: &Part, state: u64, input: u64) -> (u64, u64) {
    let (out, next) = filter(part, state, input);
    (out, next & !4 | (next & 2) << 1)
}

/// Wrong: a channel without members flips.
fn nobody_flips(part: &Part, state: u64, input: u64) -> (u64, u64) {
    let (out, next) = channel(part, state, input);
    (out, if input >> 6 == 0 { next ^ 1 } else { next })
}

fn digest(part: &Part, state: u64) -> u64 {
    (0..1u64 << part.input).fold(0xcbf2_9ce4_8422_2325, |digest, input| {
        let (out, next) = (part.step)(part, state, input);
        let mix = |digest: u64, word: u64| (digest ^ word).wrapping_mul(0x0100_0000_01b3);
        mix(mix(digest, out), next)
    })
}

fn classic(part: &Part, state: u64, input: u64) -> (u64, u64) {
    let nodes = part.which;
    let mask = (1 << nodes) - 1;
    let mut machine = Classic::new(nodes, 2, 1);
    machine.channel = two(state);
    machine.sync.stage[0] = state >> 2 & mask;
    machine.sync.stage[1] = state >> (2 + nodes) & mask;
    machine.heard = (state >> (2 + 2 * nodes) & 3) as usize;
    machine.tick(input);
    let heard = (machine.heard as u64) << (2 + 2 * nodes);
    let next = heard | word(machine.channel) | machine.sync.stage[0] << 2 | machine.sync.stage[1] << (2 + nodes);
    (state & 3, next)
}

fn element(part: &Part, state: u64, input: u64) -> (u64, u64) {
    let next = u64::from(celement(state & 1 == 1, input, part.which - 6));
    (next, next)
}

fn filter(_part: &Part, state: u64, input: u64) -> (u64, u64) {
    let mut sync = Synchronizer::new(1, 3);
    (sync.stage[0], sync.before[0], sync.before[1]) = (state & 1, state >> 1 & 1, state >> 2 & 1);
    sync.held = state >> 3 & 1;
    let out = sync.seen(input);
    sync.tick(input);
    (out, sync.stage[0] | sync.before[0] << 1 | sync.before[1] << 2 | sync.held << 3)
}

fn channel(_part: &Part, state: u64, input: u64) -> (u64, u64) {
    let mut channel = two(state);
    let member = input >> 6;
    channel.tick(input & 0x3f, member);
    (state & 3 | u64::from(member != 0) << 2, word(channel))
}

fn member(_part: &Part, state: u64, input: u64) -> (u64, u64) {
    let bit = |at: u32| (state >> at & 1) as u8;
    let mut member = Member {
        frame: state as u8,
        before: bit(8) | bit(9) << 2 | bit(10) << 3,
        armed: bit(11) == 1,
        pending: bit(12) == 1,
        member: (state >> 13) as u8 & 0xf,
    };
    let (lines, busy, turn) = (input as u8 & 0xf, (input >> 4) as u8 & 0xf, input >> 8 & 1 == 1);
    let out = u64::from(member.read_back(lines));
    member.tick(lines, busy, turn);
    let before = u64::from(member.before);
    let next = u64::from(member.frame)
        | (before & 1) << 8
        | (before >> 2 & 3) << 9
        | u64::from(member.armed) << 11
        | u64::from(member.pending) << 12
        | u64::from(member.member) << 13;
    (out, next)
}

fn two(state: u64) -> Channel {
    Channel { level: state & 1 == 1, known: state >> 1 & 1 == 1 }
}

fn word(channel: Channel) -> u64 {
    u64::from(channel.level) | u64::from(channel.known) << 1
}

fn whole(program: &Path, ticks: u64, seed: u64) -> Result<String> {
    let mut child = start(program)?;
    let mut to = child.stdin.take().ok_or_else(|| fail("the Verilog model was started without a pipe"))?;
    let mut from = child.stdout.take().ok_or_else(|| fail("the Verilog model was started without a pipe"))?;
    // Stimuli depend on the seed alone, so that both sides can have them: one writes, one compares.
    let writer = std::thread::spawn(move || {
        let mut stimuli = Stimuli::new(seed);
        let mut bytes = Vec::new();
        for _ in 0..ticks {
            let pins = stimuli.next();
            bytes.extend(pins.out.iter().chain(&pins.control).flat_map(|word| word.to_le_bytes()));
            if bytes.len() > 1 << 16 {
                to.write_all(&bytes)?;
                bytes.clear();
            }
        }
        to.write_all(&bytes)
    });
    let mut stimuli = Stimuli::new(seed);
    let mut models = Models::new();
    let (mut flips, mut joined) = (0, 0);
    for tick in 0..ticks {
        let mut answer = [0; 16];
        from.read_exact(&mut answer).at("read what the Verilog model answers")?;
        let before = models.channels.levels();
        let expected = models.step(&stimuli.next());
        flips += u64::from((before ^ models.channels.levels()).count_ones());
        joined = joined.max((0..4).map(|channel| models.channels.members(channel).count_ones()).max().unwrap_or(0));
        if answer != expected {
            let _ = child.kill();
            let _ = child.wait();
            return Err(fail(format!(
                "60 nodes: tick {tick} of seed {seed} differs: {answer:x?}, model {expected:x?}"
            )));
        }
    }
    writer
        .join()
        .map_err(|_| fail("the thread that feeds the Verilog model panicked"))?
        .at("feed the Verilog model")?;
    child.wait().at("wait for the Verilog model")?;
    if flips == 0 || joined < 30 {
        return Err(fail(format!("the stimuli of seed {seed} show too little: {flips} flips, {joined} members")));
    }
    Ok(format!("60 nodes: {ticks} ticks of seed {seed} agree, {flips} flips, up to {joined} members of a channel"))
}

struct Models {
    channels: Channels,
    classic: Classic,
    straight: Classic,
    element: bool,
}

impl Models {
    fn new() -> Models {
        let channels = Channels::new(NODES, 2, 1);
        Models { channels, classic: Classic::new(NODES, 2, 1), straight: Classic::new(NODES, 0, 1), element: false }
    }

    /// Both words that the driver answers with.
    fn step(&mut self, pins: &Pins) -> [u8; 16] {
        let read_back = self.channels.read_back(pins);
        self.channels.tick(pins);
        self.classic.tick(pins.out[0]);
        self.straight.tick(pins.out[0]);
        self.element = celement(self.element, pins.out[0], NODES);
        let levels = u64::from(self.channels.levels())
            | word(self.classic.channel) << 4
            | word(self.straight.channel) << 6
            | u64::from(self.element) << 8;
        let mut answer = [0; 16];
        answer[..8].copy_from_slice(&read_back.to_le_bytes());
        answer[8..].copy_from_slice(&levels.to_le_bytes());
        answer
    }
}

/// Nodes that shift in frames, mostly commands, commit and load them, and toggle their outputs towards agreement, with
/// noise in between.
struct Stimuli {
    random: u64,
    pins: Pins,
    /// What all nodes shift in, bit by bit.
    frame: u64,
    step: u64,
}

impl Stimuli {
    fn new(seed: u64) -> Stimuli {
        Stimuli { random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, pins: Pins::default(), frame: 0, step: 0 }
    }

    fn next(&mut self) -> Pins {
        let all = (1u64 << NODES) - 1;
        self.step += 1;
        let few = self.word() & self.word() & self.word() & all;
        for channel in 0..4 {
            // For a while all go up, then all go down; a few at a time, some the wrong way.
            let up = (self.step >> (6 + channel)) & 1 == 1;
            let movers = self.word() & self.word() & all;
            let out = self.pins.out[channel];
            self.pins.out[channel] = if up { out | movers } else { out & !movers };
            if self.step & 0x3f == 0x20 {
                self.pins.out[channel] ^= few & self.word();
            }
            if self.step & 0x3f == 0x3f {
                self.pins.out[channel] = if up { all } else { 0 };
            }
        }
        let phase = self.step % FRAME_TICKS;
        if phase == 0 {
            let mask = self.word() & 0xf;
            let command = [CLAIM, JOIN, JOIN, LEAVE][(self.word() >> 8 & 3) as usize];
            self.frame = u64::from(command) << 4 | mask;
        }
        let noise = if self.word() & 0x1f == 0 { few & self.word() } else { 0 };
        self.pins.control = [0; 4];
        match phase {
            0..32 => {
                let bit = self.frame >> (7 - phase / 4) & 1;
                self.pins.control[1] = if bit == 1 { all } else { 0 };
                self.pins.control[0] = noise ^ if phase & 2 == 2 { all } else { 0 };
            }
            36..52 => self.pins.control[2] = (all & !few) ^ noise,
            56..96 => {
                self.pins.control[3] = all ^ noise;
                self.pins.control[0] = if phase & 2 == 2 { all } else { 0 };
            }
            _ => self.pins.control[2] = noise & few,
        }
        self.pins
    }

    /// xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, doi:10.1145/2845077.
    fn word(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn start(program: &Path) -> Result<Child> {
    let child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    child.at(format!("run {}", program.display()))
}

fn name(which: usize) -> String {
    match which {
        1..=6 => format!("classic machine, {which} nodes"),
        7..=12 => format!("machine without a clock, {} nodes", which - 6),
        13 => "filter of 3 samples".to_owned(),
        14 => "channel of 6 nodes, any members".to_owned(),
        _ => "membership register".to_owned(),
    }
}

const RTL: &[&str] = &["tuc_sync", "tuc_channel", "tuc_celement", "tuc_classic", "tuc_member", "tuc_channels"];
const FRAME_TICKS: u64 = 170;

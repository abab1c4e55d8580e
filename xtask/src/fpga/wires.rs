//! hw/fpga/wires.txt and the files that are generated from it.

use super::picture;
use crate::failure::{Result, fail};
use crate::shell;
use crate::tree::Tree;
use std::fmt::Write;

/// Writes what is generated.
pub fn write(tree: &Tree) -> Result<()> {
    for (path, text) in generated(tree)? {
        shell::write(&tree.root.join(path), &text)?;
    }
    Ok(())
}

/// Files that are not what wires.txt says.
pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (path, text) in generated(tree)? {
        if shell::read(&tree.root.join(path)).ok().as_deref() != Some(text.as_str()) {
            findings.push(format!("{path} is not what {SOURCE} says; run `cargo xtask fpga wires`"));
        }
    }
    Ok(findings)
}

fn generated(tree: &Tree) -> Result<[(&'static str, String); 4]> {
    let table = Table::parse(&shell::read(&tree.root.join(SOURCE))?).map_err(fail)?;
    let (wiring, states) = (picture::wiring(&table.lines()), picture::states());
    Ok([(VERILOG, table.verilog()), (RUST, table.rust()), (WIRING, wiring), (STATES, states)])
}

#[derive(Debug, Default)]
struct Table {
    numbers: Vec<Number>,
    wires: Vec<Wire>,
}

#[derive(Debug)]
struct Number {
    name: String,
    value: u64,
    text: String,
    help: String,
}

#[derive(Debug)]
struct Wire {
    name: String,
    register: &'static str,
    bit: u8,
    pin: u8,
    inverted: bool,
    help: String,
}

impl Table {
    fn parse(source: &str) -> std::result::Result<Table, String> {
        let mut table = Table::default();
        for (at, line) in source.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let wrong = |what: &str| format!("{SOURCE}:{}: {what}", at + 1);
            match words[..] {
                [] => {}
                ["number", name, text, ..] => {
                    let hex = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
                    let value = hex.unwrap_or_else(|| text.parse()).map_err(|_| wrong("the value is no number"))?;
                    let (name, text, help) = (name.to_owned(), text.to_owned(), words[3..].join(" "));
                    table.numbers.push(Number { name, value, text, help });
                }
                [place, name, pin, polarity, ..] => {
                    let (register, bit) = place.split_once('.').ok_or_else(|| wrong("no register.bit"))?;
                    let register = ["data", "status", "control"].into_iter().find(|one| *one == register);
                    let inverted = ["+", "-"].iter().position(|one| *one == polarity);
                    table.wires.push(Wire {
                        name: name.to_owned(),
                        register: register.ok_or_else(|| wrong("the register is data, status or control"))?,
                        bit: bit.parse().map_err(|_| wrong("the bit is no number"))?,
                        pin: pin.parse().map_err(|_| wrong("the pin is no number"))?,
                        inverted: inverted.ok_or_else(|| wrong("the polarity is + or -"))? == 1,
                        help: words[4..].join(" "),
                    });
                }
                _ => return Err(wrong("neither a number nor a wire")),
            }
        }
        Ok(table)
    }

    fn lines(&self) -> Vec<picture::Line<'_>> {
        let lines = self.wires.iter().map(|wire| picture::Line {
            pin: wire.pin,
            place: format!("{}.{}", wire.register, wire.bit),
            name: &wire.name,
            inverted: wire.inverted,
            inward: wire.register == "status",
        });
        lines.collect()
    }

    fn verilog(&self) -> String {
        let mut text =
            format!("// Generated from {SOURCE} by `cargo xtask fpga wires`.\n`ifndef WIRES\n`define WIRES\n");
        for one in self.numbers.iter().filter(|one| !one.name.ends_with("_OFFSET")) {
            // Commands are as wide as the register's upper half.
            let value = if one.text.starts_with("0x") { format!("4'h{:x}", one.value) } else { one.value.to_string() };
            _ = writeln!(text, "// {}\n`define {} {value}", one.help, one.name);
        }
        text + "`endif\n"
    }

    fn rust(&self) -> String {
        let mut text = format!(
            "//! Generated from {SOURCE} by `cargo xtask fpga wires`.\n\nuse crate::register::{{Register, Wire}};\n\n"
        );
        for one in &self.numbers {
            let kind = if one.text.starts_with("0x") || one.name.ends_with("_OFFSET") { "u8" } else { "usize" };
            let kind = if one.name.ends_with("_OFFSET") { "u16" } else { kind };
            _ = writeln!(text, "/// {}.\npub const {}: {kind} = {};", one.help, one.name, one.text);
        }
        for one in &self.wires {
            let register = one.register[..1].to_uppercase() + &one.register[1..];
            _ = writeln!(
                text,
                "/// {}.\npub const {}: Wire =\n    Wire {{ name: \"{}\", register: Register::{register}, bit: {}, pin: {}, \
                 inverted: {} }};",
                one.help, one.name, one.name, one.bit, one.pin, one.inverted
            );
        }
        let names: Vec<&str> = self.wires.iter().map(|one| one.name.as_str()).collect();
        let (first, last) = names.split_at(names.len() / 2);
        _ = writeln!(
            text,
            "/// Every wire.\npub const ALL: &[Wire] = &[\n    {},\n    {},\n];",
            first.join(", "),
            last.join(", ")
        );
        text
    }
}

const SOURCE: &str = "hw/fpga/wires.txt";
const VERILOG: &str = "hw/fpga/rtl/wires.vh";
const RUST: &str = "hw/fpga/src/wires.rs";
const WIRING: &str = "docs/hardware-barrier-wires.svg";
const STATES: &str = "docs/hardware-barrier-states.svg";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_table() {
        let table = Table::parse("# x\nnumber N 0xa A number\nstatus.7 BUSY 11 - A wire\n").unwrap();
        assert!(table.verilog().contains("`define N 4'ha"));
        assert!(table.rust().contains("register: Register::Status, bit: 7, pin: 11, inverted: true"));
        assert!(Table::parse("status BUSY 11 -").unwrap_err().contains(":1: no register.bit"));
        assert!(Table::parse("stat.1 BUSY 11 -").is_err() && Table::parse("number N x").is_err());
    }
}

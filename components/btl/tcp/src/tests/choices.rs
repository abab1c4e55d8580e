//! Interfaces, ports and pairs.

use super::*;
use crate::component::needed;
use crate::failure_message;
use crate::interfaces::{self, Interface};
use crate::params;
use crate::path::Path;
use alloc::string::ToString;
use alloc::vec::Vec;

fn interface(name: &str, mbps: u32, addresses: &[(&str, u8)]) -> Interface {
    let addresses = addresses.iter().map(|(address, prefix)| (address.parse().unwrap(), *prefix)).collect();
    Interface { name: name.to_string(), loopback: name == "lo", mbps, addresses }
}

fn machine() -> Vec<Interface> {
    vec![
        interface("lo", 100, &[("127.0.0.1", 8), ("::1", 128)]),
        interface("eth0", 1000, &[("10.0.0.5", 24), ("2001:db8::5", 64)]),
        interface("ib0", 100_000, &[("192.168.7.5", 16)]),
    ]
}

fn names(include: &str, exclude: &str) -> Vec<alloc::string::String> {
    interfaces::choose(machine(), include, exclude).unwrap().0.into_iter().map(|one| one.name).collect()
}

#[test]
fn interfaces_by_name_and_network() {
    assert_eq!(names("", ""), ["lo", "ib0", "eth0"]);
    assert_eq!(names("eth0", ""), ["eth0"]);
    assert_eq!(names("10.0.0.0/8, lo", ""), ["lo", "eth0"]);
    assert_eq!(names("", "ib0,127.0.0.0/8,::1"), ["eth0"]);
    assert_eq!(names("10.0.0.0/8,192.168.0.0/16", "lo,ib0"), ["eth0"], "of those that are included");
    let (only_six, _) = interfaces::choose(machine(), "2001:db8::/32", "").unwrap();
    assert_eq!(only_six[0].addresses.len(), 1);
    assert!(only_six[0].addresses[0].0.is_ipv6());
}

#[test]
fn where_there_are_too_many_those_without_a_device_go_first() {
    let names = |count| {
        let all = ["lo", "br0", "br1", "eth0", "br2", "eth1"].map(|name| interface(name, 1, &[("10.0.0.1", 8)]));
        let (chosen, left_out) = interfaces::most(all.to_vec(), count, |name| name.starts_with("eth"));
        (chosen.into_iter().map(|one| one.name).collect::<Vec<_>>(), left_out.len())
    };
    assert_eq!(names(4), (["lo", "br0", "eth0", "eth1"].map(ToString::to_string).to_vec(), 2));
    assert_eq!(names(2), (["lo", "eth0"].map(ToString::to_string).to_vec(), 4));
    assert_eq!(names(6).1, 0);
}

#[test]
fn speeds_by_the_user() {
    let mut all = machine();
    assert_eq!(interfaces::correct_speeds(&mut all, "eth0=40000, eth9=1").unwrap(), ["eth9"]);
    assert_eq!(all.iter().map(|one| one.mbps).collect::<Vec<_>>(), [100, 40_000, 100_000]);
    for wrong in ["eth0", "eth0=", "eth0=fast", "eth0=0", "=;"] {
        let said = interfaces::correct_speeds(&mut all, wrong).unwrap_err();
        assert!(said.contains(wrong) && said.contains("btl_tcp_if_speed"), "{said}");
    }
}

#[test]
fn networks_by_address() {
    let networks = |text| interfaces::networks("p", text);
    assert_eq!(networks(""), Ok(vec![]));
    assert_eq!(
        networks("10.1.0.0/16, fe80::/10"),
        Ok(vec![("10.1.0.0".parse().unwrap(), 16), ("fe80::".parse().unwrap(), 10)])
    );
    for wrong in ["eth0", "10.1.0.0/33", "10.1/16"] {
        assert!(networks(wrong).unwrap_err().contains(wrong));
    }
}

#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let (chosen, vain) = interfaces::choose(machine(), "eth0,eth7", "").unwrap();
    assert_eq!((chosen.len(), &*vain), (1, &["btl_tcp_if_include names eth7".to_string()][..]));
    let said = interfaces::choose(machine(), "ens0,eth7", "").unwrap_err();
    assert!(
        said.contains("ens0, eth7") && said.contains("eth0 10.0.0.5/24") && said.contains("ib0 192.168.7.5/16"),
        "{said}"
    );
    assert!(interfaces::choose(machine(), "10.0.0.0/33", "").unwrap_err().contains("32"));
    let (chosen, vain) = interfaces::choose(machine(), "", "docker0").unwrap();
    assert_eq!((chosen.len(), vain.len()), (3, 1));
    assert!(vain[0].contains("docker0"));
}

#[test]
fn ports() {
    assert_eq!(params::ports(""), Ok((0, 0)));
    assert_eq!(params::ports(" 5000-5100 "), Ok((5000, 5100)));
    assert_eq!(params::ports("5000"), Ok((5000, 5000)));
    for bad in ["5100-5000", "0-5", "70000", "http", "5-"] {
        assert!(params::ports(bad).unwrap_err().contains(bad));
    }
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (_first, port) = socket::listen(address, (0, 0), &limits()).unwrap();
    let taken = socket::listen(address, (port, port), &limits()).unwrap_err();
    assert!(taken.contains("127.0.0.1") && taken.contains(&port.to_string()), "{taken}");
}

fn pairs(here: &[AddressRecord], there: &[AddressRecord]) -> Vec<(usize, usize)> {
    let all = crate::pairing::connections(here, there, true);
    let seen_there = crate::pairing::connections(there, here, false);
    assert_eq!(
        all,
        seen_there.into_iter().map(|(own, other)| (other, own)).collect::<Vec<_>>(),
        "both ends find the same"
    );
    all
}

fn record(interface: u8, address: &str, prefix: u8, mbps: u32, network: u64) -> AddressRecord {
    let address: IpAddr = address.parse().unwrap();
    AddressRecord { interface, address, prefix, loopback: address.is_loopback(), port: 1, mbps, job: 0, network }
}

#[test]
fn pairs_of_interfaces() {
    let here = [
        record(0, "10.0.0.1", 24, 1000, 1),
        record(1, "10.0.1.1", 24, 9000, 1),
        record(2, "127.0.0.1", 8, 40_000, 1),
        record(3, "172.17.0.1", 16, 10_000, 1),
    ];
    let there = [
        record(0, "10.0.1.2", 24, 9000, 2),
        record(1, "127.0.0.1", 8, 40_000, 2),
        record(2, "10.0.0.2", 24, 1000, 2),
        record(3, "172.17.0.1", 16, 10_000, 2),
    ];
    assert_eq!(pairs(&here, &there), [(1, 0), (0, 2)], "each network once, never bridges of the same address");
    let mirrored: Vec<_> = pairs(&there, &here).into_iter().map(|(low, high)| (high, low)).collect();
    assert_eq!(pairs(&here, &there), mirrored);

    assert_eq!(pairs(&here, &here), [(2, 2)], "the loopback for processes of one node");
    assert_eq!(pairs(&here[..1], &here[..1]), [(0, 0)], "or what there is");

    let far = [record(0, "192.0.2.9", 24, 1000, 3), record(1, "198.51.100.9", 24, 5000, 3)];
    assert_eq!(pairs(&here, &far), [(1, 1)], "one routed pair, the fastest");
    assert_eq!(pairs(&here[2..3], &far), [], "the loopback leads nowhere else");
    let six = [record(0, "2001:db8::1", 64, 1000, 1), record(0, "10.0.0.1", 24, 1000, 1)];
    let seven = [record(0, "2001:db8::2", 64, 1000, 2), record(0, "10.0.0.9", 24, 1000, 2)];
    assert_eq!(pairs(&six, &seven).len(), 1, "an interface carries one connection, whatever its families");
}

#[test]
fn only_what_a_process_of_the_job_can_need_listens() {
    let at = &[("127.0.0.1", 8)];
    let all = || vec![interface("lo", 1, at), interface("eth0", 1, at), interface("eth1", 1, at)];
    let names = |one_node, by_default, served| -> Vec<alloc::string::String> {
        let job = Job { one_node, ..job(0, 2) };
        needed(all(), &job, by_default, served).into_iter().map(|one| one.name).collect()
    };
    assert_eq!(names(true, true, false), ["lo"]);
    assert_eq!(names(false, true, true), ["eth0", "eth1"]);
    assert_eq!(names(false, true, false), ["lo", "eth0", "eth1"]);
    assert_eq!(names(true, false, false), ["lo", "eth0", "eth1"], "the user names them");
    let job = Job { one_node: true, ..job(0, 2) };
    assert_eq!(needed(all().split_off(1), &job, true, false).len(), 2, "the loopback is excluded");
}

#[test]
fn a_spare_path_that_was_found_is_named_once() {
    let tcp = with_interfaces(job(0, 2), 1);
    let own = super::record(tcp);
    let there = |last: u8| AddressRecord { address: [10, 0, 0, last].into(), ..own };
    let path = |last| Path { local: own, remote: there(last) };
    let spare = [2, 3].map(path).to_vec();
    let endpoint = tcp.transport.add_guessing(1, 0, (own, there(1)), path(1), spare).unwrap();
    let connection = tcp.transport.connection(endpoint.0).unwrap();
    connection.found.call_once(|| path(2));
    let said = failure_message::tried(&tcp.transport, connection);
    assert_eq!((said.matches("10.0.0.2").count(), said.matches("10.0.0.3").count()), (1, 1), "{said}");
}

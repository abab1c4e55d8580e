//! The header, and which offer is taken.

use crate::abi::{
    ADDR_STR, AtomicOps, AvAttr, AvOps, CmOps, Context, CqAttr, CqEntry, CqError, CqOps, DomainAttr, DomainOps, EpAttr,
    FabricAttr, FabricOps, Fid, FidAv, FidCq, FidDomain, FidEp, FidFabric, FidMr, FidOps, Info, Message, MrOps, MsgOps,
    RmaMessage, RmaOps, RmaRun, RxAttr, SOCKADDR_IN, SOCKADDR_IN6, TxAttr,
};
use crate::raw::{self, At, Library, Offer};
use crate::selection::{Wishes, choose};
use core::mem::offset_of;
use opal_fabric::verdict::Verdict;
use std::string::String;
use std::vec::Vec;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

/// Where the header is not installed, `cargo xtask build` refuses the component.
#[test]
fn the_header_says_the_same() {
    test_header::compile(env!("CARGO_MANIFEST_DIR"), "libfabric", "OFI");
}

/// `abi.rs` and `header.c` give every structure the same size and every field the same place.
#[test]
fn both_files_say_the_same() {
    let mistake = "PLACE(fi_info, fabric_attr, 112);";
    test_header::compare(include_str!("header.c"), mistake, sizes().into_iter().chain(places()));
}

fn sizes() -> Vec<String> {
    let all = [
        ("struct fi_info", size_of::<Info>()),
        ("struct fi_tx_attr", size_of::<TxAttr>()),
        ("struct fi_rx_attr", size_of::<RxAttr>()),
        ("struct fid", size_of::<Fid>()),
        ("struct fi_av_attr", size_of::<AvAttr>()),
        ("struct fi_cq_attr", size_of::<CqAttr>()),
        ("struct fi_cq_msg_entry", size_of::<CqEntry>()),
        ("struct fi_cq_err_entry", size_of::<CqError>()),
        ("struct fi_msg", size_of::<Message>()),
        ("struct fi_context2", size_of::<Context>()),
        ("struct fi_msg_rma", size_of::<RmaMessage>()),
        ("struct fi_rma_iov", size_of::<RmaRun>()),
    ];
    test_header::sizes(&all).collect()
}

fn places() -> Vec<String> {
    let all = [
        ("fi_info, caps", offset_of!(Info, caps)),
        ("fi_info, mode", offset_of!(Info, mode)),
        ("fi_info, addr_format", offset_of!(Info, addr_format)),
        ("fi_info, src_addrlen", offset_of!(Info, src_addr_bytes)),
        ("fi_info, src_addr", offset_of!(Info, src_addr)),
        ("fi_info, tx_attr", offset_of!(Info, tx)),
        ("fi_info, rx_attr", offset_of!(Info, rx)),
        ("fi_info, ep_attr", offset_of!(Info, ep)),
        ("fi_info, domain_attr", offset_of!(Info, domain)),
        ("fi_info, fabric_attr", offset_of!(Info, fabric)),
        ("fi_tx_attr, msg_order", offset_of!(TxAttr, msg_order)),
        ("fi_tx_attr, inject_size", offset_of!(TxAttr, inject_bytes)),
        ("fi_tx_attr, size", offset_of!(TxAttr, size)),
        ("fi_rx_attr, msg_order", offset_of!(RxAttr, msg_order)),
        ("fi_rx_attr, size", offset_of!(RxAttr, size)),
        ("fi_ep_attr, type", offset_of!(EpAttr, kind)),
        ("fi_ep_attr, protocol", offset_of!(EpAttr, protocol)),
        ("fi_ep_attr, protocol_version", offset_of!(EpAttr, protocol_version)),
        ("fi_ep_attr, max_msg_size", offset_of!(EpAttr, max_message_bytes)),
        ("fi_domain_attr, name", offset_of!(DomainAttr, name)),
        ("fi_domain_attr, threading", offset_of!(DomainAttr, threading)),
        ("fi_domain_attr, data_progress", offset_of!(DomainAttr, data_progress)),
        ("fi_domain_attr, resource_mgmt", offset_of!(DomainAttr, resource_management)),
        ("fi_domain_attr, mr_mode", offset_of!(DomainAttr, mr_mode)),
        ("fi_domain_attr, mr_key_size", offset_of!(DomainAttr, mr_key_bytes)),
        ("fi_fabric_attr, name", offset_of!(FabricAttr, name)),
        ("fi_fabric_attr, prov_name", offset_of!(FabricAttr, provider)),
        ("fid, ops", offset_of!(Fid, ops)),
        ("fid_fabric, ops", offset_of!(FidFabric, ops)),
        ("fid_domain, ops", offset_of!(FidDomain, ops)),
        ("fid_domain, mr", offset_of!(FidDomain, mr)),
        ("fid_mr, mem_desc", offset_of!(FidMr, descriptor)),
        ("fid_mr, key", offset_of!(FidMr, key)),
        ("fid_av, ops", offset_of!(FidAv, ops)),
        ("fid_cq, ops", offset_of!(FidCq, ops)),
        ("fid_ep, cm", offset_of!(FidEp, cm)),
        ("fid_ep, msg", offset_of!(FidEp, msg)),
        ("fid_ep, rma", offset_of!(FidEp, rma)),
        ("fid_ep, atomic", offset_of!(FidEp, atomic)),
        ("fi_ops, close", offset_of!(FidOps, close)),
        ("fi_ops, bind", offset_of!(FidOps, bind)),
        ("fi_ops, control", offset_of!(FidOps, control)),
        ("fi_ops_fabric, domain", offset_of!(FabricOps, domain)),
        ("fi_ops_fabric, trywait", offset_of!(FabricOps, trywait)),
        ("fi_ops_domain, av_open", offset_of!(DomainOps, av_open)),
        ("fi_ops_domain, cq_open", offset_of!(DomainOps, cq_open)),
        ("fi_ops_domain, endpoint", offset_of!(DomainOps, endpoint)),
        ("fi_ops_mr, reg", offset_of!(MrOps, register)),
        ("fi_ops_av, insert", offset_of!(AvOps, insert)),
        ("fi_ops_av, straddr", offset_of!(AvOps, text)),
        ("fi_ops_cq, read", offset_of!(CqOps, read)),
        ("fi_ops_cq, readerr", offset_of!(CqOps, read_error)),
        ("fi_ops_cq, strerror", offset_of!(CqOps, words)),
        ("fi_ops_cm, getname", offset_of!(CmOps, name)),
        ("fi_ops_msg, recv", offset_of!(MsgOps, receive)),
        ("fi_ops_msg, send", offset_of!(MsgOps, send)),
        ("fi_ops_msg, sendmsg", offset_of!(MsgOps, send_message)),
        ("fi_ops_rma, read", offset_of!(RmaOps, read)),
        ("fi_ops_rma, writemsg", offset_of!(RmaOps, write_message)),
        ("fi_ops_atomic, readwrite", offset_of!(AtomicOps, fetch)),
        ("fi_ops_atomic, compwrite", offset_of!(AtomicOps, compare)),
        ("fi_ops_atomic, readwritevalid", offset_of!(AtomicOps, fetch_valid)),
        ("fi_ops_atomic, compwritevalid", offset_of!(AtomicOps, compare_valid)),
        ("fi_msg_rma, addr", offset_of!(RmaMessage, to)),
        ("fi_msg_rma, rma_iov", offset_of!(RmaMessage, remote)),
        ("fi_msg_rma, context", offset_of!(RmaMessage, context)),
        ("fi_rma_iov, len", offset_of!(RmaRun, bytes)),
        ("fi_rma_iov, key", offset_of!(RmaRun, key)),
        ("fi_av_attr, count", offset_of!(AvAttr, count)),
        ("fi_cq_attr, format", offset_of!(CqAttr, format)),
        ("fi_cq_attr, wait_obj", offset_of!(CqAttr, wait_object)),
        ("fi_cq_msg_entry, len", offset_of!(CqEntry, bytes)),
        ("fi_cq_err_entry, err", offset_of!(CqError, errno)),
        ("fi_cq_err_entry, prov_errno", offset_of!(CqError, provider_errno)),
        ("fi_cq_err_entry, err_data", offset_of!(CqError, details)),
        ("fi_msg, desc", offset_of!(Message, descriptors)),
        ("fi_msg, addr", offset_of!(Message, to)),
        ("fi_msg, context", offset_of!(Message, context)),
    ];
    test_header::places(&all).collect()
}

#[test]
fn a_library_that_is_absent_or_another() {
    for (name, why) in
        [("libno_fabric.so.1", "libno_fabric.so.1: cannot open"), ("libc.so.6", "what was found lacks fi_getinfo")]
    {
        let sentence = Library::open(name).err().unwrap();
        for part in [why, "install libfabric (Debian: libfabric1)", "--mca btl_ofi_library"] {
            assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
        }
    }
}

#[test]
fn addresses_say_whom_they_reach() {
    let four = |address: [u8; 4]| {
        let mut bytes = [0; 16];
        bytes[0] = 2;
        bytes[4..8].copy_from_slice(&address);
        raw::at(SOCKADDR_IN, &bytes)
    };
    let six = |address: [u8; 16]| {
        let mut bytes = [0; 28];
        bytes[0] = 10;
        bytes[8..24].copy_from_slice(&address);
        raw::at(SOCKADDR_IN6, &bytes)
    };
    assert_eq!(
        [four([127, 0, 0, 1]), four([169, 254, 3, 4]), four([10, 0, 0, 1])],
        [At::Loopback, At::LinkLocal, At::Four]
    );
    let of = |first: u8, second: u8, last: u8| {
        let mut address = [0; 16];
        (address[0], address[1], address[15]) = (first, second, last);
        six(address)
    };
    assert_eq!([of(0, 0, 1), of(0xfe, 0x80, 7), of(0xfd, 0, 7)], [At::Loopback, At::LinkLocal, At::Six]);
    assert_eq!(raw::at(SOCKADDR_IN, &[2, 0]), At::Own, "too short");
}

const NOTHING: Wishes<'static> = Wishes { include: "", exclude: "", interface: "", is_named: false, one_node: false };

fn offers() -> Vec<Offer> {
    let offer = |provider, domain, fabric, at, format| Offer::for_tests(provider, domain, fabric, at, format);
    Vec::from([
        offer("shm", "shm", "shm", At::Own, ADDR_STR),
        offer("udp;ofi_rxd", "eth0", "10.0.0.0/8", At::Four, SOCKADDR_IN),
        offer("sockets", "eth0", "10.0.0.0/8", At::Four, SOCKADDR_IN),
        offer("tcp;ofi_rxm", "eth0", "fe80::/64", At::LinkLocal, SOCKADDR_IN6),
        offer("tcp;ofi_rxm", "eth0", "fd00::/64", At::Six, SOCKADDR_IN6),
        offer("tcp;ofi_rxm", "lo", "127.0.0.1/32", At::Loopback, SOCKADDR_IN),
        offer("tcp;ofi_rxm", "eth0", "10.0.0.0/8", At::Four, SOCKADDR_IN),
        offer("net", "eth1", "10.1.0.0/16", At::Four, SOCKADDR_IN),
    ])
}

/// Which one is taken, and how the reasons of the others begin.
fn taken(wishes: Wishes<'_>) -> (Option<usize>, Vec<String>) {
    let offers = offers();
    let (best, verdicts) = choose(&offers, &wishes);
    let why = |verdict| match verdict {
        Verdict::Taken => String::from("taken"),
        Verdict::Left(why) => why,
    };
    (best, verdicts.into_iter().map(why).collect())
}

#[test]
fn nothing_over_sockets_is_taken_unasked() {
    let (best, why) = taken(NOTHING);
    assert_eq!(best, None);
    assert!(why[0].contains("this node alone"), "{why:#?}");
    assert!(why[1].contains("is not supported") && why[2].contains("emulates a fabric"), "{why:#?}");
    assert!(why[3..].iter().all(|why| why.contains("btl/tcp serves the system's sockets")), "{why:#?}");
    // Named, the component takes one that emulates nothing.
    let (best, why) = taken(Wishes { is_named: true, ..NOTHING });
    assert_eq!((best, why[6].as_str()), (Some(6), "taken"));
    assert!(why[2].contains("btl_ofi_provider_include sockets") && why[3].contains("link-local"), "{why:#?}");
    assert!(why[5].contains("this node alone") && why[7].contains("tcp;ofi_rxm over eth0 (10.0.0.0/8) is preferred"));
}

#[test]
fn hardware_is_taken_unasked() {
    let mut offers = offers();
    offers.push(Offer::for_tests("verbs;ofi_rxm", "mlx5_0", "IB-0xfe80", At::Four, SOCKADDR_IN));
    for is_named in [false, true] {
        assert_eq!(choose(&offers, &Wishes { is_named, ..NOTHING }).0, Some(8));
    }
    assert_eq!(choose(&offers, &Wishes { exclude: "verbs", ..NOTHING }).0, None);
}

#[test]
fn users_choose() {
    let include = |include| taken(Wishes { include, ..NOTHING }).0;
    assert_eq!(include("sockets"), Some(2));
    assert_eq!(include("tcp"), Some(6), "the name before the layer is enough");
    assert_eq!(include("udp"), None, "also by name");
    assert_eq!(include("net, tcp"), Some(7), "the first name is preferred");
    assert_eq!(include("verbs"), None);
    assert_eq!(include("shm"), None);
    let of = |interface, one_node| taken(Wishes { include: "tcp,net", interface, one_node, ..NOTHING }).0;
    assert_eq!([of("eth1", false), of("fd00::/64", false), of("lo", false)], [Some(7), Some(4), Some(5)]);
    assert_eq!([of("", true), of("eth9", false)], [Some(5), None], "on one node the loopback is nearer");
    assert_eq!(taken(Wishes { include: "tcp,net", exclude: "tcp", ..NOTHING }).0, Some(7));
}

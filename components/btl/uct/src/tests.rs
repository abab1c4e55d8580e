//! The header, and which offer is taken.

use crate::abi::{
    CallbackElement, Completion, ComponentAttr, EpObject, EpParams, Extent, Iface, IfaceAttr, IfaceOps, IfaceParams,
    Iov, MdAttr, MdResource, RkeyBundle, Status, TransportResource, Worker,
};
use crate::raw::{DeviceKind, Library, Offer};
use crate::selection::{Choice, Wishes, choose};
use core::mem::offset_of;
use opal_fabric::verdict::Verdict;
use std::format;
use std::process::Command;
use std::string::String;
use std::vec::Vec;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

/// Where the header is not installed, `cargo xtask build` refuses the component.
#[test]
fn the_header_says_the_same() {
    test_header::compile(env!("CARGO_MANIFEST_DIR"), "ucx-uct", "UCT");
}

/// `abi.rs` and `header.c` give every structure the same size and every field the same place.
#[test]
fn both_files_say_the_same() {
    let mistake = "PLACE(uct_iface_attr_t, cap.flags, 304);";
    test_header::compare(include_str!("header.c"), mistake, sizes().into_iter().chain(places()));
}

fn sizes() -> Vec<String> {
    let all = [
        ("ucs_status_t", size_of::<Status>()),
        ("uct_component_attr_t", size_of::<ComponentAttr>()),
        ("uct_md_resource_desc_t", size_of::<MdResource>()),
        ("uct_tl_resource_desc_t", size_of::<TransportResource>()),
        ("uct_iface_params_t", size_of::<IfaceParams>()),
        ("uct_iov_t", size_of::<Iov>()),
        ("uct_completion_t", size_of::<Completion>()),
        ("uct_rkey_bundle_t", size_of::<RkeyBundle>()),
    ];
    test_header::sizes(&all).collect()
}

fn places() -> Vec<String> {
    let (put, get, am) = (offset_of!(IfaceAttr, put), offset_of!(IfaceAttr, get), offset_of!(IfaceAttr, am));
    let all = [
        ("uct_component_attr_t, md_resource_count", offset_of!(ComponentAttr, md_count)),
        ("uct_component_attr_t, md_resources", offset_of!(ComponentAttr, mds)),
        ("uct_component_attr_t, flags", offset_of!(ComponentAttr, flags)),
        ("uct_tl_resource_desc_t, dev_name", offset_of!(TransportResource, device)),
        ("uct_tl_resource_desc_t, dev_type", offset_of!(TransportResource, device_kind)),
        ("uct_md_attr_t, cap.flags", offset_of!(MdAttr, flags)),
        ("uct_md_attr_t, rkey_packed_size", offset_of!(MdAttr, rkey_bytes)),
        ("uct_iface_attr_t, cap.put.max_zcopy", put + offset_of!(Extent, max_zcopy)),
        ("uct_iface_attr_t, cap.get.min_zcopy", get + offset_of!(Extent, min_zcopy)),
        ("uct_iface_attr_t, cap.get.max_zcopy", get + offset_of!(Extent, max_zcopy)),
        ("uct_iface_attr_t, cap.am.max_short", am + offset_of!(Extent, max_short)),
        ("uct_iface_attr_t, cap.am.max_bcopy", am + offset_of!(Extent, max_bcopy)),
        ("uct_iface_attr_t, cap.flags", offset_of!(IfaceAttr, flags)),
        ("uct_iface_attr_t, cap.event_flags", offset_of!(IfaceAttr, event_flags)),
        ("uct_iface_attr_t, device_addr_len", offset_of!(IfaceAttr, device_addr_bytes)),
        ("uct_iface_attr_t, iface_addr_len", offset_of!(IfaceAttr, iface_addr_bytes)),
        ("uct_iface_attr_t, bandwidth", offset_of!(IfaceAttr, dedicated_bandwidth)),
        ("uct_iface_attr_t, latency", offset_of!(IfaceAttr, latency_s)),
        ("uct_iface_params_t, open_mode", offset_of!(IfaceParams, open_mode)),
        ("uct_iface_params_t, mode.device.tl_name", offset_of!(IfaceParams, transport)),
        ("uct_iface_params_t, mode.device.dev_name", offset_of!(IfaceParams, device)),
        ("uct_iface_params_t, stats_root", offset_of!(IfaceParams, stats_root)),
        ("uct_iface_params_t, rx_headroom", offset_of!(IfaceParams, rx_headroom)),
        ("uct_iface_params_t, err_handler_arg", offset_of!(IfaceParams, err_handler_arg)),
        ("uct_iface_params_t, err_handler", offset_of!(IfaceParams, err_handler)),
        ("uct_iface_params_t, err_handler_flags", offset_of!(IfaceParams, err_handler_flags)),
        ("uct_iface_params_t, features", offset_of!(IfaceParams, features)),
        ("uct_ep_params_t, iface", offset_of!(EpParams, iface)),
        ("uct_ep_params_t, dev_addr", offset_of!(EpParams, device_addr)),
        ("uct_ep_params_t, iface_addr", offset_of!(EpParams, iface_addr)),
        ("uct_iov_t, length", offset_of!(Iov, bytes)),
        ("uct_iov_t, memh", offset_of!(Iov, memh)),
        ("uct_iov_t, count", offset_of!(Iov, count)),
        ("uct_completion_t, count", offset_of!(Completion, count)),
        ("uct_completion_t, status", offset_of!(Completion, status)),
        ("uct_rkey_bundle_t, handle", offset_of!(RkeyBundle, handle)),
        ("ucs_callbackq_elem_t, arg", offset_of!(CallbackElement, arg)),
        ("uct_worker_t, progress_q", offset_of!(Worker, first)),
        ("ucs_callbackq_t, fast_elems", offset_of!(Worker, first)),
        ("uct_ep_t, iface", offset_of!(EpObject, iface)),
        ("uct_iface_t, ops", offset_of!(Iface, ops)),
        ("uct_iface_ops_t, ep_put_zcopy", offset_of!(IfaceOps, put_zcopy)),
        ("uct_iface_ops_t, ep_get_zcopy", offset_of!(IfaceOps, get_zcopy)),
        ("uct_iface_ops_t, ep_am_short", offset_of!(IfaceOps, am_short)),
        ("uct_iface_ops_t, ep_am_bcopy", offset_of!(IfaceOps, am_bcopy)),
        ("uct_iface_ops_t, iface_flush", offset_of!(IfaceOps, flush)),
        ("uct_iface_ops_t, iface_progress_enable", offset_of!(IfaceOps, progress_enable)),
    ];
    test_header::places(&all).collect()
}

#[test]
fn a_library_that_is_absent_or_another() {
    for (name, why) in
        [("libno_ucx.so.0", "libno_ucx.so.0: cannot open"), ("libc.so.6", "what was found lacks ucp_get_version")]
    {
        let sentence = Library::open(name).err().unwrap();
        for part in [why, "install UCX (Debian: libucx0)", "--mca btl_uct_library"] {
            assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
        }
    }
}

/// A library that says it is of another version, and has nothing but that.
#[test]
fn another_version_is_refused() {
    let folder = std::env::temp_dir().join(format!("btl-uct-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, library) = (folder.join("ucp.c"), folder.join("libucp.so.0"));
    let text = "void ucp_get_version(unsigned *a, unsigned *b, unsigned *c) { *a = 1; *b = 99; *c = 1; }\n";
    std::fs::write(&source, text).unwrap();
    let made = Command::new("gcc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    let sentence = Library::open(library.to_str().unwrap()).err();
    std::fs::remove_dir_all(&folder).unwrap();
    let sentence = sentence.expect("it is not the known one");
    assert!(made.success());
    for part in ["this host's UCX is 1.99.1", "knows those of 1.13 to 1.22", "--mca btl_uct_library", "btl/ofi"] {
        assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
    }
}

const NOTHING: Wishes<'static> = Wishes { transports: "", devices: "", is_named: false, one_node: false };

fn offers() -> Vec<Offer> {
    Vec::from([
        Offer::for_tests("self", "memory0", DeviceKind::Itself),
        Offer::for_tests("tcp", "lo", DeviceKind::Network),
        Offer::for_tests("tcp", "eth0", DeviceKind::Network),
        Offer::for_tests("sysv", "memory", DeviceKind::Node),
        Offer::for_tests("posix", "memory", DeviceKind::Node),
        Offer::for_tests("cma", "memory", DeviceKind::Node),
        Offer::for_tests("cuda_copy", "cuda", DeviceKind::Accelerator),
        Offer::for_tests("tcp", "eth1", DeviceKind::Network),
    ])
}

fn choice(offers: &[Offer], wishes: Wishes<'_>) -> (Option<(usize, Option<usize>)>, Vec<String>) {
    let (choice, verdicts) = choose(offers, &wishes);
    let why = |verdict| match verdict {
        Verdict::Taken => String::from("taken"),
        Verdict::Left(why) => why,
    };
    let choice = choice.map(|Choice { messages, memory }| (messages, memory));
    (choice, verdicts.into_iter().map(why).collect())
}

#[test]
fn nothing_over_sockets_or_of_this_node_is_taken_unasked() {
    let (none, why) = choice(&offers(), NOTHING);
    assert_eq!(none, None);
    assert!(why[0].contains("btl/self") && why[6].contains("accelerator"), "{why:#?}");
    assert!([1, 2, 7].iter().all(|at| why[*at].contains("btl/tcp serves the system's sockets")), "{why:#?}");
    assert!(why[3..6].iter().all(|why| why.contains("btl/sm serves processes of this node")), "{why:#?}");
    // Named, the component takes tcp.
    let (named, why) = choice(&offers(), Wishes { is_named: true, ..NOTHING });
    assert_eq!((named, why[2].as_str()), (Some((2, None)), "taken"));
    assert!(why[1].contains("this node alone") && why[7].contains("tcp over eth0 is preferred"), "{why:#?}");
}

#[test]
fn hardware_is_taken_unasked() {
    let mut offers = offers();
    for name in ["rc_verbs", "ud_verbs", "ud_mlx5", "rc_mlx5", "dc_mlx5"] {
        offers.push(Offer::for_tests(name, "mlx5_0:1", DeviceKind::Network));
    }
    for is_named in [false, true] {
        let (best, why) = choice(&offers, Wishes { is_named, ..NOTHING });
        assert_eq!(best, Some((12, None)), "of one card the best one");
        assert!(why[8].contains("in pairs") && why[11].contains("in pairs"), "{why:#?}");
    }
    let verbs = Wishes { transports: "ud_verbs", ..NOTHING };
    assert_eq!(choice(&offers, verbs).0, Some((9, None)));
    assert_eq!(choice(&offers, Wishes { transports: "rc_mlx5", ..NOTHING }).0, None, "also by name");
}

#[test]
fn users_choose() {
    let of = |transports, devices, one_node| choice(&offers(), Wishes { transports, devices, one_node, ..NOTHING }).0;
    assert_eq!(of("tcp", "", false), Some((2, None)));
    assert_eq!(of("tcp", "", true), Some((1, None)), "on one node the loopback is nearer");
    assert_eq!(of("tcp", "eth1,eth0", false), Some((7, None)), "the first name is preferred");
    assert_eq!(of("tcp", "lo", false), Some((1, None)));
    assert_eq!([of("tcp", "eth9", false), of("verbs", "", false), of("self", "", true)], [None; 3]);
    assert_eq!(of("posix", "", true), Some((4, None)));
    assert_eq!(of("posix,sysv", "", true), Some((4, None)));
    assert_eq!(of("sysv,posix", "", true), Some((3, None)));
    assert_eq!(of("cma,posix", "", true), Some((4, Some(5))), "memory by one, messages by the other");
    assert_eq!(of("cma,tcp", "", true), Some((1, None)), "what is reached by both is not the same");
    assert_eq!(of("cma", "", true), None);
    let (_, why) = choice(&offers(), Wishes { transports: "cma", ..NOTHING });
    assert!(why[5].contains("carries no messages") && why[5].contains("posix,cma"), "{why:#?}");
}

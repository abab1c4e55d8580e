//! Ports and names: the even ranks serve the odd ones; what is refused comes back as an error.

use ompi::dynamic::{Command, Port, accept, connect, lookup, spawn, unpublish};
use ompi::traits::*;
use ompi::{ErrorClass, ErrorHandler};

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    assert!(universe.parent().is_none());
    let world = universe.world();
    if world.size() > 1 {
        let serves = world.rank() % 2 == 0;
        let half = world.split(Some(i32::from(serves)), 0)?.expect("every rank is in a half");
        let service = format!("rust {}", std::process::id());
        let port = if world.rank() == 0 { Some(Port::open(&world)?) } else { None };
        // As long as a port name may be.
        let mut text = [0u8; 1024];
        if let Some(port) = &port {
            port.publish(&world, &service)?;
            assert_eq!(lookup(&world, &service)?, port.text());
            text[..port.text().len()].copy_from_slice(port.text().as_bytes());
        }
        world.process_at_rank(0).broadcast_into(&mut text)?;
        let text = String::from_utf8(text.to_vec()).expect("a text");
        for round in 0..2 {
            let there = match serves {
                true => accept(&half, 0, port.as_ref())?,
                false => connect(&half, 0, text.trim_end_matches('\0'))?,
            };
            let size = world.size();
            assert_eq!(there.remote_size(), if serves { size / 2 } else { (size + 1) / 2 });
            if half.rank() == 0 {
                there.process_at_rank(0).send(&(round + i32::from(serves)))?;
                assert_eq!(there.process_at_rank(0).receive::<i32>()?.0, round + i32::from(!serves));
            }
            there.disconnect()?;
        }
        if world.rank() == 0 {
            unpublish(&world, &service)?;
        }
    }
    let me = universe.myself();
    me.set_error_handler(ErrorHandler::Return);
    assert_eq!(lookup(&me, "never published").unwrap_err().class(), ErrorClass::Name);
    assert_eq!(connect(&me, 0, "no port").unwrap_err().class(), ErrorClass::Port);
    let refused = spawn(&me, 0, [Command::new("/nowhere/no-such-program", 1).arg("x")]).unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Spawn);
    world.barrier()
}

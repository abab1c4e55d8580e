//! An ordinary program whose rank 1 ends in the way that its argument names; the others wait for it.

use ompi::traits::*;
use ompi::{Threading, request, topology::Shared};

#[inline(never)]
fn write_to(nowhere: *mut i32) {
    // SAFETY: none; that is the mistake.
    unsafe { nowhere.write_volatile(1) };
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    if depth == u64::MAX { 0 } else { descend(depth + 1) + room[7] }
}

/// Lets go of what it holds only when the program is over.
struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        eprintln!("held until the end");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _held = Held;
    let what = std::env::args().nth(1).unwrap_or_default();
    let (universe, _) = ompi::initialize_with_threading(Threading::Multiple).expect("MPI starts once per process");
    let world = Shared::new(universe.world()).expect("MPI was started for several threads");
    if world.rank() == 1 {
        match what.as_str() {
            "error" => _ = std::fs::metadata("/no such file")?,
            "error-of-mpi" => {
                world.set_error_handler(ompi::ErrorHandler::Return);
                world.this_process().send_with_tag(&1, -5)?;
            }
            "status" => {
                drop((world, universe));
                std::process::exit(7);
            }
            "goes-on" => {}
            _ => fail(&what, &world),
        }
    }
    world.barrier()?;
    if what == "goes-on" {
        drop((world, universe));
        println!("goes on");
    }
    Ok(())
}

fn fail(what: &str, world: &Shared<ompi::topology::SimpleCommunicator>) {
    let mut never = [0; 4];
    match what {
        "null" => write_to(std::ptr::null_mut()),
        "null-in-thread" => std::thread::spawn(|| write_to(std::ptr::null_mut())).join().unwrap(),
        "abort" => std::process::abort(),
        "overflow" => println!("{}", descend(0)),
        "overflow-in-thread" => println!("{}", std::thread::spawn(|| descend(0)).join().unwrap()),
        "panic" => panic!("rank 1 has had enough"),
        "panic-in-thread" => std::thread::spawn(|| panic!("a worker has had enough")).join().unwrap(),
        "panic-in-scoped-thread" => std::thread::scope(|scope| {
            scope.spawn(|| match world.process_at_rank(0).immediate_send(request::StaticScope, &[7; 4]) {
                Ok(_) => panic!("a worker has had enough"),
                Err(error) => error,
            });
        }),
        // A receive can be cancelled; a send that waits for its receiver cannot.
        "panic-in-receive" => request::scope(|scope| {
            let receive = world.process_at_rank(0).immediate_receive_into(scope, &mut never);
            let _guard = receive.map(request::WaitGuard::from);
            panic!("while something was under way")
        }),
        "panic-in-send" => request::scope(|scope| {
            let _send = world.process_at_rank(0).immediate_synchronous_send(scope, &never);
            panic!("while something was under way")
        }),
        "panic-caught" => {
            std::panic::catch_unwind(|| panic!("only for a moment")).unwrap_err();
        }
        other => panic!("`{other}` is no way to end"),
    }
}

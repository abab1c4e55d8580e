//! End of a job in which a rank panics. std alone knows whether a thread unwinds, and why.

#[cfg(not(ompi_bare))]
pub use hosted::{end_job, note, unwinding};

#[cfg(not(ompi_bare))]
mod hosted {
    use alloc::borrow::ToOwned;
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::string::String;
    use core::cell::RefCell;
    use std::panic::{PanicHookInfo, set_hook, take_hook};
    use std::sync::{Mutex, Once, PoisonError};
    use std::thread::{self, ThreadId};

    /// From now on the text of each panic is kept, beside what the program does about it.
    pub fn note() {
        static NOTED: Once = Once::new();
        // A thread that unwinds cannot change the hook; the text is lost then, and nothing else.
        if unwinding() {
            return;
        }
        NOTED.call_once(|| {
            let earlier = take_hook();
            set_hook(Box::new(move |panic| {
                keep(text(panic));
                earlier(panic);
            }));
        });
    }

    /// Whether this thread unwinds because of a panic.
    pub fn unwinding() -> bool {
        thread::panicking()
    }

    /// Ends the job as a panic ends a program.
    #[cold]
    pub fn end_job() -> ! {
        let own = LAST.try_with(|last| last.borrow().clone()).ok().flatten().unwrap_or_else(|| "panicked".to_owned());
        let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take();
        // What another thread's panic brought about here is seldom what the user looks for.
        let before = first.filter(|(thread, _)| *thread != thread::current().id());
        let before = before.map_or(String::new(), |(_, text)| format!("\nBefore that another thread {text}"));
        ompi_core::init::abort(STATUS, &format!("{own}{before}"))
    }

    fn keep(text: String) {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| (thread::current().id(), text.clone()));
        // A thread that is about to end has no place for it any more.
        let _ = LAST.try_with(|last| *last.borrow_mut() = Some(text));
    }

    fn text(panic: &PanicHookInfo<'_>) -> String {
        let said = match (panic.payload().downcast_ref::<&str>(), panic.payload().downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text.as_str(),
            _ => "with a value that is no text",
        };
        match panic.location() {
            Some(place) => format!("panicked at {place}: {said}"),
            None => format!("panicked: {said}"),
        }
    }

    std::thread_local! {
        static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    /// Of this process, with its thread.
    static FIRST: Mutex<Option<(ThreadId, String)>> = Mutex::new(None);
    /// Rust's own for a program that panicked.
    const STATUS: i32 = 101;
}

#[cfg(ompi_bare)]
pub use bare::{end_job, note, unwinding};

/// Nothing unwinds there: a panic ends the machine's program.
#[cfg(ompi_bare)]
mod bare {
    pub fn note() {}

    pub fn unwinding() -> bool {
        false
    }

    pub fn end_job() -> ! {
        ompi_core::init::abort(101, "panicked")
    }
}

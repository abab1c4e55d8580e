//! Error codes: the standard's classes, and those that the user adds. MPI 5.0 §9.4 and §9.5.

use crate::error::{Class, Fault, Result};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use opal_core::sync::Mutex;

/// MPI_ERR_LASTCODE: what the user adds lies above.
const LAST: i32 = 0x3fff;

#[derive(Clone)]
struct Added {
    /// A code's class; none for a class.
    class: Option<i32>,
    /// None until the user sets it.
    text: Option<String>,
}

struct All {
    added: BTreeMap<i32, Added>,
    // Numbers are not used again.
    last: i32,
    // Why calls failed last, by their codes.
    reasons: BTreeMap<i32, String>,
}

// Always locked: MPI 5.0 §11.6 lets any thread add them at any thread level.
static ALL: Mutex<All> = Mutex::new(All { added: BTreeMap::new(), last: LAST, reasons: BTreeMap::new() });

/// MPI_Add_error_class.
pub fn add_class() -> i32 {
    push(None)
}

/// MPI_Add_error_code.
pub fn add_code(class: i32) -> Result<i32> {
    match class_of(class) {
        Some(itself) if itself == class => Ok(push(Some(class))),
        _ => Err(Fault::new(Class::Arg).argument("errorclass").because(format!("{class} is not an error class"))),
    }
}

/// MPI_Remove_error_class; its codes and its text must be gone (MPI 5.0 §9.5).
pub fn remove_class(class: i32) -> Result<()> {
    if ALL.lock().added.values().any(|added| added.class == Some(class)) {
        return Err(still_used("errorclass", format!("error codes of class {class} are left; remove them first")));
    }
    without_text(class, "errorclass")?;
    change(class, "errorclass", |added| added.class.is_none(), |_| ())?;
    ALL.lock().added.remove(&class);
    Ok(())
}

/// MPI_Remove_error_code; its text must be gone (MPI 5.0 §9.5).
pub fn remove_code(code: i32) -> Result<()> {
    without_text(code, "errorcode")?;
    change(code, "errorcode", |added| added.class.is_some(), |_| ())?;
    ALL.lock().added.remove(&code);
    Ok(())
}

/// MPI_Add_error_string, or MPI_Remove_error_string.
pub fn set_text(number: i32, text: Option<String>) -> Result<()> {
    change(number, "errorcode", |_| true, |added| added.text = text)
}

/// MPI_LASTUSEDCODE: the highest number in use.
pub fn last_used_code() -> i32 {
    ALL.lock().last
}

/// The error class of a code; every class is a code of itself.
pub fn class_of(code: i32) -> Option<i32> {
    if code == 0 || Class::ALL.iter().any(|class| *class as i32 == code) || code == LAST {
        return Some(code);
    }
    find(code).map(|added| added.class.unwrap_or(code))
}

/// Keeps why a call that returns this code failed; an empty reason: there is nothing to say beyond the code.
pub fn keep_reason(code: i32, reason: String) {
    let mut all = ALL.lock();
    match reason.is_empty() {
        true => drop(all.reasons.remove(&code)),
        false => drop(all.reasons.insert(code, reason)),
    }
}

/// What `MPI_Error_string` says of a code: also why the last call failed that returned it, if that was kept.
pub fn explained_string(code: i32) -> String {
    let text = error_string(code);
    match ALL.lock().reasons.get(&code) {
        Some(reason) => format!("{text}: {reason}"),
        None => text,
    }
}

/// What a code means.
pub fn error_string(code: i32) -> String {
    if let Some(class) = Class::ALL.iter().find(|class| **class as i32 == code) {
        return format!("{}: {}", class.symbol(), class.text().trim());
    }
    match (code, find(code)) {
        (0, _) => String::from("MPI_SUCCESS: no error"),
        (_, Some(added)) => added.text.unwrap_or_default(),
        (_, None) => format!("unknown error code {code}"),
    }
}

fn without_text(number: i32, argument: &'static str) -> Result<()> {
    match find(number).is_some_and(|added| added.text.is_some()) {
        true => Err(still_used(argument, format!("{number} has a text; call MPI_Remove_error_string first"))),
        false => Ok(()),
    }
}

fn still_used(argument: &'static str, why: String) -> Fault {
    Fault::new(Class::Arg).argument(argument).because(why)
}

fn push(class: Option<i32>) -> i32 {
    let mut all = ALL.lock();
    all.last += 1;
    let number = all.last;
    all.added.insert(number, Added { class, text: None });
    number
}

fn find(code: i32) -> Option<Added> {
    ALL.lock().added.get(&code).cloned()
}

fn change(
    number: i32,
    argument: &'static str,
    which: impl Fn(&Added) -> bool,
    how: impl FnOnce(&mut Added),
) -> Result<()> {
    match ALL.lock().added.get_mut(&number).filter(|added| which(added)) {
        Some(added) => {
            how(added);
            Ok(())
        }
        None => {
            let why = format!("{number} was not added by MPI_Add_error_class or MPI_Add_error_code");
            Err(Fault::new(Class::Arg).argument(argument).because(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_adds_has_class_and_text() {
        let class = add_class();
        let code = add_code(class).unwrap();
        assert!(class > LAST && code > class && last_used_code() >= code);
        assert_eq!((class_of(class), class_of(code)), (Some(class), Some(class)));
        assert_eq!(error_string(code), "");
        set_text(code, Some("the reactor is hot".into())).unwrap();
        assert_eq!(error_string(code), "the reactor is hot");
        assert_eq!(add_code(code).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(set_text(Class::Arg as i32, None).unwrap_err().get(), Class::Arg as i32);
        assert!(remove_class(code).is_err());
        assert!(remove_code(code).is_err(), "it has a text");
        set_text(code, None).unwrap();
        assert!(remove_class(class).is_err(), "it has a code");
        remove_code(code).unwrap();
        remove_class(class).unwrap();
        assert_eq!((class_of(code), class_of(class)), (None, None));
    }
}

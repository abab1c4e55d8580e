//! Info objects. MPI 5.0 §10 and §16.3.

use super::kinds::{Count, Info, Out, OutPtr, Raw, Text, array, give_text};
use crate::error::{Class, Fault};
use crate::info;
use alloc::format;
use core::ffi::{CStr, c_char, c_int};

rows! {
    /// Makes an empty info object. MPI 5.0 §10.
    fn Info_create(info: Out<usize>) [always] => {
        info.set(info::Info::of([]).into_handle()?);
        Ok(())
    }

    /// An info object that says how this process was started. MPI 5.0 §10.
    fn Info_create_env(argc: Raw<c_int>, argv: Raw<*mut *mut c_char>, info: Out<usize>) [always] => {
        let count = usize::try_from(argc).map_err(|_| Fault::new(Class::Arg).argument("argc").because("it is negative"))?;
        let known = match argv.is_null() {
            // As MPI_INFO_ENV, which finds the command line by itself.
            true => info::get(info::ENV).ok_or(Class::Intern)?.duplicate(),
            false => {
                // SAFETY: main's arguments by the standard.
                let words = unsafe { array(argv.cast_const(), count, "argv")? };
                let words = words.iter().filter(|word| !word.is_null());
                // SAFETY: not null, so a text that a NUL ends.
                let words = words.map(|word| unsafe { CStr::from_ptr(*word) }.to_string_lossy().into_owned());
                info::environment(words.collect())
            }
        };
        info.set(known.into_handle()?);
        Ok(())
    }

    /// Sets the value of a key. MPI 5.0 §10.
    fn Info_set(info: Info, key: Text, value: Text) [always] => {
        let (key, value) = (key.to_string_lossy(), value.to_string_lossy());
        info::check_key(&key)?;
        info::check_value(&value)?;
        info.set(&key, &value);
        Ok(())
    }

    /// Deletes a key. MPI 5.0 §10.
    fn Info_delete(info: Info, key: Text) [always] => {
        let key = key.to_string_lossy();
        info::check_key(&key)?;
        match info.delete(&key) {
            true => Ok(()),
            false => Err(Fault::new(Class::InfoNokey).argument("key").because(format!("there is no key {key}"))),
        }
    }

    /// The value of a key, cut to a length. MPI 5.0 §10.
    fn Info_get_string(
        info: Info, key: Text, buflen: Out<c_int>, value: Raw<*mut c_char>, flag: Out<c_int>,
    ) [always] => {
        let key = key.to_string_lossy();
        info::check_key(&key)?;
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()));
        let Some(found) = found else { return Ok(()) };
        let room = usize::try_from(buflen.get())
            .map_err(|_| Fault::new(Class::Arg).argument("buflen").because("it is negative"))?;
        if room > 0 {
            // SAFETY: the standard asks for room of `buflen` characters.
            unsafe { give_text(&found, OutPtr::new(value).map_err(|fault| fault.argument("value"))?, room, None) };
        }
        buflen.set(found.len() as c_int + 1);
        Ok(())
    }

    /// Number of keys. MPI 5.0 §10.
    fn Info_get_nkeys(info: Info, nkeys: Out<c_int>) [always] => {
        nkeys.set(info.len() as c_int);
        Ok(())
    }

    /// The key of a number, in the order of setting. MPI 5.0 §10.
    fn Info_get_nthkey(info: Info, n: Raw<c_int>, key: Out<c_char>) [always] => {
        let found = usize::try_from(n).ok().and_then(|n| info.key(n)).ok_or_else(|| {
            Fault::new(Class::Arg).argument("n").because(format!("there are {} keys, numbered from 0", info.len()))
        })?;
        // SAFETY: the standard asks for room of MPI_MAX_INFO_KEY characters.
        unsafe { give_text(&found, key, info::MAX_KEY, None) };
        Ok(())
    }

    /// Copies an info object. MPI 5.0 §10.
    fn Info_dup(info: Info, newinfo: Out<usize>) [always] => {
        newinfo.set(info.duplicate().into_handle()?);
        Ok(())
    }

    /// Frees an info object. MPI 5.0 §10.
    fn Info_free(info: Out<usize>) [always] => {
        if !info::remove(info.get()) {
            let why = format!("{:#x} is not a valid info handle; it was freed or never created", info.get());
            return Err(Fault::new(Class::Info).argument("info").because(why));
        }
        info.set(info::NULL);
        Ok(())
    }

    /// The value of a key. Deprecated. MPI 5.0 §16.3.
    fn Info_get(info: Info, key: Text, valuelen: Count, value: Out<c_char>, flag: Out<c_int>) [always] => {
        let key = key.to_string_lossy();
        info::check_key(&key)?;
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()));
        let Some(found) = found else { return Ok(()) };
        // SAFETY: the standard asks for room of `valuelen` characters and the terminating NUL.
        unsafe { give_text(&found, value, valuelen + 1, None) };
        Ok(())
    }

    /// The length of the value of a key. Deprecated. MPI 5.0 §16.3.
    fn Info_get_valuelen(info: Info, key: Text, valuelen: Out<c_int>, flag: Out<c_int>) [always] => {
        let key = key.to_string_lossy();
        info::check_key(&key)?;
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()));
        if let Some(found) = found {
            valuelen.set(found.len() as c_int);
        }
        Ok(())
    }
}

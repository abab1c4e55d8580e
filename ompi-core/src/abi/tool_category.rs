//! The tool interface: categories. MPI 5.0 §15.3.9.

use super::kinds::{Out, Raw, Text, array_mut};
use super::tool_text::{give, put};
use crate::error::{Class, Fault, Result};
use crate::tool::{category, pvar};
use core::ffi::{c_char, c_int};

rows! {
    /// Number of categories. MPI 5.0 §15.3.9.
    fn T_category_get_num(num_cat: Out<c_int>) [tool] => {
        num_cat.set(category::all().len() as c_int);
        Ok(())
    }

    /// What a category is. MPI 5.0 §15.3.9.
    fn T_category_get_info(
        cat_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, num_cvars: Raw<*mut c_int>, num_pvars: Raw<*mut c_int>,
        num_categories: Raw<*mut c_int>,
    ) [tool] => {
        let found = category::get(cat_index)?;
        // SAFETY: null, or places by the standard; here and below.
        unsafe { give(&found.name, name, name_len)? };
        // SAFETY: see above.
        unsafe { give(found.description, desc, desc_len)? };
        // SAFETY: see above.
        unsafe { put(num_cvars, found.cvars.len() as c_int) };
        // SAFETY: see above.
        unsafe { put(num_pvars, found.pvars().len() as c_int) };
        // SAFETY: see above.
        unsafe { put(num_categories, found.categories.len() as c_int) };
        Ok(())
    }

    /// Number of event types in a category. MPI 5.0 §15.3.9.
    fn T_category_get_num_events(cat_index: Raw<c_int>, num_events: Out<c_int>) [tool] => {
        num_events.set(category::get(cat_index)?.events.len() as c_int);
        Ok(())
    }

    /// The index of a category by name. MPI 5.0 §15.3.9.
    fn T_category_get_index(name: Text, cat_index: Out<c_int>) [tool] => {
        cat_index.set(category::index(&name.to_string_lossy())?);
        Ok(())
    }

    /// The control variables of a category. MPI 5.0 §15.3.9.
    fn T_category_get_cvars(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => {
        // SAFETY: room for `len` elements by the standard.
        unsafe { list(&category::get(cat_index)?.cvars, len, indices) }
    }

    /// The performance variables of a category. MPI 5.0 §15.3.9.
    fn T_category_get_pvars(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => {
        // SAFETY: room for `len` elements by the standard.
        unsafe { list(&category::get(cat_index)?.pvars(), len, indices) }
    }

    /// The event types of a category. MPI 5.0 §15.3.9.
    fn T_category_get_events(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => {
        // SAFETY: room for `len` elements by the standard.
        unsafe { list(&category::get(cat_index)?.events, len, indices) }
    }

    /// The categories within a category. MPI 5.0 §15.3.9.
    fn T_category_get_categories(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => {
        // SAFETY: room for `len` elements by the standard.
        unsafe { list(&category::get(cat_index)?.categories, len, indices) }
    }

    /// A number that grows when something is added to a category: performance variables of algorithms, three each. MPI 5.0 §15.3.9.
    fn T_category_changed(update_number: Out<c_int>) [tool] => {
        update_number.set(pvar::added() as c_int);
        Ok(())
    }
}

/// Writes as many numbers as there is room for.
///
/// # Safety
/// Room for `len` elements.
unsafe fn list(all: &[i32], len: c_int, at: *mut c_int) -> Result<()> {
    let wrong = || Fault::new(Class::ToolInvalid).argument("len").because("it is negative");
    let room = usize::try_from(len).map_err(|_| wrong())?;
    // SAFETY: the caller's promise.
    let places = unsafe { array_mut(at, room, "indices")? };
    let places = &mut places[..room.min(all.len())];
    places.copy_from_slice(&all[..places.len()]);
    Ok(())
}

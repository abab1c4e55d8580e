//! `#[derive(Equivalence)]`: the documentation stands at its re-export in crate `ompi`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Index, Member, parse_macro_input};

/// Makes a struct a type that MPI can send: one element of a datatype that names its fields and leaves out its padding.
#[proc_macro_derive(Equivalence)]
pub fn equivalence(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream, Error> {
    let Data::Struct(data) = &input.data else {
        let why =
            "only a struct can be sent: most bytes are no value of an enumeration, and a union says not which it is";
        return Err(Error::new_spanned(&input.ident, why));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "a generic struct has no one datatype; derive it for a concrete one",
        ));
    }
    let name = &input.ident;
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = data.fields.iter().enumerate().map(|(place, field)| member(place, field)).collect();
    Ok(quote! {
        const _: () = {
            static DATATYPE: ::ompi::datatype::Lasting = ::ompi::datatype::Lasting::new();

            // SAFETY: each field is Equivalence, so that any bytes in it and zero are a value; the datatype names the
            // fields at their offsets, and its extent is the size of the struct. It is made once and stays.
            #[allow(unsafe_code)]
            unsafe impl ::ompi::Equivalence for #name {
                const IS_DENSE: bool = {
                    let fields: &[(usize, bool)] = &[#((
                        ::core::mem::size_of::<#types>(),
                        <#types as ::ompi::Equivalence>::IS_DENSE,
                    )),*];
                    ::ompi::datatype::is_dense(::core::mem::size_of::<Self>(), fields)
                };

                #[inline]
                fn equivalent_datatype() -> ::ompi::datatype::DatatypeRef<'static> {
                    DATATYPE.get(::core::stringify!(#name), ::core::mem::size_of::<Self>(), || {
                        ::ompi::datatype::fields([
                            #(::ompi::datatype::Field::of::<#types>(::core::mem::offset_of!(Self, #members))),*
                        ])
                    })
                }
            }
        };
    })
}

fn member(place: usize, field: &syn::Field) -> Member {
    match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(place)),
    }
}

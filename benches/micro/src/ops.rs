//! Reductions: the kernels of each component of framework op, in the caches and outside them.
#![allow(unsafe_code)] // a kernel cannot be called otherwise

use core::hint::black_box;
use criterion::{Criterion, Throughput};
use ompi_core::framework::op::{Component, Operation};
use opal_core::datatype::{Primitive, Scalar};

/// All of them that this processor runs.
pub fn all(criterion: &mut Criterion) {
    let every: [(&str, &dyn Component); 3] =
        [("scalar", &op_scalar::COMPONENT), ("avx2", &op_avx2::COMPONENT), ("avx512", &op_avx512::COMPONENT)];
    let able: Vec<_> = every.into_iter().filter(|(_, component)| component.open().is_ok()).collect();
    let mut group = criterion.benchmark_group("op");
    let types = [
        ("sum of int", Operation::Sum, Primitive::new(Scalar::Signed, 4)),
        ("sum of double", Operation::Sum, Primitive::new(Scalar::Float, 8)),
        ("max of double", Operation::Max, Primitive::new(Scalar::Float, 8)),
        ("product of double complex", Operation::Prod, Primitive::new(Scalar::Complex, 16)),
    ];
    let (input, mut inout) = (vec![0x3fu8; 4 << 20], vec![0x3fu8; 4 << 20]);
    for (name, operation, primitive) in types {
        for bytes in [64usize, 4096, 262_144, 4 << 20] {
            group.throughput(Throughput::Bytes(bytes as u64));
            for (who, component) in &able {
                let kernel = component.kernel(operation, primitive).expect("all have these");
                group.bench_function(format!("{name}, {who}, {bytes} B"), |bencher| {
                    bencher.iter(|| {
                        let (from, to) = (black_box(input.as_ptr()), black_box(inout.as_mut_ptr()));
                        // SAFETY: both buffers hold the largest size.
                        unsafe { kernel(from, to, to, bytes / usize::from(primitive.bytes)) };
                    });
                });
            }
        }
    }
    group.finish();
}

//! What ob1 asks of a BTL.

use crate::wire;
use alloc::format;
use alloc::string::String;
use ompi_core::framework::pml::OOB_BYTES;
use opal_core::framework::btl::Caps;

/// Bytes of [`Caps::send_bytes`]: every control message and the shortest out-of-band message is one send.
pub const SEND_BYTES: usize = if OOB_BYTES > wire::CONTROL_BYTES { OOB_BYTES } else { wire::CONTROL_BYTES };

/// What a transport lacks to carry all kinds of messages, for a sentence; `None`: nothing.
pub fn lack(caps: &Caps) -> Option<String> {
    let Caps { immediate_bits, send_bytes, .. } = *caps;
    if immediate_bits < wire::IMMEDIATE_BITS {
        return Some(format!(
            "carries {immediate_bits} bits of immediate (immediate_bits), but {} are needed",
            wire::IMMEDIATE_BITS
        ));
    }
    if send_bytes < SEND_BYTES {
        return Some(format!("sends at most {send_bytes} bytes (send_bytes), but {SEND_BYTES} are needed"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let enough = Caps {
            immediate_bits: 54,
            inline_bytes: 0,
            eager_bytes: 0,
            send_bytes: 48,
            latency_ns: 0,
            bandwidth_mbps: 0,
            exclusivity: 0,
            remote: opal_core::framework::btl::RemoteCaps::NONE,
            wire_id: 0,
        };
        assert_eq!(lack(&enough), None);
        let bits = lack(&Caps { immediate_bits: 53, ..enough }).unwrap();
        assert!(bits.contains("53 bits") && bits.contains("54"), "{bits}");
        let bytes = lack(&Caps { send_bytes: 47, ..enough }).unwrap();
        assert!(bytes.contains("47 bytes") && bytes.contains("48"), "{bytes}");
    }
}

//! The crate's driver, and the buffers that it shares with the card.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use hw_x86_64::dma::Pages;
use hw_x86_64::memory::PAGE;
use hw_x86_64::paging;
use hw_x86_64::pci::Device;
use virtio_drivers::device::net::VirtIONetRaw;
use virtio_drivers::transport::Transport;
use virtio_drivers::transport::pci::PciTransport;
use virtio_drivers::transport::pci::bus::{ConfigurationAccess, DeviceFunction, PciRoot};
use virtio_drivers::{BufferDirection, Hal, PhysAddr};

/// The card with its two queues.
pub struct Card {
    driver: VirtIONetRaw<Machine, PciTransport, BUFFERS>,
    status: Status,
    header_bytes: usize,
}

impl Card {
    /// Resets it and sets it up. `Err` with half a sentence.
    pub fn new(device: Device) -> Result<Card, &'static str> {
        device.enable_bus_master();
        let (bus, slot) = device.place();
        let place = DeviceFunction { bus, device: slot, function: 0 };
        let transport = |why| PciTransport::new::<Machine, _>(&mut PciRoot::new(Ports), place).map_err(|_| why);
        let status = Status(transport("its card does not speak virtio 1")?);
        let mut driver = VirtIONetRaw::new(transport("its card does not speak virtio 1")?)
            .map_err(|_| "its card refuses what this driver wants")?;
        driver.disable_interrupts();
        let header_bytes = driver.fill_buffer_header(&mut [0; HEADER_MAX]).unwrap_or(HEADER_MAX);
        Ok(Card { driver, status, header_bytes })
    }

    /// Its address.
    pub fn mac(&self) -> [u8; 6] {
        self.driver.mac_address()
    }

    /// Bytes before each frame in its buffer; all zeros say that there is nothing to say.
    pub fn header_bytes(&self) -> usize {
        self.header_bytes
    }

    /// The status field of its configuration (virtio 1.2, 5.1.4).
    pub fn is_link_up(&self) -> bool {
        self.status.0.read_config_space::<u16>(STATUS).is_ok_and(|status| status & 1 != 0)
    }

    /// Queues a buffer to receive into; a token that names it.
    pub fn begin_receive(&mut self, buffers: &mut Buffers, buffer: u16) -> Option<u16> {
        // SAFETY: nobody looks at the buffer until `end_receive`, as the module's tables say.
        unsafe { self.driver.receive_begin(buffers.bytes_mut(buffer)) }.ok()
    }

    /// The next buffer that was received into.
    pub fn received(&self) -> Option<u16> {
        self.driver.poll_receive()
    }

    /// Takes it back: the frame in it, or `None` if the card says what cannot be.
    pub fn end_receive(&mut self, token: u16, buffers: &mut Buffers, buffer: u16) -> Option<&'static [u8]> {
        let whole = buffers.bytes_mut(buffer);
        // SAFETY: the buffer that `begin_receive` queued under this token.
        let (before, bytes) = unsafe { self.driver.receive_complete(token, whole) }.ok()?;
        let end = before.checked_add(bytes).filter(|end| *end <= BUFFER_BYTES)?;
        // SAFETY: within the buffer, which lives as long as the machine; nobody writes to it until it is queued again.
        Some(unsafe { core::slice::from_raw_parts(whole.as_ptr().wrapping_add(before), end - before) })
    }

    /// Queues so many bytes of a buffer to be sent; a token that names it.
    pub fn begin_send(&mut self, buffers: &Buffers, buffer: u16, bytes: usize) -> Option<u16> {
        // SAFETY: nobody writes to the buffer until `end_send`, as the module's tables say.
        let token = unsafe { self.driver.transmit_begin(&buffers.bytes(buffer)[..bytes]) }.ok()?;
        Some(token)
    }

    /// The next buffer that was sent.
    pub fn sent(&mut self) -> Option<u16> {
        self.driver.poll_transmit()
    }

    /// Takes it back.
    pub fn end_send(&mut self, token: u16, buffers: &Buffers, buffer: u16) {
        // SAFETY: the buffer that `begin_send` queued under this token.
        // The driver unshares by address alone, so a part of the buffer stands for what was queued.
        let _ = unsafe { self.driver.transmit_complete(token, buffers.bytes(buffer)) };
    }
}

/// Buffers of the same length in memory that the card sees.
pub struct Buffers(Pages);

impl Buffers {
    /// So many.
    pub fn new(count: usize) -> Option<Buffers> {
        Pages::new(count * BUFFER_BYTES).map(Buffers)
    }

    /// One of them.
    pub fn bytes(&self, buffer: u16) -> &[u8] {
        let place = self.place(buffer);
        // SAFETY: within the memory; who holds the card's lock decides who writes to it.
        unsafe { core::slice::from_raw_parts(place, BUFFER_BYTES) }
    }

    /// One of them, to be written.
    pub fn bytes_mut(&mut self, buffer: u16) -> &mut [u8] {
        let place = self.place(buffer);
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(place, BUFFER_BYTES) }
    }

    fn place(&self, buffer: u16) -> *mut u8 {
        let offset = usize::from(buffer) * BUFFER_BYTES;
        assert!(offset + BUFFER_BYTES <= self.0.bytes, "there is no buffer {buffer}");
        self.0.base.as_ptr().wrapping_add(offset)
    }
}

/// What the crate asks of a machine.
struct Machine;

// SAFETY: memory is zeroed, of whole pages and never given back; the window shows all of physical memory that it names.
unsafe impl Hal for Machine {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        match Pages::new(pages * PAGE as usize) {
            Some(memory) => (memory.physical, memory.base),
            // Address 0 says that there is none.
            None => (0, NonNull::dangling()),
        }
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        // The card may know it as long as the machine runs.
        0
    }

    unsafe fn mmio_phys_to_virt(physical: PhysAddr, bytes: usize) -> NonNull<u8> {
        let end = physical.checked_add(bytes as u64);
        assert!(end.is_some_and(|end| end <= paging::window_bytes()), "the card's registers lie beyond the window");
        NonNull::new(paging::in_window(physical)).expect("the window does not begin at 0")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        paging::physical(buffer.as_ptr().cast()).expect("a buffer of this rank's memory")
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}

/// Configuration space by the ports.
struct Ports;

impl ConfigurationAccess for Ports {
    fn read_word(&self, place: DeviceFunction, register: u8) -> u32 {
        Device::at(place.bus, place.device).read(register)
    }

    fn write_word(&mut self, place: DeviceFunction, register: u8, value: u32) {
        Device::at(place.bus, place.device).write(register, value);
    }

    unsafe fn unsafe_clone(&self) -> Ports {
        Ports
    }
}

/// The registers once more, to read the card's status, which the driver keeps to itself.
struct Status(PciTransport);

/// Buffers of each queue: as many as it has places.
pub const BUFFERS: usize = 64;
/// Of a buffer: a frame of 1514 bytes with what stands before it.
const BUFFER_BYTES: usize = 2048;
/// The longer of the two headers.
const HEADER_MAX: usize = 12;
/// Where the status lies behind the address.
const STATUS: usize = 6;

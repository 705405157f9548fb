// A slot is announced before its value is stored, both by atomic operations, which are functions without optimisation.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

struct Slot {
    value: AtomicU32,
    full: AtomicBool,
}

fn publish(slot: &Slot, value: u32) {
    slot.full.store(true, Ordering::SeqCst);
    slot.value.store(value, Ordering::SeqCst);
}

fn take(slot: &Slot) -> Option<u32> {
    if slot.full.load(Ordering::SeqCst) {
        Some(slot.value.load(Ordering::SeqCst))
    } else {
        None
    }
}

fn main() {
    let slot = Arc::new(Slot { value: AtomicU32::new(0), full: AtomicBool::new(false) });
    let other = slot.clone();
    let publisher = thread::spawn(move || publish(&other, 42));
    if let Some(value) = take(&slot) {
        assert_eq!(value, 42);
    }
    publisher.join().unwrap();
}

// A ticket is read and taken by two atomic operations that should be one.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

fn main() {
    let tickets = Arc::new(AtomicUsize::new(0));
    let buyers: Vec<_> = (0..2)
        .map(|_| {
            let tickets = tickets.clone();
            thread::spawn(move || {
                let next = tickets.load(Ordering::SeqCst);
                tickets.store(next + 1, Ordering::SeqCst);
            })
        })
        .collect();

    for buyer in buyers {
        buyer.join().unwrap();
    }
    assert_eq!(tickets.load(Ordering::SeqCst), 2, "two buyers, one ticket");
}

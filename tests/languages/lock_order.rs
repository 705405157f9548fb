// Two threads take two std::sync::Mutex in opposite orders.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let from = Arc::new(Mutex::new(10));
    let to = Arc::new(Mutex::new(0));
    let (other_from, other_to) = (from.clone(), to.clone());

    let back = thread::spawn(move || {
        let mut to = other_to.lock().unwrap();
        let mut from = other_from.lock().unwrap();
        *to -= 1;
        *from += 1;
    });
    {
        let mut from = from.lock().unwrap();
        let mut to = to.lock().unwrap();
        *from -= 1;
        *to += 1;
    }
    back.join().unwrap();
}

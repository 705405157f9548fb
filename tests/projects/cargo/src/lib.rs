//! Two threads add to one number; in the second test an update can get lost.
#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    fn run(add: fn(&Mutex<u32>)) -> u32 {
        let total = Arc::new(Mutex::new(0));
        let theirs = total.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&total);
        other.join().unwrap();
        let sum = *total.lock().unwrap();
        sum
    }

    #[test]
    fn locked() {
        assert_eq!(run(|total| *total.lock().unwrap() += 1), 2);
    }

    #[test]
    fn unlocked() {
        let add = |total: &Mutex<u32>| {
            let now = *total.lock().unwrap();
            *total.lock().unwrap() = now + 1;
        };
        assert_eq!(run(add), 2);
    }
}

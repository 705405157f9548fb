# Three threads add to a number under a lock.
import threading

lock = threading.Lock()
total = 0


def add(n):
    global total
    for _ in range(n):
        with lock:
            total += 1


threads = [threading.Thread(target=add, args=(5,)) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert total == 15, total

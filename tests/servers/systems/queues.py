# Two threads make numbers, two others take them from a queue with room for two, one adds up what they say.
import queue
import threading

numbers, squares = queue.Queue(maxsize=2), queue.Queue()


def make(first):
    for n in range(first, 6, 2):
        numbers.put(n)


def take():
    while (n := numbers.get()) is not None:
        squares.put(n * n)


makers = [threading.Thread(target=make, args=(i,)) for i in range(2)]
takers = [threading.Thread(target=take) for _ in range(2)]
for t in makers + takers:
    t.start()
for t in makers:
    t.join()
for _ in takers:
    numbers.put(None)
for t in takers:
    t.join()
assert sum(squares.get_nowait() for _ in range(6)) == 55

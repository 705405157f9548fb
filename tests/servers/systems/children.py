# Two threads start a program each, write to it and read what it answers; a third program has a time limit.
import subprocess
import threading

answers = {}


def ask(n):
    done = subprocess.run(["sort", "-n"], input="3\n1\n2\n", text=True, capture_output=True, check=True)
    answers[n] = done.stdout


threads = [threading.Thread(target=ask, args=(n,)) for n in range(2)]
for t in threads:
    t.start()
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
out, _ = child.communicate(b"hello", timeout=3600)
for t in threads:
    t.join()
assert out == b"hello" and answers == {0: "1\n2\n3\n", 1: "1\n2\n3\n"}, answers

"""A shop with an interface by HTTP: a thread for each client, a cache before the shelves, one thread that writes the log."""
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Shelves:
    """What is there, by article."""

    def __init__(self, **pieces):
        self._lock = threading.Lock()
        self._pieces = dict(pieces)

    def get(self, article):
        with self._lock:
            return self._pieces.get(article, 0)

    def put(self, article, number):
        with self._lock:
            self._pieces[article] = number

    def total(self):
        with self._lock:
            return sum(self._pieces.values())


class Ledger:
    """Who bought what, in the order of sales."""

    def __init__(self):
        self._lock = threading.Lock()
        self._sales = []

    def add(self, buyer, article, number):
        with self._lock:
            self._sales.append((buyer, article, number))
            return len(self._sales)

    def lines(self):
        with self._lock:
            return [f"{buyer} {number} {article}" for buyer, article, number in self._sales]


class Audit(threading.Thread):
    """Writes what others put into its queue."""

    def __init__(self):
        super().__init__(name="audit", daemon=True)
        self._lines = queue.Queue()

    def log(self, line):
        self._lines.put(line)

    def run(self):
        while True:
            print(self._lines.get(), file=sys.stderr)


class Shop:
    def __init__(self):
        self.shelves = Shelves(tea=8, mugs=2)
        self.ledger = Ledger()
        self.audit = Audit()

    def sell(self, buyer, article, number):
        """The number of the sale, or 0 when too few are left."""
        there = self.shelves.get(article)
        if there < number:
            self.audit.log(f"refused {article} to {buyer}")
            return 0
        self.shelves.put(article, there - number)
        self.audit.log(f"sold {number} {article} to {buyer}")
        return self.ledger.add(buyer, article, number)

    def deliver(self, article, number):
        self.shelves.put(article, self.shelves.get(article) + number)


class Handler(BaseHTTPRequestHandler):
    shop = None

    def log_message(self, *args):
        pass

    def answer(self, text, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def query(self):
        url = urlsplit(self.path)
        values = {name: value[0] for name, value in parse_qs(url.query).items()}
        return url.path, values.get("article", "tea"), values.get("buyer", "somebody"), int(values.get("number", 1))

    def do_GET(self):
        path = self.query()[0]
        if path == "/total":
            self.answer(f"{self.shop.shelves.total()}\n")
        elif path == "/sales":
            self.answer("".join(line + "\n" for line in self.shop.ledger.lines()))
        else:
            self.answer("what?\n", 404)

    def do_POST(self):
        path, article, buyer, number = self.query()
        if path == "/buy":
            sold = self.shop.sell(buyer, article, number)
            self.answer(f"sold {article}\n" if sold else f"no {article}\n")
        elif path == "/deliver":
            self.shop.deliver(article, number)
            self.answer("thanks\n")
        else:
            self.answer("what?\n", 404)


def main():
    shop = Handler.shop = Shop()
    server = ThreadingHTTPServer(("127.0.0.1", 8080), Handler)
    server.daemon_threads = True
    shop.audit.start()
    print("listening on", server.server_address, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

// A shop with an interface by HTTP: a thread for each client, and one that writes the log.
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

/// What lies in the shelves, by article.
struct Inventory {
    pieces: Mutex<BTreeMap<String, i64>>,
}

impl Inventory {
    fn new(first: &[(&str, i64)]) -> Self {
        let pieces = first.iter().map(|(article, number)| (article.to_string(), *number)).collect();

        Inventory { pieces: Mutex::new(pieces) }
    }

    fn available(&self, article: &str) -> i64 {
        *self.pieces.lock().unwrap().get(article).unwrap_or(&0)
    }

    fn take(&self, article: &str, number: i64) {
        if let Some(pieces) = self.pieces.lock().unwrap().get_mut(article) {
            *pieces -= number;
        }
    }

    fn deliver(&self, article: &str, number: i64) {
        *self.pieces.lock().unwrap().entry(article.to_string()).or_insert(0) += number;
    }

    fn total(&self) -> i64 {
        self.pieces.lock().unwrap().values().sum()
    }
}

#[derive(Clone)]
struct Sale {
    buyer: String,
    article: String,
    number: i64,
}

/// Who bought what, in the order of sales.
#[derive(Default)]
struct Ledger {
    sales: Mutex<Vec<Sale>>,
}

impl Ledger {
    fn add(&self, sale: Sale) -> usize {
        let mut sales = self.sales.lock().unwrap();

        sales.push(sale);
        sales.len()
    }

    fn print(&self) -> String {
        self.sales
            .lock()
            .unwrap()
            .iter()
            .map(|sale| format!("{} {} {}\n", sale.buyer, sale.number, sale.article))
            .collect()
    }
}

struct Shop {
    inventory: Inventory,
    ledger: Ledger,
    audit: Mutex<Sender<String>>,
}

struct Request {
    path: String,
    query: BTreeMap<String, String>,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Request> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next()?.ok()?;
        let target = first.split(' ').nth(1)?.to_string();

        for line in lines {
            if line.ok()?.is_empty() {
                break;
            }
        }
        let (path, rest) = target.split_once('?').unwrap_or((&target, ""));
        let query = rest
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        Some(Request { path: path.to_string(), query })
    }

    fn text(&self, name: &str, otherwise: &str) -> String {
        self.query.get(name).cloned().unwrap_or_else(|| otherwise.to_string())
    }

    fn number(&self) -> i64 {
        self.text("number", "1").parse().unwrap_or(1)
    }
}

impl Shop {
    fn log(&self, line: String) {
        let _ = self.audit.lock().unwrap().send(line);
    }

    fn sell(&self, buyer: &str, article: &str, number: i64) -> bool {
        if self.inventory.available(article) < number {
            self.log(format!("refused {} to {}", article, buyer));
            return false;
        }
        self.inventory.take(article, number);
        let nr = self.ledger.add(Sale { buyer: buyer.to_string(), article: article.to_string(), number });
        self.log(format!("sale {}: {} {} to {}", nr, number, article, buyer));
        true
    }

    fn answer(&self, request: &Request) -> String {
        let article = request.text("article", "mug");

        match request.path.as_str() {
            "/buy" if self.sell(&request.text("buyer", "somebody"), &article, request.number()) => {
                format!("sold {}\n", article)
            }
            "/buy" => format!("no {}\n", article),
            "/deliver" => {
                self.inventory.deliver(&article, request.number());
                "thanks\n".to_string()
            }
            "/total" => format!("{}\n", self.inventory.total()),
            "/sales" => self.ledger.print(),
            _ => "what?\n".to_string(),
        }
    }

    fn serve(&self, mut stream: TcpStream) {
        if let Some(request) = Request::read(&stream) {
            let body = self.answer(&request);
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());

            if stream.write_all((head + &body).as_bytes()).is_err() {
                self.log("a client has gone".to_string());
            }
        }
    }
}

fn write_log(lines: Receiver<String>) {
    for line in lines {
        eprintln!("{}", line);
    }
}

fn main() -> std::io::Result<()> {
    let (audit, lines) = channel();
    let shop = Arc::new(Shop {
        inventory: Inventory::new(&[("mug", 1)]),
        ledger: Ledger::default(),
        audit: Mutex::new(audit),
    });
    let listener = TcpListener::bind("127.0.0.1:8080")?;

    thread::spawn(|| write_log(lines));
    println!("listening on {}", listener.local_addr()?);
    for stream in listener.incoming() {
        let shop = Arc::clone(&shop);
        let stream = stream?;

        thread::spawn(move || shop.serve(stream));
    }
    Ok(())
}

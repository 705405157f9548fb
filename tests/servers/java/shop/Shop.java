package shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A shop with an interface by HTTP. */
public class Shop {
	private final Inventory inventory = new Inventory();
	private final Ledger ledger = new Ledger();
	private final Audit audit = new Audit();
	private final Clerk clerk = new Clerk(inventory, ledger, audit);

	interface Handler {
		String answer(Map<String, String> query);
	}

	private static Map<String, String> parse(String query) {
		Map<String, String> parameters = new HashMap<>();

		if (query == null)
			return parameters;
		for (String pair : query.split("&")) {
			int at = pair.indexOf('=');

			if (at > 0)
				parameters.put(pair.substring(0, at), pair.substring(at + 1));
		}
		return parameters;
	}

	private static void reply(HttpExchange exchange, int status, String text) throws IOException {
		byte[] body = text.getBytes(StandardCharsets.UTF_8);

		exchange.sendResponseHeaders(status, body.length);
		try (OutputStream out = exchange.getResponseBody()) {
			out.write(body);
		}
	}

	private static void serve(HttpExchange exchange, Handler handler) throws IOException {
		String text;
		int status = 200;

		try {
			text = handler.answer(parse(exchange.getRequestURI().getQuery()));
		} catch (NumberFormatException e) {
			text = "no number: " + e.getMessage() + "\n";
			status = 400;
		}
		reply(exchange, status, text);
	}

	private String buy(Map<String, String> query) {
		String article = query.get("article"), buyer = query.getOrDefault("buyer", "somebody");
		int sale = clerk.sell(buyer, article, Integer.parseInt(query.getOrDefault("number", "1")));

		return sale > 0 ? "sold " + article + "\n" : "no " + article + "\n";
	}

	private String deliver(Map<String, String> query) {
		clerk.deliver(query.get("article"), Integer.parseInt(query.get("number")));
		return "thanks\n";
	}

	public static void main(String[] args) throws IOException {
		Shop shop = new Shop();
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8080), 16);
		ExecutorService workers = Executors.newFixedThreadPool(2);
		Thread log = new Thread(shop.audit, "audit");

		shop.inventory.put("tea", 8);
		shop.inventory.put("mugs", 2);
		log.setDaemon(true);
		log.start();
		server.createContext("/buy", exchange -> serve(exchange, shop::buy));
		server.createContext("/deliver", exchange -> serve(exchange, shop::deliver));
		server.createContext("/total", exchange -> serve(exchange, query -> shop.inventory.total() + "\n"));
		server.createContext("/sales", exchange -> serve(exchange, query -> shop.ledger.print()));
		server.setExecutor(workers);
		server.start();
		System.out.println("listening on " + server.getAddress());
		System.out.flush();
	}
}

// A shop with several houses and an interface by HTTP: a thread accepts, two workers answer, one writes the log. Goods can be
// moved from one house to another while others buy.
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace shop {

template <typename T>
class queue {
public:
	void push(T what)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			all.push_back(std::move(what));
		}
		filled.notify_one();
	}

	T pop()
	{
		std::unique_lock<std::mutex> guard(lock);

		filled.wait(guard, [this] { return !all.empty(); });
		T what = std::move(all.front());
		all.pop_front();
		return what;
	}

private:
	std::mutex lock;
	std::condition_variable filled;
	std::deque<T> all;
};

class house {
public:
	explicit house(int pieces) : pieces(pieces) {}

	bool take(int number)
	{
		std::lock_guard<std::mutex> guard(lock);

		if (pieces < number)
			return false;
		pieces -= number;
		return true;
	}

	bool move_to(house &other, int number)
	{
		std::lock_guard<std::mutex> guard(lock);
		std::lock_guard<std::mutex> other_guard(other.lock);

		if (pieces < number)
			return false;
		pieces -= number;
		other.pieces += number;
		return true;
	}

	int count() const
	{
		std::lock_guard<std::mutex> guard(lock);

		return pieces;
	}

private:
	mutable std::mutex lock;
	int pieces;
};

struct request {
	std::string path;
	std::map<std::string, std::string> query;

	std::string value(const std::string &name, const std::string &otherwise) const
	{
		auto it = query.find(name);

		return it == query.end() ? otherwise : it->second;
	}
};

static request parse(const std::string &head)
{
	std::istringstream words(head);
	std::string method, target, pair;
	request r;

	words >> method >> target;
	std::size_t at = target.find('?');
	r.path = target.substr(0, at);
	if (at == std::string::npos)
		return r;
	std::istringstream pairs(target.substr(at + 1));
	while (std::getline(pairs, pair, '&')) {
		std::size_t equals = pair.find('=');

		if (equals != std::string::npos)
			r.query[pair.substr(0, equals)] = pair.substr(equals + 1);
	}
	return r;
}

class server {
public:
	server()
	{
		houses["north"] = std::make_unique<house>(6);
		houses["south"] = std::make_unique<house>(4);
	}

	void run()
	{
		int fd = listen_on(8080);

		threads.emplace_back(&server::write_log, this);
		for (int i = 0; i < 2; i++)
			threads.emplace_back(&server::work, this);
		std::cout << "listening on 8080" << std::endl;
		for (;;) {
			int client = accept(fd, nullptr, nullptr);

			if (client >= 0)
				clients.push(client);
		}
	}

private:
	static int listen_on(uint16_t port)
	{
		int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
		sockaddr_in at = {};

		at.sin_family = AF_INET;
		at.sin_port = htons(port);
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)) || listen(fd, 16)) {
			std::perror("listen");
			std::exit(2);
		}
		return fd;
	}

	void write_log()
	{
		for (;;)
			std::cerr << audit.pop() << std::endl;
	}

	void work()
	{
		for (;;) {
			int client = clients.pop();

			serve(client);
			close(client);
		}
	}

	void serve(int client)
	{
		std::string head;
		char buffer[1024];
		ssize_t n;

		while (head.find("\r\n\r\n") == std::string::npos && (n = read(client, buffer, sizeof(buffer))) > 0)
			head.append(buffer, n);
		std::string body = answer(parse(head));
		std::string reply = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
				    std::to_string(body.size()) + "\r\n\r\n" + body;
		if (write(client, reply.data(), reply.size()) < 0)
			audit.push("a client has gone");
	}

	std::string answer(const request &r)
	{
		int number = std::atoi(r.value("number", "1").c_str());

		if (r.path == "/total") {
			int sum = 0;

			for (auto &h : houses)
				sum += h.second->count();
			return std::to_string(sum) + "\n";
		}
		if (r.path == "/buy") {
			bool sold = find(r.value("house", "north")).take(number);

			audit.push((sold ? "sold to " : "refused ") + r.value("buyer", "somebody"));
			return sold ? "sold\n" : "none left\n";
		}
		if (r.path == "/move") {
			bool moved = find(r.value("from", "north")).move_to(find(r.value("to", "south")), number);

			audit.push(moved ? "moved" : "not moved");
			return moved ? "moved\n" : "none left\n";
		}
		return "what?\n";
	}

	house &find(const std::string &name)
	{
		auto it = houses.find(name);

		return it == houses.end() ? *houses["north"] : *it->second;
	}

	std::map<std::string, std::unique_ptr<house>> houses;
	queue<int> clients;
	queue<std::string> audit;
	std::vector<std::thread> threads;
};

}

int main()
{
	std::signal(SIGPIPE, SIG_IGN);
	shop::server().run();
}

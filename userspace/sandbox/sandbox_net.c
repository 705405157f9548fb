/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_net.c - the loopback interface of an environment's own network (sandbox_net.h)
 *
 * A program that sends a request by two writes sends the second one when the first is acknowledged (Nagle), and the receiver
 * acknowledges after 40 ms of the machine's time, unless it answers before. So what a server reads at a step would depend on
 * the speed of the machine. Routes that ask for quick acknowledgement make it come within the first write. The program's
 * sockets, and their options, are as they would be.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "sandbox/sandbox_net.h"

/* The kernel gives its own route to ::1 the metric 0, and a new one with that another number. */
#define LOOPBACK6_METRIC 1

struct route_request {
	struct nlmsghdr n;
	struct rtmsg r;
	char attributes[128];
};

static struct rtattr *add(struct route_request *q, unsigned short type, const void *data, unsigned short len)
{
	struct rtattr *a = (void *)((char *)q + NLMSG_ALIGN(q->n.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	q->n.nlmsg_len = NLMSG_ALIGN(q->n.nlmsg_len) + RTA_LENGTH(len);
	return a;
}

/* The request for a local route over the loopback interface, which is lo. */
static struct route_request request(unsigned short type, unsigned short flags, int lo, unsigned char family, const void *to,
				    unsigned char bits)
{
	struct route_request q = {
		.n = { .nlmsg_len = NLMSG_LENGTH(sizeof(q.r)), .nlmsg_type = type,
		       .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags) },
		.r = { .rtm_family = family, .rtm_dst_len = bits, .rtm_table = RT_TABLE_LOCAL, .rtm_protocol = RTPROT_KERNEL,
		       .rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE, .rtm_type = RTN_LOCAL },
	};

	add(&q, RTA_DST, to, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr));
	add(&q, RTA_OIF, &lo, sizeof(lo));
	return q;
}

static void add_quick(struct route_request *q)
{
	const struct { struct rtattr a; uint32_t on; } quick = { { RTA_LENGTH(sizeof(uint32_t)), RTAX_QUICKACK }, 1 };

	add(q, RTA_METRICS, &quick, sizeof(quick));
}

static int ask(int fd, const struct route_request *q)
{
	struct { struct nlmsghdr n; struct nlmsgerr e; } answer;
	ssize_t got;

	if (send(fd, q, q->n.nlmsg_len, 0) < 0)
		return -1;
	got = recv(fd, &answer, sizeof(answer), MSG_TRUNC);
	if (got < 0)
		return -1;
	if ((size_t)got < sizeof(answer) || answer.n.nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	errno = -answer.e.error;
	return answer.e.error ? -1 : 0;
}

static int acknowledge_at_once(void)
{
	static const unsigned char widths[] = { 8, 32 };
	const uint32_t metric = LOOPBACK6_METRIC, first = 0;
	struct in_addr loopback = { htonl(INADDR_LOOPBACK) }, network = { htonl(INADDR_LOOPBACK & 0xff000000) };
	struct route_request q;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), lo = (int)if_nametoindex("lo"), ret = 0;

	if (fd < 0)
		return -1;
	for (int i = 0; i < 2 && !ret; i++) {
		q = request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, lo, AF_INET, i ? &loopback : &network, widths[i]);
		add(&q, RTA_PREFSRC, &loopback, sizeof(loopback));
		add_quick(&q);
		ret = ask(fd, &q);
	}
	/* without IPv6 there is no such route */
	q = request(RTM_NEWROUTE, NLM_F_CREATE, lo, AF_INET6, &in6addr_loopback, 128);
	add(&q, RTA_PRIORITY, &metric, sizeof(metric));
	add_quick(&q);
	if (!ret && !ask(fd, &q)) {
		q = request(RTM_DELROUTE, 0, lo, AF_INET6, &in6addr_loopback, 128);
		add(&q, RTA_PRIORITY, &first, sizeof(first));
		(void)ask(fd, &q);
	}
	close(fd);
	return ret;
}

int sandbox_net_up(void)
{
	struct ifreq i = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -1;
	ret = ioctl(fd, SIOCGIFFLAGS, &i);
	i.ifr_flags |= IFF_UP;
	if (!ret)
		ret = ioctl(fd, SIOCSIFFLAGS, &i);
	close(fd);
	return ret ? ret : acknowledge_at_once();
}

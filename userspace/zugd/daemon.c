/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that serves: clients and their requests, and its beginning and end. daemon_serve() is the
 * loop; requests are executed by workers (daemon_workers.c). Read daemon.h first.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/run_user.h"
#include "lib/version.h"
#include "zugd/client.h"
#include "zugd/daemon.h"
#include "zugd/protocol.h"

#define MAX_CLIENTS 256
/* Users in this group are served, with their own rights. */
#define GROUP "zug"
/* Of such a user: connections at a time, and bytes of a message. */
#define USER_CLIENTS 16
#define USER_MESSAGE (8u << 20)
#define USER_GROUPS 1024
/* In which the cgroups of all tests lie where users are served. */
#define USER_CGROUP "/sys/fs/cgroup/zugd"
/* A connection without a whole request is closed after so long. */
#define REQUEST_WITHIN_NS 10000000000ull
#define IDLE_LOOK_MS 1000
/*
 * After no process could be taken although one is there (it belongs to another PID namespace, say).
 */
#define JOIN_PAUSE_NS 1000000000ull

struct client {
	int fd;
	struct protocol_reader in;
	struct ucred who;
	struct run_user as;		/* of a user who may not be root; no uid: it has zugd's rights */
	struct request *request;	/* the workers' */
	uint64_t since_ns;
	bool gone;			/* has shut down its side */
	bool wants_stop;
};

struct daemon {
	const struct daemon_options *o;
	char *path;
	char **default_args, *default_out;
	struct kernel *kernel;
	struct door *door;
	struct workers *workers;
	gid_t group;			/* whose members are served; NOBODY: there is none */
	bool own_cgroup;		/* USER_CGROUP was made */
	bool joining;			/* a join is queued or running */
	uint64_t no_join_before_ns;
	int listen_fd;
	struct client clients[MAX_CLIENTS];
	int nr_clients;
	uint64_t started_ns;
	bool stopping;
};

/* The end, as a file descriptor: a signal handler can write to it, and poll() see it. */
static int stop_fd = -1;

static void on_signal(int sig)
{
	uint64_t one = 1;

	(void)sig;
	if (write(stop_fd, &one, sizeof(one)) < 0)
		abort();
}

/* ---- clients ---- */

static void answer(struct client *c, struct json_object *m)
{
	/* a client that does not read its answer loses it: no other client waits for it */
	if (m)
		protocol_send(c->fd, m, NULL, 0);
	json_object_put(m);
}

static void refuse(struct client *c, const char *why)
{
	struct json_object *m = protocol_message("event", "refused");

	json_object_object_add(m, "message", json_object_new_string(why));
	answer(c, m);
	c->gone = true;
}

/* The same, for who asks for more than he may have: an administrator hears of it. */
static void refuse_and_log(struct client *c, uid_t user, const char *why)
{
	syslog(LOG_NOTICE, "refused: user %u, process %d: %s", user, c->who.pid, why);
	refuse(c, why);
}

static void drop_client(struct daemon *d, int i)
{
	close(d->clients[i].fd);
	protocol_reader_free(&d->clients[i].in);
	run_user_free(&d->clients[i].as);
	d->clients[i] = d->clients[--d->nr_clients];
}

/* The groups of the process at the other end, when it connected. 0 or -errno. */
static int find_peer(int fd, const struct ucred *who, struct run_user *u)
{
	socklen_t len = USER_GROUPS * sizeof(gid_t);

	*u = (struct run_user){ .uid = who->uid, .gid = who->gid, .groups = calloc(USER_GROUPS, sizeof(gid_t)) };
	if (!u->groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, u->groups, &len)) {
		run_user_free(u);
		return -errno;
	}
	u->nr_groups = len / sizeof(gid_t);
	return 0;
}

static bool is_member(const struct daemon *d, const struct run_user *u)
{
	bool found = u->gid == d->group;

	for (int i = 0; i < u->nr_groups; i++)
		found |= u->groups[i] == d->group;
	return found && d->group != NOBODY && u->uid != NOBODY;
}

static int connections_of(const struct daemon *d, uid_t uid)
{
	int nr = 0;

	for (int i = 0; i < d->nr_clients; i++)
		nr += d->clients[i].who.uid == uid;
	return nr;
}

/* NULL: the client may be served; else why not. */
static const char *admit(const struct daemon *d, struct client *c)
{
	if (!c->who.uid || c->who.uid == geteuid())
		return NULL;
	if (find_peer(c->fd, &c->who, &c->as) || !is_member(d, &c->as))
		return d->group == NOBODY ? "zugd serves root and its own user only" :
					    "zugd serves root, its own user and the members of group " GROUP " only";
	if (connections_of(d, c->who.uid) >= USER_CLIENTS)
		return "zugd has too many connections of this user";
	c->in.most = USER_MESSAGE;
	return NULL;
}

static void accept_client(struct daemon *d)
{
	socklen_t len = sizeof(struct ucred);
	struct client c = { .fd = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK),
			    .since_ns = clock_now_ns() };
	const char *why;

	if (c.fd < 0)
		return;
	if (getsockopt(c.fd, SOL_SOCKET, SO_PEERCRED, &c.who, &len))
		c.who.uid = NOBODY;
	why = admit(d, &c);
	if (why) {
		refuse_and_log(&c, c.who.uid, why);
	} else if (d->nr_clients == MAX_CLIENTS) {
		refuse(&c, "zugd has too many clients");
	} else {
		d->clients[d->nr_clients++] = c;
		return;
	}
	run_user_free(&c.as);
	close(c.fd);
}

static void status(struct daemon *d, struct client *c)
{
	struct json_object *m = protocol_message("event", "status");
	struct utsname u;

	uname(&u);
	json_object_object_add(m, "version", json_object_new_string(ZUG_VERSION));
	json_object_object_add(m, "pid", json_object_new_int(getpid()));
	json_object_object_add(m, "seconds", json_object_new_double(
			(clock_now_ns() - d->started_ns) / 1e9));
	json_object_object_add(m, "kernel", json_object_new_string(u.release));
	json_object_object_add(m, "cgroup", json_object_new_string(door_cgroup(d->door)));
	json_object_object_add(m, "socket", json_object_new_string(d->path));
	workers_status(d->workers, m, c->as.uid ? c->as.uid : NOBODY);
	answer(c, m);
	c->gone = true;
}

/* Whose request it is: the client's, or where root is it, the user's who has called sudo, as he says. */
static uid_t user_of(const struct client *c, struct json_object *m)
{
	char **env = c->who.uid ? NULL : protocol_list(m, "env", NULL), *end;
	uid_t user = c->who.uid;
	unsigned long n;

	for (char **e = env; e && *e; e++) {
		if (strncmp(*e, "SUDO_UID=", 9))
			continue;
		n = strtoul(*e + 9, &end, 10);
		if ((*e)[9] >= '0' && (*e)[9] <= '9' && !*end && n < NOBODY)
			user = n;
		break;
	}
	free(env);
	return user;
}

static void submit(struct daemon *d, struct client *c, enum request_kind kind,
		   const struct daemon_command *command, struct json_object *m)
{
	const unsigned int most = d->o->defaults->quota.queue;
	const uid_t user = user_of(c, m);
	struct json_object *event;
	struct request *r;
	char why[160];
	int ahead;

	if (most && workers_waiting(d->workers, user) >= most) {
		snprintf(why, sizeof(why), "zugd: user %u has %u requests that wait, and may not have more (zugd --user-queue)",
			 user, most);
		refuse_and_log(c, user, why);
		return;
	}
	r = request_new(kind, json_object_get(m), c->as.uid ? &c->as : NULL);
	if (!r) {
		json_object_put(m);
		refuse(c, "zugd: out of memory");
		return;
	}
	r->command = command;
	r->user = user;
	memcpy(r->fds, c->in.fds, sizeof(r->fds));
	c->in.nr_fds = 0;
	c->request = r;
	ahead = workers_submit(d->workers, r);
	if (!ahead)
		return;
	event = protocol_message("event", "queued");
	json_object_object_add(event, "ahead", json_object_new_int(ahead));
	answer(c, event);
}

static void on_message(struct daemon *d, struct client *c, struct json_object *m)
{
	const char *what = protocol_text(m, "request"), *wrong = protocol_wrong(m, c->in.nr_fds);
	char text[128];

	if (protocol_int(m, "v", 0) != PROTOCOL_VERSION) {
		snprintf(text, sizeof(text),
			 "zugd speaks version %d of the protocol, the client %d: "
			 "stop it and start the new one",
			 PROTOCOL_VERSION, protocol_int(m, "v", 0));
		refuse(c, text);
	} else if (c->request) {
		refuse(c, "one request for each connection");
	} else if (wrong) {
		refuse(c, wrong);
	} else if (!strcmp(what, "status")) {
		status(d, c);
	} else if (!strcmp(what, "stop") && c->as.uid) {
		refuse_and_log(c, c->as.uid, "only root and zugd's own user may end zugd");
	} else if (!strcmp(what, "stop")) {
		c->wants_stop = true;
		d->stopping = true;
	} else if (!strcmp(what, "exec")) {
		submit(d, c, REQUEST_EXEC, NULL, m);
	} else {
		for (const struct daemon_command *command = d->o->commands; command->name;
		     command++)
			if (!strcmp(what, command->name)) {
				submit(d, c, REQUEST_COMMAND, command, m);
				return;
			}
		snprintf(
			text, sizeof(text),
			"unknown request '%.40s': run, replay, minimize, diff, exec, status and stop are known",
			what);
		refuse(c, text);
	}
}

static void serve(struct daemon *d, struct client *c)
{
	struct json_object *m;
	int ret;

	while ((ret = protocol_read(&c->in, c->fd, &m)) == 1) {
		on_message(d, c, m);
		json_object_put(m);
	}
	if (!ret)
		return;
	if (ret == -EPROTO && !c->request)
		refuse(c, "that is not a message of zug");
	c->gone = true;
	if (c->request)
		workers_abort(d->workers, c->request);
}

static void on_done(struct daemon *d)
{
	struct request *r;

	while ((r = workers_done(d->workers))) {
		if (r->kind == REQUEST_JOIN) {
			d->joining = false;
			d->no_join_before_ns = r->message[0] ? 0 : clock_now_ns() + JOIN_PAUSE_NS;
		}
		for (int i = 0; i < d->nr_clients; i++) {
			struct client *c = &d->clients[i];
			struct json_object *m;

			if (c->request != r)
				continue;
			m = protocol_message("event", "done");
			json_object_object_add(m, "exit", json_object_new_int(r->status));
			if (r->message[0])
				json_object_object_add(m, "message",
						       json_object_new_string(r->message));
			answer(c, m);
			c->request = NULL;
			c->gone = true;
		}
		request_free(r);
	}
	/* nothing can be executed any more: what watches over daemons starts the next one */
	d->stopping |= kernel_ejected(d->kernel) != NULL;
}

/* One request for each process at the door, so that they and the clients take turns. */
static void look_at_door(struct daemon *d)
{
	struct request *r;

	if (d->joining || clock_now_ns() < d->no_join_before_ns || !door_occupied(d->door))
		return;
	r = request_new(REQUEST_JOIN, NULL, NULL);
	if (!r)
		return;
	d->joining = true;
	workers_submit(d->workers, r);
}

/* Closes connections that have asked for nothing in time. True: there are others of that kind. */
static bool drop_idle(struct daemon *d)
{
	const uint64_t now = clock_now_ns();
	bool more = false;

	for (int i = d->nr_clients - 1; i >= 0; i--) {
		struct client *c = &d->clients[i];

		if (c->request || c->gone || c->wants_stop)
			continue;
		if (now - c->since_ns > REQUEST_WITHIN_NS) {
			refuse(c, "no request came in time");
			drop_client(d, i);
		} else {
			more = true;
		}
	}
	return more;
}

/* How long the loop may sleep, in ms; -1: until something happens. */
static int patience(const struct daemon *d, bool idle)
{
	int ms = workers_patience(d->workers);

	if (idle && (ms < 0 || ms > IDLE_LOOK_MS))
		ms = IDLE_LOOK_MS;
	if (d->no_join_before_ns && ms < 0)
		ms = (int)(JOIN_PAUSE_NS / 1000000);
	return ms;
}

int daemon_serve(struct daemon *d, char *err, size_t errlen)
{
	struct pollfd p[3 + WORKERS_MOST + MAX_CLIENTS];
	int nr, nr_workers, timeout, fds[WORKERS_MOST];
	struct pollfd *clients;

	/* the first worker is made before it is asked for, too */
	workers_look(d->workers);
	while (!d->stopping) {
		look_at_door(d);
		p[0] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = d->listen_fd, .events = POLLIN };
		/* looked at when the join is over: until then it would wake us all the time */
		p[2] = (struct pollfd){ .fd = d->joining ? -1 : door_fd(d->door),
					.events = POLLPRI };
		nr_workers = workers_fds(d->workers, fds, WORKERS_MOST);
		for (int i = 0; i < nr_workers; i++)
			p[3 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		clients = p + 3 + nr_workers;
		timeout = patience(d, drop_idle(d));
		nr = d->nr_clients;
		for (int i = 0; i < nr; i++)
			clients[i] =
				(struct pollfd){ .fd = d->clients[i].gone ? -1 : d->clients[i].fd,
						 .events = POLLIN };
		if (poll(p, 3 + nr_workers + nr, timeout) < 0 && errno != EINTR)
			abort();
		if (p[0].revents)
			return 0;
		workers_look(d->workers);
		on_done(d);
		for (int i = 0; i < nr; i++)
			if (clients[i].revents)
				serve(d, &d->clients[i]);
		on_done(d);
		for (int i = d->nr_clients - 1; i >= 0; i--)
			if (d->clients[i].gone && !d->clients[i].request)
				drop_client(d, i);
		if (p[1].revents)
			accept_client(d);
	}
	if (!kernel_ejected(d->kernel))
		return 0;
	snprintf(err, errlen, "the kernel ejected the scheduler: %s", kernel_ejected(d->kernel));
	return -EIO;
}

/* ---- beginning and end ---- */

/* No other user can connect before the socket belongs to us alone, and then to those who may. */
static int make_socket(const struct daemon *d, char *err, size_t errlen)
{
	const char *path = d->path;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, ret;
	mode_t old;

	if (strlen(path) >= sizeof(a.sun_path)) {
		snprintf(err, errlen, "--socket %s: longer than %zu bytes", path,
			 sizeof(a.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* nothing answers there, as was tried: a zugd that was killed has left it */
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	old = umask(0177);
	ret = bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64) ? -errno : 0;
	umask(old);
	if (!ret && d->group != NOBODY && (lchown(path, geteuid(), d->group) || chmod(path, 0660)))
		ret = -errno;
	if (!ret)
		return fd;
	snprintf(err, errlen, "cannot listen at %s: %s", path, strerror(-ret));
	close(fd);
	return ret;
}

/* The options of zugd as a command line for others: relative paths made absolute. */
static char **default_args(struct daemon *d, const struct run_options *o, char **argv, int *nr)
{
	static const char *const own[] = { "--cgroup", "--lanes", "--user-lanes", "--user-memory", "--user-queue",
					   "--user-time" };
	char **args = calloc(o->nr_options + 3, sizeof(*args));
	struct campaign_options defaults;
	int n = 0;

	if (!args)
		return NULL;
	campaign_defaults(&defaults);
	for (int i = 1; i <= o->nr_options; i++) {
		/* what is zugd's own */
		bool ours = !strcmp(argv[i], "--foreground"), ours_and_next = false;

		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++) {
			size_t len = strlen(own[k]);

			ours_and_next |= !strcmp(argv[i], own[k]);
			ours |= !strncmp(argv[i], own[k], len) && argv[i][len] == '=';
		}
		i += ours_and_next;
		if (ours || ours_and_next)
			continue;
		if (i < o->nr_options || strcmp(argv[i], "--"))
			args[n++] = argv[i];
	}
	if (strcmp(o->c.results.dir, defaults.results.dir) && o->c.results.dir[0] != '/') {
		if (asprintf(&d->default_out, "%s/%s", o->cwd, o->c.results.dir) < 0) {
			d->default_out = NULL;
			free(args);
			return NULL;
		}
		args[n++] = (char *)"--output";
		args[n++] = d->default_out;
	}
	*nr = n;
	return args;
}

/* A worker is no server. */
static void in_worker(void *ctx)
{
	struct daemon *d = ctx;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	close(d->listen_fd);
	close(stop_fd);
	for (int i = 0; i < d->nr_clients; i++) {
		close(d->clients[i].fd);
		protocol_reader_free(&d->clients[i].in);
	}
}

/* Where the cgroups of tests are made. Users get none at the root of the hierarchy. 0, or -errno with a line in err. */
static int find_cgroup(struct daemon *d, char *err, size_t errlen)
{
	const uint64_t memory = d->o->defaults->quota.memory;
	const char *given = d->o->defaults->cgroup;
	int ret;

	if (memory && d->group == NOBODY) {
		snprintf(err, errlen, "--user-memory limits members of group " GROUP ", and this zugd serves none: "
			 "root makes the group and starts zugd");
		return -EINVAL;
	}
	if (!given && d->group == NOBODY)
		return 0;
	if (!given && mkdir(USER_CGROUP, 0755) && errno != EEXIST) {
		snprintf(err, errlen, "cannot create the cgroup %s: %s", USER_CGROUP, strerror(errno));
		return -errno;
	}
	d->own_cgroup = !given;
	ret = sandbox_set_parent(given ? given : USER_CGROUP, err, errlen);
	if (ret || !memory || sandbox_memory_controlled())
		return ret;
	snprintf(err, errlen, "--user-memory needs the memory controller of cgroups, which %s does not have: "
		 "echo +memory >cgroup.subtree_control in the folder above it", sandbox_parent());
	return -EINVAL;
}

/* Whose members are served. Only root can take on the rights of others. */
static gid_t find_group(void)
{
	const struct group *g = geteuid() ? NULL : getgrnam(GROUP);

	return g ? g->gr_gid : NOBODY;
}

static int start(struct daemon *d, char *err, size_t errlen)
{
	struct worker_options wo = { .o = d->o };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int fd = client_connect(d->path), ret;

	if (fd >= 0) {
		snprintf(err, errlen, "is running already (pid %d): zug status, zug stop",
			 client_peer(fd));
		close(fd);
		return -EEXIST;
	}
	if ((long)d->o->defaults->shared_lanes > sysconf(_SC_NPROCESSORS_ONLN)) {
		snprintf(err, errlen, "--lanes %u: each execution needs a CPU, and this machine has %ld",
			 d->o->defaults->shared_lanes, sysconf(_SC_NPROCESSORS_ONLN));
		return -EINVAL;
	}
	ret = find_cgroup(d, err, errlen);
	ret = ret ? ret : kernel_open(&d->kernel, err, errlen);
	ret = ret ? ret : door_new(&d->door, &d->o->defaults->c, err, errlen);
	ret = ret ? ret : kernel_ready(d->kernel, err, errlen);
	if (ret)
		return ret;
	wo.kernel = d->kernel;
	wo.door = d->door;
	wo.default_args = d->default_args =
		default_args(d, d->o->defaults, d->o->argv, &wo.nr_default_args);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	if (!wo.default_args || stop_fd < 0) {
		snprintf(err, errlen, "out of memory or descriptors");
		return -ENOMEM;
	}
	openlog("zugd", LOG_PID | (d->o->defaults->foreground ? LOG_PERROR : 0), LOG_DAEMON);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	d->workers = workers_new(&wo, d->o->defaults->c.machine.lane, d->o->defaults->shared_lanes);
	if (!d->workers) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	workers_in_child(d->workers, in_worker, d);
	d->listen_fd = make_socket(d, err, errlen);
	if (d->listen_fd < 0)
		return d->listen_fd;
	if (chdir("/")) {
		snprintf(err, errlen, "cannot enter /: %s", strerror(errno));
		return -EIO;
	}
	d->started_ns = clock_now_ns();
	return 0;
}

int daemon_new(struct daemon **out, const struct daemon_options *o, char *err, size_t errlen)
{
	const char *path = client_socket(o->defaults->socket);
	struct daemon *d = *out = calloc(1, sizeof(*d));

	snprintf(err, errlen, "out of memory");
	if (!d)
		return -ENOMEM;
	d->o = o;
	d->group = find_group();
	d->listen_fd = -1;
	prctl(PR_SET_NAME, "zugd");
	if (asprintf(&d->path, "%s%s%s", path[0] == '/' ? "" : o->defaults->cwd,
		     path[0] == '/' ? "" : "/", path) < 0) {
		d->path = NULL;
		return -ENOMEM;
	}
	return start(d, err, errlen);
}

/* Cuts short what is being executed; every waiting client gets an answer. */
static void abort_all(struct daemon *d)
{
	struct pollfd p[WORKERS_MOST];
	int fds[WORKERS_MOST], nr;
	bool waiting = true;

	if (!d->workers)
		return;
	workers_stop(d->workers);
	on_done(d);
	while (waiting) {
		waiting = false;
		for (int i = 0; i < d->nr_clients; i++)
			waiting |= d->clients[i].request != NULL;
		if (!waiting)
			break;
		nr = workers_fds(d->workers, fds, WORKERS_MOST);
		for (int i = 0; i < nr; i++)
			p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		poll(p, nr, workers_patience(d->workers));
		workers_look(d->workers);
		on_done(d);
	}
}

void daemon_free(struct daemon *d)
{
	if (!d)
		return;
	if (d->listen_fd >= 0) {
		unlink(d->path);
		close(d->listen_fd);
	}
	abort_all(d);
	workers_free(d->workers);
	door_free(d->door);
	if (d->own_cgroup)
		rmdir(USER_CGROUP);
	kernel_close(d->kernel);
	/* the end of the connection tells the clients of zug stop that nothing is left */
	for (int i = d->nr_clients - 1; i >= 0; i--)
		drop_client(d, i);
	if (stop_fd >= 0)
		close(stop_fd);
	free(d->default_args);
	free(d->default_out);
	free(d->path);
	free(d);
}


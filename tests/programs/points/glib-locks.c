/*
 * A wake-up is lost, with GLib's own lock and condition, which are words for futexes. The library is loaded, and nothing of it
 * is needed to build this. Exits with 77 where there is none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* as GMutex and GCond */
static struct word {
	void *p;
	unsigned int i[2];
} lock, cond;
static atomic_int ready;
static void (*g_lock)(struct word *), (*g_unlock)(struct word *), (*g_wait)(struct word *, struct word *),
	(*g_signal)(struct word *);

static void *find(void *library, const char *name)
{
	void *f = library ? dlsym(library, name) : NULL;

	if (!f)
		exit(77);
	return f;
}

static void *waiter(void *arg)
{
	if (!ready) {
		g_lock(&lock);
		g_wait(&cond, &lock);
		g_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	void *glib = dlopen("libglib-2.0.so.0", RTLD_NOW);
	pthread_t t;

	g_lock = (void (*)(struct word *))find(glib, "g_mutex_lock");
	g_unlock = (void (*)(struct word *))find(glib, "g_mutex_unlock");
	g_wait = (void (*)(struct word *, struct word *))find(glib, "g_cond_wait");
	g_signal = (void (*)(struct word *))find(glib, "g_cond_signal");
	pthread_create(&t, NULL, waiter, NULL);
	ready = 1;
	g_signal(&cond);
	pthread_join(t, NULL);
	return 0;
}

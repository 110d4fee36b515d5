// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI of several kswapd workers per NUMA node, tested from inside a guest.
 *
 * Runs as init (selftests/run.py boots it) and prints TAP on the console.
 * argv[1] chooses what is tested:
 *   abi      everything that can be set at run time; the guest must have been
 *            booted without kswapd_threads= and with node 0 = 6 CPUs, node 1 = 2
 *            CPUs, node 2 = memory only, and with null_blk as /dev/nullb0
 *   boot N   that kswapd_threads=N gave each node min(N, 16, its limit) workers
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PF_KSWAPD 0x00020000
#define SYSCTL "/proc/sys/vm/kswapd_threads"
#define NR_NODES 3
#define MAX_WORKERS 16
#define STORM_WRITES 2000

/* CPUs limit the workers of a node; one without CPUs has at most 2. */
static const int node_limit[NR_NODES] = { 6, 2, 2 };

static int tests, failures;

static void result(bool ok, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void result(bool ok, const char *name, const char *format, ...)
{
	va_list args;

	printf("%sok %d - %s\n", ok ? "" : "not ", ++tests, name);
	if (ok)
		return;
	failures++;
	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static const char *node_file(int node)
{
	static char path[NR_NODES][64];

	snprintf(path[node], sizeof(path[node]),
		 "/sys/devices/system/node/node%d/kswapd_threads", node);
	return path[node];
}

/* 0 or the errno of the write. */
static int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		error = errno;
	close(fd);
	return error;
}

static int write_number(const char *path, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return write_file(path, text);
}

/* The number in a file, or -errno. */
static int read_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);
	int got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got < 0 ? -errno : atoi(text);
}

/*
 * Finds every kswapd thread, by name and flag. pids[node][worker] is 0 where
 * there is none. Returns the number of threads with the flag whose name is not
 * one that a worker can have.
 */
static int find_workers(int pids[NR_NODES][MAX_WORKERS])
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int strangers = 0;

	memset(pids, 0, sizeof(int) * NR_NODES * MAX_WORKERS);
	while (proc && (entry = readdir(proc))) {
		char path[300], line[512] = "", name[32] = "", expected[32];
		unsigned int flags = 0;
		int node, worker = 0, pid = atoi(entry->d_name);
		FILE *stat;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		stat = fopen(path, "r");
		if (!stat)
			continue;
		if (fgets(line, sizeof(line), stat))
			sscanf(line, "%*d (%31[^)]) %*c %*d %*d %*d %*d %*d %u", name, &flags);
		fclose(stat);
		if (!(flags & PF_KSWAPD))
			continue;
		if (sscanf(name, "kswapd%d:%d", &node, &worker) < 1 ||
		    node < 0 || node >= NR_NODES || worker < 0 || worker >= MAX_WORKERS) {
			strangers++;
			continue;
		}
		snprintf(expected, sizeof(expected), worker ? "kswapd%d:%d" : "kswapd%d",
			 node, worker);
		if (strcmp(name, expected) || pids[node][worker])
			strangers++;
		pids[node][worker] = pid;
	}
	if (proc)
		closedir(proc);
	return strangers;
}

/* True if each node has exactly workers 0 .. wanted[node] - 1; else says what it has. */
static bool workers_are(const int wanted[NR_NODES], char *have, size_t size)
{
	int pids[NR_NODES][MAX_WORKERS];
	bool same = !find_workers(pids);
	size_t used = 0;

	have[0] = 0;
	for (int node = 0; node < NR_NODES; node++) {
		used += snprintf(have + used, size - used, "node%d:", node);
		for (int worker = 0; worker < MAX_WORKERS; worker++) {
			if (pids[node][worker])
				used += snprintf(have + used, size - used, " %d", worker);
			if (!!pids[node][worker] != (worker < wanted[node]))
				same = false;
		}
		used += snprintf(have + used, size - used, "; ");
	}
	return same;
}

/* Threads start and exit on their own time: two seconds for that, and 20 under pressure. */
static bool await_workers(const int wanted[NR_NODES], double seconds, char *have, size_t size)
{
	double end = now() + seconds;

	while (!workers_are(wanted, have, size)) {
		if (now() > end)
			return false;
		usleep(20000);
	}
	return true;
}

static void limited(int nr, int wanted[NR_NODES])
{
	for (int node = 0; node < NR_NODES; node++)
		wanted[node] = nr < node_limit[node] ? nr : node_limit[node];
}

/* The files read back, and the threads are, what nr means on each node. */
static void expect_workers(int nr, double seconds, const char *name)
{
	int wanted[NR_NODES];
	char have[512];
	bool ok;

	limited(nr, wanted);
	ok = await_workers(wanted, seconds, have, sizeof(have));
	for (int node = 0; node < NR_NODES; node++)
		ok = ok && read_number(node_file(node)) == wanted[node];
	result(ok, name, "wanted %d %d %d, files say %d %d %d, threads are %s",
	       wanted[0], wanted[1], wanted[2], read_number(node_file(0)),
	       read_number(node_file(1)), read_number(node_file(2)), have);
}

static void test_refuses(const char *path, const char *what)
{
	static const char *const bad[] = { "0", "17", "-1", "x", "4x", "99999999999" };
	char name[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int before = read_number(path);
		int error = write_file(path, bad[i]);

		snprintf(name, sizeof(name), "%s refuses \"%s\" with EINVAL", what, bad[i]);
		result(error == EINVAL && read_number(path) == before, name,
		       "errno %d (%s), value %d -> %d", error, strerror(error),
		       before, read_number(path));
	}
}

static void test_unprivileged(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		if (setuid(65534))
			_exit(1);
		_exit(write_file(SYSCTL, "2") == EACCES &&
		      write_file(node_file(0), "2") == EACCES ? 0 : 2);
	}
	waitpid(child, &status, 0);
	result(child > 0 && !status, "an unprivileged user gets EACCES", "status %#x", status);
}

static void test_affinity(void)
{
	int pids[NR_NODES][MAX_WORKERS];
	cpu_set_t cpus;
	bool ok = true;

	find_workers(pids);
	for (int worker = 0; worker < 4; worker++) {
		if (!pids[0][worker] || sched_getaffinity(pids[0][worker], sizeof(cpus), &cpus)) {
			ok = false;
			continue;
		}
		for (int cpu = 0; cpu < 8; cpu++)
			ok = ok && !!CPU_ISSET(cpu, &cpus) == (cpu < 6);
	}
	result(ok, "workers of node 0 may run on the CPUs of node 0 only", "they may not");
}

/* Children that read page cache from null_blk as fast as they can, all memory away. */
static void start_pressure(pid_t *children, int nr)
{
	for (int i = 0; i < nr; i++) {
		children[i] = fork();
		if (!children[i]) {
			int fd = open("/dev/nullb0", O_RDONLY);

			for (off_t at = (off_t)i << 32; fd >= 0; at += 65536)
				if (readahead(fd, at % ((off_t)64 << 30), 65536))
					break;
			_exit(1);
		}
	}
}

static void stop_pressure(pid_t *children, int nr)
{
	for (int i = 0; i < nr; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static long long cpu_ns(int pid)
{
	char path[64];
	long long ns = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%lld", &ns) != 1)
		ns = -1;
	fclose(file);
	return ns;
}

static void test_helpers_work(const char *name)
{
	int pids[NR_NODES][MAX_WORKERS];
	pid_t children[4];
	double end = now() + 30;
	bool all = false;

	start_pressure(children, 4);
	while (!all && now() < end) {
		usleep(50000);
		find_workers(pids);
		all = true;
		for (int worker = 0; worker < 4; worker++)
			all = all && pids[0][worker] && cpu_ns(pids[0][worker]) > 20000000;
	}
	stop_pressure(children, 4);
	result(all, name, "20 ms of CPU each awaited, have %lld %lld %lld %lld ns",
	       cpu_ns(pids[0][0]), cpu_ns(pids[0][1]), cpu_ns(pids[0][2]), cpu_ns(pids[0][3]));
}

/* Two writers, one of them on the node file, resize while memory is short. */
static void storm_writer(const char *path, unsigned int seed)
{
	double slowest = 0;

	for (int i = 0; i < STORM_WRITES; i++) {
		double begin = now();
		int error = write_number(path, 1 + rand_r(&seed) % MAX_WORKERS);

		if (error) {
			printf("# %s: errno %d at write %d\n", path, error, i);
			_exit(1);
		}
		if (now() - begin > slowest)
			slowest = now() - begin;
	}
	printf("# %s: %d writes, the slowest took %.0f ms\n", path, STORM_WRITES, slowest * 1000);
	_exit(slowest < 5 ? 0 : 2);
}

static void test_storm(const char *name)
{
	pid_t children[4], writers[2];
	int failed = 0;

	start_pressure(children, 4);
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		writers[i] = fork();
		if (!writers[i])
			storm_writer(i ? node_file(0) : SYSCTL, 1 + i);
	}
	for (int i = 0; i < 2; i++) {
		int status;

		if (waitpid(writers[i], &status, 0) != writers[i] || status)
			failed++;
	}
	result(!failed, name, "%d of 2 writers failed or took 5 s for a write", failed);
	write_number(SYSCTL, 1);
	expect_workers(1, 20, "after the storm, under pressure, each node is back to 1 worker");
	stop_pressure(children, 4);
}

static void test_no_warning(void)
{
	static char log[1 << 20];
	int size = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);
	static const char *const bad[] = { "WARNING:", "BUG:", "Oops", "Call Trace", "blocked for more" };
	const char *found = NULL;

	for (size_t i = 0; size > 0 && i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!found)
			found = strstr(log, bad[i]);
	result(size > 0 && !found, "the kernel log has no warning", "%.300s",
	       found ? found : "the log cannot be read");
}

static void test_abi(void)
{
	int before[NR_NODES][MAX_WORKERS], after[NR_NODES][MAX_WORKERS];
	bool kept = true;

	result(read_number(SYSCTL) == 1, "vm.kswapd_threads is 1 by default", "it is %d",
	       read_number(SYSCTL));
	expect_workers(1, 0, "each node has kswapdN alone by default");
	find_workers(before);

	test_refuses(SYSCTL, "the sysctl");
	test_refuses(node_file(0), "the node file");
	test_unprivileged();
	expect_workers(1, 0, "refused writes started nothing");

	result(!write_number(SYSCTL, 4), "the sysctl takes 4", "it does not");
	expect_workers(4, 2, "4 gives kswapd0:1 to :3 in two seconds, and 2 where the node has 2 CPUs or none");
	result(read_number(SYSCTL) == 4, "the sysctl reads back 4", "it is %d", read_number(SYSCTL));
	test_affinity();

	result(!write_number(node_file(0), 3) && read_number(node_file(0)) == 3 &&
	       read_number(node_file(1)) == 2 && read_number(SYSCTL) == 4,
	       "a node file sets its node only", "node0 %d, node1 %d, sysctl %d",
	       read_number(node_file(0)), read_number(node_file(1)), read_number(SYSCTL));
	result(!write_number(SYSCTL, 16), "the sysctl takes 16", "it does not");
	expect_workers(16, 2, "the sysctl overrides the node file, and CPUs are the limit");

	write_number(SYSCTL, 4);
	expect_workers(4, 2, "back to 4");
	test_helpers_work("helpers reclaim under pressure (MGLRU)");
	result(!write_file("/sys/kernel/mm/lru_gen/enabled", "n"), "MGLRU is switched off", "it is not");
	test_helpers_work("helpers reclaim under pressure (classic LRU)");
	write_number(SYSCTL, 1);
	expect_workers(1, 20, "back to 1");
	test_storm("resize storm under pressure (classic LRU)");
	write_file("/sys/kernel/mm/lru_gen/enabled", "y");
	test_storm("resize storm under pressure (MGLRU)");

	find_workers(after);
	for (int node = 0; node < NR_NODES; node++)
		kept = kept && before[node][0] && before[node][0] == after[node][0];
	result(kept, "worker 0 of each node was never restarted", "a pid has changed");
	test_no_warning();
}

static void test_boot(int nr)
{
	int wanted = nr > MAX_WORKERS ? MAX_WORKERS : nr < 1 ? 1 : nr;
	char name[64];

	snprintf(name, sizeof(name), "kswapd_threads=%d: vm.kswapd_threads is %d", nr, wanted);
	result(read_number(SYSCTL) == wanted, name, "it is %d", read_number(SYSCTL));
	snprintf(name, sizeof(name), "kswapd_threads=%d: workers exist after boot", nr);
	expect_workers(wanted, 2, name);
	test_no_warning();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    (mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY))
		printf("Bail out! cannot mount: %s\n", strerror(errno));
	else if (argc > 1 && !strcmp(argv[1], "abi"))
		test_abi();
	else if (argc > 2 && !strcmp(argv[1], "boot"))
		test_boot(atoi(argv[2]));
	else
		printf("Bail out! which test?\n");
	printf("1..%d\n", tests);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return failures;
}

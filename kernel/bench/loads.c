// SPDX-License-Identifier: GPL-2.0
/*
 * The loads of the kernel benchmark, run as init of a guest (bench/run.py).
 *
 *   init LOAD WORKERS...
 *
 * runs LOAD once for each number of kswapd workers per NUMA node, in that order,
 * after one run that is not counted, and prints for each run one line
 *
 *   RESULT load=L workers=W effective=W seconds=S bytes=B allocstall=N
 *          steal_kswapd=N scan_kswapd=N steal_direct=N over_high=N reclaimed=N
 *
 * workers were asked for, effective is what NUMA node 0 has (no more than CPUs).
 * over_high (mean free pages above the high watermark) and reclaimed (mean pages
 * reclaimed) are per shortage and of the load "shortage" only, else 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1024UL * 1024)

#define STREAMS 8
#define STREAM_DEVICES 8		/* that a stream reads in turn, as a reader of many files does */
#define STREAM_BYTES (512 * MIB)
#define READAHEAD_BYTES 65536	/* more would be cut to the size of one request */

#define HOGS 2
#define HOG_BYTES (1000 * MIB)
#define HOG_PASSES 2

#define SHORTAGES 20

static void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("FAILED ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (%s)\n", strerror(error));
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_POWER_OFF);
	_exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("writing %s to %s", text, path);
	close(fd);
}

/* Sum of the counters in a vmstat file whose names begin with prefix. */
static unsigned long vmstat(const char *path, const char *prefix)
{
	FILE *file = fopen(path, "r");
	unsigned long value, sum = 0;
	char name[64];

	if (!file)
		die("reading %s", path);
	while (fscanf(file, "%63s %lu", name, &value) == 2)
		if (!strncmp(name, prefix, strlen(prefix)))
			sum += value;
	fclose(file);
	return sum;
}

#define SYSTEM "/proc/vmstat"
#define NODE0 "/sys/devices/system/node/node0/vmstat"

/* Pages of zones; free is without those that CPUs keep in lists of their own. */
struct zone_pages {
	long free, high;
};

/* Sums over the zones of node 0 that have pages. */
static struct zone_pages node0_pages(void)
{
	struct zone_pages sum = { 0 }, zone = { 0 };
	FILE *file = fopen("/proc/zoneinfo", "r");
	char line[256];
	int node = -1;

	if (!file)
		die("reading /proc/zoneinfo");
	while (fgets(line, sizeof(line), file)) {
		long managed;

		if (sscanf(line, "Node %d, zone", &node) == 1)
			memset(&zone, 0, sizeof(zone));
		sscanf(line, " pages free %ld", &zone.free);
		sscanf(line, " high %ld", &zone.high);
		if (sscanf(line, " managed %ld", &managed) == 1 && managed && !node) {
			sum.free += zone.free;
			sum.high += zone.high;
		}
	}
	fclose(file);
	return sum;
}

static int open_disk(int index)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/nullb%d", index);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die("opening %s", path);
	return fd;
}

static void wait_children(int nr)
{
	for (int i = 0; i < nr; i++) {
		int status;

		if (wait(&status) < 0 || status)
			die("a child ended with status %#x", status);
	}
}

/* A process that reads page cache of devices of its own, another part in each round. */
static void stream(int index, unsigned int round)
{
	off_t begin = (off_t)(round % 64) << 30;
	int fd[STREAM_DEVICES];

	for (int i = 0; i < STREAM_DEVICES; i++)
		fd[i] = open_disk(index * STREAM_DEVICES + i);
	for (off_t at = 0; at < (off_t)(STREAM_BYTES / STREAM_DEVICES); at += READAHEAD_BYTES)
		for (int i = 0; i < STREAM_DEVICES; i++)
			if (readahead(fd[i], begin + at, READAHEAD_BYTES))
				die("readahead");
	_exit(0);
}

/*
 * With one host thread for all virtual CPUs, QEMU goes on to the next when a timer
 * expires, and for lack of one a turn takes up to 10 ms. What happens in a turn
 * happens before any other CPU can answer, so turns must be short against the time
 * in which the load uses up the distance of two watermarks.
 */
static void shorten_turns(void)
{
	const struct timespec period = { .tv_nsec = 1000000 };
	const struct sched_param first = { .sched_priority = 1 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (long cpu = 0; cpu < cpus; cpu++) {
		cpu_set_t here;

		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child)
			continue;
		CPU_ZERO(&here);
		CPU_SET(cpu, &here);
		if (sched_setaffinity(0, sizeof(here), &here) || sched_setscheduler(0, SCHED_FIFO, &first))
			die("a timer on CPU %ld", cpu);
		for (;;)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
	}
}

static unsigned long run_streams(void)
{
	static unsigned int round;

	round++;
	for (int i = 0; i < STREAMS; i++)
		if (!fork())
			stream(i, round);
	wait_children(STREAMS);
	return STREAMS * STREAM_BYTES;
}

/* Half of each page is random, half is zero: compresses to about a half, as much memory does. */
static void fill_page(uint64_t *page, uint64_t *seed)
{
	for (size_t i = 0; i < PAGE / sizeof(*page) / 2; i++) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 7;
		*seed ^= *seed << 17;
		page[i] = *seed;
	}
}

/*
 * All hogs write all they have before one goes on, or a fast one would be gone
 * before the others need memory.
 */
static void hog(int index, atomic_int *written)
{
	uint64_t seed = 88172645463325252ULL + index;
	char *area = mmap(NULL, HOG_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		die("mmap of a hog");
	for (int pass = 1; pass <= HOG_PASSES; pass++) {
		for (unsigned long at = 0; at < HOG_BYTES; at += PAGE)
			fill_page((uint64_t *)(area + at), &seed);
		atomic_fetch_add(written, 1);
		while (atomic_load(written) < pass * HOGS)
			usleep(1000);
	}
	_exit(0);
}

static unsigned long run_anon(void)
{
	atomic_int *written = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (written == MAP_FAILED)
		die("mmap of the counter");
	for (int i = 0; i < HOGS; i++)
		if (!fork())
			hog(i, written);
	wait_children(HOGS);
	munmap(written, PAGE);
	return HOGS * HOG_PASSES * HOG_BYTES;
}

/* kswapd is done when it has reclaimed nothing for 300 ms, which is three of its naps. */
static void await_quiet(void)
{
	unsigned long last = vmstat(NODE0, "pgsteal_kswapd");
	double quiet = now(), end = now() + 60;

	while (now() - quiet < 0.3) {
		unsigned long steal;

		usleep(20000);
		steal = vmstat(NODE0, "pgsteal_kswapd");
		if (steal != last)
			quiet = now();
		last = steal;
		if (now() > end)
			die("kswapd of node 0 still reclaims after 60 s");
	}
}

/*
 * Takes pages of node 0 until kswapd begins to reclaim, waits until it is done and
 * looks how far above the high watermark the free pages are then.
 */
static void run_shortage(double *over_high, double *reclaimed)
{
	unsigned long node0 = 1, at = 0, size = 512 * MIB;
	unsigned long start;
	double over = 0;
	char *area;

	/*
	 * Small lists of free pages on the CPUs. By default they grow to thousands
	 * of pages and are filled and drained at one go, several times the distance
	 * of the watermarks here, and no shortage is small.
	 */
	write_file("/proc/sys/vm/percpu_pagelist_high_fraction", "1000000");
	/* nor is one when fragmentation raises the watermark by a page block or three */
	write_file("/proc/sys/vm/watermark_boost_factor", "0");
	if (syscall(SYS_set_mempolicy, MPOL_BIND, &node0, 8 * sizeof(node0)))
		die("binding to node 0");
	/* fill the node with page cache, more than it has */
	if (!fork()) {
		int fd = open_disk(0);

		for (unsigned long read = 0; read < 1200 * MIB; read += READAHEAD_BYTES)
			if (readahead(fd, read, READAHEAD_BYTES))
				die("filling node 0");
		_exit(0);
	}
	wait_children(1);
	await_quiet();

	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap for the shortage");
	if (madvise(area, size, MADV_NOHUGEPAGE))
		die("madvise");
	start = vmstat(NODE0, "pgsteal_kswapd");
	for (int i = 0; i < SHORTAGES; i++) {
		unsigned long before = vmstat(SYSTEM, "pageoutrun");
		struct zone_pages pages;

		while (vmstat(SYSTEM, "pageoutrun") == before) {
			for (int page = 0; page < 16 && at < size; page++, at += PAGE)
				area[at] = 1;
			if (at >= size)
				die("no shortage after %lu MiB", size / MIB);
		}
		await_quiet();
		pages = node0_pages();
		over += pages.free - pages.high;
	}
	*over_high = over / SHORTAGES;
	*reclaimed = (double)(vmstat(NODE0, "pgsteal_kswapd") - start) / SHORTAGES;
	munmap(area, size);
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
		die("unbinding");
}

static void start_swap(void)
{
	static char header[PAGE];
	uint32_t *info = (uint32_t *)(header + 1024);
	int fd;

	write_file("/sys/block/zram0/comp_algorithm", "lz4");
	write_file("/sys/block/zram0/disksize", "3G");
	info[0] = 1;				/* version */
	info[1] = 3 * 1024 * MIB / PAGE - 1;	/* last page */
	memcpy(header + PAGE - 10, "SWAPSPACE2", 10);
	fd = open("/dev/zram0", O_WRONLY);
	if (fd < 0 || write(fd, header, PAGE) != (ssize_t)PAGE)
		die("writing the swap header");
	close(fd);
	if (swapon("/dev/zram0", 0))
		die("swapon");
}

static int effective_workers(void)
{
	FILE *file = fopen("/sys/devices/system/node/node0/kswapd_threads", "r");
	int workers;

	if (!file || fscanf(file, "%d", &workers) != 1)
		die("reading the workers of node 0");
	fclose(file);
	return workers;
}

static void run(const char *load, int workers, bool count)
{
	double begin, seconds, over_high = 0, reclaimed = 0;
	unsigned long bytes = 0, stall, steal, scan, direct;
	char text[16];

	snprintf(text, sizeof(text), "%d", workers);
	write_file("/proc/sys/vm/kswapd_threads", text);
	stall = vmstat(SYSTEM, "allocstall_");
	steal = vmstat(SYSTEM, "pgsteal_kswapd");
	scan = vmstat(SYSTEM, "pgscan_kswapd");
	direct = vmstat(SYSTEM, "pgsteal_direct");
	begin = now();
	if (!strcmp(load, "streams"))
		bytes = run_streams();
	else if (!strcmp(load, "anon"))
		bytes = run_anon();
	else if (!strcmp(load, "shortage"))
		run_shortage(&over_high, &reclaimed);
	else
		die("no load %s", load);
	seconds = now() - begin;
	printf("%s load=%s workers=%d effective=%d seconds=%.3f bytes=%lu allocstall=%lu steal_kswapd=%lu "
	       "scan_kswapd=%lu steal_direct=%lu over_high=%.1f reclaimed=%.1f\n",
	       count ? "RESULT" : "# warm-up", load, workers, effective_workers(), seconds, bytes,
	       vmstat(SYSTEM, "allocstall_") - stall, vmstat(SYSTEM, "pgsteal_kswapd") - steal,
	       vmstat(SYSTEM, "pgscan_kswapd") - scan, vmstat(SYSTEM, "pgsteal_direct") - direct,
	       over_high, reclaimed);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		die("usage: init LOAD WORKERS...");
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    (mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY))
		die("mounting");
	if (!strcmp(argv[1], "anon")) {
		start_swap();
	} else {	/* a device's page cache goes with its last user */
		for (int i = 0; i < STREAMS * STREAM_DEVICES; i++)
			open_disk(i);
	}
	if (!strcmp(argv[1], "streams"))
		shorten_turns();
	/* a small NUMA node has a distance of 5 MiB from low to min, a real one of hundreds */
	if (strcmp(argv[1], "shortage"))
		write_file("/proc/sys/vm/watermark_scale_factor", "100");
	run(argv[1], atoi(argv[2]), false);
	for (int i = 2; i < argc; i++)
		run(argv[1], atoi(argv[i]), true);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}

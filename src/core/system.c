#include "core/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SYSTEM_PORTABLE: the portable forms, whatever the system (tests/unit/test_system.c). */
#if defined(__linux__) && !defined(SYSTEM_PORTABLE)
#define SYSTEM_LINUX
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#if defined(SYSTEM_LINUX) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
#define SYSTEM_HAS_PIPE2
#endif

void *system_resize(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, count && size ? count * size : 1);
}

#ifndef SYSTEM_HAS_PIPE2
/* Between the call that made the descriptor and this one, another thread may fork: without pipe2() there is no better way. */
static bool close_on_exec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == 0;
}
#endif

int system_pipe(int ends[2])
{
#ifdef SYSTEM_HAS_PIPE2
	return pipe2(ends, O_CLOEXEC);
#else
	if (pipe(ends))
		return -1;
	if (close_on_exec(ends[0]) && close_on_exec(ends[1]))
		return 0;
	int why = errno;
	(void)close(ends[0]);
	(void)close(ends[1]);
	errno = why;
	return -1;
#endif
}

int system_temporary(char *template, size_t suffix)
{
#ifdef SYSTEM_HAS_PIPE2
	return mkostemps(template, (int)suffix, O_CLOEXEC);
#else
	int fd = mkstemps(template, (int)suffix);

	if (fd >= 0)
		(void)close_on_exec(fd);
	return fd;
#endif
}

int system_unnamed_file(const char *directory)
{
#if defined(O_TMPFILE) && defined(SYSTEM_LINUX)
	int made = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (made >= 0)
		return made;
		/* Not every file system has it. */
#endif
	size_t size = strlen(directory) + sizeof("/tracemend-XXXXXX");
	char *path = malloc(size);
	if (!path)
		return -1;
	(void)snprintf(path, size, "%s/tracemend-XXXXXX", directory);
	int fd = system_temporary(path, 0);
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return fd;
}

int system_unnamed_output(const char *directory, char *path, size_t size)
{
#if defined(SYSTEM_LINUX) && defined(O_TMPFILE)
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

	if (fd < 0)
		return -1;
	(void)snprintf(path, size, "/proc/self/fd/%d", fd);
	/* Without /proc it could not get its name. */
	if (access(path, F_OK) == 0)
		return fd;
	(void)close(fd);
#else
	(void)directory;
	(void)path;
	(void)size;
#endif
	errno = ENOTSUP;
	return -1;
}

int system_link(int fd, const char *path)
{
#ifdef SYSTEM_LINUX
	char from[32];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
#else
	(void)fd;
	(void)path;
	errno = ENOTSUP;
	return -1;
#endif
}

/* volatile: a compiler may leave out an allocation that nothing uses. */
bool system_has_memory(size_t size)
{
	void *volatile room = malloc(size);
	const bool has = room != NULL;

	free(room);
	return has;
}

void system_read_ahead(int fd)
{
#ifdef POSIX_FADV_SEQUENTIAL
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#elif defined(F_RDAHEAD)
	(void)fcntl(fd, F_RDAHEAD, 1);
#else
	(void)fd;
#endif
}

struct timespec system_modified(const struct stat *st)
{
#ifdef __APPLE__
	return st->st_mtimespec;
#else
	return st->st_mtim;
#endif
}

ssize_t system_copy(int from, off_t *at, int to, size_t length)
{
#ifdef SYSTEM_LINUX
	return copy_file_range(from, at, to, NULL, length, 0);
#else
	(void)from;
	(void)at;
	(void)to;
	(void)length;
	errno = ENOTSUP;
	return -1;
#endif
}

int system_sync_all(int fd)
{
#ifdef SYSTEM_LINUX
	return syncfs(fd);
#else
	sync();
	return fsync(fd);
#endif
}

/* ---- Landlock, by raw system calls: the C library has no functions for it ---- */

#if defined(SYSTEM_LINUX) && !defined(__alpha__) /* which has numbers of its own */
#define SYSTEM_LANDLOCK

/* linux/landlock.h, of which older systems have less or nothing. */
enum {
	LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,

	LANDLOCK_ASK_VERSION = 1,
	LANDLOCK_PATH_BENEATH = 1,

	LANDLOCK_WRITE_FILE = 1 << 1,
	LANDLOCK_READ_FILE = 1 << 2,
	LANDLOCK_READ_DIR = 1 << 3,
	LANDLOCK_REMOVE_DIR = 1 << 4,
	LANDLOCK_REMOVE_FILE = 1 << 5,
	LANDLOCK_MAKE_DIR = 1 << 7,
	LANDLOCK_MAKE_REG = 1 << 8,
	LANDLOCK_MAKE_SYM = 1 << 12,
	LANDLOCK_TRUNCATE = 1 << 14,

	LANDLOCK_MAKE = LANDLOCK_MAKE_REG | LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_SYM | LANDLOCK_REMOVE_FILE | LANDLOCK_REMOVE_DIR,
	LANDLOCK_OF_FILES = LANDLOCK_WRITE_FILE | LANDLOCK_READ_FILE | LANDLOCK_TRUNCATE,
};

struct landlock_ruleset {
	uint64_t files, network, scopes;
};

struct landlock_beneath {
	uint64_t files;
	int32_t parent;
} __attribute__((packed));

/* All that a version can forbid. */
static struct landlock_ruleset landlock_all(int version)
{
	struct landlock_ruleset all = { .files = (1u << 13) - 1 };

	all.files |= version >= 2 ? 1u << 13 : 0; /* rename into another directory */
	all.files |= version >= 3 ? LANDLOCK_TRUNCATE : 0;
	all.files |= version >= 5 ? 1u << 15 : 0;	    /* ioctl on devices */
	all.network = version >= 4 ? 1u << 0 | 1u << 1 : 0; /* bind and connect, TCP */
	all.scopes = version >= 6 ? 1u << 0 | 1u << 1 : 0;  /* abstract sockets, signals */
	return all;
}
#endif

int system_confinement(void)
{
#ifdef SYSTEM_LANDLOCK
	long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_ASK_VERSION);

	return version > 0 ? (int)version : 0;
#else
	return 0;
#endif
}

int system_confine_begin(void)
{
#ifdef SYSTEM_LANDLOCK
	struct landlock_ruleset all = landlock_all(system_confinement());

	return system_confinement() ? (int)syscall(LANDLOCK_CREATE_RULESET, &all, sizeof(all), 0) : -1;
#else
	return -1;
#endif
}

void system_confine_allow(int list, const char *path, unsigned rights)
{
#ifdef SYSTEM_LANDLOCK
	struct landlock_beneath rule = { .parent = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (rule.parent < 0)
		return;
	rule.files |= rights & SYSTEM_READ ? LANDLOCK_READ_FILE : 0;
	rule.files |= rights & SYSTEM_LIST ? LANDLOCK_READ_DIR : 0;
	rule.files |= rights & SYSTEM_WRITE ? LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE : 0;
	rule.files |= rights & SYSTEM_MAKE ? LANDLOCK_MAKE : 0;
	/* A rule with a right that does not fit is refused. */
	rule.files &= landlock_all(system_confinement()).files;
	if (fstat(rule.parent, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.files &= LANDLOCK_OF_FILES;
	if (rule.files)
		(void)syscall(LANDLOCK_ADD_RULE, list, LANDLOCK_PATH_BENEATH, &rule, 0);
	(void)close(rule.parent);
#else
	(void)list;
	(void)path;
	(void)rights;
#endif
}

int system_confine(int list)
{
#ifdef SYSTEM_LANDLOCK
	long status = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	if (!status)
		status = syscall(LANDLOCK_RESTRICT_SELF, list, 0);
	int why = errno;
	(void)close(list);
	errno = why;
	return status ? -1 : 0;
#else
	(void)list;
	errno = ENOTSUP;
	return -1;
#endif
}

mode_t system_umask(void)
{
#ifdef SYSTEM_LINUX
	char line[128];
	FILE *f = fopen("/proc/self/status", "re"); /* not in a sandbox, and not without /proc */
	bool known = false;
	unsigned long told = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Umask:", 6)) {
			told = strtoul(line + 6, NULL, 8);
			known = true;
		}
	if (f)
		(void)fclose(f);
	if (known)
		return (mode_t)(told & 0777);
#endif
	/* Asked once, before there are other threads that could make files meanwhile, the answer would be old when the caller
	 * changes it: so for a moment, a new file of another thread gets no permissions at all. */
	mode_t mask = umask(0777);
	(void)umask(mask);
	return mask & 0777;
}

const char *system_signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = { { SIGHUP, "HUP" },   { SIGINT, "INT" },	{ SIGQUIT, "QUIT" }, { SIGILL, "ILL" },	  { SIGTRAP, "TRAP" },
		      { SIGABRT, "ABRT" }, { SIGBUS, "BUS" },	{ SIGFPE, "FPE" },   { SIGKILL, "KILL" }, { SIGUSR1, "USR1" },
		      { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" }, { SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" },
		      { SIGCHLD, "CHLD" }, { SIGCONT, "CONT" }, { SIGSTOP, "STOP" }, { SIGTSTP, "TSTP" }, { SIGTTIN, "TTIN" },
		      { SIGTTOU, "TTOU" }, { SIGURG, "URG" },	{ SIGXCPU, "XCPU" }, { SIGXFSZ, "XFSZ" }, { SIGVTALRM, "VTALRM" },
		      { SIGPROF, "PROF" }, { SIGSYS, "SYS" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

void system_fix_addresses(void)
{
#ifdef SYSTEM_LINUX
	(void)personality(ADDR_NO_RANDOMIZE);
#endif
}

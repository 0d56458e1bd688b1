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

int system_temporary(char *template)
{
#ifdef SYSTEM_HAS_PIPE2
	return mkostemp(template, O_CLOEXEC);
#else
	int fd = mkstemp(template);

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
	int fd = system_temporary(path);
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

mode_t system_umask(void)
{
	unsigned long mask = 022;
#ifdef SYSTEM_LINUX
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Umask:", 6))
			mask = strtoul(line + 6, NULL, 8);
	if (f)
		(void)fclose(f);
#else
	/* Asked once, before there are other threads that could make files meanwhile, the answer would be old when the caller
	 * changes it: so for a moment, a new file of another thread gets no permissions at all. */
	mask = umask(0777);
	(void)umask((mode_t)mask);
#endif
	return (mode_t)(mask & 0777);
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

/* What the program asks of the operating system beyond POSIX.1-2008: each with the call of Linux, macOS or the BSDs where there is
 * one, and a portable form elsewhere. No other file has an #ifdef of a system. */
#ifndef CORE_SYSTEM_H
#define CORE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* realloc() of count elements; NULL with errno ENOMEM when the product overflows. */
void *system_resize(void *old, size_t count, size_t size);

/* A pipe whose ends exec closes. 0, or -1 with errno. */
int system_pipe(int ends[2]);
/* As mkstemps(), closed by exec: the template ends in six X and a suffix of that length. */
int system_temporary(char *template, size_t suffix);
/* An unlinked file in `directory`, to be read and written. -1 with errno: none can be made. */
int system_unnamed_file(const char *directory);
/* A file in `directory` that has no name until system_link() gives it one, with the usual permissions; `path`, of `size` bytes, is
 * where this process can read it meanwhile. -1: the system or the file system has no such files. */
int system_unnamed_output(const char *directory, char *path, size_t size);
/* Gives it a name, which must not exist. 0, or -1 with errno. */
int system_link(int fd, const char *path);
/* Whether so many bytes can be allocated now: for libraries that do not check. */
bool system_has_memory(size_t size);
/* Says that the file will be read from its start to its end. */
void system_read_ahead(int fd);
/* When the content of a file was last changed. */
struct timespec system_modified(const struct stat *st);
/* Copies up to `length` bytes of the file `from` at *at, which moves on, to the end of the file `to` in the kernel, or shares them.
 * The number of bytes (0: `from` ends), or -1 with errno: ENOTSUP and others when that cannot be done with these files. */
ssize_t system_copy(int from, off_t *at, int to, size_t length);
/* Writes all of the file system that contains fd to disk, or what the system offers that is nearest to it. 0, or -1 with errno. */
int system_sync_all(int fd);

/* ---- what a process gives up for good (Landlock) ---- */

enum system_right {
	SYSTEM_READ = 1,  /* the bytes of files */
	SYSTEM_LIST = 2,  /* the names in directories */
	SYSTEM_WRITE = 4, /* to files that are there, and to files without a name */
	SYSTEM_MAKE = 8,  /* make, rename and remove files, directories and symbolic links */
};

/* The version of the means that the system has for the functions below; 0: it has none. */
int system_confinement(void);
/* Begins a list of files that may still be used. A descriptor, or -1: the system cannot confine. */
int system_confine_begin(void);
/* Adds a file, or a directory with all below it. A path that cannot be opened adds nothing. */
void system_confine_allow(int list, const char *path, unsigned rights);
/* From now on this thread, the threads that it starts and its children open no other file, run no program, connect to nothing over
 * TCP and send no signals to others, as far as the system can forbid these; descriptors that are open stay so. Closes the list. 0,
 * or -1 with errno, when nothing was given up. */
int system_confine(int list);

/* The permissions that new files do not get, read without setting them where the system can: other threads may create files. */
mode_t system_umask(void);

/* The name of a signal without "SIG", or NULL. */
const char *system_signal_name(int number);
/* Asks for the same addresses in each run, for the program that this process becomes by exec. May be called after fork. */
void system_fix_addresses(void);

#endif

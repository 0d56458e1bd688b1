/* What every unit test includes: cmocka, and a scratch directory. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

/* TEST_FORMAT in the environment restricts tests that go through the formats to one. */
static inline bool format_wanted(const char *name)
{
	const char *only = getenv("TEST_FORMAT");
	return !only || !*only || !strcmp(only, name);
}

/* A new directory; remove it with scratch_remove(). */
static inline void scratch_make(char path[64])
{
	strcpy(path, "/tmp/tracemend-test-XXXXXX");
	assert_non_null(mkdtemp(path));
}

static inline int scratch_unlink(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void scratch_remove(const char *path)
{
	assert_int_equal(nftw(path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void file_write(const char *directory, const char *name, const void *data, size_t size)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* Entries of a directory, hidden ones included. */
static inline size_t directory_count(const char *path)
{
	char command[300];
	char text[32];
	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", path);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	pclose(f);
	return (size_t)strtoul(text, NULL, 10);
}

#endif

/* The portable forms of core/system.h, under other names, beside those of this system. */
#include <errno.h>
#include <signal.h>

#include "unit.h"

#include "core/system.h"

#define SYSTEM_PORTABLE
#define system_resize portable_resize
#define system_pipe portable_pipe
#define system_has_memory portable_has_memory
#define system_temporary portable_temporary
#define system_unnamed_file portable_unnamed_file
#define system_umask portable_umask
#define system_unnamed_output portable_unnamed_output
#define system_link portable_link
#define system_read_ahead portable_read_ahead
#define system_modified portable_modified
#define system_copy portable_copy
#define system_sync_all portable_sync_all
#define system_signal_name portable_signal_name
#define system_fix_addresses portable_fix_addresses
#define system_confinement portable_confinement
#define system_confine_begin portable_confine_begin
#define system_confine_allow portable_confine_allow
#define system_confine portable_confine
#include "../../src/core/system.c"
#undef system_resize
#undef system_pipe
#undef system_temporary
#undef system_unnamed_file
#undef system_umask
#undef system_unnamed_output
#undef system_link
#undef system_read_ahead
#undef system_modified
#undef system_copy
#undef system_sync_all
#undef system_confinement
#undef system_confine_begin
#undef system_confine_allow
#undef system_confine

static void descriptors_do_not_outlive_exec(void **state)
{
	int (*const pipes[])(int ends[2]) = { system_pipe, portable_pipe };
	int (*const temporaries[])(char *template, size_t suffix) = { system_temporary, portable_temporary };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int ends[2];
		char name[] = "/tmp/tracemend-test-XXXXXX.fxt", byte = 'a';
		assert_int_equal(pipes[i](ends), 0);
		assert_true((fcntl(ends[0], F_GETFD) & FD_CLOEXEC) && (fcntl(ends[1], F_GETFD) & FD_CLOEXEC));
		assert_int_equal(write(ends[1], "x", 1), 1);
		assert_int_equal(read(ends[0], &byte, 1), 1);
		assert_int_equal(byte, 'x');
		close(ends[0]);
		close(ends[1]);
		int fd = temporaries[i](name, 4);
		assert_true(fd >= 0 && !strstr(name, "XXXXXX") && !strcmp(strrchr(name, '.'), ".fxt"));
		assert_true(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
		assert_int_equal(unlink(name), 0);
		close(fd);
	}
}

static void unnamed_files_leave_nothing(void **state)
{
	int (*const makers[])(const char *directory) = { system_unnamed_file, portable_unnamed_file };
	char folder[64];

	(void)state;
	scratch_make(folder);
	for (unsigned i = 0; i < 2; i++) {
		struct stat st;
		int fd = makers[i](folder);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, "abc", 3), 3);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_nlink, 0);
		assert_int_equal(st.st_mode & 077, 0);
		close(fd);
		assert_int_equal(makers[i]("/nowhere/at/all"), -1);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void the_umask_is_read_and_kept(void **state)
{
	mode_t before = umask(027);

	(void)state;
	assert_int_equal(system_umask(), 027);
	assert_int_equal(portable_umask(), 027);
	assert_int_equal(umask(before), 027);
}

static void products_that_overflow_are_refused(void **state)
{
	void *(*const resizes[])(void *old, size_t count, size_t size) = { system_resize, portable_resize };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_null(resizes[i](NULL, SIZE_MAX / 2, 3));
		assert_int_equal(errno, ENOMEM);
		void *none = resizes[i](NULL, 0, 8);
		assert_non_null(none);
		free(none);
	}
	assert_string_equal(portable_signal_name(SIGSEGV), "SEGV");
	assert_null(portable_signal_name(12345));
	portable_fix_addresses();
}

/* What the system offers for output, or a clean refusal. */
static void what_cannot_be_done_is_refused(void **state)
{
	char path[64], folder[64], name[96];
	off_t at = 0;

	(void)state;
	scratch_make(folder);
	assert_int_equal(portable_unnamed_output(folder, path, sizeof(path)), -1);
	assert_int_equal(errno, ENOTSUP);
	assert_int_equal(system_unnamed_output("/nowhere/at/all", path, sizeof(path)), -1);
	file_write(folder, "a", "abc", 3);
	file_write(folder, "b", "", 0);
	snprintf(name, sizeof(name), "%s/a", folder);
	int from = open(name, O_RDONLY);
	snprintf(name, sizeof(name), "%s/b", folder);
	int to = open(name, O_RDWR);
	assert_true(from >= 0 && to >= 0);
	assert_int_equal(portable_copy(from, &at, to, 3), -1);
	assert_int_equal(errno, ENOTSUP);
	ssize_t n = system_copy(from, &at, to, 3);
	assert_true(n == 3 || (n < 0 && at == 0));
	snprintf(name, sizeof(name), "%s/c", folder);
	assert_int_equal(portable_link(from, name), -1);
	assert_int_equal(system_sync_all(to), 0);
	assert_int_equal(portable_sync_all(to), 0);
	close(from);
	close(to);
	scratch_remove(folder);
}

static void memory_is_there_or_not(void **state)
{
	(void)state;
	assert_true(system_has_memory(2u << 20));
	assert_false(system_has_memory(SIZE_MAX / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_do_not_outlive_exec), cmocka_unit_test(unnamed_files_leave_nothing),
		cmocka_unit_test(the_umask_is_read_and_kept),	   cmocka_unit_test(products_that_overflow_are_refused),
		cmocka_unit_test(what_cannot_be_done_is_refused),  cmocka_unit_test(memory_is_there_or_not),
	};
	return RUN(tests);
}

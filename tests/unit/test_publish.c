/* core/publish.h: an output appears whole, or not at all (P10). */
#include "unit.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/publish.h"
#include "core/system.h"

static char scratch[64], out[96];

/* ---- the order of what reaches the disk ---- */

/* What was called, a letter each: "f" the file or a member is synced, whole; "c" the same before all of it was written; "d" a
 * directory is synced; "s" the whole file system is; "l" the file is given a name, "r" another one. */
static char calls[64];
static off_t whole; /* bytes that a member has when all are written */

static void called(char what)
{
	size_t n = strlen(calls);
	if (n + 1 < sizeof(calls)) {
		calls[n] = what;
		calls[n + 1] = '\0';
	}
}

/* The linker puts these between the code under test and the C library (--wrap). */
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __real_syncfs(int fd);
int __wrap_syncfs(int fd);

int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	int code = __real_linkat(from_at, from, to_at, to, flags);
	if (code == 0)
		called('l');
	return code;
}

int __wrap_syncfs(int fd)
{
	called('s');
	return __real_syncfs(fd);
}

int __wrap_fsync(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	called(S_ISDIR(st.st_mode) ? 'd' : st.st_size == whole ? 'f' : 'c');
	return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
	called('r');
	return __real_rename(from, to);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(scratch);
	calls[0] = '\0';
	whole = 0;
	snprintf(out, sizeof(out), "%s/out", scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(scratch);
	return 0;
}

/* Whether files have no name before they are complete, here. */
static bool unnamed(void)
{
	char path[64];
	int fd = system_unnamed_output(scratch, path, sizeof(path));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static struct publication *begin(bool directory)
{
	struct tracemend_error error = { 0 };
	struct publication *p = publication_begin(out, directory, &error);
	assert_non_null(p);
	return p;
}

static void refused(bool directory, enum tracemend_status expected)
{
	struct tracemend_error error = { 0 };
	assert_null(publication_begin(out, directory, &error));
	assert_int_equal(error.status, expected);
}

static void reads(const char *path, const char *text)
{
	char buffer[64] = "";
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(buffer, 1, sizeof(buffer) - 1, f), strlen(text));
	fclose(f);
	assert_string_equal(buffer, text);
}

static void a_file_appears_at_the_commit(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	struct publication *p = begin(false);
	assert_int_equal(publication_file(p, ""), TM_OK);
	assert_int_equal(publication_write(p, "hello", 5), TM_OK);
	assert_int_not_equal(access(out, F_OK), 0);
	reads(publication_temporary(p), "hello");
	assert_int_equal(publication_commit(p, &error), TM_OK);
	reads(out, "hello");
	assert_int_equal(directory_count(scratch), 1);
	struct stat st;
	assert_int_equal(stat(out, &st), 0);
	mode_t mask = umask(0);
	umask(mask);
	assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

static void an_existing_file_is_replaced_whole(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	file_write(scratch, "out", "a longer old text", 17);
	struct publication *p = begin(false);
	publication_file(p, "");
	publication_write(p, "new", 3);
	reads(out, "a longer old text");
	assert_int_equal(publication_commit(p, &error), TM_OK);
	reads(out, "new");
}

static void what_is_abandoned_leaves_nothing(void **state)
{
	(void)state;
	struct publication *p = begin(false);
	publication_file(p, "");
	publication_write(p, "hello", 5);
	publication_abandon(p);
	assert_int_equal(directory_count(scratch), 0);
	p = begin(true);
	publication_file(p, "sub/deep/file");
	publication_write(p, "hello", 5);
	publication_abandon(p);
	assert_int_equal(directory_count(scratch), 0);
	publication_abandon(NULL);
}

static void a_directory_appears_whole(void **state)
{
	struct tracemend_error error = { 0 };
	char path[128];
	(void)state;
	assert_int_equal(mkdir(out, 0700), 0); /* an empty one may be replaced */
	struct publication *p = begin(true);
	assert_int_equal(publication_file(p, "a"), TM_OK);
	publication_write(p, "1", 1);
	assert_int_equal(publication_file(p, "sub/b"), TM_OK);
	publication_write(p, "2", 1);
	assert_int_equal(publication_commit(p, &error), TM_OK);
	snprintf(path, sizeof(path), "%s/a", out);
	reads(path, "1");
	snprintf(path, sizeof(path), "%s/sub/b", out);
	reads(path, "2");
	assert_int_equal(directory_count(scratch), 1);
}

static void a_directory_with_content_is_left_alone(void **state)
{
	struct tracemend_error error = { 0 };
	char path[128];
	(void)state;
	assert_int_equal(mkdir(out, 0700), 0);
	snprintf(path, sizeof(path), "%s/mine", out);
	file_write(out, "mine", "precious", 8);
	struct publication *p = publication_begin(out, true, &error);
	if (p) {
		publication_file(p, "a");
		assert_int_equal(publication_commit(p, &error), TM_USAGE);
	} else {
		assert_int_equal(error.status, TM_USAGE);
	}
	reads(path, "precious");
	assert_int_equal(directory_count(scratch), 1);
}

static void kinds_are_not_mixed(void **state)
{
	(void)state;
	file_write(scratch, "out", "x", 1);
	refused(true, TM_USAGE);
	reads(out, "x");
	assert_int_equal(unlink(out), 0);
	assert_int_equal(mkdir(out, 0700), 0);
	refused(false, TM_USAGE);
	assert_int_equal(rmdir(out), 0);
	assert_int_equal(mkfifo(out, 0600), 0);
	refused(false, TM_USAGE);
	snprintf(out, sizeof(out), "%s/no/such/dir", scratch);
	refused(false, TM_IO);
}

static void names_stay_below_the_output(void **state)
{
	static const char *const names[] = { "../evil", "/evil", "a/../../evil", "", ".", "a//b" };
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct publication *p = begin(true);
		assert_int_not_equal(publication_file(p, names[i]), TM_OK);
		publication_abandon(p);
	}
	assert_int_equal(directory_count(scratch), 0);
}

/* Writes a megabyte where there is no room for it. */
static void write_too_much(bool directory)
{
	static char block[65536];
	struct tracemend_error error = { 0 };
	enum tracemend_status status = TM_OK;
	struct publication *p = begin(directory);
	status = publication_file(p, directory ? "f" : "");
	for (int i = 0; i < 16 && status == TM_OK; i++)
		status = publication_write(p, block, sizeof(block));
	status = publication_commit(p, &error);
	assert_int_equal(status, TM_IO);
	assert_int_equal(error.status, TM_IO);
	assert_true(*error.message);
	assert_int_not_equal(access(out, F_OK), 0);
}

static void a_full_disk_leaves_nothing(void **state)
{
	(void)state;
	if (geteuid() == 0 && mount("tmpfs", scratch, "tmpfs", 0, "size=256k") == 0) {
		write_too_much(false);
		write_too_much(true);
		assert_int_equal(directory_count(scratch), 0);
		assert_int_equal(umount(scratch), 0);
		return;
	}
	/* Without root: a limit on the size of files, in a child, stands for the disk. */
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct rlimit limit = { 100000, 100000 };
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		write_too_much(false);
		write_too_much(true);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(directory_count(scratch), 0);
}

/* A process that is killed while it writes to `out`: a file, a directory, or a file that others can see already. */
static void killed(bool directory, bool named)
{
	int gate[2];
	char byte;
	assert_int_equal(pipe(gate), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct publication *p = publication_begin(out, directory, NULL);
		publication_file(p, directory ? "sub/f" : "");
		publication_write(p, "half", 4);
		(void)(named ? publication_named_temporary(p) : publication_temporary(p));
		/* A living process keeps what it has. */
		publication_clean(out);
		if (write(gate[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(gate[0], &byte, 1), 1);
	publication_clean(out);
	assert_int_equal(directory_count(scratch), directory || named || !unnamed());
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(gate[0]);
	close(gate[1]);
	assert_int_not_equal(access(out, F_OK), 0);
}

static void killed_it_leaves_no_output(void **state)
{
	(void)state;
	killed(false, false);
	if (unnamed())
		assert_int_equal(directory_count(scratch), 0);
	publication_clean(out);
	assert_int_equal(directory_count(scratch), 0);
}

static void killed_it_leaves_one_temporary_that_the_next_run_removes(void **state)
{
	(void)state;
	for (int named = 0; named < 2; named++) {
		killed(!named, named);
		assert_int_equal(directory_count(scratch), 1);
		publication_clean(out);
		assert_int_equal(directory_count(scratch), 0);
	}
}

static void what_only_looks_like_a_temporary_stays(void **state)
{
	(void)state;
	file_write(scratch, ".tracemend-longest", "precious", 8);
	file_write(scratch, "x.tracemend-abcdef", "precious", 8);
	assert_int_equal(symlink(scratch, (snprintf(out, sizeof(out), "%s/.tracemend-abcdef", scratch), out)), 0);
	static const char *const others[] = { ".tracemend-new.a.fxt", ".tracemend-abcdef.long-extension",
					      ".tracemend-abcdefg.fxt" };
	for (unsigned i = 0; i < 3; i++)
		file_write(scratch, others[i], "precious", 8);
	publication_clean(out);
	assert_int_equal(directory_count(scratch), 6);
	file_write(scratch, ".tracemend-uvwxyz.fxt", "left", 4);
	publication_clean(out);
	assert_int_equal(directory_count(scratch), 6);
}

static void a_name_may_be_as_long_as_names_can_be(void **state)
{
	char name[256], path[400];
	struct tracemend_error error = { 0 };
	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	for (int time = 0; time < 2; time++) {
		struct publication *p = publication_begin(path, false, &error);
		assert_non_null(p);
		publication_write(p, "x", 1);
		assert_int_equal(publication_commit(p, &error), TM_OK);
		reads(path, "x");
		assert_int_equal(directory_count(scratch), 1);
	}
	assert_int_equal(unlink(path), 0);
	struct publication *p = publication_begin(path, true, &error);
	assert_int_equal(publication_file(p, "f"), TM_OK);
	assert_int_equal(publication_commit(p, &error), TM_OK);
}

/* The bytes are on disk before the name is, and the name before the commit returns. */
static void a_file_is_synced_before_its_name(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	whole = 5;
	struct publication *p = begin(false);
	assert_int_equal(publication_file(p, ""), TM_OK);
	assert_int_equal(publication_write(p, "hello", 5), TM_OK);
	assert_int_equal(publication_commit(p, &error), TM_OK);
	assert_string_equal(calls, unnamed() ? "fld" : "frd");
	calls[0] = '\0';
	p = begin(false);
	assert_int_equal(publication_write(p, "again", 5), TM_OK);
	assert_int_equal(publication_commit(p, &error), TM_OK);
	assert_string_equal(calls, unnamed() ? "flrd" : "frd");
}

static void each_member_is_synced_before_the_name(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	whole = 3;
	struct publication *p = begin(true);
	assert_int_equal(publication_file(p, "a"), TM_OK);
	assert_int_equal(publication_write(p, "one", 3), TM_OK);
	assert_int_equal(publication_file(p, "b"), TM_OK);
	assert_int_equal(publication_write(p, "two", 3), TM_OK);
	assert_int_equal(publication_commit(p, &error), TM_OK);
	assert_string_equal(calls, "ffdrd");
}

/* Many members, and the entries of folders in the directory, are synced at once. */
static void many_members_are_synced_together(void **state)
{
	struct tracemend_error error = { 0 };
	char name[32];
	(void)state;
	whole = 1;
	struct publication *p = begin(true);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(publication_file(p, name), TM_OK);
		assert_int_equal(publication_write(p, "x", 1), TM_OK);
	}
	assert_int_equal(publication_commit(p, &error), TM_OK);
	assert_string_equal(calls, "ffffffffffffffff"
				   "sdrd");
	assert_int_equal(directory_count(out), 100);
}

static void new_folders_are_synced(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	whole = 1;
	struct publication *p = begin(true);
	assert_int_equal(publication_file(p, "sub/a"), TM_OK);
	assert_int_equal(publication_write(p, "x", 1), TM_OK);
	assert_int_equal(publication_commit(p, &error), TM_OK);
	assert_string_equal(calls, "fsdrd");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { T(a_file_appears_at_the_commit),
					    T(an_existing_file_is_replaced_whole),
					    T(what_is_abandoned_leaves_nothing),
					    T(a_directory_appears_whole),
					    T(a_directory_with_content_is_left_alone),
					    T(kinds_are_not_mixed),
					    T(names_stay_below_the_output),
					    T(a_full_disk_leaves_nothing),
					    T(killed_it_leaves_no_output),
					    T(a_file_is_synced_before_its_name),
					    T(each_member_is_synced_before_the_name),
					    T(many_members_are_synced_together),
					    T(new_folders_are_synced),
					    T(killed_it_leaves_one_temporary_that_the_next_run_removes),
					    T(what_only_looks_like_a_temporary_stays),
					    T(a_name_may_be_as_long_as_names_can_be) };
	return RUN(tests);
}

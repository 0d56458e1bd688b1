/* Code that runs in the sandbox opens no file but those of the options, runs no program and makes no socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit.h"

#include "cli/sandbox.h"
#include "core/publish.h"
#include "core/system.h"

static char scratch[64], in[96], other[96], folder[96], out[128], temporary[96];

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "secret", 6), 6);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(scratch);
	snprintf(in, sizeof(in), "%s/in", scratch);
	snprintf(other, sizeof(other), "%s/other", scratch);
	snprintf(folder, sizeof(folder), "%s/folder", scratch);
	snprintf(out, sizeof(out), "%s/out", folder);
	snprintf(temporary, sizeof(temporary), "%s/temporary", scratch);
	write_file(in);
	write_file(other);
	assert_int_equal(mkdir(folder, 0777), 0);
	assert_int_equal(mkdir(temporary, 0777), 0);
	assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(scratch);
	return unsetenv("TMPDIR");
}

/* What a test asks of the code inside: true when it is as it must be. */
typedef bool (*inside)(void);

/* Runs a question in a process that entered the sandbox as `repair in -o folder/out` does. */
static bool holds_inside(inside question, const char *accepts)
{
	const struct cli_command command = { .name = "repair", .accepts = accepts };
	const char *paths[] = { in };
	const struct cli_options o = { .command = &command, .paths = { paths, 1 }, .output = out };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		sandbox_enter(&o);
		_exit(question() ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool can_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool opens_what_it_needs(void)
{
	struct tracemend_error error = { 0 };
	char buffer[16];
	int spool = system_unnamed_file(temporary);
	struct publication *p = publication_begin(out, false, &error);

	if (!can_open(in, O_RDONLY) || spool < 0 || pwrite(spool, "x", 1, 0) != 1 || pread(spool, buffer, 1, 0) != 1 || !p)
		return false;
	(void)publication_write(p, "abc", 3);
	if (!can_open(publication_temporary(p), O_RDONLY) || publication_commit(p, &error) != TM_OK)
		return false;
	/* the second one replaces the first, by a rename */
	p = publication_begin(out, false, &error);
	return p && publication_write(p, "abcd", 4) == TM_OK && publication_commit(p, &error) == TM_OK && can_open(out, O_RDONLY);
}

static bool opens_no_other_file(void)
{
	return !can_open(other, O_RDONLY) && !can_open("/etc/passwd", O_RDONLY) && !can_open("/proc/self/mem", O_RDWR) &&
	       !can_open("/", O_RDONLY | O_DIRECTORY);
}

static bool writes_nowhere_else(void)
{
	char name[160];

	snprintf(name, sizeof(name), "%s/new", scratch);
	return !can_open(in, O_RDWR) && !can_open(name, O_WRONLY | O_CREAT) && mkdir(name, 0777) && unlink(other) &&
	       rename(other, name) && truncate(other, 0);
}

static bool runs_no_program(void)
{
	char name[] = "true", *const arguments[] = { name, NULL };

	(void)execv("/bin/true", arguments);
	return errno == EACCES || errno == EPERM;
}

static bool connects_to_nothing(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = { htonl(INADDR_LOOPBACK) } };

	/* ECONNREFUSED would mean that it was tried. */
	return fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno == EACCES);
}

static bool makes_no_socket(void)
{
	int ends[2];

	return socket(AF_INET, SOCK_DGRAM, 0) < 0 && socket(AF_UNIX, SOCK_STREAM, 0) < 0 &&
	       socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0;
}

static bool traces_nobody(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) < 0 && errno == EPERM;
}

static bool makes_no_process_and_no_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return fork() < 0 && errno == EPERM && page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 &&
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

static void *in_a_thread(void *result)
{
	*(bool *)result = opens_no_other_file() && runs_no_program();
	return NULL;
}

static bool threads_are_inside(void)
{
	pthread_t thread;
	bool good = false;

	return !pthread_create(&thread, NULL, in_a_thread, &good) && !pthread_join(thread, NULL) && good;
}

static bool built_without(void)
{
#ifdef TM_NO_SANDBOX
	return true;
#else
	return false;
#endif
}

#define REPAIR "oPy"

static void files(void **state)
{
	(void)state;
	if (built_without() || !system_confinement())
		skip();
	assert_true(holds_inside(opens_what_it_needs, REPAIR));
	assert_true(holds_inside(opens_no_other_file, REPAIR));
	assert_true(holds_inside(writes_nowhere_else, REPAIR));
	assert_true(holds_inside(runs_no_program, REPAIR));
	assert_true(holds_inside(threads_are_inside, REPAIR));
	if (system_confinement() >= 4)
		assert_true(holds_inside(connects_to_nothing, REPAIR));
}

static void calls(void **state)
{
	(void)state;
	if (built_without() || !sandbox_can_forbid_calls())
		skip();
	assert_true(holds_inside(opens_what_it_needs, REPAIR));
	assert_true(holds_inside(runs_no_program, REPAIR));
	assert_true(holds_inside(makes_no_socket, REPAIR));
	assert_true(holds_inside(traces_nobody, REPAIR));
	assert_true(holds_inside(makes_no_process_and_no_code, REPAIR));
}

/* The same questions, of a command that has no sandbox: they can be answered otherwise. */
static void outside(void **state)
{
	(void)state;
	assert_false(holds_inside(opens_no_other_file, "o"));
	assert_false(holds_inside(writes_nowhere_else, "o"));
	assert_false(holds_inside(makes_no_socket, "o"));
	assert_false(holds_inside(makes_no_process_and_no_code, "o"));
	assert_false(holds_inside(connects_to_nothing, "o"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(outside, set_up, tear_down),
	};

	return RUN(tests);
}

/* A harness for libtracecmd, the library of trace-cmd: opens the input as a trace.dat file and prints every event, as `trace-cmd
 * report` does. For libFuzzer and AFL++ (both through LLVMFuzzerTestOneInput); scripts/fuzz-tracecmd.sh builds and runs it.
 *
 * The file is in memory and is opened by descriptor, so that many runs fit in one process. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <trace-cmd.h>

/* Events to print; further ones cover nothing new. */
#define EVENTS_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int show(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *ctx)
{
	struct tep_handle *tep = tracecmd_get_tep(handle);
	int *left = ctx;
	struct trace_seq s;

	trace_seq_init(&s);
	tep_print_event(tep, &s, record, "%s-%d [%03d] %d %s %s", TEP_PRINT_COMM, TEP_PRINT_PID, TEP_PRINT_CPU, TEP_PRINT_TIME,
			TEP_PRINT_NAME, TEP_PRINT_INFO);
	trace_seq_destroy(&s);
	(void)cpu;
	return --*left <= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace.dat", 0), left = EVENTS_MAX;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	/* The handle owns the descriptor, also where opening fails. */
	struct tracecmd_input *handle = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!handle)
		return 0;
	tracecmd_iterate_events(handle, NULL, 0, show, &left);
	for (int i = 0; i < tracecmd_buffer_instances(handle) && i < 8; i++) {
		struct tracecmd_input *instance = tracecmd_buffer_instance_handle(handle, i);
		if (instance) {
			tracecmd_iterate_events(instance, NULL, 0, show, &left);
			tracecmd_close(instance);
		}
	}
	tracecmd_close(handle);
	return 0;
}

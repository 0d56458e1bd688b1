/* Files of a generated uftrace directory that no reader needs: perf and kernel data, user events, remarks, options. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdio.h>

enum { NANOSECONDS = 1000000000 };

/* ---- perf-cpu<N>.dat: records of the perf ring ---- */

enum { PERF_COMM = 3, PERF_EXIT = 4, PERF_FORK = 7, PERF_SWITCH = 14, PERF_MISC_EXEC_OR_OUT = 0x2000, PERF_MISC_PREEMPT = 0x4000 };

static void write_perf_header(struct bytes *b, uint32_t type, uint16_t misc, uint16_t size)
{
	bytes_u32(b, type);
	bytes_u16(b, misc);
	bytes_u16(b, size);
}

static void write_perf_sample(struct bytes *b, const struct uftrace_gen_task *t, uint64_t time)
{
	bytes_u32(b, (uint32_t)t->pid);
	bytes_u32(b, (uint32_t)t->tid);
	bytes_u64(b, time);
}

static void write_perf_task(struct bytes *b, uint32_t type, const struct uftrace_gen_task *t, uint64_t time)
{
	write_perf_header(b, type, 0, 48);
	bytes_u32(b, (uint32_t)t->pid);
	bytes_u32(b, (uint32_t)t->pid);
	bytes_u32(b, (uint32_t)t->tid);
	bytes_u32(b, (uint32_t)t->tid);
	bytes_u64(b, time);
	write_perf_sample(b, t, time);
}

static void write_perf(struct uftrace_gen *g)
{
	for (unsigned cpu = 0; cpu < g->cpus; cpu++) {
		char name[32];
		struct bytes *b;
		uint64_t time = g->start, step = (g->end - g->start) / 64;
		unsigned count = uftrace_gen_below(g, 12);

		(void)snprintf(name, sizeof(name), "perf-cpu%u.dat", cpu);
		b = gen_file(g->g, name);
		if (!b)
			return;
		b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
		if (cpu == 0) {
			bool long_name = uftrace_gen_below(g, 2);

			write_perf_header(b, PERF_COMM, PERF_MISC_EXEC_OR_OUT, long_name ? 48 : 40);
			bytes_u32(b, (uint32_t)g->tasks[0].pid);
			bytes_u32(b, (uint32_t)g->tasks[0].tid);
			bytes_append(b, long_name ? "shop-front\0\0\0\0\0\0" : "shop\0\0\0\0", long_name ? 16 : 8);
			write_perf_sample(b, &g->tasks[0], time);
		}
		for (; count; count--) {
			const struct uftrace_gen_task *t = &g->tasks[uftrace_gen_below(g, g->task_count)];

			time += choices_below(g->g->choices, step + 1);
			switch (uftrace_gen_below(g, 4)) {
			case 2:
				write_perf_task(b, PERF_FORK, t, time);
				break;
			case 3:
				write_perf_task(b, PERF_EXIT, t, time);
				break;
			default:
				write_perf_header(b, PERF_SWITCH,
						  PERF_MISC_EXEC_OR_OUT | (uftrace_gen_below(g, 2) ? PERF_MISC_PREEMPT : 0), 24);
				write_perf_sample(b, t, time);
				time += choices_below(g->g->choices, step + 1);
				write_perf_header(b, PERF_SWITCH, 0, 24);
				write_perf_sample(b, t, time);
				break;
			}
		}
	}
}

/* ---- kernel tracing ---- */

enum { KERNEL_PAGE = 4096, KERNEL_ENTRY_ID = 11, KERNEL_EXIT_ID = 10 };

#define KERNEL_COMMON \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void write_kernel_block(struct bytes *b, const char *path, const char *text)
{
	bytes_printf(b, "TRACEFS: %s: %zu\n%s", path, strlen(text), text);
}

static void write_kernel_header(struct uftrace_gen *g)
{
	struct bytes *b = gen_file(g->g, "kernel_header");

	if (!b)
		return;
	bytes_printf(b, "PAGE_SIZE: %d\nLONG_SIZE: 8\nENDIAN: %s\n", KERNEL_PAGE,
		     uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN) ? "BE" : "LE");
	write_kernel_block(b, "events/header_page",
			   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
	write_kernel_block(b, "events/ftrace/funcgraph_entry/format",
			   "name: funcgraph_entry\nID: 11\n" KERNEL_COMMON
			   "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n\n"
			   "print fmt: \"--> %lx (%d)\", REC->func, REC->depth\n");
	write_kernel_block(b, "events/ftrace/funcgraph_exit/format",
			   "name: funcgraph_exit\nID: 10\n" KERNEL_COMMON
			   "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long long calltime;\toffset:16;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long long rettime;\toffset:24;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long overrun;\toffset:32;\tsize:8;\tsigned:0;\n"
			   "\tfield:int depth;\toffset:40;\tsize:4;\tsigned:1;\n\n"
			   "print fmt: \"<-- %lx (%d)\", REC->func, REC->depth\n");
}

/* One event: word with length and time delta, then the payload of 4 * words bytes. */
static void write_kernel_event(struct bytes *b, uint16_t id, unsigned words, uint32_t delta, int pid, uint64_t function)
{
	bytes_u32(b, b->big_endian ? words << 27 | delta : words | delta << 5);
	bytes_u16(b, id);
	bytes_u8(b, 0);
	bytes_u8(b, 0);
	bytes_u32(b, (uint32_t)pid);
	bytes_u64(b, function);
	(void)bytes_grow(b, 4 * (words - 4));
}

static void write_kernel_pages(struct uftrace_gen *g)
{
	for (unsigned cpu = 0; cpu < g->cpus; cpu++) {
		char name[32];
		struct bytes *b;
		uint64_t time = g->start + uftrace_gen_below(g, 1000);

		(void)snprintf(name, sizeof(name), "kernel-cpu%u.dat", cpu);
		b = gen_file(g->g, name);
		if (!b)
			return;
		b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
		for (unsigned pages = cpu == 0 ? 1 : uftrace_gen_below(g, 2); pages; pages--) {
			size_t page = b->size;
			unsigned count = 1 + uftrace_gen_below(g, 40);

			bytes_u64(b, time);
			bytes_u64(b, 0);
			for (unsigned i = 0; i < count; i++) {
				uint64_t function = 0xffffffff81000000 + 0x100 * (uint64_t)uftrace_gen_below(g, 8);
				uint32_t delta = 1 + uftrace_gen_below(g, 1000);

				write_kernel_event(b, KERNEL_ENTRY_ID, 5, delta, g->tasks[0].tid, function);
				write_kernel_event(b, KERNEL_EXIT_ID, 11, delta, g->tasks[0].tid, function);
				time += 2 * (uint64_t)delta;
			}
			if (b->failed)
				return;
			store_u64(b->data + page + 8, b->size - page - 16, b->big_endian);
			(void)bytes_grow(b, page + KERNEL_PAGE - b->size);
		}
	}
}

static void write_kernel(struct uftrace_gen *g)
{
	struct bytes *b = gen_file(g->g, "kallsyms");

	if (!b)
		return;
	for (unsigned i = 0; i < 8; i++)
		bytes_printf(b, "%016llx %c vfs_step%u%s\n", 0xffffffff81000000 + 0x100ULL * i, "Ttw"[i % 3], i,
			     i == 7 ? "\t[shop_module]" : "");
	write_kernel_header(g);
	write_kernel_pages(g);
}

/* ---- small text files ---- */

static void write_probes(struct uftrace_gen *g)
{
	static const char *const events[] = { "shop:order", "shop:bill", "python:function__entry", "libc:setjmp" };
	struct bytes *b = gen_file(g->g, "events.txt");

	for (unsigned i = 0; b && i < g->probes; i++)
		bytes_printf(b, "EVENT: %u %s\n", 1000000 + i, events[i % 4]);
}

static void write_extern(struct uftrace_gen *g)
{
	struct bytes *b = gen_file(g->g, "extern.dat");
	uint64_t time = g->start, step = (g->end - g->start) / 4;

	if (!b)
		return;
	if (uftrace_gen_below(g, 2))
		bytes_text(b, "# remarks from elsewhere\n");
	for (unsigned i = 1 + uftrace_gen_below(g, 4); i; i--) {
		time += choices_below(g->g->choices, step + 1);
		bytes_printf(b, "%llu.%09llu remark %u: the shop is open\n", (unsigned long long)(time / NANOSECONDS),
			     (unsigned long long)(time % NANOSECONDS), i);
	}
}

void uftrace_gen_write_side_files(struct uftrace_gen *g)
{
	if (uftrace_gen_has(g, UFTRACE_GEN_PERF))
		write_perf(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_KERNEL))
		write_kernel(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_PROBES))
		write_probes(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_EXTERN))
		write_extern(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_NOTE)) {
		struct bytes *b = gen_file(g->g, "note.txt");

		if (b)
			bytes_text(b, "Recorded before the sale.\n100 % of the orders are in it.\n");
	}
	if (uftrace_gen_has(g, UFTRACE_GEN_OPTS)) {
		struct bytes *b = gen_file(g->g, "default.opts");

		if (b && uftrace_gen_below(g, 4) == 3)
			bytes_text(b, "-t 5us\n");
	}
}

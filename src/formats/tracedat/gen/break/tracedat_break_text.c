/* Breakers of the text blocks and the options. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

/* ---- kallsyms ---- */

BREAK(kallsyms_size)
{
	MODEL g->kallsyms_delta = 1;
}

BREAK(kallsyms_empty)
{
	MODEL g->kallsyms.size = 0;
}

BREAK(kallsyms_line)
{
	MODEL tracedat_gen_swap(&g->kallsyms, "_text\n", "_text\nno symbol\n");
}

BREAK(kallsyms_no_final_newline)
{
	MODEL g->kallsyms.size -= g->kallsyms.size > 0;
}

BREAK(kallsyms_all_zero)
{
	MODEL tracedat_gen_text(&g->kallsyms, "0000000000000000 T _text\n0000000000000000 T _etext\n");
}

BREAK(kallsyms_unsorted)
{
	MODEL tracedat_gen_text(&g->kallsyms, "ffffffff81000200 T later\nffffffff81000100 T earlier\n");
}

BREAK(kallsyms_digit_width)
{
	SHAPE g->long_size = g->user_long = 4;
	MODEL tracedat_gen_text(&g->kallsyms, "00000000c1000000 T _text\n00000000c1000400 T _etext\n");
}

BREAK(kallsyms_module_bracket)
{
	MODEL tracedat_gen_swap(&g->kallsyms, "[demo]", "[demo");
}

BREAK(kallsyms_nul)
{
	MODEL tracedat_gen_swap(&g->kallsyms, "demo_tick", "demo@tick");
	MODEL
	{
		uint8_t *p = memchr(g->kallsyms.data, '@', g->kallsyms.size);
		if (p)
			*p = 0;
	}
}

/* ---- printk formats and command lines ---- */

BREAK(printk_size)
{
	MODEL g->printk_delta = 1;
}

BREAK(printk_line)
{
	MODEL bytes_text(&g->printk, "0x1234\n");
}

BREAK(printk_duplicate_address)
{
	MODEL bytes_text(&g->printk, "0xffffffff81000400 : \"another text\"\n");
}

BREAK(printk_bad_escape)
{
	MODEL tracedat_gen_swap(&g->printk, "\\n", "\\q");
}

BREAK(cmdlines_size)
{
	MODEL g->cmdlines_delta = INT64_C(1) << 62;
}

BREAK(cmdlines_line)
{
	MODEL tracedat_gen_swap(&g->cmdlines, "1 init\n", "1 init\nnobody\n");
}

BREAK(cmdlines_pid_range)
{
	MODEL bytes_text(&g->cmdlines, "5000000 far\n");
}

BREAK(cmdlines_duplicate_pid)
{
	MODEL bytes_text(&g->cmdlines, "42 other\n");
}

BREAK(cmdlines_comm_length)
{
	MODEL bytes_text(&g->cmdlines, "43 a name that is too long\n");
}

/* ---- the rest of the header ---- */

BREAK(cpu_count_range)
{
	BYTES tracedat_gen_u32(g, g->at.cpus, 0);
}

BREAK(data_tag_invalid)
{
	BYTES g->out->data[g->at.tag] = 'O';
}

BREAK(data_tag_padding)
{
	BYTES g->out->data[g->at.tag + 8] = 'x';
}

BREAK(options_tag_twice)
{
	MODEL g->twice = true;
}

BREAK(option_size)
{
	BYTES tracedat_gen_u32(g, tracedat_gen_option(g, TRACEDAT_VERSION)->at + 2, 0xffffff);
}

BREAK(option_missing_done)
{
	MODEL g->no_done = true;
}

BREAK(option_unknown)
{
	MODEL(void) tracedat_gen_option_add(g, 99, "something", 10);
}

BREAK(option_v7_in_v6)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_KALLSYMS, "\0\0\0\0\0\0\0", 8);
}

BREAK(option_duplicate)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_UNAME, "Linux again", 12);
}

BREAK(option_string_nul)
{
	MODEL tracedat_gen_option(g, TRACEDAT_UNAME)->data.size--;
}

BREAK(option_date_syntax)
{
	MODEL tracedat_gen_option_remove(g, TRACEDAT_DATE);
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_DATE, "yesterday", 10);
}

BREAK(option_offset_syntax)
{
	MODEL tracedat_gen_option_remove(g, TRACEDAT_OFFSET);
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_OFFSET, "soon", 5);
}

BREAK(option_cpustat_empty)
{
	MODEL tracedat_gen_option(g, TRACEDAT_CPUSTAT)->data.size = 0;
}

BREAK(option_cpustat_shape)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_CPUSTAT, "nothing to tell\n", 17);
}

BREAK(option_clock_brackets)
{
	MODEL tracedat_gen_text(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, "local global []\n");
	MODEL bytes_u8(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, 0);
}

BREAK(option_hook_syntax)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_HOOK, "no hook", 8);
}

BREAK(option_cpucount_size)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_CPUCOUNT, "\2", 2);
}

static void option_cpus(struct tracedat_gen *g, uint32_t count)
{
	uint8_t number[4];
	store_u32(number, count, g->big_endian);
	tracedat_gen_option_remove(g, TRACEDAT_CPUCOUNT);
	(void)tracedat_gen_option_add(g, TRACEDAT_CPUCOUNT, number, 4);
}

BREAK(option_cpucount_value)
{
	MODEL option_cpus(g, 7);
}

BREAK(host_order_cpucount)
{
	SHAPE g->version = 7;
	MODEL option_cpus(g, 0x02000000);
}

BREAK(option_procmaps_syntax)
{
	MODEL tracedat_gen_option_remove(g, TRACEDAT_PROCMAPS);
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_PROCMAPS, "2a 3 demo\n400000 401000 /usr/bin/demo\n", 39);
}

BREAK(option_traceid_size)
{
	MODEL tracedat_gen_option(g, TRACEDAT_TRACEID)->data.size = 4;
}

/* A time shift of one CPU with n claimed samples; two are there. */
static void option_shift(struct tracedat_gen *g, uint32_t n, uint32_t there, uint64_t second)
{
	struct gen_option *o = tracedat_gen_option_add(g, TRACEDAT_TIME_SHIFT, "", 0);
	bytes_u64(&o->data, 7);
	bytes_u32(&o->data, 0);
	bytes_u32(&o->data, 1);
	bytes_u32(&o->data, n);
	for (uint32_t i = 0; i < there; i++)
		bytes_u64(&o->data, i ? second : 1000);
	for (uint32_t i = 0; i < 2 * there; i++)
		bytes_u64(&o->data, i);
}

BREAK(option_timeshift_layout)
{
	MODEL option_shift(g, 1000, 2, 2000);
}

BREAK(option_timeshift_empty_cpu)
{
	MODEL option_shift(g, 0, 0, 0);
}

BREAK(option_timeshift_order)
{
	MODEL option_shift(g, 2, 2, 500);
}

BREAK(option_guest_layout)
{
	MODEL
	{
		struct gen_option *o = tracedat_gen_option_add(g, TRACEDAT_GUEST, "guest", 6);
		bytes_u64(&o->data, 7);
		bytes_u32(&o->data, 1);
		bytes_u32(&o->data, 5); /* not below 1 */
		bytes_u32(&o->data, 100);
	}
}

BREAK(option_tsc2nsec_range)
{
	MODEL
	{
		struct gen_option *o = tracedat_gen_option_add(g, TRACEDAT_TSC2NSEC, "", 0);
		bytes_u32(&o->data, 1000);
		bytes_u32(&o->data, 64);
		bytes_u64(&o->data, 0);
	}
}

BREAK(option_buffer_name)
{
	SHAPE g->instances = 1;
	MODEL tracedat_gen_option(g, TRACEDAT_BUFFER)->data.size--;
}

BREAK(v6_buffer_offset)
{
	SHAPE
	{
		g->version = 6;
		g->instances = 1;
	}
	BYTES tracedat_gen_u64(g, tracedat_gen_option(g, TRACEDAT_BUFFER)->at + 6, g->at.header);
}

BREAK(v6_clock_block_missing)
{
	MODEL g->no_clock_block = true;
}

BREAK(v6_clock_block_orphan)
{
	MODEL tracedat_gen_option_remove(g, TRACEDAT_TRACECLOCK);
}

BREAK(restored_without_clock)
{
	MODEL tracedat_gen_option_remove(g, TRACEDAT_TRACECLOCK);
	MODEL tracedat_gen_option_remove(g, TRACEDAT_CPUSTAT);
}

BREAK(v6_clock_conflict)
{
	MODEL tracedat_gen_text(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, "local [mono] boot\n");
	MODEL bytes_u8(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, 0);
}

BREAK(v6_latency_with_clock_option)
{
	static const char *const clocks[] = { "[local] global\n", "local [global]\n", "local [mono]\n", "[boot] local\n" };
	SHAPE g->latency = true;
	MODEL
	{
		const char *text = clocks[choices_below(g->choices, 4)];
		(void)tracedat_gen_option_add(g, TRACEDAT_TRACECLOCK, text, strlen(text) + 1);
	}
}

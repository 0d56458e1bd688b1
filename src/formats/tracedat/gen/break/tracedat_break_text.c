/* Breakers of the text blocks and the options. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

/* ---- kallsyms ---- */

BREAKER(kallsyms_size, GEN_MODEL)
{
	g->kallsyms_delta = 1;
}

BREAKER(kallsyms_empty, GEN_MODEL)
{
	g->kallsyms.size = 0;
}

BREAKER(kallsyms_line, GEN_MODEL)
{
	tracedat_gen_swap(&g->kallsyms, "_text\n", "_text\nno symbol\n");
}

BREAKER(kallsyms_no_final_newline, GEN_MODEL)
{
	g->kallsyms.size -= g->kallsyms.size > 0;
}

BREAKER(kallsyms_all_zero, GEN_MODEL)
{
	tracedat_gen_text(&g->kallsyms, "0000000000000000 T _text\n0000000000000000 T _etext\n");
}

BREAKER(kallsyms_unsorted, GEN_MODEL)
{
	tracedat_gen_text(&g->kallsyms, "ffffffff81000200 T later\nffffffff81000100 T earlier\n");
}

BREAKER_OF(kallsyms_digit_width, GEN_MODEL, g->long_size = g->user_long = 4)
{
	tracedat_gen_text(&g->kallsyms, "00000000c1000000 T _text\n00000000c1000400 T _etext\n");
}

BREAKER(kallsyms_module_bracket, GEN_MODEL)
{
	tracedat_gen_swap(&g->kallsyms, "[demo]", "[demo");
}

BREAKER(kallsyms_nul, GEN_MODEL)
{
	tracedat_gen_swap(&g->kallsyms, "demo_tick", "demo@tick");
	uint8_t *p = memchr(g->kallsyms.data, '@', g->kallsyms.size);
	if (p)
		*p = 0;
}

/* ---- printk formats and command lines ---- */

BREAKER(printk_size, GEN_MODEL)
{
	g->printk_delta = 1;
}

BREAKER(printk_line, GEN_MODEL)
{
	bytes_text(&g->printk, "0x1234\n");
}

BREAKER(printk_duplicate_address, GEN_MODEL)
{
	bytes_text(&g->printk, "0xffffffff81000400 : \"another text\"\n");
}

BREAKER(printk_bad_escape, GEN_MODEL)
{
	tracedat_gen_swap(&g->printk, "\\n", "\\q");
}

BREAKER(cmdlines_size, GEN_MODEL)
{
	g->cmdlines_delta = INT64_C(1) << 62;
}

BREAKER(cmdlines_line, GEN_MODEL)
{
	tracedat_gen_swap(&g->cmdlines, "1 init\n", "1 init\nnobody\n");
}

BREAKER(cmdlines_pid_range, GEN_MODEL)
{
	bytes_text(&g->cmdlines, "5000000 far\n");
}

BREAKER(cmdlines_duplicate_pid, GEN_MODEL)
{
	bytes_text(&g->cmdlines, "42 other\n");
}

BREAKER(cmdlines_comm_length, GEN_MODEL)
{
	bytes_text(&g->cmdlines, "43 a name that is too long\n");
}

/* ---- the rest of the header ---- */

BREAKER(cpu_count_range, GEN_BYTES)
{
	tracedat_gen_u32(g, g->at.cpus, 0);
}

BREAKER(data_tag_invalid, GEN_BYTES)
{
	g->out->data[g->at.tag] = 'O';
}

BREAKER(data_tag_padding, GEN_BYTES)
{
	g->out->data[g->at.tag + 8] = 'x';
}

BREAKER(options_tag_twice, GEN_MODEL)
{
	g->twice = true;
}

BREAKER(option_size, GEN_BYTES)
{
	tracedat_gen_u32(g, tracedat_gen_option(g, TRACEDAT_VERSION)->at + 2, 0xffffff);
}

BREAKER(option_missing_done, GEN_MODEL)
{
	g->no_done = true;
}

BREAKER(option_unknown, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, 99, "something", 10);
}

BREAKER(option_id_content, GEN_BYTES)
{
	tracedat_gen_u16(g, tracedat_gen_option(g, TRACEDAT_CPUSTAT)->at, 0x83);
}

BREAKER(option_v7_in_v6, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_KALLSYMS, "\0\0\0\0\0\0\0", 8);
}

BREAKER(option_duplicate, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_UNAME, "Linux again", 12);
}

BREAKER(option_string_nul, GEN_MODEL)
{
	tracedat_gen_option(g, TRACEDAT_UNAME)->data.size--;
}

BREAKER(option_date_syntax, GEN_MODEL)
{
	tracedat_gen_option_remove(g, TRACEDAT_DATE);
	(void)tracedat_gen_option_add(g, TRACEDAT_DATE, "yesterday", 10);
}

BREAKER(option_offset_syntax, GEN_MODEL)
{
	tracedat_gen_option_remove(g, TRACEDAT_OFFSET);
	(void)tracedat_gen_option_add(g, TRACEDAT_OFFSET, "soon", 5);
}

BREAKER(option_cpustat_empty, GEN_MODEL)
{
	tracedat_gen_option(g, TRACEDAT_CPUSTAT)->data.size = 0;
}

BREAKER(option_cpustat_shape, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_CPUSTAT, "nothing to tell\n", 17);
}

BREAKER(option_clock_brackets, GEN_MODEL)
{
	tracedat_gen_text(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, "local global []\n");
	bytes_u8(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, 0);
}

BREAKER(option_hook_syntax, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_HOOK, "no hook", 8);
}

BREAKER(option_cpucount_size, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_CPUCOUNT, "\2", 2);
}

static void option_cpus(struct tracedat_gen *g, uint32_t count)
{
	uint8_t number[4];
	store_u32(number, count, g->big_endian);
	tracedat_gen_option_remove(g, TRACEDAT_CPUCOUNT);
	(void)tracedat_gen_option_add(g, TRACEDAT_CPUCOUNT, number, 4);
}

BREAKER(option_cpucount_value, GEN_MODEL)
{
	option_cpus(g, 7);
}

BREAKER_OF(host_order_cpucount, GEN_MODEL, g->version = 7)
{
	option_cpus(g, 0x02000000);
}

BREAKER(option_procmaps_syntax, GEN_MODEL)
{
	tracedat_gen_option_remove(g, TRACEDAT_PROCMAPS);
	(void)tracedat_gen_option_add(g, TRACEDAT_PROCMAPS, "2a 3 demo\n400000 401000 /usr/bin/demo\n", 39);
}

BREAKER(option_traceid_size, GEN_MODEL)
{
	tracedat_gen_option(g, TRACEDAT_TRACEID)->data.size = 4;
}

/* A time shift of one CPU that states n samples and has two. */
static void option_shift(struct tracedat_gen *g, uint32_t n, uint32_t there, uint64_t second)
{
	struct tracedat_gen_option *o = tracedat_gen_option_add(g, TRACEDAT_TIME_SHIFT, "", 0);
	bytes_u64(&o->data, 7);
	bytes_u32(&o->data, 0);
	bytes_u32(&o->data, 1);
	bytes_u32(&o->data, n);
	for (uint32_t i = 0; i < there; i++)
		bytes_u64(&o->data, i ? second : 1000);
	for (uint32_t i = 0; i < 2 * there; i++)
		bytes_u64(&o->data, i);
}

BREAKER(option_timeshift_layout, GEN_MODEL)
{
	option_shift(g, 1000, 2, 2000);
}

BREAKER(option_timeshift_empty_cpu, GEN_MODEL)
{
	option_shift(g, 0, 0, 0);
}

BREAKER(option_timeshift_order, GEN_MODEL)
{
	option_shift(g, 2, 2, 500);
}

BREAKER(option_guest_layout, GEN_MODEL)
{
	struct tracedat_gen_option *o = tracedat_gen_option_add(g, TRACEDAT_GUEST, "guest", 6);
	bytes_u64(&o->data, 7);
	bytes_u32(&o->data, 1);
	bytes_u32(&o->data, 5); /* not below 1 */
	bytes_u32(&o->data, 100);
}

BREAKER(option_tsc2nsec_range, GEN_MODEL)
{
	struct tracedat_gen_option *o = tracedat_gen_option_add(g, TRACEDAT_TSC2NSEC, "", 0);
	bytes_u32(&o->data, 1000);
	bytes_u32(&o->data, 64);
	bytes_u64(&o->data, 0);
}

BREAKER_OF(option_buffer_name, GEN_MODEL, g->instances = 1)
{
	tracedat_gen_option(g, TRACEDAT_BUFFER)->data.size--;
}

BREAKER_OF(v6_buffer_offset, GEN_BYTES, g->version = 6, g->instances = 1)
{
	tracedat_gen_u64(g, tracedat_gen_option(g, TRACEDAT_BUFFER)->at + 6, g->at.header);
}

BREAKER(v6_clock_block_missing, GEN_MODEL)
{
	g->no_clock_block = true;
}

BREAKER(v6_clock_block_orphan, GEN_MODEL)
{
	tracedat_gen_option_remove(g, TRACEDAT_TRACECLOCK);
}

BREAKER(restored_without_clock, GEN_MODEL)
{
	tracedat_gen_option_remove(g, TRACEDAT_TRACECLOCK);
	tracedat_gen_option_remove(g, TRACEDAT_CPUSTAT);
}

BREAKER(v6_clock_conflict, GEN_MODEL)
{
	tracedat_gen_text(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, "local [mono] boot\n");
	bytes_u8(&tracedat_gen_option(g, TRACEDAT_TRACECLOCK)->data, 0);
}

BREAKER_OF(v6_latency_with_clock_option, GEN_MODEL, g->latency = true)
{
	static const char *const clocks[] = { "[local] global\n", "local [global]\n", "local [mono]\n", "[boot] local\n" };
	const char *text = clocks[choices_below(g->choices, 4)];
	(void)tracedat_gen_option_add(g, TRACEDAT_TRACECLOCK, text, strlen(text) + 1);
}

BREAKER_OF(latency_line_bytes, GEN_MODEL, g->latency = true, g->codec = TRACEDAT_NONE)
{
	tracedat_gen_swap(&g->text, "demo-42", choices_chance(g->choices, 1, 2) ? "de\001o-42" : "de\355o-42");
}

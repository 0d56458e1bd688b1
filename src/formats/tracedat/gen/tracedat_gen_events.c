/* A capture being made: events as kernels have them, with their formats and records. A row says what both are made of. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

enum member_kind {
	NUMBER,	    /* of `size` bytes, or of a kernel long where that is 0; below `limit`, or any */
	ARGUMENT,   /* of a system call: a number as large as a long, of any type */
	POINTER,    /* to a function */
	COMM,	    /* a name in a fixed array */
	OCTETS,	    /* a structure of `size` bytes, or of `limit` longs */
	STRING,	    /* __data_loc: a text */
	RELATIVE,   /* __rel_loc: a text */
	MASK,	    /* __data_loc: bits in longs */
	ARRAY,	    /* __data_loc: `limit` bytes each */
	STACK,	    /* fixed array of longs, of which a record has some */
	FULL_STACK, /* the same; a record has all */
};

struct field_row {
	const char *type, *name; /* array brackets follow the name, but those of dynamic fields the type */
	enum member_kind kind;
	uint8_t size;
	bool is_signed;
	uint32_t limit;
};

#define FIELDS_MAX 8u

struct event_row {
	const char *system, *name, *print;
	unsigned id;
	struct field_row fields[FIELDS_MAX];
};

/* The types, names and print formats of Linux 6.1; but for the one of user_events and the one that has structures, which
 * are made up. Those of a system follow each other; ftrace comes first. */
static const struct event_row events[] = {
	{ "ftrace",
	  "kernel_stack",
	  "\"\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], (void *)REC->caller[1]",
	  4,
	  { { "int", "size", NUMBER, 4, true, 8 }, { "unsigned long", "caller[8]", STACK, 0, false, 8 } } },
	{ "ftrace",
	  "user_stack",
	  "\"\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], (void *)REC->caller[1]",
	  13,
	  { { "unsigned int", "tgid", NUMBER, 4, false, 100 }, { "unsigned long", "caller[8]", FULL_STACK, 0, false, 8 } } },
	{ "sched",
	  "sched_switch",
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, "
	  "REC->prev_pid, REC->prev_prio, (REC->prev_state & ((((0x0 | 0x1 | 0x2 | 0x4) + 1) << 1) - 1)) ? "
	  "__print_flags(REC->prev_state & ((((0x0 | 0x1 | 0x2 | 0x4) + 1) << 1) - 1), \"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, "
	  "{ 0x4, \"T\" }) : \"R\", REC->prev_state & (((0x0 | 0x1 | 0x2 | 0x4) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "
	  "REC->next_pid, REC->next_prio",
	  310,
	  { { "char", "prev_comm[16]", COMM, 16, false, 0 },
	    { "pid_t", "prev_pid", NUMBER, 4, true, 100 },
	    { "int", "prev_prio", NUMBER, 4, true, 140 },
	    { "long", "prev_state", NUMBER, 0, true, 32 },
	    { "char", "next_comm[16]", COMM, 16, false, 0 },
	    { "pid_t", "next_pid", NUMBER, 4, true, 100 },
	    { "int", "next_prio", NUMBER, 4, true, 140 } } },
	{ "sched",
	  "sched_wakeup",
	  "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu",
	  311,
	  { { "char", "comm[16]", COMM, 16, false, 0 },
	    { "pid_t", "pid", NUMBER, 4, true, 100 },
	    { "int", "prio", NUMBER, 4, true, 140 },
	    { "int", "target_cpu", NUMBER, 4, true, 8 } } },
	{ "sched",
	  "sched_process_exec",
	  "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid",
	  312,
	  { { "__data_loc char[]", "filename", STRING, 4, false, 0 },
	    { "pid_t", "pid", NUMBER, 4, true, 100 },
	    { "pid_t", "old_pid", NUMBER, 4, true, 100 } } },
	{ "irq",
	  "irq_handler_entry",
	  "\"irq=%d name=%s\", REC->irq, __get_str(name)",
	  320,
	  { { "int", "irq", NUMBER, 4, true, 300 }, { "__data_loc char[]", "name", STRING, 4, false, 0 } } },
	{ "irq",
	  "irq_handler_exit",
	  "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"",
	  321,
	  { { "int", "irq", NUMBER, 4, true, 300 }, { "int", "ret", NUMBER, 4, true, 2 } } },
	{ "irq",
	  "softirq_entry",
	  "\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, { 2, \"NET_TX\" })",
	  322,
	  { { "unsigned int", "vec", NUMBER, 4, false, 10 } } },
	{ "syscalls",
	  "sys_enter_openat",
	  "\"dfd: 0x%08lx, filename: 0x%08lx, flags: 0x%08lx, mode: 0x%08lx\", ((unsigned long)(REC->dfd)), "
	  "((unsigned long)(REC->filename)), ((unsigned long)(REC->flags)), ((unsigned long)(REC->mode))",
	  330,
	  { { "int", "__syscall_nr", NUMBER, 4, true, 400 },
	    { "int", "dfd", ARGUMENT, 0, false, 0 },
	    { "const char *", "filename", ARGUMENT, 0, false, 0 },
	    { "int", "flags", ARGUMENT, 0, false, 0 },
	    { "umode_t", "mode", ARGUMENT, 0, false, 0 } } },
	{ "syscalls",
	  "sys_exit_openat",
	  "\"0x%lx\", REC->ret",
	  331,
	  { { "int", "__syscall_nr", NUMBER, 4, true, 400 }, { "long", "ret", NUMBER, 0, true, 0 } } },
	{ "raw_syscalls",
	  "sys_enter",
	  "\"NR %ld (%lx, %lx)\", REC->id, REC->args[0], REC->args[1]",
	  340,
	  { { "long", "id", NUMBER, 0, true, 400 }, { "unsigned long", "args[6]", OCTETS, 0, false, 6 } } },
	{ "ipi",
	  "ipi_send_cpumask",
	  "\"cpumask=%s callsite=%pS callback=%pS\", __get_cpumask(cpumask), REC->callsite, REC->callback",
	  350,
	  { { "__data_loc cpumask_t", "cpumask", MASK, 4, false, 0 },
	    { "void *", "callsite", POINTER, 0, false, 0 },
	    { "void *", "callback", POINTER, 0, false, 0 } } },
	{ "ipi",
	  "ipi_raise",
	  "\"target_mask=%s\", __get_bitmask(target_cpus)",
	  351,
	  { { "__data_loc unsigned long[]", "target_cpus", MASK, 4, false, 0 } } },
	{ "user_events",
	  "message",
	  "\"level=%u text=%s\", REC->level, __get_rel_str(text)",
	  360,
	  { { "__rel_loc char[]", "text", RELATIVE, 4, false, 0 }, { "u32", "level", NUMBER, 4, false, 8 } } },
	{ "kmem",
	  "kmalloc",
	  "\"call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s\", (void *)REC->call_site, REC->ptr, REC->bytes_req, "
	  "REC->bytes_alloc, (REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", {( unsigned long)((( gfp_t)(((((1UL))) << "
	  "(10))"
	  "|((((1UL))) << (11)))) | (( gfp_t)((((1UL))) << (6)))), \"GFP_NOFS\"}, {( unsigned long)((( gfp_t)((((1UL))) << (3)))), "
	  "\"__GFP_MOVABLE\"}) : \"none\"",
	  370,
	  { { "unsigned long", "call_site", POINTER, 0, false, 0 },
	    { "const void *", "ptr", POINTER, 0, false, 0 },
	    { "size_t", "bytes_req", NUMBER, 0, false, 4096 },
	    { "size_t", "bytes_alloc", NUMBER, 0, false, 4096 },
	    { "unsigned long", "gfp_flags", NUMBER, 0, false, 4096 } } },
	{ "timer",
	  "hrtimer_start",
	  "\"hrtimer=%p function=%ps expires=%llu softexpires=%llu mode=%s was_armed=%d\", REC->hrtimer, REC->function, "
	  "(unsigned long long) REC->expires, (unsigned long long) REC->softexpires, __print_symbolic(REC->mode, { 0, \"ABS\" }, { "
	  "1, \"REL\" }), REC->was_armed",
	  380,
	  { { "void *", "hrtimer", POINTER, 0, false, 0 },
	    { "void *", "function", POINTER, 0, false, 0 },
	    { "s64", "expires", NUMBER, 8, true, 0 },
	    { "s64", "softexpires", NUMBER, 8, true, 0 },
	    { "enum hrtimer_mode", "mode", NUMBER, 4, false, 2 },
	    { "bool", "was_armed", NUMBER, 1, false, 2 } } },
	{ "i2c",
	  "i2c_write",
	  "\"i2c-%d l=%u [%s]\", REC->adapter_nr, REC->len, __print_hex(__get_dynamic_array(buf), 2)",
	  390,
	  { { "int", "adapter_nr", NUMBER, 4, true, 8 },
	    { "__u16", "len", NUMBER, 2, false, 64 },
	    { "__data_loc __u8[]", "buf", ARRAY, 4, false, 1 } } },
	{ "clock",
	  "clock_set",
	  "\"name=%s\", __get_str(name)",
	  400,
	  { { "struct timespec64", "now", OCTETS, 16, false, 0 },
	    { "struct list_head", "list", OCTETS, 0, false, 2 },
	    { "__data_loc char[]", "name", STRING, 4, false, 0 },
	    { "__data_loc u32[]", "words", ARRAY, 4, false, 4 } } },
};

#define EVENTS (sizeof(events) / sizeof(*events))
_Static_assert(EVENTS <= TRACEDAT_GEN_KINDS, "the set of events of a capture has a bit for each");

static uint32_t unit_of(const struct tracedat_gen *g, const struct field_row *f)
{
	return f->size ? f->size : g->long_size;
}

static uint32_t size_of(const struct tracedat_gen *g, const struct field_row *f)
{
	bool array = f->kind == OCTETS || f->kind == STACK || f->kind == FULL_STACK;
	return array && !f->size ? f->limit * g->long_size : unit_of(g, f);
}

static uint32_t alignment_of(const struct tracedat_gen *g, const struct field_row *f)
{
	return f->kind == COMM ? 1 : f->kind == OCTETS && f->size ? 8 : unit_of(g, f);
}

/* The offset of a field; of the number behind the last one, the end of all. */
static uint32_t offset_of(const struct tracedat_gen *g, const struct event_row *e, unsigned nth)
{
	uint32_t at = 8; /* the fields that all have */
	for (unsigned i = 0; i < FIELDS_MAX && e->fields[i].type; i++) {
		at = (uint32_t)tracedat_align(at, alignment_of(g, &e->fields[i]));
		if (i == nth)
			break;
		at += size_of(g, &e->fields[i]);
	}
	return at;
}

static void format_add(struct tracedat_gen *g, const struct event_row *e)
{
	char fields[900];
	size_t used = 0;
	for (unsigned i = 0; i < FIELDS_MAX && e->fields[i].type; i++)
		used += (size_t)snprintf(fields + used, sizeof(fields) - used, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
					 e->fields[i].type, e->fields[i].name, offset_of(g, e, i), size_of(g, &e->fields[i]),
					 e->fields[i].is_signed);
	tracedat_gen_format_add(g, e->system, e->name, e->id, fields, e->print);
}

void tracedat_gen_event_formats(struct tracedat_gen *g, bool ftrace)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (g->kinds >> i & 1 && ftrace == !strcmp(events[i].system, "ftrace"))
			format_add(g, &events[i]);
}

void tracedat_gen_event_choose(struct tracedat_gen *g)
{
	if (!gen_has(g->g, TRACEDAT_FEATURE_KERNEL, choices_chance(g->choices, 1, 2)))
		return;
	g->kinds = choices_u64(g->choices) & choices_u64(g->choices) & ((UINT64_C(1) << EVENTS) - 1);
	if (!g->kinds)
		g->kinds = 1u << 2; /* sched_switch */
}

/* ---- records ---- */

struct record {
	uint8_t bytes[512];
	uint32_t size;
};

static void put_number(const struct tracedat_gen *g, uint8_t *at, uint32_t size, uint64_t value)
{
	if (size == 1)
		*at = (uint8_t)value;
	else if (size == 2)
		store_u16(at, (uint16_t)value, g->big_endian);
	else if (size == 4)
		store_u32(at, (uint32_t)value, g->big_endian);
	else
		store_u64(at, value, g->big_endian);
}

static uint64_t address(struct tracedat_gen *g)
{
	uint64_t base = g->long_size == 8 ? UINT64_C(0xffffffff81000000) : 0xc1000000u;
	return base + 0x10 * choices_below(g->choices, 0x50);
}

/* What a dynamic field has behind the fixed ones, and the word that says where. */
static void put_dynamic(struct tracedat_gen *g, struct record *r, const struct field_row *f, uint32_t at)
{
	static const char *const texts[] = { "", "timer", "/usr/bin/demo", "a text with blanks", "virtio0-input.0" };
	uint8_t *to = r->bytes + r->size;
	uint32_t size;

	if (f->kind == STRING || f->kind == RELATIVE) {
		const char *text = texts[choices_below(g->choices, 5)];
		size = (uint32_t)strlen(text) + 1;
		memcpy(to, text, size);
	} else {
		uint32_t unit = f->kind == MASK ? g->long_size : f->limit;
		size = (uint32_t)choices_between(g->choices, 1, f->kind == MASK ? 2 : 8) * unit;
		for (uint32_t i = 0; i < size; i++)
			to[i] = (uint8_t)choices_below(g->choices, 256);
	}
	uint32_t place = f->kind == RELATIVE ? r->size - at - 4 : r->size;
	store_u32(r->bytes + at, size << 16 | place, g->big_endian);
	r->size += size;
}

static void put_field(struct tracedat_gen *g, struct record *r, const struct field_row *f, uint32_t at)
{
	static const char *const names[] = { "init", "demo task", "a name of 15 by", "" };
	uint32_t unit = unit_of(g, f), size = size_of(g, f);

	switch (f->kind) {
	case NUMBER:
	case ARGUMENT:
		put_number(g, r->bytes + at, unit, f->limit ? choices_below(g->choices, f->limit) : choices_number(g->choices));
		break;
	case POINTER:
		put_number(g, r->bytes + at, unit, address(g));
		break;
	case COMM:
		(void)snprintf((char *)r->bytes + at, 16, "%s", names[choices_below(g->choices, 4)]);
		break;
	case OCTETS:
		for (uint32_t i = 0; i < size; i++)
			r->bytes[at + i] = (uint8_t)choices_below(g->choices, 256);
		break;
	case STACK:
	case FULL_STACK: {
		uint32_t callers = f->kind == STACK ? (uint32_t)choices_between(g->choices, 1, 16) : f->limit;
		for (uint32_t i = 0; i < callers; i++)
			put_number(g, r->bytes + at + i * unit, unit, address(g));
		if (f->kind == STACK)
			store_u32(r->bytes + 8, callers, g->big_endian);
		r->size = at + callers * unit;
		break;
	}
	case STRING:
	case RELATIVE:
	case MASK:
	case ARRAY:
		put_dynamic(g, r, f, at);
		break;
	}
}

bool tracedat_gen_event(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	static const uint32_t pids[] = { 0, 1, 42 };
	if (!g->kinds)
		return false;
	size_t nth = (size_t)choices_below(g->choices, EVENTS);
	while (!(g->kinds >> nth & 1))
		nth = (nth + 1) % EVENTS;
	const struct event_row *e = &events[nth];
	struct record r = { .size = offset_of(g, e, FIELDS_MAX) };
	tracedat_gen_common(g, r.bytes, e->id, pids[choices_below(g->choices, 3)]);
	for (unsigned i = 0; i < FIELDS_MAX && e->fields[i].type; i++)
		put_field(g, &r, &e->fields[i], offset_of(g, e, i));
	tracedat_gen_record(g, c, r.bytes, r.size, (uint32_t)choices_between(g->choices, 100, 100000));
	return true;
}

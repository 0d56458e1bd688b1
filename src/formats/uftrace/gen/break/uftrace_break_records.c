/* Breakers of the rules about the .dat files. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

enum {
	WORD_MORE = 1 << 2,
	WORD_MAGIC = 7 << 3, /* all of its bits */
	DEPTH_MASK = 0x3ff << 6,
	UNUSED_TID = 4000000,
};

/* ---- which records ---- */

/* Not behind a payload, whose end would be in doubt if this record is damaged. */
static bool is_plain_start(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	const struct uftrace_gen_mark *previous = uftrace_mark_previous(g, m);

	return !previous || !previous->more;
}

/* In the middle of its file, with a record of calls on both sides. */
static bool is_inner(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	const struct uftrace_gen_mark *next = uftrace_mark_next(g, m), *previous = uftrace_mark_previous(g, m);

	return next && previous && m->type <= RECORD_EXIT && next->type <= RECORD_EXIT && previous->type <= RECORD_EXIT &&
	       !m->first && !next->first && m->depth < 1024;
}

static bool is_inner_start(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	return is_inner(g, m) && is_plain_start(g, m);
}

/* ENTRY of a call that returns at once, and could be two levels deeper. */
static bool is_leaf(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	const struct uftrace_gen_mark *next = uftrace_mark_next(g, m), *previous = uftrace_mark_previous(g, m);

	return m->type == RECORD_ENTRY && next && next->type == RECORD_EXIT && next->depth == m->depth &&
	       next->address == m->address && previous && previous->type <= RECORD_EXIT && !m->first && m->depth > 0 &&
	       m->depth < 900 && m->depth + 2u < g->max_stack && !m->more && !next->more && is_plain_start(g, m) && m->symbol &&
	       m->symbol->type != 'P';
}

static bool is_lost(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	(void)g;
	return m->type == RECORD_LOST;
}

static bool is_loaded_event(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	(void)g;
	return m->type == RECORD_EVENT && m->more && m->address != 100012;
}

static bool is_event(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	(void)g;
	return m->type == RECORD_EVENT;
}

static bool is_bare(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	/* Of C++ functions it is not clear which name a pattern means. */
	return is_inner(g, m) && !m->more && !uftrace_gen_spec_of(g, m->symbol) && m->symbol &&
	       strncmp(m->symbol->name, "_Z", 2) != 0;
}

static bool is_loaded(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	return is_inner(g, m) && m->more && m->length > 16;
}

static bool is_text(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	return is_inner(g, m) && m->text;
}

static bool is_task_start(const struct uftrace_gen *g, const struct uftrace_gen_mark *m)
{
	return m->type <= RECORD_EXIT && !uftrace_mark_previous(g, m);
}

/* ---- files ---- */

/* A whole call of main(), after so many others at the end. */
static void put_call(struct uftrace_gen *g, struct bytes *b, unsigned after)
{
	uint64_t address = g->marks[0].address, time = g->end + 20 * (uint64_t)after;

	b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	bytes_u64(b, time);
	bytes_u64(b, uftrace_record_make(RECORD_ENTRY, 0, address));
	bytes_u64(b, time + 10);
	bytes_u64(b, uftrace_record_make(RECORD_EXIT, 0, address));
}

/* As another task would have made it. */
static void put_pair(struct uftrace_gen *g, struct bytes *b)
{
	if (b)
		put_call(g, b, 0);
}

BREAKER_OF(dat_name_invalid, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	char name[32];

	(void)snprintf(name, sizeof(name), uftrace_gen_below(g, 2) ? "0%d.dat" : "%d-old.dat", g->tasks[0].tid);
	put_pair(g, gen_file(g->g, name));
}

BREAKER_OF(dat_unreferenced, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%d.dat", UNUSED_TID + (int)uftrace_gen_below(g, 1000));
	put_pair(g, gen_file(g->g, name));
}

/* The last task that task.txt has a TASK line of, but the first: a process that was forked may have called nothing. */
static unsigned last_announced(const struct uftrace_gen *g)
{
	for (unsigned task = g->task_count - 1; task > 0; task--)
		for (unsigned i = 0; i < g->line_count; i++)
			if (g->lines[i].kind == UFTRACE_GEN_TASK && g->lines[i].pid == g->tasks[task].tid)
				return task;
	return 0;
}

BREAKER_OF(dat_missing, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_THREADS, UFTRACE_GEN_KERNEL))
{
	const unsigned task = last_announced(g);
	struct bytes *info = uftrace_genfile(g, "info"), *dat = uftrace_genfile_dat(g, task);
	char name[32];

	if (!info || !dat || !task)
		return;
	uftrace_row_replace(info, uftrace_row_find(info, "cmdline:", 0), "cmdline:uftrace record -d shop ./shop\n");
	(void)snprintf(name, sizeof(name), "%d.dat", g->tasks[task].tid);
	if (uftrace_gen_below(g, 2))
		dat->size = 0;
	else
		uftrace_genfile_remove(g, name);
}

BREAKER_OF(dat_all_empty, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_KERNEL))
{
	for (unsigned i = 0; i < g->task_count; i++) {
		struct bytes *b = uftrace_genfile_dat(g, i);

		if (b)
			b->size = 0;
	}
	if (uftrace_gen_below(g, 2))
		uftrace_genfile_remove(g, ".dat");
}

BREAKER_OF(dat_trailing_bytes, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = uftrace_genfile_dat(g, uftrace_gen_below(g, g->task_count));

	if (b)
		b->size -= b->size > 16 ? 1 + uftrace_gen_below(g, 15) : 0;
}

BREAKER(dat_bad_magic, GEN_BYTES)
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_plain_start);

	if (m)
		uftrace_record_set(g, m, m->time, uftrace_record_word(g, m) ^ (uint64_t)(1 + uftrace_gen_below(g, 7)) << 3);
}

BREAKER_OF(dat_zero_tail, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = uftrace_genfile_dat(g, uftrace_gen_below(g, g->task_count));

	if (b)
		(void)bytes_grow(b, 16 * (1 + uftrace_gen_below(g, 256)));
}

BREAKER_OF(dat_duplicate_block, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ESTIMATE | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = uftrace_genfile_dat(g, 0);

	if (!b)
		return;
	/* The last calls again. */
	size_t from = b->size;
	unsigned calls = 4 + uftrace_gen_below(g, 100);
	for (unsigned i = 0; i < calls; i++)
		put_call(g, b, i);
	size_t length = b->size - from;
	uint8_t *copy = bytes_grow(b, length);
	if (copy)
		memcpy(copy, b->data + from, length);
}

/* ---- time ---- */

BREAKER_OF(dat_time_backward, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ESTIMATE))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_inner_start);

	if (m)
		uftrace_record_set(g, m, uftrace_mark_previous(g, m)->time - 1 - uftrace_gen_below(g, 10),
				   uftrace_record_word(g, m));
}

BREAKER_OF(dat_time_zero, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ESTIMATE | UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_inner_start);

	if (m)
		uftrace_record_set(g, m, 0, uftrace_record_word(g, m));
}

BREAKER_OF(dat_time_before_task, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_task_start);

	if (m)
		uftrace_record_set(g, m, g->start - 1 - uftrace_gen_below(g, 1000), uftrace_record_word(g, m));
}

/* Of versions which say how long it took. */
BREAKER_OF(dat_time_far, GEN_BYTES, uftrace_gen_versions(g, 80, 999),
	   uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_LOST | UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *last = NULL;

	for (unsigned i = 0; i < g->mark_count && g->marks[i].task == 0; i++)
		last = &g->marks[i];
	if (last)
		uftrace_record_set(g, last, last->time + ((uint64_t)1 << (62 - uftrace_gen_below(g, 4))),
				   uftrace_record_word(g, last));
}

/* ---- depth ---- */

BREAKER_OF(dat_depth_exceeds_max_stack, GEN_BYTES, uftrace_gen_versions(g, 60, 999),
	   uftrace_gen_need(g, 0, UFTRACE_GEN_DEEP | UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_mark *deepest = NULL;

	for (unsigned i = 0; i < g->mark_count; i++)
		if (g->marks[i].type == RECORD_ENTRY && (!deepest || g->marks[i].depth > deepest->depth))
			deepest = &g->marks[i];
	if (deepest)
		uftrace_geninfo_set_u16(g, INFO_MAX_STACK, deepest->depth);
}

BREAKER(dat_depth_wrap, GEN_SHAPE)
{
	uftrace_gen_need(g, UFTRACE_GEN_DEEP, UFTRACE_GEN_FOREIGN);
}

BREAKER_OF(dat_depth_gap, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS), uftrace_gen_unused(g, 2))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_leaf);
	uint64_t more = (uint64_t)(1 + uftrace_gen_below(g, 2)) << 6;

	if (!m)
		return;
	uftrace_record_set(g, m, m->time, uftrace_record_word(g, m) + more);
	m = uftrace_mark_next(g, m);
	uftrace_record_set(g, m, m->time, uftrace_record_word(g, m) + more);
}

BREAKER_OF(dat_exit_without_entry, GEN_BYTES,
	   uftrace_gen_need(g, 0, UFTRACE_GEN_OPEN | UFTRACE_GEN_FOREIGN | UFTRACE_GEN_LOST | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = uftrace_genfile_dat(g, 0);

	if (b)
		uftrace_record_insert(g, 0, b->size, g->end + 1 + uftrace_gen_below(g, 100),
				      uftrace_record_make(RECORD_EXIT, 0, g->marks[0].address));
}

BREAKER_OF(dat_exit_addr_mismatch, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_leaf);

	if (!m)
		return;
	m = uftrace_mark_next(g, m);
	uftrace_record_set(g, m, m->time, uftrace_record_make(RECORD_EXIT, m->depth, m->address + 1));
}

BREAKER_OF(dat_implicit_close, GEN_BYTES,
	   uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_LONGJMP | UFTRACE_GEN_LOST | UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_leaf);
	struct bytes *b = m ? uftrace_genfile_dat(g, m->task) : NULL;

	if (b)
		bytes_remove(b, (size_t)uftrace_mark_next(g, m)->offset, uftrace_mark_next(g, m)->length);
}

BREAKER(dat_open_frames, GEN_SHAPE)
{
	uftrace_gen_need(g, UFTRACE_GEN_OPEN, UFTRACE_GEN_FOREIGN);
}

BREAKER_OF(dat_fork_prefix, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_FORK, UFTRACE_GEN_FOREIGN))
{
	for (unsigned task = 0; task < g->task_count; task++) {
		const struct bytes *b = uftrace_genfile_dat(g, task);
		bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);

		if (!b || b->size < 16 || !g->tasks[task].forked)
			continue;
		unsigned depth = (unsigned)(load_u64(b->data + 8, big) & DEPTH_MASK) >> 6;
		uftrace_record_insert(g, task, 0, load_u64(b->data, big),
				      uftrace_record_make(RECORD_ENTRY, depth + 1, g->marks[0].address));
		return;
	}
}

/* ---- LOST and EVENT ---- */

BREAKER(dat_lost, GEN_SHAPE)
{
	uftrace_gen_need(g, UFTRACE_GEN_LOST, 0);
}

BREAKER_OF(dat_lost_more, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_LOST, UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_lost);

	if (m)
		uftrace_record_set(g, m, 0,
				   uftrace_gen_below(g, 2) ? uftrace_record_word(g, m) | WORD_MORE
							   : uftrace_record_make(RECORD_LOST, 0, 0));
}

BREAKER_OF(dat_event_unknown, GEN_BYTES, uftrace_gen_versions(g, 80, 999))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_inner_start);

	if (m)
		uftrace_record_insert(g, m->task, (size_t)m->offset, m->time,
				      uftrace_record_make(RECORD_EVENT, 0, 100014 + uftrace_gen_below(g, 80000)));
}

BREAKER_OF(dat_event_length, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_EVENTS, UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_loaded_event);
	struct bytes *b = m ? uftrace_genfile_dat(g, m->task) : NULL;

	if (b) { /* within the padding */
		bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
		uint16_t length = load_u16(b->data + m->offset + 16, big);

		store_u16(b->data + m->offset + 16, (uint16_t)(length + (length > 4 ? 1 + uftrace_gen_below(g, 4) : 1)), big);
	}
}

BREAKER_OF(dat_event_depth, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_EVENTS, 0))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_event);

	if (m)
		uftrace_record_set(g, m, m->time, uftrace_record_word(g, m) + ((uint64_t)(1 + uftrace_gen_below(g, 5)) << 6));
}

BREAKER_OF(dat_event_virtual, GEN_BYTES, uftrace_gen_versions(g, 80, 999))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_inner_start);

	if (m)
		uftrace_record_insert(
			g, m->task, (size_t)m->offset, m->time,
			uftrace_record_make(RECORD_EVENT, 0, uftrace_gen_below(g, 2) ? 200001 + uftrace_gen_below(g, 8) : 2000000));
}

/* ---- payloads ---- */

BREAKER_OF(dat_payload_without_spec, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_ARGS, 0))
{
	struct bytes *b;
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_bare);

	b = m ? uftrace_genfile_dat(g, m->task) : NULL;
	if (!b)
		return;
	uftrace_record_set(g, m, m->time, uftrace_record_word(g, m) | WORD_MORE);
	bytes_insert(b, (size_t)(m->offset + 16), "\x2a\0\0\0\0\0\0\0", 8);
}

BREAKER_OF(dat_payload_desync, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS, 0))
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_loaded);
	struct bytes *b = m ? uftrace_genfile_dat(g, m->task) : NULL;

	if (b)
		bytes_insert(b, (size_t)(m->offset + m->length), "\x2a\0\0\0\0\0\0\0", 8);
}

BREAKER_OF(dat_string_length, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_AUTO, 0), uftrace_gen_unused(g, 2),
	   uftrace_gen_unused(g, 8))
{
	static const uint8_t filler[] = "a long string that a writer would have cut in two and then some";
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_text);
	struct bytes *b = m ? uftrace_genfile_dat(g, m->task) : NULL;
	bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	bool impossible = uftrace_gen_below(g, 2);
	unsigned rows = 2 + uftrace_gen_below(g, 8);

	if (!b)
		return;
	if (impossible) { /* by its length alone */
		store_u16(b->data + m->offset + 16, (uint16_t)(UFTRACE_STRING_MAX + 1 + uftrace_gen_below(g, 60000)), big);
		return;
	}
	store_u16(b->data + m->offset + 16, (uint16_t)(load_u16(b->data + m->offset + 16, big) + 64 * rows), big);
	for (unsigned i = 0; i < rows; i++)
		bytes_insert(b, (size_t)(m->offset + 18), filler, 64);
}

/* ---- addresses ---- */

/* Moves a call of a leaf to another address. */
static void move_call(struct uftrace_gen *g, uint64_t address)
{
	const struct uftrace_gen_mark *m = uftrace_mark_any(g, is_leaf);
	const struct uftrace_gen_mark *next = m ? uftrace_mark_next(g, m) : NULL;

	if (!next)
		return;
	uftrace_record_set(g, m, m->time, uftrace_record_make(RECORD_ENTRY, m->depth, address));
	uftrace_record_set(g, next, next->time, uftrace_record_make(RECORD_EXIT, next->depth, address));
}

BREAKER_OF(dat_address_unmapped, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS))
{
	move_call(g, 0x10000 + uftrace_gen_below(g, 0x10000));
}

BREAKER_OF(dat_address_unsymbolised, GEN_BYTES,
	   uftrace_gen_need(g, 0,
			    UFTRACE_GEN_FOREIGN | UFTRACE_GEN_EXEC | UFTRACE_GEN_FORK_EXEC | UFTRACE_GEN_SPAWN |
				    UFTRACE_GEN_PAYLOADS))
{
	const struct uftrace_gen_module *m = &g->modules[0];

	move_call(g, g->sessions[0].maps[0].base + m->length - 8 - uftrace_gen_below(g, 0x200));
}

BREAKER_OF(dat_address_kernel_range, GEN_BYTES,
	   uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_NARROW | UFTRACE_GEN_PAYLOADS))
{
	move_call(g, 0x800000000000 + 16 * (uint64_t)uftrace_gen_below(g, 0x10000000));
}

/* Breakers of the rules about the .dat files. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

#define WITH_PAYLOADS (UFTGEN_ARGS | UFTGEN_RETVALS | UFTGEN_AUTO)

enum {
	WORD_MORE = 1 << 2,
	WORD_MAGIC = 7 << 3, /* all of its bits */
	DEPTH_MASK = 0x3ff << 6,
	NOBODY = 4000000,
};

/* ---- which records ---- */

/* Not behind a payload, whose end would be in doubt if this record is damaged. */
static bool is_plain_start(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	const struct uftgen_mark *previous = mark_previous(u, m);

	return !previous || !previous->more;
}

/* In the middle of its file, with a record of calls on both sides. */
static bool is_inner(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	const struct uftgen_mark *next = mark_next(u, m), *previous = mark_previous(u, m);

	return next && previous && m->type <= RECORD_EXIT && next->type <= RECORD_EXIT && previous->type <= RECORD_EXIT &&
	       !m->first && !next->first && m->depth < 1024;
}

static bool is_inner_start(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	return is_inner(u, m) && is_plain_start(u, m);
}

/* ENTRY of a call that returns at once, and could be two levels deeper. */
static bool is_leaf(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	const struct uftgen_mark *next = mark_next(u, m), *previous = mark_previous(u, m);

	return m->type == RECORD_ENTRY && next && next->type == RECORD_EXIT && next->depth == m->depth &&
	       next->address == m->address && previous && previous->type <= RECORD_EXIT && !m->first && m->depth > 0 &&
	       m->depth < 900 && m->depth + 2u < u->max_stack && !m->more && !next->more && is_plain_start(u, m) && m->symbol &&
	       m->symbol->type != 'P';
}

static bool is_lost(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	(void)u;
	return m->type == RECORD_LOST;
}

static bool is_loaded_event(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	(void)u;
	return m->type == RECORD_EVENT && m->more && m->address != 100012;
}

static bool is_event(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	(void)u;
	return m->type == RECORD_EVENT;
}

static bool is_bare(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	/* Of C++ functions it is not clear which name a pattern means. */
	return is_inner(u, m) && !m->more && !uftgen_spec_of(u, m->symbol) && m->symbol && strncmp(m->symbol->name, "_Z", 2) != 0;
}

static bool is_loaded(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	return is_inner(u, m) && m->more && m->length > 16;
}

static bool is_text(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	return is_inner(u, m) && m->text;
}

static bool is_task_start(const struct uftrace_gen *u, const struct uftgen_mark *m)
{
	return m->type <= RECORD_EXIT && !mark_previous(u, m);
}

/* ---- files ---- */

/* A whole call of main(), after so many others at the end. */
static void put_call(struct uftrace_gen *u, struct bytes *b, unsigned after)
{
	uint64_t address = u->marks[0].address, time = u->end + 20 * (uint64_t)after;

	b->big_endian = uftgen_has(u, UFTGEN_BIG_ENDIAN);
	bytes_u64(b, time);
	bytes_u64(b, record_make(RECORD_ENTRY, 0, address));
	bytes_u64(b, time + 10);
	bytes_u64(b, record_make(RECORD_EXIT, 0, address));
}

/* As another task would have made it. */
static void put_pair(struct uftrace_gen *u, struct bytes *b)
{
	if (b)
		put_call(u, b, 0);
}

void uftrace_break_dat_name_invalid(struct uftrace_gen *u)
{
	char name[32];

	if (!uftgen_ready(u, 0, WITH_PAYLOADS))
		return;
	(void)snprintf(name, sizeof(name), uftgen_below(u, 2) ? "0%d.dat" : "%d-old.dat", u->tasks[0].tid);
	put_pair(u, gen_file(u->g, name));
}

void uftrace_break_dat_unreferenced(struct uftrace_gen *u)
{
	char name[32];

	if (!uftgen_ready(u, 0, WITH_PAYLOADS))
		return;
	(void)snprintf(name, sizeof(name), "%d.dat", NOBODY + (int)uftgen_below(u, 1000));
	put_pair(u, gen_file(u->g, name));
}

void uftrace_break_dat_all_empty(struct uftrace_gen *u)
{
	if (!uftgen_ready(u, 0, UFTGEN_KERNEL))
		return;
	for (unsigned i = 0; i < u->task_count; i++) {
		struct bytes *b = break_dat(u, i);

		if (b)
			b->size = 0;
	}
	if (uftgen_below(u, 2))
		break_remove_files(u, ".dat");
}

void uftrace_break_dat_trailing_bytes(struct uftrace_gen *u)
{
	struct bytes *b = uftgen_ready(u, 0, WITH_PAYLOADS) ? break_dat(u, uftgen_below(u, u->task_count)) : NULL;

	if (b)
		b->size -= b->size > 16 ? 1 + uftgen_below(u, 15) : 0;
}

void uftrace_break_dat_bad_magic(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, 0) ? mark_any(u, is_plain_start) : NULL;

	if (m)
		record_set(u, m, m->time, record_word(u, m) ^ (uint64_t)(1 + uftgen_below(u, 7)) << 3);
}

void uftrace_break_dat_zero_tail(struct uftrace_gen *u)
{
	struct bytes *b = uftgen_ready(u, 0, WITH_PAYLOADS) ? break_dat(u, uftgen_below(u, u->task_count)) : NULL;

	if (b)
		(void)bytes_grow(b, 16 * (1 + uftgen_below(u, 256)));
}

void uftrace_break_dat_duplicate_block(struct uftrace_gen *u)
{
	struct bytes *b = uftgen_ready(u, 0, UFTGEN_ESTIMATE | WITH_PAYLOADS) ? break_dat(u, 0) : NULL;

	if (!b)
		return;
	/* The last calls again. */
	size_t from = b->size;
	unsigned calls = 4 + uftgen_below(u, 100);
	for (unsigned i = 0; i < calls; i++)
		put_call(u, b, i);
	size_t length = b->size - from;
	uint8_t *copy = bytes_grow(b, length);
	if (copy)
		memcpy(copy, b->data + from, length);
}

/* ---- time ---- */

void uftrace_break_dat_time_backward(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_ESTIMATE) ? mark_any(u, is_inner_start) : NULL;

	if (m)
		record_set(u, m, mark_previous(u, m)->time - 1 - uftgen_below(u, 10), record_word(u, m));
}

void uftrace_break_dat_time_zero(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_ESTIMATE) ? mark_any(u, is_inner_start) : NULL;

	if (m)
		record_set(u, m, 0, record_word(u, m));
}

void uftrace_break_dat_time_before_task(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_FOREIGN | WITH_PAYLOADS) ? mark_any(u, is_task_start) : NULL;

	if (m)
		record_set(u, m, u->start - 1 - uftgen_below(u, 1000), record_word(u, m));
}

void uftrace_break_dat_time_far(struct uftrace_gen *u)
{
	const struct uftgen_mark *last = NULL;

	uftgen_versions(u, 80, 999); /* which say how long it took */
	if (!uftgen_ready(u, 0, UFTGEN_FOREIGN | UFTGEN_LOST | WITH_PAYLOADS))
		return;
	for (unsigned i = 0; i < u->mark_count && u->marks[i].task == 0; i++)
		last = &u->marks[i];
	if (last)
		record_set(u, last, last->time + ((uint64_t)1 << (62 - uftgen_below(u, 4))), record_word(u, last));
}

/* ---- depth ---- */

void uftrace_break_dat_depth_exceeds_max_stack(struct uftrace_gen *u)
{
	const struct uftgen_mark *deepest = NULL;

	uftgen_versions(u, 60, 999);
	if (!uftgen_ready(u, 0, UFTGEN_DEEP | UFTGEN_FOREIGN))
		return;
	for (unsigned i = 0; i < u->mark_count; i++)
		if (u->marks[i].type == RECORD_ENTRY && (!deepest || u->marks[i].depth > deepest->depth))
			deepest = &u->marks[i];
	if (deepest)
		info_set_u16(u, INFO_MAX_STACK, deepest->depth);
}

void uftrace_break_dat_depth_wrap(struct uftrace_gen *u)
{
	(void)uftgen_ready(u, UFTGEN_DEEP, UFTGEN_FOREIGN);
}

void uftrace_break_dat_depth_gap(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_FOREIGN | WITH_PAYLOADS) ? mark_any(u, is_leaf) : NULL;
	uint64_t more = (uint64_t)(1 + uftgen_below(u, 2)) << 6;

	if (!m)
		return;
	record_set(u, m, m->time, record_word(u, m) + more);
	m = mark_next(u, m);
	record_set(u, m, m->time, record_word(u, m) + more);
}

void uftrace_break_dat_exit_without_entry(struct uftrace_gen *u)
{
	struct bytes *b = uftgen_ready(u, 0, UFTGEN_OPEN | UFTGEN_FOREIGN | UFTGEN_LOST | WITH_PAYLOADS) ? break_dat(u, 0) : NULL;

	if (b)
		record_insert(u, 0, b->size, u->end + 1 + uftgen_below(u, 100), record_make(RECORD_EXIT, 0, u->marks[0].address));
}

void uftrace_break_dat_exit_addr_mismatch(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_FOREIGN | WITH_PAYLOADS) ? mark_any(u, is_leaf) : NULL;

	if (!m)
		return;
	m = mark_next(u, m);
	record_set(u, m, m->time, record_make(RECORD_EXIT, m->depth, m->address + 1));
}

void uftrace_break_dat_implicit_close(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, 0, UFTGEN_FOREIGN | UFTGEN_LONGJMP | UFTGEN_LOST | WITH_PAYLOADS)
					      ? mark_any(u, is_leaf)
					      : NULL;
	struct bytes *b = m ? break_dat(u, m->task) : NULL;

	if (b)
		bytes_remove(b, mark_next(u, m)->offset, mark_next(u, m)->length);
}

void uftrace_break_dat_open_frames(struct uftrace_gen *u)
{
	(void)uftgen_ready(u, UFTGEN_OPEN, UFTGEN_FOREIGN);
}

void uftrace_break_dat_fork_prefix(struct uftrace_gen *u)
{
	if (!uftgen_ready(u, UFTGEN_FORK, UFTGEN_FOREIGN))
		return;
	for (unsigned task = 0; task < u->task_count; task++) {
		const struct bytes *b = break_dat(u, task);
		bool big = uftgen_has(u, UFTGEN_BIG_ENDIAN);

		if (!b || b->size < 16 || !u->tasks[task].forked)
			continue;
		unsigned depth = (unsigned)(load_u64(b->data + 8, big) & DEPTH_MASK) >> 6;
		record_insert(u, task, 0, load_u64(b->data, big), record_make(RECORD_ENTRY, depth + 1, u->marks[0].address));
		return;
	}
}

/* ---- LOST and EVENT ---- */

void uftrace_break_dat_lost(struct uftrace_gen *u)
{
	(void)uftgen_ready(u, UFTGEN_LOST, 0);
}

void uftrace_break_dat_lost_more(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, UFTGEN_LOST, WITH_PAYLOADS) ? mark_any(u, is_lost) : NULL;

	if (m)
		record_set(u, m, 0, uftgen_below(u, 2) ? record_word(u, m) | WORD_MORE : record_make(RECORD_LOST, 0, 0));
}

void uftrace_break_dat_event_unknown(struct uftrace_gen *u)
{
	const struct uftgen_mark *m;

	uftgen_versions(u, 80, 999);
	m = uftgen_ready(u, 0, 0) ? mark_any(u, is_inner_start) : NULL;
	if (m)
		record_insert(u, m->task, m->offset, m->time, record_make(RECORD_EVENT, 0, 100014 + uftgen_below(u, 80000)));
}

void uftrace_break_dat_event_length(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, UFTGEN_EVENTS, WITH_PAYLOADS) ? mark_any(u, is_loaded_event) : NULL;
	struct bytes *b = m ? break_dat(u, m->task) : NULL;

	if (b) { /* within the padding */
		bool big = uftgen_has(u, UFTGEN_BIG_ENDIAN);
		uint16_t length = load_u16(b->data + m->offset + 16, big);

		store_u16(b->data + m->offset + 16, (uint16_t)(length + (length > 4 ? 1 + uftgen_below(u, 4) : 1)), big);
	}
}

void uftrace_break_dat_event_depth(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, UFTGEN_EVENTS, 0) ? mark_any(u, is_event) : NULL;

	if (m)
		record_set(u, m, m->time, record_word(u, m) + ((uint64_t)(1 + uftgen_below(u, 5)) << 6));
}

void uftrace_break_dat_event_virtual(struct uftrace_gen *u)
{
	const struct uftgen_mark *m;

	uftgen_versions(u, 80, 999);
	m = uftgen_ready(u, 0, 0) ? mark_any(u, is_inner_start) : NULL;
	if (m)
		record_insert(u, m->task, m->offset, m->time,
			      record_make(RECORD_EVENT, 0, uftgen_below(u, 2) ? 200001 + uftgen_below(u, 8) : 2000000));
}

/* ---- payloads ---- */

void uftrace_break_dat_payload_without_spec(struct uftrace_gen *u)
{
	const struct uftgen_mark *m;
	struct bytes *b;

	m = uftgen_ready(u, UFTGEN_ARGS, 0) ? mark_any(u, is_bare) : NULL;
	b = m ? break_dat(u, m->task) : NULL;
	if (!b)
		return;
	record_set(u, m, m->time, record_word(u, m) | WORD_MORE);
	bytes_insert(b, m->offset + 16, "\x2a\0\0\0\0\0\0\0", 8);
}

void uftrace_break_dat_payload_desync(struct uftrace_gen *u)
{
	const struct uftgen_mark *m = uftgen_ready(u, UFTGEN_ARGS | UFTGEN_RETVALS, 0) ? mark_any(u, is_loaded) : NULL;
	struct bytes *b = m ? break_dat(u, m->task) : NULL;

	if (b)
		bytes_insert(b, m->offset + m->length, "\x2a\0\0\0\0\0\0\0", 8);
}

void uftrace_break_dat_string_length(struct uftrace_gen *u)
{
	static const uint8_t filler[] = "a long string that a writer would have cut in two and then some";
	const struct uftgen_mark *m = uftgen_ready(u, UFTGEN_AUTO, 0) ? mark_any(u, is_text) : NULL;
	struct bytes *b = m ? break_dat(u, m->task) : NULL;
	bool big = uftgen_has(u, UFTGEN_BIG_ENDIAN);
	bool impossible = uftgen_below(u, 2);
	unsigned rows = 2 + uftgen_below(u, 8);

	if (!b)
		return;
	if (impossible) { /* by its length alone */
		store_u16(b->data + m->offset + 16, (uint16_t)(UFTRACE_STRING_MAX + 1 + uftgen_below(u, 60000)), big);
		return;
	}
	store_u16(b->data + m->offset + 16, (uint16_t)(load_u16(b->data + m->offset + 16, big) + 64 * rows), big);
	for (unsigned i = 0; i < rows; i++)
		bytes_insert(b, m->offset + 18, filler, 64);
}

/* ---- addresses ---- */

/* Moves a call of a leaf to another address. */
static void move_call(struct uftrace_gen *u, uint64_t address)
{
	const struct uftgen_mark *m = mark_any(u, is_leaf);
	const struct uftgen_mark *next = m ? mark_next(u, m) : NULL;

	if (!next)
		return;
	record_set(u, m, m->time, record_make(RECORD_ENTRY, m->depth, address));
	record_set(u, next, next->time, record_make(RECORD_EXIT, next->depth, address));
}

void uftrace_break_dat_address_unmapped(struct uftrace_gen *u)
{
	if (uftgen_ready(u, 0, UFTGEN_FOREIGN | WITH_PAYLOADS))
		move_call(u, 0x10000 + uftgen_below(u, 0x10000));
}

void uftrace_break_dat_address_unsymbolised(struct uftrace_gen *u)
{
	const struct uftgen_module *m = &u->modules[0];

	if (uftgen_ready(u, 0, UFTGEN_FOREIGN | UFTGEN_EXEC | UFTGEN_FORK_EXEC | UFTGEN_SPAWN | WITH_PAYLOADS))
		move_call(u, u->sessions[0].maps[0].base + m->length - 8 - uftgen_below(u, 0x200));
}

void uftrace_break_dat_address_kernel_range(struct uftrace_gen *u)
{
	if (uftgen_ready(u, 0, UFTGEN_FOREIGN | UFTGEN_NARROW | WITH_PAYLOADS))
		move_call(u, 0x800000000000 + 16 * (uint64_t)uftgen_below(u, 0x10000000));
}

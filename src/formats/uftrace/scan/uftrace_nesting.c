/* Calls and returns: what an address is, and whether a record fits the calls that are open. */
#include "formats/uftrace/repair/uftrace_repair_dat.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_stream.h"

/* The depth of a record. Ten bits of it are stored; the bits above them follow from the calls that are open. */
static unsigned depth_meant(const struct uftrace_stream *t, uint64_t word, unsigned expected)
{
	unsigned stored = uftrace_word_depth(word);

	if (!t->wrap)
		return stored;
	unsigned base = expected & ~UFTRACE_DEPTH_MASK, best = base | stored;
	if (best > expected + 512 && base)
		best -= 1024;
	else if (best + 512 < expected && best + 1024 < UFTRACE_FRAMES_MAX)
		best += 1024;
	return best;
}

static void seed(struct uftrace_stream *t, unsigned depth)
{
	t->depth = t->unknown = depth;
	t->find_depth = false;
}

static uint64_t frame(const struct uftrace_stream *t, unsigned index)
{
	return index < t->unknown ? UFTRACE_ANY : t->frames[index];
}

static bool nest_entry(struct uftrace_stream *t, uint64_t offset, uint64_t word, unsigned depth)
{
	struct finding *fd;
	bool fits = depth == t->depth;

	if (depth > t->depth) {
		fd = uftrace_fold(t, &t->folds.gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
				  "a call at depth %u, and %u calls are open", depth, t->depth);
		if (fd)
			finding_field(fd, uftrace_word_at(t->w, offset, 0, 2), 2, "depth = %u", depth);
		seed(t, depth);
	} else if (depth < t->depth) {
		/* exec starts over at depth 0; longjmp takes all frames above its target away. */
		bool jump = t->session.changed || uftrace_place_has_name(t, frame(t, t->depth - 1), "jmp") ||
			    uftrace_place_has_name(t, frame(t, t->depth - 1), "exec");
		fits = jump;
		if (!jump) {
			fd = uftrace_fold(t, &t->folds.closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a call at depth %u, and %u calls are open: some ended without a return", depth,
					  t->depth);
			if (fd)
				finding_field(fd, uftrace_word_at(t->w, offset, 0, 2), 2, "depth = %u", depth);
		}
		t->depth = depth;
		if (t->unknown > depth)
			t->unknown = depth;
	}
	if (t->depth < t->frame_max)
		t->frames[t->depth++] = uftrace_word_address(word);
	return fits;
}

static bool nest_exit(struct uftrace_stream *t, uint64_t offset, uint64_t word, unsigned depth)
{
	struct finding *fd;
	uint64_t address = uftrace_word_address(word);
	bool fits = depth + 1 == t->depth;

	if (depth >= t->depth) {
		bool again = uftrace_place_has_name(t, address, "jmp");
		fits = again;
		if (!again) {
			fd = uftrace_fold(t, &t->folds.without_entry, UFTRACE_RULE_dat_exit_without_entry, offset,
					  UFTRACE_RECORD_SIZE, "a return at depth %u, and %u calls are open", depth, t->depth);
			if (fd)
				finding_field(fd, uftrace_word_at(t->w, offset, 0, 2), 2, "depth = %u", depth);
		}
		seed(t, depth);
		return fits;
	}
	bool jump = uftrace_place_has_name(t, address, "jmp");
	if (!fits) {
		jump = jump || uftrace_place_has_name(t, frame(t, t->depth - 1), "jmp") ||
		       uftrace_place_has_name(t, frame(t, t->depth - 1), "exec");
		fits = jump;
		if (!jump) {
			fd = uftrace_fold(t, &t->folds.closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a return at depth %u, and %u calls are open: those within it ended without a return",
					  depth, t->depth);
			if (fd)
				finding_field(fd, uftrace_word_at(t->w, offset, 0, 2), 2, "depth = %u", depth);
		}
	}
	uint64_t open = frame(t, depth);
	t->depth = depth;
	if (t->unknown > depth)
		t->unknown = depth;
	if (open != UFTRACE_ANY && open != address && !jump) {
		fd = uftrace_fold(t, &t->folds.mismatch, UFTRACE_RULE_dat_exit_addr_mismatch, offset, UFTRACE_RECORD_SIZE,
				  "a return of 0x%llx, and the call that is open at depth %u is 0x%llx",
				  (unsigned long long)address, depth, (unsigned long long)open);
		if (fd)
			finding_field(fd, uftrace_word_at(t->w, offset, 2, 6), 6, "address = 0x%llx", (unsigned long long)address);
		/* Which of the two is wrong is not known. */
		uftrace_repair_doubt_call(t, offset, depth, open);
		return false;
	}
	return fits;
}

/* The first record of a forked process is the return of fork, or of a function that calls it. */
static void check_fork(struct uftrace_stream *t, uint64_t offset, uint64_t address, bool entry)
{
	if (!entry && (!t->session.map || uftrace_place_has_name(t, address, "fork") ||
		       uftrace_place_has_name(t, address, "daemon") || uftrace_place_of(t, address) != UFTRACE_PLACE_MAPPED))
		return;
	finding_report(t->w->findings, UFTRACE_RULE_dat_fork_prefix, t->source, offset, UFTRACE_RECORD_SIZE,
		       "the first record of this forked process is %s, not the return of fork",
		       entry ? "a call" : "another return");
}

static void name_depth(const struct uftrace_stream *t, struct finding *fd, uint64_t offset, unsigned depth)
{
	if (fd)
		finding_field(fd, uftrace_word_at(t->w, offset, 0, 2), 2, "depth = %u", depth);
}

/* The first record of a task that was not forked is a call at depth 0. */
static void check_first(struct uftrace_stream *t, uint64_t offset, unsigned depth, bool entry)
{
	if (!entry)
		name_depth(t,
			   uftrace_fold(t, &t->folds.without_entry, UFTRACE_RULE_dat_exit_without_entry, offset,
					UFTRACE_RECORD_SIZE, "the first record of the task is a return"),
			   offset, depth);
	else if (depth)
		name_depth(t,
			   uftrace_fold(t, &t->folds.gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
					"the first record of the task is a call at depth %u", depth),
			   offset, depth);
}

/* The depth against the limit of info, and against its field. sure: it fits what is open. */
static void check_depth(struct uftrace_stream *t, uint64_t offset, uint64_t word, unsigned depth, bool sure)
{
	const struct uftrace_head *head = &t->w->info->head;
	unsigned *deepest = &t->w->records->deepest;

	if (depth >= head->max_stack && head->present && sure)
		*deepest = depth + 1 > *deepest ? depth + 1 : *deepest; /* uftrace_feat_check() reports it */
	else if (depth >= head->max_stack && head->present)
		name_depth(t,
			   uftrace_fold_milder(t, &t->folds.too_deep, UFTRACE_RULE_dat_depth_exceeds_max_stack, TM_WARNING, offset,
					       UFTRACE_RECORD_SIZE, "depth %u, and info allows %u", depth, head->max_stack),
			   offset, depth);
	if (depth > UFTRACE_DEPTH_MASK) {
		struct finding *fd =
			uftrace_fold(t, &t->folds.wrapped, UFTRACE_RULE_dat_depth_wrap, offset, UFTRACE_RECORD_SIZE,
				     "depth %u does not fit its ten bits: %u is stored, and the address is %u too high", depth,
				     uftrace_word_depth(word), depth >> UFTRACE_DEPTH_BITS);
		if (fd)
			finding_field(fd, offset + 8, 8, "depth = %u", uftrace_word_depth(word));
	}
}

bool uftrace_nest(struct uftrace_stream *t, uint64_t offset, uint64_t word)
{
	bool entry = uftrace_word_type(word) == UFTRACE_ENTRY, seek = t->find_depth;
	unsigned expected = entry ? t->depth : t->depth ? t->depth - 1 : 0;
	unsigned depth = depth_meant(t, word, expected);

	if (t->w->info->foreign) { /* other writers count from 1, and returns differ */
		t->find_depth = false;
		return true;
	}
	if (!t->started && t->dat->forked)
		check_fork(t, offset, uftrace_word_address(word), entry);
	if (seek) {
		if (!t->started && !t->dat->forked)
			check_first(t, offset, depth, entry);
		seed(t, entry ? depth : depth + 1);
	}
	bool fits = entry ? nest_entry(t, offset, word, depth) : nest_exit(t, offset, word, depth);
	check_depth(t, offset, word, depth, fits && !seek);
	return fits;
}

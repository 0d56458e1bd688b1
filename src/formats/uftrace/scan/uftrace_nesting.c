/* Calls and returns: what an address is, and whether a record fits the calls that are open. */
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_stream.h"

/* The depth that a record means. Ten bits are stored; deeper ones are told by what is open. */
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
	t->depth = t->unsure = depth;
	t->seek = false;
}

static uint64_t frame(const struct uftrace_stream *t, unsigned index)
{
	return index < t->unsure ? UFTRACE_ANY : t->frames[index];
}

static bool nest_entry(struct uftrace_stream *t, uint64_t offset, uint64_t word, unsigned depth)
{
	struct finding *fd;
	bool fits = depth == t->depth;

	if (depth > t->depth) {
		fd = uftrace_fold(t, &t->gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
				  "a call at depth %u, and %u calls are open", depth, t->depth);
		if (fd)
			finding_field(fd, offset + 8, 2, "depth = %u", depth);
		seed(t, depth);
	} else if (depth < t->depth) {
		/* exec starts over at depth 0; longjmp takes all frames above its target away. */
		bool jump = t->session_changed || uftrace_place_has_name(t, frame(t, t->depth - 1), "jmp") ||
			    uftrace_place_has_name(t, frame(t, t->depth - 1), "exec");
		fits = jump;
		if (!jump) {
			fd = uftrace_fold(t, &t->closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a call at depth %u, and %u calls are open: some ended without a return", depth,
					  t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		t->depth = depth;
		if (t->unsure > depth)
			t->unsure = depth;
	}
	if (t->depth < UFTRACE_FRAMES_MAX)
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
			fd = uftrace_fold(t, &t->without_entry, UFTRACE_RULE_dat_exit_without_entry, offset, UFTRACE_RECORD_SIZE,
					  "a return at depth %u, and %u calls are open", depth, t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
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
			fd = uftrace_fold(t, &t->closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a return at depth %u, and %u calls are open: those within it ended without a return",
					  depth, t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
	}
	uint64_t open = frame(t, depth);
	t->depth = depth;
	if (t->unsure > depth)
		t->unsure = depth;
	if (open != UFTRACE_ANY && open != address && !jump) {
		fd = uftrace_fold(t, &t->mismatch, UFTRACE_RULE_dat_exit_addr_mismatch, offset, UFTRACE_RECORD_SIZE,
				  "a return of 0x%llx, and the call that is open at depth %u is 0x%llx",
				  (unsigned long long)address, depth, (unsigned long long)open);
		if (fd)
			finding_field(fd, offset + 10, 6, "address = 0x%llx", (unsigned long long)address);
		return false;
	}
	return fits;
}

bool uftrace_nest(struct uftrace_stream *t, uint64_t offset, uint64_t word)
{
	struct uftrace_walk *w = t->w;
	struct finding *fd;
	bool entry = uftrace_word_type(word) == UFTRACE_ENTRY, seek = t->seek;
	unsigned expected = entry ? t->depth : t->depth ? t->depth - 1 : 0;
	unsigned depth = depth_meant(t, word, expected);
	bool fits = true;

	if (w->info->foreign) { /* other writers count from 1, and returns differ */
		t->seek = false;
		return true;
	}
	if (!t->started && t->dat->forked && (entry || !t->map || !uftrace_place_has_name(t, uftrace_word_address(word), "fork"))) {
		if (entry || (t->map && !uftrace_place_has_name(t, uftrace_word_address(word), "daemon") &&
			      uftrace_place_of(t, uftrace_word_address(word)) == UFTRACE_PLACE_MAPPED)) {
			fd = finding_report(w->findings, UFTRACE_RULE_dat_fork_prefix, t->s, offset, UFTRACE_RECORD_SIZE,
					    "the first record of this forked process is %s, not the return of fork",
					    entry ? "a call" : "another return");
		}
	}
	if (seek) {
		if (!t->started && !entry && !t->dat->forked) {
			fd = uftrace_fold(t, &t->without_entry, UFTRACE_RULE_dat_exit_without_entry, offset, UFTRACE_RECORD_SIZE,
					  "the first record of the task is a return");
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		if (!t->started && entry && depth && !t->dat->forked) {
			fd = uftrace_fold(t, &t->gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
					  "the first record of the task is a call at depth %u", depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		seed(t, entry ? depth : depth + 1);
	}
	unsigned limit = w->info->head.max_stack;
	fits = entry ? nest_entry(t, offset, word, depth) : nest_exit(t, offset, word, depth);
	if (depth >= limit && w->info->head.present) {
		if (fits && !seek) {
			if (depth + 1 > w->records->deepest)
				w->records->deepest = depth + 1;
		} else {
			fd = uftrace_fold_milder(t, &t->too_deep, UFTRACE_RULE_dat_depth_exceeds_max_stack, TM_WARNING, offset,
						 UFTRACE_RECORD_SIZE, "depth %u, and info allows %u", depth, limit);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
	}
	if (depth > UFTRACE_DEPTH_MASK) {
		fd = uftrace_fold(t, &t->wrapped, UFTRACE_RULE_dat_depth_wrap, offset, UFTRACE_RECORD_SIZE,
				  "depth %u does not fit its ten bits: %u is stored, and the address is %u too high", depth,
				  uftrace_word_depth(word), depth >> UFTRACE_DEPTH_BITS);
		if (fd)
			finding_field(fd, offset + 8, 8, "depth = %u", uftrace_word_depth(word));
	}
	return fits;
}

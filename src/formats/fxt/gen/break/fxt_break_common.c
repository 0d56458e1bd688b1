/* What breakers share. */
#include "formats/fxt/decode/fxt_decode.h"
#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

void fxt_break_leave(struct fxt_gen *g)
{
	if (!fxt_provider(g)->introduced)
		fxt_close_all(g);
}

void fxt_break_provider(struct fxt_gen *g)
{
	fxt_break_leave(g);
	fxt_switch_provider(g, fxt_add_provider(g));
}

void fxt_break_return(struct fxt_gen *g, unsigned provider)
{
	if (g->providers[provider].introduced && choices_chance(g->c, 3, 4))
		fxt_switch_provider(g, provider);
}

void fxt_break_follow(struct fxt_gen *g)
{
	for (uint64_t n = 2 + choices_below(g->c, 3); n; n--)
		fxt_make_event(g, FXT_INSTANT, 0);
}

static bool last_is_ambiguous(const struct fxt_gen *g)
{
	const size_t size = fxt_last_size(g);
	struct fxt_decoder d = { .big_endian = g->out->big_endian, .profile = g->latest ? FXT_LATEST : FXT_2022 };
	struct fxt_record r;

	if (g->out->failed)
		return false;
	for (unsigned bit = 0; bit < 4; bit++) {
		const uint64_t type = fxt_bits(fxt_last_header(g), 0, 4) ^ (UINT64_C(1) << bit);
		/* Both kinds of object have one layout, and are distinguished by their references. */
		if (type == FXT_LARGE || type == FXT_KERNEL || type == FXT_USERSPACE)
			continue;
		d.flip = UINT64_C(1) << bit;
		if (fxt_decode(&d, &r, g->out->data + g->start, size, size, 0) && fxt_is_strict(&r) && r.words * FXT_WORD == size)
			return true;
	}
	return false;
}

bool fxt_break_withdraw(struct fxt_gen *g, unsigned tries)
{
	if (!tries || !last_is_ambiguous(g))
		return false;
	g->out->size = g->start;
	g->records--;
	return true;
}

uint64_t fxt_break_word(struct fxt_gen *g)
{
	const uint64_t fields = choices_u64(g->c) & ~UINT64_C(0xffff);
	const uint64_t type = choices_below(g->c, FXT_LARGE);
	return fields | UINT64_C(0xa5) << 48 | type;
}

void fxt_break_event(struct fxt_gen *g, unsigned type, const struct fxt_arg *args, unsigned count, uint64_t tail)
{
	struct fxt_gen_event e = { .type = type, .args = args, .arg_count = count, .tail = tail };
	e.who = fxt_who_any(g);
	e.category = fxt_ref_any(g);
	e.name = fxt_ref_any(g);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

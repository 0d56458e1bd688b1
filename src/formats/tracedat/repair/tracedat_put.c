/* Parts of the output that both versions have. */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

void tracedat_put_zeros(struct tracedat_walk *w, uint64_t n, unsigned rule, const char *why)
{
	tracedat_pieces_zeros(&w->out.pieces, n, rule, why);
}

/* Padding up to the next multiple of the alignment, which in the input was [from, to). */
void tracedat_put_padding(struct tracedat_walk *w, uint64_t alignment, uint64_t from, uint64_t to)
{
	uint64_t n = tracedat_align(w->out.pieces.size, alignment) - w->out.pieces.size;
	if (to > from && to - from == n)
		tracedat_pieces_copy(&w->out.pieces, w->source, from, n);
	else
		tracedat_put_zeros(w, n, TRACEDAT_RULE_cpu_offset_alignment, "padding up to a page");
}

size_t tracedat_put_u64(struct tracedat_walk *w, uint64_t old, uint64_t value, unsigned rule, const char *why)
{
	uint8_t number[8];
	store_u64(number, value, w->shape.big_endian);
	return tracedat_pieces_field(&w->out.pieces, w->source, old, number, 8, rule, why);
}

size_t tracedat_put_u32(struct tracedat_walk *w, uint64_t old, uint32_t value, unsigned rule, const char *why)
{
	uint8_t number[4];
	store_u32(number, value, w->shape.big_endian);
	return tracedat_pieces_field(&w->out.pieces, w->source, old, number, 4, rule, why);
}

void tracedat_fill_u64(struct tracedat_walk *w, size_t piece, uint64_t value)
{
	uint8_t number[8];
	store_u64(number, value, w->shape.big_endian);
	tracedat_pieces_fill(&w->out.pieces, piece, number);
}

/* Bytes of a block: a copy, or a literal where it was compressed. */
void tracedat_put_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			const char *why)
{
	if (!b->compressed)
		tracedat_pieces_copy(&w->out.pieces, w->source, b->offset + at, length);
	else
		(void)tracedat_pieces_literal(&w->out.pieces, b->data + at, length, rule, why);
}

/* The pieces of a part in the output; b is the plain block that they were noted in, or NULL. */
void tracedat_put_part(struct tracedat_walk *w, const struct tracedat_pieces *p, const struct tracedat_block *b)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		if (!piece->literal) {
			if (b)
				tracedat_pieces_copy(&w->out.pieces, w->source, b->offset + piece->from, piece->length);
			continue;
		}
		uint64_t old = b && piece->old != TRACEDAT_NO_OLD ? b->offset + piece->old : TRACEDAT_NO_OLD;
		(void)tracedat_pieces_field(&w->out.pieces, w->source, old, p->literals.data + piece->from, (size_t)piece->length,
					    piece->rule, piece->why);
	}
	w->out.pieces.failed |= p->failed;
}

/* Whether the pieces are the block as it is. */
bool tracedat_part_unchanged(const struct tracedat_pieces *p, const struct tracedat_block *b)
{
	uint64_t at = 0;
	for (size_t i = 0; i < p->count && !p->failed; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		uint64_t from = piece->literal ? piece->old : piece->from;
		if (from != at)
			return false;
		if (piece->literal && memcmp(p->literals.data + piece->from, b->data + from, (size_t)piece->length))
			return false;
		at += piece->length;
	}
	return at == b->size;
}

/* The pieces of a compressed block as bytes. */
void tracedat_part_flatten(const struct tracedat_pieces *p, const struct tracedat_block *b, struct bytes *out)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		bytes_append(out, piece->literal ? p->literals.data + piece->from : b->data + piece->from, (size_t)piece->length);
	}
}

void tracedat_put_prefix(struct tracedat_walk *w)
{
	uint8_t version[2] = { (uint8_t)('0' + w->shape.version), 0 };
	uint8_t byte;
	uint64_t at = w->prefix.end - 6;
	static const char why[] = "the value that the content of the file needs";

	(void)tracedat_pieces_field(&w->out.pieces, w->source, 0, "\x17\x08\x44tracing", 10, TRACEDAT_RULE_bad_magic,
				    "the magic of trace.dat");
	(void)tracedat_pieces_field(&w->out.pieces, w->source, w->prefix.version_length == 2 ? 10 : TRACEDAT_NO_OLD, version, 2,
				    TRACEDAT_RULE_version_unsupported, "the version whose layout the content has");
	byte = w->shape.big_endian;
	(void)tracedat_pieces_field(&w->out.pieces, w->source, at, &byte, 1, TRACEDAT_RULE_endian_flag_invalid, why);
	byte = w->prefix.user_long == 4 || w->prefix.user_long == 8 ? w->prefix.user_long : w->shape.long_size;
	(void)tracedat_pieces_field(&w->out.pieces, w->source, at + 1, &byte, 1, TRACEDAT_RULE_user_long_invalid, why);
	(void)tracedat_put_u32(w, at + 2, w->shape.page_size, TRACEDAT_RULE_page_size_invalid, why);
}

static int cpu_place_order(const void *left, const void *right)
{
	const struct tracedat_cpu *const *a = left, *const *b = right;
	if ((*a)->from != (*b)->from)
		return (*a)->from < (*b)->from ? -1 : 1;
	return (*a)->cpu < (*b)->cpu ? -1 : (*a)->cpu > (*b)->cpu;
}

/* The data of all CPUs of a buffer, each at a page. *at: where the input stands. */
void tracedat_put_cpus(struct tracedat_walk *w, struct tracedat_buffer *b, uint64_t *at)
{
	struct tracedat_cpu **order = calloc(b->count + 1, sizeof(*order));
	size_t n = 0;

	if (!order) {
		tracedat_no_memory(w);
		return;
	}
	for (size_t i = 0; i < b->count; i++)
		if (b->cpus[i].length)
			order[n++] = &b->cpus[i];
	qsort(order, n, sizeof(*order), cpu_place_order);
	w->emitting = true;
	w->findings = w->scratch;
	for (size_t i = 0; i < n && w->status == TM_OK; i++) {
		struct tracedat_cpu *c = order[i];
		tracedat_put_padding(w, b->page_size, *at, c->from);
		c->moved = w->out.pieces.size;
		tracedat_cpu_walk(w, b, c);
		c->moved_size = w->out.pieces.size - c->moved;
		*at = c->end;
	}
	w->emitting = false;
	w->findings = w->s->findings;
	free(order);
}

void tracedat_put_text(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	w->emitting = true;
	w->findings = w->scratch;
	tracedat_latency_section(w, b);
	w->emitting = false;
	w->findings = w->s->findings;
}

bool tracedat_clock_said(const struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	return b->clock.size > 1 && (w->shape.version == 6 ? b->clock_size != 0 : b->option != SIZE_MAX);
}

/* The TRACECLOCK option was lost with others, and the first buffer names the clock as well. */
static bool clock_is_lost(const struct tracedat_walk *w)
{
	const struct tracedat_buffer *b = w->data.buffer_count ? &w->data.buffers[0] : NULL;
	bool lost = w->dir.chain_cut || w->follows[TRACEDAT_RULE_v7_done_target] || w->follows[TRACEDAT_RULE_v7_options_offset] ||
		    FINDINGS_ANY(w->s->findings, TRACEDAT_RULE_option_size, TRACEDAT_RULE_option_missing_done,
				 TRACEDAT_RULE_v7_done_size, TRACEDAT_RULE_v7_done_not_last, TRACEDAT_RULE_v7_done_target,
				 TRACEDAT_RULE_v7_options_offset);
	return lost && w->dir.clock_option < 0 && b && tracedat_clock_said(w, b) &&
	       tracedat_clock_known((const char *)b->clock.data, b->clock.size - 1);
}

/* The clock that the option of the output names; NULL: there is no such option. */
const char *tracedat_clock_of_output(const struct tracedat_walk *w, size_t *length)
{
	const struct tracedat_option *o = w->dir.clock_option >= 0 ? &w->dir.options[w->dir.clock_option] : NULL;

	if (clock_is_lost(w)) {
		*length = w->data.buffers[0].clock.size - 1;
		return (const char *)w->data.buffers[0].clock.data;
	}
	if (!o || o->dropped)
		return NULL;
	const char *text = o->changed.size ? (const char *)o->changed.data : (const char *)o->block->data + o->at;
	const char *name = tracedat_clock_name(text, o->changed.size ? o->changed.size : o->size, length);
	if (!name || !*length) {
		name = "local";
		*length = strlen(name);
	}
	return name;
}

void tracedat_put_clock(struct tracedat_walk *w)
{
	struct bytes option = { .big_endian = w->shape.big_endian };
	if (clock_is_lost(w)) {
		const struct bytes *clock = &w->data.buffers[0].clock;
		bytes_u16(&option, TRACEDAT_TRACECLOCK);
		bytes_u32(&option, (uint32_t)clock->size + 2);
		bytes_printf(&option, "[%s]", (const char *)clock->data);
		bytes_u8(&option, 0);
		(void)tracedat_pieces_literal(&w->out.pieces, option.data, option.size, TRACEDAT_RULE_option_clock_brackets,
					      "the clock that the buffer names, instead of a lost option");
	}
	w->out.pieces.failed |= option.failed;
	bytes_free(&option);
}

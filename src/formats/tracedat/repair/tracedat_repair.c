/* The repaired file: what the scan noted of each block, composed in the order of the original. Sizes, offsets and counts are
 * computed anew; where they come out as they were, the bytes are copies. */
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

static const uint8_t zeros[4096];

/* ---- pieces of the output ---- */

void tracedat_put_zeros(struct tracedat_walk *w, uint64_t n, unsigned rule, const char *why)
{
	while (n) {
		size_t step = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);
		(void)tracedat_literal(&w->out.pieces, zeros, step, rule, why);
		n -= step;
	}
}

/* Padding up to the next multiple of the alignment, which in the input was [from, to). */
void tracedat_put_padding(struct tracedat_walk *w, uint64_t alignment, uint64_t from, uint64_t to)
{
	uint64_t n = tracedat_align(w->out.pieces.size, alignment) - w->out.pieces.size;
	if (to > from && to - from == n)
		tracedat_copy(&w->out.pieces, w->source, from, n);
	else
		tracedat_put_zeros(w, n, TRACEDAT_RULE_cpu_offset_alignment, "padding up to a page");
}

size_t tracedat_put_u64(struct tracedat_walk *w, uint64_t old, uint64_t value, unsigned rule, const char *why)
{
	uint8_t number[8];
	store_u64(number, value, w->shape.big_endian);
	return tracedat_field(&w->out.pieces, w->source, old, number, 8, rule, why);
}

size_t tracedat_put_u32(struct tracedat_walk *w, uint64_t old, uint32_t value, unsigned rule, const char *why)
{
	uint8_t number[4];
	store_u32(number, value, w->shape.big_endian);
	return tracedat_field(&w->out.pieces, w->source, old, number, 4, rule, why);
}

void tracedat_fill_u64(struct tracedat_walk *w, size_t piece, uint64_t value)
{
	uint8_t number[8];
	store_u64(number, value, w->shape.big_endian);
	tracedat_fill(&w->out.pieces, piece, number);
}

/* Bytes of a block: a copy, or a literal where it was compressed. */
void tracedat_put_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			const char *why)
{
	if (!b->compressed)
		tracedat_copy(&w->out.pieces, w->source, b->offset + at, length);
	else
		(void)tracedat_literal(&w->out.pieces, b->data + at, length, rule, why);
}

/* The pieces of a part in the output; b is the plain block that they were noted in, or NULL. */
void tracedat_put_part(struct tracedat_walk *w, const struct tracedat_pieces *p, const struct tracedat_block *b)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		if (!piece->literal) {
			if (b)
				tracedat_copy(&w->out.pieces, w->source, b->offset + piece->from, piece->length);
			continue;
		}
		uint64_t old = b && piece->old != TRACEDAT_NO_OLD ? b->offset + piece->old : TRACEDAT_NO_OLD;
		(void)tracedat_field(&w->out.pieces, w->source, old, p->literals.data + piece->from, (size_t)piece->length, piece->rule,
				     piece->why);
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
		if (piece->literal && memcmp(p->literals.data + piece->from, b->data + from, piece->length))
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

/* ---- the prefix ---- */

void tracedat_put_prefix(struct tracedat_walk *w)
{
	uint8_t version[2] = { (uint8_t)('0' + w->shape.version), 0 };
	uint8_t byte;
	uint64_t at = w->prefix.end - 6;
	static const char why[] = "what the content of the file asks for";

	(void)tracedat_field(&w->out.pieces, w->source, 0, "\x17\x08\x44tracing", 10, TRACEDAT_RULE_bad_magic, "the magic of trace.dat");
	(void)tracedat_field(&w->out.pieces, w->source, w->prefix.version_length == 2 ? 10 : TRACEDAT_NO_OLD, version, 2,
			     TRACEDAT_RULE_version_unsupported, "the version whose layout the content has");
	byte = w->shape.big_endian;
	(void)tracedat_field(&w->out.pieces, w->source, at, &byte, 1, TRACEDAT_RULE_endian_flag_invalid, why);
	byte = w->prefix.user_long == 4 || w->prefix.user_long == 8 ? w->prefix.user_long : w->shape.long_size;
	(void)tracedat_field(&w->out.pieces, w->source, at + 1, &byte, 1, TRACEDAT_RULE_user_long_invalid, why);
	(void)tracedat_put_u32(w, at + 2, w->shape.page_size, TRACEDAT_RULE_page_size_invalid, why);
}

/* ---- version 6 ---- */

static uint32_t table_entries(const struct tracedat_walk *w)
{
	uint32_t count = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			if (w->data.buffers[i].cpus[j].cpu + 1 > count && (i == 0 || w->data.buffers[i].cpus[j].length))
				count = w->data.buffers[i].cpus[j].cpu + 1;
	if (!count && w->data.cpu_count && w->data.cpu_count <= TRACEDAT_CPUS_MAX)
		count = w->data.cpu_count;
	return count ? count : 1;
}

static void put_tag(struct tracedat_walk *w, uint64_t old, const char *tag)
{
	/* Odd padding is legal enough: it stays. */
	const uint8_t *p = old != TRACEDAT_NO_OLD ? window_at(&w->window, old, TRACEDAT_TAG_SIZE) : NULL;
	size_t letters = tag[0] == 'f' ? 9 : 7;
	if (p && !memcmp(p, tag, letters))
		tracedat_copy(&w->out.pieces, w->source, old, TRACEDAT_TAG_SIZE);
	else
		(void)tracedat_field(&w->out.pieces, w->source, old, tag, TRACEDAT_TAG_SIZE, TRACEDAT_RULE_data_tag_invalid,
				     "the word that the content calls for");
}

/* The option that names the clock was lost with others, and the first buffer names it too. */
static bool clock_is_lost(const struct tracedat_walk *w)
{
	const struct tracedat_buffer *b = w->data.buffer_count ? &w->data.buffers[0] : NULL;
	bool lost = FINDINGS_ANY(w->s->findings, TRACEDAT_RULE_option_size, TRACEDAT_RULE_option_missing_done,
				 TRACEDAT_RULE_v7_done_size, TRACEDAT_RULE_v7_done_not_last, TRACEDAT_RULE_v7_done_target,
				 TRACEDAT_RULE_v7_options_offset);
	bool said = b && b->clock.size > 1 && (w->shape.version == 6 ? b->clock_size != 0 : b->option != SIZE_MAX);
	return lost && w->dir.clock_option < 0 && said && tracedat_clock_known((const char *)b->clock.data, b->clock.size - 1);
}

/* The clock that the option of the output names; NULL: it has none. */
static const char *clock_of_output(const struct tracedat_walk *w, size_t *length)
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

/* Behind the table of a version 6 buffer. */
static void put_clock_block(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	struct bytes clock = { .big_endian = w->shape.big_endian };
	size_t length = 0;
	const char *name = b->clock_size ? NULL : clock_of_output(w, &length);

	if (b->clock_size)
		tracedat_copy(&w->out.pieces, w->source, b->clock_at, b->clock_size);
	if (!name)
		return;
	bytes_u64(&clock, length + 2);
	bytes_u8(&clock, '[');
	bytes_append(&clock, name, length);
	bytes_u8(&clock, ']');
	(void)tracedat_literal(&w->out.pieces, clock.data, clock.size, TRACEDAT_RULE_v6_clock_block_missing,
			       "the clock that the option selects");
	w->out.pieces.failed |= clock.failed;
	bytes_free(&clock);
}

struct table {
	size_t *pieces; /* two a CPU: offset and size */
	uint32_t count;
};

static bool put_table(struct tracedat_walk *w, struct tracedat_buffer *b, struct table *table)
{
	table->pieces = calloc(2 * (size_t)table->count, sizeof(*table->pieces));
	if (!table->pieces) {
		tracedat_no_memory(w);
		return false;
	}
	static const char why[] = "where the data of the CPU is";
	for (uint32_t cpu = 0; cpu < table->count; cpu++) {
		uint64_t old = TRACEDAT_NO_OLD;
		for (size_t i = 0; i < b->count; i++)
			if (b->cpus[i].cpu == cpu && b->cpus[i].declared_at)
				old = b->cpus[i].declared_at;
		table->pieces[2 * cpu] = tracedat_put_u64(w, old, 0, TRACEDAT_RULE_cpu_range_eof, why);
		table->pieces[2 * cpu + 1] = tracedat_put_u64(w, old == TRACEDAT_NO_OLD ? old : old + 8, 0,
							      TRACEDAT_RULE_cpu_range_eof, why);
	}
	put_clock_block(w, b);
	return true;
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

static void fill_table(struct tracedat_walk *w, const struct tracedat_buffer *b, struct table *table)
{
	for (uint32_t cpu = 0; cpu < table->count; cpu++) {
		const struct tracedat_cpu *c = NULL;
		for (size_t i = 0; i < b->count; i++)
			if (b->cpus[i].cpu == cpu)
				c = &b->cpus[i];
		/* Recorders give empty CPUs the place where data would come. */
		uint64_t offset = c && c->moved_size ? c->moved : UINT64_MAX;
		for (uint32_t next = cpu + 1; offset == UINT64_MAX && next < table->count; next++)
			for (size_t i = 0; i < b->count; i++)
				if (b->cpus[i].cpu == next && b->cpus[i].moved_size && b->cpus[i].moved < offset)
					offset = b->cpus[i].moved;
		if (offset == UINT64_MAX)
			offset = tracedat_align(w->out.pieces.size, b->page_size);
		tracedat_fill_u64(w, table->pieces[2 * cpu], offset);
		tracedat_fill_u64(w, table->pieces[2 * cpu + 1], c ? c->moved_size : 0);
	}
	free(table->pieces);
	table->pieces = NULL;
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
		(void)tracedat_literal(&w->out.pieces, option.data, option.size, TRACEDAT_RULE_option_clock_brackets,
				       "the clock, which the buffer names too, for an option that is lost");
	}
	w->out.pieces.failed |= option.failed;
	bytes_free(&option);
}

/* The option of an instance whose own is lost. Returns the piece of the offset. */
static size_t put_instance(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	static const char why[] = "the option of an instance, which is lost";
	size_t name = strlen(b->name) + 1;
	uint8_t head[6];
	store_u16(head, TRACEDAT_BUFFER, w->shape.big_endian);
	store_u32(head + 2, (uint32_t)(8 + name), w->shape.big_endian);
	(void)tracedat_literal(&w->out.pieces, head, sizeof(head), TRACEDAT_RULE_v6_buffer_offset, why);
	size_t piece = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
	(void)tracedat_literal(&w->out.pieces, b->name, name, TRACEDAT_RULE_v6_buffer_offset, why);
	return piece;
}

/* Options of version 6. pieces[i] gets the piece of the offset of instance i. */
static void put_options(struct tracedat_walk *w, size_t *offsets)
{
	const uint8_t done[2] = { 0 };
	for (size_t i = 0; i < w->dir.option_count; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		uint64_t at = o->block->offset + o->at;
		uint8_t head[6];
		if (o->dropped) {
			tracedat_drop(w, at - 6, 6 + (uint64_t)o->size, o->rule, o->why);
			continue;
		}
		size_t size = o->changed.size ? o->changed.size : o->size;
		const uint8_t *payload = o->changed.size ? o->changed.data : o->block->data + o->at;
		store_u16(head, o->id, w->shape.big_endian);
		store_u32(head + 2, (uint32_t)size, w->shape.big_endian);
		(void)tracedat_field(&w->out.pieces, w->source, at - 6, head, 6, o->rule, o->why);
		if (o->id == TRACEDAT_BUFFER && o->buffer >= 0) {
			offsets[o->buffer] = tracedat_put_u64(w, at, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
			payload += 8;
			size -= 8;
			at += 8;
		}
		if (o->changed.size)
			(void)tracedat_literal(&w->out.pieces, payload, size, o->rule, o->why);
		else
			tracedat_copy(&w->out.pieces, w->source, at, size);
	}
	tracedat_put_clock(w);
	for (size_t i = 1; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].option == SIZE_MAX)
			offsets[i] = put_instance(w, &w->data.buffers[i]);
	/* The end of the list stands before the tag, if it stands anywhere. */
	uint64_t old = TRACEDAT_NO_OLD;
	if (w->dir.option_count) {
		const struct tracedat_option *o = &w->dir.options[w->dir.option_count - 1];
		old = o->block->offset + o->at + o->size;
		old = old + 2 <= w->source->size ? old : TRACEDAT_NO_OLD;
	} else if (w->data.tag_at >= 2) {
		old = w->data.tag_at - 2;
	}
	(void)tracedat_field(&w->out.pieces, w->source, old, done, 2, TRACEDAT_RULE_option_missing_done, "the end of the options");
}

static void compose_v6(struct tracedat_walk *w)
{
	size_t *offsets = calloc(w->data.buffer_count + 1, sizeof(*offsets));
	struct table table = { .count = table_entries(w) };
	uint64_t at;

	if (!offsets) {
		tracedat_no_memory(w);
		return;
	}
	tracedat_put_prefix(w);
	for (size_t k = 0; k < TRACEDAT_PARTS; k++)
		tracedat_put_part(w, &w->meta.parts[k], &w->meta.v6);
	uint64_t old = w->dir.tag_at ? w->data.cpu_count_at : TRACEDAT_NO_OLD;
	if (w->data.latency)
		table.count = w->data.cpu_count && w->data.cpu_count <= TRACEDAT_CPUS_MAX ? w->data.cpu_count : 1;
	(void)tracedat_put_u32(w, old, table.count, TRACEDAT_RULE_cpu_count_range, "the number of CPUs in the table");
	if (w->dir.tag_seen || w->dir.option_count) {
		put_tag(w, w->dir.tag_at ? w->dir.tag_at : TRACEDAT_NO_OLD, "options  ");
		put_options(w, offsets);
	}
	old = w->data.tag_at ? w->data.tag_at : TRACEDAT_NO_OLD;
	put_tag(w, old, w->data.latency ? "latency  " : "flyrecord");
	if (w->data.latency) {
		tracedat_copy(&w->out.pieces, w->source, w->data.latency_at, w->data.latency_stop - w->data.latency_at);
		tracedat_drop(w, w->data.latency_stop, w->source->size - w->data.latency_stop, TRACEDAT_RULE_truncated_file,
			      "a line without its end");
		free(offsets);
		return;
	}
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (i) {
			tracedat_fill_u64(w, offsets[i], w->out.pieces.size);
			put_tag(w, b->record_at, "flyrecord");
		}
		if (!put_table(w, b, &table))
			break;
		at = i ? b->clock_at + b->clock_size : w->meta.stop;
		if (!w->meta.stop)
			at = 0;
		/* Without data recorders pad all the same. */
		bool any = false;
		for (size_t j = 0; j < b->count; j++)
			any |= b->cpus[j].length != 0;
		if (any)
			tracedat_put_cpus(w, b, &at);
		fill_table(w, b, &table);
	}
	free(offsets);
}

/* ---- the plan ---- */

static bool bytes_agree(struct tracedat_walk *w, const struct tracedat_pieces *p, const struct tracedat_piece *piece)
{
	if (piece->old == TRACEDAT_NO_OLD || !piece->source || piece->old > piece->source->size ||
	    piece->length > piece->source->size - piece->old || piece->source != w->source)
		return false;
	const uint8_t *old = window_at(&w->window, piece->old, (size_t)piece->length);
	return old && !memcmp(old, p->literals.data + piece->from, (size_t)piece->length);
}

struct kept {
	const struct source *source;
	uint64_t from, to;
	size_t piece;
};

static int kept_order(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;
	if (a->source != b->source)
		return a->source->index < b->source->index ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->piece < b->piece ? -1 : a->piece > b->piece;
}

static int drop_order(const void *left, const void *right)
{
	const struct tracedat_drop *a = left, *b = right;
	if (a->source != b->source)
		return a->source->index < b->source->index ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->length > b->length ? -1 : a->length < b->length;
}

struct flush {
	struct tracedat_walk *w;
	struct plan *plan;
	size_t drop; /* the next noted reason */
};

/* Drops what no piece keeps, for the reasons that were noted and a general one. */
static void flush_gap(struct flush *f, const struct source *s, uint64_t from, uint64_t to)
{
	struct tracedat_walk *w = f->w;
	while (from < to) {
		while (f->drop < w->out.drop_count &&
		       (w->out.drops[f->drop].source->index < s->index ||
			(w->out.drops[f->drop].source == s && w->out.drops[f->drop].from + w->out.drops[f->drop].length <= from)))
			f->drop++;
		const struct tracedat_drop *d = f->drop < w->out.drop_count && w->out.drops[f->drop].source == s ? &w->out.drops[f->drop]
													 : NULL;
		uint64_t stop = to;
		if (d && d->from > from) {
			stop = d->from < to ? d->from : to;
			d = NULL;
		} else if (d) {
			stop = d->from + d->length < to ? d->from + d->length : to;
		}
		plan_drop(f->plan, s, from, stop - from, d ? d->rule : TRACEDAT_RULE_truncated_file,
			  d ? d->why : "replaced by what the repaired file has in its place, or of no use without what is lost");
		from = stop;
	}
}

static void flush_source(struct flush *f, const struct source *s, const struct kept *kept, size_t count)
{
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept[i].source != s)
			continue;
		if (kept[i].from > at)
			flush_gap(f, s, at, kept[i].from);
		at = kept[i].to > at ? kept[i].to : at;
	}
	if (at < s->size)
		flush_gap(f, s, at, s->size);
}

/* Hands the pieces to the plan. */
enum tracemend_status tracedat_flush(struct tracedat_walk *w)
{
	struct tracedat_pieces *p = &w->out.pieces;
	struct plan *plan = w->s->plan;
	struct flush f = { .w = w, .plan = plan };
	unsigned output = plan_output(plan, "");

	if (p->failed || w->status != TM_OK)
		return w->status != TM_OK ? w->status : TM_NO_MEMORY;
	struct kept *kept = calloc(p->count + 1, sizeof(*kept));
	if (!kept)
		return TM_NO_MEMORY;
	size_t n = 0;
	for (size_t i = 0; i < p->count; i++) {
		struct tracedat_piece *piece = &p->list[i];
		if (piece->literal && bytes_agree(w, p, piece)) {
			piece->literal = false;
			piece->from = piece->old;
		} else if (piece->literal && piece->old != TRACEDAT_NO_OLD && piece->why) {
			tracedat_drop(w, piece->old, piece->length, piece->rule, piece->why);
		}
		if (!piece->literal && piece->source->role != TM_ROLE_DONOR)
			kept[n++] = (struct kept){ piece->source, piece->from, piece->from + piece->length, i };
	}
	qsort(kept, n, sizeof(*kept), kept_order);
	/* A range that is used twice is kept by the first and copied again by the other. */
	size_t unique = 0;
	for (size_t i = 0; i < n; i++) {
		if (unique && kept[unique - 1].source == kept[i].source && kept[i].from < kept[unique - 1].to) {
			p->list[kept[i].piece].copied = true;
			continue;
		}
		kept[unique++] = kept[i];
	}
	for (size_t i = 0; i < p->count; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		if (piece->literal)
			(void)plan_literal(plan, output, p->literals.data + piece->from, (size_t)piece->length, piece->rule,
					   piece->why ? piece->why : "what the format asks for");
		else if (piece->copied)
			plan_copy_again(plan, output, piece->source, piece->from, piece->length, TRACEDAT_RULE_cpu_range_overlap,
					"another part of the file has these bytes, too");
		else
			plan_copy(plan, output, piece->source, piece->from, piece->length);
	}
	if (w->out.drop_count)
		qsort(w->out.drops, w->out.drop_count, sizeof(*w->out.drops), drop_order);
	const struct bundle *b = w->s->in;
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role != TM_ROLE_DONOR && b->sources[i]->kind == SOURCE_FILE)
			flush_source(&f, b->sources[i], kept, unique);
	free(kept);
	if (w->status != TM_OK)
		return w->status;
	return w->window.status != TM_OK ? w->window.status : plan_status(plan);
}

static void account(struct tracedat_walk *w)
{
	struct plan *plan = w->s->plan;
	/* A cut file, or tables that led nowhere: nobody knows what there was. */
	bool unknown = w->out.lost_is == TM_UNKNOWN_COUNT || w->data.errors ||
		       FINDINGS_ANY(w->findings, TRACEDAT_RULE_truncated_file, TRACEDAT_RULE_data_unreferenced,
				    TRACEDAT_RULE_data_tag_invalid, TRACEDAT_RULE_v6_buffer_offset);
	/* A section may have another size than it says, and be whole. With more that is wrong, the size may be right. */
	uint64_t resized = findings_count(w->findings, TRACEDAT_RULE_v7_section_size);
	unknown |= resized && findings_errors(w->findings) > resized + findings_count(w->findings, TRACEDAT_RULE_v7_done_target);

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->found)
				plan_doubt(plan, w->source, c->from, c->length,
					   plan_why(plan, "no table says whose data this is; CPU %u is a guess", c->cpu));
			unknown |= c->lost || c->clipped || c->fewer;
		}
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		bool text_cut = s->id == TRACEDAT_BUFFER_TEXT && s->size_bad;
		unknown |= s->lost || s->damage || text_cut;
		if (text_cut)
			plan_doubt(plan, w->source, s->offset, TRACEDAT_SECTION_SIZE + s->size,
				   "bytes were inserted or removed in this text, nobody knows where");
		if (s->damage)
			plan_doubt(plan, w->source, s->offset, TRACEDAT_SECTION_SIZE + s->size,
				   "decompressed up to its damage; nothing tells whether that is where it begins");
	}
	/* What an option named, and is not there, had content. */
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (!o->dropped || o->rule == TRACEDAT_RULE_v7_buffer_section) /* named twice */
			continue;
		unknown |= (o->id >= TRACEDAT_HEADER_INFO && o->id <= TRACEDAT_CMDLINES) || o->id == TRACEDAT_BUFFER ||
			   o->id == TRACEDAT_BUFFER_TEXT;
		w->out.lost_other |= o->size > 0;
	}
	if (w->prefix.lost)
		plan_doubt(plan, w->source, 0, w->prefix.end,
			   plan_why(plan, "guessed from the content: version %u, %s, longs of %u bytes, pages of %u", w->shape.version,
				    w->shape.big_endian ? "big-endian" : "little-endian", w->shape.long_size, w->shape.page_size));
	plan_kept(plan, w->out.kept + w->pages.lines);
	plan_lost(plan, w->out.lost, unknown ? TM_UNKNOWN_COUNT : w->out.lost_is);
	if (w->out.lost_other)
		plan_lost_other(plan);
}

/* Data that was found may belong to more CPUs than the option says. */
static void cpucount_settle(struct tracedat_walk *w)
{
	uint32_t wanted = table_entries(w);
	for (size_t i = 0; i < w->dir.option_count; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_CPUCOUNT || o->dropped)
			continue;
		const uint8_t *p = o->changed.size == 4 ? o->changed.data : o->block->data + o->at;
		uint32_t value = o->changed.size == 4 || o->size == 4 ? load_u32(p, w->shape.big_endian) : 0;
		if (w->shape.version == 6 ? value == wanted : value >= wanted && value <= TRACEDAT_CPUS_MAX)
			continue;
		o->changed.size = 0;
		o->changed.big_endian = w->shape.big_endian;
		bytes_u32(&o->changed, wanted);
		o->rule = TRACEDAT_RULE_option_cpucount_value;
		o->why = "the number of CPUs that fits the data";
		if (o->changed.failed)
			tracedat_no_memory(w);
	}
}

enum tracemend_status tracedat_repair(struct tracedat_walk *w)
{
	if (!w->shape.version || (!w->pages.records && !w->meta.seen[2] && !w->data.latency))
		return findings_errors(w->findings) ? TM_NOTHING : TM_OK;
	if (w->stopped)
		return TM_NOTHING;
	if (!tracedat_prepare(w))
		return w->status;
	if (!w->data.latency)
		cpucount_settle(w);
	if (w->status != TM_OK)
		return w->status;
	if (w->shape.version == 6)
		compose_v6(w);
	else
		tracedat_compose_v7(w);
	account(w);
	return tracedat_flush(w);
}

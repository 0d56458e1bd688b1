/* The metadata of a repaired file. The scan checked each format before page size and long size were final, and beside
 * formats that the output leaves out. So the repaired formats are parsed again, as a reader of the output will parse them,
 * until a pass changes nothing. The pages of the output are checked against the tables of the last pass. */
#include "formats/tracedat/repair/tracedat_repair.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_format.h"

#include <stdlib.h>

/* Readings after which formats that still have errors are given up. Each leaves less to read; two are usual. */
#define READINGS_MAX 8u

/* ---- compositions of compositions ---- */

/* A position in the bytes that pieces stand for; it mostly moves forward. */
struct place {
	const struct tracedat_pieces *in;
	size_t piece;
	uint64_t at; /* where the piece begins */
};

/* The piece that has byte `offset`, or NULL. */
static const struct tracedat_piece *place_seek(struct place *p, uint64_t offset)
{
	if (offset < p->at)
		p->at = p->piece = 0;
	for (; p->piece < p->in->count; p->at += p->in->list[p->piece++].length)
		if (offset - p->at < p->in->list[p->piece].length)
			return &p->in->list[p->piece];
	return NULL;
}

/* Appends the bytes [from, from + length) of a composition, as copies of its own space. */
static void slice_copy(struct place *p, uint64_t from, uint64_t length, struct tracedat_pieces *out)
{
	while (length) {
		const struct tracedat_piece *piece = place_seek(p, from);
		if (!piece)
			return;
		uint64_t skip = from - p->at, n = piece->length - skip < length ? piece->length - skip : length;
		if (piece->literal)
			(void)tracedat_pieces_field(out, piece->source,
						    piece->old == TRACEDAT_NO_OLD ? piece->old : piece->old + skip,
						    p->in->literals.data + piece->from + skip, (size_t)n, piece->rule, piece->why);
		else
			tracedat_pieces_copy(out, piece->source, piece->from + skip, n);
		from += n;
		length -= n;
	}
}

/* The same range is left out: its bytes in block b are dropped. */
static void slice_drop(struct tracedat_walk *w, struct place *p, const struct tracedat_drop *d, const struct tracedat_block *b)
{
	uint64_t from = d->from, end = d->from + d->length;
	while (from < end) {
		const struct tracedat_piece *piece = place_seek(p, from);
		if (!piece)
			return;
		uint64_t skip = from - p->at, n = piece->length - skip < end - from ? piece->length - skip : end - from;
		if (!piece->literal && b)
			tracedat_drop_block(w, b, (size_t)(piece->from + skip), (size_t)n, d->rule, d->why);
		from += n;
	}
}

/* The place in the composition's own space of [old, old + length) of its bytes; TRACEDAT_NO_OLD: it has none. */
static uint64_t slice_old(struct place *p, uint64_t old, uint64_t length)
{
	const struct tracedat_piece *piece = old == TRACEDAT_NO_OLD ? NULL : place_seek(p, old);
	uint64_t from = !piece ? TRACEDAT_NO_OLD : piece->literal ? piece->old : piece->from;
	return from != TRACEDAT_NO_OLD && length <= piece->length - (old - p->at) ? from + (old - p->at) : TRACEDAT_NO_OLD;
}

/* outer is composed of inner's bytes: composes it of inner's space instead. */
static void pieces_join(const struct tracedat_pieces *inner, struct tracedat_pieces *outer)
{
	struct tracedat_pieces joined = { 0 };
	struct place copies = { .in = inner }, olds = { .in = inner };

	for (size_t i = 0; i < outer->count; i++) {
		const struct tracedat_piece *p = &outer->list[i];
		if (p->literal)
			(void)tracedat_pieces_field(&joined, p->source, slice_old(&olds, p->old, p->length),
						    outer->literals.data + p->from, (size_t)p->length, p->rule, p->why);
		else
			slice_copy(&copies, p->from, p->length, &joined);
	}
	joined.failed |= inner->failed || outer->failed;
	tracedat_pieces_free(outer);
	*outer = joined;
}

/* ---- placeholders ---- */

static void part_default(struct tracedat_walk *w, unsigned k)
{
	uint8_t number[8] = { 0 };
	tracedat_pieces_free(&w->meta.parts[k]);
	(void)tracedat_pieces_literal(&w->meta.parts[k], number, k == 5 ? 8 : 4, TRACEDAT_RULE_v7_mandatory_section,
				      "an empty block instead of a lost one");
	if (k == 2)
		w->events.systems = 0;
}

static void place(struct tracedat_events *events, uint32_t id)
{
	events->placeholders[id / 64] |= UINT64_C(1) << id % 64;
}

/* Formats that turned out to be lost: their records get a placeholder. */
static void placeholders_note(struct tracedat_walk *w, bool all)
{
	for (size_t i = 0; i < w->events.count; i++)
		if (w->events.list[i].placeholder || all)
			place(&w->events, w->events.list[i].id);
}

/* Adds a system of placeholder formats for events whose formats are lost, so that readers list their records. False: there
 * are no such events. */
static bool placeholders_put(struct tracedat_walk *w)
{
	struct tracedat_pieces *p = &w->meta.parts[2];
	uint8_t number[8];
	uint32_t count = 0;
	static const char why[] = "a placeholder for a lost event format";
	const unsigned rule = TRACEDAT_RULE_record_unknown_event_id;

	for (uint32_t id = 0; id < 65536; id++)
		count += w->events.placeholders[id / 64] >> id % 64 & 1 && !tracedat_event_of(&w->events, id);
	if (!count)
		return false;
	store_u32(number, (uint32_t)w->events.systems + 1, w->shape.big_endian);
	tracedat_pieces_fill(p, 0, number);
	(void)tracedat_pieces_literal(p, TRACEDAT_MADE_UP, sizeof(TRACEDAT_MADE_UP), rule, why);
	store_u32(number, count, w->shape.big_endian);
	(void)tracedat_pieces_literal(p, number, 4, rule, why);
	for (uint32_t id = 0; id < 65536; id++) {
		if (!(w->events.placeholders[id / 64] >> id % 64 & 1) || tracedat_event_of(&w->events, id))
			continue;
		struct bytes text = { 0 };
		const struct tracedat_unassigned *o = tracedat_unassigned_of(&w->events, id);
		if (o)
			tracedat_unassigned_text(o, &text);
		else
			tracedat_placeholder_text(&w->events, id, &text);
		store_u64(number, text.size, w->shape.big_endian);
		(void)tracedat_pieces_literal(p, number, 8, rule, why);
		(void)tracedat_pieces_literal(p, text.data, text.size, o ? TRACEDAT_RULE_event_id_duplicate : rule,
					      o ? "the format with the ID of the only records without a format that fit it" : why);
		if (o)
			plan_doubt(w->s->plan, w->source, o->offset, o->stored,
				   plan_why(w->s->plan,
					    "the assignment of this format to ID %u is inferred from the sizes of the records",
					    id));
		p->failed |= text.failed;
		bytes_free(&text);
	}
	return true;
}

/* ---- readings ---- */

static void tables_clear(struct tracedat_events *events)
{
	memset(events->index, 0, 65536 * sizeof(*events->index));
	map_clear(&events->names);
	events->count = events->dynamic_count = 0;
	events->common.size = 0;
	events->common_size = events->blk_id = 0;
	events->lost = false;
}

/* Parses a list of formats as the output has it. True: the pass changed it. */
static bool list_read(struct tracedat_walk *w, unsigned k,
		      void (*parse)(struct tracedat_walk *, const struct tracedat_block *, size_t, size_t))
{
	static const struct tracedat_block none = { 0 };
	const struct tracedat_block *b = w->meta.blocks[k];
	struct tracedat_pieces inner = w->meta.parts[k];
	struct place drops = { .in = &inner };
	struct bytes text = { 0 };
	size_t first_drop = w->out.drop_count;

	if (!inner.failed)
		tracedat_part_flatten(&inner, b ? b : &none, &text);
	bytes_append(&text, (const uint8_t[16]){ 0 }, 16);
	if (text.failed || inner.failed) {
		bytes_free(&text);
		tracedat_no_memory(w);
		return false;
	}
	struct tracedat_block again = { .data = text.data, .size = text.size - 16, .name = b ? b->name : "formats" };
	w->meta.parts[k] = (struct tracedat_pieces){ 0 };
	parse(w, &again, 0, again.size);
	bool changed = !tracedat_part_unchanged(&w->meta.parts[k], &again);
	size_t end_drop = w->out.drop_count;
	for (size_t i = first_drop; i < end_drop; i++) {
		struct tracedat_drop d = w->out.drops[i];
		slice_drop(w, &drops, &d, b);
	}
	for (size_t i = end_drop; i < w->out.drop_count; i++)
		w->out.drops[first_drop + i - end_drop] = w->out.drops[i];
	w->out.drop_count -= end_drop - first_drop;
	pieces_join(&inner, &w->meta.parts[k]);
	if (w->meta.parts[k].failed)
		tracedat_no_memory(w);
	tracedat_pieces_free(&inner);
	bytes_free(&text);
	return changed;
}

static bool formats_read(struct tracedat_walk *w)
{
	tables_clear(&w->events);
	bool changed = list_read(w, 1, tracedat_ftrace_parse);
	return list_read(w, 2, tracedat_systems_parse) || changed;
}

/* Lists the formats that keep an ID which another has as well, where nothing shows whose it is, and the records of that ID. */
static void disputed_doubt(struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->events.unassigned_count; i++) {
		const struct tracedat_unassigned *o = &w->events.unassigned[i];
		if (!tracedat_unassigned_disputed(&w->events, o))
			continue;
		const struct tracedat_unassigned *rival = &w->events.unassigned[o->rival];
		(void)tracedat_event_doubtful(w, o->claim, true);
		plan_doubt(w->s->plan, w->source, rival->offset, rival->stored,
			   plan_why(w->s->plan, "another format has the ID %u as well, and nothing shows whose it is", o->claim));
	}
}

static void formats_complete(struct tracedat_walk *w)
{
	bool placed = false, lost = w->events.lost;

	tracedat_unassigned_match(&w->events);
	disputed_doubt(w);
	for (size_t i = 0; i < w->events.unassigned_count; i++)
		if (w->events.unassigned[i].id)
			place(&w->events, w->events.unassigned[i].id);
	for (uint32_t id = 1; w->events.unknown && id < 65536; id++)
		if (w->events.unknown[id].records && (w->events.unknown[id].records > 1 || lost))
			place(&w->events, id);
	for (unsigned n = 0; n < 2 * READINGS_MAX && w->status == TM_OK; n++) {
		placeholders_note(w, n == READINGS_MAX);
		if (n == READINGS_MAX) {
			part_default(w, 1);
			part_default(w, 2);
			placed = false;
		}
		if (formats_read(w))
			continue;
		if (placed || !placeholders_put(w))
			break;
		placed = true;
	}
	if (placed && lost && w->out.lost_is < TM_AT_LEAST)
		w->out.lost_is = TM_UNKNOWN_COUNT;
}

bool tracedat_metadata_finish(struct tracedat_walk *w)
{
	struct finding *format_finding = w->events.finding;
	struct findings *findings = w->findings;

	w->events.placeholders = calloc(65536 / 64, sizeof(*w->events.placeholders));
	if (!w->events.placeholders) {
		tracedat_no_memory(w);
		return false;
	}
	tracedat_header_compose(w);
	for (unsigned k = 1; k < TRACEDAT_PARTS; k++)
		if (!w->meta.seen[k])
			part_default(w, k);
	w->findings = w->scratch;
	w->events.garbled = NULL;
	formats_complete(w);
	w->findings = findings;
	w->events.finding = format_finding;
	for (unsigned k = 0; k < TRACEDAT_PARTS; k++)
		if (w->meta.parts[k].failed)
			tracedat_no_memory(w);
	return w->status == TM_OK;
}

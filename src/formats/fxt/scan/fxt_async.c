/* Async operations, flows and blob streams: things that are told apart by an id or a name, not by nesting.
 * #async-begin-event, #flow-begin-event, #blob-record.
 *
 * Only what is open is kept. An async operation that begins as often as it ends is forgotten, whatever order its records
 * came in. */
#include "formats/fxt/scan/fxt_walk.h"

#include <stdlib.h>

#define IDS_START 256u

/* One open operation. The key is hashed, so two of them meet once in 2^64; a warning is at stake, no structure. */
struct fxt_id {
	uint64_t key, id;
	uint64_t time;		    /* async, flow: of the begin */
	uint64_t offset;	    /* of the first record without partner */
	uint64_t aside, aside_time; /* offset and time of an instant or a step outside */
	int64_t balance;	    /* begins less ends */
	uint32_t remaining;	    /* blobs: bytes of a packet that the next piece owes */
	uint8_t state;		    /* blobs: where the packet parser stands; type */
	uint8_t type;
	uint8_t varint[10];
	bool used, has_aside, bad;
};

/* Open addressing; entries that went are closed up by moving later ones back. */
struct fxt_ids {
	struct fxt_id *slots;
	uint32_t count, capacity, limit;
};

static struct fxt_ids *ids_open(struct fxt_walk *x, struct fxt_ids **ids, uint32_t limit)
{
	struct fxt_ids *there = *ids;
	if (there)
		return there;
	struct fxt_ids *new = calloc(1, sizeof(*new));
	struct fxt_id *slots = calloc(IDS_START, sizeof(*slots));
	if (!new || !slots) {
		free(new);
		free(slots);
		x->status = fault_memory(&x->s->in->error);
		return NULL;
	}
	*new = (struct fxt_ids){ .slots = slots, .capacity = IDS_START, .limit = limit };
	*ids = new;
	return new;
}

static struct fxt_id *ids_slot(const struct fxt_ids *ids, uint64_t key)
{
	uint32_t i = (uint32_t)(key >> 20) & (ids->capacity - 1);
	while (ids->slots[i].used && ids->slots[i].key != key)
		i = (i + 1) & (ids->capacity - 1);
	return &ids->slots[i];
}

static bool ids_grow(struct fxt_walk *x, struct fxt_ids *ids)
{
	struct fxt_ids bigger = { .capacity = 2 * ids->capacity, .count = ids->count, .limit = ids->limit };
	bigger.slots = calloc(bigger.capacity, sizeof(struct fxt_id));
	if (!bigger.slots) {
		x->status = fault_memory(&x->s->in->error);
		return false;
	}
	for (uint32_t i = 0; i < ids->capacity; i++)
		if (ids->slots[i].used)
			*ids_slot(&bigger, ids->slots[i].key) = ids->slots[i];
	free(ids->slots);
	*ids = bigger;
	return true;
}

/* The entry of that key; a new one is zero but for its key. NULL: too many are open, or no memory. */
static struct fxt_id *ids_get(struct fxt_walk *x, struct fxt_ids *ids, uint64_t key, uint64_t offset)
{
	struct fxt_id *e = ids_slot(ids, key);
	if (e->used)
		return e;
	if (ids->count == ids->limit) {
		fxt_note(x, FXT_RULE_semantic_bound_reached, offset, 2 * FXT_WORD,
			 "more than %u ids are open at a time; further ones are not followed", ids->limit);
		return NULL;
	}
	if (2 * (ids->count + 1) > ids->capacity) {
		if (!ids_grow(x, ids))
			return NULL;
		e = ids_slot(ids, key);
	}
	*e = (struct fxt_id){ .key = key, .used = true };
	ids->count++;
	return e;
}

static void ids_remove(struct fxt_ids *ids, struct fxt_id *e)
{
	uint32_t mask = ids->capacity - 1, hole = (uint32_t)(e - ids->slots), i = hole;
	ids->count--;
	for (;;) {
		i = (i + 1) & mask;
		if (!ids->slots[i].used)
			break;
		uint32_t home = (uint32_t)(ids->slots[i].key >> 20) & mask;
		/* The entry may move back unless its home lies between the hole and itself. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			ids->slots[hole] = ids->slots[i];
			hole = i;
		}
	}
	ids->slots[hole].used = false;
}

void fxt_async(struct fxt_walk *x, unsigned event, uint64_t process, uint64_t category, uint64_t name, uint64_t id, uint64_t time,
	       uint64_t offset)
{
	struct fxt_ids *ids = ids_open(x, &x->asyncs, FXT_IDS_MAX);
	uint64_t parts[4] = { process, category, name, id };
	struct fxt_id *e = ids ? ids_get(x, ids, fxt_hash(parts, sizeof(parts)), offset) : NULL;
	if (!e)
		return;
	e->id = id;
	if (event == FXT_ASYNC_INSTANT) {
		bool late = time < x->provider->last; /* its operation may be over and forgotten */
		if (e->balance <= 0 && !e->has_aside && !late) {
			e->has_aside = true;
			e->aside = offset;
			e->aside_time = time;
		}
	} else {
		if (event == FXT_ASYNC_BEGIN && e->has_aside && time <= e->aside_time)
			e->has_aside = false;
		if (!e->balance) {
			e->offset = offset;
			e->time = time;
		}
		e->balance += event == FXT_ASYNC_BEGIN ? 1 : -1;
	}
	if (!e->balance && !e->has_aside)
		ids_remove(ids, e);
}

void fxt_flow(struct fxt_walk *x, unsigned event, uint64_t id, uint64_t time, uint64_t offset, struct fxt_thread *t)
{
	struct fxt_ids *ids = ids_open(x, &x->flows, FXT_IDS_MAX);
	struct fxt_id *e = ids ? ids_get(x, ids, fxt_hash(&id, sizeof(id)), offset) : NULL;

	if (t && !t->depth && time >= t->newest) {
		if (!t->flows_outside)
			t->flow_offset = offset;
		t->flows_outside++;
	}
	if (!e)
		return;
	e->id = id;
	switch (event) {
	case FXT_FLOW_BEGIN:
		if (e->has_aside && time <= e->aside_time)
			e->has_aside = false;
		if (e->balance > 0) {
			fxt_note(x, FXT_RULE_flow_id_reused, offset, 2 * FXT_WORD,
				 "flow id %llu begins again; it began at offset 0x%llx and has not ended", (unsigned long long)id,
				 (unsigned long long)e->offset);
		} else {
			e->offset = offset;
			e->time = time;
			e->balance++;
		}
		break;
	case FXT_FLOW_STEP:
		if (e->balance <= 0 && !e->has_aside && time >= x->provider->last) {
			e->has_aside = true;
			e->aside = offset;
			e->aside_time = time;
		}
		break;
	default:
		if (!e->balance) {
			e->offset = offset;
			e->time = time;
		}
		e->balance--;
	}
	if (!e->balance && !e->has_aside)
		ids_remove(ids, e);
}

/* ---- blobs ---- */

enum { PACKET_TAG, PACKET_LENGTH, PACKET_BODY };

/* A Perfetto trace is a sequence of fields number 1, length-delimited (tag 0x0a). Pieces may cut it anywhere. */
static void packets(struct fxt_id *e, const uint8_t *p, uint64_t length)
{
	while (length && !e->bad) {
		if (e->state == PACKET_BODY) {
			uint64_t n = length < e->remaining ? length : e->remaining;
			p += n;
			length -= n;
			e->remaining -= (uint32_t)n;
			if (!e->remaining)
				e->state = PACKET_TAG;
			continue;
		}
		uint8_t byte = *p++;
		length--;
		if (e->state == PACKET_TAG) {
			e->bad = byte != 0x0a;
			e->state = PACKET_LENGTH;
			e->remaining = 0;
			e->varint[0] = 0;
		} else {
			unsigned shift = 7u * e->varint[0]++;
			uint64_t value = e->remaining | (uint64_t)(byte & 0x7f) << shift;
			e->bad = shift > 28 || value > UINT32_MAX;
			e->remaining = (uint32_t)value;
			if (!(byte & 0x80))
				e->state = e->remaining ? PACKET_BODY : PACKET_TAG;
		}
	}
}

void fxt_blob_stream(struct fxt_walk *x, uint64_t name, uint32_t type, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_ids *ids = ids_open(x, &x->blobs, FXT_BLOB_STREAMS_MAX);
	uint64_t parts[2] = { x->provider->id, name };
	struct fxt_id *e = ids ? ids_get(x, ids, fxt_hash(parts, sizeof(parts)), offset) : NULL;
	if (!e)
		return;
	if (!e->offset) {
		e->offset = offset;
		e->type = (uint8_t)type;
	} else if (e->type != type && !e->has_aside) {
		e->has_aside = true;
		fxt_report(x, FXT_RULE_blob_name_type_mix, offset, FXT_WORD,
			   "blob type %u; an earlier blob of the same name has type %u", type, e->type);
	}
	if (type != FXT_BLOB_PERFETTO || e->bad)
		return;
	packets(e, r->data + r->payload_at, r->payload_length);
	e->aside = offset;
	if (e->bad)
		fxt_report(x, FXT_RULE_perfetto_blob_invalid, offset, r->words * FXT_WORD,
			   "the payload is no sequence of trace packets (fields number 1 with a length)");
}

/* ---- the end ---- */

static int by_offset(const void *a, const void *b)
{
	const struct fxt_id *l = a, *r = b;
	if (l->offset != r->offset)
		return l->offset < r->offset ? -1 : 1;
	if (l->aside != r->aside)
		return l->aside < r->aside ? -1 : 1;
	return l->key < r->key ? -1 : l->key > r->key;
}

static int by_id(const void *a, const void *b)
{
	const struct fxt_id *l = a, *r = b;
	return l->id != r->id ? (l->id < r->id ? -1 : 1) : by_offset(a, b);
}

/* What is left, in a row at the front of the slots. */
static uint32_t ids_pack(struct fxt_ids *ids)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ids->capacity; i++)
		if (ids->slots[i].used)
			ids->slots[n++] = ids->slots[i];
	return n;
}

/* A warning; where the capture itself says that records were dropped, a note. */
#define report(x, rule, ...) ((void)PLACE(rule), report_at((x), (rule), __VA_ARGS__))
static void report_at(struct fxt_walk *x, enum fxt_rule rule, uint64_t offset, const char *what, uint64_t id)
{
	struct finding *fd = finding_milder_at(x->s->findings, rule, x->buffer_full ? TM_NOTE : TM_WARNING, x->source, offset,
					       2 * FXT_WORD);
	finding_say(fd, "%s (id %llu)", what, (unsigned long long)id);
}

static void asyncs_report(struct fxt_walk *x, struct fxt_ids *ids)
{
	uint32_t n = ids_pack(ids);
	struct fxt_id *list = ids->slots;

	/* Where a begin and an end agree in nothing but the id they are still partners: nobody fixed the scope of ids. */
	qsort(list, n, sizeof(*list), by_id);
	for (uint32_t i = 0, end; i < n; i = end) {
		int64_t sum = 0;
		for (end = i; end < n && list[end].id == list[i].id; end++)
			sum += list[end].balance;
		for (uint32_t k = i; k < end; k++) {
			if (end - i > 1)
				list[k].has_aside = list[k].has_aside && sum == list[k].balance;
			if (!sum)
				list[k].balance = 0;
		}
	}
	qsort(list, n, sizeof(*list), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		if (list[i].balance > 0)
			report(x, FXT_RULE_unmatched_async_begin, list[i].offset, "this async operation never ends", list[i].id);
		else if (list[i].balance < 0)
			report(x, FXT_RULE_unmatched_async_end, list[i].offset, "this async operation never began", list[i].id);
		if (list[i].has_aside)
			report(x, FXT_RULE_async_instant_outside, list[i].aside, "no async operation of this id is open here",
			       list[i].id);
	}
}

static void flows_report(struct fxt_walk *x, struct fxt_ids *ids)
{
	uint32_t n = ids_pack(ids);
	struct fxt_id *list = ids->slots;
	qsort(list, n, sizeof(*list), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		if (list[i].balance > 0)
			report(x, FXT_RULE_unmatched_flow_begin, list[i].offset, "this flow never ends", list[i].id);
		else if (list[i].balance < 0)
			report(x, FXT_RULE_flow_without_begin, list[i].offset, "this flow ends and never began", list[i].id);
		if (list[i].has_aside)
			report(x, FXT_RULE_flow_without_begin, list[i].aside, "a step of a flow that is not open", list[i].id);
	}
}

static void blobs_report(struct fxt_walk *x, struct fxt_ids *ids)
{
	uint32_t n = ids_pack(ids);
	qsort(ids->slots, n, sizeof(*ids->slots), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		if (ids->slots[i].bad || ids->slots[i].state == PACKET_TAG)
			continue;
		finding_report(x->s->findings, FXT_RULE_perfetto_blob_invalid, x->source, ids->slots[i].aside, FXT_WORD,
			       "the last trace packet of this stream is cut off");
	}
}

void fxt_ids_report(struct fxt_walk *x)
{
	if (x->asyncs)
		asyncs_report(x, x->asyncs);
	if (x->flows)
		flows_report(x, x->flows);
	if (x->blobs)
		blobs_report(x, x->blobs);
}

static void ids_close(struct fxt_ids *ids)
{
	if (ids)
		free(ids->slots);
	free(ids);
}

void fxt_ids_close(struct fxt_walk *x)
{
	ids_close(x->asyncs);
	ids_close(x->flows);
	ids_close(x->blobs);
}

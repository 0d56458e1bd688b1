/* Async operations, flows and blob streams, which are identified by an id or a name and not by nesting: "Async begin event",
 * "Flow begin event", "BLOB record".
 *
 * Only open ones are kept. An async operation with as many begins as ends is removed, in whatever order its records came. */
#include "formats/fxt/scan/fxt_async.h"

#include <stdlib.h>

#include "core/array.h"
#include "formats/fxt/scan/fxt_hash.h"

/* One open operation. The key is a 64-bit hash; a collision can only make or hide a warning. */
struct fxt_id {
	uint64_t key, id;
	uint64_t time;			   /* async, flow: of the begin */
	uint64_t offset;		   /* of the first unmatched record */
	uint64_t outside_at, outside_time; /* offset and time of an instant or a step outside */
	int64_t balance;		   /* begins less ends */
	uint32_t remaining;		   /* blobs: bytes of the packet that are still to come */
	uint8_t state;			   /* blobs: state of the packet parser; type */
	uint8_t type;
	uint8_t varint[10];
	bool open, has_outside, bad;
};

/* The entry of that key; a new one is zero but for its key. NULL: too many are open, which is noted, or there is no memory. */
static struct fxt_id *ids_get(struct fxt_operations *o, struct fxt_ids *ids, uint32_t limit, uint64_t key, uint64_t offset)
{
	uint32_t n = map_get(&ids->keys, key);

	if (n != MAP_NONE)
		return &ids->list[n];
	if (ids->keys.count == limit) {
		fxt_note(o->report, FXT_RULE_semantic_bound_reached, offset, 2 * FXT_WORD,
			 "more than %u ids are open at a time; further ids are not tracked", limit);
		return NULL;
	}
	bool reuse = ids->closed != 0;
	n = reuse ? ids->closed - 1 : (uint32_t)ids->count;
	if ((!reuse && array_room(&ids->list, &ids->capacity, ids->count, sizeof(*ids->list), limit) != TM_OK) ||
	    map_set(&ids->keys, key, n, limit) != TM_OK) {
		fxt_report_no_memory(o->report);
		return NULL;
	}
	if (reuse)
		ids->closed = (uint32_t)ids->list[n].key;
	else
		ids->count++;
	ids->list[n] = (struct fxt_id){ .key = key, .open = true };
	return &ids->list[n];
}

static void ids_remove(struct fxt_ids *ids, struct fxt_id *e)
{
	map_remove(&ids->keys, e->key);
	*e = (struct fxt_id){ .key = ids->closed };
	ids->closed = (uint32_t)(e - ids->list) + 1;
}

void fxt_async(struct fxt_operations *o, unsigned event, const uint64_t key[4], uint64_t time, uint64_t last, uint64_t offset)
{
	struct fxt_id *e = ids_get(o, &o->asyncs, FXT_IDS_MAX, fxt_hash(key, 4 * sizeof(*key)), offset);
	if (!e)
		return;
	e->id = key[3];
	if (event == FXT_ASYNC_INSTANT) {
		bool late = time < last; /* its operation may have ended and been removed */
		if (e->balance <= 0 && !e->has_outside && !late) {
			e->has_outside = true;
			e->outside_at = offset;
			e->outside_time = time;
		}
	} else {
		if (event == FXT_ASYNC_BEGIN && e->has_outside && time <= e->outside_time)
			e->has_outside = false;
		if (!e->balance) {
			e->offset = offset;
			e->time = time;
		}
		e->balance += event == FXT_ASYNC_BEGIN ? 1 : -1;
	}
	if (!e->balance && !e->has_outside)
		ids_remove(&o->asyncs, e);
}

void fxt_flow(struct fxt_operations *o, unsigned event, uint64_t id, uint64_t time, uint64_t last, uint64_t offset,
	      struct fxt_thread *t)
{
	struct fxt_id *e = ids_get(o, &o->flows, FXT_IDS_MAX, fxt_hash(&id, sizeof(id)), offset);

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
		if (e->has_outside && time <= e->outside_time)
			e->has_outside = false;
		if (e->balance > 0) {
			fxt_note(o->report, FXT_RULE_flow_id_reused, offset, 2 * FXT_WORD,
				 "flow id %llu begins again; it began at offset 0x%llx and has not ended", (unsigned long long)id,
				 (unsigned long long)e->offset);
		} else {
			e->offset = offset;
			e->time = time;
			e->balance++;
		}
		break;
	case FXT_FLOW_STEP:
		if (e->balance <= 0 && !e->has_outside && time >= last) {
			e->has_outside = true;
			e->outside_at = offset;
			e->outside_time = time;
		}
		break;
	default:
		if (!e->balance) {
			e->offset = offset;
			e->time = time;
		}
		e->balance--;
	}
	if (!e->balance && !e->has_outside)
		ids_remove(&o->flows, e);
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

uint64_t fxt_blob_stream(struct fxt_operations *o, uint32_t provider, uint64_t name, const struct fxt_record *r, uint64_t offset)
{
	const uint64_t parts[2] = { provider, name };
	const uint32_t type = r->id;
	struct fxt_id *e = ids_get(o, &o->blobs, FXT_BLOB_STREAMS_MAX, fxt_hash(parts, sizeof(parts)), offset);
	uint64_t other = FXT_BLOB_ALONE;
	if (!e)
		return other;
	if (!e->offset) {
		e->offset = offset;
		e->type = (uint8_t)type;
	} else if (e->type != type && !e->has_outside) {
		e->has_outside = true;
		other = e->offset;
		fxt_report(o->report, FXT_RULE_blob_name_type_mix, offset, FXT_WORD,
			   "blob type %u; an earlier blob of the same name has type %u", type, e->type);
	}
	if (type != FXT_BLOB_PERFETTO || e->bad)
		return other;
	packets(e, r->data + r->payload_at, r->payload_length);
	e->outside_at = offset;
	if (e->bad)
		fxt_report(o->report, FXT_RULE_perfetto_blob_invalid, offset, r->words * FXT_WORD,
			   "the payload is not a sequence of trace packets (field number 1, length-delimited)");
	return other;
}

/* ---- the end ---- */

static int by_offset(const void *a, const void *b)
{
	const struct fxt_id *l = a, *r = b;
	if (l->offset != r->offset)
		return l->offset < r->offset ? -1 : 1;
	if (l->outside_at != r->outside_at)
		return l->outside_at < r->outside_at ? -1 : 1;
	return l->key < r->key ? -1 : l->key > r->key;
}

static int by_id(const void *a, const void *b)
{
	const struct fxt_id *l = a, *r = b;
	return l->id != r->id ? (l->id < r->id ? -1 : 1) : by_offset(a, b);
}

/* Moves the open entries to the front of the list; returns how many. */
static size_t ids_pack(struct fxt_ids *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < ids->count; i++)
		if (ids->list[i].open)
			ids->list[n++] = ids->list[i];
	return n;
}

/* A warning; where the capture itself says that records were dropped, a note. */
#define unmatched(o, rule, ...) ((void)PLACE(rule), unmatched_at((o), (rule), __VA_ARGS__))
static void unmatched_at(struct fxt_operations *o, enum fxt_rule rule, uint64_t offset, const char *what, uint64_t id)
{
	bool begin = rule == FXT_RULE_unmatched_async_begin || rule == FXT_RULE_unmatched_flow_begin;

	if (!o->report->buffer_full && fxt_report_hidden(o->report, offset, !begin)) {
		fxt_report_unpaired(o->report, offset, begin);
		return;
	}
	struct finding *fd = finding_milder_at(o->report->s->findings, rule, o->report->buffer_full ? TM_NOTE : TM_WARNING,
					       o->report->source, offset, 2 * FXT_WORD);
	if (!o->report->buffer_full)
		fxt_report_unpaired(o->report, offset, begin);
	finding_say(fd, "%s (id %llu)", what, (unsigned long long)id);
}

static void asyncs_report(struct fxt_operations *o, struct fxt_ids *ids)
{
	size_t n = ids_pack(ids);
	struct fxt_id *list = ids->list;

	/* A begin and an end that have only the id in common are matched: the document does not define the scope of ids. */
	qsort(list, n, sizeof(*list), by_id);
	for (size_t i = 0, end; i < n; i = end) {
		int64_t sum = 0;
		for (end = i; end < n && list[end].id == list[i].id; end++)
			sum += list[end].balance;
		for (size_t k = i; k < end; k++) {
			if (end - i > 1)
				list[k].has_outside = list[k].has_outside && sum == list[k].balance;
			if (!sum)
				list[k].balance = 0;
		}
	}
	qsort(list, n, sizeof(*list), by_offset);
	for (size_t i = 0; i < n; i++) {
		if (list[i].balance > 0)
			unmatched(o, FXT_RULE_unmatched_async_begin, list[i].offset, "this async operation has no end", list[i].id);
		else if (list[i].balance < 0)
			unmatched(o, FXT_RULE_unmatched_async_end, list[i].offset, "this async operation has no begin", list[i].id);
		if (list[i].has_outside)
			unmatched(o, FXT_RULE_async_instant_outside, list[i].outside_at, "no async operation with this id is open",
				  list[i].id);
	}
}

static void flows_report(struct fxt_operations *o, struct fxt_ids *ids)
{
	size_t n = ids_pack(ids);
	struct fxt_id *list = ids->list;
	qsort(list, n, sizeof(*list), by_offset);
	for (size_t i = 0; i < n; i++) {
		if (list[i].balance > 0)
			unmatched(o, FXT_RULE_unmatched_flow_begin, list[i].offset, "this flow has no end", list[i].id);
		else if (list[i].balance < 0)
			unmatched(o, FXT_RULE_flow_without_begin, list[i].offset, "this flow end has no begin", list[i].id);
		if (list[i].has_outside)
			unmatched(o, FXT_RULE_flow_without_begin, list[i].outside_at, "this flow step has no begin", list[i].id);
	}
}

static void blobs_report(struct fxt_operations *o, struct fxt_ids *ids)
{
	size_t n = ids_pack(ids);
	qsort(ids->list, n, sizeof(*ids->list), by_offset);
	for (size_t i = 0; i < n; i++) {
		if (ids->list[i].bad || ids->list[i].state == PACKET_TAG)
			continue;
		finding_report(o->report->s->findings, FXT_RULE_perfetto_blob_invalid, o->report->source, ids->list[i].outside_at,
			       FXT_WORD, "the last trace packet of this stream is cut off");
	}
}

void fxt_operations_report(struct fxt_operations *o)
{
	if (o->asyncs.count)
		asyncs_report(o, &o->asyncs);
	if (o->flows.count)
		flows_report(o, &o->flows);
	if (o->blobs.count)
		blobs_report(o, &o->blobs);
}

static void ids_close(struct fxt_ids *ids)
{
	map_free(&ids->keys);
	free(ids->list);
}

void fxt_operations_close(struct fxt_operations *o)
{
	ids_close(&o->asyncs);
	ids_close(&o->flows);
	ids_close(&o->blobs);
}

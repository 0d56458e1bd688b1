/* Valid ktrace files, of all shapes that writers are known to make. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

struct ktrace_made *ktrace_make_chunk(struct ktrace_gen *k, uint32_t tag, uint16_t major, bool in_header)
{
	unsigned at = in_header ? 0 : k->count;

	if (k->count == KTRACE_GEN_CHUNKS)
		return NULL;
	while (at < k->count && k->chunks[at].in_header)
		at++;
	memmove(&k->chunks[at + 1], &k->chunks[at], (k->count - at) * sizeof(k->chunks[0]));
	k->count++;
	k->chunks[at] = (struct ktrace_made){ .tag = tag, .major = major, .in_header = in_header, .stored_size = KTRACE_REAL_SIZE };
	return &k->chunks[at];
}

struct ktrace_made *ktrace_made_find(struct ktrace_gen *k, uint32_t tag)
{
	for (unsigned i = 0; i < k->count; i++)
		if (k->chunks[i].tag == tag)
			return &k->chunks[i];
	return NULL;
}

/* ---- payloads ---- */

void ktrace_make_event(struct ktrace_gen *k, struct bytes *to, struct ktrace_event e)
{
	if (!e.time)
		e.time = k->time += choices_below(k->c, 200);
	if (!k->is_64) {
		bytes_u64(to, (e.time & ((UINT64_C(1) << 56) - 1)) | (uint64_t)e.cpu << 56);
		for (unsigned i = 0; i < 4; i++)
			bytes_u32(to, (uint32_t)e.args[i]);
		bytes_u32(to, (uint32_t)e.tid);
		bytes_u32(to, e.debugid);
	} else {
		bytes_u64(to, e.time);
		for (unsigned i = 0; i < 4; i++)
			bytes_u64(to, e.args[i]);
		bytes_u64(to, e.tid);
		bytes_u32(to, e.debugid);
		bytes_u32(to, e.cpu);
		bytes_u64(to, e.unused);
	}
	k->g->records++;
}

struct ktrace_event ktrace_any_event(struct ktrace_gen *k)
{
	static const uint32_t ids[] = { 0x01400000, 0x040c0014, 0x0301000c, 0x25010000, 0x1f050008, 0x05000004 };
	struct ktrace_event e = { .debugid = ids[choices_below(k->c, sizeof(ids) / sizeof(ids[0]))] };
	for (unsigned i = 0; i < 4; i++)
		e.args[i] = choices_number(k->c);
	e.tid = k->thread_count ? k->threads[choices_below(k->c, k->thread_count)] : 0x64;
	e.cpu = (uint32_t)choices_below(k->c, k->cpus ? k->cpus : 4);
	return e;
}

/* A string over several events of one thread, as the kernel cuts them (xnu, kernel_debug_string). */
static void make_string(struct ktrace_gen *k, struct bytes *to)
{
	struct ktrace_event e = ktrace_any_event(k);
	bool global = choices_chance(k->c, 1, 2);
	uint64_t pieces = 1 + choices_below(k->c, global ? 8 : 2);

	e.debugid = global ? KTRACE_STRING_GLOBAL : KTRACE_STRING_THREADNAME;
	for (uint64_t i = 0; i < pieces; i++) {
		struct ktrace_event piece = e;
		for (unsigned j = 0; j < 4; j++)
			piece.args[j] = UINT64_C(0x6162636465666768) + i;
		if (!i && global) {
			piece.args[0] = 0x01400000;
			piece.args[1] = UINT64_C(0x70ac000000000001) + choices_below(k->c, 16);
		}
		piece.debugid |= (i ? 0 : KTRACE_FUNC_START) | (i + 1 < pieces ? 0 : KTRACE_FUNC_END);
		ktrace_make_event(k, to, piece);
	}
}

/* A point event, and often what belongs to it. */
static void make_some(struct ktrace_gen *k, struct bytes *to)
{
	struct ktrace_event e = ktrace_any_event(k);
	switch (choices_below(k->c, 16)) {
	case 1: /* a pair */
		e.debugid |= KTRACE_FUNC_START;
		ktrace_make_event(k, to, e);
		e.debugid ^= KTRACE_FUNC_MASK;
		break;
	case 2: /* a thread is born, and acts */
		e.debugid = KTRACE_NEWTHREAD;
		e.args[0] = 0x1000 + choices_below(k->c, 0x1000);
		e.args[1] = 10;
		ktrace_make_event(k, to, e);
		e = ktrace_any_event(k);
		break;
	case 3:
		make_string(k, to);
		break;
	default:
		break;
	}
	ktrace_make_event(k, to, e);
}

void ktrace_make_events(struct ktrace_gen *k, struct bytes *to, uint64_t n)
{
	for (uint64_t i = 0; i < n && !to->failed; i++)
		make_some(k, to);
}

/* Events of about that many bytes; one round of them at least. */
static void make_events_of(struct ktrace_gen *k, struct bytes *to, uint64_t size)
{
	uint64_t end = to->size + size;
	do
		make_some(k, to);
	while (to->size < end && !to->failed);
}

void ktrace_make_thread(struct ktrace_gen *k, struct bytes *to, uint64_t tid, int32_t pid, const char *name, size_t length)
{
	char field[KTRACE_NAME] = { 0 };
	memcpy(field, name, length);
	if (k->is_64)
		bytes_u64(to, tid);
	else
		bytes_u32(to, (uint32_t)tid);
	bytes_u32(to, (uint32_t)pid);
	bytes_append(to, field, sizeof(field));
}

static void make_threads(struct ktrace_gen *k, struct bytes *to)
{
	static const char *const names[] = { "kernel_task", "launchd", "WindowServer", "\xc3\xa9t\xc3\xa9", "nineteen_bytes_name" };
	uint64_t n = 1 + choices_below(k->c, 8);

	for (uint64_t i = 0; i < n && k->thread_count < KTRACE_GEN_THREADS - 8; i++) {
		uint64_t tid = 0x64 + 3 * (uint64_t)k->thread_count;
		const char *name = names[choices_below(k->c, 5)];
		/* A process has one name; id 1 stands for the kernel, too. */
		ktrace_make_thread(k, to, tid, (int32_t)(10 + (unsigned char)name[0] + 256 * strlen(name)), name, strlen(name));
		k->threads[k->thread_count++] = tid;
	}
}

static void make_cpus(struct ktrace_gen *k, struct bytes *to, bool extended)
{
	k->cpus = 1 + (uint32_t)choices_below(k->c, 8);
	bytes_u32(to, extended ? 1 : KTRACE_MAGIC_RAW1);
	bytes_u32(to, k->cpus);
	for (uint32_t i = 0; i < k->cpus; i++) {
		char name[32] = "AP";
		bytes_u32(to, i);
		bytes_u32(to, i + 1 == k->cpus && i ? 1 : 0);
		bytes_append(to, name, extended ? 32 : 8);
	}
}

void ktrace_make_plist(struct bytes *to)
{
	/* One object, an empty dictionary (0xd0) at 8; its offset table at 9; then the trailer. */
	static const uint8_t list[] = { 'b', 'p', 'l', 'i', 's', 't', '0', '0', 0xd0, 8 };
	uint8_t trailer[32] = { [6] = 1, [7] = 1, [15] = 1, [31] = 9 };
	bytes_append(to, list, sizeof(list));
	bytes_append(to, trailer, sizeof(trailer));
}

static void make_fixed(struct ktrace_gen *k, uint32_t tag, uint16_t major, uint32_t size, bool in_header)
{
	struct ktrace_made *m = ktrace_make_chunk(k, tag, major, in_header);
	uint8_t *p = m ? bytes_grow(&m->payload, size) : NULL;
	if (!p)
		return;
	if (tag == KTRACE_TIME_SYNC) {
		store_u32(p + 16, k->numer, false);
		store_u32(p + 20, k->denom, false);
		store_u64(p + 24, k->seconds, false);
	} else if (tag == KTRACE_UUID) {
		for (uint32_t i = 0; i < size; i++)
			p[i] = (uint8_t)choices_below(k->c, 256);
	}
}

/* When the first event was: ticks of a machine that runs for a short while, or for up to a month at a GHz. */
static void start(struct ktrace_gen *k)
{
	k->time = choices_chance(k->c, 1, 2) ? choices_between(k->c, UINT64_C(1000000000), UINT64_C(3000000000000000)) : 1000;
	k->seconds = UINT64_C(1500000000) + choices_below(k->c, 100000000);
	k->usec = (uint32_t)choices_below(k->c, 1000000);
}

/* ---- version 3 ---- */

static void make_header_chunks(struct ktrace_gen *k)
{
	struct ktrace_made *m;

	if (choices_chance(k->c, 1, 2) && (m = ktrace_make_chunk(k, KTRACE_MACHINE, 0, true)) != NULL)
		ktrace_make_plist(&m->payload);
	if (choices_chance(k->c, 1, 3))
		make_fixed(k, KTRACE_UUID, 0, 16, true);
	if (choices_chance(k->c, 1, 6))
		(void)ktrace_make_chunk(k, KTRACE_NULL, 0, true);
	if ((m = ktrace_make_chunk(k, KTRACE_CPU_MAP, 1, true)) != NULL)
		make_cpus(k, &m->payload, choices_chance(k->c, 3, 4));
}

static void make_subfiles(struct ktrace_gen *k)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ktrace_made *m = ktrace_make_chunk(k, i ? KTRACE_SUBFILE_BODY : KTRACE_SUBFILE_HEADER, KTRACE_SUBCHUNKS,
							  false);
		if (!m)
			return;
		bytes_u32(&m->payload, KTRACE_SUBFILE_ID);
		bytes_u32(&m->payload, 0);
		bytes_u64(&m->payload, 4);
		bytes_u32(&m->payload, 7);
		bytes_align(&m->payload, 8);
		if (!i) {
			bytes_u32(&m->payload, KTRACE_SUBFILE_FILE_HEADER);
			bytes_u32(&m->payload, 0);
			bytes_u64(&m->payload, 56);
			(void)bytes_grow(&m->payload, 56);
		}
	}
}

static uint64_t size_so_far(const struct ktrace_gen *k)
{
	uint64_t size = KTRACE_HEADER;
	for (unsigned i = 0; i < k->count; i++)
		size += KTRACE_CHUNK_HEADER + k->chunks[i].payload.size;
	return size;
}

static void make_body_chunks(struct ktrace_gen *k)
{
	uint64_t budget = k->g->size ? 0 : 4 + choices_below(k->c, 24); /* of events; a wanted size decides by itself */
	uint64_t chunks = 1 + choices_below(k->c, 3);
	struct ktrace_made *m;

	if (choices_chance(k->c, 1, 3) && (m = ktrace_make_chunk(k, KTRACE_CONFIG, 0, false)) != NULL)
		ktrace_make_plist(&m->payload);
	if (choices_chance(k->c, 1, 5) && (m = ktrace_make_chunk(k, KTRACE_STACKSHOT, 1, false)) != NULL) {
		bytes_u32(&m->payload, 0x59a25807);
		(void)bytes_grow(&m->payload, choices_below(k->c, 40));
	}
	if ((m = ktrace_make_chunk(k, KTRACE_THREAD_MAP, 0, false)) != NULL)
		make_threads(k, &m->payload);
	if (choices_chance(k->c, 1, 4))
		make_fixed(k, KTRACE_TIME_SYNC, 1, 48, false);
	if (choices_chance(k->c, 1, 6))
		make_subfiles(k);
	for (uint64_t i = 0; i < chunks; i++) {
		if (choices_chance(k->c, 1, 3) && (m = ktrace_make_chunk(k, KTRACE_NULL, 0, false)) != NULL)
			(void)bytes_grow(&m->payload, choices_below(k->c, 64));
		if ((m = ktrace_make_chunk(k, KTRACE_EVENTS, 0, false)) == NULL)
			return;
		bytes_u64(&m->payload, 0);
		uint64_t size = size_so_far(k);
		if (k->g->size)
			make_events_of(k, &m->payload, k->g->size > size ? (k->g->size - size) / (chunks - i) : 0);
		else
			ktrace_make_events(k, &m->payload, budget / chunks + 1);
	}
	if (choices_chance(k->c, 1, 5) && (m = ktrace_make_chunk(k, KTRACE_EVENTS_COMPRESSED, 0, false)) != NULL) {
		uint64_t events = choices_below(k->c, 9);
		bytes_u64(&m->payload, 0);
		bytes_u32(&m->payload, (uint32_t)events);
		(void)bytes_grow(&m->payload, 5 * events);
	}
	if (choices_chance(k->c, 1, 4) && (m = ktrace_make_chunk(k, KTRACE_TRACE_CODES, 0, false)) != NULL)
		bytes_text(&m->payload, "0x1400000 MACH_SCHED\n0x40c0014 BSC_open\n");
	if (choices_chance(k->c, 1, 3) && (m = ktrace_make_chunk(k, KTRACE_SUMMARY, 0, false)) != NULL)
		bytes_u64(&m->payload, k->time + 1);
	if (choices_chance(k->c, 1, 4) && (m = ktrace_make_chunk(k, 0x8100 + (uint32_t)choices_below(k->c, 64), 0, false)) != NULL)
		(void)bytes_grow(&m->payload, choices_below(k->c, 40));
}

static void v3_write(struct ktrace_gen *k)
{
	struct bytes *out = k->out;
	uint64_t end = KTRACE_HEADER;

	bytes_u32(out, k->magic);
	bytes_u16(out, k->major);
	bytes_u16(out, k->minor);
	bytes_u64(out, 0);
	bytes_u32(out, k->numer);
	bytes_u32(out, k->denom);
	bytes_u64(out, k->header_time);
	bytes_u64(out, k->seconds);
	bytes_u32(out, k->usec);
	bytes_u32(out, (uint32_t)k->west);
	bytes_u32(out, k->dst);
	bytes_u32(out, k->flags);
	(void)bytes_grow(out, k->header_gap);
	end += k->header_gap;
	for (unsigned i = 0; i < k->count; i++) {
		struct ktrace_made *m = &k->chunks[i];
		bool last = i + 1 == k->count;
		m->at = out->size;
		bytes_u32(out, m->tag);
		bytes_u16(out, m->major);
		bytes_u16(out, m->minor);
		bytes_u64(out, m->stored_size == KTRACE_REAL_SIZE ? m->payload.size : m->stored_size);
		bytes_append(out, m->payload.data, m->payload.size);
		if (m->in_header)
			end = out->size;
		for (uint8_t pad = m->padding; !m->no_padding && out->size % 8 && !(last && k->counts_padding) && !out->failed;)
			bytes_u8(out, pad);
		if (m->in_header && k->counts_padding)
			end = out->size;
	}
	if (!out->failed)
		store_u64(out->data + 8, k->header_size == KTRACE_REAL_SIZE ? end - KTRACE_HEADER_UNCOUNTED : k->header_size,
			  false);
}

static void v3_make(struct ktrace_gen *k)
{
	k->magic = choices_chance(k->c, 1, 12) && k->g->rule < 0 ? KTRACE_MAGIC_KERNEL : KTRACE_MAGIC;
	k->major = k->magic == KTRACE_MAGIC_KERNEL ? 1 : (uint16_t)choices_below(k->c, 2);
	k->is_64 = !choices_chance(k->c, 1, 4) || ktrace_break_needs_64(k);
	k->flags = k->is_64 ? KTRACE_FLAG_64 : 0;
	k->numer = choices_chance(k->c, 1, 2) ? 125 : 1;
	k->denom = k->numer == 125 ? 3 : 1;
	start(k);
	k->header_time = choices_chance(k->c, 1, 2) ? k->time - 100 : 0;
	k->west = (int32_t)choices_below(k->c, 1200) - 600;
	k->dst = (uint32_t)choices_below(k->c, 2);
	k->counts_padding = choices_chance(k->c, 1, 3);
	make_header_chunks(k);
	make_body_chunks(k);
}

/* ---- RAW ---- */

static void raw_make(struct ktrace_gen *k)
{
	uint64_t budget = k->g->size ? 0 : 4 + choices_below(k->c, 24);

	/* A 64-bit map of version 1 never ends at a page. */
	k->is_64 = k->g->rule == KTRACE_RULE_raw_extra_page ? false : choices_chance(k->c, 2, 3);
	start(k);
	/* Device streams of version 2 may leave the time out. */
	if (k->raw == 2 && choices_chance(k->c, 1, 2))
		k->seconds = k->usec = 0;
	k->cpus = 4;
	k->frequency = 24000000;
	make_threads(k, &k->map);
	k->raw_count = k->thread_count;
	if (k->raw == 1 && choices_chance(k->c, 1, 2))
		make_cpus(k, &k->gap, false);
	uint64_t head = k->raw ? KTRACE_PAGE : k->map.size;
	if (k->g->size)
		make_events_of(k, &k->events, k->g->size > head ? k->g->size - head : 0);
	else
		ktrace_make_events(k, &k->events, budget);
}

static void raw_write(struct ktrace_gen *k)
{
	struct bytes *out = k->out;

	if (k->raw == 2) {
		bytes_u32(out, KTRACE_MAGIC_RAW2);
		bytes_u32(out, k->raw_count);
		bytes_u64(out, k->seconds);
		bytes_u32(out, k->usec);
		bytes_u32(out, k->is_64);
		bytes_u64(out, k->frequency);
		for (unsigned i = 0; i < 256; i++)
			bytes_u8(out, k->reserved);
	} else if (k->raw == 1) {
		bytes_u32(out, KTRACE_MAGIC_RAW1);
		bytes_u32(out, k->raw_count);
		bytes_u64(out, k->seconds);
		bytes_u32(out, k->usec);
		if (k->is_64)
			bytes_u32(out, 0);
	} else {
		bytes_u32(out, k->raw_count);
	}
	bytes_append(out, k->map.data, k->map.size);
	bytes_append(out, k->gap.data, k->gap.size);
	if (k->raw)
		bytes_align(out, KTRACE_PAGE);
	bytes_append(out, k->events.data, k->events.size);
}

/* Whether memory went short so far: what comes next needs all that was made. */
static bool gen_failed(const struct ktrace_gen *k)
{
	bool failed = k->g->failed || k->out->failed || k->map.failed || k->gap.failed || k->events.failed;
	for (unsigned i = 0; i < k->count; i++)
		failed |= k->chunks[i].payload.failed;
	return failed;
}

static void gen_free(struct ktrace_gen *k)
{
	for (unsigned i = 0; i < k->count; i++)
		bytes_free(&k->chunks[i].payload);
	bytes_free(&k->map);
	bytes_free(&k->gap);
	bytes_free(&k->events);
}

enum tracemend_status ktrace_generate(struct gen *g)
{
	struct ktrace_gen k = { .g = g, .c = g->choices, .raw = -1, .header_size = KTRACE_REAL_SIZE };
	k.out = gen_file(g, "");
	if (!k.out)
		return TM_NO_MEMORY;
	if (g->rule >= 0)
		k.raw = ktrace_break_shape(&k);
	else if (choices_chance(k.c, 1, 4))
		k.raw = (int)choices_below(k.c, 3);
	if (k.raw < 0)
		v3_make(&k);
	else
		raw_make(&k);
	if (g->rule >= 0 && !gen_failed(&k))
		ktrace_break(&k);
	if (k.raw < 0)
		v3_write(&k);
	else
		raw_write(&k);
	if (k.finish && !gen_failed(&k))
		k.finish(&k);
	bool failed = gen_failed(&k);
	gen_free(&k);
	return failed ? TM_NO_MEMORY : TM_OK;
}

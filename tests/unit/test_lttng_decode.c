/* Decoding of LTTng at its bounds: events at each limit, declarations, the lengths of payloads, headers, names. */
#include "unit.h"

#include "formats/lttng/decode/lttng_declaration.h"
#include "formats/lttng/decode/lttng_name.h"

#define BYTES 512u

/* A block with nothing but what the test puts into it; bytes behind a limit can be read, too. */
struct block {
	uint8_t bytes[BYTES];
	struct lttng_coding coding;
	struct lttng_types types;
	struct lttng_type *page[256], *facility[256], type[8];
	struct lttng_step step[8];
	struct lttng_stream in;
};

static const uint8_t *block_upto(void *owner, uint64_t offset, size_t length, size_t *got)
{
	struct block *b = owner;
	*got = offset >= BYTES ? 0 : length < BYTES - offset ? length : (size_t)(BYTES - offset);
	if (*got > 5) /* in pieces, as windows give them */
		*got = 5;
	return *got ? b->bytes + offset : NULL;
}

static const uint8_t *block_at(void *owner, uint64_t offset, size_t length)
{
	struct block *b = owner;
	return offset <= BYTES && length <= BYTES - offset ? b->bytes + offset : NULL;
}

static const struct lttng_layout *layout(unsigned major, unsigned minor)
{
	for (size_t i = 0; i < lttng_layout_count; i++)
		if (lttng_layouts[i].major == major && lttng_layouts[i].minor == minor)
			return &lttng_layouts[i];
	fail();
	return NULL;
}

static void block_begin(struct block *b, unsigned major, unsigned minor, unsigned alignment)
{
	memset(b, 0, sizeof(*b));
	b->coding = (struct lttng_coding){
		.layout = layout(major, minor), .arch = 8, .alignment = (uint8_t)alignment, .sizes = { { 4, 8, 8, 8, 8 } }
	};
	b->in = (struct lttng_stream){ .coding = &b->coding, .types = &b->types, .reader = { b, block_at, block_upto } };
	b->types.pages[0] = b->page;
	b->types.pages[2] = b->facility;
}

/* Type `id` has a byte and a value of 4 bytes. */
static struct lttng_type *block_type(struct block *b, unsigned slot, uint32_t id)
{
	struct lttng_type *t = &b->type[slot];
	*t = (struct lttng_type){ .id = id, .declared = true, .described = true };
	b->step[2 * slot] = (struct lttng_step){ .kind = STEP_FIXED, .align = 1, .pad = 1, .size = 1 };
	b->step[2 * slot + 1] =
		(struct lttng_step){ .kind = STEP_FIXED, .align = lttng_value_align(&b->coding, 4), .pad = 1, .size = 4 };
	t->shape.steps = &b->step[2 * slot];
	t->shape.count = 2;
	t->shape.align = lttng_value_align(&b->coding, 4);
	lttng_shape_finish(&t->shape);
	(id >> 8 == 2 ? b->facility : b->page)[id & 0xff] = t;
	return t;
}

static void put16(struct block *b, size_t at, uint16_t v)
{
	store_u16(b->bytes + at, v, b->coding.big_endian);
}

static void put32(struct block *b, size_t at, uint32_t v)
{
	store_u32(b->bytes + at, v, b->coding.big_endian);
}

static void put64(struct block *b, size_t at, uint64_t v)
{
	store_u64(b->bytes + at, v, b->coding.big_endian);
}

/* The header ends at `header`, the event at `end`: what it is at each limit, and at last. */
static struct lttng_event at_each_limit(struct block *b, uint64_t rel, uint64_t header, uint64_t end, enum lttng_defect whole)
{
	struct lttng_event e = { 0 };
	for (uint64_t limit = 0; limit <= end + 12; limit++) {
		enum lttng_defect wanted = limit <= rel	    ? EVENT_END
					   : limit < header ? EVENT_HEADER_CUT
					   : limit < end    ? EVENT_PAYLOAD_CUT
							    : whole;
		enum lttng_defect defect = lttng_event_decode(&b->in, rel, limit, 1000, &e);
		if (defect != wanted)
			fail_msg("limit %llu: %d, not %d", (unsigned long long)limit, (int)defect, (int)wanted);
	}
	return e;
}

static void words(void **state)
{
	struct block b;
	struct lttng_event e;
	(void)state;

	for (unsigned big = 0; big < 2; big++) {
		/* The id alone; time goes on from the last stamp, and over the end of its bits. */
		block_begin(&b, 2, 6, 8);
		b.coding.big_endian = big;
		block_type(&b, 0, 7);
		put32(&b, 4, 7u << 27 | 1001);
		e = at_each_limit(&b, 4, 8, 16, EVENT_OK);
		assert_int_equal(e.stamp, 1001);
		assert_int_equal(e.id, 7);
		assert_int_equal(e.form, 0);
		assert_int_equal(e.payload, 8);
		assert_int_equal(e.end, 16);
		assert_int_equal(e.sized_end, 0);
		assert_false(e.padded || e.has_full || e.escaped);
		put32(&b, 4, 7u << 27 | 999);
		assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1000, &e), EVENT_OK);
		assert_int_equal(e.stamp, 999 + LTTNG_TIME_MASK + 1);
		put32(&b, 4, 7u << 27 | 1000);
		assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1000, &e), EVENT_OK);
		assert_int_equal(e.stamp, 1000);
		put32(&b, 4, 28u << 27);
		assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1000, &e), EVENT_DANGLING);
		assert_int_equal(e.form, 0);
		/* Padding before it, and none. */
		put32(&b, 4, 7u << 27 | 1001);
		e = at_each_limit(&b, 3, 8, 16, EVENT_OK);
		assert_int_equal(e.start, 4);
		assert_false(e.padded);
		b.bytes[3] = 1;
		e = at_each_limit(&b, 3, 8, 16, EVENT_OK);
		assert_true(e.padded);
		assert_false((lttng_event_decode(&b.in, 4, 16, 0, &e), e.padded));

		/* The id follows. Its padding is looked at. */
		block_begin(&b, 2, 6, 8);
		b.coding.big_endian = big;
		block_type(&b, 0, 7);
		put32(&b, 4, 31u << 27 | 1001);
		put16(&b, 8, 7);
		e = at_each_limit(&b, 4, 10, 20, EVENT_OK);
		assert_int_equal(e.form, 31);
		assert_int_equal(e.size_width, 0);
		assert_int_equal(e.payload, 12);
		assert_int_equal(e.sized_end, 0);
		assert_false(e.padded);
		b.bytes[11] = 1;
		assert_int_equal(lttng_event_decode(&b.in, 4, 20, 1000, &e), EVENT_OK);
		assert_true(e.padded);
		assert_int_equal(lttng_event_decode(&b.in, 4, 11, 1000, &e), EVENT_PAYLOAD_CUT);
		assert_false(e.padded);

		/* So does the size. */
		block_begin(&b, 2, 6, 8);
		b.coding.big_endian = big;
		block_type(&b, 0, 7);
		put32(&b, 4, 30u << 27 | 1001);
		put16(&b, 8, 7);
		put16(&b, 10, 8);
		e = at_each_limit(&b, 4, 12, 20, EVENT_OK);
		assert_int_equal(e.size_at, 10);
		assert_int_equal(e.size_width, 2);
		assert_int_equal(e.size, 8);
		assert_int_equal(e.sized_end, 20);
		assert_false(e.has_full);
		put16(&b, 10, 9);
		assert_int_equal(lttng_event_decode(&b.in, 4, 100, 1000, &e), EVENT_SIZE);
		assert_int_equal(e.sized_end, 21);
		assert_int_equal(e.end, 20);
		put16(&b, 10, 4); /* the size is within the limit, the description is not */
		assert_int_equal(lttng_event_decode(&b.in, 4, 18, 1000, &e), EVENT_SIZE);
		put16(&b, 10, 300); /* and the other way round */
		assert_int_equal(lttng_event_decode(&b.in, 4, 100, 1000, &e), EVENT_SIZE);
		assert_int_equal(e.sized_end, 0);

		/* And the stamp, aligned. */
		put32(&b, 4, 29u << 27 | 1001);
		put16(&b, 10, 8);
		put64(&b, 16, (UINT64_C(5) << 27) + 1001);
		e = at_each_limit(&b, 4, 24, 32, EVENT_OK);
		assert_int_equal(e.stamp, (UINT64_C(5) << 27) + 1001);
		assert_int_equal(e.full, e.stamp);
		assert_true(e.has_full);
		assert_false(e.padded);
		b.bytes[12] = 1;
		e = at_each_limit(&b, 4, 24, 32, EVENT_OK);
		assert_true(e.padded);
		put64(&b, 16, (UINT64_C(5) << 27) + 1002);
		assert_int_equal(lttng_event_decode(&b.in, 4, 32, 1000, &e), EVENT_LOW_BITS);
		put16(&b, 10, 7);
		assert_int_equal(lttng_event_decode(&b.in, 4, 32, 1000, &e), EVENT_LOW_BITS);
		assert_int_equal(lttng_event_decode(&b.in, 4, 30, 1000, &e), EVENT_PAYLOAD_CUT);
	}
}

static void escapes(void **state)
{
	struct block b;
	struct lttng_event e;
	(void)state;

	block_begin(&b, 2, 6, 0);
	block_type(&b, 0, 7);
	put32(&b, 0, 30u << 27 | 1001);
	put16(&b, 4, 7);
	put16(&b, 6, 0xffff);
	put32(&b, 8, 5);
	e = at_each_limit(&b, 0, 12, 17, EVENT_OK);
	assert_true(e.escaped);
	assert_int_equal(e.size_at, 8);
	assert_int_equal(e.size_width, 4);
	assert_int_equal(e.size, 5);
	assert_int_equal(e.payload, 12);
	assert_int_equal(e.sized_end, 17);
	b.in.escape = ESCAPE_NEVER;
	assert_int_equal(lttng_event_decode(&b.in, 0, 100, 0, &e), EVENT_SIZE);
	assert_false(e.escaped);
	assert_int_equal(e.size, 0xffff);
	assert_int_equal(e.payload, 8);
	put16(&b, 6, 5);
	e = at_each_limit(&b, 0, 8, 13, EVENT_OK);
	b.in.escape = ESCAPE_AS_IT_IS;
	e = at_each_limit(&b, 0, 8, 13, EVENT_OK);
	assert_false(e.escaped);
	b.in.escape = ESCAPE_ALWAYS;
	e = at_each_limit(&b, 0, 12, 17, EVENT_OK);
	assert_true(e.escaped);

	/* To 1.0 the escape says nothing of the size. */
	block_begin(&b, 1, 0, 0);
	b.coding.heartbeat = true;
	block_type(&b, 0, 7);
	put16(&b, 4, 7);
	put16(&b, 6, 0xffff);
	e = at_each_limit(&b, 0, 8, 13, EVENT_OK);
	assert_true(e.escaped);
	assert_int_equal(e.sized_end, 0);
}

static void old_headers(void **state)
{
	struct block b;
	struct lttng_event e;
	(void)state;

	for (unsigned big = 0; big < 2; big++) {
		block_begin(&b, 1, 0, 4);
		b.coding.big_endian = big;
		b.coding.heartbeat = true;
		block_type(&b, 0, 7);
		put32(&b, 4, 1001);
		put16(&b, 8, 7);
		put16(&b, 10, 8);
		e = at_each_limit(&b, 4, 12, 20, EVENT_OK);
		assert_int_equal(e.stamp, 1001);
		assert_int_equal(e.size_at, 10);
		assert_int_equal(e.word, 1001 | 7 | 8);
		assert_false(e.has_full || e.padded);
		put32(&b, 4, 999);
		assert_int_equal(lttng_event_decode(&b.in, 4, 20, 1000, &e), EVENT_OK);
		assert_int_equal(e.stamp, 999 + (UINT64_C(1) << 32) - 1 + 1);

		block_begin(&b, 1, 0, 8);
		b.coding.big_endian = big;
		block_type(&b, 0, 7);
		put64(&b, 8, UINT64_C(0x300000001));
		put16(&b, 16, 7);
		put16(&b, 18, 8);
		e = at_each_limit(&b, 8, 20, 32, EVENT_OK);
		assert_int_equal(e.stamp, UINT64_C(0x300000001));
		assert_true(e.has_full);
		assert_int_equal(e.payload, 24);
		assert_int_equal(e.size_at, 18);
		assert_int_equal(e.word, 3 | 1 | 7 | 8);
		assert_false(e.padded);
		b.bytes[23] = 9;
		assert_int_equal(lttng_event_decode(&b.in, 8, 32, 1000, &e), EVENT_OK);
		assert_true(e.padded);
		assert_int_equal(lttng_event_decode(&b.in, 8, 23, 1000, &e), EVENT_PAYLOAD_CUT);
		assert_false(e.padded);
		put16(&b, 18, 9);
		assert_int_equal(lttng_event_decode(&b.in, 8, 50, 1000, &e), EVENT_SIZE);

		/* 0.8: facility and event are bytes. */
		block_begin(&b, 0, 8, 0);
		b.coding.big_endian = big;
		b.coding.heartbeat = true;
		block_type(&b, 0, 0x203);
		b.bytes[4] = 2;
		b.bytes[5] = 3;
		put16(&b, 6, 5);
		e = at_each_limit(&b, 0, 8, 13, EVENT_OK);
		assert_int_equal(e.id, 0x203);
		/* Without a description its size is what there is. */
		b.type[0].shape.known = false;
		e = at_each_limit(&b, 0, 8, 13, EVENT_OK);
		assert_int_equal(e.end, 13);
		put16(&b, 6, 0xffff);
		assert_int_equal(lttng_event_decode(&b.in, 0, 100, 0, &e), EVENT_NO_FORMAT);
	}
}

static void compact_words(void **state)
{
	struct block b;
	struct lttng_event e;
	(void)state;

	block_begin(&b, 1, 0, 8);
	b.in.compact = true;
	b.coding.truncate = 4;
	b.coding.tscbits = 20;
	b.coding.shift = 25;
	block_type(&b, 0, 7);
	put32(&b, 4, 7u << 20 | 100 | 3u << 25);
	e = at_each_limit(&b, 4, 8, 16, EVENT_OK);
	assert_int_equal(e.id, 7);
	assert_int_equal(e.stamp, 1600 + 1000 % 16); /* the bits that it lacks are those of the last stamp */
	assert_int_equal(e.start, 4);
	assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1600, &e), EVENT_OK);
	assert_int_equal(e.stamp, 1600);
	assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1615, &e), EVENT_OK);
	assert_int_equal(e.stamp, 1615);
	assert_int_equal(lttng_event_decode(&b.in, 4, 16, 1616, &e), EVENT_OK);
	assert_int_equal(e.stamp, 1600 + (1 << 24));
	b.coding.tscbits = 32;
	b.coding.truncate = 31;
	assert_int_not_equal(lttng_event_decode(&b.in, 4, 16, 0, &e), EVENT_MALFORMED);
	b.coding.truncate = 32;
	assert_int_equal(lttng_event_decode(&b.in, 4, 16, 0, &e), EVENT_MALFORMED);
	b.coding.tscbits = 33;
	b.coding.truncate = 0;
	assert_int_equal(lttng_event_decode(&b.in, 4, 16, 0, &e), EVENT_MALFORMED);

	/* 0.8: events of one facility. */
	block_begin(&b, 0, 8, 0);
	b.in.compact = true;
	b.coding.tscbits = 27;
	b.coding.compact_facility = 2;
	b.coding.compact_events = 4;
	block_type(&b, 0, 0x203);
	put32(&b, 0, 3u << 27 | 2000);
	e = at_each_limit(&b, 0, 4, 9, EVENT_OK);
	assert_int_equal(e.id, 0x203);
	assert_int_equal(e.stamp, 2000);
	b.coding.compact_facility = UINT32_MAX;
	assert_int_equal(lttng_event_decode(&b.in, 0, 9, 0, &e), EVENT_NO_FACILITY);
	assert_int_equal(e.id, 0xff00);
}

/* What may stand where: defects by version, file, id. */
static void core_events(void **state)
{
	static const struct {
		unsigned major, minor, id;
		bool metadata, declared, declares;
		enum lttng_defect defect;
	} cases[] = {
		{ 2, 6, 1, true, true, true, EVENT_OK },
		{ 2, 6, 2, true, true, false, EVENT_NOT_CORE },
		{ 2, 6, 0, false, true, false, EVENT_OK },
		{ 2, 6, 1, false, true, false, EVENT_OK },
		{ 2, 2, 0, true, true, true, EVENT_OK },
		{ 2, 2, 2, true, true, false, EVENT_NOT_CORE },
		{ 2, 2, 1, false, true, false, EVENT_CORE_ID },
		{ 2, 2, 2, false, true, false, EVENT_OK },
		{ 2, 2, 2, false, false, false, EVENT_DANGLING },
		{ 1, 0, 1, true, true, true, EVENT_OK },
		{ 1, 0, 3, true, true, false, EVENT_OK },
		{ 1, 0, 4, true, true, false, EVENT_NOT_CORE },
		{ 1, 0, 1, false, true, false, EVENT_CORE_ID },
		{ 1, 0, 2, false, true, false, EVENT_OK },
		{ 0, 8, 0, true, true, true, EVENT_OK },
		{ 0, 8, 3, true, true, false, EVENT_OK },
		{ 0, 8, 4, true, true, true, EVENT_OK },
		{ 0, 7, 3, true, true, true, EVENT_OK },
		{ 0, 7, 4, true, true, false, EVENT_OK },
		{ 0, 8, 0xff, true, true, false, EVENT_OK },
		{ 0, 8, 0x200, true, true, false, EVENT_NOT_CORE },
		{ 0, 8, 0x201, false, true, false, EVENT_OK },
		{ 0, 8, 0x201, false, false, false, EVENT_NO_FACILITY },
		{ 0, 8, 1, false, true, false, EVENT_OK },
	};
	struct block b;
	struct lttng_event e;
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		block_begin(&b, cases[i].major, cases[i].minor, 0);
		b.coding.heartbeat = true;
		b.in.metadata = cases[i].metadata;
		block_type(&b, 0, cases[i].id)->declared = cases[i].declared;
		if (cases[i].major == 2) {
			put32(&b, 0, cases[i].id << 27);
		} else {
			if (cases[i].major) {
				put16(&b, 4, (uint16_t)cases[i].id);
			} else {
				b.bytes[4] = (uint8_t)(cases[i].id >> 8);
				b.bytes[5] = (uint8_t)cases[i].id;
			}
			put16(&b, 6, 5);
		}
		enum lttng_defect defect = lttng_event_decode(&b.in, 0, 100, 0, &e);
		if (defect != cases[i].defect || lttng_event_declares(&b.in, &e) != cases[i].declares)
			fail_msg("case %zu: %d", i, (int)defect);
		if (defect != EVENT_OK) /* its size holds, all the same */
			assert_int_equal(e.end, cases[i].major == 2 ? 0 : 13);
	}
	/* The facility is there, the event is not. */
	block_type(&b, 1, 0x200);
	b.bytes[4] = 2;
	b.bytes[5] = 5;
	assert_int_equal(lttng_event_decode(&b.in, 0, 100, 0, &e), EVENT_NO_NUMBER);
	b.type[1].declared = false;
	assert_int_equal(lttng_event_decode(&b.in, 0, 100, 0, &e), EVENT_NO_FACILITY);
}

static uint64_t measure(struct block *b, uint64_t limit, enum lttng_defect *cut)
{
	return lttng_measure(&b->in, &b->type[0].shape, 8, limit, cut);
}

static void lengths_of_payloads(void **state)
{
	enum lttng_defect cut;
	struct block b;
	(void)state;

	/* A byte, a text padded to 4, then a value of 4. */
	block_begin(&b, 0, 8, 4);
	memset(b.bytes, 'x', sizeof(b.bytes));
	b.bytes[20] = 0;
	b.type[0].shape = (struct lttng_shape){ .steps = b.step, .count = 3 };
	b.step[0] = (struct lttng_step){ .kind = STEP_FIXED, .align = 1, .pad = 1, .size = 1 };
	b.step[1] = (struct lttng_step){ .kind = STEP_STRING, .align = 1, .pad = 4 };
	b.step[2] = (struct lttng_step){ .kind = STEP_FIXED, .align = 4, .pad = 1, .size = 4 };
	for (uint64_t limit = 8; limit < 40; limit++) {
		assert_int_equal(measure(&b, limit, &cut), limit >= 28 ? 28 : 0);
		if (limit < 28)
			assert_int_equal(cut, limit > 9 && limit <= 20 ? EVENT_STRING_CUT : EVENT_PAYLOAD_CUT);
	}
	/* Without its end it is as long as the block, whose bytes come in pieces. */
	b.bytes[20] = 'x';
	assert_int_equal(measure(&b, BYTES, &cut), 0);
	assert_int_equal(cut, EVENT_STRING_CUT);
	assert_int_equal(measure(&b, BYTES + 10, &cut), 0);
	assert_int_equal(cut, EVENT_STRING_CUT);
	b.bytes[BYTES - 1] = 0;
	b.type[0].shape.count = 2;
	assert_int_equal(measure(&b, BYTES, &cut), BYTES);

	/* Sequences: a count of each width, elements of 3 bytes. */
	for (unsigned big = 0; big < 2; big++)
		for (uint8_t width = 1; width <= 8; width = (uint8_t)(2 * width)) {
			block_begin(&b, 0, 8, 0);
			b.coding.big_endian = big;
			b.type[0].shape = (struct lttng_shape){ .steps = b.step, .count = 2 };
			b.step[0] = (struct lttng_step){ .kind = STEP_FIXED, .align = 1, .pad = 1, .size = 1 };
			b.step[1] =
				(struct lttng_step){ .kind = STEP_SEQUENCE, .align = 1, .pad = 1, .size = 3, .count_size = width };
			b.bytes[big ? 9 + width - 1 : 9] = 7;
			uint64_t end = 9u + width + 21;
			for (uint64_t limit = 8; limit < 60; limit++)
				assert_int_equal(measure(&b, limit, &cut), limit >= end ? end : 0);
		}
	put64(&b, 9, UINT64_C(1) << 32);
	b.step[1].size = 0;
	assert_int_equal(measure(&b, UINT64_C(1) << 50, &cut), 0);
	put64(&b, 9, UINT32_MAX);
	assert_int_equal(measure(&b, UINT64_C(1) << 50, &cut), 17);
	/* Aligned to its elements, and padded. */
	block_begin(&b, 0, 8, 8);
	b.type[0].shape = (struct lttng_shape){ .steps = b.step, .count = 1 };
	b.step[0] = (struct lttng_step){ .kind = STEP_SEQUENCE, .align = 8, .pad = 4, .size = 5, .count_size = 2 };
	put16(&b, 8, 3);
	for (uint64_t limit = 8; limit < 60; limit++)
		assert_int_equal(measure(&b, limit, &cut), limit >= 32 ? 32 : 0);
	/* Nothing at all is a payload, too. */
	b.type[0].shape.count = 0;
	assert_int_equal(measure(&b, 8, &cut), 8);
}

static void declarations(void **state)
{
	static const char name[] = "channel\0event\0\x05\0\x04\x08\x07\x06\x03", format[] = "c\0e\0a %d";
	struct lttng_declaration d;
	struct block b;
	(void)state;

	block_begin(&b, 2, 6, 0);
	memcpy(b.bytes + 8, name, sizeof(name) - 1);
	struct lttng_event e = { .payload = 8, .end = 8 + sizeof(name) - 1 };
	assert_true(lttng_declaration_read(&b.in, &e, &d));
	assert_int_equal(d.channel_length, 7);
	assert_int_equal(d.name_length, 5);
	assert_memory_equal(d.name, "event", 5);
	assert_int_equal(d.id, 5);
	assert_int_equal(d.sizes_at, 8 + 16);
	assert_int_equal(d.sizes_width, 1);
	assert_memory_equal(d.sizes.v, name + 16, 5);
	assert_true(lttng_declaration_is_whole(&b.in, &e));
	for (unsigned i = 0; i < SIZE_ALIGNMENT; i++) {
		uint8_t was = b.bytes[24 + i];
		b.bytes[24 + i] = 0;
		assert_false(lttng_declaration_is_whole(&b.in, &e));
		b.bytes[24 + i] = was;
	}
	e.end--;
	assert_false(lttng_declaration_read(&b.in, &e, &d));
	b.bytes[23] = 1;
	e.payload = e.end - 5;
	assert_true(lttng_declaration_is_whole(&b.in, &e));
	e.payload++;
	assert_false(lttng_declaration_is_whole(&b.in, &e));
	e.size_width = 2;
	assert_true(lttng_declaration_is_whole(&b.in, &e));
	for (e = (struct lttng_event){ .payload = 8, .end = 8 }; e.end < 8 + sizeof(name) - 1; e.end++)
		assert_false(lttng_declaration_read(&b.in, &e, &d));

	/* Aligned, the id is at an even place. */
	block_begin(&b, 2, 6, 8);
	memcpy(b.bytes + 8, "c\0even\0\0\x05\0\x04\x08\x07\x06\x03", 15);
	e = (struct lttng_event){ .payload = 8, .end = 8 + 15 };
	assert_true(lttng_declaration_read(&b.in, &e, &d));
	assert_int_equal(d.id, 5);

	/* A format; NULs are part of it. */
	block_begin(&b, 2, 6, 0);
	memcpy(b.bytes + 8, format, sizeof(format));
	e = (struct lttng_event){ .payload = 8, .end = 8 + sizeof(format), .id = 1 };
	assert_true(lttng_declaration_read(&b.in, &e, &d));
	assert_int_equal(d.format_length, 4);
	assert_memory_equal(d.format, "a %d", 4);
	assert_false(lttng_declaration_is_whole(&b.in, &e));
	e.end--;
	assert_false(lttng_declaration_read(&b.in, &e, &d));
	memcpy(b.bytes + 8, "\0 ", 3);
	e.end = 11;
	assert_true(lttng_declaration_is_whole(&b.in, &e));
	e.payload = 9;
	assert_false(lttng_declaration_is_whole(&b.in, &e));
	e.payload = 8;
	e.id = 2;
	assert_false(lttng_declaration_is_whole(&b.in, &e));

	/* 0.8: the name, then values of 4 bytes, aligned where anything is. */
	for (unsigned aligned = 0; aligned < 2; aligned++) {
		block_begin(&b, 0, 8, aligned ? 4 : 0);
		memcpy(b.bytes + 8, "block", 6);
		size_t at = aligned ? 16 : 14;
		put32(&b, at, 0x12345678);
		put32(&b, at + 4, 9);
		for (unsigned i = 0; i < SIZE_KINDS; i++)
			put32(&b, at + 8 + 4 * i, 254 + i);
		e = (struct lttng_event){ .payload = 8, .end = at + 28 };
		assert_true(lttng_declaration_read(&b.in, &e, &d));
		assert_int_equal(d.checksum, 0x12345678);
		assert_int_equal(d.id, 9);
		assert_int_equal(d.sizes_width, 4);
		assert_int_equal(d.sizes_at, at + 8);
		assert_int_equal(d.sizes.v[0], 254);
		assert_int_equal(d.sizes.v[1], 255);
		assert_int_equal(d.sizes.v[2], 255);
		e.end--;
		assert_false(lttng_declaration_read(&b.in, &e, &d));
	}
}

static void alignments(void **state)
{
	struct block b;
	(void)state;

	block_begin(&b, 2, 6, 4);
	assert_int_equal(lttng_value_align(&b.coding, 0), 1);
	assert_int_equal(lttng_value_align(&b.coding, 1), 1);
	assert_int_equal(lttng_value_align(&b.coding, 2), 2);
	assert_int_equal(lttng_value_align(&b.coding, 8), 4);
	assert_int_equal(lttng_widest_align(&b.coding), 4);
	assert_int_equal(lttng_stamp_align(&b.coding), 4);
	assert_int_equal(lttng_event_align(&b.coding, false), 4);
	block_begin(&b, 2, 4, 4);
	assert_int_equal(lttng_value_align(&b.coding, 2), 2);
	assert_int_equal(lttng_value_align(&b.coding, 8), 8);
	assert_int_equal(lttng_value_align(&b.coding, 16), 8);
	assert_int_equal(lttng_widest_align(&b.coding), 8);
	assert_int_equal(lttng_stamp_align(&b.coding), 8);
	block_begin(&b, 1, 0, 8);
	assert_int_equal(lttng_event_align(&b.coding, false), 8);
	assert_int_equal(lttng_event_align(&b.coding, true), 4);
	b.coding.truncate = 31;
	assert_int_equal(lttng_stamp_slack(&b.coding, true), 0x7fffffff);
	assert_int_equal(lttng_stamp_slack(&b.coding, false), 0);
	b.coding.truncate = 32;
	assert_int_equal(lttng_stamp_slack(&b.coding, true), 0);
	block_begin(&b, 2, 6, 2);
	assert_int_equal(lttng_event_align(&b.coding, false), 2);
	block_begin(&b, 2, 4, 0);
	assert_int_equal(lttng_value_align(&b.coding, 8), 1);
	assert_int_equal(lttng_widest_align(&b.coding), 1);
	assert_int_equal(lttng_stamp_align(&b.coding), 0);

	block_begin(&b, 1, 0, 0);
	b.coding.tscbits = 27;
	b.coding.shift = 32;
	assert_int_equal(lttng_compact_ids(&b.coding), 31);
	b.coding.shift = 28;
	assert_int_equal(lttng_compact_ids(&b.coding), 1);
	b.coding.shift = 27;
	assert_int_equal(lttng_compact_ids(&b.coding), 0);
	b.coding.shift = 20;
	assert_int_equal(lttng_compact_ids(&b.coding), 0);
	b.coding.shift = 27 + 64;
	assert_int_equal(lttng_compact_ids(&b.coding), 0xffff);
	b.coding.shift = 27 + 17;
	assert_int_equal(lttng_compact_ids(&b.coding), 0xffff);
	block_begin(&b, 0, 8, 0);
	assert_int_equal(lttng_compact_ids(&b.coding), 0);
	b.coding.compact_events = 4;
	assert_int_equal(lttng_compact_ids(&b.coding), 7);
	b.coding.compact_events = 3;
	assert_int_equal(lttng_compact_ids(&b.coding), 3);
	b.coding.compact_events = UINT32_MAX;
	assert_int_equal(lttng_compact_ids(&b.coding), 0xff);
}

/* ---- shapes ---- */

static void add(struct lttng_shape *shape, uint8_t align, uint32_t size, unsigned steps)
{
	struct lttng_budget budget = { .max = 1 << 20 };
	struct lttng_step step = { .kind = STEP_FIXED, .align = align, .pad = 1, .size = size };
	assert_true(lttng_shape_add(&budget, shape, step));
	assert_int_equal(shape->count, steps);
}

static void shapes(void **state)
{
	struct lttng_shape s = { 0 };
	(void)state;

	add(&s, 1, 1, 1);
	add(&s, 1, 3, 1);
	add(&s, 4, 4, 2);
	assert_int_equal(s.align, 4);
	add(&s, 4, 4, 2);
	add(&s, 2, 2, 2);
	add(&s, 4, 4, 3); /* not where the last one ends */
	add(&s, 1, 1, 3);
	add(&s, 2, 2, 4);
	add(&s, 1, 0, 4);
	lttng_shape_finish(&s);
	assert_true(s.known && s.is_fixed);
	assert_int_equal(s.align, 4);
	assert_int_equal(s.fixed, 4 + 10 + 2 + 5 + 1 + 2);
	free(s.steps);

	s = (struct lttng_shape){ 0 };
	lttng_shape_finish(&s);
	assert_int_equal(s.align, 1);
	assert_true(s.is_fixed);
	add(&s, 1, UINT32_MAX - 1, 1);
	add(&s, 1, 1, 1);
	lttng_shape_finish(&s);
	assert_true(s.is_fixed);
	assert_int_equal(s.fixed, UINT32_MAX);
	add(&s, 1, 1, 2);
	lttng_shape_finish(&s);
	assert_false(s.is_fixed);
	assert_int_equal(s.fixed, 0);
	free(s.steps);

	struct lttng_budget budget = { .max = 10 };
	void *p = lttng_budget_alloc(&budget, 6);
	assert_non_null(p);
	free(p);
	char *copy = lttng_budget_copy(&budget, "abcd", 3);
	assert_string_equal(copy, "abc");
	free(copy);
	assert_int_equal(budget.used, 10);
	assert_int_equal(budget.status, TM_OK);
	assert_null(lttng_budget_alloc(&budget, 1));
	assert_int_equal(budget.status, TM_LIMIT);
	assert_null(lttng_budget_alloc(&budget, 0));
}

static void formats(void **state)
{
	/* Of packed traces with 4, 8, 8 and 8 bytes for int, long, pointer, size_t; -1: not fixed; -2: bad. */
	static const struct {
		const char *text;
		long size;
		unsigned flaws, at;
	} cases[] = {
		{ "", 0, 0, 0 },
		{ "a %d", 4, 0, 2 },
		{ "a %d b %hd", 6, 0, 7 },
		{ "a %lld", 8, 0, 2 },
		{ "a %ld", 8, 0, 2 },
		{ "a %Ld", 8, 0, 2 },
		{ "a %zu", 8, 0, 2 },
		{ "a %Zu", 8, 0, 2 },
		{ "a %tu", 8, 0, 2 },
		{ "a %p", 8, 0, 2 },
		{ "a %c", 1, 0, 2 },
		{ "a %s", -1, 0, 2 },
		{ "a %-+ #0X", 4, 0, 2 },
		{ "a #1%d", 1, 0, 2 },
		{ "a #2u%d", 2, 0, 2 },
		{ "a #4u%d", 4, 0, 2 },
		{ "a #8u%d", 8, FORMAT_EIGHT, 2 },
		{ "a #8u%lld", 8, 0, 2 },
		{ "a #8u%s", -1, 0, 2 },
		{ "a #nb%d", 4, 0, 2 },
		{ "a #n%d", 4, 0, 2 },
		{ "a #tu%d", 8, 0, 2 },
		{ "a %Sd", 4, 0, 2 },
		{ "a #Sd%d", 4, 0, 2 },
		{ "a %1d", -2, FORMAT_BAD, 2 },
		{ "a %", -2, FORMAT_BAD, 2 },
		{ "a %l", -2, FORMAT_BAD, 2 },
		{ "a #1", -2, FORMAT_BAD, 2 },
		{ "a #1u", -2, FORMAT_BAD, 2 },
		{ "a #d", -2, FORMAT_BAD, 2 },
		{ "a #%", -2, FORMAT_BAD, 2 },
		{ "a #x", -2, FORMAT_BAD, 2 },
		{ "a #%d", 4, 0, 2 },
		{ "%d", 4, FORMAT_UNNAMED, 0 },
		{ " \t%d", 4, FORMAT_UNNAMED, 2 },
		{ "\ta %d", 4, 0, 3 },
		{ "a%d", 4, FORMAT_UNNAMED, 1 },
		{ "a %d%d", 8, FORMAT_UNNAMED, 4 },
		{ "a %% b %d", 4, 0, 7 },
		{ "a ## b %d", 4, 0, 7 },
		{ "%%", 0, 0, 0 },
	};
	struct block b;
	(void)state;

	block_begin(&b, 2, 6, 0);
	b.coding.sizes.v[SIZE_SIZE_T] = 8;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lttng_budget budget = { .max = 1 << 20 };
		struct lttng_shape s;
		unsigned flaws;
		size_t at = 0;
		assert_true(lttng_format_parse(&b.coding, &budget, cases[i].text, &s, &flaws, &at));
		long size = !s.known ? -2 : !s.is_fixed ? -1 : (long)s.fixed;
		if (size != cases[i].size || flaws != cases[i].flaws || at != cases[i].at)
			fail_msg("'%s': %ld bytes, flaws %u at %zu", cases[i].text, size, flaws, at);
		free(s.steps);
	}
	/* As many fields as are allowed, and one more. */
	char *many = calloc(LTTNG_FIELDS_MAX + 1, 4);
	assert_non_null(many);
	for (unsigned extra = 0; extra < 2; extra++) {
		struct lttng_budget budget = { .max = 1 << 20 };
		struct lttng_shape s;
		unsigned flaws;
		size_t at;
		for (size_t i = 0; i < LTTNG_FIELDS_MAX + extra; i++)
			memcpy(many + 4 * i, "a %c", 4);
		if (!extra)
			many[4 * LTTNG_FIELDS_MAX] = '\0';
		else
			many[4 * LTTNG_FIELDS_MAX + 3] = '\0';
		assert_true(lttng_format_parse(&b.coding, &budget, many, &s, &flaws, &at));
		assert_int_equal(flaws, extra ? FORMAT_BAD : 0);
		free(s.steps);
	}
	free(many);
	/* 1.0 has compact data in the event word. */
	block_begin(&b, 1, 0, 0);
	struct lttng_budget budget = { .max = 1 << 20 };
	struct lttng_shape s;
	unsigned flaws;
	size_t at;
	assert_true(lttng_format_parse(&b.coding, &budget, "a #b4u%d c #n%c", &s, &flaws, &at));
	assert_int_equal(s.fixed, 1);
	free(s.steps);
}

static void names(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		long cpu;
		bool loose;
	} cases[] = {
		{ "cpu_0", 3, 0, false },  { "cpu_9", 3, 9, false },  { "cpu_10", 3, 10, false }, { "cpu_00", 3, 0, true },
		{ "cpu_01", 3, 1, true },  { "cpu_1x", 3, 1, true },  { "cpu_-1", 3, -2, false }, { "cpu_x", 0, -1, false },
		{ "cpu_", 0, -1, false },  { "_1", 0, -1, false },    { "cpu", 0, -1, false },	  { "a_b_3", 3, 3, false },
		{ "cpu_:", 0, -1, false }, { "cpu_/", 0, -1, false },
	};
	int64_t cpu;
	bool loose;
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = lttng_name_split(cases[i].text, &cpu, &loose);
		if (length != cases[i].length || cpu != cases[i].cpu || loose != cases[i].loose)
			fail_msg("%s: %zu %lld %d", cases[i].text, length, (long long)cpu, loose);
	}
	assert_int_equal(lttng_name_split("a_1099511627775", &cpu, &loose), 1);
	assert_int_equal(cpu, INT64_C(1099511627775));
	/* More digits than a number of a cpu can have do not count. */
	lttng_name_split("a_10995116277750", &cpu, &loose);
	assert_int_equal(cpu, INT64_C(10995116277750));
	lttng_name_split("a_10995116277760", &cpu, &loose);
	assert_int_equal(cpu, INT64_C(1099511627776));
	assert_string_equal(lttng_name_base("a/b/c"), "c");
	assert_string_equal(lttng_name_base("c"), "c");
	assert_true(lttng_name_is_metadata("metadata_0"));
	assert_true(lttng_name_is_metadata("facilities_1"));
	assert_true(lttng_name_is_metadata("flight-metadata_1"));
	assert_false(lttng_name_is_metadata("metadata"));
	assert_false(lttng_name_is_metadata("metadatb_1"));
	assert_false(lttng_name_is_metadata("cpu_1"));
	assert_true(lttng_name_is_hidden(".a"));
	assert_true(lttng_name_is_hidden("a/b/.c"));
	assert_true(lttng_name_is_hidden("a/.b/c"));
	assert_false(lttng_name_is_hidden("a/b.c"));
	assert_true(lttng_name_has_directory("control/x", "control"));
	assert_true(lttng_name_has_directory("a/control/x", "control"));
	assert_false(lttng_name_has_directory("a/control", "control"));
	assert_false(lttng_name_has_directory("controls/x", "control"));
	assert_false(lttng_name_has_directory("acontrol/x", "control"));
}

/* Headers are recognised by their magic number and their version, from exactly as many bytes as these take. */
static void headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < lttng_layout_count; i++)
		for (unsigned big = 0; big < 2; big++) {
			const struct lttng_layout *l = &lttng_layouts[i];
			uint8_t p[LTTNG_HEADER_MAX] = { 0 };
			int major, minor;
			bool found_big;
			if (l->literal)
				continue;
			lttng_header_store(p, l, big, LF_MAGIC, LTTNG_MAGIC);
			lttng_header_store(p, l, big, LF_MAJOR, l->major);
			lttng_header_store(p, l, big, LF_MINOR, l->minor);
			lttng_header_store(p, l, big, LF_ARCH_SIZE, l->size == 64 ? 8 : 4);
			size_t least = l->places[LF_MINOR].offset + 1u;
			assert_null(lttng_identify(p, least - 1, &found_big, &major, &minor));
			assert_int_equal(major, -1);
			assert_ptr_equal(lttng_identify(p, least + (l->size == 64), &found_big, &major, &minor), l);
			assert_int_equal(found_big, big);
			assert_int_equal(major, l->major);
			assert_int_equal(minor, l->minor);
			lttng_header_store(p, l, big, LF_MINOR, 77);
			assert_null(lttng_identify(p, sizeof(p), &found_big, &major, &minor));
			assert_int_equal(major, l->major);
			assert_int_equal(minor, 77);
			assert_int_equal(found_big, big);
			struct lttng_header h = { 0 };
			h.v[LF_UNUSED] = 100;
			assert_int_equal(lttng_header_data_end(l, &h, 100), l->variable ? 100 : 0);
			assert_int_equal(lttng_header_data_end(l, &h, 300), l->variable ? 100 : 200);
			assert_int_equal(lttng_header_data_end(l, &h, 99), l->variable ? 100 : 0);
		}
	/* Short of 23 bytes, the pointers of 2.0 are not known. */
	uint8_t p[64] = { 0 };
	const struct lttng_layout *l = layout(2, 0);
	int major, minor;
	bool big;
	lttng_header_store(p, l, false, LF_MAGIC, LTTNG_MAGIC);
	p[20] = 2;
	p[22] = 8;
	assert_ptr_equal(lttng_identify(p, 22, &big, &major, &minor), l);
	assert_ptr_equal(lttng_identify(p, 23, &big, &major, &minor), l + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),	 cmocka_unit_test(escapes),	cmocka_unit_test(old_headers),
		cmocka_unit_test(compact_words), cmocka_unit_test(core_events), cmocka_unit_test(lengths_of_payloads),
		cmocka_unit_test(declarations),	 cmocka_unit_test(alignments),	cmocka_unit_test(shapes),
		cmocka_unit_test(formats),	 cmocka_unit_test(names),	cmocka_unit_test(headers),
	};
	return RUN(tests);
}

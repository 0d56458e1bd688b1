/* The best path through bytes in which an event type is not known: a block of events of a known and of an unknown type, one after
 * the other, whose path is known. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "formats/lttng/salvage/lttng_lattice.h"
#include "formats/lttng/scan/lttng_file.h"

enum { KNOWN = 2, UNKNOWN = 3, KNOWN_BYTES = 8, UNKNOWN_BYTES = 12, EVENTS = 60, TICKS = 5000 };

extern const struct format lttng_format;

static struct {
	uint8_t bytes[LTTNG_PAGE];
	uint32_t starts[EVENTS + 1]; /* the last one: the end of the data */
	struct capture c;
	struct scan s;
	struct lttng_trace t;
	struct lttng_table table;
	struct lttng_channel channel;
	struct lttng_file f;
	struct lttng_walk w;
	struct lttng_lattice l;
} the;

static const struct lttng_layout *layout_2_6(void)
{
	const struct lttng_layout *last = &lttng_layouts[lttng_layout_count - 1];
	assert_string_equal(last->name, "2.6");
	return last;
}

/* Events of both types by turns, the first one unknown; payloads are noise. */
static void begin(void)
{
	uint32_t at, noise = 1;

	memset(&the, 0, sizeof(the));
	the.t.s = &the.s;
	the.t.coding = (struct lttng_coding){ .layout = layout_2_6(), .arch = 4 };
	the.t.constants.want.v[LF_FREQ] = 1000000000;
	the.t.declared.budget.max = LTTNG_TABLE_BYTES_MAX;
	at = the.t.coding.layout->size;
	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned id = i % 2 ? KNOWN : UNKNOWN, size = i % 2 ? KNOWN_BYTES : UNKNOWN_BYTES;
		the.starts[i] = at;
		store_u32(the.bytes + at, id << LTTNG_TIME_BITS | (i + 1) * TICKS, false);
		at += 4;
		for (unsigned k = 0; k < size; k++, noise = noise * 1664525 + 1013904223)
			the.bytes[at++] = (uint8_t)(noise >> 24);
	}
	the.starts[EVENTS] = at;
	the.c = (struct capture){ .count = 1, .directory = true };
	strcpy(the.c.files[0].name, "kernel_0");
	the.c.files[0].data = the.bytes;
	the.c.files[0].size = sizeof(the.bytes);
	the.s.in = capture_bundle(&the.c, NULL, NULL);
	assert_non_null(the.s.in);
	struct lttng_marker *m = lttng_table_make(&the.t, &the.table, KNOWN);
	assert_non_null(m);
	m->type.declared = m->type.described = true;
	m->type.shape = (struct lttng_shape){ .fixed = KNOWN_BYTES, .align = 1, .is_fixed = true, .known = true };
	the.channel.table = &the.table;
	the.f = (struct lttng_file){ .source = the.s.in->sources[0], .channel = &the.channel };
	window_open(&the.t.window, the.f.source);
	the.w = (struct lttng_walk){ .in = lttng_stream_open(&the.t, &the.f, 0),
				     .file = &the.f,
				     .limit = at,
				     .room = at,
				     .begin = 1,
				     .end = (EVENTS + 2) * TICKS,
				     .at = { .rel = the.starts[0], .stamp = 1 } };
	the.l.budget = 1u << 24;
	the.l.highest = UNKNOWN;
	the.l.span = LATTICE_SPAN;
}

static void end(void)
{
	for (unsigned i = 0; i < 256; i++) {
		for (unsigned j = 0; the.table.types.pages[i] && j < 256; j++)
			free(the.table.types.pages[i][j]);
		free(the.table.types.pages[i]);
	}
	window_close(&the.t.window);
	bundle_free(the.s.in);
}

/* Each node of the path is the start of an event, up to the end of the data. */
static void the_path_is_that_of_the_events(void **state)
{
	uint32_t node = 0;
	(void)state;

	begin();
	assert_true(lttng_lattice_search(&the.t, &the.w, &the.l));
	assert_true(the.l.at_end);
	for (unsigned i = 0; i < EVENTS; i++) {
		assert_int_equal(the.l.first + node, the.starts[i]);
		assert_int_equal(the.l.nodes[node].kind, i % 2 ? NODE_KNOWN : NODE_UNKNOWN);
		assert_int_equal(the.l.nodes[node].stamp, (i + 1) * TICKS);
		node = lttng_lattice_next(&the.l, node);
	}
	assert_int_equal(the.l.first + node, the.starts[EVENTS]);
	end();
}

/* The right length of the payload of an unknown event has no penalty. Each other has, but those that skip whole events to one that
 * was there: other events of the type rule these out. */
static void other_lengths_have_penalties(void **state)
{
	uint8_t penalties[LATTICE_GAP_MAX + 1];
	unsigned event = 1;
	(void)state;

	begin();
	assert_true(lttng_lattice_search(&the.t, &the.w, &the.l));
	lttng_lattice_gaps(&the.l, 0, penalties);
	for (unsigned i = 0; i <= LATTICE_GAP_MAX; i++) {
		bool right = the.starts[0] + 4 + i == the.starts[event];
		event += right;
		if (i == UNKNOWN_BYTES)
			assert_int_equal(penalties[i], 0);
		else if (!right)
			assert_in_range(penalties[i], 1, LATTICE_WORST);
	}
	assert_in_range(penalties[UNKNOWN_BYTES + 4 + KNOWN_BYTES], 1, LATTICE_WORST);
	end();
}

/* No path: behind the time of the block, without a budget, and where the first event cannot be one. */
static void there_may_be_no_path(void **state)
{
	(void)state;

	begin();
	the.w.at.stamp = the.w.end + 1;
	assert_false(lttng_lattice_search(&the.t, &the.w, &the.l));
	the.w.at.stamp = 1;
	the.l.budget = 0;
	assert_false(lttng_lattice_search(&the.t, &the.w, &the.l));
	the.l.budget = 1000; /* bytes: fewer than the nodes cost */
	assert_false(lttng_lattice_search(&the.t, &the.w, &the.l));
	assert_int_equal(the.l.budget, 0);
	the.l.budget = 1u << 24;
	the.l.highest = 0; /* the first id is too far above those that are declared */
	assert_false(lttng_lattice_search(&the.t, &the.w, &the.l));
	the.l.beyond = UNKNOWN;
	assert_true(lttng_lattice_search(&the.t, &the.w, &the.l));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_is_that_of_the_events),
		cmocka_unit_test(other_lengths_have_penalties),
		cmocka_unit_test(there_may_be_no_path),
	};
	return RUN(tests);
}

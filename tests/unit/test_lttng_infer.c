/* formats/lttng/salvage: event types whose declarations are lost, inferred in traces of 2.6 that are made here, whose types are
 * known. The file of declarations is there, and declares nothing. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "engine/engine.h"
#include "formats/lttng/decode/lttng_layout.h"
#include "formats/lttng/lttng.h"

enum { BLOCK = 4096, BLOCKS = 8, TICKS = 5000, FIRST = 100000, NOISE_FILES = 2 };

extern const struct format lttng_format;

/* Types by turns: number and bytes of the payload. The fourth has a number that needs an extended header. */
static const struct {
	unsigned id, size;
} types[] = { { 2, 6 }, { 3, 4 }, { 5, 11 }, { 40, 7 } };

static struct capture c;
static uint32_t noise;
static uint64_t events;		 /* that were written */
static unsigned learned, limits; /* findings that say so */
static bool right;		 /* each learned type has the size that it was written with */

static uint8_t next_byte(void)
{
	noise = noise * 1664525 + 1013904223;
	return (uint8_t)(noise >> 24);
}

static const struct lttng_layout *layout(void)
{
	const struct lttng_layout *last = &lttng_layouts[lttng_layout_count - 1];
	assert_string_equal(last->name, "2.6");
	return last;
}

static struct capture_file *file_add(const char *name, size_t size)
{
	struct capture_file *f = &c.files[c.count++];
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	f->owned = calloc(1, size);
	assert_non_null(f->owned);
	f->data = f->owned;
	f->size = size;
	return f;
}

/* Writes the header of a block of so many bytes of data. */
static void block_header(uint8_t *block, uint64_t begin, uint64_t end, uint64_t data)
{
	const struct lttng_layout *l = layout();
	const struct {
		enum lttng_field field;
		uint64_t value;
	} values[] = { { LF_BEGIN, begin }, { LF_END, end },	 { LF_MAGIC, LTTNG_MAGIC }, { LF_MAJOR, 2 },
		       { LF_MINOR, 6 },	    { LF_ARCH_SIZE, 4 }, { LF_ALIGNMENT, 0 },	    { LF_FREQ, 1000000000 },
		       { LF_SCALE, 1 },	    { LF_SIZE, BLOCK },	 { LF_UNUSED, data },	    { LF_SEC, 1 } };
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		lttng_header_store(block, l, false, values[i].field, values[i].value);
}

/* A file of events of the types by turns, whose payloads are noise. */
static void events_add(const char *name)
{
	struct capture_file *f = file_add(name, (size_t)BLOCK * BLOCKS);
	uint64_t stamp = FIRST;
	unsigned turn = 0;

	for (unsigned b = 0; b < BLOCKS; b++) {
		uint8_t *block = f->owned + (size_t)b * BLOCK;
		uint64_t begin = stamp, at = layout()->size;
		for (;; turn++, events++) {
			const unsigned id = types[turn % 4].id, size = types[turn % 4].size;
			if (at + 6 + size > BLOCK)
				break;
			stamp += TICKS + next_byte();
			store_u32(block + at, (id < 29 ? id : 31) << LTTNG_TIME_BITS | (uint32_t)(stamp & LTTNG_TIME_MASK), false);
			at += 4;
			if (id >= 29) {
				store_u16(block + at, (uint16_t)id, false);
				at += 2;
			}
			for (unsigned i = 0; i < size; i++)
				block[at++] = next_byte();
		}
		block_header(block, begin, stamp, at);
	}
}

/* A file whose blocks hold no events. */
static void noise_add(const char *name)
{
	struct capture_file *f = file_add(name, (size_t)BLOCK * BLOCKS);
	for (size_t i = 0; i < f->size; i++)
		f->owned[i] = next_byte();
	for (size_t at = 0; at < f->size; at += BLOCK)
		block_header(f->owned + at, FIRST, FIRST + LTTNG_TIME_MASK, BLOCK);
}

static void begin(void)
{
	memset(&c, 0, sizeof(c));
	c.directory = true;
	noise = 1;
	events = 0;
	struct capture_file *f = file_add("metadata_0", BLOCK);
	block_header(f->owned, FIRST, FIRST, layout()->size);
}

static uint64_t scanned(void)
{
	struct tracemend_options options = { 0 };
	struct scan s = { .in = capture_bundle(&c, NULL, NULL), .profile = "wire" };

	assert_non_null(s.in);
	s.findings = findings_new(lttng_format.rules, lttng_format.rule_count, &options);
	assert_non_null(s.findings);
	assert_int_equal(lttng_format.scan(&s), TM_OK);
	learned = limits = 0;
	right = true;
	for (size_t i = 0; i < findings_kept_count(s.findings); i++) {
		const char *said = findings_kept_at(s.findings, i)->message, *of = strstr(said, "event type "),
			   *has = strstr(said, "payload has ");
		limits += strstr(said, "reached its limit") != NULL;
		if (!of || !has || !strstr(said, " of kernel"))
			continue;
		learned++;
		bool known = false;
		for (size_t k = 0; k < 4; k++)
			known |= types[k].id == strtoul(of + 11, NULL, 10) && types[k].size == strtoul(has + 12, NULL, 10);
		right &= known;
	}
	findings_free(s.findings);
	bundle_free(s.in);
	return s.records;
}

/* All types are learned, with their sizes, and so all events are read. */
static void all_types_are_learned(void **state)
{
	(void)state;
	begin();
	events_add("kernel_0");
	assert_int_equal(scanned(), events);
	assert_int_equal(learned, 4);
	assert_true(right);
	assert_int_equal(limits, 0);
	capture_free(&c);
}

/* A channel of noise in front spends its own budget, and not that of the next. It says so. */
static void noise_costs_no_other_channel(void **state)
{
	(void)state;
	begin();
	for (char name[] = "a_0"; name[0] < 'a' + NOISE_FILES; name[0]++)
		noise_add(name);
	events_add("kernel_0");
	assert_true(scanned() >= events);
	assert_int_equal(learned, 4);
	assert_true(right);
	assert_in_range(limits, 1, NOISE_FILES);
	capture_free(&c);
}

/* Of a block that is cut off, what is left is evidence. */
static void cut_blocks_are_evidence(void **state)
{
	(void)state;
	begin();
	events_add("kernel_0");
	lttng_header_store(c.files[1].owned, layout(), false, LF_SIZE, 2 * BLOCK);
	lttng_header_store(c.files[1].owned, layout(), false, LF_UNUSED, 2 * BLOCK);
	c.files[1].size = BLOCK;
	assert_in_range(scanned(), BLOCK / 16, events);
	assert_int_equal(learned, 4);
	assert_true(right);
	capture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_types_are_learned),
		cmocka_unit_test(noise_costs_no_other_channel),
		cmocka_unit_test(cut_blocks_are_evidence),
	};
	return RUN(tests);
}

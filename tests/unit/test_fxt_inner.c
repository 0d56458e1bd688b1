/* salvage/fxt_inner.c: sound records that stand between damaged ones, or that a torn one took in. */
#include "fxt_check.h"

/* Events in front of the damage and behind it: from eight times on it is known how far apart they are. */
#define EVENTS 10u
/* A word that no record begins with: its size is 0. */
#define NOISE UINT64_C(0xa5a5a5a5a5a50003)

static struct bytes out;
static uint64_t now;

static void event(uint64_t header, uint64_t time)
{
	bytes_u64(&out, header);
	bytes_u64(&out, time);
}

/* An instant of string 1 and thread 1. */
static void instant(void)
{
	now += 100;
	event(fxt_header(FXT_EVENT, 2) | fxt_field(24, 8, 1) | fxt_field(32, 16, 1) | fxt_field(48, 16, 1), now);
}

static void instants(void)
{
	for (unsigned i = 0; i < EVENTS; i++)
		instant();
}

static void begin(void)
{
	bytes_free(&out);
	out = (struct bytes){ 0 };
	now = UINT64_C(1) << 40;
	bytes_u64(&out, FXT_MAGIC);
	bytes_u64(&out, fxt_header(FXT_STRING, 2) | fxt_field(16, 15, 1) | fxt_field(32, 15, 4));
	bytes_append(&out, "name\0\0\0", FXT_WORD);
	bytes_u64(&out, fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, 1));
	event(1000, 1001);
	instants();
}

/* Records that are found, and how many errors. */
static uint64_t records(uint64_t *errors)
{
	struct scan s;
	struct findings *f = fxt_check(&out, false, &s);

	*errors = findings_errors(f);
	fxt_check_end(f, &s);
	return s.records;
}

#define SOUND (3 + 2 * EVENTS)

static void a_record_between_two_damaged_ones_is_found(void **state)
{
	uint64_t errors;

	(void)state;
	begin();
	event(NOISE, now + 10);
	instant();
	event(NOISE, now + 10);
	instants();
	assert_int_equal(records(&errors), SOUND + 1);
	/* One whose time is far from all others is no evidence. */
	begin();
	event(NOISE, now + 10);
	now <<= 20;
	instant();
	now >>= 20;
	event(NOISE, now + 10);
	instants();
	assert_int_equal(records(&errors), SOUND);
}

static void a_record_between_zeros_is_found(void **state)
{
	uint64_t errors;

	(void)state;
	begin();
	event(0, 0);
	instant();
	event(0, 0);
	instants();
	assert_int_equal(records(&errors), SOUND + 1);
}

/* Events behind the record of a thread without its last word, which takes in the header of the first of them. */
static void torn_thread(unsigned index)
{
	uint64_t errors;

	begin();
	bytes_u64(&out, fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, index));
	bytes_u64(&out, 1000);
	instants();
	/* It was given, and is dropped. */
	assert_int_equal(records(&errors), SOUND + 1);
	assert_int_equal(errors, 1);
}

static void what_a_torn_record_took_in_is_found(void **state)
{
	(void)state;
	torn_thread(2);
}

/* Of a torn one that replaces thread 1, the one before is in force again. */
static void a_torn_registration_is_taken_back(void **state)
{
	(void)state;
	torn_thread(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_between_two_damaged_ones_is_found),
		cmocka_unit_test(a_record_between_zeros_is_found),
		cmocka_unit_test(what_a_torn_record_took_in_is_found),
		cmocka_unit_test(a_torn_registration_is_taken_back),
	};

	int failed = RUN(tests);
	bytes_free(&out);
	return failed;
}

/* A small reader of FXT with a planted bug, to try the mutator: with it, libFuzzer or AFL++ finds the bug in seconds; without it,
 * not in many millions of runs. Build commands are in KIT.md.
 *
 * The reader is strict: it requires the magic number, records whose sizes fit the file, and events that their arguments fill to
 * the word. The bug: a blob argument after two others, of an event with inline thread, is assumed to be 255 bytes at most. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t bits(uint64_t word, unsigned low, unsigned width)
{
	return word >> low & ((UINT64_C(1) << width) - 1);
}

/* Words of an inline string. */
static uint64_t inline_words(uint64_t reference)
{
	return reference & 0x8000 ? ((reference & 0x7fff) + 7) / 8 : 0;
}

static int read_event(const uint8_t *p, uint64_t words)
{
	static uint8_t blob[256];
	uint64_t header = word_at(p), count = bits(header, 20, 4), thread = bits(header, 24, 8);
	uint64_t at = 2 + (thread ? 0 : 2) + inline_words(bits(header, 32, 16)) + inline_words(bits(header, 48, 16));

	for (uint64_t i = 0; i < count; i++) {
		if (at >= words)
			return 0;
		uint64_t argument = word_at(p + 8 * at), size = bits(argument, 4, 12), name = inline_words(bits(argument, 16, 16));
		if (!size || size > words - at)
			return 0;
		if (bits(argument, 0, 4) == 10 && i >= 2 && !thread) {
			uint64_t bytes = bits(argument, 32, 32);
			if (1 + name + (bytes + 7) / 8 != size)
				return 0;
			if (bytes >= sizeof(blob))
				abort(); /* the bug: what memcpy() would do */
			memcpy(blob, p + 8 * (at + 1 + name), bytes);
		}
		at += size;
	}
	return at <= words;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 8 || word_at(data) != UINT64_C(0x0016547846040010))
		return 0;
	for (size_t at = 8; size - at >= 8;) {
		uint64_t words = bits(word_at(data + at), 4, 12);
		if (!words || words > (size - at) / 8)
			return 0;
		if (bits(word_at(data + at), 0, 4) == 4 && (words < 2 || !read_event(data + at, words)))
			return 0;
		at += 8 * words;
	}
	return 0;
}

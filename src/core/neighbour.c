#include "core/neighbour.h"

#include <stdbool.h>
#include <string.h>

struct magic {
	size_t at;
	const char *bytes;
	size_t length;
	const char *name;
};

#define MAGIC(at, bytes, name) \
	{ \
		at, bytes, sizeof(bytes) - 1, name \
	}

/* Longer ones first where one begins with another. */
static const struct magic magics[] = {
	MAGIC(0, "PERFILE2", "a perf.data file of Linux perf"),
	MAGIC(0, "2ELIFREP", "a perf.data file of Linux perf, big-endian"),
	MAGIC(0, "\xc1\x1f\xfc\xc1", "a CTF 1 stream, as LTTng 2 and barectf write; babeltrace2 reads it"),
	MAGIC(0, "\xc1\xfc\x1f\xc1", "a CTF 1 stream, big-endian; babeltrace2 reads it"),
	MAGIC(0, "\x57\x1d\xd1\x75", "the metadata of a CTF 1 trace; babeltrace2 reads it"),
	MAGIC(0, "\x75\xd1\x1d\x57", "the metadata of a CTF 1 trace; babeltrace2 reads it"),
	MAGIC(0, "/* CTF 1.", "the metadata of a CTF 1 trace; babeltrace2 reads it"),
	MAGIC(0, "\x1e{\"type\":", "the metadata of a CTF 2 trace; babeltrace2 reads it"),
	MAGIC(0,
	      "\x7f"
	      "ELF",
	      "an ELF file: a program, a library or a core dump"),
	MAGIC(0, "\xcf\xfa\xed\xfe", "a Mach-O program"),
	MAGIC(0, "MZ", "a Windows program"),
	MAGIC(0, "\xd4\xc3\xb2\xa1", "a pcap file of network packets"),
	MAGIC(0, "\xa1\xb2\xc3\xd4", "a pcap file of network packets"),
	MAGIC(0, "\x4d\x3c\xb2\xa1", "a pcap file of network packets"),
	MAGIC(0, "\x0a\x0d\x0d\x0a", "a pcapng file of network packets"),
	MAGIC(0, "LPKSHHRH", "a systemd journal"),
	MAGIC(0, "SQLite format 3", "an SQLite database"),
	MAGIC(0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive, which cannot be unpacked here"),
	MAGIC(0, "Rar!", "a RAR archive, which cannot be unpacked here"),
	MAGIC(0, "bplist00", "an Apple property list"),
	MAGIC(0, "%PDF", "a PDF document"),
	MAGIC(0, "\x89PNG", "a PNG picture"),
	MAGIC(0, "\x00\x61\x73\x6d", "a WebAssembly module"),
	MAGIC(0, "<!DOCTYPE html", "an HTML page; was it downloaded instead of the capture?"),
	MAGIC(0, "<html", "an HTML page; was it downloaded instead of the capture?"),
	MAGIC(0, "<?xml", "an XML file"),
	MAGIC(0, "version https://git-lfs", "a pointer of Git LFS: the capture itself was not fetched (git lfs pull)"),
	MAGIC(0, "#!", "a script"),
	MAGIC(0, "ElfFile\0", "an event log of Windows (EVTX)"),
};

static bool has(const uint8_t *p, size_t length, const char *text)
{
	return memmem(p, length, text, strlen(text)) != NULL;
}

/* Perfetto's own trace is a protobuf: packets of field 1, whose lengths lead from one to the next. */
static bool is_perfetto(const uint8_t *p, size_t length)
{
	size_t at = 0;
	unsigned packets = 0;

	while (at + 2 < length && packets < 4) {
		uint64_t size = 0;
		unsigned shift = 0;
		if (p[at++] != 0x0a)
			return false;
		do {
			if (at >= length || shift > 28)
				return false;
			size |= (uint64_t)(p[at] & 0x7f) << shift;
			shift += 7;
		} while (p[at++] & 0x80);
		/* Each packet begins with the key of a field of a known type. */
		if (size < 2 || at >= length || !p[at] || (p[at] & 7) == 3 || (p[at] & 7) == 4 || (p[at] & 7) > 5)
			return false;
		packets++;
		if (size > length - at)
			return packets > 1;
		at += (size_t)size;
	}
	return packets >= 2;
}

static bool is_text(const uint8_t *p, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (p[i] < 0x09 || (p[i] > 0x0d && p[i] < 0x20) || p[i] == 0x7f)
			return false;
	return length > 0;
}

static const char *text_name(const uint8_t *p, size_t length)
{
	size_t at = 0;

	while (at < length && (p[at] == ' ' || p[at] == '\n' || p[at] == '\r' || p[at] == '\t'))
		at++;
	if (at < length && (p[at] == '{' || p[at] == '[')) {
		if (has(p, length, "\"traceEvents\"") || (has(p, length, "\"ph\"") && has(p, length, "\"ts\"")))
			return "a trace in the JSON of Chrome's about:tracing; Perfetto reads it";
		if (has(p, length, "\"expect\"") && has(p, length, "\"seed\""))
			return "labels that gen wrote";
		return "a JSON file";
	}
	if (has(p, length, "# tracer:"))
		return "the text of /sys/kernel/tracing/trace; the binary capture is what trace-cmd record writes";
	return "a text file";
}

const char *neighbour_name(const uint8_t *p, size_t length)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		const struct magic *m = &magics[i];
		if (length >= m->at + m->length && !memcmp(p + m->at, m->bytes, m->length))
			return m->name;
	}
	if (is_perfetto(p, length))
		return "a protobuf trace of Perfetto; ui.perfetto.dev reads it";
	return is_text(p, length) ? text_name(p, length) : NULL;
}

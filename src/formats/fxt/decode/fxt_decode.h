/* Decoding one record from bytes: shared by the walk, by resynchronisation and by recognition. It depends on nothing but the
 * record: no table, no other record, no file. */
#ifndef FXT_DECODE_H
#define FXT_DECODE_H

#include <stddef.h>
#include <string.h>

#include "core/bytes.h"
#include "core/issue.h"
#include "formats/fxt/fxt.h"

/* Issues of one record; 15 arguments cannot have more. */
#define FXT_ISSUES_MAX 160u

struct fxt_thread_ref {
	uint8_t ref; /* 0: inline */
	bool process_only;
	uint64_t at; /* of the koids, or of the header word */
	uint64_t process, thread;
};

enum fxt_role { FXT_ROLE_NONE, FXT_ROLE_CATEGORY, FXT_ROLE_NAME, FXT_ROLE_ARGUMENT_NAME, FXT_ROLE_ARGUMENT_VALUE };

struct fxt_string_ref {
	uint16_t ref;
	uint8_t role; /* enum fxt_role */
	int8_t argument;
	uint64_t field; /* of the two bytes of the reference */
	uint64_t at;	/* of the inline text */
};

struct fxt_argument_view {
	uint8_t type;
	uint64_t at, words;
	uint64_t value;	   /* 32 or 64 bits, sign not extended; string: the ref; blob: bytes */
	uint64_t value_at; /* of the value word or stream; 0: the value is in the header */
	struct fxt_string_ref name;
};

struct fxt_record {
	const uint8_t *data; /* borrowed: valid until the window that it came from moves */
	uint64_t header;
	uint64_t words;	  /* that the size field claims */
	uint64_t content; /* words that the content takes; valid unless the decode broke off */
	uint8_t type;	  /* enum fxt_type, unassigned values too */
	uint8_t subtype;  /* metadata, event, scheduling, profiler or large type */
	uint8_t blob_format;
	uint8_t argument_count, thread_count, string_count, object_type;
	bool known;	   /* type and subtype are assigned: the content was decoded */
	bool fatal;	   /* the record cannot be used */
	bool broken_off;   /* content is not known */
	bool odd;	   /* legal, but no anchor for resynchronisation */
	bool extended;	   /* trailing words of a known extension */
	bool swapped;	   /* arguments are in the other byte order */
	bool shifted;	   /* the size of the payload was at the wrong bits; header: as it should be */
	bool late_padding; /* the end of the payload was not in the window: its padding is still to be checked */
	bool has_timestamp, has_tail;
	uint8_t cpu_bits, out_state;
	uint16_t cpu;
	uint32_t id;			     /* provider id, string or thread index, blob type */
	uint64_t timestamp, tail;	     /* tail: end time, counter or correlation id, pointer or koid of objects, ticks */
	uint64_t text_at, text_length;	     /* of string, provider and log records */
	uint64_t payload_at, payload_length; /* of blobs */
	struct fxt_thread_ref threads[2];
	uint64_t work;	      /* bytes of text that were examined */
	struct issues issues; /* in issue_list; those of an argument have its number in `which` */
	struct issue fault;   /* why the record cannot be used, when it is fatal; length 0: no reason */
	/* Not cleared between records; counts tell what is valid. */
	struct fxt_argument_view arguments[FXT_ARGUMENTS_MAX];
	struct fxt_string_ref strings[2 + 2 * FXT_ARGUMENTS_MAX];
	struct issue issue_list[FXT_ISSUES_MAX];
	struct issue unlisted; /* takes the values of an issue that had no room */
};

/* An empty record with room for issues. */
static inline void fxt_record_clear(struct fxt_record *r)
{
	memset(r, 0, offsetof(struct fxt_record, arguments));
	r->issues.list = r->issue_list;
	r->issues.room = FXT_ISSUES_MAX;
}

struct fxt_decoder {
	bool big_endian;
	enum fxt_profile profile;
	uint64_t flip; /* bits of the header to read inverted */
};

#define FXT_DECODE_IGNORE_SIZE 1u /* find out where the content ends, whatever the size field says */
#define FXT_DECODE_STRICT 2u	  /* stop at the first byte that is not text */

/* Bytes from the header that decoding may examine, however large the record: text and arguments, not payloads. */
#define FXT_DECODE_SPAN (1024u * 1024)

/* Words that the header claims. */
static inline uint64_t fxt_size(uint64_t header)
{
	return (header & 15) == FXT_LARGE ? fxt_bits(header, 4, 32) : fxt_bits(header, 4, 12);
}

/* Bytes that fxt_decode() wants in sight of a record of so many words. */
static inline size_t fxt_span(uint64_t words)
{
	return words < FXT_DECODE_SPAN / FXT_WORD ? (size_t)(words * FXT_WORD) : FXT_DECODE_SPAN;
}

/* Decodes the record at data. have: bytes in sight, at least 8, best fxt_span(); left: bytes to the end
 * of the file, have <= left. True unless r->fatal. */
bool fxt_decode(const struct fxt_decoder *d, struct fxt_record *r, const uint8_t *data, uint64_t have, uint64_t left,
		unsigned flags);

/* 0 when all eight bytes of a word are printable ASCII. A byte above 0x7f may carry into the next one, so it is rejected. */
static inline uint64_t fxt_word_not_ascii(uint64_t w)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
	/* Beyond 0x7f; below 0x20; 0x7f itself. */
	return (w | ~(w + ones * 0x60) | (w + ones)) & high;
}

static inline bool fxt_word_is_plain(uint64_t w)
{
	return !fxt_word_not_ascii(w);
}

/* Of the last word of a stream, by its length modulo 8: the bytes that are padding. */
extern const uint64_t fxt_unused_bytes[FXT_WORD];

/* True when a stream of text is printable ASCII and its padding is zero: no rule but those of its length can apply. text has
 * fxt_words(length) whole words. */
static inline bool fxt_text_is_plain(const uint8_t *text, uint64_t length)
{
	const uint64_t unused = fxt_unused_bytes[length % FXT_WORD];
	if (!length)
		return true;
	for (; length > FXT_WORD; length -= FXT_WORD, text += FXT_WORD)
		if (!fxt_word_is_plain(load_u64(text, false)))
			return false;
	uint64_t w = load_u64(text, false);
	return !(w & unused) && fxt_word_is_plain(w | (UINT64_C(0x2020202020202020) & unused));
}

/* True when the record was hit, as far as it shows: it has faults, and not those that a writer makes. */
static inline bool fxt_is_hit(const struct fxt_record *r)
{
	return r->issues.worst == TM_ERROR && !r->swapped && !r->shifted;
}

/* True when the record has no fault, and ends where its size says. */
static inline bool fxt_is_exact(const struct fxt_record *r)
{
	return !r->fatal && r->known && r->issues.worst == TM_NOTE && (r->content == r->words || r->extended);
}

/* And when nothing about it is odd: the walk may be resumed at it. */
static inline bool fxt_is_strict(const struct fxt_record *r)
{
	return fxt_is_exact(r) && !r->odd;
}

/* Expected words of an argument's value and the bits of its header that must be zero. Streams are not counted. */
struct fxt_argument_layout {
	uint8_t words;
	uint64_t reserved;
};
extern const struct fxt_argument_layout fxt_argument_layouts[16];
/* Words after the arguments, by event type. */
extern const uint8_t fxt_event_tails[16];

/* Bytes at the beginning of a file in which records are looked for, where it has no magic number record. */
#define FXT_PROBE_BYTES (64u * 1024)
/* Strict records in a row by which that is known: so many anywhere in these bytes; or the fewest, in the first bytes only. */
#define FXT_PROBE_SURE 8u
#define FXT_PROBE_LEAST 3u
#define FXT_PROBE_NEAR 4096u
/* How many follow each other there, in either byte order and at any byte: the longest chain up to FXT_PROBE_SURE; 0: fewer than
 * FXT_PROBE_LEAST. Two with which the file ends count as FXT_PROBE_SURE. left: bytes of the file. */
unsigned fxt_probe(const uint8_t *data, size_t length, uint64_t left, bool *big_endian, size_t *offset);

#endif

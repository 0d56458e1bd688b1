/* An outline: what a capture is made of, for those who take captures apart and put them together again (the fuzzing
 * mutator, `tracemend reduce`).
 *
 * A flat array of parts that form a tree: files, groups (chunk, page, section, block, line list), records, and bytes that
 * have no further structure. These tile their parent exactly: writing all leaves in order gives the file. Fields lie on top
 * of a leaf: they name some of its bytes, or bits, and say what they mean. A field that measures (a size, count or offset)
 * names the part that it measures; a padding knows what it fills up to. So what must change when something is taken out
 * or put in is known to this file, and to no format: outline_write() sets it right.
 *
 * What is coded (compressed) has a file of its own in the outline, a stream, whose tree is edited as any other; its bytes are
 * coded again when it changes.
 *
 * A measure that was wrong in the input is no measure: writing an unedited outline gives the input, byte for byte. */
#ifndef CORE_OUTLINE_H
#define CORE_OUTLINE_H

#include "core/bundle.h"
#include "core/bytes.h"

/* Parts of an outline. Beyond it: TM_LIMIT. 72 bytes apiece. */
#define OUTLINE_PARTS_MAX (4u * 1024 * 1024)
/* Bytes of all files, and of all that is put in. Beyond it: TM_LIMIT. */
#define OUTLINE_BYTES_MAX (64u * 1024 * 1024)
/* Bytes of all streams. What is coded beyond it stays bytes. */
#define OUTLINE_STREAMS_MAX (8u * 1024 * 1024)
/* Parts that are open at a time. Deeper ones are not opened: their bytes belong to the innermost. */
#define OUTLINE_DEPTH_MAX 24u
/* No part. */
#define OUTLINE_NONE UINT32_MAX

enum part_kind {
	PART_FILE,    /* one file of the capture */
	PART_GROUP,   /* something that holds records: must stay unless PART_LOOSE says otherwise */
	PART_RECORD,  /* a unit that the format counts, and that can be left out */
	PART_BYTES,   /* header, trailer, damage */
	PART_PADDING, /* as long as its alignment asks */
	PART_FIELD,
};

/* CHECKSUM: what follows from bytes by a computation that is not done here: a compressed stream, its decoded size. */
enum field_kind {
	FIELD_SIZE,
	FIELD_COUNT,
	FIELD_OFFSET,
	FIELD_REFERENCE,
	FIELD_ID,
	FIELD_TIME,
	FIELD_TAG,
	FIELD_FLAGS,
	FIELD_VALUE,
	FIELD_TEXT,
	FIELD_MAGIC,
	FIELD_CHECKSUM,
	FIELD_KINDS
};

enum field_coding { CODING_BINARY, CODING_DECIMAL, CODING_HEX };

enum field_measure {
	MEASURE_NOTHING,
	MEASURE_LENGTH, /* bytes of the target */
	MEASURE_COUNT,	/* records, groups and files right below the target */
	MEASURE_START,	/* where the target begins, from the beginning of the base */
	MEASURE_CODED,	/* no number: the bytes of the stream that is the target, coded */
};

enum part_flags {
	PART_FIXED = 1, /* must not be left out, moved or doubled: there is one, at its place. Of a field: its length is given */
	PART_LOOSE = 2, /* a group or file that can be left out as a whole */
	PART_BIG_ENDIAN = 4,
	PART_DELETED = 8,
	PART_SET = 16,	    /* a field with a value of the editor's: outline_write() leaves it alone */
	PART_REPLACED = 32, /* a field or leaf with other bytes */
	PART_POOLED = 64,   /* the bytes are in the pool, not in the file */
	PART_REFIXED = 128, /* a measure whose value is outline_write()'s */
};

struct part {
	const char *name;			      /* static: "event", "name ref". Equal names mean parts of the same kind */
	uint64_t value;				      /* PART_SET: the value. PART_REPLACED: offset in the pool << 32 | length */
	int64_t bias;				      /* of a measure: stored = measured / unit + bias */
	uint32_t parent, first, last, next, previous; /* the tree; siblings in order of their place */
	uint32_t fields;			      /* the first field on top of this leaf; they are linked by next */
	uint32_t file;				      /* index in outline.files */
	uint32_t offset, length; /* its bytes, as they were in the file or the pool; a field: of the word that its bits are in */
	uint32_t target, base;	 /* of a measure. Padding: base is what it counts from; OUTLINE_NONE: the file */
	uint32_t unit; /* of a measure: bytes; of padding: the alignment; of another part: that of its start in the file */
	uint32_t room; /* a group: bytes it may have at most; 0: no bound */
	uint8_t kind, field, coding, measure;
	uint8_t shift, width; /* of bits in their word; width 0: all of it */
	uint8_t flags;
	uint8_t fill; /* byte that padding is made of */
};

/* Appends the coded bytes. False when it cannot. */
typedef bool (*outline_encode)(int codec, const void *bytes, size_t size, struct bytes *out);

struct outline_file {
	const struct source *source; /* NULL: a stream */
	const char *name;
	const uint8_t *data;
	uint32_t size;
	uint32_t part;
	/* a stream: */
	uint32_t field; /* that holds it, coded */
	outline_encode encode;
	int codec;
	struct bytes plain, coded; /* what outline_write() made of it; empty: it is as it was */
};

struct outline {
	struct bundle *in; /* borrowed; not needed after outline_make() */
	struct part *parts;
	uint32_t count;
	size_t capacity;
	struct outline_file *files; /* one a regular input file of the bundle, in its order; then the streams */
	uint32_t file_count, stream_count;
	uint32_t stream_bytes;
	struct bytes pool; /* what editors put in */
	bool fields;	   /* wanted: all fields. Else only those that measure */
	bool big_endian;   /* for fields made from now on */
	bool directory;
	enum tracemend_status status; /* sticky */
	struct {		      /* what the builder has open */
		uint32_t part, pending, pending_last;
	} open[OUTLINE_DEPTH_MAX];
	uint32_t depth, refused;
	uint32_t at;		    /* bytes of the open file that have their part */
	uint32_t *starts, *lengths; /* by part: where outline_write() put it; valid after it */
};

struct format;

/* Takes a capture apart. fields: whether all fields are wanted, or only those that sizes depend on. TM_LIMIT for what is
 * larger than the limits above; then o is empty. outline_free() in every case. */
enum tracemend_status outline_make(struct outline *o, struct bundle *in, const struct format *f, const char *profile, bool fields);
void outline_free(struct outline *o);

/* ---- for formats: declaring parts, front to back ---- */

/* Files are opened by index. What a format does not open is one file of bytes. All offsets are within the open file; those
 * that lie before what has been declared, or beyond the end, are moved to it: nothing that the input says breaks the tree.
 * A gap before a part, or before the end, becomes PART_BYTES, and takes the fields that were declared in it. */
uint32_t outline_open_file(struct outline *o, uint32_t file, const char *name, unsigned flags);
void outline_close_file(struct outline *o);
/* Opens a part at offset; everything declared until its outline_close() is within it. OUTLINE_NONE where it cannot: closing
 * is due all the same. */
uint32_t outline_open(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, unsigned flags);
void outline_close(struct outline *o, uint64_t end);
/* outline_open() and outline_close(). */
uint32_t outline_leaf(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, uint64_t length, unsigned flags);
/* Padding from offset to end, up to a multiple of alignment counted from the start of base. */
uint32_t outline_padding(struct outline *o, uint64_t offset, uint64_t end, uint32_t alignment, uint32_t base);
/* A field of the innermost open part, in the order of their offsets; within a word, of their bits. */
uint32_t outline_field(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length);
uint32_t outline_bits(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length, unsigned shift,
		      unsigned width);
/* What a field measures. The target may be declared later than the field. Any index may be OUTLINE_NONE. */
void outline_measure(struct outline *o, uint32_t field, enum field_measure measure, uint32_t target, uint32_t unit, int64_t bias);
void outline_measure_from(struct outline *o, uint32_t field, uint32_t target, uint32_t base, uint32_t unit, int64_t bias);
void outline_coding(struct outline *o, uint32_t field, enum field_coding coding);
/* The part starts at a multiple of alignment in its file; where it does not, outline_write() puts zeros before it. */
void outline_align(struct outline *o, uint32_t part, uint32_t alignment);
/* A field whose length is given, or a part that must stay. */
void outline_fix(struct outline *o, uint32_t part);
/* The group has at most so many bytes. */
void outline_room(struct outline *o, uint32_t part, uint32_t bytes);
/* Fields for the words of a piece of text: decimal and hexadecimal numbers as values, all else as text. */
void outline_words(struct outline *o, uint64_t from, uint64_t end);

/* A stream: what the field holds, decoded; owns `data` (malloc) from then on. Its index as a file, to be opened and closed when
 * the others are closed, or OUTLINE_NONE: there are too many bytes of them. Other fields may measure its part. */
uint32_t outline_stream(struct outline *o, uint32_t field, uint8_t *data, uint32_t size, outline_encode encode, int codec);

/* For formats of which only the walk knows the parts: a scan that has the outline and nothing else to do. */
enum tracemend_status outline_by_scan(struct outline *o, const struct format *f, const char *profile);

/* ---- for editors ---- */

/* The first bytes of a part that is not edited, or NULL. */
const uint8_t *outline_bytes(const struct outline *o, uint32_t part);
/* The stored value of a numeric field; 0 for text and for more than 8 bytes. */
uint64_t outline_value(const struct outline *o, uint32_t field);
bool outline_is_number(const struct part *p);

/* Leaves a part out, with all below it; brings it back. */
void outline_delete(struct outline *o, uint32_t part);
void outline_restore(struct outline *o, uint32_t part);
/* Copies a part of `from` (which may be o itself) with all below it into `parent`, before its child `before` (OUTLINE_NONE:
 * at its end). Measures within the copy stay; of those that lead out, only copies within o keep theirs. */
uint32_t outline_copy(struct outline *o, const struct outline *from, uint32_t part, uint32_t parent, uint32_t before);
/* Exchanges two parts of which none is within the other. */
void outline_swap(struct outline *o, uint32_t a, uint32_t b);
/* Gives a numeric field a value, cut to its width, and text or a leaf other bytes. */
void outline_set(struct outline *o, uint32_t field, uint64_t value);
void outline_replace(struct outline *o, uint32_t part, const void *bytes, size_t length);

/* What became of a file. */
struct outline_output {
	uint32_t file;
	bool deleted;
	struct bytes bytes;
};

/* Writes all files after refixing: padding gets its length, and each measure that is not PART_SET its value. *misfits (may
 * be NULL) counts measures that do not fit their field and groups that outgrew their room. outputs has file_count members,
 * zero-initialised; the caller frees their bytes. */
enum tracemend_status outline_write(struct outline *o, struct outline_output *outputs, uint32_t *misfits);

#endif

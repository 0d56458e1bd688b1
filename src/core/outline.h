/* An outline: the structure of a capture as a tree of parts, for code that takes captures apart and puts them together again (the
 * fuzzing mutator, `tracemend reduce`).
 *
 * The parts are a flat array that forms a tree: files, groups (chunk, page, section, block, line list), records, and bytes without
 * further structure. They tile their parent exactly: the leaves in order are the file. Fields lie within a leaf: each names some
 * of its bytes or bits, and their meaning. A field that measures (a size, count or offset) refers to the part that it measures;
 * padding has the alignment that it fills up to. So the knowledge of what must change when something is removed or inserted is
 * here and not in the formats: outline_write() corrects it.
 *
 * What is encoded (compressed) is a further file of the outline, a stream. Its tree is edited like the others, and it is encoded
 * again when it changed.
 *
 * A measure whose value is wrong in the input is not treated as a measure: writing an outline that was not edited gives the input,
 * byte for byte. */
#ifndef CORE_OUTLINE_H
#define CORE_OUTLINE_H

#include "core/bundle.h"
#include "core/bytes.h"

/* Parts of an outline. More: TM_LIMIT. 72 bytes each. */
#define OUTLINE_PARTS_MAX (4u * 1024 * 1024)
/* Bytes of all files, and of everything inserted. More: TM_LIMIT. */
#define OUTLINE_BYTES_MAX (64u * 1024 * 1024)
/* Bytes of all streams. Beyond it, encoded data stays bytes. */
#define OUTLINE_STREAMS_MAX (8u * 1024 * 1024)
/* Parts that are open at a time. Deeper ones are not opened: their bytes belong to the innermost open part. */
#define OUTLINE_DEPTH_MAX 24u
/* No part. */
#define OUTLINE_NONE UINT32_MAX

enum part_kind {
	PART_FILE,    /* one file of the capture */
	PART_GROUP,   /* contains records; must stay unless PART_LOOSE is set */
	PART_RECORD,  /* a unit that the format counts, and that can be removed */
	PART_BYTES,   /* header, trailer, damage */
	PART_PADDING, /* its length follows from its alignment */
	PART_FIELD,
};

/* CHECKSUM: computed from other bytes in a way that outline_write() does not know: a compressed stream, its decoded size. */
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
	MEASURE_COUNT,	/* records and groups that are children of the target */
	MEASURE_START,	/* offset of the target from the start of the base */
	MEASURE_CODED,	/* not a number: the encoded bytes of the stream that is the target */
};

enum part_flags {
	PART_FIXED = 1, /* must not be removed, moved or doubled. Of a field: its length is fixed */
	PART_LOOSE = 2, /* a group or file that can be removed as a whole */
	PART_BIG_ENDIAN = 4,
	PART_DELETED = 8,
	PART_SET = 16,	    /* a field whose value was set by the editor: outline_write() does not change it */
	PART_REPLACED = 32, /* a field or leaf whose bytes were replaced */
	PART_POOLED = 64,   /* the bytes are in the pool, not in the file */
	PART_REFIXED = 128, /* a measure with a value from outline_write() */
};

struct part {
	const char *name;			      /* static: "event", "name ref". Parts of the same kind have equal names */
	uint64_t value;				      /* PART_SET: the value. PART_REPLACED: offset in the pool << 32 | length */
	int64_t bias;				      /* of a measure: stored = measured / unit + bias */
	uint32_t parent, first, last, next, previous; /* the tree; siblings in the order of their offsets */
	uint32_t fields;			      /* the first field of this leaf; fields are linked by next */
	uint32_t file;				      /* index in outline.files */
	uint32_t offset, length;		      /* its bytes in the file or the pool; of a bit field: those of its word */
	uint32_t target,
		base;  /* of a measure. Of padding: the part that the alignment counts from is base; OUTLINE_NONE: the file */
	uint32_t unit; /* of a measure: bytes per unit; of padding: the alignment; of another part: the alignment of its start */
	uint32_t room; /* of a group: its maximal size in bytes; 0: no limit */
	uint8_t kind, field, coding, measure;
	uint8_t shift, width; /* of the bits in their word; width 0: the whole word */
	uint8_t flags;
	uint8_t fill; /* the byte that padding consists of */
};

/* Appends the encoded bytes. False on failure. */
typedef bool (*outline_encode)(int codec, const void *bytes, size_t size, struct bytes *out);

struct outline_file {
	const struct source *source; /* NULL: a stream */
	const char *name;
	const uint8_t *data;
	uint32_t size;
	uint32_t part;
	/* a stream: */
	uint32_t field; /* that contains it, encoded */
	outline_encode encode;
	int codec;
	struct bytes plain, coded; /* contents and encoding as last laid out by outline_write(); empty: unchanged */
};

struct outline {
	struct bundle *in; /* borrowed; unused after outline_make() */
	struct part *parts;
	uint32_t count;
	size_t capacity;
	struct outline_file *files; /* one for each regular input file of the bundle, in its order; then the streams */
	uint32_t file_count, stream_count;
	uint32_t stream_bytes;
	struct bytes pool; /* bytes inserted by editors */
	bool fields;	   /* all fields are wanted; else only those that measure */
	bool big_endian;   /* of fields declared from now on */
	bool directory;
	enum tracemend_status status; /* sticky */
	struct {		      /* the parts that are open while building */
		uint32_t part, pending, pending_last;
	} open[OUTLINE_DEPTH_MAX];
	uint32_t depth, refused;
	uint32_t at;		    /* end of the declared bytes in the open file */
	uint32_t *starts, *lengths; /* by part: where outline_write() put it; valid after that */
};

struct format;

/* Makes the outline of a capture. fields: whether all fields are wanted, or only those that measure. TM_LIMIT when a limit above
 * is exceeded; then o is empty. outline_free() is due in every case. */
enum tracemend_status outline_make(struct outline *o, struct bundle *in, const struct format *f, const char *profile, bool fields);
void outline_free(struct outline *o);

/* ---- for formats: declaring parts, front to back ---- */

/* Files are opened by index; a file that the format does not open is a part of bytes. All offsets are within the open file. An
 * offset before the end of what was declared, or past the end of the file, is moved there: nothing in the input can break the
 * tree. A gap before a part, or before the end, becomes PART_BYTES, and gets the fields that were declared in it. */
uint32_t outline_open_file(struct outline *o, uint32_t file, const char *name, unsigned flags);
void outline_close_file(struct outline *o);
/* Opens a part at offset; what is declared until its outline_close() is within it. OUTLINE_NONE when it cannot be opened;
 * outline_close() is due all the same. */
uint32_t outline_open(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, unsigned flags);
void outline_close(struct outline *o, uint64_t end);
/* outline_open(), then outline_close(). */
uint32_t outline_leaf(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, uint64_t length, unsigned flags);
/* Padding from offset to end, which is a multiple of alignment, counted from the start of base. */
uint32_t outline_padding(struct outline *o, uint64_t offset, uint64_t end, uint32_t alignment, uint32_t base);
/* A field of the innermost open part. Fields are declared in the order of their offsets; those of one word in the order of their
 * bits. */
uint32_t outline_field(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length);
uint32_t outline_bits(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length, unsigned shift,
		      unsigned width);
/* Sets what a field measures. The target may be declared after the field. Any index may be OUTLINE_NONE. */
void outline_measure(struct outline *o, uint32_t field, enum field_measure measure, uint32_t target, uint32_t unit, int64_t bias);
void outline_measure_from(struct outline *o, uint32_t field, uint32_t target, uint32_t base, uint32_t unit, int64_t bias);
void outline_coding(struct outline *o, uint32_t field, enum field_coding coding);
/* The part starts at a multiple of alignment in its file; outline_write() puts zeros before it where needed. */
void outline_align(struct outline *o, uint32_t part, uint32_t alignment);
/* The length of the field is fixed, or the part must stay. */
void outline_fix(struct outline *o, uint32_t part);
/* The group has `bytes` bytes at most. */
void outline_room(struct outline *o, uint32_t part, uint32_t bytes);
/* Declares a field for each word of a text: decimal and hexadecimal numbers as values, other words as text. */
void outline_words(struct outline *o, uint64_t from, uint64_t end);

/* Declares a stream: the decoded content of the field. Takes ownership of `data` (malloc). Returns its index as a file, to be
 * opened and closed when the others are closed, or OUTLINE_NONE: the limit on streams was reached. Other fields may measure its
 * part. */
uint32_t outline_stream(struct outline *o, uint32_t field, uint8_t *data, uint32_t size, outline_encode encode, int codec);

/* For formats whose parts only the walk knows: runs the scan with the outline as its only output. */
enum tracemend_status outline_by_scan(struct outline *o, const struct format *f, const char *profile);

/* ---- for editors ---- */

/* The bytes of a part that was not edited, or NULL. */
const uint8_t *outline_bytes(const struct outline *o, uint32_t part);
/* The stored value of a numeric field; 0 for text and for more than 8 bytes. */
uint64_t outline_value(const struct outline *o, uint32_t field);
bool outline_is_number(const struct part *p);

/* Removes a part with everything below it; restores it. */
void outline_delete(struct outline *o, uint32_t part);
void outline_restore(struct outline *o, uint32_t part);
/* Copies a part of `from` (which may be o itself) with everything below it into `parent`, before its child `before` (OUTLINE_NONE:
 * at its end). Measures whose target is in the copy are kept; those of other targets only in a copy within o. */
uint32_t outline_copy(struct outline *o, const struct outline *from, uint32_t part, uint32_t parent, uint32_t before);
/* Exchanges two parts, neither of which contains the other. */
void outline_swap(struct outline *o, uint32_t a, uint32_t b);
/* Sets the value of a numeric field, cut to its width; replaces the bytes of a text field or a leaf. */
void outline_set(struct outline *o, uint32_t field, uint64_t value);
void outline_replace(struct outline *o, uint32_t part, const void *bytes, size_t length);

/* A file as written. */
struct outline_output {
	uint32_t file;
	bool deleted;
	struct bytes bytes;
};

/* Writes all files. Padding gets its length, and each measure that is not PART_SET its value. *misfits (may be NULL) counts
 * measures whose value does not fit their field, and groups larger than their room. outputs has file_count members,
 * zero-initialised; the caller frees their bytes. */
enum tracemend_status outline_write(struct outline *o, struct outline_output *outputs, uint32_t *misfits);

#endif

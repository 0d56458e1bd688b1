/* The metadata: the initial block, the blocks of texts, and the events, addresses and processes in them. */
#ifndef TRACEDAT_METADATA_H
#define TRACEDAT_METADATA_H

#include "core/bytes.h"
#include "core/map.h"
#include "formats/tracedat/decode/tracedat_field.h"
#include "formats/tracedat/repair/tracedat_pieces.h"
#include "formats/tracedat/scan/tracedat_pids.h"

struct finding;

/* A range of the file as it is, or the decoded content of a compressed section. */
struct tracedat_block {
	uint8_t *data; /* owned; a NUL follows */
	size_t size;
	uint64_t offset;    /* in the file: of data[0], or of the compressed section's header */
	uint64_t stored;    /* bytes in the file */
	size_t formats_end; /* where the lists of formats end in it; 0: nothing else is behind them */
	bool compressed;
	const char *name; /* "event formats": begins a finding's path */
};

/* The initial block, and the compression header of v7. */
struct tracedat_prefix {
	uint8_t user_long;
	bool page_size_bad, lost; /* lost: all of it is inferred from the content */
	bool torn;		  /* another trace.dat begins inside of it */
	bool codec_bad;		  /* v7: the name of the compressor cannot be kept */
	uint64_t end;		  /* of the common 18 bytes */
	uint64_t header_end;	  /* v7: of the compression header */
	uint64_t options_offset;  /* v7 */
	size_t version_length;	  /* bytes of the version string with its NUL, as it is */
	uint64_t options_at;	  /* v7: where the offset is */
};

/* Where the texts of the header block are, and what is wrong with them. */
struct tracedat_header_place {
	size_t size_at, text, text_size; /* header_page in its block */
	size_t event_size_at, event, event_size;
	bool page_tag_bad, event_tag_bad, page_lost, event_lost, regenerate;
	bool long_stated; /* two fields of header_page agree about the long size */
	const struct tracedat_block *block;
	unsigned rule;
};

/* The blocks of metadata, and their repaired form. */
struct tracedat_metadata {
	struct tracedat_block v6;
	struct tracedat_pieces parts[TRACEDAT_PARTS];
	bool seen[TRACEDAT_PARTS];
	const struct tracedat_block *blocks[TRACEDAT_PARTS];
	struct tracedat_header_place header;
	uint32_t header_page_size; /* as header_page implies; 0: unknown */
	bool cut;		   /* v6: the file ends inside of one of its texts */
	uint64_t errors;	   /* found in the metadata, before the data is placed */
	uint64_t stop;		   /* v6: end of all metadata before the CPU data */
	uint64_t other;		   /* v6: where another trace.dat begins behind or inside of it; 0: nowhere */
};

/* ---- events ---- */

struct tracedat_dynamic {
	uint16_t offset; /* of the field in the payload */
	bool relative;	 /* __rel_loc: the offset counts from the end of the field */
	bool text;	 /* char: a NUL is expected */
};

/* As many bytes behind the fixed ones as there are. Less than half of all numbers, so that a size below the fixed one, less that,
 * is not taken for one. */
#define TRACEDAT_SLACK_ANY 0x7fffffffu

struct tracedat_event {
	uint32_t id;
	uint32_t fixed;	  /* bytes that a payload has at least */
	uint32_t slack;	  /* bytes that it may have more */
	uint32_t dynamic; /* first of its dynamic fields in tracedat.dynamics */
	uint16_t dynamic_count;
	uint16_t printk; /* offset of a pointer into the printk formats; 0: none */
	uint16_t ip[2];	 /* offsets of kernel text addresses; 0: none */
	bool open;	 /* its records may have more bytes than fields and dynamic arrays */
	bool loose;	 /* programs write its records: any bytes may stand behind the fields and dynamic arrays */
	bool special;	 /* one of the above is set, or its ID is contested */
	bool contested;	 /* another format has its ID */
	const struct tracedat_block *block;
	size_t text, text_size; /* of its format in the block */
	bool doubtful;		/* its name or its system was hit: its records are listed */
	bool placeholder;	/* made by repair for a format that is lost */
	bool blind;		/* its format is lost: nothing shows whether a record of it was hit */
	struct finding *odd;	/* reports a record of odd_size bytes, which are too few or too many; NULL: none does */
	uint32_t odd_size;
	uint64_t hash;		   /* of system and name */
	char system[24], name[40]; /* for messages; cut */
};

/* What the fast path asks of a record of an event that is not special; zeros: no record has that. */
struct tracedat_plain {
	uint32_t fixed, slack; /* as of the event */
};

/* A format whose ID is invalid, or used twice. */
struct tracedat_unassigned {
	struct bytes text;
	size_t id_at, id_end;  /* of the line with the ID in the text */
	uint32_t fixed, slack; /* as of an event */
	uint64_t hash;
	uint32_t claim;		 /* the ID that is used twice; 0: the ID is invalid */
	int rival;		 /* index of the first format with that ID; -1: none */
	bool holder, moved;	 /* holder: the first with the ID; moved: it gets another ID, and its rival this one */
	uint32_t id;		 /* that is assigned; 0: none */
	uint64_t offset, stored; /* in the file: of the text, or of the compressed section */
};

struct tracedat_unknown {
	struct finding *finding;
	uint64_t records;
	uint32_t least, most; /* bytes of their payloads */
};

/* The events that the formats describe. */
struct tracedat_events {
	bool lost;		 /* some formats are lost */
	bool trusted;		 /* no error was found in front of the pages */
	bool doubtful;		 /* the name of the system that is parsed was hit */
	bool size_near;		 /* the format that is parsed has nearly the size that is stated */
	bool text_hit;		 /* the same for the text of the format that is parsed */
	uint64_t *doubtful_ids;	 /* bitmap of its events; made when the first is met */
	struct finding *finding; /* the first finding about a lost format; it explains records without a format */
	struct finding *garbled; /* the first one about torn text in the compressed block that is parsed: what was decoded behind
				    a hit is garbled wherever it repeats what was hit, which it explains */
	size_t systems;		 /* of the event formats */
	uint16_t *index;	 /* by id: 1 + index in list; 65536 of them */
	struct tracedat_plain *plain; /* by id; 65536 of them */
	struct tracedat_event *list;
	size_t count, capacity;
	struct tracedat_dynamic *dynamics;
	size_t dynamic_count, dynamic_capacity;
	struct map names;		  /* hashes of system and name */
	struct bytes common;		  /* the common block of the first good format */
	uint32_t common_size;		  /* bytes of it in a record */
	struct tracedat_field *fields;	  /* scratch of the format parser */
	struct tracedat_unknown *unknown; /* by id, of records without a format; made when the first is met */
	struct tracedat_unassigned unassigned[TRACEDAT_UNASSIGNED_MAX];
	size_t unassigned_count;
	uint32_t blk_id;	/* of blktrace records without a format; 0: none */
	unsigned measures;	/* searches for the end of a format: bounded */
	uint64_t *placeholders; /* repair: bitmap of ids that get a placeholder */
};

/* The event of an id, or NULL. */
static inline const struct tracedat_event *tracedat_event_of(const struct tracedat_events *events, uint32_t id)
{
	uint16_t index = events->index[id & 0xffff];
	return index ? &events->list[index - 1] : NULL;
}

/* ---- addresses and processes ---- */

struct tracedat_message {
	uint64_t address, hash;
};

/* A text of another size than stated, of whose lines nothing shows which one was hit; length 0: there is none. */
struct tracedat_text_odd {
	uint64_t offset, length; /* in the file */
};

/* The content of kallsyms, printk formats and command lines. */
struct tracedat_texts {
	struct tracedat_pids pids;	 /* that are known */
	struct tracedat_message *printk; /* sorted by address */
	size_t printk_count, printk_capacity;
	uint64_t symbol_low, symbol_high;
	bool symbols, cmdlines; /* there are any */
	struct tracedat_text_odd odd[3];
};

#endif

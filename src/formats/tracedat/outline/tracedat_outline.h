/* What the files of the outline share: one file being taken apart after its walk, which found sections and CPU data. */
#ifndef TRACEDAT_OUTLINE_H
#define TRACEDAT_OUTLINE_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* What a field holds in compressed form: the pages of a chunk, or the body of a section. It is outlined when the file is. */
struct tracedat_coded {
	uint32_t compressed, decoded; /* fields: the bytes, and how many they were */
	uint32_t page_size;	      /* of a chunk; 0: a section */
	unsigned id;		      /* of a section */
};

/* A field that measures what begins at an offset of the file. It is settled when all parts are known. */
struct tracedat_pointer {
	uint32_t field;
	uint64_t to;
	bool length; /* of what is there, else its offset */
};

struct tracedat_anchor {
	uint64_t at;
	uint32_t part;
	int64_t bias; /* of the size that is stated for it */
};

/* The data of one CPU, or the record of an instance (v6), in the order of their offsets. */
struct tracedat_place_item {
	uint64_t at, length;
	int64_t bias; /* stated size - length */
	bool astray;  /* not what the CPU recorded */
	const struct tracedat_buffer *buffer;
	const struct tracedat_cpu *cpu; /* NULL: the record of an instance */
};

struct tracedat_sketch {
	struct tracedat_walk *w;
	struct outline *o;
	const uint8_t *data;
	uint64_t size;
	bool be;
	struct tracedat_pointer *pointers;
	size_t pointer_count, pointer_capacity;
	struct tracedat_anchor *anchors;
	size_t anchor_count, anchor_capacity;
	struct tracedat_coded *coded;
	size_t coded_count, coded_capacity;
	struct tracedat_place_item *items;
	size_t item_count, next_item;
};

/* tracedat_outline_sketch.c, tracedat_outline_section.c: both versions */
void tracedat_sketch_offset(struct tracedat_sketch *s, uint64_t at);
void tracedat_sketch_pointer(struct tracedat_sketch *s, uint32_t field, uint64_t to, bool length);
void tracedat_sketch_anchor(struct tracedat_sketch *s, uint64_t at, uint32_t part, int64_t bias);
uint64_t tracedat_sketch_number(const struct tracedat_sketch *s, uint64_t at, unsigned width);
/* All items that begin before `end`, with the padding between them. Returns where the last ends. */
uint64_t tracedat_sketch_items(struct tracedat_sketch *s, uint64_t at, uint64_t end);
/* Options up to DONE; the offset behind it. */
uint64_t tracedat_sketch_options(struct tracedat_sketch *s, uint64_t at, uint64_t end);
/* The body of a section that is not compressed. */
void tracedat_sketch_section(struct tracedat_sketch *s, unsigned id, uint64_t at, uint64_t end);

/* tracedat_outline_coded.c: what is compressed */

/* Declares two sizes and what is compressed, at[0, 8 + size). */
void tracedat_sketch_coded(struct tracedat_sketch *s, uint64_t at, uint64_t size, struct tracedat_coded coded);
/* Outlines what was declared by that, each decoded, as a file of its own; the file must be closed. */
void tracedat_sketch_streams(struct tracedat_sketch *s);

/* tracedat_outline_meta.c: blocks of metadata; each returns the offset behind it, or UINT64_MAX where a size makes no sense */
uint64_t tracedat_sketch_header(struct tracedat_sketch *s, uint64_t at, uint64_t end);
uint64_t tracedat_sketch_formats(struct tracedat_sketch *s, uint64_t at, uint64_t end, const char *name);
uint64_t tracedat_sketch_systems(struct tracedat_sketch *s, uint64_t at, uint64_t end);
/* A size of `width` bytes and lines. */
uint64_t tracedat_sketch_lines(struct tracedat_sketch *s, uint64_t at, uint64_t end, unsigned width, const char *name);

/* tracedat_outline_page.c: the pages of a CPU */
void tracedat_sketch_page(struct tracedat_sketch *s, uint64_t at, uint32_t page_size);

/* Declares the parts of the file after its walk. */
void tracedat_outline_file(struct tracedat_walk *w);

#endif

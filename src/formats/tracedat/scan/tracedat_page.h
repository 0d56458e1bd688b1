/* The walk over the pages of a CPU: plain, in chunks, page by page and record by record. */
#ifndef TRACEDAT_PAGE_H
#define TRACEDAT_PAGE_H

#include "formats/tracedat/decode/tracedat_page_layout.h"
#include "formats/tracedat/scan/tracedat_walk.h"

/* Lines that come in pieces. */
struct tracedat_text_lines {
	bool begun, event;     /* a line is open; it is not one of the heading */
	bool skip;	       /* up to the next LF: what comes before it is lost */
	bool chunks;	       /* the text comes in compressed chunks */
	bool hit;	       /* one of them is not text */
	bool torn;	       /* something is lost: chunks are compressed again with whole lines only */
	uint64_t total, whole; /* bytes so far, and of them up to the end of the last line */
	struct bytes carry;    /* the beginning of a line */
};

/* at: where the text is in the file, or its chunk. */
void tracedat_text_count(struct tracedat_walk *w, struct tracedat_text_lines *l, const uint8_t *text, size_t size, uint64_t at);
/* Something between two pieces is lost. */
void tracedat_text_break(struct tracedat_text_lines *l);
/* Appends the lines that end in this piece. */
void tracedat_text_whole_lines(struct tracedat_text_lines *l, const uint8_t *text, size_t size, struct bytes *out);

/* State of a walk over the pages of one CPU. */
struct tracedat_stream {
	struct tracedat_buffer *buffer;
	struct tracedat_cpu *cpu;
	struct tracedat_text_lines *text; /* of latency output in chunks; else NULL */
	uint32_t page_size;
	uint64_t index;			 /* of the page */
	uint64_t last;			 /* time of the last record */
	uint64_t page_time, page_commit; /* of the previous page */
	uint64_t last_at;		 /* of the last record of a plain page */
	uint64_t before, before_length;	 /* where that is, or its chunk */
	bool started, pending_missed;
	bool sound;	      /* the last page was read to its end */
	bool holed;	      /* something inside of it was left out */
	bool edge_hit;	      /* its last bytes are not zero, and should be */
	const char *doubtful; /* why something of the chunk is */
	struct finding *zero;
};

/* Where a page is, for findings. */
struct tracedat_page_place {
	uint64_t offset, length; /* of the page in the file, or of the chunk that holds it */
	bool in_chunk;
	uint32_t in;			/* offset of the page in the decoded chunk */
	uint32_t available;		/* bytes of the page that are there; 0: all */
	int32_t shift;			/* bytes that were inserted in the page, or (negative) removed: the next page shows it */
	bool more;			/* another page of the CPU follows at once */
	bool ends;			/* the file ends in it: bytes may be missing at its end as well */
	const struct tracedat_run *run; /* of its records; NULL: unknown */
};

enum tracedat_verdict { TRACEDAT_KEEP, TRACEDAT_PATCH, TRACEDAT_LEAVE };

/* Where rows of sound records begin behind damage, by their offset modulo four; 0: not looked for. */
struct tracedat_chains {
	uint32_t limit, next[4];
	bool open;
};

/* What a walk over one page carries along. */
struct tracedat_page {
	struct tracedat_walk *w;
	struct tracedat_stream *stream;
	const uint8_t *bytes; /* of the page */
	const uint8_t *data;  /* behind its header */
	const struct tracedat_page_place *where;
	uint32_t head;	   /* bytes of the header */
	uint32_t limit;	   /* of the data that is walked */
	uint32_t capacity; /* of what is walked: the page's own, and bytes that were inserted in it */
	uint32_t room;	   /* the page's own */
	uint32_t records, bad;
	uint32_t blind;	      /* records of events whose format is lost */
	uint32_t fast;	      /* records that the fast path took */
	uint32_t removed;     /* bytes of removed records */
	uint32_t cleared;     /* where the last removed bytes end */
	uint32_t last;	      /* where the last data record begins */
	uint64_t time, carry; /* carry: deltas of removed records */
	uint32_t sync;	      /* where the chain of records that is walked begins, at sync_time */
	uint64_t dangling;    /* what time stamps behind the last record add, modulo 2^64 */
	uint64_t sync_time;
	struct tracedat_chains chains;
	uint32_t trusted; /* up to here words are known to lead from one sound record to the next */
	uint32_t unsure;  /* from here on times hang on what was lost; UINT32_MAX: they do not */
	uint32_t sure;	  /* behind the last absolute time; 0: that of the page */
	uint64_t latest;  /* no record can be later: the next page begins */
	unsigned stop_rule;
	bool bounded;			    /* the second walk over the page, since records of the first were later than that */
	bool holed;			    /* something inside of it was left out */
	bool listed;			    /* all of it is listed as doubtful */
	bool repeated;			    /* identical to the page before */
	bool strange;			    /* the pages around it show that its time is wrong */
	bool be, emitting, failed, garbled; /* garbled: its header cannot be right */
	bool tail_hit;			    /* bytes behind its data are not zero */
	bool cut;			    /* its length ends inside of a record */
};

/* tracedat_record.c */
/* A finding on bytes [at, at + length) of the page; on its whole chunk where that is compressed. */
#define tracedat_page_finding(p, rule, ...) ((void)PLACE(rule), tracedat_page_finding_at((p), (rule), __VA_ARGS__))
struct finding *tracedat_page_finding_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length);
#define tracedat_page_report(p, rule, ...) ((void)PLACE(rule), tracedat_page_report_at((p), (rule), __VA_ARGS__))
struct finding *tracedat_page_report_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length, const char *format,
					...) PRINTF_LIKE(5, 6);
/* A change: bytes in the place of `remove` bytes at `at` of the page. */
void tracedat_page_edit(struct tracedat_page *p, uint32_t at, uint32_t remove, const void *bytes, size_t length, unsigned rule,
			const char *why);
/* Walks records from `at` up to p->limit. Returns where it stopped: the limit if all records are valid. open: the length of
 * the page is not trusted, and a zero word is its end. */
uint32_t tracedat_page_walk(struct tracedat_page *p, uint32_t at, bool open);

/* Lists data[from, to) of the page as doubtful in the output. */
void tracedat_page_doubt(struct tracedat_page *p, uint32_t from, uint32_t to, const char *why);
/* Lists the record that ends at `at`: what was hit begins there, or in front of it. */
void tracedat_page_doubt_before(struct tracedat_page *p, uint32_t at);

/* ---- tracedat_give.c: the sink of the scan ---- */

/* Remembers the record whose payload is `skip` bytes behind `at`; the whole page may turn out to be read otherwise. */
void tracedat_record_note(struct tracedat_page *p, uint32_t at, uint32_t total, uint32_t skip, bool timed);
/* Gives the records of the page that are remembered. */
void tracedat_page_give(struct tracedat_page *p);
/* So many records of a page whose metadata is lost: nothing is known of them but their page. */
void tracedat_blind_give(struct tracedat_walk *w, uint32_t cpu, uint64_t offset, uint32_t records);
/* A line of latency output; offset: of it, or of its chunk. */
void tracedat_line_give(struct tracedat_walk *w, uint64_t offset, const uint8_t *line, size_t length);

/* ---- salvage/tracedat_page_resync.c ---- */

/* Whether records that their formats allow follow each other from `at` on: several, or all up to the end of the data. */
bool tracedat_page_chain(const struct tracedat_page *p, uint32_t at, bool open);
/* Where such records begin, at least 4 bytes behind `at`; 0: nowhere. */
uint32_t tracedat_page_resync(struct tracedat_page *p, uint32_t at, bool open);
/* Whether a record that its format allows stands there, of which the length of the page may have cut the end. */
bool tracedat_page_record_whole(const struct tracedat_page *p, uint32_t at);
/* Whether the beginning of such a record stands there, whose end may be missing. */
bool tracedat_page_record_begins(const struct tracedat_page *p, uint32_t at);
/* Whether sound records follow at `at`, maybe behind more of the event with that id. */
bool tracedat_page_goes_on(struct tracedat_page *p, uint32_t at, uint32_t id);

/* ---- tracedat_page.c ---- */

/* Checks one page of stream->page_size bytes. Edits are left in w->pages.edits. *records: valid ones; *bad: others that
 * could be counted. */
enum tracedat_verdict tracedat_page_check(struct tracedat_walk *w, struct tracedat_stream *stream, const uint8_t *page,
					  const struct tracedat_page_place *where, uint32_t *records, uint32_t *bad);
/* The event IDs that have a format, for tracedat_page_sound(); NULL where formats are lost or there are none. */
static inline const uint16_t *tracedat_known(const struct tracedat_walk *w)
{
	return w->events.count && !w->events.lost ? w->events.index : NULL;
}
/* tracedat_page_sound() with the events of the file. */
static inline bool tracedat_page_plausible(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size,
					   uint32_t *records)
{
	return tracedat_page_sound(&w->shape, tracedat_known(w), page, page_size, records);
}

/* ---- repair/tracedat_page_output.c ---- */

void tracedat_page_account(struct tracedat_output *out, enum tracedat_verdict verdict, uint32_t records, uint32_t bad);
/* Appends a page of the file with its edits to the output. n: bytes of it that are there. */
void tracedat_page_emit(struct tracedat_walk *w, uint64_t offset, uint32_t n);

/* ---- tracedat_chunk.c, tracedat_chunk_check.c ---- */

/* Walks the chunks of compressed CPU data. */
void tracedat_chunks_walk(struct tracedat_walk *w, struct tracedat_stream *stream);
/* Whether the chunk at `at` decompresses to a page. */
bool tracedat_chunk_pages(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size);
/* Whether a chunk with a frame stands there. */
bool tracedat_chunk_begins(struct tracedat_walk *w, uint64_t at, uint64_t limit);
/* Whether the decoded pages of a chunk are consistent. */
bool tracedat_chunk_consistent(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size);
/* The same for nearly all chunks, at less cost; false: the other one has to look. `runs`: what the fast path takes of each page. */
bool tracedat_chunk_plain(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size,
			  struct tracedat_run runs[TRACEDAT_CHUNK_PAGES]);

/* ---- tracedat_latency.c, tracedat_cpu.c ---- */

/* Latency output. Returns where its last whole line ends. */
uint64_t tracedat_latency_text(struct tracedat_walk *w, uint64_t from, uint64_t to);
/* Latency output in a section of v7; compressed chunks of it are appended to the output while w->emitting. */
void tracedat_latency_section(struct tracedat_walk *w, struct tracedat_buffer *b);
/* Walks the pages of one CPU; also appends them to the output while w->emitting. */
void tracedat_cpu_walk(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c);
/* Walks all pages. */
void tracedat_cpus_walk(struct tracedat_walk *w);

#endif

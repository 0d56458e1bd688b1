/* The data of the CPUs: where it is, and the state of the walk over its pages. */
#ifndef TRACEDAT_DATA_H
#define TRACEDAT_DATA_H

#include "core/edits.h"
#include "formats/tracedat/decode/tracedat_codec.h"
#include "formats/tracedat/tracedat.h"

struct finding;

/* Bytes of the shortest record: its first word and the fields that all events have. */
#define TRACEDAT_RECORD_LEAST 12u

struct tracedat_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* as declared */
	uint64_t from, length; /* bytes of the file that are walked; length 0: none */
	uint64_t records;      /* valid data records */
	uint64_t first_time, last_time;
	const struct tracedat_stat *stat; /* what the kernel counted, or NULL */
	bool read_whole;		  /* the events that it counted as read fill pages */
	uint64_t repeated;		  /* records of pages that are identical to the one before */
	uint64_t room;			  /* more events than are there fit into its pages that were hit */
	bool agrees;			  /* all its counts are those of the data */
	uint64_t missing;		  /* events that it counted, and that are not there */
	uint64_t moved, moved_size;	  /* where repair puts it */
	uint64_t end;			  /* where its data in the file really ends */
	uint64_t declared_at;		  /* file offset of its table entry; 0: none */
	bool missed;			  /* a page says that events were lost */
	bool begin_bad;			  /* its first page was hit */
	bool backwards;			  /* a page begins before the end of the one in front of it */
	bool late;			  /* its last event is later than its statistics */
	bool unchained;			  /* the size of a chunk that was hit leads to no other */
	bool tail_hit;			  /* bytes behind the data of a page are not zero */
	uint64_t limit;			  /* compressed: chunks may reach up to here */
	bool exact;			  /* compressed: chunks of its size stand where it was found */
	bool found;			  /* by content, no table names it */
	bool sought;			  /* at a place that is not the one of its table */
	bool clipped;			  /* its range was shortened, which is reported already */
	bool fewer;			  /* fewer chunks, or bytes of them, than stated */
	bool lost;			  /* its range cannot be used */
	bool stepped;			  /* bytes were inserted or removed between its pages */
	bool shifted;			  /* its data is not where the table says, which is reported already */
};

struct tracedat_buffer {
	char name[64]; /* of the instance, cut, for messages */
	struct bytes raw_name, clock;
	uint32_t page_size;
	struct tracedat_cpu *cpus;
	size_t count, capacity;
	int section;			 /* v7: its section 3, or -1 */
	size_t option;			 /* its option, or SIZE_MAX */
	bool compressed, text;		 /* text: latency output */
	bool text_torn;			 /* of which chunks are lost, or the last line has no end */
	uint64_t text_stop;		 /* where its last whole line ends, of one that is not compressed */
	uint64_t record_at;		 /* v6: of its tag in the file */
	uint64_t table_at;		 /* v6: of its table in the file */
	uint64_t clock_at, clock_size;	 /* v6: clock block with its length, or 0 */
	bool clock_bad, clock_cut, lost; /* clock_cut: by the end of the file */
	bool name_doubtful;		 /* the name is a guess, or was hit */
	uint64_t moved;
};

/* Where the data of the CPUs is. */
struct tracedat_data {
	struct tracedat_buffer *buffers;
	size_t buffer_count, buffer_capacity;
	uint32_t entries;      /* CPUs of all buffers */
	uint32_t cpu_count;    /* as the file says */
	uint64_t cpu_count_at; /* v6 */
	uint64_t tag_at;       /* v6: of the data tag after the options */
	bool latency;
	bool errors;	 /* tables or sections are damaged in a way that loses data */
	bool tables_cut; /* v6: tables of instances were behind the end of the file */
	uint64_t latency_at, latency_stop;
	unsigned shifts, searches;	    /* searches after damage: each kind is bounded */
	size_t filled_buffers, filled_cpus; /* the first ones of which no data is missing */
	uint64_t compared;		    /* options that were compared with names: bounded */
};

/* What the fast path takes of the records of a page. */
struct tracedat_run {
	uint32_t at, limit;	/* the first byte that it leaves, and the bytes of records that there are */
	uint32_t last, records; /* where the last one begins; how many */
	uint64_t from, time;	/* of the page, and of the last record */
};

/* Whether that is all of them, and there are some. */
static inline bool tracedat_run_is_whole(const struct tracedat_run *r)
{
	return r->records && r->at == r->limit;
}

/* Pages of a chunk, as writers make them. */
#define TRACEDAT_CHUNK_PAGES 10u

/* The pages that are walked. */
/* A record of the page that is checked, for the sink of the scan. */
struct tracedat_given {
	uint32_t at, total, skip; /* in the data of the page; its words take `skip` bytes */
	uint64_t time;
	bool timed;
};

struct tracedat_pages {
	uint8_t *chunk; /* one decoded chunk */
	size_t chunk_capacity;
	struct tracedat_run runs[TRACEDAT_CHUNK_PAGES]; /* of its pages, where that is known */
	uint8_t *previous;				/* the page before, when it was in another chunk */
	uint8_t *next;					/* the page behind, where it has to be judged */
	uint64_t decoded;				/* bytes decoded so far */
	uint64_t chunks_lost;				/* that could not be decompressed, or not to what pages hold */
	uint64_t doubts;				/* ranges within pages that are listed as doubtful */
	struct tracedat_decoder decoder;
	struct tracedat_ahead *ahead; /* owned: tracedat_ahead.c; NULL: no threads work ahead */
	struct edits edits;	      /* of the page that was checked last */
	struct tracedat_given *given; /* owned: its records, where somebody asked for them */
	size_t given_count, given_capacity;
	uint64_t records, lines; /* lines: those of them that are latency output */
	uint64_t fast;		 /* records that the fast path took */
	uint64_t shorter;	 /* records that are shorter than their format */
	struct finding *ip_finding, *printk_finding, *pid_finding, *four_finding;
};

#endif

/* Options and sections. */
#ifndef TRACEDAT_DIRECTORY_H
#define TRACEDAT_DIRECTORY_H

#include "formats/tracedat/scan/tracedat_metadata.h"

struct tracedat_option {
	const struct tracedat_block *block; /* that contains it */
	size_t at;			    /* of its payload in the block; the 6 bytes before it are id and size */
	uint32_t size;
	uint16_t id;
	uint16_t section; /* index of its options section (v7) */
	bool dropped;	  /* repair leaves it out */
	bool head_bad;	  /* its id or size in the file is not the one here */
	unsigned rule;	  /* why it is dropped or changed */
	const char *why;
	struct bytes changed; /* payload that repair writes instead; empty: as it is */
	int buffer;	      /* index of the buffer it describes, or -1 */
};

struct tracedat_section {
	uint64_t offset; /* of its header */
	uint64_t size;	 /* real bytes after the header */
	uint64_t declared;
	uint64_t moved; /* where repair puts it */
	uint16_t id, flags;
	int32_t description;
	bool referenced; /* by an option, or by the walk for STRINGS */
	bool named;	 /* event data: an option has its offset */
	bool reached;	 /* an options section of the chain */
	bool searched;	 /* for data that no table names */
	bool lost;	 /* its content cannot be used: repair leaves it out */
	bool size_bad;
	struct finding *resized; /* reports that it is longer or shorter than `declared`; NULL: it is not */
	bool cut;		 /* the file ends inside of it */
	unsigned rule;		 /* why it is lost */
	const char *why;
	struct finding *damage; /* its frame is damaged, which this reports, and its content is what was decoded before; NULL: it is
				   complete */
	struct tracedat_block block;
	uint64_t frame;				 /* compressed: bytes of the frame itself */
	size_t first_option, option_count, done; /* of an options section; done: offset of its DONE item in the block */
	bool has_done;
};

/* The name in a heading of statistics, which is part of the option: not owned, without NUL. */
struct tracedat_heading {
	const char *name;
	size_t size;
};

/* The values of one CPUSTAT option. */
struct tracedat_stat {
	struct tracedat_heading buffer; /* name NULL: the top buffer */
	uint32_t cpu;
	uint64_t entries, overrun, read;
	bool known;		    /* entries and read events were there */
	uint64_t oldest_us, now_us; /* microseconds; 0: not there */
	size_t option;
};

/* Bytes that are missing or inserted, so that what follows them is not where offsets say. */
struct tracedat_shift {
	struct finding *finding; /* the last one that may be about them, until it explains others; NULL: there is none */
	uint64_t by;		 /* what is there is so far behind its offset, modulo 2^64 */
	bool explains;
};

/* Options and sections. */
struct tracedat_directory {
	struct tracedat_option *options;
	size_t option_count, option_capacity;
	struct tracedat_stat *stats; /* by buffer and CPU, once the options are checked */
	size_t stat_count, stat_capacity;
	struct tracedat_heading *headings; /* the first ones, in the order of the file */
	size_t heading_count, heading_capacity;
	struct tracedat_section *sections;
	size_t section_count, section_capacity;
	struct bytes strings;
	int clock_option, cpucount_option; /* last ones; -1: none */
	uint64_t tag_at;		   /* v6: of the first data tag */
	bool tag_seen;			   /* v6: it is that of options */
	unsigned resyncs;		   /* searches for options after damage: bounded */
	struct finding *truncated;	   /* reports that the file is cut, and explains what is missing for that reason */
	struct tracedat_shift shift;
	uint32_t looks; /* sections that were looked at for what explains an offset or a size: bounded */
	bool chain_cut; /* v7: options were behind the cut */
	bool alone;	/* v7: options name no section, and there is no other */
};

/* Whether the option is a heading of statistics; *h is its name then. */
bool tracedat_heading_is(const struct tracedat_option *o, struct tracedat_heading *h);
void tracedat_stats_sort(struct tracedat_directory *dir);
/* The statistics of the buffer of that name ("": the top buffer) from that CPU on, by CPU; *count of them. */
const struct tracedat_stat *tracedat_stats_of(const struct tracedat_directory *dir, const char *buffer, uint32_t from,
					      size_t *count);
/* The first one of that CPU; NULL: there is none. */
const struct tracedat_stat *tracedat_stat_of(const struct tracedat_directory *dir, const char *buffer, uint32_t cpu);
/* The clock that the TRACECLOCK option selects, which is part of it; NULL: there is no option, or no name in it. */
const char *tracedat_clock_selected(const struct tracedat_directory *dir, size_t *length);
/* The section whose header is at offset; -1: none. */
int tracedat_section_at(const struct tracedat_directory *dir, uint64_t offset);
/* The last section of the kind; -1: none. */
int tracedat_section_of(const struct tracedat_directory *dir, unsigned id);
void tracedat_option_drop(struct tracedat_option *o, unsigned rule, const char *why);

#endif

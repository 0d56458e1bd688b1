/* The findings of a walk: with the path of the current record, and with repeated notes folded into one. */
#ifndef FXT_REPORT_H
#define FXT_REPORT_H

#include "core/format.h"
#include "formats/fxt/decode/fxt_decode.h"

#define FXT_RECENT 8u
/* Begins and ends without a counterpart that are remembered: one in the bits of a word. */
#define FXT_UNPAIRED_LISTED 64u

/* The position of the walk. */
struct fxt_position {
	uint64_t at, size;		 /* of the next record; of the file */
	const struct fxt_record *record; /* being walked */
	uint32_t provider;		 /* the current one; paths do not name the anonymous one */
	bool anonymous;
	uint64_t records;	     /* accepted so far */
	uint64_t taken_back;	     /* accepted and given, and dropped since: not among those */
	uint64_t recent[FXT_RECENT]; /* offsets of the last records that were accepted: that of record n at n % FXT_RECENT */
};

/* Counts the record at offset as accepted. */
static inline void fxt_position_accept(struct fxt_position *here, uint64_t offset)
{
	here->recent[here->records++ % FXT_RECENT] = offset;
}

/* The last record that was accepted is dropped. */
static inline void fxt_position_take_back(struct fxt_position *here)
{
	here->records--;
	here->taken_back++;
}

/* Offset of the n-th last record, n from 1 to here->records, or of as early a one as is remembered. */
static inline uint64_t fxt_position_recent(const struct fxt_position *here, uint64_t n)
{
	if (n > FXT_RECENT)
		n = FXT_RECENT;
	return here->recent[(here->records - (n < here->records ? n : here->records)) % FXT_RECENT];
}

struct fxt_tally {
	uint64_t count;
	struct finding *finding;
};

/* What the document of 2022 does not know: fxt/newer-feature, each kind by itself. */
enum fxt_newer {
	FXT_NEWER_SWITCH,
	FXT_NEWER_WAKEUP,
	FXT_NEWER_PROFILER,
	FXT_NEWER_PERFETTO_BLOB,
	FXT_NEWER_BLOB_ARGUMENT,
	FXT_NEWER_COUNT,
};

struct fxt_report {
	struct scan *s;
	struct source *source;
	enum tracemend_status status; /* sticky: why the walk cannot go on */
	struct fxt_position here;
	bool buffer_full; /* the capture itself says that records were dropped */
	bool magic_seen;
	uint64_t odd;	   /* warnings of what a sound record says */
	uint64_t unpaired; /* warnings that a begin or an end has no counterpart */
	uint64_t unpaired_at[FXT_UNPAIRED_LISTED];
	uint64_t unpaired_ends; /* a bit for each of those: an end */
	bool unpaired_begin, unpaired_end;
	struct finding *damage;	  /* the last region that was unreadable: what is missing may have been in it */
	struct finding *no_magic; /* the finding that the magic number is missing */
	struct fxt_hole {
		struct finding *finding; /* NULL: none */
		uint64_t at;
	} first_hole, last_hole; /* the first and the last region that was unreadable */
	uint64_t hidden;	 /* begins and ends for which such regions have room, less those that are taken to be there */
	struct fxt_tally tallies[FXT_RULE_COUNT], newer[FXT_NEWER_COUNT];
};

/* Sets report->status to out of memory. */
void fxt_report_no_memory(struct fxt_report *report);
/* Whether there was room where something has a limit; without memory the walk does not go on. */
bool fxt_report_room(struct fxt_report *report, enum tracemend_status status);

/* A finding at the record being walked, with its path. */
#define fxt_report(report, rule, ...) ((void)PLACE(rule), fxt_report_at((report), (rule), __VA_ARGS__))
struct finding *fxt_report_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
/* A note that may be repeated for each record: the first is reported, the others are folded under it. NULL when folded. */
#define fxt_note(report, rule, ...) ((void)PLACE(rule), fxt_note_at((report), (rule), __VA_ARGS__))
struct finding *fxt_note_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
/* The same as a note, of a rule whose row is graver. */
#define fxt_note_milder(report, rule, ...) ((void)PLACE(rule), fxt_note_milder_at((report), (rule), __VA_ARGS__))
struct finding *fxt_note_milder_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format,
				   ...) PRINTF_LIKE(5, 6);
/* [from, until) is unreadable, as `finding` says. */
void fxt_report_hole(struct fxt_report *report, struct finding *finding, uint64_t from, uint64_t until);
/* The counterpart of a begin or an end at `offset` is missing. Whether that is no finding of its own, but one that a region of
 * damage explains: one behind a begin, or one in front of an end, with room for it. */
bool fxt_report_hidden(struct fxt_report *report, uint64_t offset, bool end);
/* A begin or an end at `offset` has no counterpart, and nothing says why. */
void fxt_report_unpaired(struct fxt_report *report, uint64_t offset, bool begin);
/* Something that only later revisions know, in the record being walked; field: byte of the record. */
void fxt_note_newer(struct fxt_report *report, enum fxt_newer kind, uint64_t field);
/* Adds to each note how many were folded under it. */
void fxt_notes_flush(struct fxt_report *report);

/* The path of a record; part: of it, or NULL. */
void fxt_path(const struct fxt_report *report, struct finding *fd, const struct fxt_record *r, const char *part);
/* Reports the issues of a decoded record at offset. */
void fxt_issues_report(struct fxt_report *report, const struct fxt_record *r, uint64_t offset);
/* Why, in words; for findings of the issue's rule. */
void fxt_issue_say(struct finding *fd, const struct fxt_record *r, const struct issue *i);
/* "event, duration begin" */
void fxt_describe(const struct fxt_record *r, char *out, size_t size);

#endif

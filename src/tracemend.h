/* libtracemend: check, repair and generate binary trace captures.
 *
 * The library has no global state, never exits, prints only to a stream that it is given, and never opens an input for writing.
 * Every function may be called from several threads at once on different objects; an object is used by one thread at a time, and
 * an input, its repair and what was added to it count as one object.
 *
 * Ownership: an object made by a function of this header is freed by its *_free or *_close function, in any order: a repair keeps
 * what it needs of an input that was closed. Strings and structures returned from an object live as long as the object; a report
 * from a repair lives as long as the repair. What the caller gives is copied unless it is said here that it must outlive something.
 * All returned text is valid UTF-8 without control characters: what comes from the input has been escaped.
 *
 * NULL and indices: an object, text or result pointer that is NULL is an error, never a crash: functions that return a status
 * return TM_USAGE, the others NULL, 0, false or an empty structure. The same holds for an index beyond the count. options and error
 * may always be NULL. *_free(NULL) and *_close(NULL) do nothing.
 *
 * Versions: within one soname, functions are only added, and structures grow only at their end. Those that the library returns by
 * pointer must not be copied by their size, nor be made by the caller. Those that the caller makes begin with `size`, to be set to
 * their sizeof (`struct_size`, where `size` is something else); 0 is taken for the size in version 0.1.0. tracemend_error,
 * tracemend_file, tracemend_segment, tracemend_advice and tracemend_range never grow. */
#ifndef TRACEMEND_H
#define TRACEMEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TRACEMEND_API __attribute__((visibility("default")))
#else
#define TRACEMEND_API
#endif

#define TRACEMEND_VERSION "0.1.0"
#define TRACEMEND_VERSION_MAJOR 0
#define TRACEMEND_VERSION_MINOR 1
#define TRACEMEND_VERSION_PATCH 0
/* 1002003 is version 1.2.3. */
#define TRACEMEND_VERSION_NUMBER (TRACEMEND_VERSION_MAJOR * 1000000 + TRACEMEND_VERSION_MINOR * 1000 + TRACEMEND_VERSION_PATCH)

/* The version of the library that runs, which may be newer than the header that a program was compiled with. */
TRACEMEND_API const char *tracemend_version(void);
TRACEMEND_API unsigned tracemend_version_number(void);

/* Whether the program could do its work. It says nothing about the capture: findings do. */
enum tracemend_status {
	TM_OK = 0,
	TM_USAGE,	 /* an invalid argument (unknown rule, output inside the input, NULL) */
	TM_IO,		 /* open, read or write failed, or the input is not a regular file */
	TM_NO_MEMORY,	 /* an allocation failed */
	TM_LIMIT,	 /* a limit of core/limits.h was reached */
	TM_UNRECOGNISED, /* no format recognises the input, or one recognises and declines it, or it is empty */
	TM_NOTHING,	 /* recognised, but nothing can be salvaged */
	TM_CANCELLED,	 /* the progress callback asked to stop */
	TM_BUG,		 /* an internal check failed (P1 to P4, src/README.md); nothing was published */
};

/* Why a call failed. After success, status is TM_OK and message is empty. */
struct tracemend_error {
	enum tracemend_status status;
	char message[512];
};

/* In ascending order. */
enum tracemend_severity { TM_IGNORE = -1, TM_NOTE, TM_WARNING, TM_ERROR };

/* One rule: a kind of defect. All members are static. */
struct tracemend_rule {
	const char *id;			  /* "fxt/dangling-string-ref": never changes meaning, never reused */
	const char *format;		  /* "fxt" */
	enum tracemend_severity severity; /* the highest with which it is reported */
	const char *class_name;		  /* malformed, alignment, reference, truncation, size, text, order, semantics, loss */
	const char *title;		  /* one line, no full stop */
	const char *clause;		  /* where the specification says so */
	const char *explanation;	  /* for a reader who does not know the specification */
	const char *repair;		  /* what repair does about it */
	bool preview;			  /* new: reported only with tracemend_options.preview, and never an error */
};

#define TRACEMEND_CONTEXT 48

/* One finding: a defect at its place. */
struct tracemend_finding {
	size_t struct_size; /* sizeof(struct tracemend_finding) */
	const struct tracemend_rule *rule;
	enum tracemend_severity severity;
	const char *file;      /* member of a directory or archive; empty for a single file */
	uint64_t offset;       /* byte offset of the defect in that file, usually of a record */
	uint64_t length;       /* its length in bytes; 0 where something is missing */
	const char *path;      /* "provider 3 > record 1042 (event) > name"; may be empty */
	const char *message;   /* actual and expected value, one sentence without full stop */
	uint64_t explains;     /* further findings that follow from this one and are not listed */
	uint64_t field_offset; /* the bytes to underline, within the file; field_length 0: none */
	uint32_t field_length;
	const char *field;	 /* description of the underlined bytes */
	uint64_t context_offset; /* bytes of the file at the finding, for the hex rows */
	uint32_t context_length;
	uint8_t context[TRACEMEND_CONTEXT];
};

/* A part of a fact. */
struct tracemend_fact_field {
	const char *name; /* "events", "first_time": lower case with underscores; it never changes its meaning */
	const char *text; /* NULL: it is a number */
	uint64_t number;
};

/* A fact about a capture, for `info`: clock, threads, times. */
struct tracemend_fact {
	const char *key;   /* for people; it may name what the fact is about: "provider 3" */
	const char *value; /* for people */
	/* For programs, where the value says more than one thing; else NULL, and 0 fields. */
	const char *name; /* what the fields describe: "provider"; it never changes its meaning */
	const struct tracemend_fact_field *fields;
	size_t field_count;
};

/* A record of a capture, as it is given to tracemend_options.record. It and its texts are valid during that call only. */
struct tracemend_record {
	const char *file;	 /* member of a directory or archive; empty for a single file */
	uint64_t offset, length; /* its bytes in that file; of a record in a compressed chunk, those of the chunk */
	const char *kind;	 /* "event, duration begin" */
	const char *track;	 /* on what it happened: "cpu 3", "thread 4/17"; may be empty */
	bool timed;		 /* it has a time */
	uint64_t time;
	const char *unit;      /* of time: "ns" or "ticks" of the capture's clock */
	const char *name;      /* of an event, a function or what is registered; may be empty */
	const char *arguments; /* "a=1 b=x", where they were asked for */
	/* Not NULL: this is not a record, but a place where an error of this rule was found; kind and what follows are empty. */
	const struct tracemend_rule *rule;
	uint64_t lost; /* events that the recorder itself says are missing on this track in front of it; or TM_LOST_UNKNOWN: some */
};

#define TM_LOST_UNKNOWN UINT64_MAX

/* Set size, or begin with TRACEMEND_OPTIONS_INIT. Behind each member stand the calls that read it: o: tracemend_open() and its
 * like, c: tracemend_check(), r: tracemend_repair(), d: tracemend_reduce(). */
struct tracemend_options {
	size_t size;	     /* sizeof(struct tracemend_options) */
	const char *format;  /* c r d: force a format by name; NULL: recognise it by content */
	const char *profile; /* c r d: revision of the specification; NULL: the format's default */
	size_t max_findings; /* c r: findings of a rule kept for each severity; 0: all, up to 100,000; see skip_findings. All are
				counted */
	size_t window;	     /* o r d: bytes read at a time; 0: the default. It does not change results */
	bool facts;	     /* c r: collect facts for `info` */
	bool found;	     /* c: the input was found in a search: a format must recognise it beyond doubt */
	/* c r: Changes the severity of a rule, or silences it (TM_IGNORE). NULL: as declared. Affects reports only, never what
	 * repair does. */
	enum tracemend_severity (*grade)(void *ctx, const struct tracemend_rule *rule, enum tracemend_severity severity);
	void *grade_ctx;
	/* o c r d: Called during the work with the bytes read so far and in all. Returning false cancels it: TM_CANCELLED. May be
	 * NULL. That of the open call is called as long as the input is used, that of check as long as it runs, that of repair
	 * until the repair is freed; where there are several, the last one given. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	/* o r: bytes that an archive or compressed file may unpack to, on disk; 0: 512 MiB or 200 times what was read of it so far,
	 * whichever is more, and at most 64 GiB. TM_LIMIT. */
	uint64_t max_unpacked;
	bool preview; /* c r: report what preview rules find, too */
	/* c: Called for each record that summary.records counts, in the order of the files and of their bytes, and for each error
	 * between them. NULL costs nothing; else the work takes several times as long. arguments: fill them in. */
	void (*record)(void *ctx, const struct tracemend_record *record);
	void *record_ctx;
	bool arguments;
	/* c: Called for each finding that the summary counts, whether or not the report keeps it, as soon as it is made: rule,
	 * severity, file, offset and length are set, the texts are empty. It and its texts are valid during that call only. */
	void (*observe)(void *ctx, const struct tracemend_finding *finding);
	void *observe_ctx;
	/* c: Findings of the format's own rules that are counted, but not kept, the first so many of those that would be kept; and
	 * none that are about the archive. An input whose report is full is read in turns with it. */
	size_t skip_findings;
	/* c r: Threads that may work on the capture, with the caller's; 0 is as 1. No result depends on it. */
	unsigned threads;
};

#define TRACEMEND_OPTIONS_INIT \
	{ \
		.size = sizeof(struct tracemend_options) \
	}

/* ---- formats and rules ---- */

struct tracemend_format {
	const char *name;	     /* "fxt" */
	const char *title;	     /* "Fuchsia trace format" */
	const char *extension;	     /* of generated files, with its dot; empty for a format of directories */
	const char *const *profiles; /* NULL-terminated, the default first; NULL: the format has none */
	bool directory;		     /* a capture is a directory */
	const char *donor;	     /* what repair takes from a donor, as a sentence; NULL: nothing */
};

/* All formats; *count is set unless count is NULL. Static. */
TRACEMEND_API const struct tracemend_format *const *tracemend_formats(size_t *count);

/* What generated captures of a format may contain or leave out. */
struct tracemend_feature {
	const char *name;   /* "big-endian": unique in the format */
	const char *text;   /* what it is, one line, no full stop */
	const char *one_of; /* "version": each capture has exactly one of those that say the same; NULL: it is there or not */
	bool host;	    /* readers on an ordinary host open captures with it */
};

/* NULL beyond the last one, and for an unknown format. Static. */
TRACEMEND_API const struct tracemend_feature *tracemend_feature_at(const char *format, size_t index);

/* The number of rules of a format ("container" counts as one), or of all formats when format is NULL; 0 for an unknown name. */
TRACEMEND_API size_t tracemend_rule_count(const char *format);
/* NULL beyond the last one. */
TRACEMEND_API const struct tracemend_rule *tracemend_rule_at(const char *format, size_t index);
/* The rule with that id, or NULL. */
TRACEMEND_API const struct tracemend_rule *tracemend_rule_find(const char *id);
/* The public address of the document and section that the rule's clause names first, in out[size]; "" when it has none. A size of
 * 512 is enough. Returns out. */
TRACEMEND_API const char *tracemend_rule_url(const struct tracemend_rule *rule, char *out, size_t size);
/* "note", "warning", "error", "ignore"; "" for another value. */
TRACEMEND_API const char *tracemend_severity_name(enum tracemend_severity severity);

/* Escapes text from outside (a file name, an argument) in the way of all text that the library returns: valid UTF-8, with control
 * characters, bidirectional overrides and invalid bytes as \xNN. Text longer than size bytes ends in "...". */
TRACEMEND_API void tracemend_escape(char *out, size_t size, const char *text);

/* ---- inputs ---- */

struct tracemend_input;

enum tracemend_role {
	TM_ROLE_INPUT, /* the capture */
	TM_ROLE_EXTRA, /* --extra: more pieces of the same capture */
	TM_ROLE_DONOR, /* --donor: a healthy capture of the same machine */
};

/* Opens a file, a directory, an archive or compressed file, or standard input ("-"). Returns NULL and fills *error on
 * failure: TM_IO for what cannot be opened and for FIFOs, sockets and devices, TM_LIMIT for an archive beyond
 * UNPACK_BYTES_MAX. */
TRACEMEND_API struct tracemend_input *tracemend_open(const char *path, const struct tracemend_options *options,
						     struct tracemend_error *error);
/* As tracemend_open(), for a capture in memory; name is used in reports. data is not copied, and must outlive the input and its
 * repairs. */
TRACEMEND_API struct tracemend_input *tracemend_open_memory(const char *name, const void *data, size_t size,
							    const struct tracemend_options *options, struct tracemend_error *error);
/* A file of a capture that is a directory. */
struct tracemend_file {
	const char *name; /* path below the directory, with '/' between its parts */
	const void *data; /* may be NULL if size is 0 */
	size_t size;
};
/* As tracemend_open_memory(), for a capture that is a directory of `count` files. Names and the array are copied, data is not. */
TRACEMEND_API struct tracemend_input *tracemend_open_files(const char *name, const struct tracemend_file *files, size_t count,
							   const struct tracemend_options *options, struct tracemend_error *error);
/* Adds the files of another path to an input, as extra pieces or as a donor. */
TRACEMEND_API enum tracemend_status tracemend_add(struct tracemend_input *input, const char *path, enum tracemend_role role,
						  struct tracemend_error *error);
/* The name of the format that recognises the input, without checking it. NULL and *error if none does. */
TRACEMEND_API const char *tracemend_recognise(struct tracemend_input *input, const struct tracemend_options *options,
					      struct tracemend_error *error);
/* Whether the input is a directory or an archive with several captures in directories of their own, which a format that looks below
 * the topmost directory takes for one. */
TRACEMEND_API bool tracemend_is_tree(struct tracemend_input *input);
/* Searches an input that no format recognises, or that is a tree, for captures, which become its parts: inputs of their own
 * that are closed with it. *passed_over is increased by the number of other files in it. A file that has the name of a capture is a
 * part, whatever it contains. Returns the number of parts; 0 and *error on failure. */
TRACEMEND_API size_t tracemend_split(struct tracemend_input *input, const struct tracemend_options *options, size_t *passed_over,
				     struct tracemend_error *error);
/* A part and its path ("archive.tar/run-1/trace.fxt", raw bytes); NULL beyond the last one. */
TRACEMEND_API struct tracemend_input *tracemend_part(struct tracemend_input *input, size_t index, const char **path);
/* Whether a file or directory of that name is expected to be a capture: "x.fxt", "x.ktrace.gz", "trace.dat.cpu0", "uftrace.data".
 */
TRACEMEND_API bool tracemend_name_expected(const char *path);
/* A file of an input, by its index: as tracemend_repair_member() has them, with the name that findings and records give it in
 * name[size], which may be NULL, as may be the others. False beyond the last one, and for what is no regular file. */
TRACEMEND_API bool tracemend_input_file(struct tracemend_input *input, size_t index, enum tracemend_role *role, uint64_t *bytes,
					char *name, size_t size);
/* The number of files of an input, and of other things in its directories. */
TRACEMEND_API size_t tracemend_input_count(struct tracemend_input *input);
/* Its repairs can be used on. */
TRACEMEND_API void tracemend_close(struct tracemend_input *input);

/* ---- check ---- */

struct tracemend_report; /* independent of its input once it is made */

struct tracemend_summary {
	size_t struct_size;		  /* sizeof(struct tracemend_summary) */
	const char *path;		  /* the path given to tracemend_open(), escaped */
	const char *format;		  /* name of the format, or "" */
	const char *format_version;	  /* "6", "2.6", ...; may be "" */
	uint64_t size;			  /* bytes of all files of the capture */
	uint64_t records;		  /* events or records, as a reader of the format counts them */
	uint64_t errors, warnings, notes; /* after re-grading; defects that others explain are not counted */
	bool complete;			  /* false: the work stopped early; a capture without findings is not clean then */
	const char *incomplete;		  /* why not; "" when complete */
};

/* Checks the whole input. Returns a report also when the work stopped early (summary.complete is then false, and *error says why).
 * NULL when the format was not recognised or memory ran out. */
TRACEMEND_API struct tracemend_report *tracemend_check(struct tracemend_input *input, const struct tracemend_options *options,
						       struct tracemend_error *error);
TRACEMEND_API const struct tracemend_summary *tracemend_report_summary(const struct tracemend_report *report);
TRACEMEND_API size_t tracemend_report_finding_count(const struct tracemend_report *report);
/* A kept finding; they are in the order of the scan. */
TRACEMEND_API const struct tracemend_finding *tracemend_report_finding(const struct tracemend_report *report, size_t index);
/* Whether there was no room for findings that should have been kept: see skip_findings. */
TRACEMEND_API bool tracemend_report_is_full(const struct tracemend_report *report);
/* How often a rule was reported, whether or not the finding was kept; defects that others explain are not counted. */
TRACEMEND_API uint64_t tracemend_report_rule_count(const struct tracemend_report *report, const struct tracemend_rule *rule);
TRACEMEND_API size_t tracemend_report_fact_count(const struct tracemend_report *report);
TRACEMEND_API const struct tracemend_fact *tracemend_report_fact(const struct tracemend_report *report, size_t index);

/* Where more of a damaged capture may be than was given. */
struct tracemend_advice {
	enum tracemend_role role; /* TM_ROLE_EXTRA: further pieces of it; TM_ROLE_DONOR: a donor that has to be recorded */
	const char *path;	  /* what to add: a pattern for glob(3), or the name of a file */
	const char *text;	  /* a sentence for people */
};

TRACEMEND_API size_t tracemend_report_advice_count(const struct tracemend_report *report);
TRACEMEND_API struct tracemend_advice tracemend_report_advice(const struct tracemend_report *report, size_t index);

/* A copy of a report without the findings for which keep() is false (NULL: with all), which count no more, and with at most
 * max_findings of each rule and severity (0: all). NULL: out of memory. */
TRACEMEND_API struct tracemend_report *tracemend_report_select(const struct tracemend_report *report, size_t max_findings,
							       bool (*keep)(void *ctx, const struct tracemend_finding *finding),
							       void *ctx, struct tracemend_error *error);
/* A report without findings, for those of a run on another machine; its counts are those of the summary. Members of it that are
 * NULL are empty texts. TM_USAGE: no such format. */
TRACEMEND_API struct tracemend_report *tracemend_report_make(const struct tracemend_summary *summary, size_t max_findings,
							     struct tracemend_error *error);
/* Adds a finding, or counts findings of a rule that are not in the list. All texts are copied, and must have been escaped.
 * TM_USAGE: a rule of another format. */
TRACEMEND_API enum tracemend_status tracemend_report_add(struct tracemend_report *report, const struct tracemend_finding *finding);
TRACEMEND_API enum tracemend_status tracemend_report_add_unlisted(struct tracemend_report *report,
								  const struct tracemend_rule *rule, uint64_t count);
TRACEMEND_API void tracemend_report_free(struct tracemend_report *report);

/* ---- repair ---- */

struct tracemend_repair;

enum tracemend_exactness { TM_EXACT, TM_AT_LEAST, TM_UNKNOWN_COUNT };

struct tracemend_outcome {
	bool changed;				/* the output differs from the input */
	bool lost;				/* content was lost, or it is not known whether any was */
	uint64_t kept, patched, added, dropped; /* records */
	enum tracemend_exactness dropped_is;	/* TM_UNKNOWN_COUNT: dropped counts the known ones only */
	unsigned passes; /* repairs, each of what the one before would have written: 1, unless a defect hid another */
};

/* One file of the input as the manifest names it. */
/* Names of members and outputs can be shown, and told back: \xNN stands for a byte, \x5c for a backslash. */
struct tracemend_member {
	const char *path; /* the input path it was opened from */
	const char *file; /* member name; "" for a single file */
	enum tracemend_role role;
	uint64_t size;
	char sha256[65]; /* lower-case hex */
};

struct tracemend_output {
	const char *file; /* "" for a single file */
	uint64_t size;
	char sha256[65];
	size_t segment_count;
};

/* A piece of an output: a copy of an input range (bytes is NULL), or a literal. */
struct tracemend_segment {
	uint64_t offset, length;
	size_t input;			   /* copy: index of the member */
	uint64_t from;			   /* copy: offset in it */
	const uint8_t *bytes;		   /* literal */
	const struct tracemend_rule *rule; /* literal: the rule that asked for it. copy: NULL, or why it is copied again */
	const char *why;		   /* literal, or a second copy; else "" */
	/* Runs. Segments that come again and again stand once in the list, with the offsets of their first time. */
	uint32_t group; /* in the first segment of a run: segments that repeat together, from this one on; else 0 */
	uint64_t times; /* how often the segment comes; 1: it is in no run */
	uint64_t repeat_offset, repeat_from; /* how much further it is in the output, and a copy in the input, each time */
};

/* An input range that is in no output (dropped), or that is in one but unverified (doubtful). */
struct tracemend_range {
	size_t input;
	uint64_t from, length;
	const struct tracemend_rule *rule; /* NULL in a doubtful range */
	const char *why;
	/* Runs, as of a segment. */
	uint32_t group;
	uint64_t times, repeat_from;
};

/* Plans a repair, and writes nothing. The repair needs the files of the input as they are until it is freed. NULL and *error on
 * failure; TM_NOTHING when nothing can be salvaged, TM_USAGE when there are two captures in one, TM_BUG when the planned output
 * would not check clean. */
TRACEMEND_API struct tracemend_repair *tracemend_repair(struct tracemend_input *input, const struct tracemend_options *options,
							struct tracemend_error *error);
TRACEMEND_API const struct tracemend_outcome *tracemend_repair_outcome(const struct tracemend_repair *repair);
/* The report of the input. */
TRACEMEND_API const struct tracemend_report *tracemend_repair_report(const struct tracemend_repair *repair);
TRACEMEND_API bool tracemend_repair_is_directory(const struct tracemend_repair *repair);
/* Computes the SHA-256 of members and outputs, by reading them once more; until then they are empty strings. */
TRACEMEND_API enum tracemend_status tracemend_repair_digest(struct tracemend_repair *repair, struct tracemend_error *error);
TRACEMEND_API size_t tracemend_repair_member_count(const struct tracemend_repair *repair);
TRACEMEND_API const struct tracemend_member *tracemend_repair_member(const struct tracemend_repair *repair, size_t index);
TRACEMEND_API size_t tracemend_repair_output_count(const struct tracemend_repair *repair);
TRACEMEND_API const struct tracemend_output *tracemend_repair_output(const struct tracemend_repair *repair, size_t index);
TRACEMEND_API struct tracemend_segment tracemend_repair_segment(const struct tracemend_repair *repair, size_t output, size_t index);
TRACEMEND_API size_t tracemend_repair_dropped_count(const struct tracemend_repair *repair);
TRACEMEND_API struct tracemend_range tracemend_repair_dropped(const struct tracemend_repair *repair, size_t index);
TRACEMEND_API size_t tracemend_repair_doubtful_count(const struct tracemend_repair *repair);
TRACEMEND_API struct tracemend_range tracemend_repair_doubtful(const struct tracemend_repair *repair, size_t index);
/* Reads bytes of an output as it will be written. TM_USAGE: the range is not within its size. */
TRACEMEND_API enum tracemend_status tracemend_repair_read(struct tracemend_repair *repair, size_t output, uint64_t offset,
							  void *buffer, size_t length);
/* A whole output in memory, to be freed by tracemend_free(); *size is set. NULL and *error on failure. It was checked as a plan;
 * the bytes need no further check. */
TRACEMEND_API void *tracemend_repair_bytes(struct tracemend_repair *repair, size_t output, size_t *size,
					   struct tracemend_error *error);
/* Writes the output under a temporary name, checks it, and renames it to path. An existing file is replaced as a whole; an
 * existing directory must be empty. TM_USAGE when path is the input or lies inside it. */
TRACEMEND_API enum tracemend_status tracemend_repair_publish(struct tracemend_repair *repair, const char *path,
							     struct tracemend_error *error);
/* The same, but accept() is asked before the output gets its name: with a path, in the folder of the output, at which other
 * programs can read it. If it returns false, nothing is published: TM_CANCELLED. It must leave what is there as it is: TM_IO
 * otherwise. NULL: nobody is asked. */
TRACEMEND_API enum tracemend_status tracemend_repair_publish_if(struct tracemend_repair *repair, const char *path,
								bool (*accept)(void *ctx, const char *temporary), void *ctx,
								struct tracemend_error *error);
/* What is asked while an output is published. Set size; members may be NULL. */
struct tracemend_publish {
	size_t size; /* sizeof(struct tracemend_publish) */
	/* As of tracemend_repair_publish_if(). */
	bool (*accept)(void *ctx, const char *temporary);
	/* Called when the output is written, checked and accepted, directly before it gets its name: what belongs to it, such as
	 * its manifest, is published here, so that there is never an output without it. False: nothing is published, TM_CANCELLED.
	 * The call may still fail after it. */
	bool (*ready)(void *ctx);
	void *ctx;
};
/* The same, with all that can be asked. publish may be NULL. */
TRACEMEND_API enum tracemend_status tracemend_repair_publish_with(struct tracemend_repair *repair, const char *path,
								  const struct tracemend_publish *publish,
								  struct tracemend_error *error);
TRACEMEND_API void tracemend_repair_free(struct tracemend_repair *repair);

/* ---- generate ---- */

enum tracemend_damage {
	TM_DAMAGE_NONE,
	TM_DAMAGE_TRUNCATE,
	TM_DAMAGE_HOLE,
	TM_DAMAGE_ZERO_TAIL,
	TM_DAMAGE_BITFLIP,
	TM_DAMAGE_DUPLICATE,
	TM_DAMAGE_INSERT,
	TM_DAMAGE_DELETE,
	TM_DAMAGE_COUNT
};

TRACEMEND_API const char *tracemend_damage_name(enum tracemend_damage damage);

struct tracemend_recipe {
	size_t struct_size;  /* sizeof(struct tracemend_recipe) */
	const char *format;  /* name, mandatory */
	const char *profile; /* NULL: the default */
	const char *rule;    /* id of the rule to break; NULL: a valid capture */
	enum tracemend_damage damage;
	uint64_t seed;		/* ignored when choices is given */
	uint64_t size;		/* wanted size in bytes, roughly; 0: small */
	const uint8_t *choices; /* a fuzzer's bytes that decide instead of the seed; NULL: the seed decides */
	size_t choices_size;
	bool host;  /* without all features that readers on an ordinary host do not open, but those in `with` */
	bool sound; /* the capture that the rule would have been broken in, without the defect: valid, unless its shape is the
		       defect */
	/* Names of features that each capture has, or has not; NULL-terminated, NULL: none. Of those that are one of something,
	 * each capture has one that is named. What the defect needs comes first; without a rule, features that cannot be together
	 * are TM_USAGE. */
	const char *const *with, *const *without;
};

struct tracemend_sample;

/* Makes a capture in memory; the same recipe gives the same capture. NULL and *error on failure (TM_USAGE: unknown rule). */
TRACEMEND_API struct tracemend_sample *tracemend_generate(const struct tracemend_recipe *recipe, struct tracemend_error *error);
/* The name of the sample: "<what>-<seed><extension>". */
TRACEMEND_API const char *tracemend_sample_name(const struct tracemend_sample *sample);
TRACEMEND_API bool tracemend_sample_is_directory(const struct tracemend_sample *sample);
TRACEMEND_API size_t tracemend_sample_file_count(const struct tracemend_sample *sample);
/* File name ("" for a single file), bytes and length. */
TRACEMEND_API const char *tracemend_sample_file(const struct tracemend_sample *sample, size_t index, const uint8_t **data,
						size_t *size);
/* The number of records of the capture before any damage. */
TRACEMEND_API uint64_t tracemend_sample_records(const struct tracemend_sample *sample);
/* The rules that check must report: the broken one first, then its declared companions. */
TRACEMEND_API size_t tracemend_sample_expect_count(const struct tracemend_sample *sample);
TRACEMEND_API const struct tracemend_rule *tracemend_sample_expect(const struct tracemend_sample *sample, size_t index);
/* Opens the sample as an input, without writing it to disk. The sample must outlive the input. */
TRACEMEND_API struct tracemend_input *tracemend_open_sample(const struct tracemend_sample *sample,
							    const struct tracemend_options *options, struct tracemend_error *error);
/* Writes the sample under its name into a directory, which is made if necessary. It appears as a whole. */
TRACEMEND_API enum tracemend_status tracemend_sample_write(const struct tracemend_sample *sample, const char *directory,
							   struct tracemend_error *error);
/* As tracemend_sample_write(), to a path whose directory exists. */
TRACEMEND_API enum tracemend_status tracemend_sample_write_as(const struct tracemend_sample *sample, const char *path,
							      struct tracemend_error *error);
TRACEMEND_API void tracemend_sample_free(struct tracemend_sample *sample);

/* ---- reduce ---- */

/* Makes a sample of the regular files of an input, without its extra pieces and donors. TM_LIMIT beyond REDUCE_BYTES_MAX. */
TRACEMEND_API struct tracemend_sample *tracemend_sample_of(struct tracemend_input *input, struct tracemend_error *error);

/* The interestingness predicate: what must stay true while a capture is made smaller. */
struct tracemend_predicate {
	size_t size; /* sizeof(struct tracemend_predicate) */
	/* Called with each candidate, which it must not keep. Must return the same for the same bytes. */
	bool (*holds)(void *ctx, const struct tracemend_sample *candidate);
	void *ctx;
	uint64_t tries;	 /* candidates to test at most; 0: no limit */
	uint64_t work;	 /* bytes of all candidates together, roughly; 0: no limit */
	bool bytes;	 /* remove ranges of bytes as well, although the parts are known: this breaks what was valid */
	bool inside_out; /* remove records before their groups: takes longer, and makes several small blocks */
};

/* Makes a capture smaller while the predicate holds: removes files, groups of records, records and their parts, and corrects
 * sizes, counts and offsets. Unless tries or work stop it, no single record of the result can be removed. The same input and
 * predicate give the same result. An input of unknown format is reduced by ranges of bytes. NULL and *error: TM_NOTHING when the
 * predicate does not hold for the whole capture, TM_LIMIT beyond REDUCE_BYTES_MAX. When it is stopped by options.progress, *error
 * is TM_CANCELLED, and the result is the smallest capture so far, or NULL if that is the whole one. */
TRACEMEND_API struct tracemend_sample *tracemend_reduce(struct tracemend_input *input, const struct tracemend_options *options,
							const struct tracemend_predicate *predicate, struct tracemend_error *error);

/* ---- printing ---- */

struct tracemend_print {
	size_t size;		    /* sizeof(struct tracemend_print) */
	const char *format;	    /* one of tracemend_print_format(); NULL: the first, text */
	bool color, quiet, verbose; /* of text */
	enum tracemend_severity
		fail_on; /* the lowest severity for which a capture fails, where a format says so; TM_IGNORE: none */
	const struct tracemend_options *options; /* with which the reports were made; NULL: none */
};

/* The formats of reports, the default first; NULL beyond the last one. Static. */
TRACEMEND_API const char *tracemend_print_format(size_t index);
/* Prints reports as one document. print may be NULL. TM_USAGE: an unknown format. TM_IO: the stream has failed. */
TRACEMEND_API enum tracemend_status tracemend_print(FILE *out, const struct tracemend_report *const *reports, size_t count,
						    const struct tracemend_print *print, struct tracemend_error *error);
/* Prints the manifest of a repair (tracemend-manifest(5)), and computes its digests before. */
TRACEMEND_API enum tracemend_status tracemend_print_manifest(FILE *out, struct tracemend_repair *repair,
							     struct tracemend_error *error);
/* The same as text, to be freed by tracemend_free(). NULL and *error on failure. */
TRACEMEND_API char *tracemend_report_text(const struct tracemend_report *report, const struct tracemend_print *print,
					  struct tracemend_error *error);
TRACEMEND_API char *tracemend_manifest_text(struct tracemend_repair *repair, struct tracemend_error *error);
TRACEMEND_API void tracemend_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif

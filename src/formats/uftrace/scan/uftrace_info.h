/* info: its header, its lines, and what they say. */
#ifndef UFTRACE_INFO_H
#define UFTRACE_INFO_H

#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_head {
	bool present; /* there is a header whose fields can be used */
	bool damaged; /* the recorder died: info is missing, or was not completed */
	bool big_endian;
	unsigned class; /* 1 or 2, inferred when the field makes no sense: */
	bool class_lost;
	unsigned wrong_class; /* what it has */
	unsigned version;
	uint64_t feat, mask;
	unsigned max_stack;
	uint64_t new_feat, new_mask;
	unsigned new_max_stack;
};

/* One line of info. */
struct uftrace_line {
	uint64_t offset;	  /* in info */
	size_t length, raw;	  /* without and with its CR and LF */
	struct uftrace_str value; /* after the key and the colon */
	unsigned bit;		  /* of info_mask; UFTRACE_I_COUNT: unknown key */
	bool key_second;	  /* elapsed_time; for ARG_SPEC any but argspec */
	bool drop, ended;
	unsigned rule;
	const char *why;
	char *text; /* owned: what is written instead, with its LF; NULL: itself */
};

struct uftrace_lines {
	struct uftrace_line *list; /* owned */
	size_t count, capacity;
	uint64_t trailing;    /* offset where the text ends, for readers */
	bool trailing_drop;   /* what is after it is a cut line */
	unsigned header_rule; /* UFTRACE_RULE_COUNT: the header is sound */
	const char *header_why;
	bool taskinfo_rewrite;
	unsigned taskinfo_rule;
	const char *taskinfo_why;
	uint64_t tids_offset, tids_length; /* of the list of tids */
	bool tids_present;
	struct finding *damage; /* a finding that explains lines which are missing */
	bool torn;		/* lines are missing, or are there too often, elsewhere than at the end */
};

struct uftrace_info {
	struct uftrace_head head;
	struct uftrace_lines lines;
	char *text; /* owned: the file; NULL: there is none, or its header is cut short */
	size_t size;
	size_t begin;			     /* where the lines begin: behind the header */
	uint8_t header[UFTRACE_HEADER_SIZE]; /* as it is taken: where `begin` is not 40 it was shifted */
	struct finding *recorder_died;	     /* what explains that much is missing */
	bool finished;			     /* info is missing, and symbol files are there, which are written last */
	struct uftrace_str exename, version_text, cmdline;
	uint64_t elapsed;      /* ns; 0 unknown */
	unsigned pattern_type; /* enum uftrace_pattern */
	bool pattern_lost;     /* specifications need one, and none is there: pattern_type is what they look like */
	enum uftrace_machine machine;
	unsigned version_number; /* major * 10000 + minor * 100 + patch; 0 unknown */
	bool foreign;		 /* written by another tool: the QEMU plugin */
};

enum uftrace_pattern { UFTRACE_PATTERN_SIMPLE, UFTRACE_PATTERN_REGEX, UFTRACE_PATTERN_GLOB, UFTRACE_PATTERN_UNKNOWN };

/* uftrace_info.c: the header, then all the rest of the file */
bool uftrace_info_walk(struct uftrace_walk *w);
void uftrace_info_free(struct uftrace_info *info);
/* Whether lines of that block are left out, or are said to be more than there are. */
bool uftrace_info_lost(const struct uftrace_info *info, unsigned bit);
/* Why the header is written anew; the first reason holds. */
void uftrace_info_blame(struct uftrace_info *info, enum uftrace_rule rule, const char *why);
/* uftrace_info_text.c: the lines after the header */
bool uftrace_info_text(struct uftrace_walk *w);
/* uftrace_info_values.c: what the lines say */
bool uftrace_info_values(struct uftrace_walk *w);
/* The name of a pattern type, as info has it. */
const char *uftrace_info_pattern(unsigned pattern_type);
/* The pattern type of that name; UFTRACE_PATTERN_UNKNOWN. */
unsigned uftrace_info_pattern_type(struct uftrace_str name);
/* uftrace_feat.c: feature bits and the maximum depth against the files; after all of them were walked */
bool uftrace_feat_check(struct uftrace_walk *w);
/* Whether more bits are set that nobody knows than a few later versions add. */
bool uftrace_feat_is_noise(uint64_t feat);

#endif

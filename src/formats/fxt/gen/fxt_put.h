/* Records, bit for bit: what is written, and where the parts of the record written last are. */
#ifndef FXT_PUT_H
#define FXT_PUT_H

#include "core/format.h"
#include "formats/fxt/fxt.h"

struct fxt_gen;

/* Text of the capture. data lives as long as the generator. */
struct fxt_text {
	const uint8_t *data;
	uint16_t length;
};

/* A string reference ready to be written: bit 15 set means that text follows inline. */
struct fxt_ref {
	uint16_t value;
	struct fxt_text text;
};

/* A thread reference ready to be written: index 0 means that the koids follow inline. */
struct fxt_who {
	uint8_t index;
	uint64_t process, thread;
};

/* An argument. value: what the type wants (for a bool its bit, for a blob its length in bytes). */
struct fxt_arg {
	unsigned type;
	struct fxt_ref name;
	uint64_t value;
	struct fxt_ref text;	/* type string */
	const uint8_t *payload; /* type blob; NULL: zeros */
};

#define FXT_ARGS_MAX 15u

/* An event of any type. */
struct fxt_gen_event {
	unsigned type;
	uint64_t time;
	struct fxt_who who;
	struct fxt_ref category, name;
	const struct fxt_arg *args;
	unsigned arg_count;
	uint64_t tail; /* counter id, end time or correlation id, for the types that have one */
	bool scope;    /* append `tail` to an instant as the undocumented scope word */
};

/* ---- marks: where the parts of the record written last are ---- */

enum fxt_mark_kind {
	MARK_TIME,     /* a word with a timestamp */
	MARK_STRING,   /* 16 bits: a string reference */
	MARK_THREAD,   /* 8 bits: a thread reference */
	MARK_KOIDS,    /* inline koids */
	MARK_STREAM,   /* bytes and their padding; role FXT_STREAM_* says what they are */
	MARK_RESERVED, /* bits that must be zero */
	MARK_ARGUMENT, /* an argument, from its header; role is its type */
	MARK_FIXED,    /* a word of another meaning */
};

enum fxt_stream_role { STREAM_TEXT, STREAM_PROVIDER, STREAM_OBJECT_NAME, STREAM_BYTES };

struct fxt_mark {
	uint8_t kind;
	uint8_t role;
	uint8_t shift, width; /* bits within the word at offset */
	size_t offset;	      /* of the word or stream in the output */
	size_t length;	      /* bytes of a stream, of an argument, of koids */
};

#define FXT_MARKS_MAX 256u

/* Starts and ends a record of any type by hand. fields: the header without type and size. */
void fxt_put_begin(struct fxt_gen *g);
void fxt_put_end(struct fxt_gen *g, unsigned type, uint64_t fields);
void fxt_put_end_large(struct fxt_gen *g, unsigned large_type, uint64_t fields);
void fxt_put_word(struct fxt_gen *g, uint64_t word);
void fxt_put_time(struct fxt_gen *g, uint64_t ticks);
/* A stream and its padding. data NULL: zeros. */
void fxt_put_stream(struct fxt_gen *g, enum fxt_stream_role role, const void *data, size_t length);
void fxt_put_args(struct fxt_gen *g, const struct fxt_arg *args, unsigned count);
void fxt_put_mark(struct fxt_gen *g, enum fxt_mark_kind kind, unsigned role, size_t offset, unsigned shift, unsigned width,
		  size_t length);

void fxt_put_magic(struct fxt_gen *g);
void fxt_put_provider_info(struct fxt_gen *g, uint32_t id, struct fxt_text name);
void fxt_put_provider_section(struct fxt_gen *g, uint32_t id);
void fxt_put_provider_event(struct fxt_gen *g, uint32_t id, unsigned event);
void fxt_put_initialization(struct fxt_gen *g, uint64_t rate);
void fxt_put_long_initialization(struct fxt_gen *g, uint64_t rate, uint64_t ticks, uint64_t wall_ns);
void fxt_put_string(struct fxt_gen *g, uint16_t index, struct fxt_text text);
void fxt_put_thread(struct fxt_gen *g, uint8_t index, uint64_t process, uint64_t thread);
void fxt_put_event(struct fxt_gen *g, const struct fxt_gen_event *event);
void fxt_put_blob(struct fxt_gen *g, struct fxt_ref name, unsigned type, const void *data, size_t length);
void fxt_put_userspace(struct fxt_gen *g, uint64_t pointer, struct fxt_who process, struct fxt_ref name, const struct fxt_arg *args,
		       unsigned arg_count);
void fxt_put_kernel(struct fxt_gen *g, unsigned object_type, uint64_t koid, struct fxt_ref name, const struct fxt_arg *args,
		    unsigned arg_count);
void fxt_put_legacy_switch(struct fxt_gen *g, uint64_t time, unsigned cpu, unsigned state, struct fxt_who outgoing,
			   struct fxt_who incoming, unsigned outgoing_priority, unsigned incoming_priority);
void fxt_put_switch(struct fxt_gen *g, uint64_t time, unsigned cpu, unsigned state, uint64_t outgoing, uint64_t incoming,
		    const struct fxt_arg *args, unsigned arg_count);
void fxt_put_wakeup(struct fxt_gen *g, uint64_t time, unsigned cpu, uint64_t thread, const struct fxt_arg *args,
		    unsigned arg_count);
void fxt_put_log(struct fxt_gen *g, uint64_t time, struct fxt_who who, struct fxt_text message);
void fxt_put_module(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned module, struct fxt_text name,
		    struct fxt_text build_id);
void fxt_put_mmap(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned module, unsigned flags, uint64_t start,
		  uint64_t range, uint64_t vaddr);
void fxt_put_backtrace(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned frames);
/* A large blob of either format (metadata: format 0, with time, thread and arguments). Event supplies the rest. */
void fxt_put_large_blob(struct fxt_gen *g, bool metadata, const struct fxt_gen_event *event, size_t payload);

/* The record written last, for breakers: its header, its words, its marks. */
uint64_t fxt_last_header(const struct fxt_gen *g);
void fxt_last_set(struct fxt_gen *g, size_t offset, unsigned shift, unsigned width, uint64_t value);
uint64_t fxt_last_get(const struct fxt_gen *g, size_t offset, unsigned shift, unsigned width);
/* Bytes of the record written last. */
size_t fxt_last_size(const struct fxt_gen *g);
/* Changes the size that its header claims; words may be anything. */
void fxt_last_claim(struct fxt_gen *g, uint64_t words);
/* One of its marks of that kind, chosen; NULL when there is none. */
const struct fxt_mark *fxt_last_mark(struct fxt_gen *g, enum fxt_mark_kind kind);

#endif

/* The bytes after a record: arguments, return values, event data. Their size is known from elsewhere, or has to be found. */
#include <stdio.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair_dat.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_sym.h"
#include "formats/uftrace/scan/uftrace_task.h"

#define ZEROS_MIN 64u /* so many zeros are not values: space that was never written */

/* Whether it is a record whose time is zero, too, as is everything behind it. */
static bool zeros_begin(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= ZEROS_MIN ? window_at(&t->window, at, ZEROS_MIN) : NULL;
	return p && bytes_are_zero(p + 8, ZEROS_MIN - 8);
}

bool uftrace_payload_was_record(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time)
{
	uint64_t left = at < end ? end - at : 0;
	const uint8_t *p = left ? window_at(&t->window, at, left < UFTRACE_RECORD_SIZE ? (size_t)left : UFTRACE_RECORD_SIZE) : NULL;

	if (!p || left < sizeof(uint64_t))
		return p != NULL;
	uint64_t when = load_u64(p, t->w->info->head.big_endian);
	if (when >= time && when - time <= uftrace_resync_horizon(t->w))
		return true;
	if (left < UFTRACE_RECORD_SIZE)
		return false;
	uint64_t word = load_u64(p + 8, t->w->info->head.big_endian);
	return (!when && !word) || zeros_begin(t, at, end) ||
	       (uftrace_word_magic(word) == UFTRACE_RECORD_MAGIC && uftrace_word_type(word) < UFTRACE_LOST && t->session.map &&
		uftrace_place_of(t, uftrace_word_address(word)) == UFTRACE_PLACE_MAPPED);
}

/* The values behind a call or a return. */
struct values {
	uint64_t at, end, time, address; /* of the record, of what may be read */
	uint64_t body;			 /* where they begin */
	bool retval;
	uint32_t module, symbol;
};

/* Where the values were found, and which of them cannot stay. */
static void name_values(struct uftrace_stream *t, const struct values *v, struct finding *fd)
{
	finding_path(fd, "task %llu > record %llu (%s)", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records,
		     v->retval ? "return" : "call");
}

/* Whether zeros begin within the address and go on: space that was never written, and no values. */
static bool address_is_gone(struct uftrace_stream *t, const struct values *v)
{
	const uint8_t *p = v->end - v->body >= ZEROS_MIN ? window_at(&t->window, v->body, ZEROS_MIN) : NULL;

	return p && bytes_are_zero(p, ZEROS_MIN) &&
	       (!v->address || (t->session.map && uftrace_place_of(t, v->address) == UFTRACE_PLACE_UNMAPPED &&
				!uftrace_map_has_orphan(t->w, v->address)));
}

static void name_of(struct uftrace_stream *t, const struct values *v, char out[TEXT_QUOTE_SIZE])
{
	if (v->symbol == UFTRACE_NONE) {
		snprintf(out, TEXT_QUOTE_SIZE, "0x%llx", (unsigned long long)v->address);
		return;
	}
	const struct uftrace_module *m = &t->w->symbols->modules[v->module];
	text_quote(out, m->names + m->symbols[v->symbol].name, m->symbols[v->symbol].length);
}

/* Whether the values show what info denies; else a bit of the record was hit, or they are the only ones. */
static bool are_there(struct uftrace_stream *t, const struct values *v)
{
	if (t->w->infer->wanted || !uftrace_resync_payload(t, v->body, v->end, v->time, true))
		return false;
	if (uftrace_infer_unannounced(t->w))
		uftrace_place_forget(t);
	return t->w->specs->present;
}

/* info has no specifications at all. */
static uint64_t unannounced(struct uftrace_stream *t, const struct values *v, unsigned *strip)
{
	struct uftrace_walk *w = t->w;
	int found = uftrace_resync_payload(t, v->body, v->end, v->time, true);

	if (found < 0)
		return 0;
	*strip = UFTRACE_RULE_argspec_missing;
	if (w->records->specs_missing || w->info->recorder_died) {
		w->records->specs_missing = w->records->specs_missing ? w->records->specs_missing : w->info->recorder_died;
		finding_explains(w->records->specs_missing, 1);
	} else {
		w->records->specs_missing = finding_report(
			w->findings, UFTRACE_RULE_argspec_missing, t->source, v->at, UFTRACE_RECORD_SIZE + (unsigned)found,
			"a record has arguments, and info has no argument specifications: readers stop everything here");
		finding_field(w->records->specs_missing, uftrace_word_at(w, v->at, 0, 1), 1, "more = 1");
	}
	return v->body + (unsigned)found;
}

/* The finding of another task about the same function, or by the same address where it has no name; NULL: there is none. */
static struct finding *told_before(const struct uftrace_records *records, const struct values *v)
{
	for (size_t i = 0; i < records->unspecified_count; i++) {
		const struct uftrace_unspecified *u = &records->unspecified[i];
		if (u->retval == v->retval && u->module == v->module && u->symbol == v->symbol &&
		    (v->symbol != UFTRACE_NONE || u->address == v->address))
			return u->finding;
	}
	return NULL;
}

static void remember_told(struct uftrace_records *records, const struct values *v, struct finding *fd)
{
	if (records->unspecified_count < UFTRACE_UNSPECIFIED_MAX)
		records->unspecified[records->unspecified_count++] = (struct uftrace_unspecified){ v->address, v->module, v->symbol,
												   v->retval, fd };
}

/* Why the session is one that is made up, and its map a guess. NULL: it has a line. */
static struct finding *made_up(const struct uftrace_stream *t)
{
	const struct uftrace_sessions *sessions = t->w->sessions;

	return t->session.index != UFTRACE_NONE && sessions->list[t->session.index].line == UFTRACE_NONE ? t->w->tasks->damage
													 : NULL;
}

/* The function has no specification, or none that can be determined. */
static uint64_t unspecified(struct uftrace_stream *t, const struct values *v, enum uftrace_spec_state state, unsigned *strip)
{
	struct uftrace_walk *w = t->w;
	/* Where nothing is mapped readers find no specification either, nor by a symbol file that has other functions. */
	enum uftrace_place place = t->session.map ? uftrace_place_of(t, v->address) : UFTRACE_PLACE_UNCHECKED;
	bool mapped = place == UFTRACE_PLACE_MAPPED || place == UFTRACE_PLACE_NO_SYMBOL;
	bool nameless = v->symbol == UFTRACE_NONE && v->module != UFTRACE_NONE && w->symbols->modules[v->module].count;
	int found = uftrace_resync_payload(t, v->body, v->end, v->time, true);
	char name[TEXT_QUOTE_SIZE];
	struct finding *fd;

	if (state == UFTRACE_SPEC_UNKNOWN && mapped && !nameless &&
	    (!uftrace_sym_is_empty(w->symbols, v->module) || w->info->foreign) && (!w->infer->cause || w->infer->nameless)) {
		w->records->unresolved++;
		return found < 0 ? 0 : v->body + (unsigned)found;
	}
	if (found < 0)
		return 0;
	struct finding *cause = w->infer->cause ? w->infer->cause : !t->session.map ? w->sessions->map_damage : made_up(t);
	if (cause) {
		finding_explains(cause, 1);
		*strip = UFTRACE_RULE_dat_payload_without_spec;
		return v->body + (unsigned)found;
	}
	*strip = UFTRACE_RULE_dat_payload_without_spec;
	name_of(t, v, name);
	if (!t->folds.no_spec.finding)
		t->folds.no_spec.finding = told_before(w->records, v);
	fd = uftrace_fold(t, &t->folds.no_spec, UFTRACE_RULE_dat_payload_without_spec, v->at, UFTRACE_RECORD_SIZE + (unsigned)found,
			  "a %s of %s has %s, and no specification says of what size", v->retval ? "return" : "call", name,
			  v->retval ? "a value" : "arguments");
	if (fd) {
		name_values(t, v, fd);
		finding_field(fd, uftrace_word_at(t->w, v->at, 0, 1), 1, "more = 1");
		remember_told(w->records, v, fd);
	}
	return v->body + (unsigned)found;
}

/* The same where the map is one of several that were to choose from: of the wrong one, the specification is another function's. */
static struct finding *guessed(const struct uftrace_stream *t)
{
	return t->w->maps->count > 1 ? made_up(t) : NULL;
}

/* Whether a few zeros, where there should be a record, may be values of another function. */
static bool are_zero_values(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time)
{
	const uint8_t *p = guessed(t) && end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;
	int more = p && bytes_are_zero(p, UFTRACE_RECORD_SIZE) ? uftrace_resync_payload(t, at, end, time, false) : -1;

	return more >= 0 && (unsigned)more < ZEROS_MIN;
}

/* Why the specification is a guess for which only a few records speak; NULL: it is not. */
static struct finding *guessed_by_few(const struct uftrace_stream *t, const struct values *v)
{
	const struct uftrace_mapping *m = t->session.map ? uftrace_map_find(t->session.map, v->address) : NULL;
	return m && uftrace_infer_is_weak(t->w, m, v->address, v->retval) ? t->w->infer->cause : NULL;
}

/* Records go on elsewhere than where the specification has it: after `size` bytes, -1 for none. */
static uint64_t mismatched(struct uftrace_stream *t, const struct values *v, int size, unsigned longest, unsigned *strip)
{
	int found = uftrace_resync_payload(t, v->body, v->end, v->time, true);
	bool string = longest > UFTRACE_STRING_MAX;
	char name[TEXT_QUOTE_SIZE];
	struct finding *fd;

	if (found < 0)
		return 0;
	struct finding *cause = guessed(t) ? guessed(t) : guessed_by_few(t, v);
	if (cause) {
		finding_explains(cause, 1);
		*strip = string ? UFTRACE_RULE_dat_string_length : UFTRACE_RULE_dat_payload_desync;
		return v->body + (unsigned)found;
	}
	unsigned whole = UFTRACE_RECORD_SIZE + (unsigned)found;
	name_of(t, v, name);
	if (string) {
		*strip = UFTRACE_RULE_dat_string_length;
		fd = uftrace_fold(t, &t->folds.desync, UFTRACE_RULE_dat_string_length, v->at, whole,
				  "a string argument of %s claims %u bytes; a record has room for 1018", name, longest);
	} else {
		*strip = UFTRACE_RULE_dat_payload_desync;
		fd = uftrace_fold(t, &t->folds.desync, UFTRACE_RULE_dat_payload_desync, v->at, whole,
				  "the %s of %s take %d bytes, and their specification says %d", v->retval ? "values" : "arguments",
				  name, found, size);
	}
	if (fd) {
		name_values(t, v, fd);
		finding_field(fd, v->body, (uint32_t)found, "%s", v->retval ? "return value" : "arguments");
	}
	return v->body + (unsigned)found;
}

/* Whether bytes that are not a valid record, directly behind values, are what is left of one: the address of a function, or the
 * middle of a time that is at most 16 ms after that of the record in front. */
static bool is_rest_of_record(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time)
{
	const bool big = t->w->info->head.big_endian;
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;
	uint32_t module, symbol;

	if (!p)
		return false;
	const uint64_t address = uftrace_word_address(load_u64(p + 8, big)), ahead = (load_u64(p, big) >> 16) - (time >> 16);
	if ((ahead & 0xffffff) <= 0xff && (time >> 16 & 0xffffff))
		return true;
	if (!address || !t->session.map || uftrace_place_of(t, address) != UFTRACE_PLACE_MAPPED)
		return false;
	uftrace_place_symbol(t, address, &module, &symbol);
	return symbol != UFTRACE_NONE;
}

/* Whether three in four bytes of a record's size are letters, or the zeros behind them: the rest of a string. */
static bool is_rest_of_string(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;
	unsigned letters = 0;

	for (unsigned i = 0; p && i < UFTRACE_RECORD_SIZE; i++)
		letters += !p[i] || (p[i] >= ' ' && p[i] < 127);
	return letters >= UFTRACE_RECORD_SIZE * 3 / 4;
}

/* Whether the size of the values holds: by what is left of the record behind, or, where there is room for one up to `next`, by a
 * record of the function in front of this one. The length of a string may be what was hit. */
static bool is_proven(struct uftrace_stream *t, const struct values *v, const struct uftrace_spec *spec, uint64_t after,
		      uint64_t next)
{
	const struct uftrace_known *known = uftrace_known_at(t, v->address);

	return is_rest_of_record(t, after, v->end, v->time) ||
	       (next - after >= UFTRACE_RECORD_SIZE && known->key == (v->address | t->era) && known->specs[v->retval] == spec &&
		(spec->fixed || !is_rest_of_string(t, after, v->end)));
}

static void know_spec(struct uftrace_stream *t, const struct values *v, const struct uftrace_spec *spec)
{
	struct uftrace_known *known = uftrace_known_at(t, v->address);

	if (known->key == (v->address | t->era))
		known->specs[v->retval] = spec;
}

static uint64_t specified(struct uftrace_stream *t, const struct values *v, const struct uftrace_spec *spec, unsigned *strip)
{
	size_t got = 0, room = v->end - v->body < UFTRACE_PAYLOAD_MAX + 8 ? (size_t)(v->end - v->body) : UFTRACE_PAYLOAD_MAX + 8;
	struct uftrace_strings strings;
	const uint8_t *p = window_upto(&t->window, v->body, room, &got);
	int size = uftrace_argspec_size(spec, p, p ? got : 0, t->w->info->head.big_endian, &strings);
	const unsigned longest = strings.longest;
	const bool too_long = size < 0 || longest > UFTRACE_STRING_MAX;
	const uint64_t after = v->body + (too_long ? UFTRACE_PAYLOAD_MAX : (unsigned)size);

	if (too_long || (after != v->end && !uftrace_resync_plausible(t, after, v->end, v->time, 1))) {
		const uint64_t again = uftrace_damage_straddling(t, v->at, after, v->end);
		if (again) {
			*strip = UFTRACE_RULE_dat_duplicate_block;
			return again;
		}
	}
	if (too_long)
		return mismatched(t, v, size, longest, strip);
	/* Where no record follows, it may be that one which is damaged. */
	if (!uftrace_resync_goes_on(t, after, v->end, v->time, 1) && after != v->end &&
	    (!uftrace_payload_was_record(t, after, v->end, v->time) || are_zero_values(t, after, v->end, v->time))) {
		int found = uftrace_resync_payload(t, v->body, v->end, v->time, false);
		/* Behind values as they should be, the next record is what is damaged. */
		if (found > size && is_proven(t, v, spec, after, v->body + (unsigned)found)) {
			know_spec(t, v, spec);
			return after;
		}
		if (found >= 0)
			return mismatched(t, v, size, longest, strip);
		if (uftrace_resync(t, v->body + 1, after, v->end, v->time) != v->end)
			return 0; /* one begins within the values */
	}
	/* No writer has such a string: does it reach over records? */
	if ((longest > UFTRACE_STRING_WRITER_MAX || strings.nul) &&
	    uftrace_resync(t, v->body + 1, after, v->end, v->time) != v->end)
		return 0;
	if (longest > UFTRACE_STRING_WRITER_MAX)
		uftrace_fold_milder(t, &t->folds.long_string, UFTRACE_RULE_dat_string_length, TM_WARNING, v->at,
				    UFTRACE_RECORD_SIZE + (unsigned)size, "a string argument has %u bytes; writers cut at 98",
				    longest);
	know_spec(t, v, spec);
	return after;
}

/* Whether it is the first function with values whose program has no symbols: readers find no specification by its name. */
static bool is_nameless(struct uftrace_stream *t, const struct values *v)
{
	if (!uftrace_sym_is_empty(t->w->symbols, v->module) || t->w->infer->wanted || t->w->info->foreign || !t->session.map)
		return false;
	const struct uftrace_mapping *m = uftrace_map_find(t->session.map, v->address);
	return m && m->path.length && m->path.text[0] != '[';
}

uint64_t uftrace_payload(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word, unsigned *strip)
{
	struct values v = { .at = at,
			    .end = end,
			    .time = time,
			    .address = uftrace_word_address(word),
			    .body = at + UFTRACE_RECORD_SIZE,
			    .retval = uftrace_word_type(word) == UFTRACE_EXIT };

	*strip = UFTRACE_RULE_COUNT;
	if (address_is_gone(t, &v))
		return 0;
	t->w->records->arguments |= !v.retval;
	t->w->records->retvals |= v.retval;
	if (!t->w->specs->present && !are_there(t, &v))
		return t->w->status == TM_OK ? unannounced(t, &v, strip) : 0;
	uftrace_place_symbol(t, v.address, &v.module, &v.symbol);
	if (is_nameless(t, &v)) {
		if (!uftrace_infer_nameless(t->w, t->source, v.at))
			return 0;
		uftrace_place_forget(t);
		uftrace_place_symbol(t, v.address, &v.module, &v.symbol);
	}
	const struct uftrace_spec *spec = uftrace_spec_of(t->w, v.module, v.symbol, v.retval);
	if (!spec)
		return 0;
	return spec->state == UFTRACE_SPEC_KNOWN ? specified(t, &v, spec, strip) : unspecified(t, &v, spec->state, strip);
}

unsigned uftrace_payload_strayed(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word)
{
	struct uftrace_walk *w = t->w;
	struct finding *fd;

	/* The last session ends at the greatest time, and does not have it. */
	if (time != UINT64_MAX && uftrace_session_at(w->sessions, w->tasks, t->pid, time) == t->session.index &&
	    uftrace_session_reaches(w->tasks, (int64_t)t->dat->tid, time))
		return UFTRACE_RULE_COUNT;
	fd = uftrace_fold(t, &t->folds.no_spec, UFTRACE_RULE_dat_payload_without_spec, at, next - at,
			  "a %s has %s, and by its time, %llu ns, it belongs to no session with a specification: readers stop here",
			  uftrace_word_type(word) == UFTRACE_EXIT ? "return" : "call",
			  uftrace_word_type(word) == UFTRACE_EXIT ? "a value" : "arguments", (unsigned long long)time);
	if (fd)
		finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
	return UFTRACE_RULE_dat_payload_without_spec;
}

/* An event without data. False: there is none of that number. */
static bool check_event(struct uftrace_stream *t, uint64_t at, uint64_t id, bool table)
{
	bool never = (id >= UFTRACE_E_PERF_FIRST && id <= UFTRACE_E_PERF_LAST) || id >= UFTRACE_E_EXTERN;
	bool user = id >= UFTRACE_E_USER_FIRST && id < UFTRACE_E_EXTERN;

	if (never)
		uftrace_fold(t, &t->folds.virtual_event, UFTRACE_RULE_dat_event_virtual, at, UFTRACE_RECORD_SIZE,
			     "event %llu is never stored in a task's file", (unsigned long long)id);
	else if (!table && !(user && map_get(&t->w->records->event_ids, id) != UFTRACE_NONE))
		uftrace_fold_milder(t, &t->folds.unknown_event, UFTRACE_RULE_dat_event_unknown, TM_WARNING, at, UFTRACE_RECORD_SIZE,
				    "event %llu is not one of uftrace%s", (unsigned long long)id,
				    user ? ", nor in events.txt" : "");
	return !never && (table || user);
}

uint64_t uftrace_event(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word, unsigned *drop)
{
	const struct uftrace_head *head = &t->w->info->head;
	uint64_t id = uftrace_word_address(word), body = at + UFTRACE_RECORD_SIZE;
	unsigned min = 0, max = 0, length = 0;
	struct finding *fd;
	bool table = uftrace_event_length(id, head->class == UFTRACE_64 ? 8 : 4, &min, &max);

	*drop = UFTRACE_RULE_COUNT;
	if (uftrace_word_depth(word))
		uftrace_fold(t, &t->folds.event_depth, UFTRACE_RULE_dat_event_depth, at, UFTRACE_RECORD_SIZE,
			     "event %llu has depth %u; recorders store 0", (unsigned long long)id, uftrace_word_depth(word));
	if (!uftrace_word_more(word)) {
		if (!check_event(t, at, id, table))
			uftrace_repair_doubt_record(t, at, body);
		return body;
	}
	if (end - body >= 2) {
		const uint8_t *p = window_at(&t->window, body, 2);
		if (!p)
			return 0;
		length = load_u16(p, head->big_endian);
	}
	unsigned claimed = (length + 2 + 7) & ~7u;
	bool room = claimed <= end - body;
	if (table && length >= min && length <= max)
		return room ? body + claimed : 0; /* 0: cut in the middle */
	/* Which size is the true one? That after which records go on. */
	int found = length && claimed <= UFTRACE_PAYLOAD_MAX && room && uftrace_resync_plausible(t, body + claimed, end, time, 2)
			    ? (int)claimed
			    : uftrace_resync_payload(t, body, end, time, true);
	if (found < 0)
		return 0;
	unsigned whole = UFTRACE_RECORD_SIZE + (unsigned)found;
	if (table) {
		*drop = UFTRACE_RULE_dat_event_length;
		fd = uftrace_fold(t, &t->folds.event_length, UFTRACE_RULE_dat_event_length, at, whole,
				  "the data of event %llu have %u bytes; they should have %u", (unsigned long long)id, length, min);
	} else {
		*drop = UFTRACE_RULE_dat_event_unknown;
		fd = uftrace_fold(t, &t->folds.event_more, UFTRACE_RULE_dat_event_unknown, at, whole,
				  "event %llu is unknown, and has data of %u bytes: readers stop here", (unsigned long long)id,
				  length);
	}
	if (fd)
		finding_field(fd, body, 2, "length = %u", length);
	return body + (unsigned)found;
}

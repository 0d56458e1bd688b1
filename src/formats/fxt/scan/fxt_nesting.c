/* Durations of a thread, "Duration begin event" and "Duration end event", matched in the order of time although records may
 * come in any order.
 *
 * Begins and ends are parentheses. Only the unmatched ones are kept: in the order of time they always read ")))(((". An event
 * that is not older than the newest one pushes or pops at the end. A late one, at time t, is matched with what is there: a
 * begin with the first unmatched end after t, an end with the last unmatched begin before t. Where there is none, it is not
 * certain any more which events are unmatched; the thread is then called unsure, and its unmatched events are not reported. */
#include "formats/fxt/scan/fxt_nesting.h"

#include <stdlib.h>

#include "core/array.h"
#include "formats/fxt/scan/fxt_hash.h"

/* Entries of a list with its first event. array_room() begins with more: 65,536 threads have two lists each. */
#define OPEN_START 4u

static uint64_t hash_of(uint64_t process, uint64_t thread)
{
	const uint64_t koids[2] = { process, thread };

	return fxt_hash(koids, sizeof(koids));
}

static struct fxt_thread *first_of(const struct fxt_nesting *n, uint64_t hash)
{
	const uint32_t first = map_get(&n->hashes, hash);

	return first == MAP_NONE ? NULL : n->threads[first];
}

struct fxt_thread *fxt_nesting_find(const struct fxt_nesting *n, uint64_t process, uint64_t thread)
{
	struct fxt_thread *t = first_of(n, hash_of(process, thread));

	while (t && (t->process != process || t->thread != thread))
		t = t->same_hash;
	return t;
}

struct fxt_thread *fxt_nesting_thread(struct fxt_nesting *n, uint64_t process, uint64_t thread)
{
	const uint64_t hash = hash_of(process, thread);
	struct fxt_thread *t = fxt_nesting_find(n, process, thread);

	if (t)
		return t;
	if (n->count == FXT_THREADS_MAX) {
		fxt_note(n->report, FXT_RULE_semantic_bound_reached, n->report->here.at, FXT_WORD,
			 "there are more than %u threads; the durations of further threads are not tracked", FXT_THREADS_MAX);
		return NULL;
	}
	struct fxt_thread *other = first_of(n, hash);
	if (array_room(&n->threads, &n->capacity, n->count, sizeof(*n->threads), FXT_THREADS_MAX) == TM_OK)
		t = calloc(1, sizeof(*t));
	if (!t || map_set(&n->hashes, hash, (uint32_t)n->count, FXT_THREADS_MAX) != TM_OK) {
		free(t);
		fxt_report_no_memory(n->report);
		return NULL;
	}
	t->process = process;
	t->thread = thread;
	t->same_hash = other;
	n->threads[n->count++] = t;
	return t;
}

/* Stops tracking a thread, and notes why. */
static void thread_give_up(struct fxt_nesting *n, struct fxt_thread *t, uint64_t offset, const char *why)
{
	struct finding *fd = NULL;
	if (!t->given_up)
		fd = fxt_note(n->report, FXT_RULE_semantic_bound_reached, offset, 0, "%s", why);
	if (fd)
		finding_path(fd, "process %llu > thread %llu", (unsigned long long)t->process, (unsigned long long)t->thread);
	n->open_room -= t->open_capacity + t->ends_capacity;
	free(t->open);
	free(t->ends);
	t->open = t->ends = NULL;
	t->depth = t->ends_count = t->open_capacity = t->ends_capacity = 0;
	t->given_up = true;
	t->steady = false;
}

static bool grow(struct fxt_nesting *n, struct fxt_thread *t, struct fxt_open **list, uint32_t count, uint32_t *capacity,
		 uint64_t offset)
{
	if (count < *capacity)
		return true;
	uint32_t wanted = *capacity ? 2 * *capacity : OPEN_START;
	if (wanted > FXT_DEPTH_MAX || wanted - *capacity > FXT_OPEN_MAX - n->open_room) {
		thread_give_up(n, t, offset,
			       wanted > FXT_DEPTH_MAX ? "too many durations of this thread are open to track them"
						      : "too many durations of all threads are open to track them");
		return false;
	}
	struct fxt_open *bigger = realloc(*list, wanted * sizeof(**list));
	if (!bigger) {
		fxt_report_no_memory(n->report);
		return false;
	}
	*list = bigger;
	n->open_room += wanted - *capacity;
	*capacity = wanted;
	return true;
}

/* Index of the first entry later than time. The list is short of FXT_LATE_MAX entries from its end, or UINT32_MAX. */
static uint32_t place(const struct fxt_open *list, uint32_t count, uint64_t time)
{
	size_t i;
	array_search(i, count, list[i].time <= time);
	return count - i > FXT_LATE_MAX ? UINT32_MAX : (uint32_t)i;
}

static void take_out(struct fxt_open *list, uint32_t *count, uint32_t at)
{
	memmove(&list[at], &list[at + 1], (*count - at - 1) * sizeof(*list));
	(*count)--;
}

static void put_in(struct fxt_open *list, uint32_t *count, uint32_t at, struct fxt_open entry)
{
	memmove(&list[at + 1], &list[at], (*count - at) * sizeof(*list));
	list[at] = entry;
	(*count)++;
}

static void thread_report(struct fxt_nesting *n, struct fxt_thread *t);

static const char too_late[] = "an event of this thread comes so late that its nesting is not tracked any more";

/* Archives were joined: the provider was introduced again, and its clock starts again. Durations that are open have no end. */
static void start_over(struct fxt_nesting *n, struct fxt_thread *t, uint64_t time)
{
	t->fresh = false;
	t->steady = t->began && !t->given_up;
	if (time >= t->newest)
		return;
	thread_report(n, t);
	t->newest = t->first_begin = t->flows_outside = 0;
	t->depth = t->ends_count = 0;
	t->began = t->completes = t->late = t->unsure = t->given_up = t->steady = false;
}

void fxt_nesting_begin(struct fxt_nesting *n, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name)
{
	uint32_t at;
	if (t->fresh)
		start_over(n, t, time);
	if (!t->began || time < t->first_begin)
		t->first_begin = time;
	t->began = true;
	if (t->given_up)
		return;
	t->steady = true;
	if (time < t->newest) {
		t->late = true;
		at = place(t->ends, t->ends_count, time);
		if (at == UINT32_MAX) {
			thread_give_up(n, t, offset, too_late);
			return;
		}
		if (at < t->ends_count) {
			take_out(t->ends, &t->ends_count, at);
			return;
		}
		at = place(t->open, t->depth, time);
		if (at == UINT32_MAX) {
			thread_give_up(n, t, offset, too_late);
			return;
		}
		t->unsure = true;
	} else {
		t->newest = time;
		at = t->depth;
	}
	if (grow(n, t, &t->open, t->depth, &t->open_capacity, offset))
		put_in(t->open, &t->depth, at, (struct fxt_open){ time, offset, name });
}

void fxt_nesting_end(struct fxt_nesting *n, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name)
{
	uint32_t at;
	if (t->fresh)
		start_over(n, t, time);
	if (t->given_up)
		return;
	if (time < t->newest) {
		t->late = true;
		at = place(t->open, t->depth, time);
		if (at == UINT32_MAX) {
			thread_give_up(n, t, offset, too_late);
			return;
		}
		if (at) {
			take_out(t->open, &t->depth, at - 1);
			return;
		}
		at = place(t->ends, t->ends_count, time);
		if (at == UINT32_MAX) {
			thread_give_up(n, t, offset, too_late);
			return;
		}
		t->unsure = true;
	} else {
		t->newest = time;
		if (t->depth) {
			uint64_t begun = t->open[--t->depth].name;
			if (name && begun != name)
				fxt_note(n->report, FXT_RULE_duration_end_name_mismatch, offset, FXT_WORD,
					 "the name of this end differs from that of its begin at offset 0x%llx",
					 (unsigned long long)t->open[t->depth].offset);
			return;
		}
		at = t->ends_count;
	}
	if (grow(n, t, &t->ends, t->ends_count, &t->ends_capacity, offset))
		put_in(t->ends, &t->ends_count, at, (struct fxt_open){ time, offset, name });
}

static void report_one(struct fxt_nesting *n, const struct fxt_thread *t, const struct fxt_open *o, bool end)
{
	bool excused = n->report->buffer_full || (end && (!t->began || o->time < t->first_begin));
	if (!excused)
		fxt_report_unpaired(n->report, o->offset, !end);
	if (!excused && fxt_report_hidden(n->report, o->offset, end))
		return;
	struct finding *fd = finding_milder(n->report->s->findings,
					    end ? FXT_RULE_unmatched_duration_end : FXT_RULE_unclosed_duration,
					    excused ? TM_NOTE : TM_WARNING, n->report->source, o->offset, 2 * FXT_WORD);
	if (!finding_kept(fd))
		return;
	finding_say(fd,
		    end ? "a duration ends at tick %llu, and no duration is open"
			: "the duration that begins at tick %llu has no end",
		    (unsigned long long)o->time);
	finding_path(fd, "process %llu > thread %llu", (unsigned long long)t->process, (unsigned long long)t->thread);
}

/* Reports the unmatched begins and ends of a thread. */
static void thread_report(struct fxt_nesting *n, struct fxt_thread *t)
{
	if (t->flows_outside && !t->completes && !t->late) {
		struct finding *fd = fxt_note(n->report, FXT_RULE_flow_outside_duration, t->flow_offset, 2 * FXT_WORD,
					      "%llu flow events of this thread are not inside a duration",
					      (unsigned long long)t->flows_outside);
		if (fd) {
			finding_path(fd, "process %llu > thread %llu", (unsigned long long)t->process,
				     (unsigned long long)t->thread);
		}
	}
	if (t->unsure && (t->depth || t->ends_count)) {
		thread_give_up(n, t, t->depth ? t->open[0].offset : t->ends[0].offset,
			       "events of this thread come so late that it is not known which begins and ends are unmatched");
		return;
	}
	for (uint32_t i = 0; i < t->ends_count; i++)
		report_one(n, t, &t->ends[i], true);
	for (uint32_t i = 0; i < t->depth; i++)
		report_one(n, t, &t->open[i], false);
}

const struct fxt_open *fxt_nesting_single(const struct fxt_thread *t)
{
	const struct fxt_open *o = t->depth ? t->open : t->ends;

	/* Of a pair that is not in the lists any more, one is later, or is a begin and earlier. */
	if (t->registrations || t->depth + t->ends_count != 1 || t->newest != o->time || t->began != (t->depth == 1) ||
	    (t->began && t->first_begin != o->time))
		return NULL;
	return o;
}

void fxt_nesting_report(struct fxt_nesting *n)
{
	for (size_t i = 0; i < n->count; i++)
		thread_report(n, n->threads[i]);
}

void fxt_nesting_close(struct fxt_nesting *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->threads[i]->open);
		free(n->threads[i]->ends);
		free(n->threads[i]);
	}
	free(n->threads);
	map_free(&n->hashes);
}

/* A thread is known by its koids alone. Where those of a reference or of a registration are hit, there is another thread, which has
 * the begin of a duration while the right one has its end, or the other way round; or koids that no other thread is near. */
#include "formats/fxt/salvage/fxt_unpaired.h"

#include <stdlib.h>

#include "formats/fxt/salvage/fxt_again.h"

/* ---- a single reference ---- */

static void doubt(const struct fxt_unpaired *u, uint64_t at, uint64_t length, const char *why)
{
	plan_doubt(u->plan, u->source, at, length, why);
	plan_lost_other(u->plan);
}

static void doubt_single(const struct fxt_unpaired *u, uint64_t at)
{
	if (fxt_decode_other(u->resync, at))
		doubt(u, at, u->resync->other.words * FXT_WORD, "its thread is met nowhere else: the reference may be damaged");
}

/* A begin or an end whose inline thread was hit has a thread of its own. Where there is other damage, that explains that the
 * counterpart is missing. */
static void doubt_singles(const struct fxt_unpaired *u, uint64_t errors)
{
	const struct fxt_nesting *n = u->nesting;
	uint64_t singles = 0;

	for (size_t i = 0; i < n->count; i++)
		singles += fxt_nesting_single(n->threads[i]) != NULL;
	if (!singles || singles > (errors + 1) * FXT_SINGLES_MAX)
		return;
	for (size_t i = 0; i < n->count; i++) {
		const struct fxt_open *o = fxt_nesting_single(n->threads[i]);
		if (o)
			doubt_single(u, o->offset);
	}
}

/* ---- two threads ---- */

/* A begin or an end without a counterpart. */
struct loose {
	uint64_t koid, name, time; /* koid: one of its thread's, or 0 */
	struct fxt_thread *thread;
	bool begin;
};

#define KEYS 3u

static int by_name(const void *a, const void *b)
{
	const struct loose *l = a, *r = b;

	if (l->koid != r->koid)
		return l->koid < r->koid ? -1 : 1;
	if (l->name != r->name)
		return l->name < r->name ? -1 : 1;
	if (l->time != r->time)
		return l->time < r->time ? -1 : 1;
	return r->begin - l->begin;
}

/* Those of all threads, under both koids and under none. 0: there are none, or too many. */
static size_t collect(const struct fxt_nesting *n, struct loose *list)
{
	size_t count = 0;

	for (size_t i = 0; i < n->count; i++) {
		struct fxt_thread *t = n->threads[i];
		if (t->depth + t->ends_count > FXT_UNPAIRED_MAX - count / KEYS)
			return 0;
		for (uint32_t k = 0; k < t->depth + t->ends_count; k++) {
			const bool begin = k < t->depth;
			const struct fxt_open *o = begin ? &t->open[k] : &t->ends[k - t->depth];
			const uint64_t koids[KEYS] = { 0, t->process, t->thread };
			for (unsigned x = 0; x < KEYS && o->name; x++)
				list[count++] = (struct loose){ koids[x], o->name, o->time, t, begin };
		}
	}
	qsort(list, count, sizeof(*list), by_name);
	return count;
}

/* Whether the record changes to another provider, or back; ends: the provider of the thread forgets it. */
static bool changes(const struct fxt_record *r, const struct fxt_thread *t, bool *own, bool *ends)
{
	if (r->type != FXT_METADATA || (r->subtype != FXT_PROVIDER_INFO && r->subtype != FXT_PROVIDER_SECTION))
		return false;
	*own = !t->anonymous && r->id == t->provider;
	*ends = t->anonymous || (*own && r->subtype == FXT_PROVIDER_INFO);
	return true;
}

/* Lists the registration of the thread, and the records that refer to it. */
static void doubt_registration(const struct fxt_unpaired *u, const struct fxt_thread *t, const char *why)
{
	const struct fxt_record *r = &u->resync->other;
	bool own = true, ends = false;
	uint64_t at = t->registered;
	uint32_t index;

	if (!fxt_decode_other(u->resync, at) || r->type != FXT_THREAD)
		return;
	index = r->id;
	doubt(u, at, r->words * FXT_WORD, why);
	struct fxt_again again = { .resync = u->resync, .plan = u->plan };
	for (at += r->words * FXT_WORD; !ends && fxt_again_next(&again, &at, u->source->size); at += r->words * FXT_WORD) {
		if (!changes(r, t, &own, &ends) && own && r->type == FXT_THREAD && r->id == index)
			return;
		for (unsigned n = 0; own && r->type != FXT_THREAD && n < r->thread_count; n++)
			if (r->threads[n].ref == index) {
				doubt(u, at, r->words * FXT_WORD, why);
				break;
			}
	}
}

/* Adds a thread that is registered once: of more registrations, all would have to be hit. False: there are too many. */
static bool suspect(struct fxt_thread *t, struct fxt_thread **threads, size_t *found)
{
	for (size_t k = 0; k < *found; k++)
		if (threads[k] == t)
			return true;
	if (t->registrations != 1)
		return true;
	if (*found == FXT_UNPAIRED_THREADS_MAX)
		return false;
	threads[(*found)++] = t;
	return true;
}

/* Whether no other thread is of the same process. */
static bool is_alone(const struct fxt_nesting *n, const struct fxt_thread *t)
{
	size_t of_process = 0;

	for (size_t i = 0; i < n->count; i++)
		of_process += n->threads[i]->process == t->process;
	return of_process == 1;
}

/* Durations that begin in one thread and end in another one: a reference of one of the two was hit, or the registration of one.
 * Where they have a koid in common it is not known of which; else of one that is alone in its process, as both its koids were hit.
 */
static void doubt_pairs(const struct fxt_unpaired *u, const struct loose *list, size_t count)
{
	static const char why[] = "durations of its thread begin or end in another one: the koids of one of the two may be damaged";
	struct fxt_thread *threads[FXT_UNPAIRED_THREADS_MAX];
	size_t found = 0, compared = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		const struct loose *a = &list[i], *b = &list[i + 1];
		if (a->koid != b->koid || a->name != b->name || !a->begin || b->begin || a->thread == b->thread)
			continue;
		const struct fxt_open *of[2] = { fxt_nesting_single(a->thread), fxt_nesting_single(b->thread) };
		for (unsigned k = 0; k < 2 && !a->koid; k++) {
			struct fxt_thread *t = k ? b->thread : a->thread;
			if (of[k])
				doubt_single(u, of[k]->offset);
			else if (compared++ < FXT_UNPAIRED_COMPARED && is_alone(u->nesting, t) && !suspect(t, threads, &found))
				return;
		}
		if (a->koid && (!suspect(a->thread, threads, &found) || !suspect(b->thread, threads, &found)))
			return;
	}
	for (size_t i = 0; i < found; i++)
		doubt_registration(u, threads[i], why);
}

/* ---- koids far from all others ---- */

/* Koids are handed out in order. One that is so many times the usual one was hit; at least so many threads tell what is usual. */
#define KOID_FAR (UINT64_C(1) << 24)
#define KOID_THREADS 6u
/* Recorders set this bit in koids that they make up. */
#define KOID_MADE_UP (UINT64_C(1) << 63)

static int by_koid(const void *a, const void *b)
{
	const uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;
	return (l > r) - (l < r);
}

static uint64_t koid_of(const struct fxt_thread *t, bool thread)
{
	return (thread ? t->thread : t->process) & ~KOID_MADE_UP;
}

/* Lists what refers to threads whose koid of the process, or of the thread, is far above those of the others. koids: room for all.
 */
static void doubt_far(const struct fxt_unpaired *u, bool thread, uint64_t *koids)
{
	const struct fxt_nesting *n = u->nesting;
	const struct fxt_thread *far[FXT_UNPAIRED_THREADS_MAX];
	size_t count = 0, found = 0;

	for (size_t i = 0; i < n->count; i++)
		if (n->threads[i]->registrations)
			koids[count++] = koid_of(n->threads[i], thread);
	if (count < KOID_THREADS)
		return;
	qsort(koids, count, sizeof(*koids), by_koid);
	const uint64_t usual = koids[count / 2] + 1;
	for (size_t i = 0; i < n->count; i++) {
		if (n->threads[i]->registrations != 1 || koid_of(n->threads[i], thread) / KOID_FAR < usual)
			continue;
		/* Of many, it is how the recorder numbers them. */
		if (found == FXT_UNPAIRED_THREADS_MAX || found == count / KOID_THREADS)
			return;
		far[found++] = n->threads[i];
	}
	for (size_t i = 0; i < found; i++)
		doubt_registration(u, far[i], "a koid of its thread is far from all others: it may be damaged");
}

static void doubt_far_koids(const struct fxt_unpaired *u)
{
	const bool any = u->plan && u->nesting->count;
	uint64_t *koids = any ? malloc(u->nesting->count * sizeof(*koids)) : NULL;

	if (any && !koids)
		fxt_report_no_memory(u->nesting->report);
	for (unsigned thread = 0; koids && thread < 2; thread++)
		doubt_far(u, thread, koids);
	free(koids);
}

/* ---- operations whose id was hit ---- */

/* A begin, step or end of an operation that has no counterpart. */
struct lone {
	uint64_t at, length;
	uint64_t name; /* category and name, as the header refers to them */
	unsigned of;   /* FXT_ASYNC_BEGIN or FXT_FLOW_BEGIN */
	bool end, step;
};

/* Those of the report. Returns how many. */
static unsigned lone_collect(const struct fxt_unpaired *u, const struct fxt_report *report, struct lone *lone)
{
	const struct fxt_record *r = &u->resync->other;
	const uint64_t listed = report->unpaired < FXT_UNPAIRED_LISTED ? report->unpaired : FXT_UNPAIRED_LISTED;
	unsigned count = 0;

	for (uint64_t i = 0; i < listed; i++) {
		const uint64_t at = report->unpaired_at[i];
		if (!fxt_decode_other(u->resync, at) || r->type != FXT_EVENT || r->subtype < FXT_ASYNC_BEGIN ||
		    r->subtype > FXT_FLOW_END)
			continue;
		lone[count++] = (struct lone){ at,
					       r->words * FXT_WORD,
					       r->header >> 32,
					       r->subtype < FXT_FLOW_BEGIN ? FXT_ASYNC_BEGIN : FXT_FLOW_BEGIN,
					       report->unpaired_ends >> i & 1,
					       r->subtype == FXT_ASYNC_INSTANT || r->subtype == FXT_FLOW_STEP };
	}
	return count;
}

/* One operation has a begin alone, and another one of the same kind and name has none: the id of one of the two was hit, if not
 * what they lack was lost. */
static void doubt_ids(const struct fxt_unpaired *u, const struct fxt_report *report)
{
	struct lone lone[FXT_UNPAIRED_LISTED];
	const unsigned count = lone_collect(u, report, lone);

	for (unsigned i = 0; i < count; i++) {
		if (lone[i].step)
			doubt(u, lone[i].at, lone[i].length, "a step of an operation that has no begin: its id may be damaged");
		for (unsigned k = 0; k < count && !lone[i].step; k++)
			if (lone[k].end != lone[i].end && lone[k].of == lone[i].of && lone[k].name == lone[i].name) {
				doubt(u, lone[i].at, lone[i].length,
				      "an operation of its name lacks its end, another its begin: one of their ids may be damaged");
				break;
			}
	}
}

/* ---- what is left without other damage ---- */

/* The end of the record at `at`; `at` itself: there is none. */
static uint64_t record_end(const struct fxt_unpaired *u, uint64_t at)
{
	return fxt_decode_other(u->resync, at) ? at + u->resync->other.words * FXT_WORD : at;
}

/* A record that was hit is a begin or an end no more, or is one now, or of another operation or another time. Where a begin and an
 * end are left, and next to nothing else, one of them is that record. Where they are near each other, their counterparts may have
 * been cut out between them. */
static void doubt_few(const struct fxt_unpaired *u, const struct fxt_report *report)
{
	uint64_t from = UINT64_MAX, until = 0;

	if (!report->unpaired_begin || !report->unpaired_end || report->unpaired > FXT_UNPAIRED_FEW)
		return;
	for (uint64_t i = 0; i < report->unpaired; i++) {
		const uint64_t at = report->unpaired_at[i], end = record_end(u, at);
		if (end > at)
			doubt(u, at, end - at,
			      "a begin and an end have no counterpart, and few others: one of them may be damaged");
		from = at < from ? at : from;
		until = end > until ? end : until;
	}
	if (from < until && until - from <= FXT_UNPAIRED_BYTES)
		doubt(u, from, until - from,
		      "bytes may be cut out between a begin and an end without counterparts: a record here may be "
		      "composed of pieces of two");
}

void fxt_unpaired_doubt(const struct fxt_unpaired *u, uint64_t errors, const struct fxt_report *report)
{
	struct loose *list;

	if (errors) {
		doubt_singles(u, errors);
		doubt_far_koids(u);
		doubt_ids(u, report);
	}
	/* Of other damage, begins and ends may be lost. */
	if (errors || !report->unpaired)
		return;
	list = malloc(KEYS * FXT_UNPAIRED_MAX * sizeof(*list));
	if (!list) {
		fxt_report_no_memory(u->nesting->report);
		return;
	}
	doubt_pairs(u, list, collect(u->nesting, list));
	free(list);
	doubt_few(u, report);
}

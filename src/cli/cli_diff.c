/* diff: the records that two captures do not share, by meaning: kind, time, track, name and arguments, wherever they stand. */
#include "cli/cli.h"

#include <string.h>

#include "core/map.h"

/* Different records that are compared at a time: the map has 48 MB then, and 72 MB while it grows to that. Captures with more are
 * walked several times. */
#define DIFF_RECORDS_MAX (UINT64_C(1) << 21)
/* Of that, what the records of one part are planned to take: hashes are not spread evenly. */
#define DIFF_RECORDS_PLANNED (DIFF_RECORDS_MAX / 8 * 7)
/* Walks for one more part each, beyond what the number of records asks for: only for captures made so that their hashes collide. */
#define DIFF_PARTS_MORE 8

enum diff_step {
	DIFF_COUNT, /* the records of B */
	DIFF_A,	    /* takes those of A away, and prints what is left of A */
	DIFF_B,	    /* prints what is left of B */
};

struct diff {
	const struct cli_options *options;
	enum diff_step step;
	struct map counts;    /* of records of B that were not found in A, by their hash */
	uint64_t part, parts; /* hashes of this part are looked at now */
	unsigned retries;     /* with more parts */
	uint64_t records;     /* of B, in one walk */
	uint64_t left;	      /* records of B in this part that were not found in A */
	uint64_t only[2], same;
	bool full, failed;
	bool damaged[2];
};

static uint64_t diff_text(uint64_t hash, const char *text)
{
	return text_hash_more(hash, text, strlen(text) + 1);
}

static uint64_t diff_key(const struct tracemend_record *r)
{
	uint64_t hash = TEXT_HASH_NONE;

	hash = diff_text(hash, r->file);
	hash = diff_text(hash, r->kind);
	hash = diff_text(hash, r->track);
	hash = diff_text(hash, r->name);
	hash = diff_text(hash, r->arguments);
	hash = text_hash_more(hash, &r->timed, sizeof(r->timed));
	return r->timed ? text_hash_more(hash, &r->time, sizeof(r->time)) : hash;
}

static void diff_say(struct diff *d, unsigned side, const struct tracemend_record *r)
{
	char line[CLI_RECORD_MAX];

	d->only[side]++;
	if (d->options->quiet)
		return;
	cli_record_line(r, line);
	printf("%c %s\n", side ? '+' : '-', line);
}

static void diff_record(void *ctx, const struct tracemend_record *r)
{
	struct diff *d = ctx;

	if (r->rule) {
		d->damaged[d->step != DIFF_A] = true;
		return;
	}
	uint64_t key = diff_key(r);
	d->records += d->step == DIFF_COUNT;
	if (key % d->parts != d->part || d->full || d->failed)
		return;
	uint32_t count = map_get(&d->counts, key);
	if (count == MAP_NONE)
		count = 0;
	switch (d->step) {
	case DIFF_COUNT: {
		enum tracemend_status status = map_set(&d->counts, key, count + 1, DIFF_RECORDS_MAX);
		d->full = status == TM_LIMIT;
		d->failed = status == TM_NO_MEMORY;
		d->left++;
		break;
	}
	case DIFF_A:
		if (count) {
			d->same++;
			d->left--;
			(void)map_set(&d->counts, key, count - 1, DIFF_RECORDS_MAX);
		} else {
			diff_say(d, 0, r);
		}
		break;
	case DIFF_B:
		if (count) {
			diff_say(d, 1, r);
			(void)map_set(&d->counts, key, count - 1, DIFF_RECORDS_MAX);
		}
		break;
	}
}

/* One walk over one of the captures. */
static int diff_walk(struct diff *d, struct tracemend_input *input, struct tracemend_options *library, enum diff_step step)
{
	struct tracemend_error error = { 0 };

	d->step = step;
	struct tracemend_report *report = tracemend_check(input, library, &error);
	tracemend_report_free(report);
	return error.status == TM_OK ? CLI_CLEAN : cli_fail(&error);
}

/* All parts, of which there are more where one does not fit in memory. */
static int diff_inputs(struct diff *d, struct tracemend_input *const inputs[2], struct tracemend_options *library)
{
	int code = CLI_CLEAN;

	for (d->parts = 1, d->part = 0; d->part < d->parts && code == CLI_CLEAN && !cli_signals_caught();) {
		map_clear(&d->counts);
		d->records = d->left = 0;
		code = diff_walk(d, inputs[1], library, DIFF_COUNT);
		if (code == CLI_CLEAN && d->full && !d->part) {
			/* More parts than before, as many as the number of records asks for. */
			uint64_t parts = (d->records + DIFF_RECORDS_PLANNED - 1) / DIFF_RECORDS_PLANNED;
			d->parts = parts > d->parts ? parts : d->parts + 1;
			d->full = ++d->retries > DIFF_PARTS_MORE;
			if (!d->full)
				continue;
		}
		if (code == CLI_CLEAN)
			code = diff_walk(d, inputs[0], library, DIFF_A);
		if (code == CLI_CLEAN && d->left)
			code = diff_walk(d, inputs[1], library, DIFF_B);
		if (d->full || d->failed) {
			cli_error("out of memory: the comparison is incomplete");
			return CLI_LIMIT;
		}
		d->part++;
	}
	return code;
}

int cli_diff(struct cli_options *o)
{
	struct diff d = { .options = o };
	struct tracemend_input *inputs[2] = { NULL, NULL };
	char a[32], b[32], c[32], shown[2][CLI_TEXT_MAX];
	int code = CLI_CLEAN;

	if (o->paths.count != 2)
		return cli_usage("diff needs two captures");
	o->library.record = diff_record;
	o->library.record_ctx = &d;
	o->library.arguments = true;
	o->library.max_findings = 1;
	for (unsigned i = 0; i < 2 && code == CLI_CLEAN; i++) {
		struct tracemend_error error = { 0 };
		inputs[i] = tracemend_open(o->paths.items[i], &o->library, &error);
		code = inputs[i] ? CLI_CLEAN : cli_fail(&error);
	}
	if (code == CLI_CLEAN)
		code = diff_inputs(&d, inputs, &o->library);
	if (code == CLI_CLEAN) {
		printf("%s records in both, %s only in %s, %s only in %s\n", text_number(a, d.same), text_number(b, d.only[0]),
		       cli_show(shown[0], o->paths.items[0]), text_number(c, d.only[1]), cli_show(shown[1], o->paths.items[1]));
		for (unsigned i = 0; i < 2; i++)
			if (d.damaged[i] && !o->quiet)
				printf("%s is damaged: what cannot be read of it is not compared\n", shown[i]);
		if (d.only[0] || d.only[1])
			code = CLI_FINDINGS;
	}
	map_free(&d.counts);
	tracemend_close(inputs[0]);
	tracemend_close(inputs[1]);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}

/* fuzz/oracle.h: an oracle that cannot fail proves nothing. A toy format keeps every promise; each of its faults breaks one,
 * and the oracle must name that one.
 *
 * The toy: "TOY!" and then records of 4 bytes, of which the first is 'R'. Repair drops the others. */
#include "unit.h"

#include <sys/wait.h>

#include "../../fuzz/capture.h"
#include "../../fuzz/inject.h"
#include "../../fuzz/oracle.h"
#include "core/format.h"

enum fault {
	SOUND,
	LEAVES_ERROR,	   /* P1: repair keeps a bad record that its own scan of the plan does not see */
	TOUCHES_VALID,	   /* P2: counts records of a valid capture as dropped */
	REPAIRS_TWICE,	   /* P1/P3: what it writes has an error again */
	KEEPS_TWICE,	   /* P4 */
	FORGETS_BYTES,	   /* P4 */
	MISCOUNTS,	   /* P4: kept records */
	READS_TOO_MUCH,	   /* P7 */
	ASKS_TOO_MUCH,	   /* P7: memory */
	SAYS_NOTHING,	   /* P7: a finding without a message */
	SWALLOWS_READS,	   /* P8 */
	SWALLOWS_MEMORY,   /* P8 */
	LEAKS,		   /* P8 */
	FOLLOWS_WINDOW,	   /* P9 */
	REMEMBERS,	   /* P9: state between runs */
	INVENTS_CLEAN,	   /* gen: a valid capture that is not */
	BREAKS_NOTHING,	   /* gen: a breaker that breaks nothing */
	BREAKS_MORE,	   /* gen: another error beside it */
	GENERATES_BY_MOOD, /* P9: another capture each time */
};

static enum fault fault;
static unsigned mood;

static const struct tracemend_rule toy_rules[] = {
	{ "toy/bad-record", "toy", TM_ERROR, "malformed", "bad", "-", "-", "-", false },
	{ "toy/cut", "toy", TM_ERROR, "truncation", "cut", "-", "-", "-", false },
};

static struct bid toy_bid(struct bundle *b, struct window *w)
{
	struct source *s = bundle_single(b);
	if (!s)
		return (struct bid){ 0 };
	window_reset(w, s);
	const uint8_t *p = window_at(w, 0, 4);
	return (struct bid){ .bits = p && !memcmp(p, "TOY!", 4) ? 32 : 0 };
}

static enum tracemend_status toy_walk(struct scan *s, struct source *file, struct window *w)
{
	unsigned o = s->plan ? plan_output(s->plan, "") : 0;
	uint64_t at = 4, bad = 0;
	if (!window_at(w, 0, 4))
		return w->status == TM_OK || fault == SWALLOWS_READS ? TM_NOTHING : w->status;
	if (s->plan)
		plan_copy(s->plan, o, file, 0, 4);
	for (;; at += 4) {
		const uint8_t *p = window_at(w, at, 4);
		if (!p)
			break;
		/* The scan of a plan's bundle is a check: that is where a dishonest repair would look away. */
		bool good = *p == 'R' || (fault == LEAVES_ERROR && *p == 'X' && mood++ % 2 == 0);
		if (good) {
			s->records++;
			if (s->plan) {
				plan_copy(s->plan, o, file, at, 4);
				plan_kept(s->plan, fault == MISCOUNTS && bad ? 2 : 1);
			}
			continue;
		}
		bad++;
		struct finding *fd = finding_new(s->findings, 0, file, at, 4);
		if (fault != SAYS_NOTHING)
			finding_say(fd, "is %u, expected 'R'%s", *p, fault == FOLLOWS_WINDOW && s->in->window == 7 ? "!" : "");
		if (fault == REMEMBERS)
			finding_explains(fd, ++mood);
		if (s->plan && fault == REPAIRS_TWICE) {
			plan_replace(s->plan, o, file, at, 4, "XXXX", 4, 0, "replaced");
			plan_patched(s->plan, 1);
		} else if (s->plan && fault != FORGETS_BYTES) {
			plan_drop(s->plan, file, at, 4, 0, "not a record");
			plan_lost(s->plan, 1, TM_EXACT);
			if (fault == KEEPS_TWICE)
				plan_copy(s->plan, o, file, at, 4);
		}
	}
	if (w->status != TM_OK && fault != SWALLOWS_READS)
		return w->status;
	if (at < file->size && w->status == TM_OK) {
		finding_say(finding_new(s->findings, 1, file, at, file->size - at), "the last record is cut");
		if (s->plan) {
			plan_drop(s->plan, file, at, file->size - at, 1, "cut");
			plan_lost(s->plan, 1, TM_EXACT);
		}
	}
	if (fault == TOUCHES_VALID && s->plan)
		plan_lost(s->plan, 1, TM_EXACT);
	return TM_OK;
}

static enum tracemend_status toy_scan(struct scan *s)
{
	struct source *file = bundle_single(s->in);
	struct window w;
	if (!file)
		return TM_NOTHING;
	void *table = malloc(fault == ASKS_TOO_MUCH ? 100u << 20 : 64);
	if (!table && fault != SWALLOWS_MEMORY)
		return TM_NO_MEMORY;
	if (!table)
		s->records++; /* and goes on with a wrong result */
	window_open(&w, file);
	for (uint64_t at = 0; fault == READS_TOO_MUCH && at < 64000; at++) {
		uint8_t byte;
		for (uint64_t k = 0; k < file->size && at < 64000; k++, at++)
			if (source_read(file, k, &byte, 1) != TM_OK)
				break;
	}
	for (int round = 0; fault == READS_TOO_MUCH && round < 400; round++) {
		uint8_t block[4096];
		for (uint64_t at = 0; file->size - at >= sizeof(block); at += sizeof(block))
			(void)source_read(file, at, block, sizeof(block));
	}
	enum tracemend_status status = toy_walk(s, file, &w);
	if (fault == SWALLOWS_READS)
		s->in->error = (struct tracemend_error){ 0 };
	window_close(&w);
	if (fault != LEAKS)
		free(table);
	return status;
}

static enum tracemend_status toy_generate(struct gen *g)
{
	struct bytes *b = gen_file(g, "");
	if (!b)
		return TM_NO_MEMORY;
	bytes_text(b, "TOY!");
	g->records = 1 + choices_below(g->choices, 5) + (fault == GENERATES_BY_MOOD ? mood++ : 0);
	for (uint64_t i = 0; i < g->records; i++)
		bytes_text(b, fault == INVENTS_CLEAN ? "BAD!" : "Rec.");
	if (g->rule == 0 && fault != BREAKS_NOTHING)
		bytes_text(b, "XXXX");
	if (g->rule == 1 || (g->rule == 0 && fault == BREAKS_MORE))
		bytes_text(b, "R");
	return TM_OK;
}

static const struct format toy_format = {
	.public = { .name = "toy", .title = "Toy", .extension = ".toy" },
	.rules = toy_rules,
	.rule_count = 2,
	.bid = toy_bid,
	.scan = toy_scan,
	.generate = toy_generate,
};

/* In the place of formats/formats.c. */
const struct format *const formats[] = { &toy_format, NULL };
const size_t formats_count = 1;
const struct tracemend_format *const formats_public[] = { &toy_format.public, NULL };

/* What the oracle says of everything while `f` is in force: "" when it finds nothing. */
static void verdict(enum fault f, char out[512])
{
	static uint8_t large[20000];
	static const struct oracle all = { .format = "toy", .effort = ORACLE_ALL, .faults = 8 };
	static const char *const inputs[] = { "TOY!Rec1Rec2", "TOY!Rec1XbadRec2", "TOY!Rec1XbadYbadRec2Re", "TOY!", "T", "" };
	int pipe_ends[2];
	assert_int_equal(pipe(pipe_ends), 0);
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		dup2(pipe_ends[1], STDERR_FILENO);
		close(pipe_ends[0]);
		fault = f;
		for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++)
			(void)oracle_bytes(&all, (const uint8_t *)inputs[i], strlen(inputs[i]));
		for (size_t i = 0; i < sizeof(large); i += 4)
			memcpy(large + i, i ? i % 64 ? "Rec." : "bad." : "TOY!", 4);
		(void)oracle_bytes(&(struct oracle){ .format = "toy", .effort = ORACLE_REPAIR }, large, sizeof(large));
		for (uint64_t seed = 0; seed < 3; seed++) {
			oracle_recipe(&all, &(struct tracemend_recipe){ .format = "toy", .seed = seed });
			oracle_recipe(&all, &(struct tracemend_recipe){ .format = "toy", .seed = seed, .rule = "toy/bad-record" });
			oracle_recipe(&all, &(struct tracemend_recipe){ .format = "toy", .seed = seed, .rule = "toy/cut" });
			oracle_recipe(&all, &(struct tracemend_recipe){ .format = "toy", .seed = seed, .damage = TM_DAMAGE_HOLE });
		}
		_exit(0);
	}
	close(pipe_ends[1]);
	size_t size = 0;
	ssize_t n;
	while ((n = read(pipe_ends[0], out + size, 511 - size)) > 0)
		size += (size_t)n;
	out[size] = '\0';
	close(pipe_ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WIFSIGNALED(status), size != 0);
}

static void a_sound_format_passes(void **state)
{
	char said[512];
	(void)state;
	verdict(SOUND, said);
	assert_string_equal(said, "");
}

static void each_broken_promise_is_named(void **state)
{
	static const struct {
		enum fault fault;
		const char *promise;
	} expected[] = {
		{ LEAVES_ERROR, "P" },							      /* whichever run meets it first */
		{ TOUCHES_VALID, "P" },	  { REPAIRS_TWICE, "P1" },     { KEEPS_TWICE, "P1" }, /* the engine refuses the plan: TM_BUG
											       */
		{ FORGETS_BYTES, "P1" },  { MISCOUNTS, "P4" },	       { READS_TOO_MUCH, "P7" },  { ASKS_TOO_MUCH, "P7" },
		{ SAYS_NOTHING, "P7" },	  { SWALLOWS_READS, "P8" },    { SWALLOWS_MEMORY, "P8" }, { LEAKS, "P8" },
		{ FOLLOWS_WINDOW, "P9" }, { REMEMBERS, "P9" },	       { INVENTS_CLEAN, "gen" },  { BREAKS_NOTHING, "gen" },
		{ BREAKS_MORE, "gen" },	  { GENERATES_BY_MOOD, "P9" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		char said[512], wanted[64];
		verdict(expected[i].fault, said);
		snprintf(wanted, sizeof(wanted), "oracle: %s", expected[i].promise);
		if (strncmp(said, wanted, strlen(wanted)) != 0)
			fail_msg("fault %zu: expected \"%s broken\", got \"%s\"", i, wanted, said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_format_passes),
		cmocka_unit_test(each_broken_promise_is_named),
	};
	return RUN(tests);
}

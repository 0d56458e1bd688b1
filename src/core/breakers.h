/* The protocol of breakers, the same in every format: for each rule one, which makes exactly its defect in a capture that is
 * being generated. It is defined in gen/break/, in one of three forms:
 *
 *	BREAKER(dangling_string_ref, GEN_PLANT)
 *	{
 *		... works on g, in that stage only; any capture will do
 *	}
 *
 *	BREAKER_OF(missing_initialization, GEN_PLANT, g->shape.without[FEATURE_ANONYMOUS] = true)
 *	{
 *		... as above, in a capture of that shape: the expressions are evaluated at GEN_SHAPE
 *	}
 *
 *	BREAKER_STAGES(truncated_file, [GEN_MODEL] = no_records, [GEN_BYTES] = cut)
 *
 * The last form is for what is done in several stages, by a function of each.
 *
 * A generator calls <f>_break() once at each of its stages (enum gen_stage of core/format.h). A stage that a format does not have
 * is never called. A rule without its breaker does not link.
 *
 * A header of the format defines BREAKERS_FORMAT and BREAKERS_RULES and includes this one; <f>_break.c includes it once more with
 * BREAKERS_TABLE defined, for the table of all breakers and <f>_break(). So a file knows the breakers of one format. */
#ifndef TRACEMEND_BREAKERS_H
#define TRACEMEND_BREAKERS_H

#define BREAKERS_JOIN_(a, b) a##b
#define BREAKERS_JOIN(a, b) BREAKERS_JOIN_(a, b)
#define BREAKERS_GEN struct BREAKERS_JOIN(BREAKERS_FORMAT, _gen)
#define BREAKERS_TYPE struct BREAKERS_JOIN(BREAKERS_FORMAT, _breaker)
#define BREAKERS_NAME(symbol) BREAKERS_JOIN(BREAKERS_JOIN(BREAKERS_FORMAT, _break_), symbol)

BREAKERS_TYPE
{
	void (*at[GEN_STAGES])(BREAKERS_GEN * g); /* NULL: nothing to do in that stage */
};

#define RULE(symbol, ...) extern const BREAKERS_TYPE BREAKERS_NAME(symbol);
#include BREAKERS_RULES
#undef RULE

/* Calls the breaker of the rule that is to be broken, if any, for this stage. */
void BREAKERS_JOIN(BREAKERS_FORMAT, _break)(BREAKERS_GEN *g, enum gen_stage stage);

#define BREAKER_STAGES(symbol, ...) const BREAKERS_TYPE BREAKERS_NAME(symbol) = { .at = { __VA_ARGS__ } };

#define BREAKER(symbol, stage) \
	static void break_##symbol(BREAKERS_GEN *g); \
	BREAKER_STAGES(symbol, [stage] = break_##symbol) \
	static void break_##symbol(BREAKERS_GEN *g)

#define BREAKER_OF(symbol, stage, ...) \
	static void break_##symbol(BREAKERS_GEN *g); \
	static void shape_##symbol(BREAKERS_GEN *g) \
	{ \
		__VA_ARGS__; \
	} \
	BREAKER_STAGES(symbol, [GEN_SHAPE] = shape_##symbol, [stage] = break_##symbol) \
	static void break_##symbol(BREAKERS_GEN *g)

#endif

#ifdef BREAKERS_TABLE
static const BREAKERS_TYPE *const breakers[] = {
#define RULE(symbol, ...) &BREAKERS_NAME(symbol),
#include BREAKERS_RULES
#undef RULE
};

void BREAKERS_JOIN(BREAKERS_FORMAT, _break)(BREAKERS_GEN *g, enum gen_stage stage)
{
	/* A capture without the defect has the shape of one with it. */
	if (g->g->rule >= 0 && breakers[g->g->rule]->at[stage] && (stage == GEN_SHAPE || !g->g->sound))
		breakers[g->g->rule]->at[stage](g);
}
#endif

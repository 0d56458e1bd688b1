/* The protocol of breakers, the same in every format: for each rule one function that makes exactly its defect.
 *
 *	void fxt_break_<symbol>(struct fxt_gen *g)
 *
 * A generator calls the breaker of its rule once at each stage (enum gen_stage of core/format.h), with g->g->stage set;
 * a breaker does its work in the stages that are its own and returns in all others. A stage that a format does not
 * have is never called.
 *
 * This header has no guard. <f>_gen.h includes it for the declarations, with
 *
 *	#define BREAKERS_FORMAT fxt
 *	#define BREAKERS_RULES "formats/fxt/fxt_rules.def"
 *	#include "core/breakers.h"
 *
 * and <f>_break.c once more with BREAKERS_TABLE defined, for the table of all breakers and the function that calls one:
 *
 *	void fxt_break(struct fxt_gen *g, enum gen_stage stage)
 *
 * A rule without its breaker does not link. */
#define BREAKERS_JOIN_(a, b) a##b
#define BREAKERS_JOIN(a, b) BREAKERS_JOIN_(a, b)
#define BREAKERS_GEN struct BREAKERS_JOIN(BREAKERS_FORMAT, _gen)
#define BREAKERS_NAME(symbol) BREAKERS_JOIN(BREAKERS_JOIN(BREAKERS_FORMAT, _break_), symbol)

#ifdef BREAKERS_TABLE
static void (*const breakers[])(BREAKERS_GEN *) = {
#define RULE(symbol, ...) BREAKERS_NAME(symbol),
#include BREAKERS_RULES
#undef RULE
};

void BREAKERS_JOIN(BREAKERS_FORMAT, _break)(BREAKERS_GEN *g, enum gen_stage stage)
{
	g->g->stage = stage;
	if (g->g->rule >= 0)
		breakers[g->g->rule](g);
}
#else
#define RULE(symbol, ...) void BREAKERS_NAME(symbol)(BREAKERS_GEN * g);
#include BREAKERS_RULES
#undef RULE
/* Calls the breaker of the rule that is to be broken, if any, for this stage. */
void BREAKERS_JOIN(BREAKERS_FORMAT, _break)(BREAKERS_GEN *g, enum gen_stage stage);
#endif

#undef BREAKERS_JOIN_
#undef BREAKERS_JOIN
#undef BREAKERS_GEN
#undef BREAKERS_NAME
#undef BREAKERS_TABLE
#undef BREAKERS_FORMAT
#undef BREAKERS_RULES

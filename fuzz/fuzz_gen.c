/* Fuzzes the generator of one format: the input is its choices. A valid capture must check clean with the declared number of
 * records; a broken one must be reported with the declared rules only. The first two bytes choose the rule, the third the damage.
 */
#include "oracle.h"

#include <string.h>

#ifndef FUZZ_FORMAT
#error "compile with -DFUZZ_FORMAT='\"fxt\"'"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t head[3] = { 0 };
	size_t taken = size < sizeof(head) ? size : sizeof(head);
	if (taken)
		memcpy(head, data, taken);
	size_t rules = tracemend_rule_count(FUZZ_FORMAT), pick = (size_t)head[0] | (size_t)head[1] << 8;
	struct tracemend_recipe recipe = { .format = FUZZ_FORMAT,
					   .choices = data ? data + taken : head,
					   .choices_size = size - taken };
	/* Half of the inputs make valid captures, the others break a rule; some of the valid ones are damaged. */
	if (pick & 1 && rules)
		recipe.rule = tracemend_rule_at(FUZZ_FORMAT, (pick >> 1) % rules)->id;
	else if (head[2] & 1)
		recipe.damage = (enum tracemend_damage)((head[2] >> 1) % TM_DAMAGE_COUNT);
	const struct oracle o = { .format = FUZZ_FORMAT,
				  .effort = head[2] & 0x80 ? ORACLE_REPAIR : ORACLE_CHECK,
				  .sample = ORACLE_SAMPLE };
	oracle_recipe(&o, &recipe);
	return 0;
}

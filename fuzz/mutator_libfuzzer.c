/* The mutator for a libFuzzer harness, which is linked with build/tracemend-mutator.o. The format comes from the environment
 * variable TRACEMEND_FORMAT, else from the input. libFuzzer's own mutations are sometimes applied first or alone, for what an
 * outline does not contain. TRACEMEND_RECENT is a file for the origin of the last mutants (recent.h). */
#include "recent.h"

#include <stdlib.h>
#include <string.h>

/* One in this number of mutants is made by libFuzzer's own mutator. */
#define OWN_IN 16u

#define MUTATOR_API __attribute__((visibility("default")))

/* Defined by libFuzzer; NULL in a harness that is linked without it. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
MUTATOR_API size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
MUTATOR_API size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2, uint8_t *out,
					     size_t out_max, unsigned seed);

static struct mutation mutation;
static struct recent recent;

static bool noting(void)
{
	static bool asked;
	const char *path = asked ? NULL : getenv("TRACEMEND_RECENT");
	asked = true;
	if (path)
		(void)recent_open(&recent, path);
	return recent.lines != NULL;
}

static size_t mutate(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t out_max,
		     unsigned seed)
{
	mutation.format = getenv("TRACEMEND_FORMAT");
	mutation.profile = getenv("TRACEMEND_PROFILE");
	mutation.data = data;
	mutation.size = size;
	mutation.other = other;
	mutation.other_size = other_size;
	mutation.seed = seed;
	mutation.size_max = out_max;
	char from[RECENT_DIGEST_SIZE] = "";
	if (noting())
		(void)recent_digest(data, size, from);
	if (!mutation_make(&mutation) || !mutation.result.size || mutation.result.size > out_max)
		return 0;
	memcpy(out, mutation.result.data, mutation.result.size);
	recent_note(&recent, &mutation, from, out, mutation.result.size);
	return mutation.result.size;
}

static size_t mutate_own(uint8_t *data, size_t size, size_t size_max)
{
	char from[RECENT_DIGEST_SIZE] = "";
	if (noting())
		(void)recent_digest(data, size, from);
	size = LLVMFuzzerMutate(data, size, size_max);
	recent_note(&recent, NULL, from, data, size);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
	if (seed % OWN_IN == 0 && LLVMFuzzerMutate)
		return mutate_own(data, size, size_max);
	size_t made = mutate(data, size, NULL, 0, data, size_max, seed);
	return made || !LLVMFuzzerMutate ? made : mutate_own(data, size, size_max);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2, uint8_t *out,
				 size_t out_max, unsigned seed)
{
	return mutate(data1, size1, data2, size2, out, out_max, seed);
}

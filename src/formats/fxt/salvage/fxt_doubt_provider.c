/* Doubt about providers: whose records are whose. */
#include "formats/fxt/salvage/fxt_doubt.h"

/* Providers of a file that are compared with one that is missing; of many, ids are near each other anyway. */
#define PROVIDERS_COMPARED 64u

/* Where the records end that follow the provider record at `at`: at the next one that says whose records follow. */
static uint64_t provider_end(struct fxt_doubt *d, uint64_t at)
{
	uint64_t length = fxt_doubt_length_at(d, at);

	for (at += length; length && at < d->here->at; at += length) {
		const uint64_t header = fxt_doubt_header_at(d, at);
		const uint64_t kind = fxt_bits(header, 16, 4);
		if ((header & 15) == FXT_METADATA && (kind == FXT_PROVIDER_INFO || kind == FXT_PROVIDER_SECTION))
			break;
		length = fxt_size(header) * FXT_WORD;
	}
	return at < d->here->at ? at : d->here->at;
}

/* Whether two ids of providers differ in one byte of the record, where they begin at bit 20. */
static bool is_near_id(uint32_t one, uint32_t other)
{
	return bytes_apart((uint64_t)one << 20, (uint64_t)other << 20) <= 1;
}

void fxt_doubt_provider(struct fxt_doubt *d, uint32_t missing)
{
	/* Where no damage is seen, bytes with that record may have been cut out in front of any other. */
	const uint64_t from = d->plan && fxt_doubt_header_at(d, 0) == FXT_MAGIC ? FXT_WORD : 0;
	const uint64_t end = d->entered ? d->anonymous : d->here->at;

	if (!d->plan)
		return;
	if (end > from && d->seam <= end)
		fxt_doubt_list(d, from, end - from, "precedes any provider, and a record that introduces one is lost");
	fxt_doubt_foreign(d, 0, fxt_seam_front(&d->seams));
	fxt_doubt_list(d, d->here->at, fxt_doubt_length_at(d, d->here->at),
		       "refers to a provider that nothing introduces: the reference may be damaged");
	if (d->unknown_count < FXT_UNKNOWN_PROVIDERS)
		d->unknown[d->unknown_count++] = (struct fxt_unknown_provider){ .id = missing, .at = d->here->at, .seam = d->seam };
}

/* Whether there is damage next to the reference to a provider that is missing: it may be in a block from elsewhere. */
static bool is_next_to_damage(const struct fxt_doubt *d, const struct fxt_unknown_provider *u)
{
	return (u->seam && u->at - u->seam < FXT_BLOCK_BYTES) || (u->next && u->next - u->at < FXT_BLOCK_BYTES) ||
	       fxt_doubt_is_undone(d, u->at, u->at);
}

void fxt_doubt_mistaken_providers(struct fxt_doubt *d)
{
	for (unsigned n = 0; n < d->unknown_count; n++) {
		const struct fxt_unknown_provider *u = &d->unknown[n];
		/* In a block from elsewhere ids of other providers are nothing odd. */
		const bool near = is_next_to_damage(d, u);
		for (size_t i = 0; i < d->registry->count && i <= PROVIDERS_COMPARED; i++) {
			struct fxt_provider *p = d->registry->list[i];
			if (!p->introduced || p->placeholder || p->mistaken || p->offset > u->at || !is_near_id(p->id, u->id))
				continue;
			p->mistaken = !near;
			fxt_doubt_list(d, p->offset,
				       near ? fxt_doubt_length_at(d, p->offset) : provider_end(d, p->offset) - p->offset,
				       "introduces a provider whose id differs by one byte from one that is missing, or follows "
				       "that record");
		}
	}
}

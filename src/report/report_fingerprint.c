/* Fingerprints: by which a finding is known again in another run, although its offset has changed. */
#include <ctype.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"

/* Bytes of a finding that are part of its fingerprint. So many are in its context wherever it begins in a row of 16. */
#define FINGERPRINT_BYTES 32u

/* Numbers of records, offsets and the like change when something is inserted before them. */
static void fingerprint_path(struct sha256_ctx *hash, const char *path)
{
	bool digits = false;

	for (; *path; path++) {
		bool digit = isdigit((unsigned char)*path) != 0;
		if (digit && !digits)
			sha256_update(hash, 1, (const uint8_t *)"#");
		else if (!digit)
			sha256_update(hash, 1, (const uint8_t *)path);
		digits = digit;
	}
}

/* The bytes of a range that are in the context, at most FINGERPRINT_BYTES. */
static void fingerprint_bytes(struct sha256_ctx *hash, const struct tracemend_finding *f, uint64_t offset, uint64_t length)
{
	uint64_t end = f->context_offset + f->context_length;

	if (offset < f->context_offset || offset >= end)
		return;
	if (length > FINGERPRINT_BYTES)
		length = FINGERPRINT_BYTES;
	if (length > end - offset)
		length = end - offset;
	sha256_update(hash, (size_t)length, f->context + (offset - f->context_offset));
}

const char *report_fingerprint(const struct tracemend_finding *f, char out[REPORT_FINGERPRINT_SIZE])
{
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&hash);
	sha256_update(&hash, strlen(f->rule->id) + 1, (const uint8_t *)f->rule->id);
	sha256_update(&hash, strlen(f->file) + 1, (const uint8_t *)f->file);
	fingerprint_path(&hash, f->path);
	/* The context is of the record, or of the field where that is far behind its beginning. */
	if (f->offset >= f->context_offset && f->offset < f->context_offset + f->context_length)
		fingerprint_bytes(&hash, f, f->offset, f->length);
	else
		fingerprint_bytes(&hash, f, f->field_offset, f->field_length);
	sha256_digest(&hash, sizeof(digest), digest);
	for (size_t i = 0; i < (REPORT_FINGERPRINT_SIZE - 1) / 2; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return out;
}

/* Different fingerprints that are counted; those beyond are told apart by a number of the run. */
#define ALIKE_MAX (1u << 20)

const char *report_alike_name(struct report_alike *a, const char *path, const char *fingerprint,
			      char out[REPORT_FINGERPRINT_SIZE + 24])
{
	struct sha256_ctx hash;
	uint8_t digest[16];
	uint64_t key;

	sha256_init(&hash);
	sha256_update(&hash, strlen(path) + 1, (const uint8_t *)path);
	sha256_update(&hash, strlen(fingerprint), (const uint8_t *)fingerprint);
	sha256_digest(&hash, sizeof(digest), digest);
	memcpy(&key, digest, sizeof(key));
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
	uint32_t met = map_get(&a->met, key), number = met == MAP_NONE ? 1 : met + 1;
	if (map_set(&a->met, key, number, ALIKE_MAX) != TM_OK)
		(void)snprintf(out + 2 * sizeof(digest), 24, ":x%llu", (unsigned long long)++a->beyond);
	else
		(void)snprintf(out + 2 * sizeof(digest), 24, ":%lu", (unsigned long)number);
	return out;
}

void report_alike_free(struct report_alike *a)
{
	map_free(&a->met);
}

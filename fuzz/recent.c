#include "recent.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha1.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool recent_open(struct recent *r, const char *path)
{
	const size_t size = RECENT_LINES * RECENT_LINE;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	void *lines = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		lines = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lines == MAP_FAILED)
		fprintf(stderr, "tracemend: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	*r = (struct recent){ .lines = lines == MAP_FAILED ? NULL : lines };
	if (r->lines) {
		memset(r->lines, ' ', size);
		for (size_t end = RECENT_LINE; end <= size; end += RECENT_LINE)
			r->lines[end - 1] = '\n';
	}
	return r->lines != NULL;
}

const char *recent_digest(const uint8_t *data, size_t size, char out[RECENT_DIGEST_SIZE])
{
	uint8_t digest[SHA1_DIGEST_SIZE];
	struct sha1_ctx sha1;

	sha1_init(&sha1);
	sha1_update(&sha1, size, data);
	sha1_digest(&sha1, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return out;
}

void recent_note(struct recent *r, const struct mutation *m, const char from[RECENT_DIGEST_SIZE], const uint8_t *data, size_t size)
{
	char line[RECENT_LINE], digest[RECENT_DIGEST_SIZE], made[192];
	int n;

	if (!r->lines)
		return;
	if (m)
		n = snprintf(line, sizeof(line), "{\"sha1\":\"%s\",\"source\":\"%s\",\"seed\":%llu,\"name\":\"%s\"}",
			     recent_digest(data, size, digest), from, (unsigned long long)m->seed,
			     mutation_name(m, m->rule, made, sizeof(made)));
	else
		n = snprintf(line, sizeof(line), "{\"sha1\":\"%s\",\"source\":\"%s\",\"seed\":null,\"name\":\"op:libfuzzer\"}",
			     recent_digest(data, size, digest), from);
	if (n > 0 && (size_t)n < sizeof(line)) {
		char *at = r->lines + r->next * RECENT_LINE;
		memcpy(at, line, (size_t)n);
		memset(at + n, ' ', RECENT_LINE - 1 - (size_t)n); /* its LF stays */
	}
	r->next = (r->next + 1) % RECENT_LINES;
}

#include "core/descriptor.h"

#include <errno.h>
#include <unistd.h>

size_t descriptor_read(int fd, uint64_t offset, void *buffer, size_t length)
{
	size_t done = 0;

	for (errno = 0; done < length;) {
		const ssize_t n = pread(fd, (uint8_t *)buffer + done, length - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
		errno = 0;
	}
	return done;
}

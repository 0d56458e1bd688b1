/* Files that are open. */
#ifndef CORE_DESCRIPTOR_H
#define CORE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

/* Reads `length` bytes of a descriptor at `offset`, in any thread. How many there are: fewer with errno set where the rest cannot
 * be read, and with errno 0 where the file ends. */
size_t descriptor_read(int fd, uint64_t offset, void *buffer, size_t length);

#endif

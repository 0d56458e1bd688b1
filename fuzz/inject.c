#include "inject.h"

#include <stdlib.h>
#include <string.h>

_Thread_local struct inject inject;

void inject_arm(uint64_t fail_at, bool sticky)
{
	inject = (struct inject){ .armed = true, .fail_at = fail_at, .sticky = sticky };
}

void inject_disarm(void)
{
	inject.armed = false;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t max);

static bool inject_refuses(size_t size)
{
	inject.calls++;
	inject.bytes += size;
	if (size > inject.largest)
		inject.largest = size;
	if (!inject.fail_at || (inject.sticky ? inject.calls < inject.fail_at : inject.calls != inject.fail_at))
		return false;
	inject.fired = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	if (!inject.armed)
		return __real_malloc(size);
	if (inject_refuses(size))
		return NULL;
	void *p = __real_malloc(size);
	inject.live += p != NULL;
	return p;
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t total = 0;
	if (!inject.armed)
		return __real_calloc(count, size);
	if (__builtin_mul_overflow(count, size, &total) || inject_refuses(total))
		return NULL;
	void *p = __real_calloc(count, size);
	inject.live += p != NULL;
	return p;
}

void *__wrap_realloc(void *old, size_t size)
{
	if (!inject.armed)
		return __real_realloc(old, size);
	if (inject_refuses(size))
		return NULL;
	void *p = __real_realloc(old, size);
	inject.live += p != NULL && !old;
	return p;
}

void __wrap_free(void *p)
{
	if (inject.armed)
		inject.live -= p != NULL;
	__real_free(p);
}

/* In libc these call the real malloc(); here they must fail as well. */
char *__wrap_strndup(const char *text, size_t max)
{
	size_t n = strnlen(text, max);
	char *copy = __wrap_malloc(n + 1);
	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, strlen(text));
}

/* What the compiler is told about the loops that run once a record. */
#ifndef CORE_INLINE_H
#define CORE_INLINE_H

/* Part of the loop: a function that takes constants has a copy for each, and the state of the loop stays in registers. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* What is rare: kept out of the loop, which needs the registers. */
#define NEVER_INLINE __attribute__((noinline))

#endif

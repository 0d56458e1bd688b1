/* formats/uftrace: which argument specifications readers take, and how many bytes the values have. The list was asked of uftrace
 * 0.13 (x86-64) with this recording: a program `p` whose function `target` has values of zeros. */
#include "unit.h"

#include "core/bytes.h"
#include "core/format.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/salvage/uftrace_guess.h"
#include "formats/uftrace/uftrace.h"

#define BASE UINT64_C(0x555555000000)
#define ID "abababababababababababababababababababab"

struct asked {
	const char *spec;
	bool retval; /* a line of retspec, and the return of `target` */
	int size;    /* of the values, padded; -1: refused */
};

static const struct asked list[] = {
	{ "target@arg1", false, 8 },
	{ "target@arg1,arg2", false, 16 },
	{ "target@arg2", false, 8 },
	{ "target@arg1/d", false, 8 },
	{ "target@arg1/i", false, 8 },
	{ "target@arg1/u", false, 8 },
	{ "target@arg1/x", false, 8 },
	{ "target@arg1/o", false, -1 },
	{ "target@arg1/c", false, 8 },
	{ "target@arg1/f", false, 8 },
	{ "target@arg1/s", false, 8 },
	{ "target@arg1/S", false, 8 },
	{ "target@arg1/p", false, 8 },
	{ "target@arg1/e", false, -1 },
	{ "target@arg1/e:color", false, 8 },
	{ "target@arg1/e:unknown", false, 8 },
	{ "target@arg1/e:", false, -1 },
	{ "target@arg1/t", false, 0 },
	{ "target@arg1/t8", false, 8 },
	{ "target@arg1/t8:pair", false, 8 },
	{ "target@arg1/t0", false, 0 },
	{ "target@arg1/t24", false, 24 },
	{ "target@arg1/t24:name", false, 24 },
	{ "target@arg1/t24:", false, 24 },
	{ "target@arg1/t-4", false, -1 },
	{ "target@arg1/t100", false, 104 },
	{ "target@arg1/t1000", false, 1000 },
	{ "target@arg1/d8", false, 8 },
	{ "target@arg1/d16", false, 8 },
	{ "target@arg1/d32", false, 8 },
	{ "target@arg1/d64", false, 8 },
	{ "target@arg1/i8", false, 8 },
	{ "target@arg1/i32", false, 8 },
	{ "target@arg1/u16", false, 8 },
	{ "target@arg1/x32", false, 8 },
	{ "target@arg1/x64", false, 8 },
	{ "target@arg1/d7", false, -1 },
	{ "target@arg1/d0", false, -1 },
	{ "target@arg1/d128", false, -1 },
	{ "target@arg1/d80", false, -1 },
	{ "target@arg1/i-8", false, -1 },
	{ "target@arg1/i 8", false, 8 },
	{ "target@arg1/c8", false, 8 },
	{ "target@arg1/c32", false, 8 },
	{ "target@arg1/s8", false, 8 },
	{ "target@arg1/s32", false, 8 },
	{ "target@arg1/S8", false, 8 },
	{ "target@arg1/p32", false, 8 },
	{ "target@arg1/p64", false, 8 },
	{ "target@arg1/f32", false, 8 },
	{ "target@arg1/f64", false, 8 },
	{ "target@arg1/f80", false, 16 },
	{ "target@arg1/f16", false, 8 },
	{ "target@arg1/f8", false, 8 },
	{ "target@arg1/f128", false, -1 },
	{ "target@arg1/", false, -1 },
	{ "target@arg1/8", false, -1 },
	{ "target@arg1/32", false, -1 },
	{ "target@arg1/64", false, -1 },
	{ "target@arg1/80", false, -1 },
	{ "target@fparg1", false, 8 },
	{ "target@fparg1/32", false, 8 },
	{ "target@fparg1/64", false, 8 },
	{ "target@fparg1/80", false, 16 },
	{ "target@fparg1/16", false, 8 },
	{ "target@fparg1/8", false, 8 },
	{ "target@fparg1/f", false, 8 },
	{ "target@fparg1/f32", false, 8 },
	{ "target@fparg1/f64", false, 8 },
	{ "target@fparg1/d", false, 8 },
	{ "target@fparg1/x", false, 8 },
	{ "target@fparg1/", false, -1 },
	{ "target@fparg0", false, 0 },
	{ "target@fparg", false, -1 },
	{ "target@fparg9", false, 8 },
	{ "target@fparg20", false, 8 },
	{ "target@fparg1,fparg2", false, 16 },
	{ "target@arg1,fparg1", false, 16 },
	{ "target@fparg1,arg1", false, 16 },
	{ "target@fparg1/32,fparg2/32", false, 8 },
	{ "target@fparg1/80%stack+1", false, 16 },
	{ "target@arg0", false, 0 },
	{ "target@arg", false, -1 },
	{ "target@arg9", false, 8 },
	{ "target@arg20", false, 8 },
	{ "target@arg100", false, 8 },
	{ "target@arg1000", false, 8 },
	{ "target@argx", false, -1 },
	{ "target@arg1x", false, -1 },
	{ "target@arg1%rdi", false, 8 },
	{ "target@arg1%rsi", false, 8 },
	{ "target@arg1/s%rdi", false, 8 },
	{ "target@arg1%stack", false, 8 },
	{ "target@arg1%stack1", false, 8 },
	{ "target@arg1%stack+1", false, 8 },
	{ "target@arg1%stack+10", false, 8 },
	{ "target@arg1%stack-1", false, 8 },
	{ "target@arg1%foo", false, -1 },
	{ "target@arg1%", false, -1 },
	{ "target@arg1/d%foo", false, -1 },
	{ "target@arg1%RDI", false, 8 },
	{ "target@fparg1%xmm0", false, 8 },
	{ "target@fparg1/64%xmm1", false, 8 },
	{ "target@fparg1%rdi", false, 8 },
	{ "target@arg1%xmm0", false, 8 },
	{ "target@arg1/t16%rdi+rsi", false, 16 },
	{ "target@arg1/t16:pair%rdi+rsi", false, 16 },
	{ "target@arg1/t16%xmm0+xmm1", false, 16 },
	{ "target@arg1/t16%rdi+foo", false, 16 },
	{ "target@arg1/t16%stack+1", false, 16 },
	{ "target@arg1,", false, 8 },
	{ "target@,arg1", false, 8 },
	{ "target@arg1,,arg2", false, 16 },
	{ "target@", false, -1 },
	{ "target", false, -1 },
	{ "target@nonsense", false, -1 },
	{ "target@arg1,nonsense", false, -1 },
	{ "target@nonsense,arg1", false, -1 },
	{ "target@libfoo.so,arg1", false, -1 },
	{ "target@libc.so.6,arg1", false, -1 },
	{ "target@p,arg1", false, 8 },
	{ "target@PLT,arg1", false, -1 },
	{ "target@kernel,arg1", false, -1 },
	{ "target@arg1,libfoo.so", false, -1 },
	{ "target@arg1,PLT", false, -1 },
	{ "target@arg1,kernel", false, -1 },
	{ "target@arg1,p", false, 8 },
	{ "target@arg1/str", false, -1 },
	{ "target@arg1/string", false, -1 },
	{ "target@arg1/s:x", false, -1 },
	{ "target@arg1/s/i", false, -1 },
	{ "target@arg1/d/x", false, -1 },
	{ "target@arg1/q", false, -1 },
	{ "target@arg1/z", false, -1 },
	{ "target@arg1/a", false, -1 },
	{ "target@arg1/b", false, -1 },
	{ "target@arg1/D", false, -1 },
	{ "target@arg1/I", false, -1 },
	{ "target@arg1/X", false, -1 },
	{ "target@arg1/dd", false, -1 },
	{ "target@arg1/d32x", false, -1 },
	{ "target@arg1/x32,arg2/s", false, 8 },
	{ "target@arg1/s,arg2/s,arg3/s", false, 16 },
	{ "target@arg1/s,arg1/d", false, 8 },
	{ "target@arg1,arg1/s", false, 8 },
	{ "target@arg2,arg1", false, 16 },
	{ "target@arg1;target@arg2", false, 16 },
	{ "target@arg1;target@arg1/s", false, 8 },
	{ "target@arg1/s;target@arg1", false, 8 },
	{ "other@arg1", false, -1 },
	{ "other@arg1;target@arg1", false, 8 },
	{ "target@arg1;other@arg1/q", false, 8 },
	{ "target@arg1/q;target@arg1", false, 8 },
	{ "target@arg1;target@arg1/q", false, 8 },
	{ "target@arg1;target@arg2/q", false, 8 },
	{ ";target@arg1", false, 8 },
	{ "target@arg1;", false, 8 },
	{ "target@arg1;;target@arg2", false, 16 },
	{ "targe@arg1", false, -1 },
	{ "^target@arg1", false, 8 },
	{ "^tar@arg1", false, 8 },
	{ "get$@arg1", false, 8 },
	{ "tar.*@arg1", false, 8 },
	{ ".@arg1", false, 8 },
	{ ".*@arg1", false, 8 },
	{ "*@arg1", false, -1 },
	{ "t?rget@arg1", false, 8 },
	{ "[t]arget@arg1", false, 8 },
	{ "(target@arg1", false, -1 },
	{ "(target)@arg1", false, 8 },
	{ "tar+@arg1", false, 8 },
	{ "target$@arg1", false, 8 },
	{ "TARGET@arg1", false, -1 },
	{ " target@arg1", false, -1 },
	{ "target @arg1", false, -1 },
	{ "target@ arg1", false, -1 },
	{ "target@arg1 ", false, -1 },
	{ "target@arg1, arg2", false, -1 },
	{ "target@arg1,arg2 ", false, -1 },
	{ "target@retval", false, 0 },
	{ "target@retval,arg1", false, 8 },
	{ "target@arg1,retval", false, 8 },
	{ "target@notrace,arg1", false, 8 },
	{ "target@depth=1,arg1", false, 8 },
	{ "target@arg1,depth=1", false, 8 },
	{ "target@time=1us,arg1", false, 8 },
	{ "target@trace,arg1", false, 8 },
	{ "target@trace-on,arg1", false, 8 },
	{ "target@trace-off,arg1", false, 8 },
	{ "target@backtrace,arg1", false, 8 },
	{ "target@color=red,arg1", false, 8 },
	{ "target@filter,arg1", false, 8 },
	{ "target@hide,arg1", false, 8 },
	{ "target@recover,arg1", false, 8 },
	{ "target@finish,arg1", false, 8 },
	{ "target@read=proc/statm,arg1", false, 8 },
	{ "target@auto-args", false, -1 },
	{ "target@auto-args,arg1", false, 8 },
	{ "target@arg1/i32%rax", false, -1 },
	{ "target@arg1@arg2", false, -1 },
	{ "target@@arg1", false, -1 },
	{ "@arg1", false, -1 },
	{ "target@arg1/e32:color", false, -1 },
	{ "target@arg1/e:color8", false, 8 },
	{ "target@arg1/e:a-b", false, 8 },
	{ "target@arg1/e:color,arg2/s", false, 16 },
	{ "target@fparg1/d32", false, 8 },
	{ "target@fparg1/s", false, 8 },
	{ "target@fparg1/c", false, 8 },
	{ "target@fparg1/p", false, 8 },
	{ "target@fparg1/q", false, -1 },
	{ "target@fparg1/t8", false, 8 },
	{ "target@fparg1/e:color", false, 8 },
	{ "target@fparg1/7", false, -1 },
	{ "target@fparg1/0", false, -1 },
	{ "target@fparg1/128", false, -1 },
	{ "target@fparg1/-8", false, -1 },
	{ "target@arg1/d08", false, 8 },
	{ "target@arg1/d+8", false, 8 },
	{ "target@arg1/x 32", false, 8 },
	{ "target@arg1/t 8", false, 8 },
	{ "target@arg1/t8x", false, 8 },
	{ "target@arg1/t+8", false, 8 },
	{ "target@arg1/t8%", false, 8 },
	{ "target@arg1/t8:a:b", false, 8 },
	{ "target@arg1/t1016", false, 1016 },
	{ "target@arg1/t1020", false, 1024 },
	{ "target@arg1/t1021", false, 1024 },
	{ "target@arg1/t1024", false, 1024 },
	{ "target@arg1/t1000,arg2", false, 1008 },
	{ "target@arg1/c16", false, 8 },
	{ "target@arg1/c64", false, 8 },
	{ "target@arg1/c7", false, -1 },
	{ "target@arg1/s7", false, -1 },
	{ "target@arg1/S32", false, 8 },
	{ "target@arg1/p8", false, 8 },
	{ "target@arg1/p7", false, -1 },
	{ "target@arg-1", false, -1 },
	{ "target@arg+1", false, -1 },
	{ "target@arg 1", false, -1 },
	{ "target@arg01", false, 8 },
	{ "target@arg1/0x8", false, -1 },
	{ "target@ARG1", false, -1 },
	{ "target@Arg1", false, -1 },
	{ "target@fparg01", false, 8 },
	{ "target@depth=x,arg1", false, 8 },
	{ "target@depth=-1,arg1", false, 8 },
	{ "target@depth,arg1", false, -1 },
	{ "target@color=foo,arg1", false, 8 },
	{ "target@color,arg1", false, -1 },
	{ "target@read=foo,arg1", false, 8 },
	{ "target@read,arg1", false, -1 },
	{ "target@time=x,arg1", false, 8 },
	{ "target@time,arg1", false, -1 },
	{ "target@trace_on,arg1", false, 8 },
	{ "target@trace_off,arg1", false, 8 },
	{ "target@traceon,arg1", false, 8 },
	{ "target@traceoff,arg1", false, 8 },
	{ "target@size=1,arg1", false, 8 },
	{ "target@size,arg1", false, -1 },
	{ "target@caller,arg1", false, 8 },
	{ "target@loc,arg1", false, -1 },
	{ "target@finishx,arg1", false, 8 },
	{ "target@recover1,arg1", false, 8 },
	{ "target@filterx,arg1", false, 8 },
	{ "target@notracex,arg1", false, 8 },
	{ "target@hidex,arg1", false, 8 },
	{ "target@tracex,arg1", false, 8 },
	{ "target@backtracex,arg1", false, 8 },
	{ "target@auto-argsx,arg1", false, 8 },
	{ "target@if:arg1>1,arg1", false, -1 },
	{ "target@clear,arg1", false, -1 },
	{ "target@diff=proc/statm,arg1", false, -1 },
	{ "target@read=page-fault,arg1", false, 8 },
	{ "target@plt,arg1", false, -1 },
	{ "target@Kernel,arg1", false, -1 },
	{ "target@lib,arg1", false, -1 },
	{ "target@pp,arg1", false, -1 },
	{ "target@P,arg1", false, -1 },
	{ "target@arg1%r8", false, 8 },
	{ "target@arg1%r9", false, 8 },
	{ "target@arg1%r10", false, -1 },
	{ "target@arg1%rdx", false, 8 },
	{ "target@arg1%rcx", false, 8 },
	{ "target@arg1%edi", false, -1 },
	{ "target@arg1%xmm7", false, 8 },
	{ "target@arg1%xmm8", false, -1 },
	{ "target@arg1%xmm15", false, -1 },
	{ "target@arg1%rdi%rsi", false, -1 },
	{ "target@arg1%st", false, -1 },
	{ "target@arg1%stac", false, -1 },
	{ "target@fparg1%stack+2", false, 8 },
	{ "target@fparg1%foo", false, -1 },
	{ "target@fparg1/64%foo", false, -1 },
	{ "target@arg1/t16:pair%foo", false, 16 },
	{ "target@arg1/t16%", false, 16 },
	{ "target@arg1 /s", false, -1 },
	{ "target@arg1/ s", false, -1 },
	{ "target@arg1/s%stack+1,arg2", false, 16 },
	{ "target@arg1/:x", false, -1 },
	{ "target@arg1/d:x", false, -1 },
	{ "target@arg1:s", false, -1 },
	{ "target@arg1=s", false, -1 },
	{ "target@arg1,arg2,arg3,arg4,arg5,arg6,arg7,arg8", false, 64 },
	{ "target@arg1/s%,arg2", false, -1 },
	{ "target@retval", true, 8 },
	{ "target@retval/d", true, 8 },
	{ "target@retval/i32", true, 8 },
	{ "target@retval/x", true, 8 },
	{ "target@retval/o", true, -1 },
	{ "target@retval/s", true, 8 },
	{ "target@retval/S", true, 8 },
	{ "target@retval/c", true, 8 },
	{ "target@retval/p", true, 8 },
	{ "target@retval/f", true, 8 },
	{ "target@retval/f32", true, 8 },
	{ "target@retval/f64", true, 8 },
	{ "target@retval/f80", true, 16 },
	{ "target@retval/e:color", true, 8 },
	{ "target@retval/t0", true, 0 },
	{ "target@retval/t16", true, 16 },
	{ "target@retval/t16:pair", true, 16 },
	{ "target@retval/", true, -1 },
	{ "target@retval/q", true, -1 },
	{ "target@retval/8", true, -1 },
	{ "target@retval/32", true, -1 },
	{ "target@retval/str", true, -1 },
	{ "target@retval/s:x", true, -1 },
	{ "target@retval%rax", true, -1 },
	{ "target@retval%foo", true, -1 },
	{ "target@retval/f%xmm0", true, 8 },
	{ "target@retvalx", true, -1 },
	{ "target@retval1", true, -1 },
	{ "target@retval,retval/s", true, 8 },
	{ "target@arg1", true, -1 },
	{ "target@", true, -1 },
	{ "target@ret", true, -1 },
	{ "target@retval;target@retval/s", true, 8 },
	{ "target@arg1,retval", true, 8 },
	{ "target@retval,libfoo.so", true, -1 },
	{ "target@PLT,retval", true, -1 },
	{ "^target@retval", true, 8 },
	{ "target@retval/f%rax", true, -1 },
	{ "target@retval/c32", true, 8 },
	{ "target@retval/t", true, 0 },
	{ "target@retval/", true, -1 },
	{ "target@retval /s", true, -1 },
	{ "target@retval:s", true, -1 },
	{ "target@retval/e:", true, -1 },
	{ "target@retval/e", true, -1 },
	{ "target@retval,filter", true, 8 },
	{ "target@retval/t1000", true, 1000 },
	{ "target@fparg1", true, -1 },
	{ "target@arg0", true, -1 },
};

static void put(struct bytes *b, uint64_t time, enum uftrace_type type, bool more, unsigned depth, uint64_t address)
{
	bytes_u64(b, time);
	bytes_u64(b, uftrace_word(type, more, depth, BASE + address));
}

static void put_info(struct bytes *b, const struct asked *x)
{
	uint8_t head[UFTRACE_HEADER_SIZE] = UFTRACE_MAGIC;
	uint64_t features = UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) |
			    UFTRACE_BIT(UFTRACE_F_MAX_STACK) | UFTRACE_BIT(UFTRACE_F_ARGUMENT) | UFTRACE_BIT(UFTRACE_F_RETVAL);

	store_u32(head + UFTRACE_H_VERSION, 4, false);
	store_u16(head + UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE, false);
	head[UFTRACE_H_ENDIAN] = UFTRACE_LITTLE;
	head[UFTRACE_H_CLASS] = UFTRACE_64;
	store_u64(head + UFTRACE_H_FEAT_MASK, features, false);
	store_u64(head + UFTRACE_H_INFO_MASK,
		  UFTRACE_BIT(UFTRACE_I_TASKINFO) | UFTRACE_BIT(UFTRACE_I_ARG_SPEC) | UFTRACE_BIT(UFTRACE_I_PATTERN_TYPE) |
			  UFTRACE_BIT(UFTRACE_I_VERSION),
		  false);
	store_u16(head + UFTRACE_H_MAX_STACK, 1024, false);
	bytes_append(b, head, sizeof(head));
	bytes_printf(b, "taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=77\nargspec:lines=1\n%s:%s\n",
		     x->retval ? "retspec" : "argspec", x->spec);
	bytes_text(b, "pattern_type:regex\nuftrace_version:v0.13 ( x86_64 )\n");
}

static void put_records(struct bytes *b, const struct asked *x)
{
	put(b, 1000000200, UFTRACE_ENTRY, false, 0, 0x1010);
	put(b, 1000000300, UFTRACE_ENTRY, !x->retval, 1, 0x1110);
	if (!x->retval)
		(void)bytes_grow(b, x->size < 0 ? 8 : (size_t)x->size);
	put(b, 1000000400, UFTRACE_EXIT, x->retval, 1, 0x1110);
	if (x->retval)
		(void)bytes_grow(b, x->size < 0 ? 8 : (size_t)x->size);
	put(b, 1000000500, UFTRACE_EXIT, false, 0, 0x1010);
}

/* Whether check finds an error. */
static bool has_error(const struct asked *x, uint64_t *records)
{
	static const char map[] = "555555000000-555555002000 r-xp 00000000 00:00 0 /opt/p build-id:" ID
				  "\n7ffd77870000-7ffd77891000 rw-p 00000000 00:00 0 [stack]\n";
	static const char symbols[] = "# symbols: 2\n# path name: /opt/p\n# build-id: " ID "\n0000000000001000 T main\n"
				      "0000000000001100 T target\n0000000000001200 ? __sym_end\n";
	static const char tasks[] = "SESS timestamp=1.000000000 pid=77 sid=0123456789abcdef exename=\"/opt/p\"\n"
				    "TASK timestamp=1.000000100 tid=77 pid=77\n";
	struct bytes info = { 0 }, data = { 0 };
	struct bundle *b = bundle_new("recording", NULL);
	bool error = false;

	put_info(&info, x);
	put_records(&data, x);
	assert_non_null(bundle_add_memory(b, "info", info.data, info.size));
	assert_non_null(bundle_add_memory(b, "77.dat", data.data, data.size));
	assert_non_null(bundle_add_memory(b, "p.sym", symbols, sizeof(symbols) - 1));
	assert_non_null(bundle_add_memory(b, "task.txt", tasks, sizeof(tasks) - 1));
	assert_non_null(bundle_add_memory(b, "sid-0123456789abcdef.map", map, sizeof(map) - 1));
	bundle_sort(b);
	struct findings *f = findings_new(uftrace_format.rules, uftrace_format.rule_count, NULL);
	struct scan s = { .in = b, .findings = f };
	assert_int_equal(uftrace_format.scan(&s), TM_OK);
	for (size_t i = 0; i < findings_kept_count(f); i++)
		error |= findings_kept_at(f, i)->severity == TM_ERROR;
	*records = s.records;
	findings_free(f);
	bundle_free(b);
	bytes_free(&info);
	bytes_free(&data);
	return error;
}

static void readers_agree(void **state)
{
	(void)state;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		uint64_t records;
		if (has_error(&list[i], &records) != (list[i].size < 0) || records != 4)
			fail_msg("%s: readers %s it; %llu records", list[i].spec, list[i].size < 0 ? "refuse" : "take",
				 (unsigned long long)records);
	}
}

/* What is said of a function of whose records `stray` in a hundred, but not the first, have another size than 24 bytes. */
static bool guess_of(unsigned stray, char out[UFTRACE_GUESS_TEXT])
{
	const uint8_t values[64] = { 0 };
	struct uftrace_guess g = { 0 };

	for (unsigned i = 0; i < 300; i++) {
		bool odd = i && i % 100 < stray;
		uftrace_guess_take(&g, values, odd ? 32 + 8 * (i % 3) : 24, false);
	}
	return uftrace_guess_items(&g, false, false, out);
}

static void few_records_of_another_size_do_not_count(void **state)
{
	char items[UFTRACE_GUESS_TEXT] = "";

	(void)state;
	assert_true(guess_of(0, items));
	assert_string_equal(items, "arg1/t24");
	assert_true(guess_of(2, items));
	assert_string_equal(items, "arg1/t24");
	assert_false(guess_of(4, items));
}

/* Values of 8 bytes, 4 bytes and a string; `stray` of 4,000 records seem to have the first only. */
static bool guess_of_strings(unsigned stray, char out[UFTRACE_GUESS_TEXT])
{
	static const char *const texts[] = { "hello", "a longer text", "x", "some more words here" };
	struct uftrace_guess g = { 0 };

	for (unsigned i = 0; i < 4000; i++) {
		struct bytes b = { 0 };
		bytes_u64(&b, UINT64_C(0x555555000000) + i);
		bytes_u32(&b, i);
		bytes_u16(&b, (uint16_t)strlen(texts[i % 4]));
		bytes_text(&b, texts[i % 4]);
		while (b.size % 8)
			bytes_u8(&b, 0);
		assert_false(b.failed);
		bool short_one = stray && i % (4000 / stray) == 50;
		uftrace_guess_take(&g, b.data, short_one ? 8 : b.size, false);
		bytes_free(&b);
	}
	return uftrace_guess_items(&g, false, false, out);
}

static void few_records_do_not_hide_strings(void **state)
{
	char items[UFTRACE_GUESS_TEXT] = "";

	(void)state;
	assert_true(guess_of_strings(0, items));
	assert_string_equal(items, "arg1/x32,arg2/x64,arg3/s"); /* as well as the other order */
	assert_true(guess_of_strings(4, items));
	assert_string_equal(items, "arg1/x32,arg2/x64,arg3/s");
	assert_false(guess_of_strings(40, items));
}

/* A long double and an integer, a string, an integer and a character: 12 bytes are two values here, six in all. */
static void six_values_are_guessed(void **state)
{
	struct uftrace_guess g = { 0 };
	char items[UFTRACE_GUESS_TEXT] = "";

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		struct bytes b = { 0 };
		bytes_u32(&b, i);
		bytes_u64(&b, i);
		bytes_u64(&b, UINT64_C(0x555555000000) + i);
		bytes_u16(&b, (uint16_t)(i % 30));
		for (unsigned k = 0; k < i % 30; k++)
			bytes_u8(&b, (uint8_t)('a' + k % 26));
		while (b.size % 4)
			bytes_u8(&b, 0);
		bytes_u64(&b, i);
		bytes_u32(&b, i & 255);
		while (b.size % 8)
			bytes_u8(&b, 0);
		assert_false(b.failed);
		uftrace_guess_take(&g, b.data, b.size, false);
		bytes_free(&b);
	}
	assert_true(uftrace_guess_items(&g, false, false, items));
	assert_string_equal(items, "arg1/x32,arg2/x64,arg3/x64,arg4/s,arg5/x32,arg6/x64");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(readers_agree), cmocka_unit_test(few_records_do_not_hide_strings),
					    cmocka_unit_test(few_records_of_another_size_do_not_count),
					    cmocka_unit_test(six_values_are_guessed) };

	return RUN(tests);
}

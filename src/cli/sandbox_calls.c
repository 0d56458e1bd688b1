/* The system calls that the program gives up, by libseccomp, where it is built with it (TM_SECCOMP).
 *
 * The list names what leads out of a process. A list of what is allowed would be shorter in effect, but the C library, the
 * allocator and the decompressors choose other calls on each machine and in each version. */
#include "cli/sandbox.h"

#ifdef TM_SECCOMP

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "core/system.h"

/* Bytes of memory that must be left for building the filter. */
#define CALLS_ROOM (2u << 20)

/* By name: an old libseccomp does not know all of them, nor does each architecture have all. */
static const char *const calls_forbidden[] = {
	/* other programs and processes */
	"execve",
	"execveat",
	"fork",
	"vfork",
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"process_madvise",
	"pidfd_open",
	"pidfd_getfd",
	"pidfd_send_signal",
	"kcmp",
	"unshare",
	"setns",
	/* the network, and other ways to talk to processes */
	"socket",
	"socketpair",
	"socketcall",
	"connect",
	"bind",
	"listen",
	"accept",
	"accept4",
	"shmget",
	"shmat",
	"msgget",
	"semget",
	"ipc",
	"mq_open",
	"mq_unlink",
	"keyctl",
	"add_key",
	"request_key",
	/* ways around what is forbidden, and much of the kernel that nothing here needs */
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"open_by_handle_at",
	"name_to_handle_at",
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"memfd_create",
	"memfd_secret",
	"fanotify_init",
	"personality",
	"modify_ldt",
	"vmsplice",
	/* what only root may do */
	"mount",
	"umount2",
	"pivot_root",
	"chroot",
	"open_tree",
	"move_mount",
	"fsopen",
	"fsmount",
	"fspick",
	"mount_setattr",
	"mknod",
	"mknodat",
	"setuid",
	"setgid",
	"setreuid",
	"setregid",
	"setresuid",
	"setresgid",
	"setgroups",
	"capset",
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"reboot",
	"swapon",
	"swapoff",
	"acct",
	"quotactl",
	"settimeofday",
	"clock_settime",
	"clock_adjtime",
	"adjtimex",
	"sethostname",
	"setdomainname",
	"syslog",
	"iopl",
	"ioperm",
};

static void calls_forbid(scmp_filter_ctx filter, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	if (call != __NR_SCMP_ERROR)
		(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

static void calls_forbid_some(scmp_filter_ctx filter)
{
	const int maps[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect), SCMP_SYS(pkey_mprotect) };
	/* Typing into the terminal: what is typed, the shell runs. */
	const unsigned long typing[] = { TIOCSTI, TIOCLINUX };

	/* No code that the process did not have when it began. */
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), maps[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
	for (size_t i = 0; i < sizeof(typing) / sizeof(typing[0]); i++)
		(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, typing[i]));
		/* Threads, and no processes. The flags of clone3() cannot be looked at: without it, the C library takes clone(). */
#ifdef __s390__
	(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
#else
	(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
#endif
	(void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

bool sandbox_can_forbid_calls(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 && seccomp_api_get() >= 1;
}

bool sandbox_forbid_calls(void)
{
	/* libseccomp 2.5 reads a wild pointer where it gets no memory for the program of its filter. */
	if (!system_has_memory(CALLS_ROOM))
		return false;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return false;
	for (size_t i = 0; i < sizeof(calls_forbidden) / sizeof(calls_forbidden[0]); i++)
		calls_forbid(filter, calls_forbidden[i]);
	calls_forbid_some(filter);
	/* Kernels before 5.16 slow a process with a filter down against attacks from within by code that it makes: it makes none.
	 */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	bool forbidden = seccomp_load(filter) == 0;
	seccomp_release(filter);
	return forbidden;
}

#else

bool sandbox_can_forbid_calls(void)
{
	return false;
}

bool sandbox_forbid_calls(void)
{
	return false;
}

#endif

/* Bytes were removed from the metadata, or inserted into it: what is not in its place behind shows that. Within a text of lines
 * nothing shows where. Else it was in a name of a system, as all but these have sizes: a name that no kernel has is doubtful then.
 */
#include "core/array.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_format.h"

/* Systems of Linux 2.6.31 to 6.18, sorted. */
static const char *const names[] = {
	"afs",
	"alarmtimer",
	"amd_cpu",
	"amdgpu",
	"amdgpu_dm",
	"amdxdna",
	"asoc",
	"avc",
	"bcache",
	"block",
	"bpf_test_run",
	"bpf_trace",
	"bridge",
	"btrfs",
	"cachefiles",
	"capability",
	"cdns3",
	"ceph",
	"cfg80211",
	"cgroup",
	"cifs",
	"clk",
	"cma",
	"compaction",
	"context_tracking",
	"cpuhp",
	"csd",
	"damon",
	"dev",
	"devfreq",
	"devlink",
	"dlm",
	"dma",
	"dma_fence",
	"dpaa2",
	"drm",
	"dwc3",
	"erofs",
	"error_report",
	"exceptions",
	"ext3",
	"ext4",
	"f2fs",
	"fib",
	"fib6",
	"filelock",
	"filemap",
	"fs_dax",
	"fscache",
	"fsi",
	"fsl_edma",
	"fuse",
	"gadget",
	"gfs2",
	"gpio",
	"gpu_mem",
	"gpu_scheduler",
	"habanalabs",
	"hda",
	"hda_controller",
	"hda_intel",
	"hfi1",
	"host1x",
	"hswadsp",
	"huge_memory",
	"hugetlbfs",
	"hwmon",
	"hyperv",
	"i2c",
	"i915",
	"ib_mad",
	"icmp",
	"initcall",
	"intel_iommu",
	"intel_ish",
	"interconnect",
	"io_uring",
	"iocost",
	"iomap",
	"iommu",
	"ipi",
	"irq",
	"irq_matrix",
	"irq_vectors",
	"irqsoff",
	"iscsi",
	"iwlwifi",
	"iwlwifi_data",
	"iwlwifi_msg",
	"iwlwifi_ucode",
	"jbd2",
	"kmem",
	"kprobes",
	"ksm",
	"kvm",
	"kvm_hv",
	"kvm_s390",
	"kvmmmu",
	"kyber",
	"lock",
	"mac80211",
	"mac80211_msg",
	"maple_tree",
	"mce",
	"mdio",
	"mei",
	"memcg",
	"migrate",
	"mips",
	"mlx5",
	"mmap",
	"mmap_lock",
	"mmc",
	"module",
	"mptcp",
	"msr",
	"musb",
	"napi",
	"nbd",
	"neigh",
	"net",
	"netfs",
	"netlink",
	"nfs",
	"nfs4",
	"nfsd",
	"nilfs2",
	"nmi",
	"notifier",
	"nvme",
	"objagg",
	"ocfs2",
	"oom",
	"osnoise",
	"page_isolation",
	"page_pool",
	"page_ref",
	"pagemap",
	"pci",
	"percpu",
	"power",
	"powerpc",
	"preemptirq",
	"printk",
	"pvcalls",
	"pwm",
	"qdisc",
	"qrtr",
	"ras",
	"raw_syscalls",
	"rcu",
	"rdma_cma",
	"rdma_core",
	"readahead",
	"regmap",
	"regulator",
	"rpm",
	"rseq",
	"rtc",
	"rv",
	"rxrpc",
	"s390",
	"sched",
	"scmi",
	"scsi",
	"signal",
	"skb",
	"smbus",
	"sock",
	"sof",
	"sof_intel",
	"spi",
	"spmi",
	"sunrpc",
	"sunrpc_server",
	"swiotlb",
	"synthetic",
	"syscalls",
	"target",
	"task",
	"tcp",
	"tegra_apb_dma",
	"tegra_host1x",
	"thermal",
	"thermal_power_allocator",
	"thp",
	"timer",
	"timer_migration",
	"timestamp",
	"tlb",
	"ttm",
	"udp",
	"ufs",
	"uprobes",
	"user_events",
	"uvc",
	"v4l2",
	"vb2",
	"vfio",
	"virtio_gpu",
	"vmalloc",
	"vmpressure",
	"vmscan",
	"vsock",
	"vsyscall",
	"watchdog",
	"wbt",
	"wmi",
	"workqueue",
	"writeback",
	"x86_fpu",
	"xdp",
	"xen",
	"xfs",
	"xhci-hcd",
	"zfs",
};

bool tracedat_system_known(const char *name)
{
	const size_t count = sizeof(names) / sizeof(*names);
	size_t i;

	array_search(i, count, strcmp(names[i], name) < 0);
	return i < count && !strcmp(names[i], name);
}

/* Whether the data that comes first in the file is not where its table says, or does not begin with a page. */
static bool data_shifted(const struct tracedat_walk *w)
{
	const struct tracedat_cpu *first = NULL;

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->length && !c->found && (!first || c->from < first->from))
				first = c;
		}
	return first && (first->from != first->offset || first->begin_bad) && TRACEDAT_ANY(w, TRACEDAT_RULE_cpu_offset_alignment);
}

/* The same for a section: it is longer or shorter than stated, and what follows it is not in its place. */
static bool section_shifted(const struct tracedat_walk *w, unsigned id)
{
	if (!TRACEDAT_ANY(w, TRACEDAT_RULE_v7_done_target, TRACEDAT_RULE_v7_options_offset, TRACEDAT_RULE_v7_section_id_mismatch,
			  TRACEDAT_RULE_v7_buffer_section))
		return false;
	for (size_t i = 0; i < w->dir.section_count; i++)
		if (w->dir.sections[i].id == id && w->dir.sections[i].size_bad)
			return true;
	return false;
}

static bool is_shifted(const struct tracedat_walk *w, unsigned id)
{
	return w->shape.version == 6 ? data_shifted(w) : section_shifted(w, id);
}

/* Texts that have another size than stated, where what follows is not in its place. */
static void texts_doubt(struct tracedat_walk *w)
{
	for (unsigned i = 0; i < 3; i++) {
		const struct tracedat_text_odd *o = &w->texts.odd[i];
		if (o->length && is_shifted(w, TRACEDAT_KALLSYMS + i))
			plan_doubt(w->s->plan, w->source, o->offset, o->length,
				   "bytes were removed from this text, or inserted into it");
	}
}

void tracedat_metadata_doubt(struct tracedat_walk *w)
{
	/* These follow from sizes that are wrong, and name no place. */
	uint64_t follow = findings_count(w->findings, TRACEDAT_RULE_v7_section_size) +
			  findings_count(w->findings, TRACEDAT_RULE_v7_done_target) +
			  findings_count(w->findings, TRACEDAT_RULE_v7_options_offset) +
			  findings_count(w->findings, TRACEDAT_RULE_v7_section_id_mismatch) +
			  findings_count(w->findings, TRACEDAT_RULE_v7_buffer_section);

	texts_doubt(w);
	if (w->meta.errors > (w->shape.version == 7 ? follow : 0) || TRACEDAT_ANY(w, TRACEDAT_RULE_format_size_mismatch) ||
	    !is_shifted(w, TRACEDAT_EVENT_FORMATS))
		return;
	for (size_t i = 0; i < w->events.count; i++) {
		struct tracedat_event *e = &w->events.list[i];
		if (!strcmp(e->system, "ftrace") || tracedat_system_known(e->system) || !e->block || e->block->compressed)
			continue;
		tracedat_event_hit(w, e);
		plan_doubt(w->s->plan, w->source, e->block->offset + e->text - 8, 8 + (uint64_t)e->text_size,
			   "bytes were removed or inserted where nothing shows it, maybe in the name of this system");
	}
}

/* header: a table. Why the fast path (uftrace_fast.c) cannot hide a rule: see enum fast_reason in core/format.h. */
#ifndef UFTRACE_FAST_CONTRACT_H
#define UFTRACE_FAST_CONTRACT_H

/* The magic is tested; fewer than 16 bytes are left, and so are values behind which no record follows. */
#define FAST_dat_bad_magic FAST_LEAVES
#define FAST_dat_zero_tail FAST_LEAVES
#define FAST_dat_trailing_bytes FAST_LEAVES
/* A block that is there twice begins with a time that goes back, or with the last record again. */
#define FAST_dat_duplicate_block FAST_LEAVES
/* Times must be in [the last one, time_limit), which is 0 behind a time that is itself in doubt. */
#define FAST_dat_time_backward FAST_LEAVES
#define FAST_dat_time_zero FAST_LEAVES
#define FAST_dat_time_far FAST_LEAVES
/* The first record of a task, and each of a depth that is not known, is for the walk (`started`, `seek`). */
#define FAST_dat_time_before_task FAST_LEAVES
#define FAST_dat_fork_prefix FAST_LEAVES
/* The depth must be that of the open calls, below the maximum and below 1024, and the return that of its call. */
#define FAST_dat_depth_exceeds_max_stack FAST_LEAVES
#define FAST_dat_depth_wrap FAST_LEAVES
#define FAST_dat_depth_gap FAST_LEAVES
#define FAST_dat_exit_without_entry FAST_LEAVES
#define FAST_dat_exit_addr_mismatch FAST_LEAVES
#define FAST_dat_implicit_close FAST_LEAVES
/* The depth at the end is kept. */
#define FAST_dat_open_frames FAST_KEEPS
/* Only calls and returns are taken. */
#define FAST_dat_lost FAST_LEAVES
#define FAST_dat_lost_more FAST_LEAVES
#define FAST_dat_event_unknown FAST_LEAVES
#define FAST_dat_event_length FAST_LEAVES
#define FAST_dat_event_depth FAST_LEAVES
#define FAST_dat_event_virtual FAST_LEAVES
/* Values are taken where the walk has found the specification of this address before, and its size leads to a record. */
#define FAST_dat_payload_without_spec FAST_LEAVES
#define FAST_dat_payload_desync FAST_LEAVES
#define FAST_dat_string_length FAST_LEAVES
#define FAST_argspec_missing FAST_LEAVES
#define FAST_argspec_unparsable FAST_LEAVES
/* An address is taken when the walk has seen it before, in this session: that marks its mapping as used, and notes that there
 * are arguments and return values. */
#define FAST_dat_address_unmapped FAST_LEAVES
#define FAST_dat_address_unsymbolised FAST_LEAVES
#define FAST_dat_address_kernel_range FAST_LEAVES
#define FAST_sym_missing FAST_LEAVES
#define FAST_feat_args_mismatch FAST_LEAVES
/* The other files, and the names of files. */
#define FAST_dir_not_uftrace FAST_ELSEWHERE
#define FAST_non_regular_file FAST_ELSEWHERE
#define FAST_stale_channel FAST_ELSEWHERE
#define FAST_map_tmp_leftover FAST_ELSEWHERE
#define FAST_unknown_file FAST_ELSEWHERE
#define FAST_file_renamed FAST_ELSEWHERE
#define FAST_info_missing FAST_ELSEWHERE
#define FAST_info_truncated_header FAST_ELSEWHERE
#define FAST_info_bad_magic FAST_ELSEWHERE
#define FAST_info_version_unsupported FAST_ELSEWHERE
#define FAST_info_header_size FAST_ELSEWHERE
#define FAST_info_endian_invalid FAST_ELSEWHERE
#define FAST_info_endian_mismatch FAST_ELSEWHERE
#define FAST_info_class_invalid FAST_ELSEWHERE
#define FAST_info_reserved_nonzero FAST_ELSEWHERE
#define FAST_feat_unknown_bit FAST_ELSEWHERE
#define FAST_feat_newer_than_version FAST_ELSEWHERE
#define FAST_feat_task_session_clear FAST_ELSEWHERE
#define FAST_feat_always_bits_missing FAST_ELSEWHERE
#define FAST_feat_perf_without_files FAST_ELSEWHERE
#define FAST_feat_perf_clear_with_files FAST_ELSEWHERE
#define FAST_feat_kernel_without_files FAST_ELSEWHERE
#define FAST_feat_debuginfo_mismatch FAST_ELSEWHERE
#define FAST_feat_symsize_mismatch FAST_ELSEWHERE
#define FAST_info_mask_zero FAST_ELSEWHERE
#define FAST_info_mask_unknown_bit FAST_ELSEWHERE
#define FAST_info_block_missing FAST_ELSEWHERE
#define FAST_info_block_unannounced FAST_ELSEWHERE
#define FAST_info_block_order FAST_ELSEWHERE
#define FAST_info_line_too_long FAST_ELSEWHERE
#define FAST_info_lines_count FAST_ELSEWHERE
#define FAST_info_crlf_or_blank FAST_ELSEWHERE
#define FAST_info_nul_in_text FAST_ELSEWHERE
#define FAST_info_trailing_bytes FAST_ELSEWHERE
#define FAST_info_no_final_newline FAST_ELSEWHERE
#define FAST_info_build_id_format FAST_ELSEWHERE
#define FAST_info_exit_status_undecodable FAST_ELSEWHERE
#define FAST_info_recorder_interrupted FAST_ELSEWHERE
#define FAST_taskinfo_missing FAST_ELSEWHERE
#define FAST_taskinfo_count_mismatch FAST_ELSEWHERE
#define FAST_taskinfo_tid_invalid FAST_ELSEWHERE
#define FAST_taskinfo_duplicate_tid FAST_ELSEWHERE
#define FAST_taskinfo_unsorted FAST_ELSEWHERE
#define FAST_taskinfo_tid_not_in_task FAST_ELSEWHERE
#define FAST_taskinfo_missing_tid FAST_ELSEWHERE
#define FAST_pattern_type_unknown FAST_ELSEWHERE
#define FAST_task_missing FAST_ELSEWHERE
#define FAST_task_legacy_shadow FAST_ELSEWHERE
#define FAST_task_line_malformed FAST_ELSEWHERE
#define FAST_task_line_unknown FAST_ELSEWHERE
#define FAST_task_truncated_tail FAST_ELSEWHERE
#define FAST_task_nul_bytes FAST_ELSEWHERE
#define FAST_task_timestamp_digits FAST_ELSEWHERE
#define FAST_task_sid_format FAST_ELSEWHERE
#define FAST_task_duplicate_sid FAST_ELSEWHERE
#define FAST_task_exename_quoting FAST_ELSEWHERE
#define FAST_task_no_session FAST_ELSEWHERE
#define FAST_task_sess_after_task FAST_ELSEWHERE
#define FAST_task_session_without_map FAST_ELSEWHERE
#define FAST_map_orphan FAST_ELSEWHERE
#define FAST_task_fork_cycle FAST_ELSEWHERE
#define FAST_task_fork_unknown_parent FAST_ELSEWHERE
#define FAST_task_fork_self FAST_ELSEWHERE
#define FAST_task_repeat_without_exec FAST_ELSEWHERE
#define FAST_task_time_order FAST_ELSEWHERE
#define FAST_dlop_unknown_session FAST_ELSEWHERE
#define FAST_dlop_unknown_tid FAST_ELSEWHERE
#define FAST_map_line_malformed FAST_ELSEWHERE
#define FAST_map_no_stack FAST_ELSEWHERE
#define FAST_map_range_invalid FAST_ELSEWHERE
#define FAST_map_overlap FAST_ELSEWHERE
#define FAST_map_unsorted FAST_ELSEWHERE
#define FAST_map_path_truncated_at_space FAST_ELSEWHERE
#define FAST_map_field_too_long FAST_ELSEWHERE
#define FAST_map_buildid_missing FAST_ELSEWHERE
#define FAST_map_buildid_format FAST_ELSEWHERE
#define FAST_map_exe_missing FAST_ELSEWHERE
#define FAST_sym_mismatched_identity FAST_ELSEWHERE
#define FAST_sym_wrong_suffix FAST_ELSEWHERE
#define FAST_sym_count_mismatch FAST_ELSEWHERE
#define FAST_sym_count_dangerous FAST_ELSEWHERE
#define FAST_sym_line_malformed FAST_ELSEWHERE
#define FAST_sym_mixed_format FAST_ELSEWHERE
#define FAST_sym_unsorted FAST_ELSEWHERE
#define FAST_sym_leading_sentinels FAST_ELSEWHERE
#define FAST_sym_missing_sentinel FAST_ELSEWHERE
#define FAST_sym_type_unknown FAST_ELSEWHERE
#define FAST_sym_overlap FAST_ELSEWHERE
#define FAST_sym_outside_map FAST_ELSEWHERE
#define FAST_sym_name_too_long FAST_ELSEWHERE
#define FAST_sym_crlf FAST_ELSEWHERE
#define FAST_dbg_malformed FAST_ELSEWHERE
#define FAST_dbg_func_unknown FAST_ELSEWHERE
#define FAST_dat_name_invalid FAST_ELSEWHERE
#define FAST_dat_unreferenced FAST_ELSEWHERE
#define FAST_dat_missing FAST_ELSEWHERE
#define FAST_dat_all_empty FAST_ELSEWHERE
#define FAST_perf_record_size FAST_ELSEWHERE
#define FAST_perf_truncated FAST_ELSEWHERE
#define FAST_perf_unknown_type FAST_ELSEWHERE
#define FAST_perf_time_order FAST_ELSEWHERE
#define FAST_perf_unknown_tid FAST_ELSEWHERE
#define FAST_perf_switch_unpaired FAST_ELSEWHERE
#define FAST_events_malformed FAST_ELSEWHERE
#define FAST_events_duplicate_id FAST_ELSEWHERE
#define FAST_extern_malformed FAST_ELSEWHERE
#define FAST_extern_unsorted FAST_ELSEWHERE
#define FAST_default_opts_whitespace FAST_ELSEWHERE
#define FAST_default_opts_unexpected FAST_ELSEWHERE
#define FAST_kernel_header_malformed FAST_ELSEWHERE
#define FAST_kernel_page_malformed FAST_ELSEWHERE
#define FAST_kernel_size FAST_ELSEWHERE
#define FAST_shm_leftover FAST_ELSEWHERE

#endif

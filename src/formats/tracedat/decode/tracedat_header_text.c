/* The texts of header_page and header_event (MAN6 "HEADER INFO FORMAT"). */
#include "formats/tracedat/decode/tracedat_header_text.h"

void tracedat_header_page_text(struct bytes *b, unsigned long_size, uint32_t page_size)
{
	bytes_printf(b,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
		     long_size, 8 + long_size, page_size - 8 - long_size);
}

void tracedat_header_event_text(struct bytes *b)
{
	bytes_text(b, "# compressed entry header\n"
		      "\ttype_len    :    5 bits\n"
		      "\ttime_delta  :   27 bits\n"
		      "\tarray       :   32 bits\n"
		      "\n"
		      "\tpadding     : type == 29\n"
		      "\ttime_extend : type == 30\n"
		      "\ttime_stamp : type == 31\n"
		      "\tdata max type_len  == 28\n");
}

bool tracedat_page_fields_parse(const char *text, size_t size, struct tracedat_page_fields *p)
{
	unsigned stage = 0;
	bool sound = true;
	*p = (struct tracedat_page_fields){ 0 };
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		struct tracedat_field f;
		bool line = end && tracedat_field_line(text, (uint32_t)at, (uint32_t)length, &f);
		at += length + 1;
		if (!line) {
			sound = false;
			continue;
		}
		const char *name = text + f.name;
		sound &= stage < 4;
		if (stage == 0 && f.name_length == 9 && !memcmp(name, "timestamp", 9)) {
			p->timestamp = f;
			p->has_timestamp = true;
			stage = 1;
		} else if (stage <= 1 && f.name_length == 6 && !memcmp(name, "commit", 6)) {
			p->commit = f;
			p->has_commit = true;
			stage = 2;
		} else if (stage <= 2 && f.name_length == 9 && !memcmp(name, "overwrite", 9)) {
			p->overwrite = f;
			p->has_overwrite = true;
			stage = 3;
		} else if (stage <= 3 && f.name_length == 4 && !memcmp(name, "data", 4)) {
			p->data = f;
			p->has_data = true;
			stage = 4;
		} else {
			sound = false;
		}
	}
	return sound && p->has_timestamp && p->has_commit && p->has_data && p->timestamp.offset == 0 && p->commit.offset == 8;
}

/* The number behind `label` in the text; -1: it is not there. */
int tracedat_header_event_number(const char *text, size_t size, const char *label)
{
	const char *p = memmem(text, size, label, strlen(label));
	const char *end = text + size;
	if (!p)
		return -1;
	for (p += strlen(label); p < end && (*p == ' ' || *p == ':' || *p == '\t' || *p == '='); p++)
		;
	if (end - p > 4 && !memcmp(p, "type", 4))
		for (p += 4; p < end && (*p == ' ' || *p == '='); p++)
			;
	int value = -1;
	for (; p < end && *p >= '0' && *p <= '9' && value < 1000; p++)
		value = (value < 0 ? 0 : value) * 10 + (*p - '0');
	return value;
}

/* The XML of LTTng: tags, attributes, what is not well-formed and where. */
#include "unit.h"

#include "formats/lttng/decode/lttng_xml.h"

static struct lttng_xml xml(const char *text)
{
	return (struct lttng_xml){ .text = text, .length = strlen(text) };
}

/* Tags as "+name", "-name", "+name/" with their places; '!' and the place where it fails. */
static void tags_are(const char *text, const char *wanted)
{
	struct lttng_xml x = xml(text);
	struct lttng_xml_tag tag;
	char got[200] = "";
	while (lttng_xml_next(&x, &tag))
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%c%.*s%s@%zu ", tag.kind == XML_OPEN ? '+' : '-',
			 (int)tag.name_length, tag.name, tag.empty ? "/" : "", tag.at);
	if (x.failed)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "!%zu ", x.failed_at);
	if (strcmp(got, wanted))
		fail_msg("%s: '%s', not '%s'", text, got, wanted);
	/* After a failure, and at the end, there is no more. */
	assert_false(lttng_xml_next(&x, &tag));
	assert_int_equal(tag.kind, XML_END);
}

static void tags(void **state)
{
	(void)state;
	tags_are("", "");
	tags_are("text", "");
	tags_are("<a>", "+a@0 ");
	tags_are("<a/>", "+a/@0 ");
	tags_are("<a />", "+a/@0 ");
	tags_are("x<a>y</a>z", "+a@1 -a@5 ");
	tags_are("<a b='>'>", "+a@0 ");
	tags_are("<a b=\"'>'\"/>", "+a/@0 ");
	tags_are("<a b='<'><c>", "+a@0 +c@9 ");
	tags_are("<a\tb>", "+a@0 ");
	tags_are("<a\nb>", "+a@0 ");
	tags_are("<a\rb>", "+a@0 ");
	tags_are("<!-- <a> --><b>", "+b@12 ");
	tags_are("<!--><b>", "+b@5 ");
	tags_are("<!--", "!0 ");
	tags_are("x<!-- --", "!1 ");
	tags_are("<?xml?><b>", "+b@7 ");
	tags_are("<!DOCTYPE x><b>", "+b@12 ");
	tags_are("<!-><b>", "+b@4 ");
	tags_are("<?xml", "!0 ");
	tags_are("<a><?", "+a@0 !3 ");
	tags_are("<!", "!0 ");
	tags_are("<", "!0 ");
	tags_are("<a", "!0 ");
	tags_are("<a b='>", "!0 ");
	tags_are("<a <b>", "!0 ");
	tags_are("<>", "!0 ");
	tags_are("</>", "!0 ");
	tags_are("< a>", "!0 ");
	tags_are("<a></a", "+a@0 !3 ");
	struct lttng_xml x = { .text = "<a>\0<b>", .length = 7 };
	struct lttng_xml_tag tag;
	assert_false(lttng_xml_next(&x, &tag));
	assert_true(x.failed);
	assert_int_equal(x.failed_at, 3);
	/* Nothing behind the length counts. */
	for (size_t length = 0; length <= 7; length++) {
		x = (struct lttng_xml){ .text = "<a b=c><!-- -->", .length = length };
		assert_int_equal(lttng_xml_next(&x, &tag), length == 7);
		assert_int_equal(x.failed, length > 0 && length < 7);
	}
	for (size_t length = 8; length <= 15; length++) {
		x = (struct lttng_xml){ .text = "<a b=c><!-- -->", .length = length };
		assert_true(lttng_xml_next(&x, &tag));
		assert_false(lttng_xml_next(&x, &tag));
		assert_int_equal(x.failed, length < 15);
	}
}

static void value_is(const char *text, const char *name, const char *wanted)
{
	struct lttng_xml x = xml(text);
	struct lttng_xml_tag tag;
	size_t length = 0;
	assert_true(lttng_xml_next(&x, &tag));
	const char *value = lttng_xml_attribute(&tag, name, &length);
	if (!wanted != !value || (value && (strlen(wanted) != length || memcmp(value, wanted, length) != 0)))
		fail_msg("%s: %s is '%.*s'", text, name, value ? (int)length : 0, value ? value : "");
}

static void attributes(void **state)
{
	struct lttng_xml_tag tag;
	uint64_t number;
	(void)state;

	value_is("<a b=1>", "b", "1");
	value_is("<a b=1/>", "b", "1");
	value_is("<a b=12 c=3>", "b", "12");
	value_is("<a b=12 c=3>", "c", "3");
	value_is("<a b='x y' c=\"z\">", "b", "x y");
	value_is("<a b='x y' c=\"z\">", "c", "z");
	value_is("<a b='x\"y'c=z>", "c", "z");
	value_is("<a b = '1'>", "b", "1");
	value_is("<a b\t=\n1>", "b", "1");
	value_is("<a b=''>", "b", "");
	value_is("<a b=>", "b", "");
	value_is("<a b>", "b", NULL);
	value_is("<a b c=1>", "b", NULL);
	value_is("<a b c=1>", "c", "1");
	value_is("<a bb=1>", "b", NULL);
	value_is("<a b=1 b=2>", "b", "1");
	value_is("<a x=1>", "b", NULL);
	value_is("<a>", "b", NULL);
	value_is("<a b=1 >", "b", "1");
	/* A quote that does not close goes to the end. */
	tag = (struct lttng_xml_tag){ .attributes = " b='12 c=3'", .attributes_length = 10 };
	size_t length;
	assert_ptr_equal(lttng_xml_attribute(&tag, "b", &length), tag.attributes + 4);
	assert_int_equal(length, 6);
	tag.attributes_length = 4;
	assert_non_null(lttng_xml_attribute(&tag, "b", &length));
	assert_int_equal(length, 0);
	tag.attributes_length = 2;
	assert_null(lttng_xml_attribute(&tag, "b", &length));

	tag = (struct lttng_xml_tag){ .attributes = " n=42 m=x", .attributes_length = 9, .name = "ab", .name_length = 2 };
	assert_true(lttng_xml_number(&tag, "n", &number));
	assert_int_equal(number, 42);
	assert_false(lttng_xml_number(&tag, "m", &number));
	assert_false(lttng_xml_number(&tag, "o", &number));
	assert_true(lttng_xml_is(&tag, "ab"));
	assert_false(lttng_xml_is(&tag, "a"));
	assert_false(lttng_xml_is(&tag, "ac"));
}

/* arch_size is to be put in. */
#define SYSTEM_XML "<system node_name=a cpu=b arch_size=%s endian=c kernel_name=d kernel_release=e>"

static void info_is(const char *text, const char *what, const char *flaw, size_t locations)
{
	struct lttng_xml x = xml(text);
	struct lttng_xml_info info = lttng_xml_info(&x);
	assert_false(x.failed);
	assert_string_equal(info.what ? info.what : "", what);
	if (strcmp(info.flaw ? info.flaw : "", flaw) != 0)
		fail_msg("%s: flaw '%s'", text, info.flaw ? info.flaw : "");
	assert_int_equal(info.locations, locations);
}

static void side_files(void **state)
{
	static const char *const sizes[] = { "LP32", "ILP32", "LP64", "ILP64" };
	static const char *const names[] = { "node_name", "cpu", "arch_size", "endian", "kernel_name", "kernel_release" };
	char text[200];
	(void)state;

	for (unsigned i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), SYSTEM_XML, sizes[i]);
		info_is(text, "system description", "", 0);
	}
	snprintf(text, sizeof(text), SYSTEM_XML, "LP6");
	info_is(text, "system description", "arch_size", 0);
	snprintf(text, sizeof(text), SYSTEM_XML, "LP65");
	info_is(text, "system description", "arch_size", 0);
	for (unsigned i = 0; i < 6; i++) {
		snprintf(text, sizeof(text), SYSTEM_XML, "LP32");
		*strstr(text, names[i]) = 'X';
		info_is(text, "system description", names[i], 0);
	}
	info_is("<other>", "", "", 0);
	info_is("</system>", "", "", 0);
	info_is("</bookmarks></location>", "", "", 0);
	info_is("<bookmarks>", "list of bookmarks", "", 0);
	info_is("<bookmarks><location time=1.5><location cycle=7>", "list of bookmarks", "", 2);
	info_is("<bookmarks><location>", "list of bookmarks", "time", 1);
	info_is("<location time=1><location end_time=x><location start_cycle=y>", "", "end_time", 3);
	info_is("<location start_time=09.>", "", "", 1);
	info_is("<location start_time=1.2.3>", "", "start_time", 1);
	info_is("<location start_time=''>", "", "start_time", 1);
	info_is("<location end_time=:>", "", "end_time", 1);
	info_is("<location cycle=1.5>", "", "cycle", 1);
	info_is("<location start_cycle=1.5>", "", "start_cycle", 1);
	info_is("<location end_cycle=1.5>", "", "end_cycle", 1);
	info_is("<system><system>", "system description", "node_name", 0);
}

static bool is_scalar(const struct lttng_xml_tag *tag)
{
	return lttng_xml_is(tag, "int") || lttng_xml_is(tag, "label");
}

/* at: where it fails; negative: it does not. */
static void pairs_are(const char *text, int at)
{
	struct lttng_xml x = xml(text);
	bool sound = lttng_xml_paired(&x, is_scalar);
	if (sound != (at < 0) || x.failed == sound || (sound && x.position) || (!sound && x.failed_at != (size_t)at))
		fail_msg("%s: %d at %zu, not %d", text, sound, x.failed_at, at);
}

static void pairs(void **state)
{
	char deep[4 * LTTNG_XML_DEPTH_MAX + 1] = "", deeper[sizeof(deep) + 4] = "<a>";

	(void)state;
	pairs_are("", -1);
	pairs_are("<a><b>x</b></a>", -1);
	pairs_are("<a><b/></a>", -1);
	pairs_are("<a><b></a>", 6);
	pairs_are("<a><b></c></a>", 6);
	pairs_are("<a></a></a>", 7);
	pairs_are("</a>", 0);
	pairs_are("<a><b></b>", 0);
	/* What holds nothing needs no end, and may have one of its own. */
	pairs_are("<a><int></a>", -1);
	pairs_are("<a><int></int></a>", -1);
	pairs_are("<a><label><d></d></label></a>", -1);
	pairs_are("<a></int></a>", 3);
	pairs_are("<a><label></int></a>", 10);
	pairs_are("<a><int><b></int></b></a>", 11);
	/* Tags that cannot be read. */
	pairs_are("<a b=c d=\"e f\" g = 'h' i></a>", -1);
	pairs_are("<?xml version=1?><!-- <b> --><a b=\"c\"/>", -1);
	pairs_are("<a-></a->", 0);
	pairs_are("<a>x<b=c></a>", 4);
	pairs_are("<a b=\"c\"d></a>", 0);
	pairs_are("<a b=c\"d\"></a>", 0);
	pairs_are("<a b=></a>", 0);
	pairs_are("<a =b></a>", 0);
	pairs_are("<a></a b>", 3);
	pairs_are("<a></a >", -1);
	pairs_are("<a", 0);
	for (unsigned i = 1; i < LTTNG_XML_DEPTH_MAX; i++)
		strcat(deep, "<a>");
	strcat(deeper, deep);
	pairs_are(deep, 3 * (LTTNG_XML_DEPTH_MAX - 2));
	pairs_are(deeper, 3 * (LTTNG_XML_DEPTH_MAX - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tags), cmocka_unit_test(attributes), cmocka_unit_test(side_files),
					    cmocka_unit_test(pairs) };
	return RUN(tests);
}

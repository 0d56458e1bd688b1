#!/usr/bin/env bats
# rules and explain.

load helper

@test "rules lists every rule, as text, JSON and Markdown" {
	exits 0 rules --format=json
	echo "$output" > rules.json
	validate rules rules.json
	count=$(jq '.rules | length' rules.json)
	exits 0 rules
	[ "$(wc -l <<< "$output")" = "$count" ]
	exits 0 rules --format=markdown
	[ "$(wc -l <<< "$output")" = $((count + 2)) ]
	# Every row has the columns of the first.
	[ "$(sed 's/\\|//g; s/[^|]//g' <<< "$output" | sort -u | wc -l)" = 1 ]
}

@test "-f chooses the rules of a format" {
	exits 0 rules -f "$FORMAT" --format=json
	jq -e --arg format "$FORMAT" '[.rules[].format] | unique == [$format]' <<< "$output"
	exits 0 rules -f container
	exits 2 rules -f nothing
}

@test "every rule is explained" {
	exits 0 rules --format=json
	mapfile -t ids < <(jq -r '.rules[].id' <<< "$output")
	exits 0 explain "${ids[@]}"
	[ "$(grep -oF "$(printf '%s: \n' "${ids[@]}")" <<< "$output" | sort -u)" = "$(printf '%s: \n' "${ids[@]}" | sort -u)" ]
	[ "$(grep -c '^  because  ' <<< "$output")" = ${#ids[@]} ]
	[ "$(grep -c '^  repair   ' <<< "$output")" = ${#ids[@]} ]
}

@test "a bare name is enough where it is the only one" {
	exits 0 explain "$RULE"
	whole=$output
	exits 0 explain "${RULE#*/}"
	[ "$output" = "$whole" ]
}

@test "a word finds the rules that have it" {
	exits 2 explain dangling
	said "fxt/dangling-string-ref"
	said "tracedat/record-ip-dangling"
	exits 2 explain size
	[ "$(wc -c < talk)" -lt 600 ]
	grep -qE " and [0-9]+ more$" talk
	exits 2 check --ignore dangling x
	said "fxt/dangling-string-ref"
}

@test "an unknown rule gets the nearest names" {
	exits 2 explain "${RULE%?}"
	said "$RULE"
	[ -z "$output" ]
	exits 2 explain "${RULE#*/}x"
	said "$RULE"
	exits 2 explain "$RULE" nonsense
	[ -z "$output" ]
}

#!/bin/bash
# Runs tracemend check for the action: annotations on standard output, SARIF, the job summary, and the exit code as an output.
set -uf
sarif=${RUNNER_TEMP:-/tmp}/tracemend.sarif
summary=$(mktemp)
code=0
# Blanks separate paths and options; patterns are for the paths only.
read -r -a options <<< "${OPTIONS:-}"
set +f
# shellcheck disable=SC2206
paths=(${PATHS:-.})
tracemend check --format=github --fail-on="${FAIL_ON:-error}" --save sarif-github="$sarif" --save markdown="$summary" \
	${options[@]+"${options[@]}"} -- "${paths[@]}" || code=$?
# GitHub takes one megabyte of a summary.
if [ "$(wc -c < "$summary")" -gt 1000000 ]; then
	head -c 1000000 "$summary" | head -n -1
	printf '\n\nThe summary is cut here; the SARIF report has everything.\n'
else
	cat "$summary"
fi >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
rm -f "$summary"
{
	echo "code=$code"
	[ ! -s "$sarif" ] || echo "sarif=$sarif"
} >> "${GITHUB_OUTPUT:-/dev/null}"

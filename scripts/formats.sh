#!/bin/bash
# Prints the formats of the program, one on each line; with --rules FORMAT, the ids of its rules in the order of their table.
set -eu
cd "$(dirname "$0")/.."
tool=${TOOL:-build/tracemend}
if [ "${1:-}" = --rules ]; then
	"$tool" rules --format json | jq -r --arg f "$2" '.rules[] | select(.format == $f) | .id'
else
	"$tool" rules --format json | jq -r '[.rules[].format | select(. != "container")] | unique | .[]'
fi

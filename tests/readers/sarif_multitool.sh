#!/bin/sh
# Microsoft's Sarif.Multitool, which GitHub's documentation names, validates our SARIF: no error and no warning of the rules of SARIF
# and, for sarif-github, of GitHub. It comes from npm (@microsoft/sarif-multitool, 100 MB) into build/sarif. Prints "skip" and exits
# 77 where it cannot be fetched or does not run.
#   tests/readers/sarif_multitool.sh
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
tool=$(realpath -m "$build/tracemend")
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

multitool() { find "$build/sarif" -name Sarif.Multitool -type f 2> /dev/null | head -n 1; }
if [ -z "$(multitool)" ]; then
	command -v npm > /dev/null || { echo "skip: no npm"; exit 77; }
	mkdir -p "$build/sarif"
	(cd "$build/sarif" && echo '{}' > package.json && timeout 400 npm install --no-audit --no-fund --fetch-retries=1 @microsoft/sarif-multitool@5.7.0 > npm.log 2>&1) ||
		{ rm -rf "$build/sarif"; echo "skip: npm cannot fetch @microsoft/sarif-multitool"; exit 77; }
fi
multitool=$(multitool)
[ -n "$multitool" ] && chmod +x "$multitool" && timeout 60 "$multitool" --version > /dev/null 2>&1 || { echo "skip: Sarif.Multitool does not run here"; exit 77; }
multitool=$(realpath "$multitool")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# complaints KINDS FILE: the rules that the file breaks, one a line.
complaints() {
	timeout 120 "$multitool" validate "$2" --rule-kind "$1" --level 'Error;Warning' -o "$work/out" --log ForceOverwrite > "$work/log" 2>&1 || { cat "$work/log"; return; }
	jq -r '.runs[0].results[]? | .ruleId + " " + (.message.arguments // [] | join(" "))' "$work/out"
}

failed=0 passed=0
# Of every format one with each kind of damage, one that is no capture, and one that is not there.
captures=$(find corpus -path '*/damaged/*-1*' -prune)
: > "$work/empty"
for format in sarif sarif-github; do
	# shellcheck disable=SC2086
	"$tool" check --format "$format" $captures "$work/empty" "$work/nowhere" > "$work/$format.sarif" 2> "$work/talk"
	[ "$(jq '.runs[0].results | length' "$work/$format.sarif")" -gt 20 ] || { echo "FAIL: $format has no results"; exit 1; }
	kinds=Sarif
	[ "$format" = sarif ] || kinds='Sarif;Ghas'
	complaints "$kinds" "$work/$format.sarif" > "$work/said"
	if [ -s "$work/said" ]; then
		echo "FAIL: $format"
		sort "$work/said" | uniq -c | head -20
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
# It notices what is wrong.
jq '.runs[0].results[].locations[0].physicalLocation.artifactLocation = {}' "$work/sarif-github.sarif" > "$work/bad.sarif"
if complaints 'Sarif;Ghas' "$work/bad.sarif" | grep -q .; then passed=$((passed + 1)); else echo "FAIL: nothing is noticed"; failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]

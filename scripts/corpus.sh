#!/bin/bash
# Makes corpus/<format>/{valid,invalid,damaged} and its expectations.jsonl anew, with build/tracemend gen; regress/ holds
# what fuzzers and people found, and is only listed in the expectations. The same program gives the same bytes.
#
#   scripts/corpus.sh [--keep-going] [FORMAT...]   write
#   scripts/corpus.sh --check [FORMAT...]          compare: exit 1 if anything differs
#
# --keep-going leaves out files that do not keep the generator's promise (each is named); without it they are an error.
set -eu
cd "$(dirname "$0")/.."

tool=build/tracemend
check=0
keep=()
valid_seeds=${VALID_SEEDS:-24}
[ "${1:-}" = --check ] && { check=1; shift; }
[ "${1:-}" = --keep-going ] && { keep=(--keep-going); shift; }
[ -x $tool ] || { echo "corpus.sh: run make first" >&2; exit 2; }

formats=("$@")
[ ${#formats[@]} -gt 0 ] || mapfile -t formats < <(scripts/formats.sh)

work=$(mktemp -d "${TMPDIR:-/tmp}/tracemend-corpus.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A directory travels as a plain tar, made the same everywhere.
pack() { # FROM TO: moves FROM (file or directory) to TO, or TO.tar; prints the name it got
	if [ -d "$1" ]; then
		local top=()
		mapfile -t top < <(cd "$1" && LC_ALL=C ls -A)
		tar -C "$1" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar -b 1 -cf "$2.tar" -- "${top[@]}"
		basename "$2.tar"
	else
		cp "$1" "$2"
		basename "$2"
	fi
}

# Takes the files of one run of gen (in $work/gen, with labels.jsonl) into DIR; names are STEM, or STEM-SEED when many.
take() { # FORMAT KIND STEM
	local line file name target
	while IFS= read -r line; do
		file=$(jq -r .file <<< "$line")
		name=$3
		[ "$name" = valid ] && name=$(printf 'valid-%02d' "$(jq -r .seed <<< "$line")")
		target=$root/$1/$2/$name
		if [ ! -d "$work/gen/$file" ]; then
			case $file in *.*) target=$target.${file#*.} ;; esac
		fi
		name=$(pack "$work/gen/$file" "$target")
		jq -c --arg f "$2/$name" '. + {corpus_file: $f}' <<< "$line" >> "$work/labels-$1.jsonl"
	done < "$work/gen/labels.jsonl"
	rm -rf "$work/gen"
}

make_format() {
	local f=$1 id kind seed
	rm -rf "${root:?}/$f/valid" "$root/$f/invalid" "$root/$f/damaged"
	mkdir -p "$root/$f"/{valid,invalid,damaged}
	: > "$work/labels-$f.jsonl"
	"$tool" gen -f "$f" --count "$valid_seeds" --seed 1 -o "$work/gen"
	take "$f" valid valid
	# Large ones add nothing that small ones do not have.
	for id in $(scripts/formats.sh --rules "$f") $(scripts/formats.sh --rules container); do
		if ! "$tool" gen -f "$f" --rule "$id" --seed 1 -o "$work/gen" 2> "$work/err"; then
			echo "$id: $(cat "$work/err")" >&2
			echo "$id" >> "$work/failed"
			rm -rf "$work/gen"
			continue
		fi
		kind=${id#*/}
		[ "${id%%/*}" = container ] && kind=container-$kind
		take "$f" invalid "$kind"
	done
	for kind in truncate hole zero-tail bitflip duplicate insert delete; do
		for seed in 1 2; do
			"$tool" gen -f "$f" --damage $kind --seed $((seed + 2)) -o "$work/gen"
			take "$f" damaged "$kind-$seed"
		done
	done
	python3 tests/corpus.py --write ${keep[@]+"${keep[@]}"} --tool "$tool" --root "$root" --format "$f" --labels "$work/labels-$f.jsonl" || echo "$f" >> "$work/failed"
}

root=corpus
if [ $check = 1 ]; then
	root=$work/corpus
	mkdir -p "$root"
fi
status=0
for f in "${formats[@]}"; do
	if [ $check = 1 ] && [ -d "corpus/$f/regress" ]; then
		mkdir -p "$root/$f"
		cp -r "corpus/$f/regress" "$root/$f/"
	fi
	make_format "$f"
	if [ $check = 1 ] && ! diff -r "corpus/$f" "$root/$f"; then
		status=1
	fi
done
[ ! -s "$work/failed" ] || { [ ${#keep[@]} -gt 0 ] || status=1; }
[ $check = 0 ] || [ $status != 0 ] || echo "corpus: regenerated without a difference"
exit $status

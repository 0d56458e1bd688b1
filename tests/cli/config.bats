#!/usr/bin/env bats
# .tracemend.ini: settings of check.

load helper

# conf LINE...: writes ./.tracemend.ini
conf() { printf '%s\n' "$@" > .tracemend.ini; }

# refused LINE TEXT...: the settings of these lines are a usage error, in that line.
refused() {
	local line=$1
	shift
	conf "$@"
	exits 2 check valid.bin
	said "/.tracemend.ini:$line: "
}

@test "settings apply, from the working directory upwards" {
	make_captures
	exits 1 check broken.bin
	conf '# a comment' '' "ignore = $RULE , $OTHER" 'fail-on=error'
	exits 0 check broken.bin
	mkdir -p below/further
	cd below/further
	exits 0 check ../../broken.bin
	exits 0 check -v ../../broken.bin
	said "settings of"
	printf '; nearer\r\n' > ../.tracemend.ini
	exits 1 check ../../broken.bin
	cd ../..
	exits 1 check --no-config broken.bin
	exits 1 check --config below/.tracemend.ini broken.bin
	cd /
	exits 1 check "$BATS_TEST_TMPDIR/broken.bin"
	exits 0 check --config "$BATS_TEST_TMPDIR/.tracemend.ini" "$BATS_TEST_TMPDIR/broken.bin"
}

@test "each key does what its option does" {
	make_captures
	conf "severity = $RULE=warning"
	exits 0 check broken.bin
	conf "severity = $RULE=warning" 'fail-on = warning'
	exits 1 check broken.bin
	conf "only = $OTHER"
	exits 0 check broken.bin
	conf 'fail-on = never'
	exits 0 check broken.bin
	"$TRACEMEND" gen -q -f fxt -o many --size 64K
	for at in $(seq 5000 5000 60000); do printf '\377\377\377\377\377\377\377\377' | dd of="$(echo many/*.fxt)" bs=1 seek="$at" conv=notrunc status=none; done
	printf 'max-findings = 1\n' > .tracemend.ini
	tm check --format json many/*.fxt
	one=$(jq '.inputs[0].findings | length' <<< "$output")
	tm check --format json many/*.fxt --max-findings 0
	all=$(jq '.inputs[0].findings | length' <<< "$output")
	tm check --format json many/*.fxt --no-config
	[ "$(jq '.inputs[0].findings | length' <<< "$output")" = "$all" ]
	[ "$one" -lt "$all" ] && [ "$one" -ge 1 ]
	tm check --format sarif broken.bin
	conf "ignore = $RULE"
	exits 0 check --format sarif broken.bin
	jq -e '[.runs[0].results[].ruleId] | index("'"$RULE"'") == null' <<< "$output"
}

@test "the command line wins" {
	make_captures
	conf "ignore = $RULE" 'fail-on = never'
	exits 1 check --fail-on error --only "$RULE" broken.bin
	exits 1 check --fail-on error --severity "$RULE=error" broken.bin
	exits 0 check --fail-on error broken.bin
	conf "severity = $RULE=note"
	exits 0 check broken.bin
	exits 1 check --severity "$RULE=error" broken.bin
	conf "only = $RULE"
	exits 2 check --ignore "$RULE" valid.bin
	said "leave no rule"
}

@test "a section is for the paths that match" {
	make_captures
	mkdir -p a/b/c old
	for place in a a/b a/b/c old .; do cp broken.bin "$place/x.bin"; done
	# where GLOB PATH...: these, and no others, are without the finding.
	where() {
		local glob=$1 path
		shift
		conf "[$glob]" "ignore = $RULE"
		for path in x.bin a/x.bin a/b/x.bin a/b/c/x.bin old/x.bin; do
			case " $* " in
			*" $path "*) exits 0 check "$path" || { echo "[$glob] is for $path"; return 1; } ;;
			*) exits 1 check "$path" || { echo "[$glob] is not for $path"; return 1; } ;;
			esac
		done
	}
	where 'x.bin' x.bin a/x.bin a/b/x.bin a/b/c/x.bin old/x.bin
	where '/x.bin' x.bin
	where 'a/*' a/x.bin
	where 'a/**' a/x.bin a/b/x.bin a/b/c/x.bin
	where 'a/**/c/x.bin' a/b/c/x.bin
	where '**/b/**/x.bin' a/b/x.bin a/b/c/x.bin
	where '*/x.bin' a/x.bin old/x.bin
	where '[ao]*/?.bin' a/x.bin old/x.bin
	where 'y.bin'
	where 'a/b'
	where '**/b/y.bin'
	# from elsewhere, and of several, each has its own, whatever the number of threads
	conf '[a/**]' "ignore = $RULE"
	cd a
	exits 0 check x.bin b/../x.bin
	exits 1 check ../old/x.bin x.bin
	cd ..
	exits 1 check -j1 --format json x.bin a/x.bin old/x.bin a/b/x.bin
	[ "$(jq -c '[.inputs[].errors > 0]' <<< "$output")" = '[true,false,true,false]' ]
	alone=$output
	exits 1 check -j8 --format json x.bin a/x.bin old/x.bin a/b/x.bin
	[ "$output" = "$alone" ]
	# what is ignored for a path is not counted in any report of it
	for format in text concise json jsonl sarif junit github gitlab markdown html; do
		exits 0 check --format "$format" a/x.bin
		refute grep -q "${RULE#*/}.*more\|more.*${RULE#*/}" <<< "$output"
		conf "ignore = $RULE"
		found=$output
		exits 0 check --format "$format" a/x.bin
		case $format in # these list rules for all paths
		sarif*|html) ;;
		*) [ "$output" = "$found" ] || { echo "$format"; diff <(echo "$found") <(echo "$output"); return 1; } ;;
		esac
		conf '[a/**]' "ignore = $RULE"
	done
	# the later section counts
	conf '[*.bin]' "severity = $RULE=note" '[old/*]' "severity = $RULE=error"
	exits 0 check x.bin
	exits 1 check old/x.bin
}

@test "what is in a capture decides nothing" {
	FORMAT=uftrace RULE=uftrace/dat-event-length
	make_captures
	printf 'ignore = uftrace/*\n' > broken.bin/.tracemend.ini
	exits 1 check broken.bin
	cd broken.bin
	exits 1 check .
	exits 1 check "$PWD"
	mkdir -p sub
	mv .tracemend.ini sub
	cd sub
	exits 1 check ..
	cd ../..
	# a folder that is no capture may have one
	mkdir tree
	cp -r broken.bin tree/one
	rm -r tree/one/sub
	printf 'ignore = uftrace/*\n' > tree/.tracemend.ini
	cd tree
	exits 0 check .
}

@test "mistakes are usage errors, with file and line" {
	make_captures
	refused 2 '' 'ignored = fxt/*'
	said "did you mean ignore?"
	refused 1 'ignore = fxt/no-such-*'
	refused 1 'only ='
	refused 3 'fail-on = error' '' 'fail-on = loud'
	refused 1 "severity = $RULE"
	refused 1 "severity = $RULE=loud"
	refused 1 'max-findings = many'
	refused 2 '[*.bin]' 'fail-on = never'
	refused 2 '[*.bin]' 'max-findings = 3'
	refused 1 '[*.bin'
	refused 1 '[]'
	refused 1 '[a/{b,c}]'
	refused 1 '[a/]'
	refused 1 'just words'
	conf 'ignore = *'
	exits 2 check valid.bin
	conf 'only = fxt/*' '[valid.bin]' 'ignore = fxt/*'
	exits 2 check valid.bin
	said "leave no rule"
	exits 5 check --config no-such-file valid.bin
	exits 5 check --config . valid.bin
	exits 2 repair --config x y
}

@test "a large file, or one that is no text, is refused" {
	make_captures
	seq -f '# %g' 20000 > .tracemend.ini
	exits 2 check valid.bin
	said "larger than"
	printf 'ignore\0 = x\n' > .tracemend.ini
	exits 2 check valid.bin
	for i in $(seq 64); do echo "[$i]"; done > .tracemend.ini
	exits 2 check valid.bin
	said ":64: more than 63 sections"
	printf '\033[31m = \007\n' > .tracemend.ini
	exits 2 check valid.bin
	plain talk
	rm .tracemend.ini
	mkfifo .tracemend.ini
	exits 0 check valid.bin
	exits 5 check --config .tracemend.ini valid.bin
}

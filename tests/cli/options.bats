#!/usr/bin/env bats
# Options that every command has, or several have; and exit codes that are the same for all. tests/tools/ran.py compares what ran.

load helper

# The commands, each with arguments for a run that needs nothing else. exit code: that of the run.
declare -gA BASE=([check]="broken.fxt" [report]="job.jsonl" [repair]="-n broken.fxt" [gen]="-f fxt -o made.DIR" [try]="-f fxt --count 1 --valid"
	[reduce]="broken.fxt --rule fxt/dangling-string-ref -o small.DIR" [info]="broken.fxt" [dump]="broken.fxt"
	[diff]="broken.fxt broken.fxt" [rules]="-f fxt" [explain]="fxt/dangling-string-ref")
declare -gA CODE=([check]=1 [report]=1 [repair]=1 [gen]=0 [try]=0 [reduce]=0 [info]=0 [dump]=1 [diff]=0 [rules]=0 [explain]=0)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset NO_COLOR
	"$TRACEMEND" gen -q -f fxt -o made --rule dangling-string-ref
	cp made/dangling-string-ref-0001.fxt broken.fxt
	"$TRACEMEND" check -q --format jsonl broken.fxt > job.jsonl || true
	runs=0
	[ "${#BASE[@]}" = "$("$TRACEMEND" --generate commands | wc -l)" ]
}

# has COMMAND --OPTION: by its help.
has() {
	"$TRACEMEND" "$1" --help | grep -qE "^  (-[a-zA-Z],|   ) $2[= ]"
}

# base COMMAND OPTION...: its run with these options, which ends as the one without them. What it prints is in $output.
base() {
	local command=$1 words
	shift
	runs=$((runs + 1))
	read -ra words <<< "${BASE[$command]//DIR/$runs}"
	[ "$command" != try ] || set -- "$@" -- cat "{}"
	exits "${CODE[$command]}" "$command" "${words[@]}" "$@"
	output=${output//.$runs/.DIR}
	cp talk "talk.$command"
	sed -i "s/\.$runs\b/.DIR/g" "talk.$command"
}

@test "a letter and the name of an option are the same" {
	for command in "${!BASE[@]}"; do
		for option in "f input-format fxt" "j jobs 2" "q quiet" "v verbose" "h help" "n dry-run" "o output out"; do
			read -r letter name value <<< "$option"
			has "$command" "--$name" || continue
			case $command-$name in
			*-help) exits 0 "$command" -h; with=$output; exits 0 "$command" --help; [ "$output" = "$with" ]; continue ;;
			explain-input-format | rules-input-format | gen-input-format | try-input-format) words=() ;;
			repair-output) words=(broken.fxt) ;;
			*-output) continue ;; # below
			esac
			base "$command" "-$letter" ${value:+"$value"}
			with=$output
			base "$command" "--$name${value:+=$value}"
			[ "$output" = "$with" ] || { echo "$command --$name"; return 1; }
		done
	done
	exits 3 repair broken.fxt -o a.fxt
	exits 3 repair broken.fxt --output=b.fxt
	cmp a.fxt b.fxt
	exits 0 gen -f fxt -o a
	exits 0 gen --input-format=fxt --output b --valid --profile latest
	cmp a/valid-0001.fxt b/valid-0001.fxt
	exits 0 reduce broken.fxt --rule dangling-string-ref -o c.fxt
	exits 0 reduce broken.fxt --input-format fxt --profile latest --rule dangling-string-ref --output=d.fxt
	cmp c.fxt d.fxt
	exits 1 try -f fxt --valid --count 1 -o found -- false "{}"
	exits 1 try --input-format fxt --valid --count 1 --output found2 -- false "{}"
	diff -r -x 'report.*' -x 'index.*' found found2
	diff <(sed 's/found2/found/g' found2/index.txt) found/index.txt
}

@test "-q prints less, -v prints more, and neither changes how it ends" {
	for command in "${!BASE[@]}"; do
		base "$command"
		plain=$(wc -l < "talk.$command")
		lines=$(wc -l <<< "$output")
		if has "$command" --quiet; then base "$command" --quiet; fi
		[ "$(wc -l <<< "$output")" -le "$lines" ]
		[ "$(wc -l < "talk.$command")" -le "$plain" ]
		has "$command" --verbose || continue
		base "$command" --verbose
		[ "$(wc -l <<< "$output")" -ge "$lines" ]
		[ "$(wc -l < "talk.$command")" -ge "$plain" ]
	done
}

@test "every command has the version" {
	exits 0 --version
	version=$output
	for command in "${!BASE[@]}"; do
		exits 0 "$command" --version
		[ "$output" = "$version" ]
	done
}

@test "colours change nothing but the colour" {
	for command in "${!BASE[@]}"; do
		has "$command" --color || continue
		base "$command" --color=never
		plain=$output
		refute grep -q $'\033' <<< "$output"
		base "$command" --color=always
		# shellcheck disable=SC2001
		[ "$(sed 's/\x1b\[[0-9;]*m//g' <<< "$output")" = "$plain" ]
		NO_COLOR=1 base "$command" --color=auto
		[ "$output" = "$plain" ]
	done
}

@test "without the sandbox, the same" {
	for command in "${!BASE[@]}"; do
		has "$command" --no-sandbox || continue
		base "$command"
		with=$output
		base "$command" --no-sandbox
		[ "$output" = "$with" ]
	done
}

@test "a profile and preview rules can be asked for" {
	for command in check repair info dump diff try; do
		base "$command"
		with=$output
		base "$command" --profile=latest
		[ "$output" = "$with" ]
		base "$command" --profile 2022 # whatever it says of this one
	done
	base check
	with=$output
	base check --preview
	[ "$output" = "$with" ] # as long as there is no preview rule
	exits 0 rules
	refute grep -q '(preview)$' <<< "$output"
	base report
	with=$output
	base report --preview
	[ "$output" = "$with" ]
}

@test "the limits on a command: seconds and memory" {
	exits 3 repair broken.fxt -o a.fxt --verify-with 'true {}' --timeout 9 --memory 1G
	exits 0 reduce broken.fxt -o b.fxt --timeout 9 --memory=1G --strict --rule dangling-string-ref
	exits 0 reduce broken.fxt -o c.fxt --timeout 9 --memory=1G --tries 20 --command 'test -s {}'
	exits 0 try -f fxt --valid --count 1 --timeout=9 --memory 1G --tries=5 -- cat "{}"
	[ -s a.fxt ] && [ -s b.fxt ] && [ -s c.fxt ]
}

@test "how dump and diff end" {
	: > empty
	for command in dump diff; do
		other=
		[ $command = dump ] || other=broken.fxt
		exits 4 $command empty $other
		exits 5 $command nowhere $other
		exits 2 $command --frobnicate broken.fxt $other
		gzip -c broken.fxt > packed.gz
		exits 6 $command --max-unpacked 100 packed.gz $other
	done
	"$TRACEMEND" repair -q broken.fxt -o mended.fxt || true
	exits 1 diff broken.fxt made/../mended.fxt
	exits 0 dump mended.fxt
	exits 1 dump --range=0- --times 0- broken.fxt
	exits 1 dump --around 0 broken.fxt
}

@test "what try makes captures of" {
	exits 0 try -f fxt --valid --seed 3 --count 1 --size 4K -- cat "{}"
	exits 0 try -f fxt --damage hole --seed=3 --count=1 --size=4K --outcomes signal,hang -- cat "{}"
	exits 1 try -f fxt --count 1 --seed 3 --only '*-string-ref' --ignore 'dangling-thread*' --no-debugger -- cat "{}"
	refute grep -q 'fxt/truncated-record' <<< "$output"
	exits 1 try -j2 -f fxt --rule dangling-string-ref --count 2 --format json -- cat "{}"
	jq -e . <<< "$output" > /dev/null
	exits 2 try -f fxt
	exits 5 try -f fxt --valid --count 1 -- ./no-such-reader "{}"
}

@test "a signal ends a run with 128 and its number, and a reader that goes away with 141" {
	mkfifo never # nobody writes to it: opened for both, it never ends
	for signal in INT:130 TERM:143; do
		code=0
		timeout --preserve-status -s "${signal%:*}" 1 "$TRACEMEND" check - <> never > out 2> talk || code=$?
		[ "$code" = "${signal#*:}" ]
		ran "$code" check -
	done
	{ code=0; "$TRACEMEND" rules --format json 2> talk || code=$?; echo "$code" > code; } | head -c 1 > first
	[ "$(cat code)" = 141 ]
	[ ! -s talk ]
	ran 141 rules --format json
}

# Where address space is limited, every command ends with 6, and says so.
@test "memory that is not there is a limit" {
	"$TRACEMEND" gen -q -f fxt -o large --size 30M --rule dangling-string-ref
	large=large/dangling-string-ref-0001.fxt
	limited() {
		(
			ulimit -v 60000
			exits 6 "$@"
		) || return 1
	}
	[[ $("$TRACEMEND" --version) == tracemend* ]]
	(ulimit -v 60000 && "$TRACEMEND" --version > /dev/null) || {
		for command in gen reduce try; do ran skip 6 $command; done
		skip "the program does not start within 60 MB"
	}
	limited gen -f fxt -o never --size 400M
	limited reduce "$large" -o never.fxt --rule dangling-string-ref
	limited try -f fxt --valid --count 1 --size 400M -- cat "{}"
	[ ! -e never.fxt ]
}

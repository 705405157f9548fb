# shellcheck shell=bash
# tests/vm/labels.sh: functions for the files of tests/vm/t that check the labels of steps; sourced after lib.sh.

points=$programs/points
sources=$project/tests/programs/points

# trace_of OPTIONS... -- COMMAND...: the steps of one execution, one a line, in $dir/steps.
trace_of()
{
	zug 60 run -q --executions 1 --expect-exit 250 --verify 0 --no-minimize -o traces "$@"
	want_status 1
	: >"$dir/steps"
	[ $rc = 1 ] || return
	zug 30 show --json "$(kept_trace)"
	grep '^{"step"' "$dir/out" >"$dir/steps"
}

# want_labels SOURCE [LIBRARY [line|anywhere]]: every `op: NAME OBJECT` of a source has its step, at that line. (zug sees
# the C11 functions of a static glibc program only inside of libc, which has no lines. A|B: either; in some versions of
# glibc the function begins with an instruction that cannot be probed.)
want_labels()
{
	awk -v libc="${2:-glibc}" -v where="${3:-line}" -v source="$(basename "$1")" '
		FNR == 1 { nr_file++ }
		nr_file == 1 {
			if (!match($0, /op: [a-z0-9|-]+ [A-Za-z-]+( glibc)? /) || /^ \*/)
				next
			split(substr($0, RSTART, RLENGTH), word, " ")
			if (word[4] == "glibc" && libc != "glibc")
				next
			nr++
			op[nr] = word[2]
			object[nr] = word[3]
			line[nr] = FNR
			text[nr] = $0
			next
		}
		{
			for (i = 1; i <= nr; i++)
				if (!seen[i] && match($0, "\"op\":\"(" op[i] ")\"") &&
				    (object[i] == "-" || match($0, "\"object\":\"[^\"]*" object[i])) &&
				    (where == "anywhere" || match($0, source "\",\"line\":" line[i] "[,}]")))
					seen[i] = 1
		}
		END {
			for (i = 1; i <= nr; i++)
				if (!seen[i])
					print "no step of line " line[i] ": " text[i]
			if (nr < 6)
				print "the source names " nr " operations"
		}' "$1" "$dir/steps" >"$dir/missing"
	[ ! -s "$dir/missing" ] || note "$(cat "$dir/missing")"
}

# nr_steps NUMBER REGEX: exactly NUMBER steps match.
nr_steps()
{
	local nr

	nr=$(grep -cE -- "$2" "$dir/steps")
	[ "$nr" = "$1" ] || note "$nr steps match '$2', not $1:"$'\n'"$(cut -c1-250 "$dir/steps" | head -n 12)"
}


#!/bin/bash
# zug pin: makes a script of places from a failure. The script finds the bug again, passes on the corrected twin, and is
# reported when it does not fit any more. LONG=1: on every planted program, 100 times each.
# Takes 35 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
shopt -s extglob

if [ "${LONG:-}" ]; then
	times=100 which='*'
else
	times=10 which='@(abba-deadlock|atomicity-watch|early-notify|hazard-pointer|lost-wakeup|ring-slots)'
fi

# follow SCRIPT PROGRAM...: sets $n to the number of $times executions that failed.
follow()
{
	local k

	zug 900 run -q --verify 0 --keep-going --executions $times --script "$1" -o traces -- "${@:2}"
	n=0
	for k in $(sed -n 's/^    \([0-9]*\) times\?, first in .*/\1/p' "$dir/out"); do
		n=$((n + k))
	done
}

use_daemon
for source in "$project"/tests/programs/*.{c,cc,sh}; do
	bug=${source##*/}
	case $source in
	*-fixed.sh) continue ;;
	*.sh) program=$programs/$bug twin=$programs/${bug%.sh}-fixed.sh bug=${bug%.sh} ;;
	*) bug=${bug%.*} program=$programs/$bug twin=$programs/$bug-fixed ;;
	esac
	# shellcheck disable=SC2053
	[[ $bug == $which ]] || continue
	read_header "$source"
	read -ra options <<<"${header[options]:-}"
	read -ra args <<<"${header[args]:-}"
	begin "$bug" || continue
	zug 300 run -q --timeout 10s "${options[@]}" --executions "${header[executions]}" -o traces -- "$program" "${args[@]}"
	want_status 1
	trace=$(kept_trace)
	zug 300 pin -q -o test.zug "$trace"
	want_status 0
	want_out "^test\.zug: [0-9]+ statements?; followed 3 times, the same failure each time$"
	if ! grep -qE '^(before|let) ' test.zug; then
		# the default schedule fails, so the script has no statements
		end
		continue
	fi
	follow test.zug "$program" "${args[@]}"
	want_status 1
	# the first executions, which show what the test maps, may fail, too; a race that is known ends no other one here
	[ "$n" -ge $((times - times / 100)) ] || grep -q '^option fail-on-race' test.zug ||
		note "the script found it in $n of $times executions"
	zug 300 run -q --script test.zug -o traces -- "$twin" "${args[@]}"
	# its correction removes the function that the script names
	if [ "$bug" = rwlock-recursive ]; then
		want_status 6 "the twin"
		want_out 'gone: T[0-9]+ does nothing like that there any more$'
		end
		continue
	fi
	want_status 0 "the twin"
	want_out '^passed under test\.zug .*: [0-9]+ of [0-9]+ statements made$'
	[ -z "${LONG:-}" ] || printf '# %-24s %s of %s; twin: %s\n' "$bug" "$n" "$times" "$(grep -m1 '^passed\|^did not' "$dir/out")" >&2
	end
done

# The account of the tutorial is changed in several ways; each has its result under the script.
account=$project/tests/programs/atomicity-locked.c
build()
{
	"$@" <"$account" >account.c
	gcc -g -O1 -pthread -o account account.c || note "gcc fails"
}
script='before T1 at lock on lock in deposit nth 2 run T2 until exit'

if begin "a program that changes"; then
	echo "$script" >test.zug
	# another place, other code around it, and more locking elsewhere
	build sed 's/^static int balance/static int before;\n\n\n&/; s/^\(\tpthread_create\|\tassert(!pthread_create\)/\tbefore++;\n&/'
	zug 60 run -q --verify 0 --script test.zug -o traces -- ./account
	want_status 1
	want_out '^test\.zug: 1 of 1 statements made$'
	# repaired
	build sed '1i#define FIXED'
	zug 60 run -q --script test.zug --junit junit.xml -o traces -- ./account
	want_status 0
	want_out '^passed under test\.zug .*: 0 of 1 statements made$'
	want_out '^  test\.zug:1: before T1 at lock on lock in deposit nth 2 run T2 until exit$'
	want_out 'not made: T1 came there 1 time, not 2$'
	grep -q 'came there 1 time' junit.xml || note "not in the results"
	echo strict >>test.zug
	zug 60 run -q --script test.zug -o traces -- ./account
	want_status 6
	want_out "^test\.zug does not fit the program, and it is 'strict': "
	# the place is gone
	echo "$script" >test.zug
	build sed 's/\bdeposit\b/pay_in/g; 1i#define FIXED'
	zug 60 run -q --script test.zug --junit junit.xml -o traces -- ./account
	want_status 6
	want_out '^did not fail under test\.zug .*: 0 of 1 statements made$'
	want_out 'gone: T1 does nothing like that there any more$'
	want_out '^test\.zug does not fit the program any more: '
	grep -q 'error type="script"' junit.xml || note "no error in the results"
	# only some of the places are gone
	printf '%s\nbefore T1 at lock on lock in pay_in nth 2 run T2\n' "$script" >test.zug
	zug 60 run -q --script test.zug -o traces -- ./account
	want_status 0
	want_out '^passed under test\.zug .*: 0 of 2 statements made$'
	want_out '^a correction may take away what is gone'
	echo 'before T1 at lock run T9' >test.zug
	zug 60 run -q --script test.zug -o traces -- ./account
	want_status 6
	want_out 'gone: there was no T9$'
	# another program, with a bug of its own
	zug 60 run -q --script test.zug -o new/traces -- "$programs/outcomes/segv"
	want_status 6
	want_out '^test\.zug does not fit the program: the failure came without any of its statements$'
	[ -f "$(kept_trace)" ] || note "no trace in a folder whose parent was not there"
	end
fi

if begin "a script that does not fail"; then
	cp "$programs/atomicity-locked" test
	zug 60 run -q --verify 0 -o traces -- ./test
	want_status 1
	cp "$programs/atomicity-locked-fixed" test
	zug 60 pin -q --force traces/test.1.trace
	want_status 5
	want_err 'the failure came in 0 of 3 executions of the script, else pass.*; it is kept as traces/test\.1\.zug\.new'
	want_err '^([0-9]+) of \1 statements not made, or only in part:$'
	want_err '^  traces/test\.1\.zug\.new:[0-9]+: before T1 '
	want_err '^    (not made|made in part): '
	end
fi

if begin "bad scripts"; then
	while IFS='|' read -r text message; do
		printf '%b\n' "$text" >test.zug
		zug 30 run --script test.zug -- true
		want_status 2 "$text"
		want_err "$message"
	done <<-'END'
	before T1 at locks run T2|test\.zug:1: unknown operation 'locks'
	# a comment\nbefore T1 at lock|test\.zug:2: 'run TASK' is missing
	\noption watch|test\.zug:2.*--watch needs an argument
	option executions 3|test\.zug:1: 'executions' is no option of a script; there are: races .* watch
	option seed x|test\.zug:1: --seed x: not a number
	task T1 child of T0|test\.zug:1: 'task T1 child of T0': not 'task T1 child 1 of T0'
	task T1 child 1 of T0\ntask T1 child 2 of T0|test\.zug:2: .*: line 1 has said otherwise
	frobnicate|test\.zug:1: unknown statement 'frobnicate'
	let T1 at read get fail-eintr|test\.zug:1: no call gets 'fail-eintr' without 'option faults eintr'
	option flows loss\nlet T1 get delayed|test\.zug:2: no call gets 'delayed' without 'option flows delay'
	let T1 get timer|test\.zug:1: no timer fires early without 'option timeouts explore'
	before T1 on "a run T2|test\.zug:1: '"' is missing
	END
	printf 'strict\0x' >test.zug
	zug 30 run --script test.zug -- true
	want_err 'test\.zug: not a script'
	want_status 2
	zug 30 run --script nonesuch.zug -- true
	want_err 'nonesuch\.zug: No such file'
	want_status 2
	echo "$script" >test.zug
	zug 30 run --script test.zug --strategy random -- true
	want_err -- '--script with --strategy: a script is one schedule'
	zug 30 run --rules @test.zug -- true
	want_status 2
	want_err 'belong in a script'
	echo x >x.zug
	zug 30 pin x.trace
	want_status 2
	want_err 'x\.zug exists already'
	end
fi
finish

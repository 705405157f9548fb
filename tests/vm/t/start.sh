#!/bin/bash
# Executions that are forked from a template (--start auto) are those that are started by exec: the same search, the same
# traces; what speaks against a template is said, and nothing else changes.
# Takes 46 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${LONG:-}" ]; then
	bugs=(aba-stack abba-deadlock accept-order atomicity-locked bank-transfer bounded-queue broken-pipe c11-threads
	      chase-lev date-rollover fork-with-lock guard-abba handler-lock heap-list if-for-while lost-sigchld
	      lost-wakeup no-join openmp-reduction pipe-deadlock refcount-zero rwlock-upgrade seqlock-writers
	      server-crash timeout-disarm torn-pair)
else
	bugs=(fork-with-lock lost-sigchld pipe-deadlock accept-order file-lost-update)
fi

# trace FILE: its content, without what differs from one start of zug to the next.
trace()
{
	"$zug" show --json "$1" 2>&1 | sed -E 's/"(pid|wall_ns|clock_real)": ?[0-9]+/"\1":0/g; s/,"copied":(true|false)//; s/\\"clock_real\\":[0-9]+//; s/zug-out-[a-z]+//g'
}

# search START EXECUTIONS: a finding, or none, in `start.out`; its trace in `start.json`.
search()
{
	ZUG_DEBUG=times zug 60 run -q --profile --keep-going --no-minimize --verify 1 --timeout 10s --start "$1" "${options[@]}" \
		--executions "$2" -o "$dir/zug-out" -- "$program" "${args[@]}"
	echo "status $rc" >"$dir/$1.out"
	# of each execution: steps, outcome, checksum of the trace; how often zug was asked is no part of a schedule
	grep -a '^execution ' "$dir/err" | sed 's/: launch.*drain [^,]*,/:/; s/, [0-9]* asked,/,/' >>"$dir/$1.out"
	sed -nE 's/^found in execution ([0-9]*), after [^:]*:/found in \1:/p; /^replayed:/p' "$dir/out" >>"$dir/$1.out"
	sed -nE 's/.* ([0-9]* steps, at most [0-9]* in one; .*)\)$/\1/p' "$dir/out" >>"$dir/$1.out"
	: >"$dir/$1.json"
	[ ! "$(kept_trace)" ] || trace "$(kept_trace)" >"$dir/$1.json"
	rm -rf "$dir/zug-out"
}

remember
if begin "a killed zug leaves no template"; then
	ZUG_DEBUG=times "$zug" run -q --executions 0 --no-races -o traces -- "$programs/abba-deadlock-fixed" >out 2>err &
	pid=$!
	# the first ones are made both ways
	wait_until has_line '^execution 15:' err || note "not executed: $(tail -n 3 err)"
	kill -9 $pid
	wait $pid 2>/dev/null
	gone() { ! executes abba-deadlock-fixed; }
	wait_until gone || note "left: $(pgrep -x abba-deadlock-f)"
	# what a killed zug leaves is cleaned up by the next one
	zug 60 run -q --executions 1 -o traces -- true
	want_status 0
	want_nothing_left
	end
fi

# The folder for traces is made before the first execution, and goes if it stays empty.
if begin "the folder for traces ends no template"; then
	ZUG_DEBUG=times zug 60 run -q --executions 20 --no-races -o fresh/deep -- "$programs/abba-deadlock-fixed"
	want_status 0
	want_err '^template: [0-9.]* ms$'
	grep '^template: ended' err >ended && note "a template was ended: $(head -n 1 ended)"
	[ ! -e fresh ] || note "the empty folder stayed"
	end
fi

use_daemon
for bug in "${bugs[@]}"; do
	begin "$bug, forked and started" || continue
	source=$(ls "$project/tests/programs/$bug".c* | head -n 1)
	program=$programs/$bug
	read_header "$source"
	read -ra options <<<"${header[options]:-}"
	read -ra args <<<"${header[args]:-}"
	cd "$project" || exit 2
	search exec 24
	search auto 24
	cd "$dir" || exit 2
	cmp -s exec.out auto.out || note "the search is another one: $(diff exec.out auto.out)"
	cmp -s exec.json auto.json || note "the trace is another one: $(diff exec.json auto.json | head -n 10)"
	grep -q '^execution 24:' auto.out || note "nothing was said: $(said)"
	want_nothing_left
	end
done

# What comes before that reads files, in one thread: copies begin behind it, also while points come and go, and the
# files of a private folder are others each time.
if begin "a search that begins at a call, forked and started"; then
	program=/usr/bin/python3
	options=()
	args=(-c 'import os, threading
def note():
    with open("/tmp/noted", "a") as f: f.write("x")
    print(os.stat("/tmp/noted").st_mtime, os.stat("/tmp").st_mtime)
ts = [threading.Thread(target=note) for _ in range(2)]
for t in ts: t.start()
for t in ts: t.join()')
	cd "$project" || exit 2
	search exec 16
	search auto 16
	want_out '^[0-9]+ of them began as copies'
	cd "$dir" || exit 2
	cmp -s exec.out auto.out || note "the search is another one: $(diff exec.out auto.out)"
	grep -q '^execution 16:' auto.out || note "nothing was said: $(said)"
	want_nothing_left
	end
fi

# The working folder is one of the project: below /tmp each execution has another environment.
if begin "a search of copies"; then
	cd "$project" || exit 2
	zug 60 run -q --profile --executions 30 -o "$dir/traces" -- "$programs/abba-deadlock-fixed"
	want_status 0
	want_out '^[0-9]{2} of them began as copies of a process that stands before its first point'
	# a socket of the machine itself leaves nothing
	zug 60 run -q --profile --no-races --executions 14 -o "$dir/traces" -- "$programs/inputs/world-change" name
	want_status 0
	want_out '^[0-9]+ of them began as copies'
	# what is its own is another one for each copy
	for program in accept-order-fixed file-lost-update-fixed; do
		zug 60 run -q --profile --no-races --executions 14 -o "$dir/traces" -- "$programs/$program"
		want_status 0 "$program"
		want_out '^1[0-9] of them began as copies'
	done
	zug 60 check -q -n 20 -o "$dir/traces" -- "$programs/bank-transfer-fixed"
	want_status 0
	want_nothing_left
	end
fi

# What a fork loses or changes: the first executions are made both ways, and the program looks itself.
if begin "what a fork would change"; then
	cd "$project" || exit 2
	for kinds in "pid atfork no-parent-death" "uring filter parent-death" "memfd timer locked" traced "pending shared"; do
		# shellcheck disable=SC2086
		zug 60 run -q --profile --no-races --executions 14 -o "$dir/traces" -- "$programs/inputs/keeps" $kinds
		want_status 0 "$kinds"
		want_out '^[0-9]+ of them began as copies'
		grep -q 'another way' "$dir/out" && note "$kinds: $(said)"
	done
	want_nothing_left
	end
fi

# reason TEXT ARGUMENT...: no template, for that reason.
reason()
{
	zug 60 run -q --start auto --executions 20 -o "$dir/traces" "${@:2}"
	want_status 0
	want_out "started the program anew: $1"
}

if begin "what speaks against copies is said"; then
	cd "$project" || exit 2
	reason "--aslr gives each execution other addresses" --aslr -- "$programs/abba-deadlock-fixed"
	reason "the test changes its files or its IPC objects, and its user" --user nobody --no-races -- \
		"$programs/file-lost-update-fixed"
	reason "the test uses its network, and its user" --user nobody --no-races -- "$programs/accept-order-fixed"
	want_nothing_left
	end
fi
finish

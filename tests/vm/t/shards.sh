#!/bin/bash
# Shards: the shares of two or four machines together are exactly what one machine makes; one that was killed goes on where it was.
# Takes 30 s under emulation. LONG=1: all strategies.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

# executions FOLDER: one line for each that its shards have made, without its time.
executions()
{
	cat "$1"/shard-*/log | grep '^{"x"' | sed 's/,[0-9]*]}$/]}/' | sort -u
}

# search FOLDER K/N PROGRAM OPTION...
search()
{
	zug 120 run -q --shard "$2" --keep-going --no-minimize --verify 0 -o "$1" "${@:4}" -- "$programs/$3"
	case $rc in 0 | 1) ;; *) note "$*: status $rc: $(said)" ;; esac
}

# together NR PROGRAM OPTION...: so many shards, and one of one.
together()
{
	local of=$1
	shift
	rm -rf one all
	search one 1/1 "$@"
	for ((k = 1; k <= of; k++)); do search all "$k/$of" "$@"; done
	executions one >one.all
	executions all >all.all
	[ -s one.all ] || note "$*: no executions"
	cmp -s one.all all.all || note "$*: $(diff one.all all.all | head -n 4)"
	zug 20 merge one
	status=$rc
	grep '^[a-z ]* [0-9]* executions' "$dir/out" >one.sum
	zug 20 merge --html page.html all
	[ "$rc" = "$status" ] || note "$*: merged $rc, and alone $status"
	grep '^[a-z ]* [0-9]* executions' "$dir/out" | cmp -s - one.sum || note "$*: another sum: $(cat one.sum) $(said)"
	[ -s page.html ] || note "$*: no page"
}

begin 'executions of two shards' && {
	together 2 lost-increment --executions 72
	if [ "${LONG:-}" = 1 ]; then
		for s in random pct pos surw urw guided; do together 4 gave-up-waiting --executions 120 --strategy $s; done
	fi
	end
}

begin 'subtrees of four shards' && {
	together 4 abba-deadlock --strategy dpor
	if [ "${LONG:-}" = 1 ]; then
		for s in preemption:bound=1 delay:bound=1; do together 4 lost-increment --strategy $s; done
	fi
	end
}

begin 'a plan, and a shard that was killed' && {
	zug 60 plan -q --strategy preemption:bound=2 --no-races --subtrees 12 --plan file -- "$programs/lost-increment-fixed"
	[ "$rc" = 0 ] || note "plan: status $rc: $(said)"
	run=("$zug" run -q --shard 1/2 --strategy preemption:bound=2 --no-races --plan file -o some -- "$programs/lost-increment-fixed")
	"${run[@]}" >/dev/null 2>&1 &
	pid=$!
	for _ in {1..400}; do
		[ "$(grep -cs '"done"' some/shard-1-of-2/log)" -ge 2 ] 2>/dev/null && break
		sleep 0.02
	done
	kill -9 $pid
	wait $pid 2>/dev/null
	executions some >before
	zug 20 merge some
	[ "$rc" = 5 ] || note "with a shard partly done and one missing merge ends with $rc: $(said)"
	command_run 60 "${run[@]}"
	[ "$rc" = 0 ] || note "run again: status $rc: $(said)"
	comm -23 before <(executions some) | grep -q . && note "executions that were made are lost"
	zug 60 run -q --shard 1/2 --strategy preemption:bound=2 --no-races --plan file -o whole -- "$programs/lost-increment-fixed"
	cmp -s <(executions some) <(executions whole) ||
		note "a shard that was killed makes others: $(diff <(executions some) <(executions whole) | head -n 4)"
	sort some/shard-1-of-2/log | grep '"x"' | sed 's/,[0-9]*]}$//' | uniq -d >twice
	[ "$(wc -l <twice)" -le 12 ] || note "more than a subtree was made twice"
	zug 20 run -q --shard 1/2 --strategy preemption:bound=2 --no-races --plan file -o some -- "$programs/lost-increment-fixed"
	grep -q 'was complete' "$dir/err" || note "a complete shard executes something: $(said)"
	end
}

finish

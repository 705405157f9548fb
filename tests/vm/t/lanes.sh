#!/bin/bash
# Lanes: what zug run -j N finds does not depend on N, nor on what happens to a lane; nothing is left of them.
# Takes 60 s under emulation. LONG=1: all strategies. -j 4 where the machine has four CPUs (tools/vm --cpus 4).
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

counts='1 2'
[ "$(nproc)" -lt 4 ] || counts='1 2 4'

# What a search came to, without times, what the shell has in its environment, and how often zug was asked, which depends on
# what a lane has learnt: each execution with the checksum of its trace, the findings, the sums, the traces.
told()
{
	echo "status $rc"
	grep -a '^execution ' "$dir/err" | sed 's/: launch.*drain [^,]*,/:/; s/ [0-9]* asked,//'
	sed -nE 's/^found in execution ([0-9]*), after [^:]*:/found in \1:/p; /^replayed:/p; /^stopped:/p; /^covered:/p; /first in execution/p' "$dir/out"
	sed -nE 's/\(([0-9.]+ (ms|s|min)), [0-9.]+ (us|ms|s) each; /(/p' "$dir/out"
	for trace in traces/*.trace; do
		[ ! -e "$trace" ] || "$zug" show --json "$trace" 2>&1 | sed -E 's/"(pid|wall_ns)": ?[0-9]+/"\1":0/g; /^"header":/d'
	done
}

# same PROGRAM OPTION...: the same search with each number of lanes.
same()
{
	local j

	for j in $counts; do
		ZUG_DEBUG=times zug 100 run -q -j "$j" --verify 1 --no-minimize -o traces "${@:2}" -- "$programs/$1"
		told >"$j"
		rm -rf traces
		cmp -s 1 "$j" || note "-j $j $*: $(diff 1 "$j" | head -n 6)"
	done
	grep -q '^execution 7' 1 || note "$*: $(said)"
}

remember
begin 'the same executions on each number of lanes' && {
	same lost-increment --keep-going --executions 120
	grep -q 'first in execution' 1 || note "no failure"
	cp 1 "$base/whole"
	want_nothing_left
	end
}

# Each strategy by itself, so that a pattern can choose one.
if [ "${LONG:-}" = 1 ]; then
	for s in random pct pos surw urw guided reversal cycles lockstep portfolio; do
		begin "the same executions on each number of lanes: $s" && {
			same gave-up-waiting --keep-going --executions 110 --strategy $s
			# the prologue learns where to count, and lanes go on
			case $s in pct | portfolio) same fixtures/hot-race --strategy $s --seed 5 --executions 84 ;; esac
			# seldom found before the lanes begin
			same bakery --strategy $s --executions 130
			want_nothing_left
			end
		}
	done
	for s in preemption:bound=1 delay:bound=1 dfs dpor; do
		begin "the same executions on each number of lanes: $s" && {
			# without a bound the larger one has thousands of schedules
			[ $s = dfs ] && program=lost-increment || program=abba-deadlock
			same $program --keep-going --strategy $s
			same $program-fixed --strategy $s
			[ $s != dpor ] || grep -q '^covered: every schedule' 1 || note "not exhausted: $(tail -n 2 1)"
			want_nothing_left
			end
		}
	done
fi

begin 'each execution counts for itself how often a place was reached' && {
	same fixtures/hot-race --strategy random --seed 5 --executions 84
	want_nothing_left
	end
}

begin 'the progress of all lanes' && {
	# a progress line is for terminals
	command_run 100 script -qefc "'$zug' run -j 2 --seed 1 --executions 200 --no-races -o traces -- '$programs/lost-increment-fixed'" typescript
	want_status 0
	tr '\r' '\n' <typescript >lines
	grep -qE '^.\[K[0-9]+ executions, .* distinct schedules, lanes [0-9]+\+[0-9]+(, at most .* left)?$' lines ||
		note "no line with both lanes: $(grep distinct lines | tail -n 3)"
	want_nothing_left
	end
}

begin 'a lane that is killed' && {
	# the search of the first test
	ZUG_DEBUG=times "$zug" run -q -j 2 --verify 1 --no-minimize --keep-going --executions 120 -o traces -- "$programs/lost-increment" >"$dir/out" 2>"$dir/err" &
	pid=$!
	# a test that is about to be executed is called zug, too
	for _ in {1..600}; do
		[ "$(pgrep -c -P $pid -x zug)" -lt 2 ] || break
		sleep 0.05
	done
	lane=$(pgrep -P $pid -x zug | tail -n 1)
	[ -n "$lane" ] && kill -9 "$lane" || note "there was no lane"
	wait $pid
	rc=$?
	told >killed
	[ ! -e "$base/whole" ] || cmp -s "$base/whole" killed || note "another result: $(diff "$base/whole" killed | head -n 6)"
	want_nothing_left
	end
}

begin 'a killed zug leaves no lane, nor does an interrupted one' && {
	for signal in KILL ${LONG:+INT}; do
		# a shell ignores SIGINT in what it starts in the background
		(trap - INT; exec "$zug" run -q -j 2 --executions 0 --no-races -o traces -- "$programs/abba-deadlock-fixed") >out 2>err &
		pid=$!
		for _ in {1..600}; do
			[ "$(pgrep -c -P $pid -x zug)" -lt 2 ] || break
			sleep 0.05
		done
		lanes=$(pgrep -P $pid -x zug)
		[ -n "$lanes" ] || note "there were no lanes"
		sleep 0.5
		kill -$signal $pid
		wait $pid 2>/dev/null
		for lane in $lanes; do
			for _ in {1..40}; do kill -0 "$lane" 2>/dev/null && sleep 0.1; done
			kill -0 "$lane" 2>/dev/null && note "$signal: lane $lane goes on"
		done
		[ $signal = KILL ] || want_nothing_left
	done
	zug 60 run -q --executions 1 -o traces -- true
	want_status 0
	want_nothing_left
	end
}

begin 'as many lanes as quiet CPUs without -j' && {
	[ "$(nproc)" -gt 2 ] && wanted=yes || wanted=no
	command_run 100 script -qefc "'$zug' run --seed 1 --executions 200 --no-races -o traces -- '$programs/lost-increment-fixed'" typescript
	want_status 0
	grep -qE ', lanes [0-9]+(\+[0-9]+)+' typescript && lanes=yes || lanes=no
	[ $lanes = $wanted ] || note "$(nproc) CPUs, several lanes: $lanes"
	want_nothing_left
	end
}

begin 'what -j cannot be' && {
	zug 20 run -j 255 -- true
	want_status 2
	want_err 'each execution needs a CPU, and this machine has'
	zug 20 run -j 2 --share /tmp -- true
	want_status 2
	want_err '^zug run: --jobs cannot be combined with --share'
	for option in '--resume state' '--setup true' '--teardown true' '--lane 0' --list-points; do
		# shellcheck disable=SC2086	# an option and its argument
		zug 20 run -j 2 $option -- true
		want_status 2
		want_err "^zug run: --jobs cannot be combined with ${option%% *}"
	done
	zug 20 run -j 256 -- true
	want_status 2
	want_err 'from 1 to 255'
	zug 20 run -j 2 --world pids -- true
	want_status 2
	want_err '^zug run: --jobs needs an environment of its own'
	end
}

# A thread plants while places are looked up, so a second close may hit the link that it has made.
if begin "no descriptor is closed that is not open"; then
	export LD_PRELOAD=$project/build/tests/vm/closes.so CLOSES=$dir/closes
	zug 60 run -q --executions 20 -o traces -- "$programs/aba-stack-fixed"
	unset LD_PRELOAD CLOSES
	want_status 0
	[ ! -e "$dir/closes" ] || note "$(sort "$dir/closes" | uniq -c)"
	end
fi
finish

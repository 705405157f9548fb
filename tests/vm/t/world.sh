#!/bin/bash
# Every execution begins with the same environment, and nothing of it is left.
# Takes 45 s under emulation.
. "$(dirname "$0")/../lib.sh"

finding=$programs/inputs/world-finding
times=2
[ -z "${LONG:-}" ] || times=50

# The objects that world-finding leaves.
things_of_mine()
{
	mkdir folder
	echo yours >yours
	echo theirs >theirs
	echo inside >folder/file
}

printed()
{
	grep -v '^zug:' "$dir/out"
}

# A kernel may have no overlays, or the module may be missing (tools/kernel --overlay).
mkdir "$base/upper" "$base/work"
if ! unshare -m mount -t overlay overlay -o "lowerdir=/tmp,upperdir=$base/upper,workdir=$base/work" /tmp 2>/dev/null; then
	begin "every execution finds the same environment" && end SKIP "no overlayfs"
	finish
fi
rm -r "$base/upper" "$base/work"

use_daemon
if begin "every execution finds the same environment"; then
	things_of_mine
	zug 60 run -q --executions 3 --no-minimize -o traces -- "$finding"
	want_status 1
	want_out 'exit status 1 '
	want_out '^replayed: 1 of 1 times the same failure'
	trace=$(kept_trace)
	zug 60 replay -q "$trace"
	want_status 1
	first=$(printed)
	want_out '^process 2 of 0 on localhost, inode'
	want_out '^thread 3$'
	want_out '^child 4$'
	mkdir ../elsewhere && cd ../elsewhere || exit 2
	zug 200 replay -q -n $times "$dir/$trace"
	want_status 1
	want_out "^zug: replayed $times of $times times exactly"
	[ "$first" = "$(printed)" ] || note "first '$first', then '$(printed)'"
	cd "$dir" && rm -r ../elsewhere
	[ "$(cat yours)" = yours ] && [ -f theirs ] && [ -f folder/file ] || note "files of the user have changed"
	[ ! -e left-behind ] && [ ! -e /tmp/left-behind ] && [ ! -e /dev/shm/left-behind ] || note "it is left behind"
	want_nothing_left
	end
fi
if begin "a busy CPU changes nothing"; then
	things_of_mine
	# not the lane, which is the last one
	taskset -c 0 sh -c 'while :; do :; done' &
	busy=$!
	zug 60 run -q --executions 1 --verify $times -o traces -- "$finding"
	kill $busy
	wait $busy 2>/dev/null
	want_status 1
	want_out "^replayed: $times of $times times the same failure"
	end
fi
if begin "a shared environment is the machine's"; then
	things_of_mine
	for _ in 1 2; do
		zug 60 run -q --world shared --executions 1 --verify 0 --no-minimize -o traces -- "$finding"
		want_status 1
	done
	want_out 'exit status 4 '
	[ -e left-behind ] && [ -e renamed/file ] && [ ! -e theirs ] || note "it has changed nothing"
	rm -f /tmp/left-behind /dev/shm/left-behind
	ipcrm -M 0x7a7567 2>/dev/null
	end
fi
if begin "parts"; then
	# shellcheck disable=SC2016
	zug 60 run -q --world files,host --executions 1 -- sh -c 'echo >new; [ "$(cat /proc/sys/kernel/hostname)" = localhost ] && [ $$ != 2 ]'
	want_status 0
	want_err 'what the test changed in its working folder \(new\) is gone'
	[ ! -e new ] || note "the file is there"
	zug 20 run -q --world files,nonsense -- true
	want_status 2
	want_err 'not private, shared, or a list of files'
	zug 20 run -q --world net --share . -- true
	want_status 2
	want_err '^zug run: --share has no effect: all files are shared here'
	zug 20 run -q --share nowhere -- true
	want_status 2
	want_err 'nowhere: No such file or directory'
	end
fi
if begin "what an execution changes, the next does not find"; then
	mkdir folder
	echo yours >yours
	echo inside >folder/inside
	chmod 755 .
	for kind in created changed deleted renamed mode attribute shm semaphore queue port mount host name device cycle; do
		zug 60 run -q --executions 3 -- "$programs/inputs/world-change" $kind
		want_status 0 $kind
	done
	[ "$(cat yours folder/inside)" = "$(printf 'yours\ninside')" ] || note "files of the user have changed"
	end
fi
if begin "an environment that is used again is like a new one"; then
	mkdir folder log zug-out
	echo inside >folder/inside
	for debug in times rebuild; do
		# shellcheck disable=SC2016
		ZUG_DEBUG=$debug zug 60 run -q --executions 4 --strategy random --share log -- sh -c \
			'exec "$0" nothing >>log/'$debug "$programs/inputs/world-change"
		want_status 0
		[ "$(grep -c /dev/shm: log/$debug)" -ge 4 ] || note "not executed: $(cat log/$debug)"
	done
	# but for the times of the search's beginning, and the folder that holds the output
	for debug in times rebuild; do
		grep -v "^log:" log/$debug | sed -E 's/([0-9]+\.000000000)/begin/g' | sort -u >$debug
	done
	diff times rebuild >diff || note "they differ: $(head -n 5 diff)"
	[ "$(grep -c /dev/shm: times)" = 1 ] || note "not always the same: $(cat times)"
	zug 60 check -n 4 -- "$programs/inputs/world-change" created
	want_status 0
	want_out '^4 executions of one schedule, all the same:'
	end
fi
if begin "a changed network is not used again"; then
	# shellcheck disable=SC2016
	zug 60 run -q --world net --executions 3 -- sh -c \
		'f=/proc/sys/net/ipv4/ip_default_ttl; [ "$(cat $f)" = 64 ] && echo 65 >$f && [ "$(cat $f)" = 65 ]'
	want_status 0
	end
fi
if begin "TCP is acknowledged at once"; then
	zug 60 run -q --executions 1 -- sh -c "[ \"\$('$programs/inputs/split-request')\" = 4 ]"
	want_status 0
	end
fi
if begin "shared files stay"; then
	mkdir results results/below
	zug 60 run -q --executions 3 --share results/below -- sh -c 'echo line >>results/below/log; echo >results/gone'
	want_status 0
	[ "$(wc -l <results/below/log)" -ge 3 ] || note "not shared: $(ls -R results)"
	[ ! -e results/gone ] || note "too much is shared"
	end
fi
if begin "before and after each execution"; then
	mkdir log
	# The processes that it leaves hold a port; they, too, are gone before the next execution.
	zug 60 run -q --executions 2 --share log --setup 'echo setup >>log/l; echo 5 >number; sleep 1000 &' \
		--teardown 'read n <number; echo teardown $n >>log/l' -- sh -c 'read n <number; echo $((n + 1)) >number; echo $$ >>log/pids'
	want_status 0
	[ "$(sort -u log/l | tr '\n' ' ')" = "setup teardown 6 " ] || note "log: $(cat log/l)"
	[ "$(sort -u log/pids)" = 2 ] || note "pids: $(cat log/pids)"
	zug 60 run -q --executions 2 --setup 'echo not today; exit 3' -- true
	want_status 3
	want_err "^zug: --setup 'echo not today; exit 3' failed \(exit status 3\): not today"
	zug 60 run -q --executions 2 --teardown 'kill -9 $$' -- true
	want_status 3
	want_err 'failed \(signal 9\)'
	want_nothing_left
	end
fi
if begin "orphans are reaped"; then
	# The test tells a daemon to end, and waits until it is gone.
	# shellcheck disable=SC2016
	zug 60 run -q --executions 2 -- sh -c '(sleep 1000 & echo $! >pid); read p <pid; kill $p; while kill -0 $p 2>/dev/null; do sleep 1; done'
	want_status 0
	end
fi
if begin "zug exec leaves files alone"; then
	zug 60 exec -- sh -c 'echo result >result; [ $$ != 2 ]'
	want_status 0
	[ -s result ] || note "no result"
	end
fi
finish

#!/bin/bash
# zug check: it finds tests that do not repeat, and names the cause. LONG=1: every program, fifty times.
# Takes 40 s under emulation.
. "$(dirname "$0")/../lib.sh"

inputs=$programs/inputs
outcomes=$programs/outcomes

# Address randomisation is on, as on ordinary machines: tools/vm turns it off.
echo 2 >/proc/sys/kernel/randomize_va_space

# same OPTION... -- COMMAND...: everything repeats.
same()
{
	zug 100 check -q -n "${times:-4}" "$@"
	want_status 0
	want_out "^${times:-4} executions of one schedule, all the same: [0-9]+ steps"
}

# differs SOURCE HELP OPTION... -- COMMAND...: something differs, and zug names the cause SOURCE and the remedy HELP.
differs()
{
	local source=$1 help=$2

	shift 2
	zug 100 check -q -n 50 -o traces "$@"
	want_status 1
	want_out '^execution [0-9]+ differs from the first at step [0-9]+ of [0-9]+:$'
	want_out '^first: .* T[0-9]+ [a-z-]+ '
	want_out '^this time: .*T[0-9]+ [a-z-]+ '
	want_out "^likely source $source: .*$help"
	want_out '^more: zug diff traces/'
}

use_daemon
# In the virtual machine the project lies in a file system in user space, which is asked when a file is closed.
if begin "redirections of a shell close files"; then
	# shellcheck disable=SC2016
	times=3 same -- bash -c 'for i in {1..40}; do exec 3<"$1"; exec 3<"$2"; done' - "$project/README.md" "$project/Makefile"
	end
fi
if begin "time"; then
	differs time 'with --time virtual [0-9]+ executions' --time real -- "$inputs/varies" time
	want_out 'varies.c:[0-9]+'
	want_out '^    #[0-9]+ +work'
	same -- "$inputs/varies" time
	end
fi
if begin "a timer that ends a computation"; then
	differs "a timer's signal" 'SIGPROF comes while the test computes' -- "$inputs/varies" timer
	end
fi
if begin "a failure that repeats"; then
	same -- "$outcomes/segv"
	want_out '^each failed: segv|^each failed: .*SEGV'
	end
fi
if begin "waits of no length"; then
	same -- "$inputs/instant"
	end
fi
# an execution that a point in the computation has ended is no schedule to repeat
if begin "long computation"; then
	times=2 same --spin 20ms -- "$outcomes/computes" long
	end
fi
if begin "randomness"; then
	differs randomness 'with --random seed' --random real -- "$inputs/varies" random
	same -- "$inputs/varies" random
	end
fi
if begin "addresses"; then
	differs addresses 'with no --aslr' --aslr -- "$inputs/varies" address
	same -- "$inputs/varies" address
	end
fi
# A kernel from 6.18 on lets zug answer in the processor's place.
[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] && answers=1 || answers=
if begin "the processor's clock"; then
	if [ $answers ]; then
		same -- "$inputs/varies" rdtsc
		same -- "$inputs/varies" rdtscp
	else
		differs time 'rdtsc in [a-z]+ .*varies.c:[0-9]+ asks the processor' -- "$inputs/varies" rdtsc
	fi
	end
fi
if grep -q '^flags.* rdrand' /proc/cpuinfo && begin "the processor's random numbers"; then
	if [ $answers ]; then
		same -- "$inputs/varies" rdrand
	else
		differs randomness 'rdrand or rdseed in [a-z_]+ .*varies.c:[0-9]+ asks the processor' -- "$inputs/varies" rdrand
	fi
	end
fi
if begin "a file that the test leaves changed"; then
	differs 'file state' "$dir/count changed.*--world files" --world shared -- "$inputs/varies" file "$dir/count"
	same -- "$inputs/varies" file "$dir/count"
	end
fi
if begin "a wake-up from outside"; then
	mkfifo fifo
	sh -c 'exec 3<>fifo; while :; do printf "\\$(($(od -An -N1 -tu1 /dev/urandom) % 2 + 60))" >&3; sleep 0.02; done' &
	writer=$!
	differs outside 'T[0-9]+ (was woken from outside of the test|reads from .*, to which no task of the test writes)' --share fifo -- "$inputs/varies" outside "$dir/fifo"
	kill $writer
	wait $writer 2>/dev/null
	end
fi
if begin "output alone"; then
	zug 60 check -q -o traces --random real -- "$inputs/random-finding"
	want_status 1
	want_out 'execution 2 made the same [0-9]+ steps as the first and ended alike, but its output differs'
	want_out '^first: +getrandom [0-9a-f]+ +on standard output$'
	want_out '^likely source randomness'
	end
fi
if begin "zug run warns"; then
	zug 60 run -q --strategy random --executions 1 -- "$inputs/varies" time
	want_status 0
	grep -q 'did not repeat' "$dir/err" && note "it warns: $(said)"
	zug 60 run -q --strategy random --executions 2 --time real -- "$inputs/varies" time
	want_err 'the first execution did not repeat \(step [0-9]+ of [0-9]+\).* zug check'
	end
fi
if begin "what is refused"; then
	zug 10 check
	want_status 2
	want_err 'no command'
	zug 10 check -n 1 -- true
	want_status 2
	want_err 'a number from 2'
	zug 10 check --executions 5 -- true
	want_status 2
	want_err 'one schedule is executed'
	zug 10 run -n 5 -- true
	want_status 2
	want_err 'zug check'
	end
fi
[ "${LONG:-}" ] || finish

# Fifty executions of one schedule of every planted program and of its twin, with the options of the search for the bug;
# and fifty replays of the bug, with the other CPU busy.
times=50
for source in "$project"/tests/programs/*.{c,cc,sh}; do
	bug=${source##*/}
	case $source in
	*-fixed.sh) continue ;;
	*.sh) program=$programs/$bug twin=$programs/${bug%.sh}-fixed.sh bug=${bug%.sh} ;;
	*) bug=${bug%.*} program=$programs/$bug twin=$programs/$bug-fixed ;;
	esac
	read_header "$source"
	read -ra options <<<"${header[options]:-}"
	read -ra args <<<"${header[args]:-}"
	if begin "$bug"; then
		zug 900 check -q -n $times --timeout 10s "${options[@]}" -o traces -- "$program" "${args[@]}"
		want_status 0
		zug 900 check -q -n $times --timeout 10s "${options[@]}" -o traces -- "$twin" "${args[@]}"
		want_status 0
		zug 300 run -q --timeout 10s "${options[@]}" --executions "${header[executions]}" -o traces -- "$program" "${args[@]}"
		want_status 1
		trace=$(kept_trace)
		taskset -c 0 sh -c 'while :; do :; done' &
		busy=$!
		zug 900 replay -q -n $times "$trace"
		want_out "replayed $times of $times times exactly"
		kill $busy
		wait $busy 2>/dev/null
		end
	fi
done
seq 1 200000 >"$base/input"
# real NAME COMMANDS [PROGRAM...]: programs of Debian, as in real.sh; skipped when a PROGRAM is not installed.
real()
{
	local program

	begin "$1" || return
	for program in "${@:3}"; do
		[ -x "$program" ] || { end SKIP "$program is not installed"; return; }
	done
	cp "$base/input" .
	zug 1800 check -q -n $times --timeout 200s -o traces -- bash -c "$2"
	want_status 0
	end
}
real pigz 'pigz -p 2 -n -c input >packed && pigz -d -c packed | cmp - input'
real pbzip2 'pbzip2 -p2 -b1 -k -c input >packed && pbzip2 -p2 -d -c packed | cmp - input'
real xz 'xz -T2 --block-size=256KiB -0 -k -c input >packed && xz -T2 -d -c packed | cmp - input'
real sort 'sort --parallel=2 -S 1M input >result'
real bash 'tr 1-5 a-e <input | grep -v a | cut -c1-3 | sort | uniq -c | tail -n 100 >result'
real git 'git init -q -b main r && cd r && cp ../input . && git add . && git -c user.name=n -c user.email=e commit -q -m m && git log' \
	/usr/bin/git
real python3 '/usr/bin/python3 -c "
import threading, queue
q = queue.Queue()
def work(i):
    for k in range(5): q.put((i, k))
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(q.get() for _ in range(15)), len({str(i) for i in range(99)}))"' /usr/bin/python3
real gcc 'printf "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n" >a.c && gcc -O1 -o a a.c && ./a && cksum a' /usr/bin/gcc
real sqlite3 'for i in 1 2 3; do
	sqlite3 -cmd ".timeout 5000" a.db "create table if not exists t(a); insert into t values($i);" &
done
wait; sqlite3 a.db "select count(*) from t"' /usr/bin/sqlite3
real redis 'redis-server --port 6399 --save "" --daemonize no >log & server=$!
until redis-cli -p 6399 ping >/dev/null 2>&1; do sleep 0.1; done
for i in 1 2 3; do redis-cli -p 6399 incr counter; done; redis-cli -p 6399 shutdown nosave; wait $server' /usr/bin/redis-server
real curl '/usr/bin/python3 -m http.server -b 127.0.0.1 8099 >log 2>&1 & server=$!; echo hello >file
until curl -s http://127.0.0.1:8099/file; do sleep 0.1; done; kill $server; wait $server' /usr/bin/curl /usr/bin/python3
finish

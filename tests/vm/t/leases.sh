#!/bin/bash
# Leases: the same seed gives the same executions with them and with --ask always, and fewer points are asked about.
# Takes 90 s under emulation. LONG=1: all planted programs, and the calls of other programs, under all strategies.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

strategies=(random random:stick=3 pct pos surw urw guided lockstep portfolio preemption delay dfs dpor)
# What is done with a failure: nothing.
keeps=(--keep-going --no-minimize --verify 0)

# script NAME: standard input becomes a program in this folder.
script()
{
	cat >"$1" && chmod +x "$1"
}

# Programs whose points are system calls: pipelines and signals; files, folders and links that come and go while another
# process looks, by paths of all kinds; sockets.
scripts()
{
	script pipeline <<-'END'
		#!/bin/sh
		x=$(echo a b c | tr a-z A-Z | cut -d' ' -f2)
		yes | head -n 2 | while read -r l; do echo "$l" >/dev/null; done
		[ "$x" = B ]
	END
	script files <<-'END'
		#!/bin/sh
		d=$(mktemp -d) && cd "$d" || exit 1
		(mkdir a; echo 1 >a/f; ln -s a b; [ -e b/f ] && mv a c; cat "$d/c/f"; rm -rf c) &
		(for i in 1 2; do [ -d "$d/a" ]; [ -e "$d/c/f" ] && cat "$d/c/f"; [ -L "$d/b" ]; done) &
		(mkfifo p; echo hello >p) &
		cat p; wait; cd / && rm -rf "$d"
	END
	# children by vfork(), signals of their ends that stay pending, and handlers
	script builds <<-'END'
		#!/bin/bash
		trap 'e=$?' CHLD
		d=$(mktemp -d) && cd "$d" || exit 1
		printf 'all: a b c\n%%:\n\tcp Makefile $@\n' >Makefile
		make -s -j3 --no-print-directory && wc -l a b c | sort >/dev/null
	END
	script sockets <<-'END'
		#!/usr/bin/perl
		use Socket;
		my $path = "/tmp/socket";
		socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
		my $looks = fork // die;
		if (!$looks) { -e $path for 1 .. 3; exit 0 }
		bind($s, sockaddr_un($path)) && listen($s, 2) or die;
		my $client = fork // die;
		if (!$client) {
			socket(my $c, PF_UNIX, SOCK_STREAM, 0) && connect($c, sockaddr_un($path)) or die;
			syswrite($c, "ping"); sysread($c, my $got, 4); exit($got ne "pong");
		}
		accept(my $c, $s) or die;
		sysread($c, my $got, 4); syswrite($c, "pong"); close($c);
		waitpid($_, 0) for $looks, $client;
		unlink($path);
	END
}

# Whether a parent notices that its child ends changes right behind that.
ends()
{
	script ends <<-'END'
		#!/usr/bin/perl
		use POSIX;
		my $set = POSIX::SigSet->new(SIGCHLD);
		my $child = fork // die;
		if (!$child) { -e "/tmp/x"; POSIX::_exit(0) }
		for (1 .. 2) {
			sigprocmask(SIG_BLOCK, $set);
			-e "/tmp/x";
			sigprocmask(SIG_UNBLOCK, $set);
			-e "/tmp/x";
		}
		waitpid($child, 0);
	END
}

# searched WORD PROGRAM STRATEGY OPTION...: $dir/WORD.all gets a line for each execution, $dir/WORD.runs the same without what
# leases change.
searched()
{
	ZUG_DEBUG=times zug 120 run -q "${keeps[@]}" --timeout 10s --seed 3 --ask "$1" \
		--strategy "$3" "${@:4}" -o "$1" -- "$2"
	grep -a '^execution ' "$dir/err" | sed 's/: launch.*drain [^,]*,/:/' >"$dir/$1.all"
	sed 's/ [0-9]* asked,//' "$dir/$1.all" >"$dir/$1.runs"
	[ -s "$dir/$1.runs" ] || note "$2, $3: no executions: $(said)"
}

# same PROGRAM STRATEGY OPTION...: with leases and without.
same()
{
	searched always "$@"
	searched unknown "$@"
	cmp -s "$dir/always.runs" "$dir/unknown.runs" ||
		note "${1##*/}, $2: $(diff "$dir/always.runs" "$dir/unknown.runs" | head -n 4)"
}

# share WORD: steps and those that were asked about.
share()
{
	awk '{ gsub(/,/, ""); s += $3; a += $5 } END { printf "%d of %d", a, s }' "$dir/$1.all"
}

# The same, as a rate in percent.
rate()
{
	awk '{ gsub(/,/, ""); s += $3; a += $5 } END { printf "%d", 100 * a / (s + !s) }' "$dir/$1.all"
}

use_daemon
if begin "the same executions with leases and without"; then
	same "$programs/lost-increment" pct --executions 10
	same "$programs/if-for-while" portfolio --executions 20 --no-races
	same "$programs/dining-philosophers" pos --executions 8
	same "$programs/dining-philosophers" surw --executions 8
	same "$programs/dining-philosophers" lockstep --executions 6
	# tasks that yield go on in some of these
	same "$programs/bakery-fixed" pct --executions 10
	same "$programs/dining-philosophers" guided --executions 12
	# a thread ends, and another one waits for that
	same "$programs/torn-pair-fixed" guided --executions 60
	end
fi
# A failure is replayed, minimised and compared with its neighbours.
if begin "the same trials with leases and without"; then
	keeps=()
	for ask in always unknown; do
		searched $ask "$programs/abba-deadlock" portfolio --executions 20
		sed "s/, after [0-9.]* m\?s:/:/; s/\b$ask\b/unknown/" "$dir/out" >"$dir/$ask.said"
	done
	grep -q '^minimised in .*executions' "$dir/always.said" || note "nothing was minimised: $(said)"
	cmp -s "$dir/always.said" "$dir/unknown.said" || note "$(diff "$dir/always.said" "$dir/unknown.said" | head -n 4)"
	keeps=(--keep-going --no-minimize --verify 0)
	end
fi
# Which calls are passed does not depend on the scan for data races, which would look at all code of a shell and its tools.
if begin "system calls: the same executions with leases and without"; then
	scripts
	same ./pipeline pct --executions 8 --no-races
	[ "$(rate always)" -gt 90 ] || note "without leases: $(share always)"
	# those behind the first ones, which learn what calls what
	sed -i '1,4d' unknown.all
	[ "$(rate unknown)" -lt 10 ] || note "with leases: $(share unknown)"
	same ./pipeline guided --executions 8 --no-races
	same ./builds portfolio --executions 6 --no-races
	[ "$(rate unknown)" -lt 40 ] || note "with leases: $(share unknown)"
	same ./files random --executions 4 --no-races
	same ./sockets portfolio --executions 6 --no-races
	same "$programs/accept-order" portfolio --executions 6 --no-races
	ends
	same ./ends random --executions 8
	same ./files pos --executions 3 --no-races
	same ./pipeline pos --executions 4 --no-races
	# 99 % without what the kernel side knows of the objects of calls
	[ "$(rate unknown)" -lt 75 ] || note "with priorities of operations: $(share unknown)"
	end
fi
# Time-outs may end while other tasks can run.
if begin "early time-outs: the same executions with leases and without"; then
	script sleeps <<-'END'
		#!/bin/sh
		(for i in 1 2 3; do echo $i; done; sleep 0.1; echo 4) | (while read -r l; do [ -e /tmp ]; done) &
		(sleep 0.2; cat /etc/hostname) >/dev/null &
		for i in 1 2 3 4 5; do [ -d /etc ]; [ -e /nowhere ]; done
		wait
	END
	same ./sleeps random --executions 4 --no-races --timeouts explore
	[ "$(rate always)" -gt 90 ] || note "without leases: $(share always)"
	[ "$(rate unknown)" -lt 60 ] || note "with leases: $(share unknown)"
	same ./sleeps pct --executions 3 --no-races --timeouts explore
	same "$programs/late-answer" pos --executions 10 --timeouts explore
	same "$programs/log-buffer" portfolio --executions 12
	same "$programs/timeout-disarm" random --executions 10 --timeouts explore
	end
fi
for strategy in "${strategies[@]}"; do
	[ "${LONG:-}" ] || continue
	begin "system calls, with leases and without: $strategy" || continue
	scripts
	for program in ./pipeline ./files ./sockets "$programs"/*.sh; do
		same "$program" "$strategy" --executions 15
		echo "# ${program##*/}, $strategy: $(share always) -> $(share unknown)"
	done
	end
done
for strategy in "${strategies[@]}"; do
	[ "${LONG:-}" ] || continue
	begin "all planted programs, with leases and without: $strategy" || continue
	for program in "$programs"/*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		same "$program" "$strategy" --executions 25
		echo "# ${program##*/}, $strategy: $(share always) -> $(share unknown)"
	done
	end
done

# asks_less PERCENT STRATEGY...: of the points of two tasks
asks_less()
{
	local most=$1 strategy

	shift
	for strategy; do
		searched unknown "$programs/bench/two-threads-50-points" "$strategy" --executions 20 --no-races
		[ "$(rate unknown)" -lt "$most" ] || note "$strategy: $(share unknown)"
	done
}

if begin "few points of two tasks are asked about"; then
	asks_less 21 pct preemption delay
	end
fi

# What is found out in it, such as how many steps a test needs, makes no search begin anew.
if begin "the schedule of the first look is none of the search again"; then
	searched unknown "$programs/bench/two-threads-50-points" portfolio --executions 7
	sed 's/.*hash \([0-9a-f]*\).*/\1/' "$dir/unknown.runs" >"$dir/hashes"
	[ "$(grep -c "$(head -n 1 "$dir/hashes")" "$dir/hashes")" = 1 ] || note "$(cat "$dir/unknown.runs")"
	end
fi

if begin "a random walk goes from task to task without a question"; then
	asks_less 30 random urw
	end
fi

if begin "what no other task can see is passed, and is no decision"; then
	searched always "$programs/points/own-locks" random --executions 3 --no-races
	searched unknown "$programs/points/own-locks" pos --executions 3 --no-races
	[ "$(rate unknown)" -lt 10 ] || note "two processes with locks of their own: $(share unknown)"
	[ "$(rate always)" -lt 10 ] || note "with --ask always: $(share always)"
	# a handler of the same process could see them
	printf '#!/bin/sh\nexec %s handler\n' "$programs/points/own-locks" | script handled
	searched always ./handled pos --executions 3 --no-races
	[ "$(rate always)" -gt 30 ] || note "two processes with a handler: $(share always)"
	# not the 600 locks and unlocks that a library makes for itself: these are no steps, and leases go on over them
	printf '#!/bin/sh\nexec %s library\n' "$programs/points/own-locks" | script library
	same ./library pos --executions 3 --no-races
	[ "$(awk '{ most = $3 > most ? $3 : most } END { print most + 0 }' always.all)" -lt 100 ] ||
		note "two processes with a handler, in a library: $(share always)"
	end
fi

if begin "priorities of operations, and the order at one object, need few questions"; then
	asks_less 30 pos guided
	asks_less 40 surw
	end
fi

if begin "--profile says why zug was asked; copies do not ask at their start, nor any execution at a good end"; then
	# the first executions are no copies, and learn what calls the system calls
	zug 60 run --profile --strategy random --seed 3 --no-races --executions 40 -- "$programs/lost-increment-fixed"
	want_status 0
	want_out '^  [0-9]+ decisions for which all tasks stood still, [0-9.]+ % of the points:$'
	asked=$(awk '/ the search begins there$/ { b = $1 } / zug has to see before it is made$/ { c = $1 } END { print b + 0, c + 0 }' "$dir/out")
	[ "${asked% *}" -gt 0 ] && [ "${asked% *}" -lt 20 ] && [ "${asked#* }" -lt 20 ] ||
		note "40 executions asked at their beginnings and ends: $asked"
	# locks that nothing has touched before a template is made are there in its copies, but for the first ones
	zug 60 run --profile --strategy random --seed 3 --no-races --executions 40 -- "$programs/points/untouched-locks"
	want_status 0
	want_out ' began as copies of a process'
	asked=$(awk '/ the memory of the operation cannot be read$/ { n = $1 } END { print n + 0 }' "$dir/out")
	[ "$asked" -lt 20 ] || note "40 executions asked $asked times at locks that could not be read"
	end
fi

if begin "a replay stops where another task goes on, and ends as it did"; then
	zug 60 run -q --strategy random --seed 2 --executions 50 -o traces -- "$programs/lost-increment"
	want_status 1
	trace=$(kept_trace traces)
	zug 60 replay -n 5 "$trace"
	want_status 1
	want_out 'replayed 5 of 5 times exactly'
	end
fi

if begin "a replay of system calls does not ask about all of them"; then
	zug 60 run -q --seed 1 --executions 60 --verify 0 --no-minimize -o calls -- "$programs/script-lost-update.sh"
	want_status 1
	zug 60 replay --profile "$(kept_trace calls)"
	want_status 1
	points=$(sed -n 's/.* each, \([0-9]*\) points, .*/\1/p' "$dir/out" "$dir/err" | head -n 1)
	asked=$(sed -n 's/.* points, \([0-9]*\)[.0-9]* questions.*/\1/p' "$dir/out" "$dir/err" | head -n 1)
	# 90 of 126: what bash does that no other task sees is no point, and most files that are left are named here first.
	[ $((5 * ${asked:-10000})) -lt $((4 * ${points:-0})) ] || note "$asked questions at ${points:-no} points"
	end
fi

if begin "a replay does not ask where a task yields and no other can run"; then
	zug 60 run -q --strategy random --seed 2 --verify 0 --no-minimize --executions 40 -o alone -- "$programs/gave-up"
	want_status 1
	zug 60 replay --profile "$(kept_trace alone)"
	want_status 1
	# of some 10,000 points; 12 here, and more where zug is slow (132 with a sanitizer) and its events have to wait
	asked=$(sed -n 's/.* points, \([0-9]*\)[.0-9]* questions.*/\1/p' "$dir/out" "$dir/err" | head -n 1)
	[ "${asked:-10000}" -lt 500 ] || note "$asked questions"
	end
fi
if begin "a replay does not ask about locks that no other task can see"; then
	zug 60 run -q --executions 1 --expect-exit 9 --verify 0 --no-minimize -o unseen -- "$programs/points/own-locks"
	want_status 1
	zug 60 replay --profile "$(kept_trace unseen)"
	want_status 1
	read -r stops asked < <(sed -n 's/.* each, \([0-9]*\) points, \([0-9]*\)[.0-9]* questions.*/\1 \2/p' "$dir/out" "$dir/err")
	# 300 and more locks, and as many unlocks
	[ $((10 * ${asked:-10000})) -lt "${stops:-0}" ] || note "$asked questions at ${stops:-no} points"
	end
fi
if begin "it is known what a task goes on with that fell asleep while it was alone"; then
	for search in reversal/1 guided/4; do
		zug 60 run --strategy "${search%/*}" --seed "${search#*/}" --executions 12 -o alone -- "$programs/fixtures/gate"
		want_status 0
		grep -q 'given up' "$dir/out" "$dir/err" && note "$search: $(said)"
	done
	end
fi
finish

#!/bin/bash
# The first executions find data races: they are reported, and their places become points of the search.
# Takes 50 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

use_daemon
if begin "a block that is freed while another task reads it, where nothing fails"; then
	zug 120 run -q --executions 100 -o traces -- "$programs/freed-job" quiet
	want_status 1
	want_out '^data-race: use after free of struct job.priority: T[01] is about to (read|free) it in (works|cancel) \(freed-job.c:[0-9]+\), T[01] to (read|free) it in '
	want_out '^replayed: 1 of 1 times the same'
	zug 60 replay -q -n 3 "$(kept_trace)"
	want_status 1
	want_out 'replayed 3 of 3 times exactly .*: data-race: use after free of struct job.priority'
	echo 'race:*priority' >suppressions
	zug 120 run -q --executions 40 --suppressions suppressions -o traces -- "$programs/freed-job" quiet
	want_status 0
	end
fi
if begin "a lock that is freed while another task is about to take it"; then
	zug 120 run -q --executions 100 -o traces -- "$programs/points/freed-lock"
	want_status 1
	want_out '^data-race: use after free of mutex #0 of T0: T[01] is about to (use it in pays|free it in main) \(freed-lock.c:[0-9]+\), T'
	zug 120 run -q --executions 100 -o traces -- "$programs/points/freed-lock" mapped
	want_status 1
	want_out '^(data-race: use after free of mutex #0 of T0|killed by SIGSEGV)'
	end
fi
if begin "a list behind a pointer, without an option"; then
	zug 120 run -q --no-minimize --executions 200 --strategy preemption:bound=2 -o traces -- "$programs/heap-list"
	want_status 1
	want_out '^added points where no synchronisation was seen between accesses: (memory|struct (list.head|node.next)) in push \(heap-list.c:[0-9]+\)$'
	want_out '^replayed: 1 of 1 times the same'
	zug 60 replay -q -n 3 "$(kept_trace)"
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	want_nothing_left
	end
fi
# config.level, the result on main's stack; config.started and config.hits look harmless; the rest is ordered.
if begin "races are warnings"; then
	zug 120 run -q --executions 20 --json result.json --junit result.xml -o traces -- "$programs/points/unordered"
	want_status 0
	want_out '^2 data races \(a warning; --fail-on-race makes it a finding\):$'
	want_out '^data-race: config.level: T[12] is about to write it in set_level \(unordered.c:[0-9]+\), T[12] to '
	want_out '^T1 \(unordered\): races: about to data-(read|write) config.level$'
	want_out '^T2 \(unordered\): races: about to data-write config.level$'
	want_out ' set_level (.*/)?unordered.c:[0-9]+$'
	want_out ' worker (.*/)?unordered.c:[0-9]+$'
	want_out ' it in give_result '
	want_out '^2 data races that look harmless:$'
	want_out '^  config.started: .* \(both store the same value\)$'
	want_out '^  config.hits: .* \(it is only ever added to, and was not read\)$'
	[ "$(grep -c '^ *its trace: ' "$dir/out")" = 4 ] || note "$(grep -c 'its trace: ' "$dir/out") traces"
	grep -qE 'locked_total|payload|published' "$dir/out" && note "$(grep -E 'locked_total|payload|published' "$dir/out")"
	[ "$(grep -c '"kind":"race"' result.json)" = 2 ] && grep -q '"kind":"same-value"' result.json &&
		grep -q '"kind":"counter"' result.json || note "$(grep -A3 kind result.json)"
	grep -q 'data-race: config.level' result.xml || note "nothing in result.xml"
	zug 60 replay -q -n 3 traces/unordered.race.1.trace
	want_status 1
	want_out 'replayed 3 of 3 times exactly .*: data-race: config'
	zug 60 show traces/unordered.race.1.trace
	want_out '^outcome +data-race: config'
	want_out '^T1 .*races: about to data-'
	want_nothing_left
	end
fi
# Half of a word, members of what is copied: by an instruction, rep movs, memcpy(), memset(), strcpy().
if begin "accesses that overlap"; then
	zug 120 run -q --executions 24 -o traces -- "$programs/points/overlap"
	want_status 0
	want_out '^6 data races \(a warning'
	while read -r data part whole; do
		want_out "^(data-race:)? +$data: .*($part .*$whole|$whole .*$part) "
	done <<-'END'
	word.whole\+0x4 write_half read_whole
	four.c write_member copy_four
	repeated\[3\].b write_repeated copy_repeated
	copied\[33\].d write_copied copy_all
	filled\[50\].a read_filled fill_all
	name\[4\] read_letter set_name
	END
	end
fi
if begin "races are findings, with --fail-on-race"; then
	zug 120 run -q --fail-on-race --keep-going --executions 20 -o traces -- "$programs/points/unordered"
	want_status 1
	want_out '^found in execution [0-9]+, after .*: data-race$'
	want_out '^2 distinct failures in '
	want_out '^2 data races that look harmless:$'
	want_out '^replayed: 1 of 1 times the same failure'
	zug 60 run -q --fail-on-race --no-races -- "$programs/points/unordered"
	want_status 2
	want_err '--fail-on-race cannot be combined with --no-races'
	end
fi
if begin "suppressions"; then
	printf '# ours\nrace:config.level\n race:count_hit \n\nrace:unordered.c\nrace:nobody*\n' >list
	zug 120 run -q --fail-on-race --suppressions list --executions 20 -o traces -- "$programs/points/unordered"
	want_status 0
	want_out '^4 data races suppressed \(--suppressions\)$'
	want_out '^suppression race:nobody\*: matched no data race$'
	! grep -q '^suppression race:config.level' "$dir/out" || note "config.level was not matched"
	echo 'thread:main' >bad
	zug 60 run -q --suppressions bad -o traces -- "$programs/points/unordered"
	want_status 2
	want_err "bad: line 1: 'thread:main' is not race:GLOB"
	zug 60 run -q --suppressions none -o traces -- "$programs/points/unordered"
	want_status 2
	want_err 'suppressions none: No such file'
	end
fi
if begin "no race scan with --no-races"; then
	zug 60 run -q --no-races --executions 3 -o traces -- "$programs/points/unordered"
	want_status 0
	! grep -qE '^added points|data race' "$dir/out" || note "$(grep -E '^added points|data race' "$dir/out")"
	end
fi
# Without the sources an atomic load, or store, looks like a plain one: both become points, and only one of them is a bug.
if begin "sources that are elsewhere"; then
	missing='^1 source file of elsewhere(-fixed)? not found \(/no/such/folder/programs/points/elsewhere.c\): .*; start zug in '
	zug 60 run -q --no-minimize --executions 100 -o traces -- "$programs/points/elsewhere"
	want_status 1
	want_out '^found in execution .*: abort$'
	want_out "$missing"
	# the address of the program also decides which two accesses meet
	for seed in 1 2 3 4 5 6; do
		zug 60 run -q --seed $seed --fail-on-race --executions 12 -o traces -- "$programs/points/elsewhere-fixed"
		want_status 0
		! grep -Eq "^[12] possible data races?" out || break
	done
	want_out '^[12] possible data races? \(none, if both accesses are atomic, '
	want_out '^  struct account.ready: .* is about to (read|write) it in add \(elsewhere.c:3[01]\)'
	want_out "$missing"
	! grep -qE '^[0-9]+ data race' "$dir/out" || note "$(grep -A9 -E '^[0-9]+ data race' "$dir/out")"
	end
fi
# Programs whose accesses are ordered by mutexes, conditions, barriers, semaphores, once, rwlocks, atomics, raw futexes,
# OpenMP, pipes, files, signals, joining or fork: none is under suspicion.
for twin in aba-stack barrier-reuse bounded-queue c11-threads callback-delete chase-lev \
	fork-with-lock freed-job futex-mutex handler-lock heap-list if-for-while lost-sigchld member-order \
	mixed-increment once-misuse openmp-reduction peterson-atomic pipe-deadlock refcount-put refcount-zero rwlock-upgrade \
	semaphore-misuse seqlock-writers; do
	begin "no race in $twin-fixed" || continue
	zug 60 run -q --fail-on-race --executions 6 -o traces -- "$programs/$twin-fixed"
	want_status 0
	said='^added points|data race'
	# data that a handler shares with its own task gets points, and is no race
	[[ $twin != @(handler-lock|lost-sigchld) ]] || said='data race'
	! grep -qE "$said" "$dir/out" || note "$(grep -E "$said" "$dir/out")"
	end
done
# 16 looks at first, and one in 16 executions behind these
# A load without its source, of what another task sets by an atomic instruction.
if begin "an atomic load of which nothing is known"; then
	zug 120 run -q --no-minimize --executions 200 -o traces -- "$programs/points/late-flag"
	want_status 1
	want_out '^replayed: 1 of 1 times the same'
	end
fi
if begin "what several tasks access in order is looked at again and again"; then
	zug 60 run -q --seed 1 --executions 300 --list-points -o traces -- "$programs/grace-period-fixed"
	want_status 0
	nr=$(sed -n 's/^ *struct table.low .* data-write *\([0-9]*\) .*never unordered$/\1/p' "$dir/out")
	[ "${nr:-0}" -gt 18 ] || note "looks: $nr"
	end
fi
# no word on their lines says so, and without optimisation their addresses are in registers that no variable has
if begin "no race between elements of arrays that are _Atomic"; then
	zug 60 run -q --fail-on-race --executions 40 -o traces -- "$programs/bakery-fixed"
	want_status 0
	! grep -q 'data race' "$dir/out" || note "$(grep -A9 'data race' "$dir/out")"
	end
fi
finish

#!/bin/bash
# Variables that tasks access without an order of their own are found in the first executions, and watched.
# Takes 15 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

use_daemon
if begin "an unprotected variable, without being asked"; then
	zug 120 run -q --no-minimize --executions 100 -o traces -- "$programs/atomicity-watch"
	want_status 1
	want_out '^watched, for tasks access them in no order that locks, threads or pipes give: counter$'
	want_out '^replayed: 1 of 1 times the same'
	zug 60 replay -q -n 3 "$(kept_trace)"
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	want_nothing_left
	end
fi
if begin "only what the user watches, with --no-races"; then
	zug 60 run -q --no-races --executions 20 -o traces -- "$programs/atomicity-watch"
	want_status 0
	! grep -q '^watched' "$dir/out" || note "$(grep '^watched' "$dir/out")"
	end
fi
# Ordered by a mutex, a condition, a barrier, semaphores, pipes, joining, fork: nobody is suspected.
for twin in atomicity-watch bank-transfer barrier-reuse bounded-queue c11-threads fork-with-lock if-for-while member-order \
	order-violation rwlock-upgrade semaphore-misuse torn-pair; do
	begin "no suspicion in $twin-fixed" || continue
	zug 60 run -q --executions 4 -o traces -- "$programs/$twin-fixed"
	want_status 0
	! grep -q '^watched' "$dir/out" || note "$(grep '^watched' "$dir/out")"
	end
done
finish

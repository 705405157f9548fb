#!/bin/bash
# Programs that use libzug, executed by zug: their points, values and waits are the search's.
# Takes 20 s under emulation.
. "$(dirname "$0")/../lib.sh"
points=$programs/libzug/own-points
use_daemon

# The same bug as alone (tests/tools/libzug), and the correct twin.
if begin "points and resources"; then
	zug 60 run --seed 1 --executions 60 -- "$points" queue
	want_status 1
	want_out 'own-points.c:[0-9]+: consumer: Assertion .items > 0. failed'
	want_out 'T3 \(producer\)'
	zug 30 show zug-out/own-points.1.trace
	want_out 'resource-signal-all not empty +producer own-points.c:[0-9]+'
	zug 30 run --seed 1 --executions 12 -- "$points-fixed" queue
	want_status 0
	end
fi

if begin "a static program without symbols waits for resources"; then
	zug 60 run --seed 1 --executions 60 -- "$programs/libzug/static-points" deadlock
	want_status 1
	want_out '^deadlock: .*T1 waits in resource-wait for (left|right); T2 waits in resource-wait for (left|right)'
	end
fi

if begin "values are chosen by the search, recorded, replayed and pinned"; then
	zug 60 run --seed 1 --executions 100 -- "$points" choice
	want_status 1
	want_out 'T0 does choice \(3\) +choice own-points.c:[0-9]+'
	want_out 'T0 does choice \(1\) +choice own-points.c:[0-9]+'
	zug 60 replay --times 5 zug-out/own-points.1.trace
	want_status 1
	want_out 'replayed 5 of 5 times exactly'
	zug 60 pin zug-out/own-points.1.trace
	want_status 0
	grep -q '^let T0 at choice in choice nth 2 .*get value 1$' zug-out/own-points.1.zug ||
		note "the script does not name the value: $(cat zug-out/*.zug*)"
	zug 60 run --script zug-out/own-points.1.zug -- "$points" choice
	want_status 1
	zug 60 run --strategy dpor -- "$points-fixed" choice
	want_status 0
	want_out '10 distinct schedules in 10 equivalence classes'
	end
fi

if begin "several processes of a test"; then
	zug 60 run --seed 1 --executions 30 -- "$points" processes
	want_status 1
	want_out 'T1 does data-write counter +processes own-points.c:[0-9]+'
	zug 60 run --strategy dpor -- "$points-fixed" processes
	want_status 0
	want_out '^covered: every schedule'
	end
fi

# A condition that is signalled before its waiter waits: zug_pthread.h leaves locks to zug's own probes.
if begin "the calls of zug_pthread.h are the real ones"; then
	zug 60 run --seed 1 --executions 30 -- "$points" locks
	want_status 1
	want_out 'T0 waits in cond-wait for changed'
	end
fi

finish

#!/bin/bash
# --invariant and --discard-if: expressions over the variables of the test.
# Takes 32 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

account=$programs/atomicity-locked-fixed
use_daemon

if begin "an invariant"; then
	zug 60 run -q --executions 30 --invariant 'balance >= 100 && balance <= 130' -o traces -- "$account"
	want_status 0
	# the balance is 110 only after the deposit of 10 and before the other one
	zug 60 run -q --invariant 'lock.__data.__lock || balance != 110' -o traces -- "$account"
	want_status 1
	want_out '^found in execution [0-9]+, after .*: invariant$'
	want_out '^invariant: lock\.__data\.__lock \|\| balance != 110 does not hold after what T[0-9] did: lock\.__data\.__lock = 0, balance = 110$'
	want_out '^replayed: 1 of 1 times the same failure, step for step$'
	zug 60 replay -q -n 2 traces/atomicity-locked-fixed.1.trace
	want_status 1
	want_out 'replayed 2 of 2 times exactly .*: invariant: '
	zug 60 pin -q -o test.zug traces/atomicity-locked-fixed.1.trace
	want_status 0
	grep -q '^option invariant lock.__data.__lock || balance != 110$' test.zug || note "not in the script: $(cat test.zug)"
	end
fi

if begin "in another process"; then
	zug 60 run -q --invariant 'balance < 110' -o traces -- sh -c "$account; true"
	want_status 1
	want_out '^invariant: balance < 110 does not hold after what T[1-9] did: balance = 110$'
	end
fi

if begin "expressions that are refused"; then
	cat >test.c <<-'END'
	#include <pthread.h>
	static const int constant = 3;
	struct list { int value; struct list *next; } *list;
	__thread int own;
	static void *f(void *arg) { int local = constant; return arg + local; }
	int main(void) { pthread_t t; own = 1; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }
	END
	gcc -g -O1 -pthread -o test test.c || note "gcc fails"
	while IFS='|' read -r text message; do
		zug 60 run -q --invariant "$text" -o traces -- ./test
		want_status 2 "$text"
		want_err "$message"
	done <<-'END'
	list->valu|'list' has no member 'valu'
	lists|'lists': no variable 'lists' .*; did you mean list
	constant|'constant' was optimised away
	arg|'arg' is a local variable of f
	own|'own' is thread-local
	list.next|'list' is a pointer: '->' instead of '.'
	*list|'\*list' is a structure: name a member
	list =|'list =': nothing can be assigned to
	END
	# it has no value where the pointer is NULL, and zug says so
	zug 60 run -q --executions 3 --invariant 'list->value > 0' -o traces -- ./test
	want_status 0
	want_out "^--invariant 'list->value > 0' was never looked at: it follows a pointer to no memory$"
	end
fi

if begin "executions that do not count"; then
	zug 60 run -q --executions 10 --discard-if 'balance == 110' -o traces -- "$account"
	want_status 0
	want_out '^[1-9][0-9]* of the executions do not count'
	zug 60 run -q --executions 3 --discard-if exit=77 -o traces -- sh -c 'exit 77'
	want_status 0
	want_out '^3 of the executions do not count'
	zug 60 run -q --executions 3 --discard-if 'output=no .*here' -o traces -- sh -c 'echo no network here; exit 1'
	want_status 0
	want_out 'executions do not count'
	zug 60 run -q --executions 3 --discard-if 'output=no .*here' -o traces -- sh -c 'echo broken; exit 1'
	want_status 1
	printf 'option discard-if exit=77\nbefore T0 at write run T1\n' >test.zug
	zug 60 run -q --script test.zug -o traces -- sh -c 'exit 77'
	want_status 5
	want_out '^test\.zug: no execution of it counts$'
	zug 60 run -q --discard-if exit=x -- true
	want_status 2
	want_err "--discard-if exit=x: not an exit status"
	zug 60 run -q --discard-if 'output=(' -- true
	want_status 2
	end
fi
finish

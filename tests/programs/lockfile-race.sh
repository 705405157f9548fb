#!/bin/bash
# bug: a lock file is tested for and then created, in two steps
# how: worker a finds no lock file and is preempted before it creates one; b finds none either;
#	both are winners where there should be one. Both workers are bash alone, no command.
# outcome: exit 1
# options: --points sync,syscall
# args:
# odds: 1 preemption. Random walk: one worker stays before its creating open while the other passes
#	its test (the test itself is no point): p >= 1/8 with the chance that both live.
#	PCT depth 2, 3 tasks, k <= 300 points (the start of bash and mktemp): p >= 1/900; as only
#	the points after the first fork matter, about 30, rather 1/90.
# executions: 900
# small: no

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

worker()
{
	if [ ! -e lock ] && : > lock; then
		echo "$1" >> winners
	fi
}

worker a &
worker b &
wait
mapfile -t winners < winners
echo "winners: ${winners[*]}"
[ ${#winners[@]} = 1 ]

#!/bin/bash
# Every planted bug of tests/programs is found within the number of executions that its header states, with the outcome
# that it states, and replayed exactly; its corrected twin passes; the small twins are searched to exhaustion.
# Takes 230 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

# Starting zug takes seconds under emulation: the short form replays in the process that found the bug.
if [ "${LONG:-}" ]; then
	seeds=30 may_miss=1 replays=20 twin_executions=300 small='*'
else
	seeds=1 may_miss=0 replays=2 twin_executions=8 small=abba-deadlock
fi
shopt -s extglob
# No execution here lasts until its first blip (8 s), and none may be another one for blips.
export ZUG_DEBUG=blips:10

# The text that `zug run` must print for the outcome of a header.
said_outcome()
{
	case $1 in
	*\ or\ *) echo "($(said_outcome "${1%% or *}"))|($(said_outcome "${1#* or }"))" ;;
	assert) echo ': abort$' ;;
	use-after-free) echo ': data-race$' ;;
	deadlock) echo ': (deadlock|lock-cycle)$' ;;
	livelock) echo ': (livelock|spin)$' ;;
	misuse) echo ': misuse$' ;;
	signal\ *) echo ': signal$' ;;
	exit\ *) echo ': exit$' ;;
	output\ *) echo ': match$' ;;
	*) echo 'no such outcome' ;;
	esac
}

# The text that its message must have.
said_detail()
{
	case $1 in
	*\ or\ *) echo "$(said_detail "${1%% or *}")|$(said_detail "${1#* or }")" ;;
	assert) echo 'Assertion|assertion' ;;
	use-after-free) echo '^data-race: (use after free|double free) of ' ;;
	signal\ *) echo "killed by SIG${1#signal }" ;;
	exit\ *) echo "exit status ${1#exit }" ;;
	output\ *) echo "${1#output }" ;;
	*) echo . ;;
	esac
}

# find_bug SEED: sets $found; notes each difference between the finding and the header.
find_bug()
{
	local trace verify

	found="" verify=1
	[ "$1" != 1 ] || verify=$replays
	zug 180 run -q --no-minimize --timeout 10s "${options[@]}" --seed "$1" --executions "$executions" --verify $verify -o traces -- \
		"$program" "${args[@]}"
	case $rc in
	0) misses="$misses $1" ;;
	1) found=1 ;;
	*) note "seed $1: exit status $rc:"$'\n'"$(said)" ;;
	esac
	[ "$found" ] || return
	head -n 1 "$dir/out" | grep -qE "^found in execution [0-9]+, after .*($(said_outcome "$outcome"))" &&
		grep -qE -- "$(said_detail "$outcome")" "$dir/out" ||
		note "seed $1: found, but not '$outcome': $(head -n 3 "$dir/out")"
	grep -q "^replayed: $verify of $verify times the same" "$dir/out" ||
		note "seed $1: $(grep '^replayed' "$dir/out"; tail -n 3 "$dir/err")"
	# shellcheck disable=SC2053
	if [ "$1" = 1 ] && [[ $bug == $small ]]; then
		trace=$(kept_trace)
		zug 60 replay -q -n 3 "$trace"
		[ $rc = 1 ] && grep -q "replayed 3 of 3 times exactly" "$dir/out" ||
			note "replay of $trace: exit status $rc: $(said 3)"
	fi
}

use_daemon
for source in "$project"/tests/programs/*.{c,cc,sh}; do
	bug=${source##*/}
	case $source in
	*-fixed.sh) continue ;;
	*.sh) program=$programs/$bug twin=$programs/${bug%.sh}-fixed.sh bug=${bug%.sh} ;;
	*) bug=${bug%.*} program=$programs/$bug twin=$programs/$bug-fixed ;;
	esac
	read_header "$source"
	outcome=${header[outcome]} executions=${header[executions]}
	read -ra options <<<"${header[options]:-}"
	read -ra args <<<"${header[args]:-}"

	if begin "$bug found"; then
		misses='' nr_found=0
		for ((seed = 1; seed <= seeds; seed++)); do
			find_bug $seed
			[ -z "$found" ] || nr_found=$((nr_found + 1))
		done
		[ $((seeds - nr_found)) -le $may_miss ] ||
			note "found by $nr_found of $seeds seeds within $executions executions; not by$misses"
		want_nothing_left
		end
	fi
	if begin "$bug twin"; then
		[ $twin_executions -le "$executions" ] && n=$twin_executions || n=$executions
		# A script's execution takes a second.
		[[ $source != *.sh ]] || n=$((n / 3))
		zug 300 run -q --timeout 10s "${options[@]}" --executions "$n" -o traces -- "$twin" "${args[@]}"
		want_status 0
		want_out '^nothing found in [0-9]+ executions'
		want_nothing_left
		end
	fi
	# shellcheck disable=SC2053
	if [ "${header[small]}" = yes ] && [[ $bug == $small ]] && begin "$bug exhausted"; then
		# A second seed makes no difference: the strategy draws no random numbers. (The models show it, too.)
		for seed in 1 ${LONG:+2}; do
			zug 1200 run -q "${options[@]}" --strategy preemption:bound=2 --executions 0 --seed $seed -o traces -- \
				"$twin" "${args[@]}"
			want_status 0
			want_out '^covered: every schedule .*( with up to 2|; none has more than [012]) preemptions?'
			counts[seed]=$(sed -n 's/^nothing found in \([0-9]*\) executions\? .*; \([0-9]*\) distinct.*/\1 \2/p' "$dir/out")
		done
		[ "${counts[1]}" = "${counts[seed]}" ] || note "executions and schedules: ${counts[1]}, then ${counts[2]}"
		end
	fi
done
finish

#!/bin/bash
# Leases: the same seed gives the same executions with them and with --ask always, and fewer points are asked about.
# Takes 20 s under emulation. LONG=1: all planted programs under all strategies.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${LONG:-}" ]; then
	executions=25 list=("$programs"/*)
	strategies=(random random:stick=3 pct pos surw urw guided portfolio preemption delay dfs dpor)
else
	executions=12 list=("$programs"/{lost-increment,if-for-while,lockfile-race.sh,lazy-static})
	strategies=(pct dpor portfolio)
fi

# searched WORD PROGRAM STRATEGY: $dir/WORD.runs gets a line for each execution, $dir/WORD.text the finding.
searched()
{
	ZUG_DEBUG=times zug 120 run -q --keep-going --no-minimize --verify 0 --timeout 10s --seed 3 --ask "$1" \
		--strategy "$3" --executions "$executions" -o "$1" -- "$2"
	grep -a '^execution ' "$dir/err" | sed 's/: launch.*drain [^,]*,/:/' >"$dir/$1.all"
	sed 's/ [0-9]* asked,//' "$dir/$1.all" >"$dir/$1.runs"
	sed 's/, [0-9.]* executions\/s//; s/ after [0-9.]* m\{0,1\}s//; s/\(always\|unknown\)\///' "$dir/out" >"$dir/$1.text"
	[ -s "$dir/$1.runs" ] || note "$2, $3: no executions: $(said)"
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

for strategy in "${strategies[@]}"; do
	if begin "the same executions with leases and without: $strategy"; then
		for program in "${list[@]}"; do
			[ -f "$program" ] && [ -x "$program" ] || continue
			searched always "$program" "$strategy"
			searched unknown "$program" "$strategy"
			cmp -s "$dir/always.runs" "$dir/unknown.runs" ||
				note "${program##*/}: $(diff "$dir/always.runs" "$dir/unknown.runs" | head -n 4)"
			[ -z "${LONG:-}" ] || echo "# ${program##*/}, $strategy: $(share always) -> $(share unknown)"
		done
		end
	fi
done

if begin "few points of two tasks are asked about"; then
	for strategy in pct:steps=50 preemption dpor; do
		searched unknown "$programs/bench/two-threads-50-points" $strategy
		[ "$(rate unknown)" -lt 25 ] || note "$strategy: $(share unknown)"
	done
	end
fi

if begin "a replay stops where another task goes on, and ends as it did"; then
	zug 60 run -q --strategy random --seed 2 --executions 50 -o traces -- "$programs/lost-increment"
	want_status 1
	trace=$(kept_trace traces)
	for ask in unknown always; do
		zug 60 replay -n 3 --ask $ask "$trace"
		want_status 1
		want_out 'replayed 3 of 3 times exactly'
	done
	end
fi
finish

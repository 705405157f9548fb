#!/bin/bash
# Programs in Python: found without options of the interpreter, and told by their own functions and lines. Takes 110 s under
# emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

python=/usr/bin/python3
# without it, or with a version whose memory is not read, there is nothing to try
known=$($python -c 'import sys; print(sys.version_info[:2] in ((3, 11), (3, 13)))' 2>/dev/null)

# An update in two steps, each under the lock.
account()
{
	cat >account.py <<-'end'
		import sys, threading
		class Account:
		    def __init__(self):
		        self.lock = threading.Lock()
		        self.balance = 0
		    def get(self):
		        with self.lock:
		            return self.balance
		    def set(self, value):
		        with self.lock:
		            self.balance = value
		    def add(self, value):
		        with self.lock:
		            self.balance += value
		def deposit(account):
		    if "fixed" in sys.argv:
		        account.add(1)
		    else:
		        account.set(account.get() + 1)
		account = Account()
		print("ready", flush=True)
		threads = [threading.Thread(target=deposit, args=(account,)) for _ in range(2)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		sys.exit(account.balance != 2)
	end
}

if [ "$known" != True ]; then
	echo "# $python is no version that is known"
else
	use_daemon
fi
if [ "$known" = True ] && begin "a race in Python is found, and told by its lines"; then
	account
	for ask in always unknown; do
		simplest=--no-minimize
		[ $ask = always ] || simplest='--minimize-time 8s'
		# shellcheck disable=SC2086
		zug 60 run -q --seed 1 --from-output '^ready' --executions 30 $simplest --ask $ask -o $ask -- $python account.py
		want_status 1
		want_out '^found in execution [0-9]+, '
		sed -n 's/^found in \(execution [0-9]*\).*/\1/p' "$dir/out" >found.$ask
	done
	cmp -s found.unknown found.always || note "with leases: $(cat found.unknown); without: $(cat found.always)"
	want_out ' account\.py:[0-9]+$'
	! grep -qE '^It fails when$' "$dir/out" ||
		want_out '^ +T[0-9] (does .* |goes on at |would do .* |would go on at )[^ ]+ (account|threading)\.py:[0-9]+$'
	zug 60 replay -q -n 2 unknown/*.1.trace
	want_status 1
	want_out 'replayed 2 of 2 times exactly'
	"$zug" show --json unknown/*.1.trace >json
	grep -q '"note":"caller"' json || note "no line in --json"
	# what the interpreter does with its own lock is no step, but for the waits
	"$zug" show --all unknown/*.1.trace >all
	! grep -qE ' (unlock|cond-signal) +GIL' all ||
		note "a step of the interpreter's own: $(grep -m 1 -E ' (unlock|cond-signal) +GIL' all)"
	end
fi

if [ "$known" = True ] && begin "no such race where one step does it"; then
	account
	# what the kernel side finds out of the functions that are executed is what user space finds
	for ask in always unknown; do
		ZUG_DEBUG=times zug 60 run -q --seed 1 --from-output '^ready' --executions 8 --ask $ask -o traces \
			-- $python account.py fixed
		want_status 0
		sed -n 's/^execution \([0-9]*:\).* \([0-9]* steps\), \([0-9]*\) asked\(.*, hash [0-9a-f]*\).*/\3 \1 \2\4/p' \
			"$dir/err" >asked.$ask
		cut -d' ' -f2- asked.$ask >made.$ask
	done
	[ "$(wc -l <made.always)" -ge 8 ] && cmp -s made.always made.unknown ||
		note "with leases: $(paste -sd, made.unknown); without: $(paste -sd, made.always)"
	awk '{ steps[FILENAME] += $3; asked[FILENAME] += $1 }
		END { exit !(asked["asked.always"] < 0.8 * steps["asked.always"] && asked["asked.unknown"] < asked["asked.always"]) }' \
		asked.always asked.unknown || note "asked too often: $(cat asked.*)"
	! grep -q 'steps of an execution are the start of' "$dir/out" || note "an option for a late begin is told: $(said)"
	# the interpreter imports localtime() and others, which the program does not call
	! grep -q '^not tried: switches between calls' "$dir/out" || note "told of the interpreter: $(said)"
	echo 'import threading; l = threading.Lock(); [l.acquire() and l.release() for _ in range(2000)]' >long.py
	zug 60 run --seed 1 --executions 1 --from-start -o traces -- $python long.py
	want_status 0
	want_out '^many of the [0-9]+ steps of an execution are the own ones of python3\.[0-9]+; points in the program alone: --only long\.py; '
	end
fi

if [ "$known" = True ] && begin "without options a search begins at the first task of a Python program"; then
	account
	echo "#!$python" | cat - account.py >account
	# env is left out, and the search begins in what it executes
	echo '#!/usr/bin/env python3' | cat - account.py >by-env
	chmod +x account by-env
	zug 60 run -q --executions 1 --from-start -o traces -- $python account.py fixed
	steps=$(sed -n 's/^nothing found in 1 execution (.* \([0-9]*\) steps.*/\1/p' "$dir/out")
	for command in "$python account.py fixed" './account fixed' './by-env fixed'; do
		PATH=/usr/bin:/bin zug 60 run -q --executions 1 -o traces -- $command
		fewer=$(sed -n 's/^nothing found in 1 execution (.* \([0-9]*\) steps.*/\1/p' "$dir/out")
		[ "${fewer:-0}" -gt 50 ] && [ "$fewer" -lt $((${steps:-0} / 3)) ] ||
			note "$command: $steps steps with its start, $fewer without"
	done
	# until then the interpreter looks whether others want to go on without a trap
	cat >traps.py <<-'end'
		import sys, threading
		def traps():
		    found = 0
		    with open("/proc/self/mem", "rb") as memory, open("/proc/self/maps") as maps:
		        for line in maps:
		            area, rights, at, _, _, *path = line.split()
		            if "x" in rights and path and "python3" in path[0]:
		                begin, end = (int(a, 16) for a in area.split("-"))
		                memory.seek(begin)
		                with open(path[0], "rb") as f:
		                    f.seek(int(at, 16))
		                    found += memory.read(end - begin).count(b"\xcc") - f.read(end - begin).count(b"\xcc")
		    return found
		before = traps()
		t = threading.Thread(target=int)
		t.start()
		t.join()
		after = traps()
		print(before, after)
		sys.exit(after - before < 10)
	end
	zug 60 run -q --executions 10 -o traces -- $python traps.py
	want_status 0
	# a program that makes none is one schedule
	echo 'print(1)' >one.py
	zug 60 run -q -o traces -- $python one.py
	want_status 0
	want_out '^covered: every schedule '
	want_out '^the search began at the first task that it makes'
	zug 60 run -q --from-start --from-call fork -- $python one.py
	want_status 2
	end
fi

# the points of this one are those of a Lock of 3.11
if [ "$($python -c 'import sys; print(sys.version_info[1])' 2>/dev/null)" = 11 ] &&
	begin "points only in a class of Python"; then
	account
	zug 60 run -q --from-output '^ready' --only 'Account.[gs]et' --executions 30 --minimize-time 4s -o traces -- $python account.py
	want_status 1
	want_out ' is stopped (before .* |at )Account\.[gs]et account\.py:[0-9]+$'
	zug 60 replay -q -n 1 traces/*.1.trace
	want_status 1
	want_out 'replayed 1 of 1 times exactly'
	zug 60 run --from-output '^ready' --only 'Account.nothing' --executions 1 -o traces -- $python account.py
	want_status 0
	want_out '^--only Account\.nothing: no function that was executed at a point has that name or source file$'
	# so is a point of the interpreter, in its own function
	zug 60 run --from-output '^ready' --points none --point PyThread_acquire_lock_timed --only threading.py --executions 1 \
		-o traces -- $python account.py
	want_status 0
	! grep -q '^--only' "$dir/out" || note "nobody asked what is executed at that point: $(said)"
	end
fi

if [ "$known" = True ] && begin "threads of Python are switched between two operations of the program"; then
	cat >withdraw.py <<-'end'
		import sys, threading
		balance = 100
		paid = []
		lock = threading.Lock()
		def pay(amount):
		    paid.append(amount)
		def withdraw(amount):
		    global balance
		    if balance >= amount:
		        pay(amount)
		        balance -= amount
		def safely(amount):
		    with lock:
		        withdraw(amount)
		f = safely if "fixed" in sys.argv else withdraw
		threads = [threading.Thread(target=f, args=(60,)) for _ in range(2)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		sys.exit(sum(paid) > 100)
	end
	zug 60 run -q --seed 1 --executions 40 --minimize-time 4s -o traces -- $python withdraw.py
	want_status 1
	want_out ' (goes on|is stopped) at (withdraw|pay|<module>) withdraw\.py:[0-9]+$'
	! grep -qE ' at .* threading\.py:[0-9]+' "$dir/out" ||
		note "a point in the library: $(grep -m 1 ' at .* threading' "$dir/out")"
	! grep -q '^It fails when$' "$dir/out" || want_out '^ +T[12] goes on at (withdraw|pay) withdraw\.py:[0-9]+$'
	! grep -qE ' (does|before) .* GIL' "$dir/out" || note "the lock of the interpreter is told: $(grep -m 1 ' GIL' "$dir/out")"
	# these are the operations whose orders are drawn, among the locks of the library and of the interpreter
	"$zug" show --json traces/*.1.trace | grep -o '"op":"point"[^{}]*' >points
	[ -s points ] && ! grep -qv '"own":true' points ||
		note "a switch of the program's own is not told as such: $(grep -vm 1 '"own":true' points)"
	zug 60 replay -q -n 2 traces/*.1.trace
	want_status 1
	want_out 'replayed 2 of 2 times exactly'
	zug 60 run -q --executions 8 -o traces -- $python withdraw.py fixed
	want_status 0
	end
fi

# The exit status is 0, and no lock, file or wait is between the look and what it was for: a call of the library is.
if [ "$($python -c 'import sys; print(sys.version_info[1])' 2>/dev/null)" = 11 ] &&
   begin "a thread that an exception ends, by a switch where the program calls the library"; then
	cat >uncaught.py <<-'end'
		import sys, threading
		users = ["a"]
		def remove():
		    if users:
		        try:
		            threading.current_thread()
		            users.pop()
		        except IndexError:
		            if "fixed" not in sys.argv:
		                raise
		threads = [threading.Thread(target=remove) for _ in range(2)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
	end
	zug 60 run -q --seed 1 --executions 60 --minimize-time 2s -o traces -- $python uncaught.py
	want_status 1
	want_out '^match: error output: Exception in thread Thread-[12] \(remove\): IndexError: pop from empty list$'
	want_out ' (goes on|is stopped) at remove uncaught\.py:6$'
	! grep -qE ' at .* threading\.py:[0-9]+' "$dir/out" ||
		note "a place in the library: $(grep -m 1 ' at .* threading' "$dir/out")"
	zug 60 run -q --executions 8 -o traces -- $python uncaught.py fixed
	want_status 0
	end
fi

if [ "$known" = True ] && begin "where threads of Python wait"; then
	cat >locks.py <<-'end'
		import os, threading
		first, second = threading.Lock(), threading.Lock()
		null = os.open("/dev/null", os.O_WRONLY)
		def transfer(a, b):
		    with a:
		        os.write(null, b"x")
		        with b:
		            pass
		threads = [threading.Thread(target=transfer, args=pair) for pair in ((first, second), (second, first))]
		print("ready", flush=True)
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
	end
	zug 60 run -q --from-output '^ready' --executions 60 --no-minimize -o traces -- $python locks.py
	want_status 1
	want_out '^deadlock: '
	want_out '^    #[0-9]+ +transfer locks\.py:7$'
	want_out '^    #[0-9]+ +<module> locks\.py:14$'
	end
fi

finish

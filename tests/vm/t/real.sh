#!/bin/bash
# Unmodified programs of Debian run to their end under control, with the same results as without it.
# Takes 30 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

[ "${LONG:-}" ] && executions=20 kilobytes=4096 || executions=1 kilobytes=1024

# same NAME WORK...: runs `bash -c WORK`, which makes the file `result`, without and with control.
same()
{
	local name=$1

	shift
	begin "$name" || return
	cp "$base/input" "$base/lines" .
	command_run 60 bash -c "$1"
	want_status 0 "without control"
	mv result expected || note "no result without control: $(said)"
	# The test itself compares, so that every execution is judged.
	zug 240 run -q --share . --strategy random --executions $executions --timeout 200s -o traces -- \
		bash -c "$1"$'\n''cmp result expected'
	want_status 0
	[ -f result ] || note "no result under control"
	want_nothing_left
	end
}

# Text and data that does not compress, always the same.
awk -v kb=$kilobytes 'BEGIN {
	srand(7)
	for (i = 0; i < kb * 16; i++)
		printf "%08d %.10f %s\n", int(rand() * 1e8), rand(), i % 3 ? "the quick brown fox jumps over it" : "zugzwang"
}' >"$base/input"
head -n 5000 "$base/input" >"$base/lines"

use_daemon
same pigz 'pigz -p 2 -n -c input >packed && pigz -d -c packed | cmp - input && mv packed result'
same pbzip2 'pbzip2 -p2 -b1 -k -c input >packed && pbzip2 -p2 -d -c packed | cmp - input && mv packed result'
same "xz -T2" 'xz -T2 --block-size=256KiB -0 -k -c input >packed && xz -T2 -d -c packed | cmp - input && mv packed result'
same "sort --parallel=2" 'sort --parallel=2 -S 1M input >result'
same "a pipeline of bash" 'cat lines | tr a-z A-Z | grep -v ZUGZWANG | cut -d" " -f1 | sort | uniq -c | tail -n 100 >result'
same "make -j2" '(mkdir -p made && cd made && rm -f * && printf "%s\n" "all: a b c d; cat a b c d >result" "%:; echo \$@ >\$@" >Makefile &&
	make -s -j2 >&2) && mv made/result .'
redis=/usr/bin/redis-check-rdb
if [ -x $redis ]; then
	# Debian installs the server as a link to this binary in another package; its name makes it the server.
	same "redis-server and a client" "exec -a redis-server $redis --port 0 --unixsocket \$PWD/socket --save '' --daemonize no >log & server=\$!
	until [ -S socket ]; do sleep 0.1; done
	for i in 1 2 3 4 5; do redis-cli -s socket incr counter; done >result
	redis-cli -s socket shutdown nosave; wait \$server"
elif begin "redis-server and a client"; then
	end SKIP "redis-tools is not installed"
fi
finish

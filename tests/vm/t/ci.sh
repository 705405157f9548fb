#!/bin/bash
# zug in a build: each case of a test program by itself, results for machines, and other runners around it.
# Takes 46 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
remember

# valid_xml FILE: the machine's Python can parse it.
valid_xml()
{
	/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$1" 2>xml.err ||
		note "$1 is no XML: $(tail -n 1 xml.err)"
}

# in_file REGEX FILE
in_file()
{
	grep -qE -e "$1" "$2" || note "no '$1' in $2:"$'\n'"$(head -n 12 "$2" | cut -c1-300)"
}

if begin "each case of a GoogleTest program"; then
	zug 90 run -q --each-case --executions 15 --junit junit.xml --json results.json -o traces -- "$programs/ci/cases-googletest"
	want_status 1
	want_out '^case 1 of 5: Counter\.KeepsItsSum$'
	want_out '^case 5 of 5: Two/Numbers\.AreSmall/1$'
	want_out '^5 of 5 cases searched: 3 passed, 2 failed, 0 incomplete$'
	valid_xml junit.xml
	in_file '<testsuite name="[^"]*/cases-googletest" tests="5" failures="2" errors="0"' junit.xml
	in_file 'name="Locks\.InTwoOrders" time="[0-9.]+"' junit.xml
	in_file '<failure type="deadlock" message="deadlock: .*T[0-9] waits in lock for a' junit.xml
	in_file '"verdict":"passed"' results.json
	in_file '"outcome":"deadlock"' results.json
	in_file '"trace":"traces/cases-googletest\.[0-9]\.trace"' results.json
	# Its trace is of that case alone.
	trace=$(sed -n 's/.*"trace":"\(.*\)".*/\1/p' results.json | tail -n 1)
	zug 60 replay "$trace"
	want_status 1
	want_nothing_left
	end
fi
if [ "${LONG:-}" ] && begin "each case of a Catch2 program"; then
	zug 90 run -q --each-case --executions 12 --verify 0 --junit junit.xml -o traces -- "$programs/ci/cases-catch2"
	want_status 1
	want_out '^case 2 of 2: a counter \[unlocked\] in \*between\*$'
	want_out '^2 of 2 cases searched: 1 passed, 1 failed, 0 incomplete$'
	valid_xml junit.xml
	end
fi
if begin "no cases"; then
	zug 60 run --each-case -- "$programs/abba-deadlock"
	want_status 2
	want_err 'abba-deadlock does not list its cases as GoogleTest, Catch2 or Rust'
	zug 60 run --each-case --resume state -- "$programs/ci/cases-googletest"
	want_status 2
	want_err 'each-case cannot be combined with --resume'
	end
fi
if begin "results of one search"; then
	zug 60 run -q --executions 3 --junit junit.xml --json results.json -- echo 'a<b'
	want_status 0
	valid_xml junit.xml
	in_file '<testcase classname="echo a&#60;b" name="echo a&#60;b"' junit.xml
	in_file '<system-out>nothing found' junit.xml
	in_file '"exit":0' results.json
	zug 60 run -q --junit junit.xml -- ./none
	want_status 2
	in_file '<error type="usage" .*\./none: No such file' junit.xml
	zug 60 run -q --executions 3 --junit /none/junit.xml -- true
	want_status 3
	want_err '/none/junit.xml: No such file'
	end
fi
if [ "${LONG:-}" ] && begin "results through zugd"; then
	export ZUG_SOCKET=$dir/zugd.sock
	command_run 60 "${zug}d" -q
	zug 90 run -q --each-case --executions 6 --verify 0 --junit junit.xml -o traces -- "$programs/ci/cases-googletest"
	want_status 1
	valid_xml junit.xml
	in_file 'tests="5"' junit.xml
	zug 60 stop
	unset ZUG_SOCKET
	end
fi
if begin "a project with ctest"; then
	cp -r "$project/build/projects/ctest" .
	command_run 90 ctest --test-dir ctest
	want_status 8
	want_out '1/2 Test +#1: locked \.+ +Passed'
	want_out '2/2 Test +#2: unlocked \.+\*+Failed'
	end
fi
if begin "a project with pytest"; then
	export COUNTERS=$project/build/projects/ctest TEST_LAUNCHER="$zug run -q --executions 30 -o traces --"
	command_run 90 /usr/bin/python3 -m pytest -q -p no:cacheprovider "$project/tests/projects/pytest"
	want_status 1
	want_out '1 failed, 1 passed'
	want_out 'FAILED .*test_unlocked'
	unset COUNTERS TEST_LAUNCHER
	end
fi
if begin "a project with cargo"; then
	# Rust is large: with cargo the test is complete; without it, only the command that cargo would run.
	if command -v cargo >/dev/null && [ "${LONG:-}" ]; then
		cp -r "$project/tests/projects/cargo" .
		CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$zug run -q --each-case --executions 100 -o $dir/traces --" \
			command_run 300 cargo test --offline --manifest-path cargo/Cargo.toml --lib
		[ $rc = 101 ] || [ $rc = 1 ] || note "exit status $rc, not cargo's 101 or ours"
		want_out '^case [12] of 2: tests::unlocked$'
		want_out '^2 of 2 cases searched: 1 passed, 1 failed, 0 incomplete$'
	else
		# It answers as Rust's tests do, around a C program.
		cat >tests-of-rust <<-END
			#!/bin/sh
			case " \$* " in
			*' --list '*) printf 'tests::locked: test\\ntests::unlocked: test\\n' ;;
			*' --exact --test-threads=1 tests::locked '*) exec "$programs/atomicity-locked-fixed" ;;
			*' --exact --test-threads=1 tests::unlocked '*) exec "$programs/atomicity-locked" ;;
			*) exit 2 ;;
			esac
		END
		chmod +x tests-of-rust
		zug 90 run -q --each-case --executions 20 --no-minimize -o traces -- ./tests-of-rust
		want_status 1
		want_out '^case 1 of 2: tests::locked$'
		want_out '^2 of 2 cases searched: 1 passed, 1 failed, 0 incomplete$'
	fi
	end
fi
finish

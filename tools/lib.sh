# Shared by the scripts in tools/. Source it after setting `set -u`; $0 names the program in messages.
# shellcheck shell=bash

tools_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_dir=$(dirname "$tools_dir")
program=tools/${0##*/}

note()
{
	printf '%s: %s\n' "$program" "$*" >&2
}

# die MESSAGE...: exits with $DIE_STATUS (default 1).
die()
{
	note "$@"
	exit "${DIE_STATUS:-1}"
}

# The folder of downloads and of what is built from them, shared by all clones of one user.
cache_dir()
{
	if [ -n "${XDG_CACHE_HOME:-}" ]; then
		printf '%s/zugzwang\n' "$XDG_CACHE_HOME"
	elif [ -d "${HOME:-}" ] && [ -w "$HOME" ]; then
		printf '%s/.cache/zugzwang\n' "$HOME"
	else
		printf '%s/build/cache\n' "$project_dir"
	fi
}

# with_lock NAME COMMAND...: runs COMMAND; only one process that uses the cache holds NAME at a time.
with_lock()
{
	local name=$1 fd status
	shift
	mkdir -p "$(cache_dir)" || die "cannot create the cache folder $(cache_dir)"
	exec {fd}>"$(cache_dir)/$name.lock" || die "cannot write to the cache folder $(cache_dir)"
	flock "$fd" || die "cannot lock $(cache_dir)/$name.lock"
	"$@"
	status=$?
	exec {fd}>&-
	return $status
}

need_command()
{
	command -v "$1" >/dev/null || die "$1 is missing: $2"
}

debian_release()
{
	# shellcheck disable=SC1091
	(. /etc/os-release 2>/dev/null && printf '%s' "${VERSION_CODENAME:-}")
}

# --- packages of other suites -------------------------------------------------------------------
# A package of a suite that this machine does not use comes through a private apt state in the cache. This needs no root,
# does not change the machine's own sources, and apt checks signatures as always. Its only source has the address and the
# key of the machine's own Debian source.

# debian_source: prints "URI KEYFILE" of the machine's main Debian archive.
debian_source()
{
	local file uri='' key=''
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		read -r uri key < <(awk '
			function flush() { if (uri ~ /debian\/?$/ && suites !~ /security/) { print uri, key; exit } uri = key = suites = "" }
			/^#/ { next }
			/^[ \t]*$/ { flush() }
			tolower($1) == "uris:" { uri = $2 }
			tolower($1) == "suites:" { suites = $0 }
			tolower($1) == "signed-by:" { key = $2 }
			END { flush() }' "$file") && [ -n "$uri" ] && break
	done
	if [ -z "$uri" ]; then
		uri=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z+]+:\/\/.*debian\/?$/) { print $i; exit } }' \
			/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null)
	fi
	[ -n "$uri" ] || die "no Debian archive in /etc/apt: cannot tell where packages come from; this needs Debian 12 or 13"
	[ -f "$key" ] || key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -f "$key" ] || die "no key ring $key to verify packages with: install debian-archive-keyring"
	printf '%s %s\n' "$uri" "$key"
}

# apt_suite SUITE COMMAND...: runs an apt tool on the private state of SUITE (binary and source packages).
apt_suite()
{
	local suite=$1 state
	shift
	state=$(cache_dir)/apt/$suite
	"$1" -q -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::State::status=/var/lib/dpkg/status \
		-o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/sources" \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=true "${@:2}"
}

# apt_suite_update SUITE TYPES: refreshes the package lists of SUITE (TYPES: deb, deb-src, or both).
apt_suite_update()
{
	local suite=$1 types=$2 state uri key log
	state=$(cache_dir)/apt/$suite
	log=$state/update.log
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/sources" || die "cannot write to $state"
	read -r uri key < <(debian_source)
	[ -n "$uri" ] || exit 1
	printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: amd64\nSigned-By: %s\n' \
		"$types" "$uri" "$suite" "$key" >"$state/sources/suite.sources"
	if ! apt_suite "$suite" apt-get update -o APT::Update::Error-Mode=any >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		die "cannot fetch the package lists of $suite from $uri (log: $log): is there a network?"
	fi
}

# apt_suite_download SUITE PACKAGE[=VERSION] DIR: downloads and verifies a binary package, unpacks it into DIR.
apt_suite_download()
{
	local suite=$1 package=$2 dir=$3 tmp
	tmp=$(mktemp -d "$(cache_dir)/download.XXXXXX") || die "cannot write to the cache folder $(cache_dir)"
	if ! (cd "$tmp" && apt_suite "$suite" apt-get download "$package" >log 2>&1); then
		tail -n 5 "$tmp/log" >&2
		rm -rf "$tmp"
		die "cannot download $package of $suite"
	fi
	mkdir -p "$dir" && dpkg-deb -x "$tmp"/*.deb "$dir" || { rm -rf "$tmp"; die "cannot unpack $package into $dir"; }
	rm -rf "$tmp"
}

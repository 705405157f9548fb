"""Tests of two programs, which they start through $TEST_LAUNCHER; of the second an update can get lost."""
import os
import shlex
import subprocess

launcher = shlex.split(os.environ.get("TEST_LAUNCHER", ""))
programs = os.environ.get("COUNTERS", ".")


def test_locked():
    subprocess.run([*launcher, programs + "/locked"], check=True)


def test_unlocked():
    subprocess.run([*launcher, programs + "/unlocked"], check=True)

#!/bin/sh
# Prints the Go build tags that suit this machine, as one line for -tags:
#
#   extlib,pkgconfig   the system's libx264, which has its assembly; without it
#                      the bundled C is built, which needs about three times as
#                      long for a picture
#
# An empty line means the bare build, which needs Go and a C compiler only.
# Notes about what is missing go to stderr, unless QUIET=1.
set -eu

note() {
    [ -n "${QUIET:-}" ] || echo "note: $*" >&2
}

tags=""
# The parameter block of the Go binding is laid out for x264 build 164 alone.
version=$(pkg-config --modversion x264 2>/dev/null || true)
case "$version" in
0.164.*) tags="extlib,pkgconfig" ;;
"") note "no libx264-dev: building the bundled x264, which encodes slowly" ;;
*) note "libx264 $version is not build 164: building the bundled x264, which encodes slowly" ;;
esac

echo "$tags"

#!/bin/sh
# Installs the system packages that nearglass is missing, and only those.
#
#   packages.sh run     to build and run the host
#   packages.sh test    what the tests need besides: a browser, an X server, ...
#   packages.sh bench   and the servers that the benches measure beside ours
#
# It asks first, except as root, in CI (CI is set) or with YES=1. It knows apt;
# on other systems it says what to install and leaves the rest to you.
set -euf # -f: a ? in the tables below is no pattern

# One line a need: the package (or alternatives, first choice first, for
# systems that name it differently), then the programs that show that it is
# there already (any of them will do). Without programs dpkg is asked. A "?"
# before the package means that a build without it works, only slower.
run_needs='
gcc                         cc gcc clang
libc6-dev
pkg-config|pkgconf          pkg-config
make                        make
?libx264-dev
'
test_needs='
git                         git
chromium|chromium-browser   chromium chromium-browser google-chrome google-chrome-stable
xvfb                        Xvfb
xterm                       xterm
x11-utils                   xprop
x11-xserver-utils           xrandr
x11-apps                    xclock
xdotool                     xdotool
openbox                     openbox
ffmpeg                      ffmpeg
nodejs                      node
npm                         npm
firefox-esr|firefox         firefox-esr firefox
xfonts-base
fonts-dejavu-core
iproute2                    ip
iptables                    iptables
'
bench_needs='
tigervnc-scraping-server    X0tigervnc
x11vnc                      x11vnc
websockify                  websockify
novnc
'

case "${1:-}" in
run) needs=$run_needs ;;
test) needs=$run_needs$test_needs ;;
bench) needs=$run_needs$test_needs$bench_needs ;;
*) echo "usage: packages.sh run|test|bench" >&2 && exit 2 ;;
esac

# have PACKAGE PROGRAM... says whether the need is met.
have() {
    package=$1
    shift
    for program; do
        command -v "$program" >/dev/null 2>&1 && return 0
    done
    [ $# -eq 0 ] || return 1
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ]
}

# available PACKAGE says whether apt could install it now.
available() {
    apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

# missing prints a line for each need that is not met, as it stands above.
missing() {
    echo "$needs" | while read -r names programs; do
        [ -n "$names" ] || continue
        met=no
        for name in $(echo "${names#\?}" | tr '|' ' '); do
            # shellcheck disable=SC2086 # programs is a list
            if have "$name" $programs; then met=yes; fi
        done
        [ $met = yes ] || echo "$names $programs"
    done
}

# choose prints the package to install for each missing need.
choose() {
    missing | while read -r names programs; do
        chosen=""
        for name in $(echo "${names#\?}" | tr '|' ' '); do
            if [ -z "$chosen" ] && available "$name"; then chosen=$name; fi
        done
        case "$chosen$names" in
        \?*) echo "note: no package ${names#\?} here; the build does without it, only slower" >&2 ;;
        "$names") echo "$names" | cut -d'|' -f1 ;;
        *) echo "$chosen" ;;
        esac
    done
}

wanted=$(missing | cut -d' ' -f1)
if [ -z "$wanted" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "This script only knows apt. Install what these Debian packages hold, then go on" >&2
    echo "(those with a ? are optional, | separates names of the same thing):" >&2
    echo "$wanted" | sed 's/^/  /' >&2
    # Only optional needs are missing: the build goes on.
    echo "$wanted" | grep -qv '^?' && exit 1
    exit 0
fi

as_root=""
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    if ! command -v sudo >/dev/null 2>&1; then
        echo "These packages are missing and there is no sudo; install them as root:" >&2
        echo "  apt-get install --no-install-recommends $(choose | tr '\n' ' ')" >&2
        exit 1
    fi
    if [ -z "${CI:-}" ] && [ "${YES:-}" != 1 ]; then
        printf 'nearglass needs packages that are missing here:\n%s\nInstall them with apt-get? [Y/n] ' \
            "$(echo "$wanted" | sed 's/^/  /')"
        read -r answer || answer=n
        case "$answer" in
        "" | [Yy]*) ;;
        *) echo "Nothing was installed." >&2 && exit 1 ;;
        esac
    fi
fi

# apt runs apt-get with patience for another apt at work and a broken mirror.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive timeout 600 apt-get \
        -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# The lists are fetched only when they cannot answer for what is wanted.
for names in $wanted; do
    found=no
    for name in $(echo "${names#\?}" | tr '|' ' '); do
        if available "$name"; then found=yes; fi
    done
    if [ $found = no ]; then
        echo "+ apt-get update"
        apt update
        break
    fi
done
packages=$(choose | tr '\n' ' ')
if [ -n "$packages" ]; then
    echo "+ apt-get install --no-install-recommends $packages"
    # shellcheck disable=SC2086 # packages is a list
    apt install --no-install-recommends $packages || {
        # Lists that are out of date name packages that the mirror has dropped.
        echo "+ apt-get update, and once more"
        apt update
        apt install --no-install-recommends $packages
    }
fi

#!/bin/sh
# Makes the checkout ready to run: system libraries first, then .venv with the locked dependencies and Thalweg itself.
# Usage: ./setup.sh render | window | test    (what it shall be ready for; `make` calls it)
set -eu
cd "$(dirname "$0")"

purpose=${1:-window}
venv=.venv
# What running needs, or that and what tests need, in the same versions.
lock=requirements.lock
[ "$purpose" != test ] || lock=requirements-test.lock
# Its presence means that the installation went through to the end.
stamp=$venv/installed

stop() {
    printf '%s\n' "" "$@" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        # Run rather than looked up: a version manager's shim is on the PATH also for versions that are not installed.
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    stop "Thalweg needs Python 3.11, 3.12, 3.13 or 3.14, and there is none among: ${PYTHON:-python3, python3.11 to python3.14}." \
        "Install one, or name one: make run PYTHON=/path/to/python3"
}

# One line for each thing that is missing: its Debian package, and what it is.
missing_from_system() {
    "$1" - "$purpose" <<'PYTHON'
import ctypes
import importlib.util
import shutil
import sys

purpose = sys.argv[1]
libraries = {"libgomp1": "libgomp.so.1", "libegl1": "libEGL.so.1", "libgl1": "libGL.so.1"}
commands = {}
if purpose in ("window", "test"):
    # GLFW opens these by name when it makes a window, so no package manager knows that it needs them.
    libraries |= {
        "libx11-6": "libX11.so.6",
        "libxcursor1": "libXcursor.so.1",
        "libxi6": "libXi.so.6",
        "libxinerama1": "libXinerama.so.1",
        "libxrandr2": "libXrandr.so.2",
    }
if purpose == "test":
    commands = {"xvfb": "xvfb-run", "xauth": "xauth", "xdotool": "xdotool"}

if importlib.util.find_spec("ensurepip") is None:
    print(f"python3.{sys.version_info.minor}-venv the Python module ensurepip")
if sys.platform == "linux":
    for package, library in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            print(package, library)
    for package, command in commands.items():
        if shutil.which(command) is None:
            print(package, command)
PYTHON
}

install_from_system() {
    packages=$(printf '%s\n' "$1" | cut -d ' ' -f 1 | tr '\n' ' ')
    packages=${packages% }
    things=$(printf '%s\n' "$1" | cut -d ' ' -f 2- | tr '\n' ',' | sed 's/,$//; s/,/, /g')

    if ! command -v apt-get >/dev/null; then
        # Elsewhere the names differ, and a library may be found in ways that are not known here, so this does not stop.
        echo "Not found on this system, and Thalweg may not work without: $things" >&2
        return
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root="env"
    elif sudo -n true 2>/dev/null; then
        as_root="sudo env"
    else
        stop "Thalweg needs system packages that are not installed. Type this, then the same make command again:" \
            "    sudo apt-get update && sudo apt-get install --no-install-recommends $packages"
    fi

    echo "Installing system packages: $packages"
    apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"
    # The package lists are fetched only if those at hand are absent or out of date.
    # shellcheck disable=SC2086
    $apt install --yes --no-install-recommends $packages >/dev/null 2>&1 </dev/null ||
        { $apt update && $apt install --yes --no-install-recommends $packages >/dev/null; } </dev/null ||
        stop "The system packages could not be installed. Type this to see why:" \
            "    apt-get update && apt-get install --no-install-recommends $packages"
}

# What an installed .venv stays good for: this folder (its scripts hold the path) and its own Python, if that still runs.
home_of_venv() {
    "$venv/bin/python" -c 'import sys; print(sys.prefix, sys.version)' 2>/dev/null | tr -d '\n'
}

stamp_of() {
    echo "$(home_of_venv) $(cat "$1" pyproject.toml | cksum)"
}

# What is installed for tests is good for running, too.
installed_as_locked() {
    [ -f "$stamp" ] || return 1
    installed=$(cat "$stamp")
    [ "$installed" = "$(stamp_of "$lock")" ] || [ "$installed" = "$(stamp_of requirements-test.lock)" ]
}

install_into_venv() {
    case "$(cat "$stamp" 2>/dev/null)" in
        "$(home_of_venv) "*) rm "$stamp" ;;  # sound, only out of date
        *) rm -rf "$venv" && "$1" -m venv "$venv" ;;
    esac
    pip="$venv/bin/python -m pip --disable-pip-version-check install"
    # Where these two have no wheel, one clear line is better than the errors of an hour's compilation.
    $pip --only-binary llvmlite,imgui-bundle --require-hashes -r "$lock"
    $pip --quiet --no-deps --no-build-isolation --editable .
    "$venv/bin/python" -c 'import imgui_bundle, moderngl, numba'
    stamp_of "$lock" >"$stamp"
}

python=$(find_python)
missing=$(missing_from_system "$python")
[ -z "$missing" ] || install_from_system "$missing"
installed_as_locked || install_into_venv "$python"

#!/bin/sh
# Installs Backstory for one user, from the archive of a release, after checking its digest.
#
#     curl --proto '=https' --tlsv1.2 -fsSL https://raw.githubusercontent.com/backstory-sessions/backstory/main/install.sh | sh
#     sh install.sh --uninstall
#
# BACKSTORY_VERSION   the release to install, such as 0.1.0 [default: the newest]
# BACKSTORY_PREFIX    where to put bin/ and share/ [default: ~/.local]
# BACKSTORY_DOWNLOADS the address of a folder with the archives and SHA256SUMS [default: the release on GitHub]
set -eu

releases=https://github.com/backstory-sessions/backstory/releases
prefix=${BACKSTORY_PREFIX:-$HOME/.local}
list=$prefix/share/doc/backstory/INSTALLED-FILES

# All of it is read before any of it is run: a download that breaks off does nothing.
main() {
    case "${1:-}" in
        --uninstall) uninstall ;;
        "") install ;;
        *) give_up "there is no option $1; the first lines of this script say what there is" ;;
    esac
}

install() {
    target=$(target)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    downloads=${BACKSTORY_DOWNLOADS:-$(address)}
    download "$downloads/SHA256SUMS" "$scratch/SHA256SUMS"
    archive=$(sed -n "s/^[0-9a-f]\{64\}  \(backstory-[0-9][^/]*-$target\.tar\.gz\)\$/\1/p" "$scratch/SHA256SUMS")
    [ -n "$archive" ] || give_up "the release at $downloads has no archive for $target"
    download "$downloads/$archive" "$scratch/$archive"
    (cd "$scratch" && grep "  $archive\$" SHA256SUMS | digests -c -) >/dev/null 2>&1 ||
        give_up "$archive is not the file that SHA256SUMS lists; nothing was installed. Try again, and report it if it stays so"
    tar -xzf "$scratch/$archive" -C "$scratch"
    folder=$scratch/${archive%.tar.gz}
    "$folder/bin/backstory" --version >/dev/null || give_up "the program does not start on this machine; nothing was installed"
    [ ! -e "$list" ] || uninstall >/dev/null
    put "$folder"
    echo "Installed $("$prefix/bin/backstory" --version) as $prefix/bin/backstory."
    case ":$PATH:" in
        *":$prefix/bin:"*) echo "Try it: backstory search --demo \"token refresh\"" ;;
        *) echo "Add $prefix/bin to your PATH, then try: backstory search --demo \"token refresh\"" ;;
    esac
}

# put <folder>: copies its files below the prefix, and lists them.
put() {
    mkdir -p "$(dirname "$list")"
    (cd "$1" && find bin share -type f | sort) >"$scratch/files"
    while read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that is running cannot be written, but another can take its name.
        cp "$1/$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    done <"$scratch/files"
    cp "$scratch/files" "$list"
}

# Removes the files that were installed, and the folders that are empty without them.
uninstall() {
    [ -e "$list" ] || give_up "there is no installation of this script's in $prefix"
    installed=$(cat "$list")
    for file in $installed; do
        rm -f "$prefix/$file"
    done
    rm -f "$list"
    for file in $installed; do
        emptied=$prefix/$(dirname "$file")
        while [ "$emptied" != "$prefix" ] && rmdir "$emptied" 2>/dev/null; do
            emptied=$(dirname "$emptied")
        done
    done
    echo "Removed Backstory from $prefix. Its state is still in ${BACKSTORY_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/backstory}."
}

target() {
    case "$(uname -sm)" in
        "Linux x86_64") linux x86_64 ;;
        "Linux aarch64" | "Linux arm64") linux aarch64 ;;
        "Darwin x86_64") echo x86_64-apple-darwin ;;
        "Darwin arm64") echo aarch64-apple-darwin ;;
        *) give_up "there is no build for $(uname -sm). With Rust and a C compiler: cargo install --locked --git https://github.com/backstory-sessions/backstory backstory-cli" ;;
    esac
}

linux() {
    ! ldd --version 2>&1 | grep -qi musl || give_up "the builds for Linux need glibc, which this system does not use"
    echo "$1-unknown-linux-gnu"
}

address() {
    if [ -n "${BACKSTORY_VERSION:-}" ]; then
        echo "$releases/download/v$BACKSTORY_VERSION"
    else
        echo "$releases/latest/download"
    fi
}

# download <address> <file>
download() {
    if command -v curl >/dev/null; then
        curl -fsSL --retry 3 -o "$2" "$1" || give_up "cannot download $1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1" || give_up "cannot download $1"
    else
        give_up "neither curl nor wget is installed; install one of them and run this again"
    fi
}

digests() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

give_up() {
    printf 'install.sh: %s.\n' "$1" >&2
    exit 1
}

main "$@"

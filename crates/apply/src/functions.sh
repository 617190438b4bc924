#!/bin/sh
# A step changes a file only if both files exist, are different files, and have the same bytes. A step that is
# refused or fails is reported by its number on standard error, leaves its files unchanged, and sets the exit
# status to 2.
#
# A script that is killed with SIGKILL can leave a file called .ftk-PROCESS-STEP in the directory of a victim.
# If the victim is missing, this file is the victim: rename it back. Otherwise remove it.
#
# The script works with names. Where another user can change names, that user decides which files it reaches: use
# `ftk dup prune --yes` there.
LC_ALL=C
export LC_ALL
failed=0

ftk_refuse() { # STEP WHY
    printf 'step %s: %s\n' "$1" "$2" >&2
    failed=2
}

ftk_ready() { # STEP KEEPER VICTIM
    if [ -L "$2" ] || [ ! -f "$2" ]; then
        ftk_refuse "$1" 'the keeper is not a regular file'
    elif [ -L "$3" ] || [ ! -f "$3" ]; then
        ftk_refuse "$1" 'the victim is not a regular file'
    elif [ "$2" -ef "$3" ]; then
        ftk_refuse "$1" 'both names lead to the same file'
    elif ! cmp -s "$2" "$3"; then
        ftk_refuse "$1" 'content differs'
    else
        temp=${3%/*}/.ftk-$$-$1
        return 0
    fi
    return 1
}

# Succeeds if the file is on a local file system where device and inode number identify a file: ext2 to ext4,
# XFS, btrfs or tmpfs.
ftk_is_local() { # FILE
    case $(stat -f -c %t "$1" 2>&1) in
    ef53 | 58465342 | 9123683e | 1021994) return 0 ;;
    esac
    return 1
}

# Succeeds if a fresh listing of the directory contains the name.
ftk_listed() { # DIRECTORY/ NAME
    for entry in "$1"* "$1".*; do
        [ "$entry" != "$1$2" ] || return 0
    done
    return 1
}

# Gives a victim its name back.
aside=
ftk_return() {
    [ -n "$aside" ] || return 0
    if [ -e "$victim" ] || [ -L "$victim" ] || ! mv "$aside" "$victim"; then
        printf '%s is now called %s\n' "$victim" "$aside" >&2
        failed=2
    fi
    aside=
}
trap 'ftk_return; exit 2' HUP INT PIPE QUIT TERM

# Proves that the victim is not the keeper under another name. On two local file systems, a new name in the
# victim's directory must not appear in the keeper's directory, and the keeper must still be listed and have
# the same bytes while the victim has another name. On FUSE and network file systems a shell cannot prove it:
# mv copies where they refuse to rename, and a union of directories may remove several files when one name is
# removed.
ftk_apart() { # STEP KEEPER VICTIM
    if ! ftk_is_local "$2" || ! ftk_is_local "$3"; then
        ftk_refuse "$1" 'a script cannot prove here that these are two files: use ftk dup prune --yes'
        return 1
    elif [ "$(stat -c %d "$2")" = "$(stat -c %d "$3")" ]; then
        return 0
    fi
    there=${2%/*}/
    if ! (set -C && : >"$temp") 2>/dev/null; then
        ftk_refuse "$1" 'cannot prove that these are two files: cannot create a file in the directory of the victim'
        return 1
    fi
    if [ -e "$there${temp##*/}" ] || ftk_listed "$there" "${temp##*/}"; then
        rm -f "$temp"
        ftk_refuse "$1" 'both names lead to the same file'
        return 1
    fi
    rm -f "$temp"
    victim=$3
    aside=$temp
    if [ -e "$temp" ] || [ -L "$temp" ] || ! mv "$3" "$temp"; then
        aside=
        ftk_refuse "$1" 'cannot prove that these are two files: cannot rename the victim'
        return 1
    fi
    same=1
    if [ ! -e "$there${temp##*/}" ] && ftk_listed "$there" "${2##*/}" && cmp -s "$2" "$temp"; then
        same=
    fi
    ftk_return
    if [ -n "$same" ]; then
        ftk_refuse "$1" 'both names lead to the same file'
        return 1
    fi
    [ -f "$3" ]
}

ftk_ready_to_go() { # STEP KEEPER VICTIM
    ftk_ready "$1" "$2" "$3" && ftk_apart "$1" "$2" "$3"
}

# Succeeds if at least COUNT of the files are different files with the bytes of the victim.
ftk_need() { # STEP COUNT VICTIM FILE...
    step=$1
    count=$2
    of=$3
    shift 3
    found=0
    for copy; do
        [ ! -L "$copy" ] && [ -f "$copy" ] && [ ! "$copy" -ef "$of" ] && ftk_is_local "$copy" || continue
        for other; do
            [ "$other" != "$copy" ] || break
            [ ! "$other" -ef "$copy" ] || continue 2
        done
        if cmp -s "$copy" "$of"; then
            found=$((found + 1))
            [ "$found" -lt "$count" ] || return 0
        fi
    done
    ftk_refuse "$step" "$found of the $count copies that must stay can be proven"
    return 1
}

ftk_put() { # STEP TEMP VICTIM
    mv -f "$2" "$3" || {
        rm -f "$2"
        ftk_refuse "$1" 'cannot rename the replacement'
    }
}

ftk_hardlink() { # STEP KEEPER VICTIM
    ftk_ready_to_go "$1" "$2" "$3" || return 0
    if ln "$2" "$temp"; then
        ftk_put "$1" "$temp" "$3"
    else
        ftk_refuse "$1" 'cannot link the keeper'
    fi
}

ftk_reflink() { # STEP KEEPER VICTIM
    ftk_ready "$1" "$2" "$3" || return 0
    if cp --reflink=always "$2" "$temp" && cp --attributes-only --preserve=all "$3" "$temp" &&
        cmp -s "$3" "$temp"; then
        ftk_put "$1" "$temp" "$3"
    else
        rm -f "$temp"
        ftk_refuse "$1" 'cannot share blocks'
    fi
}

# Succeeds if no user can change the file or directory except root, the caller and, if that is root, OWNER.
ftk_is_safe() { # PATH OWNER
    me=$(id -u)
    uid=$(stat -c %u "$1") || return 1
    [ "$uid" = 0 ] || [ "$uid" = "$me" ] || { [ "$me" = 0 ] && [ "$uid" = "$2" ]; } || return 1
    mode=$(stat -c %a "$1") || return 1
    case $mode in
    [1357]*[2367]? | [1357]*[2367]) [ -d "$1" ] && [ "${#mode}" -eq 4 ] ;; # a sticky directory
    *[2367]? | *[2367]) return 1 ;;
    esac
}

ftk_symlink() { # STEP KEEPER VICTIM
    ftk_ready_to_go "$1" "$2" "$3" || return 0
    # The letter protects newlines at the end of the name, which $() would remove.
    where=$(cd -P "${2%/*}/" && pwd -P && echo x)
    owner=$(stat -c %u "$3")
    above=${where%??}/${2##*/}
    exposed=
    while :; do
        ftk_is_safe "${above:-/}" "$owner" || exposed=1
        [ -n "$above" ] || break
        above=${above%/*}
    done
    if [ -n "$exposed" ]; then
        ftk_refuse "$1" 'another user can change or replace the keeper'
    elif ln -s "${where%??}/${2##*/}" "$temp" && [ "$temp" -ef "$2" ]; then
        ftk_put "$1" "$temp" "$3"
    else
        rm -f "$temp"
        ftk_refuse "$1" 'cannot link to the keeper'
    fi
}

ftk_delete() { # STEP KEEPER VICTIM
    ftk_ready_to_go "$1" "$2" "$3" || return 0
    rm -f "$3" || ftk_refuse "$1" 'cannot remove the file'
}

# Creates the directory for moved files. The mark tells `ftk dup` to skip it.
ftk_destination() { # DIRECTORY TEXT
    destination=$1
    if [ ! -d "$1" ]; then
        mkdir -p "$1" && printf %s "$2" >"$1/FTK-QUARANTINE.TAG" || {
            printf 'cannot create %s\n' "$1" >&2
            exit 2
        }
    fi
}

# Refuses a new name to which a symbolic link below the directory for moved files leads, or that is taken.
ftk_is_free() { # STEP TO
    above=${2%/*}
    while [ "${#above}" -gt "${#destination}" ]; do
        if [ -L "$above" ]; then
            ftk_refuse "$1" 'a symbolic link leads to the new name'
            return 1
        fi
        above=${above%/*}
    done
    if [ -e "$2" ] || [ -L "$2" ]; then
        ftk_refuse "$1" 'the new name is taken'
        return 1
    fi
}

ftk_move() { # STEP KEEPER VICTIM TO
    ftk_ready_to_go "$1" "$2" "$3" && ftk_is_free "$1" "$4" || return 0
    if mkdir -p "${4%/*}/" && ln "$3" "$4"; then # a link: never a copy to another file system
        rm -f "$3" || ftk_refuse "$1" 'cannot remove the old name'
    else
        ftk_refuse "$1" 'cannot move the file'
    fi
}

# A symbolic link in a directory whose files are gone. The kept directory must have the same link.
ftk_unlink() { # STEP KEEPER VICTIM [TO]
    if [ ! -L "$2" ] || [ ! -L "$3" ] || [ "$(readlink "$2" && echo x)" != "$(readlink "$3" && echo x)" ]; then
        ftk_refuse "$1" 'the link in the kept directory has another target'
    elif ! ftk_is_local "${2%/*}/" || ! ftk_is_local "${3%/*}/"; then
        ftk_refuse "$1" 'a script cannot prove here that these are two links: use ftk dup prune --yes'
    elif [ "$#" -lt 4 ]; then
        rm -f "$3" || ftk_refuse "$1" 'cannot remove the link'
    elif ftk_is_free "$1" "$4"; then
        mkdir -p "${4%/*}/" && mv "$3" "$4" || ftk_refuse "$1" 'cannot move the link'
    fi
}

# A directory that is empty now.
ftk_rmdir() { # STEP KEEPER VICTIM
    if [ -L "$3" ] || [ ! -d "$2" ] || [ ! -d "$3" ] || [ "$2" -ef "$3" ]; then
        ftk_refuse "$1" 'these are not two directories'
    elif ! ftk_is_local "$2" || ! ftk_is_local "$3"; then
        ftk_refuse "$1" 'a script cannot prove here that these are two directories: use ftk dup prune --yes'
    else
        rmdir "$3" || ftk_refuse "$1" 'cannot remove the directory'
    fi
}

# A directory that the steps have emptied. If a step was refused, it is not empty and stays.
ftk_rmdir_emptied() { # STEP DIRECTORY
    if [ -L "$2" ] || [ ! -d "$2" ]; then
        ftk_refuse "$1" 'this is not a directory'
    elif [ -z "$(ls -A "$2/")" ]; then
        rmdir "$2" || ftk_refuse "$1" 'cannot remove the directory'
    fi
}

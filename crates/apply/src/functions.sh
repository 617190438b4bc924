#!/bin/sh
# Each step takes files only that are there, are two, and hold the same bytes. A step that is refused or fails is
# named by its number on standard error, leaves its files as they were, and makes the status 2.
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

ftk_put() { # STEP TEMP VICTIM
    mv -f "$2" "$3" || {
        rm -f "$2"
        ftk_refuse "$1" 'cannot rename the replacement'
    }
}

ftk_hardlink() { # STEP KEEPER VICTIM
    ftk_ready "$1" "$2" "$3" || return 0
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

ftk_symlink() { # STEP KEEPER VICTIM
    ftk_ready "$1" "$2" "$3" || return 0
    # The letter guards newlines at the end of the name, which are lost otherwise.
    where=$(cd "${2%/*}/" && pwd -P && echo x)
    if ln -s "${where%??}/${2##*/}" "$temp" && [ "$temp" -ef "$2" ]; then
        ftk_put "$1" "$temp" "$3"
    else
        rm -f "$temp"
        ftk_refuse "$1" 'cannot link to the keeper'
    fi
}

ftk_delete() { # STEP KEEPER VICTIM
    ftk_ready "$1" "$2" "$3" || return 0
    rm -f "$3" || ftk_refuse "$1" 'cannot remove the file'
}

ftk_move() { # STEP KEEPER VICTIM TO
    ftk_ready "$1" "$2" "$3" || return 0
    if [ -e "$4" ] || [ -L "$4" ]; then
        ftk_refuse "$1" 'the new name is taken'
    elif mkdir -p "${4%/*}/" && ln "$3" "$4"; then # a link: never a copy to another file system
        rm -f "$3" || ftk_refuse "$1" 'cannot remove the old name'
    else
        ftk_refuse "$1" 'cannot move the file'
    fi
}


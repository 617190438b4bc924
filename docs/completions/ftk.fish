# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ftk_global_optspecs
    string join \n j/threads= io= memory= progress= color= json q/quiet v/verbose stats= h/help V/version
end

function __fish_ftk_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ftk_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ftk_using_subcommand
    set -l cmd (__fish_ftk_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ftk -n "__fish_ftk_needs_command" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_needs_command" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_needs_command" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_needs_command" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_needs_command" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_needs_command" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_needs_command" -s V -l version -d 'Print version'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "find" -d 'List the entries of trees, or run commands for them'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "hash" -d 'Print the digest of every file, sorted by path; check and compare such lists'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "dup" -d 'Find files with the same content; prune them only when told, and on proof'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "manifest" -d 'Record what a tree is, and verify it later'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "cmp" -d 'Compare two files or two trees, byte by byte'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "calibrate" -d 'Measure this machine for the cost model'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "completions" -d 'Print a script that completes ftk\'s arguments in a shell'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "man" -d 'Write the manual, a page a command'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "help" -d 'Print the help of a command, or what options of other tools are called here'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "describe" -d 'Print all commands and options as JSON, for tools'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s S -l size -d 'Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-within -d 'Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-before -d 'Modified longer ago than this, or before today, yesterday or a date: as --changed-within' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l owner -d 'Of this user and group, by name or number; `!` before either takes all others; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l perm -d 'Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l links -d 'Number of hard links: `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l samefile -d 'Names of this very file; repeatable' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l files-from -d 'Start at each path in FILE, one a line, beside any PATH; `-`: standard input' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l files0-from -d 'As --files-from, with a NUL at the end of each path: safe for every name' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l format -d 'Print this of each entry, such as \'{size} {path}\'; --help lists the fields' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l max-results -d 'Stop after this many entries; with --sort the first by path' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec -d 'Run a command for each entry, several at a time; `\\;` or `{} +` ends it' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec-batch -d 'Run a command for all entries, in as few runs as the system allows; `\\;` or `{} +` ends it' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s c -l count -d 'Print only how many entries there are'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s 0 -l null -d 'End each path, or what --format prints, with a NUL instead of a newline'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l sort -d 'Sort by path, as bytes'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s a -l algorithm -d 'Which digest [default: sha256]; several are computed in one read, and printed as tagged lines' -r -f -a "sha256\t''
sha1\t''
sha512\t''
md5\t''
blake2b\t''
blake3\t''
xxh64\t''
xxh3\t''
xxh128\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s o -l output -d 'Write to this file, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l root -d 'Paths are relative to DIR, and those that lead out of it are errors' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s S -l size -d 'Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-within -d 'Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-before -d 'Modified longer ago than this, or before today, yesterday or a date: as --changed-within' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l owner -d 'Of this user and group, by name or number; `!` before either takes all others; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l perm -d 'Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l links -d 'Number of hard links: `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l samefile -d 'Names of this very file; repeatable' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l files-from -d 'Start at each path in FILE, one a line, beside any PATH; `-`: standard input' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l files0-from -d 'As --files-from, with a NUL at the end of each path: safe for every name' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l tag -d 'Lines like `SHA256 (name) = digest`, which say the algorithm'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s z -s 0 -l zero -l null -d 'End every line with NUL instead of newline, and escape no name; with --diff the lists are such'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l special -d 'Read FIFOs and devices that are PATHs, to their end; filters do not apply to them'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s c -l check -d 'Read lists from the PATHs and check every file they name'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l diff -d 'Compare two lists, the PATHs OLD and NEW, without reading a file they name'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l lines -d 'Print the digest of every line of the one PATH, in input order'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-missing -d 'Say nothing of files that are not there, and do not fail for them'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l status -d 'Print nothing at all; the exit status tells'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l strict -d 'Fail if any line is not a checksum line; without it, lines without a digest are only counted'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s w -l warn -d 'Warn about each line that is not a checksum line, with its number'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l new -d 'Also fail for files that are in the tree (--root, else the working directory) but in no list'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s a -l algorithm -d 'By which digest contents are compared' -r -f -a "xxh128\t''
blake3\t''
sha256\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l min-size -d 'Only files of at least this size, such as 4096, 64K or 1.5MB; 0 takes empty ones too' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l max-size -d 'Only files of at most this size' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s S -l size -d 'Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l changed-within -d 'Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l changed-before -d 'Modified longer ago than this, or before today, yesterday or a date: as --changed-within' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l owner -d 'Of this user and group, by name or number; `!` before either takes all others; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l perm -d 'Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l links -d 'Number of hard links: `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l samefile -d 'Names of this very file; repeatable' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l files-from -d 'Start at each path in FILE, one a line, beside any PATH; `-`: standard input' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l files0-from -d 'As --files-from, with a NUL at the end of each path: safe for every name' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l format -d 'What the report looks like [default: screen on a terminal, otherwise fdupes]' -r -f -a "screen\t''
fdupes\t''
json\t''
csv\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s o -l output -d 'Write to this file, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l verify -d 'Compare the bytes as well before a group is reported'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l summary -d 'Print only the space that pruning would free; with --json also the numbers of files and groups, what they waste, and what they share already'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s 0 -l null -d 'As fdupes, but with a NUL after each path and one more after each group'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "prune" -d 'Link, clone, move or delete surplus copies: prints the plan, and does it with --yes'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "apply" -d 'Act on a report saved by `ftk dup --json`: prints the plan, and does it with --yes'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "undo" -d 'Take back what a run of prune or apply did, by its journal'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s a -l algorithm -d 'By which digest contents are compared' -r -f -a "xxh128\t''
blake3\t''
sha256\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-size -d 'Only files of at least this size, such as 4096, 64K or 1.5MB; 0 takes empty ones too' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l max-size -d 'Only files of at most this size' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s S -l size -d 'Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l changed-within -d 'Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l changed-before -d 'Modified longer ago than this, or before today, yesterday or a date: as --changed-within' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l owner -d 'Of this user and group, by name or number; `!` before either takes all others; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l perm -d 'Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l links -d 'Number of hard links: `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l samefile -d 'Names of this very file; repeatable' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l files-from -d 'Start at each path in FILE, one a line, beside any PATH; `-`: standard input' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l files0-from -d 'As --files-from, with a NUL at the end of each path: safe for every name' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l keep -d 'first, oldest, newest, shortest or path=GLOB; repeatable, a later rule decides where the earlier ones do not' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l reference -d 'A directory that is scanned too and never touched: what it holds counts as a copy that stays; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-copies -d 'Keep at least so many copies; hard links of one file are one copy' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l action -d 'hardlink, reflink, symlink, delete or move=DIR' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l quarantine -d 'With delete: move the files below this directory, on the same file system, instead of removing them' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l journal -d 'Where the journal goes, which undo needs; a new file [default: one in $XDG_STATE_HOME/ftk, else ~/.local/state/ftk]' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l verify -d 'Compare the bytes as well before a group is reported'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l isolate -d 'Only what has a copy below another argument goes, never a copy beside the one that stays'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l yes -d 'Do it; without this the plan is printed and nothing is changed'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l script -d 'Print a POSIX shell script that does it, after comparing each pair once more, and nothing else'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l metadata-may-differ -d 'With hardlink and symlink: also where owner, permissions or extended attributes differ'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l keep -d 'first, oldest, newest, shortest or path=GLOB; repeatable, a later rule decides where the earlier ones do not' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l reference -d 'A directory that is scanned too and never touched: what it holds counts as a copy that stays; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l min-copies -d 'Keep at least so many copies; hard links of one file are one copy' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l action -d 'hardlink, reflink, symlink, delete or move=DIR' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l quarantine -d 'With delete: move the files below this directory, on the same file system, instead of removing them' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l journal -d 'Where the journal goes, which undo needs; a new file [default: one in $XDG_STATE_HOME/ftk, else ~/.local/state/ftk]' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l edited -d 'Take a report whose footer does not match any more because it was edited'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l isolate -d 'Only what has a copy below another argument goes, never a copy beside the one that stays'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l yes -d 'Do it; without this the plan is printed and nothing is changed'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l script -d 'Print a POSIX shell script that does it, after comparing each pair once more, and nothing else'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l metadata-may-differ -d 'With hardlink and symlink: also where owner, permissions or extended attributes differ'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -f -a "create" -d 'Record every entry of a tree'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -f -a "verify" -d 'Hold a tree against its manifest'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -f -a "diff" -d 'Tell what happened between two manifests'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -f -a "update" -d 'Record a tree again, reading only what changed'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update unique" -f -a "unique" -d 'List the files of A whose content is nowhere in B'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s o -l output -d 'Write to this file, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s a -l algorithm -d 'Which digest of the files [default: sha256]; several are computed in one read' -r -f -a "sha256\t''
sha1\t''
sha512\t''
md5\t''
blake2b\t''
blake3\t''
xxh64\t''
xxh3\t''
xxh128\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s S -l size -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l newer -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l changed-within -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l changed-before -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l owner -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l perm -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l links -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l samefile -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l files-from -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l force -d 'Replace a manifest that is already there'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l xattrs -d 'Extended attributes too, and with them access control lists and capabilities'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-content -d 'Read no file: everything but the digests'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l empty
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l mode -d '`strict`: content and metadata; `content`: type, size and content alone; `metadata`: no file is read' -r -f -a "strict\t''
content\t''
metadata\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l ignore -d 'Fields that may differ: mtime, mode, owner (uid and gid), uid, gid, size, target, device, xattrs, digest' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l sample -d 'Read only this part of the files, such as 5%, other ones in every run; metadata is compared of all' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l exit-on-first -d 'Print the first verdict that is not ok, and stop'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l all -d 'Print entries that are as recorded too'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l mode -d '`strict`: content and metadata; `content`: type, size and content alone; `metadata`: no file is read' -r -f -a "strict\t''
content\t''
metadata\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l ignore -d 'Fields that may differ: mtime, mode, owner (uid and gid), uid, gid, size, target, device, xattrs, digest' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s o -l output -d 'Write to this file, which appears only when it is complete; it may be OLD' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l check -d 'Read this part of the unchanged files too, such as 5%, other ones in every run' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l accept -d 'Record this corrupted file as it is now; a path below ROOT as verify prints it; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l max-missing -d 'Stop if more entries than this are missing: a share, such as 5%, or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l force -d 'Replace a manifest other than OLD that is already there'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l other-root -d 'Accept a ROOT that is not the recorded directory: by default one whose device and inode both differ is refused'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s 0 -l null -d 'End every path with NUL instead of newline'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l max-mismatches -d 'Show so many bytes that differ, and look for no more; 0: all [default: 8; all with --list and --ranges]' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s i -l ignore-initial -d 'Skip this many bytes at the start of both files, or of A and of B' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l bytes -d 'Compare at most this many bytes, with numbers as for --ignore-initial; the `-n` of GNU cmp' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l block-size -d 'Bytes compared at a time by each worker; 0: as many as suit the machine' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l method -d 'How large files are read: mapped into memory, or streamed through buffers; --io is for other commands' -r -f -a "auto\t''
mapped\t''
stream\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s S -l size -d 'Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l changed-within -d 'Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l changed-before -d 'Modified longer ago than this, or before today, yesterday or a date: as --changed-within' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l owner -d 'Of this user and group, by name or number; `!` before either takes all others; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l perm -d 'Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l links -d 'Number of hard links: `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l samefile -d 'Names of this very file; repeatable' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s E -l exclude -d 'Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l min-depth -d 'Nothing above this depth; a starting point is at 0' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l max-depth -d 'Nothing below this depth' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l files-from -d 'Start at each path in FILE, one a line, beside any PATH; `-`: standard input' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l files0-from -d 'As --files-from, with a NUL at the end of each path: safe for every name' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l no-shortcuts -d 'Read every byte: also those of a file and itself, of holes, and those that both files share on the disk'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l special -d 'Take a FIFO, a socket or a device as an argument, and read it to its end'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s l -l list -d 'Print nothing but offsets and both bytes in octal, as `cmp -l` does'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s b -l print-bytes -d 'Print bytes that differ as characters too, as `cmp -b` does'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l ranges -d 'Print nothing but runs of bytes that differ, `FIRST-LAST LENGTH`'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l metadata -d 'Mode, owner, group and time of the last change count too, the time not of directories'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l quick -d 'Read no file: take those of equal size and time of the last change for equal'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s L -l follow -d 'Follow symbolic links; a directory is entered once, under the first of its paths in byte order'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s r -l recursive -d 'Accepted: ftk always recurses into directories. With -q, differences are listed, as `diff -rq` lists them'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s s -l silent -d 'Print nothing, as `cmp -s`: the same as --quiet'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l show -d 'Measure nothing; print the figures in use'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand man" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand man" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand man" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand help" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand help" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand help" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s j -l threads -d 'Number of workers: auto, mono, compute, io or a number' -r
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l io -d 'How files are read' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l memory -d 'Ceiling for buffers and tables, such as 512M or 4G [default: a quarter of the memory]' -r
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l progress -d 'How to show progress on stderr; `auto`: on a terminal, after a second' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l color -d 'When to use colours; `auto`: on a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l stats -d 'Write what the run did to this file, as JSON: time, files and bytes, errors, the plan, memory' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s q -l quiet -d 'No summary on stderr; `find` and `cmp` print nothing at all and only set the status'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s h -l help -d 'Print help (see more with \'--help\')'

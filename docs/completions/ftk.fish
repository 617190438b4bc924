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
complete -c ftk -n "__fish_ftk_needs_command" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
complete -c ftk -n "__fish_ftk_needs_command" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_needs_command" -s V -l version -d 'Print version'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "find" -d 'List the entries of trees, or run commands for them'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "hash" -d 'Print the digest of every file, sorted by path; check and compare such lists'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "calibrate" -d 'Measure this machine for the cost model'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "completions" -d 'Print a script that completes ftk\'s arguments in a shell'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "man" -d 'Write the manual, a page a command'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "describe" -d 'Print all commands and options as JSON, for tools'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s e -l extension -d 'Names with this extension, in either case; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s n -l name -d 'Names that match this glob; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l iname -d 'As --name, in either case' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l path -d 'Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s r -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s S -l size -d 'Sizes in bytes, or with K, M, G, T (powers of 1,024): `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-within -d 'Changed no longer ago than this, such as 2d, 3h or 1week, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-before -d 'Changed longer ago than this, or before a date, in local time: as --changed-within' -r
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
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec -d 'Run a command for each entry, several at a time; `\\;` ends it' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec-batch -d 'Run a command for all entries, in as few runs as the system allows; `\\;` ends it' -r
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
complete -c ftk -n "__fish_ftk_using_subcommand find" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s c -l count -d 'Print only how many entries there are'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s 0 -l null -d 'End each path, or what --format prints, with a NUL instead of a newline'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l sort -d 'Sort by path, as bytes'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
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
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s r -l regex -d 'Paths below the start in which this regular expression matches somewhere; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s t -l type -d 'Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s S -l size -d 'Sizes in bytes, or with K, M, G, T (powers of 1,024): `+` more, `-` less, neither exactly; two make a range' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l newer -d 'Changed later than this file' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-within -d 'Changed no longer ago than this, such as 2d, 3h or 1week, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-before -d 'Changed longer ago than this, or before a date, in local time: as --changed-within' -r
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
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s z -l zero -d 'End every line with NUL instead of newline, and escape no name; with --diff the lists are such'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s c -l check -d 'Read lists from the PATHs and check every file they name'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l diff -d 'Compare two lists, the PATHs OLD and NEW, without reading a file they name'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l lines -d 'Print the digest of every line of the one PATH, in input order'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-missing -d 'Say nothing of files that are not there, and do not fail for them'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l status -d 'Print nothing at all; the exit status tells'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l strict -d 'Fail for every line that is no checksum line, not only when all are'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s w -l warn -d 'Say of each line that is no checksum line where it is'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l new -d 'Also fail for files that are in the tree (--root, else the working directory) but in no list'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l empty -d 'Files of no bytes and directories without entries'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-files -d 'Leave out what .gitignore and .ignore files say, and all below it'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l no-hidden -d 'Leave out names that begin with a dot, and all below them'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l json -d 'One JSON object a line on standard output'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s h -l help -d 'Print help (see more with \'--help\')'
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
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
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
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
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
complete -c ftk -n "__fish_ftk_using_subcommand man" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
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
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s q -l quiet -d 'No summary on stderr; `find` prints nothing at all and only sets the status'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s v -l verbose -d 'Say what was decided, on which grounds, and how it came out'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s h -l help -d 'Print help (see more with \'--help\')'

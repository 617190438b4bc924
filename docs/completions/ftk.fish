# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ftk_global_optspecs
    string join \n j/threads= io= memory= polite limit-rate= progress= color= json q/quiet v/verbose stats= metrics= h/help V/version
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

complete -c ftk -n "__fish_ftk_needs_command" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_needs_command" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_needs_command" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_needs_command" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_needs_command" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_needs_command" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_needs_command" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_needs_command" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_needs_command" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_needs_command" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_needs_command" -s V -l version -d 'Print version'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "find" -d 'List the entries of trees, or run commands for them'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "du" -d 'Show what uses the space, the largest first'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "hash" -d 'Print the digest of every file; check and compare checksum lists'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "dup" -d 'Find identical files; link or remove copies on request'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "manifest" -d 'Record a tree, and verify it later'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "cmp" -d 'Compare two files or two trees, byte by byte'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "report" -d 'Write a page that shows a tree in the browser'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "query" -d 'Ask questions about manifests, reports and S3 Inventory with SQL'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "undo" -d 'Undo a run of `dup prune`, `dup apply` or `manifest repair`'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "cache" -d 'Show, trim and clear the store of digests that --cache uses'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "calibrate" -d 'Measure this machine, so that ftk chooses its workers well'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "completions" -d 'Print a script that completes ftk\'s arguments in a shell'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "man" -d 'Show the manual page of a command, or install all pages'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "help" -d 'Print the help of a command, or a help topic'
complete -c ftk -n "__fish_ftk_needs_command" -f -a "describe" -d 'Print all commands and options as JSON, for tools'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l explain -d 'Print which rules select PATH or not, instead of listing; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l sort -d 'Sort by path, or by name, size, mtime or extension' -r -f -a "path\t''
name\t''
size\t''
mtime\t''
extension\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l hyperlink -d 'Make paths links that a terminal can open: auto, always or never [default: never]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l group-by -d 'Print count, bytes and share of each extension, type, owner, year, depth or directory' -r -f -a "extension\t''
type\t''
owner\t''
year\t''
depth\t''
directory\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l format -d 'Print these fields, such as \'{size} {path}\'' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l max-results -d 'Stop after N entries' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec -d 'Run CMD for each entry; `\\;` or `{} +` ends CMD' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exec-batch -d 'Run CMD for all entries, in as few runs as possible' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand find" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand find" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand find" -s c -l count -d 'Print only the number of entries'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s 0 -l null -d 'End each record with NUL instead of newline'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l reverse -d 'Reverse the order of --sort'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s l -l long -d 'Print permissions, links, owner, size, mtime, path and link target'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l human-readable -d 'With --long or --group-by: print sizes such as 1.5K and 234M'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l strict-races -d 'Treat entries that vanish during the run as errors'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l allow-unused-rules -d 'Go on if a rule that protects files matches nothing'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand find" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand find" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l top -d 'Print the N largest entries [default: 20; no limit with -s, -d or -a]' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l format -d 'Write the whole tree in the format of another tool' -r -f -a "ncdu\t''"
complete -c ftk -n "__fish_ftk_using_subcommand du" -l from -d 'Read the tree from FILE, not from the disk; `-`: standard input' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -s d -l max-depth -d 'Print only entries up to N levels below a PATH, and count all' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand du" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand du" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand du" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand du" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand du" -l help -d 'Print help'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s a -l all -d 'Print files too, not only directories'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s s -l summarize -d 'Print only a sum for each PATH'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s h -l human-readable -d 'Print sizes such as 1.5K and 234M, rounded up to powers of 1,024'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l apparent-size -d 'Compare and print sizes of files, not the space that they use'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s 0 -l null -d 'End each line with NUL instead of newline'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l strict-races -d 'Treat entries that vanish during the run as errors'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand du" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand du" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s a -l algorithm -d 'Digest algorithm, such as blake3 [default: sha256]' -r -f -a "sha256\t''
sha1\t''
sha512\t''
md5\t''
blake2b\t''
blake3\t''
sha224\t''
sha384\t''
sha3-256\t''
sha3-512\t''
xxh64\t''
xxh3\t''
xxh128\t''
crc32\t''
crc32c\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l tree -d 'Print one digest of each directory PATH as a whole' -r -f -a "ftk\t'The tree digest that docs/tree-digest.md specifies'
git\t'The id that `git write-tree` prints'"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l root -d 'Resolve paths in DIR; reject paths that lead out of it' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l tag -d 'Print lines like `SHA256 (name) = digest`'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l sfv -d 'Print lines like `name CRC32`'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s z -s 0 -l zero -l null -d 'End lines with NUL, unescaped'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l special -d 'Read PATHs that are FIFOs or devices to their end'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l cache -d 'Reuse digests of unchanged files, and store new ones'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l no-cache -d 'Read every file, even if FTK_CACHE=1 is set'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s c -l check -d 'Read PATHs as checksum lists; check every file they name'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l bag -d 'Validate the BagIt bag in directory PATH (RFC 8493)'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l diff -d 'Compare two checksum lists, the PATHs OLD and NEW'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l lines -d 'Print the digest of each line of one PATH, in input order'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-missing -d 'Ignore missing files: no line, no failure'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l status -d 'Print nothing; only set the exit status'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l strict -d 'Fail if any line is malformed or may be cut off'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s w -l warn -d 'Warn about each malformed line, with its number'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l new -d 'Also fail for files in the tree that no list names'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand hash" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l format -d 'Format' -r -f -a "screen\t''
fdupes\t''
json\t''
csv\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s a -l algorithm -d 'Digest for comparing contents' -r -f -a "xxh128\t''
blake3\t''
sha256\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l unit -d 'Never take directories of this name apart' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l min-size -d 'Skip smaller files; 0 includes empty files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l max-size -d 'Skip larger files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l manifests -d 'Search manifests instead of trees; no file is read' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l contained -d 'Report directories of which P% exists elsewhere' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l summary -d 'Print only the space that pruning would free'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s 0 -l null -d 'Like fdupes, with NUL after each path and each group'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l verify -d 'Also compare the bytes before a group is reported'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l dirs -d 'Compare whole directories first'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l cache -d 'Reuse digests of unchanged files, and store new ones'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l no-cache -d 'Read every file, even if FTK_CACHE=1 is set'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l ignore-names -d 'With --dirs: compare contents only'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "prune" -d 'Link, clone, move or delete surplus copies (needs --yes)'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "apply" -d 'Act on a report of `ftk dup --json` (needs --yes)'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and not __fish_seen_subcommand_from prune apply undo" -a "undo" -d 'Undo a run of `dup prune`, `dup apply` or `manifest repair`'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l action -d 'hardlink, reflink, symlink, delete or move=DIR' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l quarantine -d 'With delete: move the files below DIR instead' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l with-sidecars -d 'Handle sidecars with these extensions only together with their files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l journal -d 'New file for the journal, which undo needs' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l keep -d 'Rule that chooses the kept file, such as oldest' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l reference -d 'Keep all files below DIR, which prune also scans' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l keep-one-per -d 'Keep a copy below DIR if there is one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-copies -d 'Keep at least N copies' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s a -l algorithm -d 'Digest for comparing contents' -r -f -a "xxh128\t''
blake3\t''
sha256\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l unit -d 'Never take directories of this name apart' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-size -d 'Skip smaller files; 0 includes empty files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l max-size -d 'Skip larger files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l yes -d 'Carry out the plan instead of only printing it'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l script -d 'Print the plan as a POSIX shell script'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l metadata-may-differ -d 'Also link files whose metadata differs'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l into-snapshots -d 'With reflink: also change files in snapshots'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l remove-empty-dirs -d 'Also remove directories that this empties'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l allow-unused-rules -d 'Go on if a rule that protects files matches nothing'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l ask -d 'Ask about each group on the terminal'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l isolate -d 'Keep all copies under the PATH of the kept file'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l verify -d 'Also compare the bytes before a group is reported'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l dirs -d 'Compare whole directories first'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l cache -d 'Reuse digests of unchanged files, and store new ones'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l no-cache -d 'Read every file, even if FTK_CACHE=1 is set'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l root -d 'Find the tree of the manifest FILE in DIR; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l action -d 'hardlink, reflink, symlink, delete or move=DIR' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l quarantine -d 'With delete: move the files below DIR instead' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l with-sidecars -d 'Handle sidecars with these extensions only together with their files' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l journal -d 'New file for the journal, which undo needs' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l keep -d 'Rule that chooses the kept file, such as oldest' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l reference -d 'Keep all files below DIR, which prune also scans' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l keep-one-per -d 'Keep a copy below DIR if there is one; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l min-copies -d 'Keep at least N copies' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l edited -d 'Accept a report that was edited'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l yes -d 'Carry out the plan instead of only printing it'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l script -d 'Print the plan as a POSIX shell script'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l metadata-may-differ -d 'Also link files whose metadata differs'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l into-snapshots -d 'With reflink: also change files in snapshots'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l remove-empty-dirs -d 'Also remove directories that this empties'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l allow-unused-rules -d 'Go on if a rule that protects files matches nothing'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l isolate -d 'Keep all copies under the PATH of the kept file'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l last -d 'Undo the most recent run that is not undone yet'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l list -d 'List the runs whose journals are found, the newest first'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand dup; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "create" -d 'Record every entry of a tree'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "verify" -d 'Check a tree against its manifest'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "diff" -d 'Print the differences between two manifests'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "update" -d 'Record a tree again, reading only what changed'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "scrub" -d 'Read a part of a tree, the longest unverified files first'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "repair" -d 'Restore damaged files from a copy (needs --yes)'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "unique" -d 'List the files of A whose content is not in B'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "export" -d 'Write a manifest in the format of another tool'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "import" -d 'Make a manifest from a list of another tool'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "plan" -d 'Divide a tree into shards for many hosts'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and not __fish_seen_subcommand_from create verify diff update scrub repair unique export import plan merge" -f -a "merge" -d 'Join the manifests of all shards into one'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s a -l algorithm -d 'Digest algorithm [default: sha256]' -r -f -a "sha256\t''
sha1\t''
sha512\t''
md5\t''
blake2b\t''
blake3\t''
sha224\t''
sha384\t''
sha3-256\t''
sha3-512\t''
xxh64\t''
xxh3\t''
xxh128\t''
crc32\t''
crc32c\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l shard -d 'Only shard K of N: a part of the tree' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l plan -d 'The plan that divides the tree (see `ftk manifest plan`)' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s S -l size -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l newer -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l changed-within -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l changed-before -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l owner -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l perm -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l links -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l samefile -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l files-from -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l force -d 'Replace a manifest that already exists'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-xattrs -d 'Record no extended attributes'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l xattrs -d 'Accepted: attributes are recorded by default'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-content -d 'Record no digests, and read no files'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l cache -d 'Reuse digests of unchanged files, and store new ones'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-cache -d 'Read every file, even if FTK_CACHE=1 is set'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l empty
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l shard -d 'Only shard K of N: a part of the tree' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l plan -d 'The plan that divides the tree (see `ftk manifest plan`)' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l mode -d 'What to compare' -r -f -a "strict\t''
content\t''
metadata\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l ignore -d 'Fields that may differ, such as mtime,owner; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l sample -d 'Read only a part of the files, such as 5%' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l status-corrupted -d 'Exit with status N if anything is corrupted' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l normalize-names -d 'Accept names in another Unicode normal form'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l exit-on-first -d 'Stop after the first entry that differs'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l all -d 'Also print entries that are as recorded'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l mode -d 'What to compare' -r -f -a "strict\t''
content\t''
metadata\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l ignore -d 'Fields that may differ, such as mtime,owner; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l status-corrupted -d 'Exit with status N if anything is corrupted' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l normalize-names -d 'Accept names in another Unicode normal form'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l shard -d 'Only shard K of N: a part of the tree' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l plan -d 'The plan that divides the tree (see `ftk manifest plan`)' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s o -l output -d 'Write to NEW, which appears only when it is complete; may be OLD' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l check -d 'Also read a part of the unchanged files, such as 5%' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l accept -d 'Record this corrupted file as it is now; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l status-corrupted -d 'Exit with status N if anything is corrupted' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l max-missing -d 'Stop if more than P% or N of the recorded entries are missing' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l force -d 'Replace an existing manifest other than OLD'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l append-only -d 'Only add new entries; report all other changes'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l other-root -d 'Accept a ROOT that is not the recorded directory'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l shard -d 'Only shard K of N: a part of the tree' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l plan -d 'The plan that divides the tree (see `ftk manifest plan`)' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l time -d 'Read for this long, such as 2h or 1h30m' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l bytes -d 'Read this much, such as 500G, rounded up to files' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l part -d 'Read a fraction of all bytes, such as 1/30' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l status-corrupted -d 'Exit with status N if anything is corrupted' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l max-missing -d 'Stop if more than P% or N of the recorded entries are missing' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l other-root -d 'Accept a ROOT that is not the recorded directory'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from scrub" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l from -d 'A directory with good copies of the files; repeatable' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l journal -d 'New file for the journal, which undo needs' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l status-corrupted -d 'Exit with status N if anything is corrupted' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l max-missing -d 'Stop if more than P% or N of the recorded entries are missing' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l missing -d 'Also restore recorded files that are missing'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l modified -d 'Also restore edited, overwritten or truncated files'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l metadata -d 'Also put back metadata and hard links'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l yes -d 'Carry out the plan instead of only printing it'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l discard -d 'Do not keep the damaged content for undo'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l other-root -d 'Accept a ROOT that is not the recorded directory'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s 0 -l null -d 'End each path with NUL instead of newline'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from unique" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l format -d 'The format' -r -f -a "mtree\t'BSD mtree and bsdtar: all entries'
hashdeep\t'hashdeep -k: files with sizes and digests'
bagit\t'BagIt (RFC 8493): the manifest of a payload'
sha256\t'sha256sum -c: files with digests'
ncdu\t'ncdu -f: names and sizes, to browse'
csv\t'All members as comma-separated values, for spreadsheets'"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s o -l output -d 'Write to OUT, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l force -d 'Replace a manifest, or the files of a bag'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l format -d 'The format, if its name and first lines do not show it' -r -f -a "mtree\t'BSD mtree and bsdtar'
hashdeep\t'hashdeep'
bagit\t'BagIt (RFC 8493): the manifest of a payload'
sums\t'sha256sum and similar tools'"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l root -d 'Remove DIR, with which all paths in the list begin' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s a -l algorithm -d 'The algorithm of untagged digests [default: by their length]' -r -f -a "sha256\t''
sha1\t''
sha512\t''
md5\t''
blake2b\t''
blake3\t''
sha224\t''
sha384\t''
sha3-256\t''
sha3-512\t''
xxh64\t''
xxh3\t''
xxh128\t''
crc32\t''
crc32c\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l force -d 'Replace a manifest that already exists'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l shards -d 'The number of shards' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l by -d 'What the shards have in equal amounts' -r -f -a "cost\t'Time, as `ftk calibrate` has measured it: for each file and each byte'
entries\t'Entries: best if no content is read'
bytes\t'Bytes of files: best if disks are slow'"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s S -l size -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l newer -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l changed-within -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l changed-before -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l owner -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l perm -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l links -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l samefile -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l files-from -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l force -d 'Replace FILE even if it is a plan or a manifest'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l empty
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l force -d 'Replace a manifest that already exists'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s r -l recursive -d 'Accepted and ignored: ftk always recurses into directories'
complete -c ftk -n "__fish_ftk_using_subcommand manifest; and __fish_seen_subcommand_from merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l max-mismatches -d 'Stop after N differing bytes [default: 8]' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s i -l ignore-initial -d 'Skip bytes at the start of A and B' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l bytes -d 'Compare at most this many bytes, like `cmp -n`' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l block-size -d 'Bytes that a worker compares at a time' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l method -d 'How to read large files' -r -f -a "auto\t''
mapped\t''
stream\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l modify-window -d 'With --quick or --metadata: accept times that a copy has rounded' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l no-shortcuts -d 'Read every byte, even where both sides share it'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l special -d 'Read FIFOs and devices to their end'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s l -l list -d 'Only print offsets and octal bytes (`cmp -l`)'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s b -l print-bytes -d 'Add differing bytes as characters (`cmp -b`)'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l ranges -d 'Only print ranges of differing bytes'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l metadata -d 'Also compare mode, owner, mtime, xattrs, links'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l quick -d 'Read no file: equal size and mtime mean equal'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l normalize-names -d 'Accept names in another Unicode normal form'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s r -l recursive -d 'Accepted: ftk always recurses into directories. With -q, lists the differences, as `diff -rq` does'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s s -l silent -d 'Print nothing, as `cmp -s`: the same as --quiet'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cmp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s o -l output -d 'Write to FILE, which appears only when it is complete' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -s e -l extension -d 'Match names with this extension, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -s n -l name -d 'Match names against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l iname -d 'Like --name, ignoring case' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l path -d 'Match paths against this glob' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l regex -d 'Match paths against this regular expression' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -s t -l type -d 'Match entries of these types' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -s S -l size -d 'Match sizes: `+N` larger, `-N` smaller, `N` exact' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l newer -d 'Match entries modified more recently than FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -l changed-within -d 'Match entries modified within this period, or since a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l changed-before -d 'Match entries modified longer ago than this, or before a date' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l owner -d 'Match the owner, by name or id; `!` negates' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l perm -d 'Match permission bits, in octal' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l links -d 'Match the number of hard links' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l samefile -d 'Match the hard links of FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -l where -d 'Match entries for which EXPR is true' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l exclude-where -d 'Skip what EXPR matches, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -s E -l exclude -d 'Skip what matches this glob, and all below it' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l min-depth -d 'Skip entries above depth N' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l max-depth -d 'Skip entries deeper than N' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l files-from -d 'Read more starting points from FILE' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -l files0-from -d 'Like --files-from, with NUL after each path' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand report" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand report" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand report" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand report" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand report" -l parts -d 'The directory INPUT has the parts of a manifest in it'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l dup -d 'Also search the directory for duplicates, like `ftk dup`'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l dirs -d 'With --dup: compare whole directories first'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l empty -d 'Match empty files and empty directories'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l ignore-files -d 'Skip what .gitignore and .ignore files exclude'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l no-hidden -d 'Skip names that begin with a dot, and all below'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s x -l one-file-system -d 'Stay on the file system of each starting point'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s L -l follow -d 'Follow symbolic links'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand report" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand query" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand query" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand query" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand query" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand query" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand query" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand query" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand query" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand query" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand query" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand query" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand query" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand query" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l last -d 'Undo the most recent run that is not undone yet'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l list -d 'List the runs whose journals are found, the newest first'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -f -a "stats" -d 'Print how many files are known, and the size of the store'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -f -a "clear" -d 'Remove the store'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -f -a "forget" -d 'Remove the digests of files, and of all files in directories'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and not __fish_seen_subcommand_from stats clear forget trim" -f -a "trim" -d 'Set the size of the store, and remove what was not used for the longest time'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l max-size -d 'The size that the store keeps to from now on; the default is 4G' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand cache; and __fish_seen_subcommand_from trim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l show -d 'Print the figures in use, without measuring'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand calibrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand man" -l install -d 'Write all pages to DIR, which is created if missing' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand man" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand man" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand man" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand man" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand man" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand man" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand man" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand man" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand help" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand help" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand help" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand help" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand help" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand help" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand help" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s j -l threads -d 'Number of workers' -r
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l io -d 'How to read files' -r -f -a "auto\t''
sync\t''
uring\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l memory -d 'Limit for buffers and tables, such as 512M' -r
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l limit-rate -d 'Read at most RATE bytes per second, such as 50M' -r
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l progress -d 'How to show progress on standard error' -r -f -a "auto\t''
always\t''
never\t''
json\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l stats -d 'Write statistics of the run to FILE, as JSON' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l metrics -d 'Write the result of the run to FILE, for Prometheus' -r -F
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l polite -d 'Read at the lowest priority'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -l json -d 'Print JSON, one object per line'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s q -l quiet -d 'Print no summary'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s v -l verbose -d 'Explain what was decided, why, with what result'
complete -c ftk -n "__fish_ftk_using_subcommand describe" -s h -l help -d 'Print help (see more with \'--help\')'

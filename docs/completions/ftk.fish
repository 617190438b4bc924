# Completion of ftk for fish. ftk finds options and values; the shell finds paths and quotes them.

function __ftk_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command ftk completions fish -- $words[2..-1] "$current" 2>/dev/null
end

complete -c ftk -f -a '(__ftk_complete)[2..-1]'
complete -c ftk -n '__ftk_complete | string match -qr "^(files|directories)"' -F

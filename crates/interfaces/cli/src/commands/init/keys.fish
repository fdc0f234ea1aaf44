
# What is chosen goes through a file: the screen needs the terminal as its output.
function __backstory_choose
    set -l folder /tmp
    set -q TMPDIR; and set folder $TMPDIR
    set -l file (mktemp "$folder/backstory.XXXXXXXX"); or return 1
    command backstory choose $argv[1] $file </dev/tty >/dev/tty
    set -g __backstory_chosen (string collect <$file)
    command rm -f -- $file
    test -n "$__backstory_chosen"
end

# Puts an earlier prompt on the line.
function backstory-prompts
    if __backstory_choose prompt
        test -z (commandline | string collect); and commandline -- 'claude '
        and commandline -f end-of-line
        # In single quotes, in which line ends stay what they are.
        set -l quoted (string replace --all -- \\ \\\\ $__backstory_chosen | string replace --all -- "'" "\\'" | string collect)
        commandline --insert -- "'$quoted'"
    end
    commandline -f repaint
end

# Puts the command for a session on the line.
function backstory-sessions
    if __backstory_choose session
        commandline --replace -- $__backstory_chosen
        commandline -f end-of-line
    end
    commandline -f repaint
end

if status is-interactive
    for mode in default insert
        bind -M $mode \er backstory-prompts
        bind -M $mode \ej backstory-sessions
    end
end

# termpilot's shell integration for fish 3.0 and newer: prints prompt marks
# (OSC 133) and the directory (OSC 7), and leaves all else as it was.
#
# Marks: A before the prompt, B after it, C with the command line before a
# command runs, D with its status when it has ended; D without C when the line
# was given up or refused. A status that such a line did not change is left
# out: it belongs to the command before.
#
# In tmux, what the environment says of the terminal is of the one around tmux.
# With a secret, the directory tells tmux there how the shell stands, too (at=
# the prompt, run= its command, d= how the last one ended), because tmux keeps
# it for those who come later; and a key that no keyboard sends has the line
# editor say whether its line holds text (S). It changes nothing. fish 4 reads
# such keys otherwise and has none.
#
# The secret is a part of the functions' own text, not a variable, so that
# "set" does not show it ("functions NAME" does). B comes from fish_prompt,
# which calls the user's own, and is the user's own again while a command
# runs; all else comes from event handlers, after which fish restores $status
# and $pipestatus.

status is-interactive
and not functions -q __termpilot_first
and test "$TERM" != dumb
and begin
    set -q __termpilot_n
    or begin
        not set -q ITERM_SHELL_INTEGRATION_INSTALLED
        and test "$TERM_PROGRAM" != termpilot
        and begin
            set -q TMUX
            and string match -qr '^(tmux|screen)' -- "$TERM"
            or begin
                not contains -- "$TERM_PROGRAM" vscode ghostty
                and not set -q KITTY_WINDOW_ID
            end
        end
    end
end
and begin
    set -q __termpilot_n
    or set -l __termpilot_n ''
    set -l __termpilot_host $hostname
    test -n "$__termpilot_n"
    and set __termpilot_host '' # with a secret the shell is on the terminal's own machine
    set -g __termpilot_s $fish_pid.(random 0 32767) # names this shell
    set -g __termpilot_i 0 # number of the prompt
    set -g __termpilot_p '' # edit: a prompt stands; run: a command runs; done: it has ended
    set -g __termpilot_last 0 # the status that D carried last
    set -g __termpilot_m '' # 1 where tmux is told how the shell stands
    set -g __termpilot_ended '' # the last command: ";d=PROMPT:STATUS"
    test -n "$__termpilot_n"
    and set -q TMUX
    and string match -qr '^(tmux|screen)' -- "$TERM"
    and set __termpilot_m 1

    # __termpilot_where STATE tells the directory.
    function __termpilot_where -V __termpilot_n -V __termpilot_host
        set -l secret
        test -n "$__termpilot_n"
        and set secret '#'(builtin string sub -s 2 -- $__termpilot_n)
        test -n "$__termpilot_m"
        or set argv ''
        builtin printf '\e]7;file://%s%s%s%s\a' "$__termpilot_host" (builtin string escape --style=url -- $PWD | builtin string join %0A) "$secret" "$argv[1]"
    end

    function __termpilot_preexec --on-event fish_preexec -V __termpilot_n
        # For blanks and comments nothing runs, and $status is that of the command before.
        builtin string match -qvr '^\s*(#.*)?$' -- (builtin string split \n -- "$argv[1]")
        or return
        set -l line
        test (builtin string length -- "$argv[1]") -le 16384
        and set line ';cmdline_url='(builtin string escape --style=url -- "$argv[1]" | builtin string join %0A)
        set __termpilot_p run
        if functions -q __termpilot_prompt
            functions -e fish_prompt
            functions -c __termpilot_prompt fish_prompt
            functions -e __termpilot_prompt
        end
        builtin printf '\e]133;C;aid=%s-%s%s%s\a' $__termpilot_s $__termpilot_i "$line" "$__termpilot_n"
        test -n "$__termpilot_m"
        and __termpilot_where ";run=$__termpilot_s-$__termpilot_i"
    end

    function __termpilot_postexec --on-event fish_postexec -V __termpilot_n
        set __termpilot_last $status
        test $__termpilot_p = run
        or return
        set __termpilot_p done
        set __termpilot_ended ";d=$__termpilot_i:$__termpilot_last"
        builtin printf '\e]133;D;%s;aid=%s-%s%s\a' $__termpilot_last $__termpilot_s $__termpilot_i "$__termpilot_n"
    end

    # __termpilot_next begins the next prompt: its A.
    function __termpilot_next -V __termpilot_n
        set __termpilot_i (builtin math $__termpilot_i + 1)
        set __termpilot_p edit
        set -l tell ''
        test -n "$__termpilot_m"
        and __termpilot_bind
        and set tell ';tell=1'
        __termpilot_where ";at=$__termpilot_s-$__termpilot_i$__termpilot_ended$tell"
        builtin printf '\e]133;A;aid=%s-%s%s\a' $__termpilot_s $__termpilot_i "$__termpilot_n"
    end

    # __termpilot_leave CODE ends a prompt at which nothing ran.
    function __termpilot_leave -V __termpilot_n
        builtin printf '\e]133;D%s;aid=%s-%s%s\a' "$argv[1]" $__termpilot_s $__termpilot_i "$__termpilot_n"
        __termpilot_next
    end

    # __termpilot_bind binds the key by which the line editor is asked. It is done
    # anew at each prompt, because a key that is bound no more would be typed.
    function __termpilot_bind
        builtin string match -q '3.*' -- $version
        or return
        for mode in (builtin bind -L)
            builtin bind -M $mode \e\[20257z __termpilot_tell
            or return
        end
    end

    # __termpilot_tell tells how the line stands.
    function __termpilot_tell -V __termpilot_n
        test "$__termpilot_p" = edit
        or return
        set -l mode ''
        test "$fish_key_bindings" = fish_default_key_bindings -o "$fish_bind_mode" = insert
        or set mode ';mode=c'
        set -l line (commandline)
        if test (count $line) -gt 1 -o -n "$line"; or commandline --paging-mode; or commandline --search-mode 2>/dev/null
            set mode "$mode;line=1"
        end
        builtin printf '\e]133;S;aid=%s-%s%s%s\a\e[?2004h' $__termpilot_s $__termpilot_i "$mode" "$__termpilot_n"
    end

    function __termpilot_first --on-event fish_prompt
        set -l st $status
        if test "$__termpilot_p" = run; or test "$__termpilot_p" = edit -a $st != $__termpilot_last
            __termpilot_leave ";$st"
        else if test "$__termpilot_p" = edit
            __termpilot_leave ''
        else
            __termpilot_next
        end
        set __termpilot_last $st
        __termpilot_wrap
    end

    # Ctrl-C on a line, and a line that fish refuses (it stays on the command
    # line): fish 3 paints the prompt anew, without an event for it. fish 4 after
    # Ctrl-C only empties the line, unless it is asked to.
    function __termpilot_cancel --on-event fish_cancel --on-event fish_posterror
        test "$__termpilot_p" = edit
        and __termpilot_leave ''
        and commandline -f repaint
    end

    # __termpilot_wrap puts a fish_prompt with marks in the place of the user's, when it is not there yet.
    function __termpilot_wrap -V __termpilot_n
        functions fish_prompt | builtin string match -q '*__termpilot_prompt*'
        and return
        functions -q __termpilot_prompt
        and functions -e __termpilot_prompt
        functions -q fish_prompt
        and functions -c fish_prompt __termpilot_prompt
        or function __termpilot_prompt
        end
        function fish_prompt -V __termpilot_n
            __termpilot_prompt # at once, because it sees $status and $pipestatus
            # Without aid: after Ctrl-C fish paints the text that it has.
            builtin printf '\e]133;B%s\a' "$__termpilot_n"
        end
    end
end

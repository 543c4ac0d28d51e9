# termpilot's shell integration for zsh 5.0 and newer: prints prompt marks
# (OSC 133) and the directory (OSC 7), and leaves all else as it was.
#
# Marks: A before the prompt, B after it, C with the command line before a
# command runs, D with its status when it has ended; D without C when the line
# was given up or refused. A status that such a line did not change is left
# out: it belongs to the command before. D tells (eol=, in base64) the text
# with which zsh has just marked a missing line end, and whether a function
# named precmd, which comes before all hooks, may have printed behind that.
#
# In tmux, what the environment says of the terminal is of the one around tmux.
# With a secret, the directory tells tmux there how the shell stands, too (at=
# the prompt, more= one of which the line goes on, run= its command, d= how the last one ended), because tmux keeps
# it for those who come later; and a key that no keyboard sends has the line
# editor say whether its line holds text (S). It changes nothing.
#
# PS1 and PS2 hold the marks while a line is edited, and are the user's own
# again when a command or a hook of the user's runs.

# No alias of the user's may slip into the functions, and two options have zsh
# read text otherwise.
'builtin' 'typeset' '-g' __termpilot_x=
[[ -o aliases ]] && __termpilot_x=a
[[ -o shglob ]] && __termpilot_x+=g
[[ -o cshjunkiequotes ]] && __termpilot_x+=q
'builtin' 'unsetopt' 'aliases' 'shglob' 'cshjunkiequotes'

if [[ -o interactive && -z ${__termpilot_s-} && ${TERM-dumb} != dumb &&
	( -n ${__termpilot_n+set} || -z ${ITERM_SHELL_INTEGRATION_INSTALLED-}${VSCODE_SHELL_INTEGRATION-} && ${TERM_PROGRAM-} != termpilot &&
	( -n ${TMUX-} && $TERM == (tmux|screen)* || -z ${KITTY_WINDOW_ID-} && ${TERM_PROGRAM-} != (vscode|ghostty) ) ) ]]; then

builtin typeset -g +x __termpilot_s=$$.$RANDOM # names this shell
builtin typeset -gi +x __termpilot_i=0         # number of the prompt
builtin typeset -gi +x __termpilot_p=0         # 1 from the prompt to the start of a command
builtin typeset -gi +x __termpilot_last=0      # the status that D carried last
builtin typeset -gi +x __termpilot_sp=0        # 1 when zsh marks missing line ends
builtin typeset -gi +x __termpilot_lost=0      # 1 when a command ran after a prompt without marks
builtin typeset -gH +x __termpilot_n=${__termpilot_n-} # ";n=NONCE", or nothing; hidden from lists of variables
builtin typeset -gi +x __termpilot_m=0         # 1 where tmux is told how the shell stands
builtin typeset -g +x __termpilot_ended=       # the last command: ";d=PROMPT:STATUS"
[[ -n $__termpilot_n && -n ${TMUX-} && $TERM == (tmux|screen)* ]] && __termpilot_m=1
builtin typeset -gaH __termpilot_w; __termpilot_w=()   # what stands around PS1 and PS2
builtin typeset -gaH __termpilot_url; __termpilot_url=('' '')
builtin typeset -ga __termpilot_eol; __termpilot_eol=('' '')

# __termpilot_base64 TEXT sets REPLY.
__termpilot_base64() {
	builtin emulate -L zsh -o no_multibyte
	builtin local abc=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/ text=$1 c
	builtin local -i i j bits=0 left=0
	REPLY=
	for ((i = 1; i <= $#text; i++)); do
		c=$text[i]
		((bits = bits << 8 | #c, left += 8))
		while ((left >= 6)); do
			((left -= 6, j = (bits >> left & 63) + 1))
			REPLY+=$abc[j]
		done
		((bits &= (1 << left) - 1))
	done
	if ((left)); then
		((j = (bits << (6 - left) & 63) + 1))
		REPLY+=$abc[j]
		while (($#REPLY % 4)); do REPLY+==; done
	fi
}

# __termpilot_unwrap takes the marks out of PS1 and PS2.
__termpilot_unwrap() {
	builtin emulate -L zsh
	(($#__termpilot_w)) || builtin return 0
	if [[ $PS1 == *"$__termpilot_w[1]"* || $PS1 == *"$__termpilot_w[2]"* ]]; then
		PS1=${${PS1//"$__termpilot_w[1]"/}//"$__termpilot_w[2]"/}
	fi
	if [[ $PS2 == *"$__termpilot_w[3]"* || $PS2 == *"$__termpilot_w[2]"* ]]; then
		PS2=${${PS2//"$__termpilot_w[3]"/}//"$__termpilot_w[2]"/}
	fi
	__termpilot_w=()
}

# __termpilot_first is the first of the precmd functions.
__termpilot_first() {
	builtin local -i st=$?
	builtin emulate -L zsh -o extendedglob -o no_xtrace
	builtin trap - DEBUG ZERR
	builtin local mark= REPLY eol=${PROMPT_EOL_MARK-'%B%S%#%s%b'}
	__termpilot_unwrap
	if ((__termpilot_i > 0)); then
		((!__termpilot_lost && (!__termpilot_p || st != __termpilot_last))) && mark=";$st"
		((__termpilot_p)) || __termpilot_ended=";d=$__termpilot_i:$st"
		((__termpilot_lost)) && __termpilot_ended=
		mark+=";aid=$__termpilot_s-$__termpilot_i"
		if ((__termpilot_sp)); then
			if [[ $eol != "$__termpilot_eol[1]" ]]; then
				REPLY=${(%)eol}
				REPLY=${REPLY//$'\e'\[[0-9;:]#[A-Za-z]/}
				REPLY=${REPLY//$'\e'[\(\)]?/}
				__termpilot_base64 "${REPLY//[[:cntrl:]]/}"
				__termpilot_eol=("$eol" "$REPLY")
			fi
			mark+=";eol=$__termpilot_eol[2]"
			[[ -n ${functions[precmd]-} ]] && mark+=';precmd=1' # it ran before us
		fi
		builtin print -rn -- $'\e]133;D'"$mark$__termpilot_n"$'\a' >/dev/tty
	fi 2>/dev/null
	((__termpilot_i += 1, __termpilot_last = st, __termpilot_p = 1, __termpilot_lost = 0))

	# Run last, too: now by the scheduler, which comes after all hooks, then by the array.
	[[ $preexec_functions[-1] == __termpilot_preexec ]] || preexec_functions=(${preexec_functions:#__termpilot_preexec} __termpilot_preexec)
	if [[ $precmd_functions[1] != __termpilot_first || $precmd_functions[-1] != __termpilot_final ]]; then
		precmd_functions=(__termpilot_first ${precmd_functions:#__termpilot_(first|final)} __termpilot_final)
		if builtin zmodload -F zsh/sched b:sched 2>/dev/null; then
			builtin sched +0 __termpilot_final
		fi
	fi
	builtin return 0
}

# __termpilot_final is the last of the precmd functions.
__termpilot_final() {
	builtin local -i st=$? percent=0 sp=0
	[[ -o promptpercent ]] && percent=1
	[[ -o promptsp && -o promptcr ]] && sp=1
	builtin emulate -L zsh -o extendedglob -o no_xtrace
	builtin trap - DEBUG ZERR
	((__termpilot_sp = sp))
	builtin local id=";aid=$__termpilot_s-$__termpilot_i$__termpilot_n"$'\a' at= more=
	__termpilot_unwrap
	if [[ $PWD != "$__termpilot_url[1]" || -z $__termpilot_url[2] ]]; then
		__termpilot_where
	fi
	if ((__termpilot_m)); then
		at=";at=$__termpilot_s-$__termpilot_i$__termpilot_ended"
		__termpilot_bind && at+=';tell=1'
		more=$'\e]7;'"${__termpilot_url[2]//\%/%%};more=$__termpilot_s-$__termpilot_i"$'\a'
	fi
	if [[ $percent == 0 || ${(t)PS1} == *readonly* || ${(t)PS2} == *readonly* ]]; then
		builtin print -rn -- $'\e]7;'"$__termpilot_url[2]$at"$'\a\e]133;A'"$id"$'\e]133;B'"$id" >/dev/tty
		builtin return st
	fi 2>/dev/null
	__termpilot_w=("%{"$'\e]7;'"${__termpilot_url[2]//\%/%%}$at"$'\a\e]133;A'"$id%}" "%{"$'\e]133;B'"$id%}" "%{$more"$'\e]133;A;k=s'"$id%}")
	PS1=$__termpilot_w[1]$PS1$__termpilot_w[2]
	PS2=$__termpilot_w[3]$PS2$__termpilot_w[2]
	builtin return st
}

# __termpilot_bind binds the key by which the line editor is asked. It is done
# anew at each prompt, because a key that is bound no more would be typed.
__termpilot_bind() {
	builtin emulate -L zsh -o no_xtrace
	[[ -o zle ]] && builtin zle -N __termpilot_tell || builtin return 1
	builtin local map
	for map in emacs viins vicmd main; do
		builtin bindkey -M $map '\e[20257z' __termpilot_tell || builtin return 1
	done
	for map in viopp visual; do # not before zsh 5.0.8
		builtin bindkey -M $map '\e[20257z' __termpilot_tell
	done
	builtin return 0
} 2>/dev/null

# __termpilot_tell tells how the line stands. Where the key before it was one
# that takes the next as text, that is taken out again.
__termpilot_tell() {
	builtin emulate -L zsh -o no_xtrace
	builtin local mode= paste=
	[[ $CONTEXT == start && $__termpilot_p == 1 ]] || builtin return 0
	[[ $LBUFFER == *$'\e[20257z' ]] && LBUFFER=${LBUFFER%$'\e[20257z'}
	[[ $KEYMAP == (main|emacs|viins) ]] || mode=';mode=c'
	[[ -z $BUFFER ]] || mode+=';line=1'
	((${+zle_bracketed_paste})) && paste=$zle_bracketed_paste[1]
	builtin print -rn -- $'\e]133;S;aid='"$__termpilot_s-$__termpilot_i$mode$__termpilot_n"$'\a'"$paste" >/dev/tty
	builtin return 0
} 2>/dev/null

# __termpilot_where makes the directory a file URL.
__termpilot_where() {
	builtin emulate -L zsh -o extendedglob -o no_multibyte
	builtin local MATCH MBEGIN MEND host=$HOST
	# With a secret the shell is on the terminal's own machine.
	[[ -n $__termpilot_n ]] && host=
	__termpilot_url=("$PWD" "file://$host${PWD//(#m)[^A-Za-z0-9_.\/-]/%${(l:2::0:)$(([##16]#MATCH))}}${__termpilot_n:+#${__termpilot_n#;}}")
}

# __termpilot_preexec is the last of the preexec functions.
__termpilot_preexec() {
	builtin emulate -L zsh -o extendedglob -o no_xtrace
	builtin trap - DEBUG ZERR
	builtin local MATCH MBEGIN MEND line=$1 run=
	__termpilot_unwrap
	if ((!__termpilot_p)); then
		# The prompt came without our marks. Be there at the next.
		((__termpilot_lost = 1))
		precmd_functions=(__termpilot_first ${precmd_functions:#__termpilot_(first|final)} __termpilot_final)
		builtin return 0
	fi
	((__termpilot_p = 0))
	if (($#line > 0 && $#line <= 16384)); then
		line=";cmdline_url=${${line//\%/%25}//(#m)[[:cntrl:];]/%${(l:2::0:)$(([##16]#MATCH))}}"
	else
		line=
	fi
	((__termpilot_m)) && run=$'\e]7;'"$__termpilot_url[2];run=$__termpilot_s-$__termpilot_i"$'\a'
	builtin print -rn -- $'\e]133;C;aid='"$__termpilot_s-$__termpilot_i$line$__termpilot_n"$'\a'"$run" >/dev/tty
	builtin return 0
} 2>/dev/null

# "set -x" is to show nothing of what runs between a command and its end mark:
# functions that are defined under an emulation run under it from their first line.
builtin emulate zsh -o extendedglob -o no_xtrace -o no_aliases -c '
	functions[__termpilot_first]=$functions[__termpilot_first]
	functions[__termpilot_preexec]=$functions[__termpilot_preexec]
	builtin typeset -ga precmd_functions preexec_functions
	precmd_functions=(__termpilot_first $precmd_functions)
	preexec_functions=($preexec_functions __termpilot_preexec)' 2>/dev/null

fi

[[ $__termpilot_x == *a* ]] && 'builtin' 'setopt' 'aliases'
[[ $__termpilot_x == *g* ]] && 'builtin' 'setopt' 'shglob'
[[ $__termpilot_x == *q* ]] && 'builtin' 'setopt' 'cshjunkiequotes'
'builtin' 'unset' __termpilot_x

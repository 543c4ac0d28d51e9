# termpilot's shell integration for bash 3.2 and newer: prints prompt marks
# (OSC 133) and the directory (OSC 7), and leaves all else as it was.
#
# Marks: A before the prompt, B after it, C before a command runs, D with its
# status when it has ended; D without C when the line was given up or refused.
# A status that such a line did not change is left out: it belongs to the
# command before. Bash 4.4 prints C by PS0; older ones need the DEBUG trap, and
# run the user's own from it.
#
# In tmux, what the environment says of the terminal is of the one around tmux.
# With a secret, the directory tells tmux there how the shell stands, too (at=
# the prompt, more= one of which the line goes on, run= its command, d= how the last one ended), because tmux keeps
# it for those who come later; and a key that no keyboard sends has the line
# editor say whether its line holds text (S). It changes nothing.
#
# During a command PS1, PS2 and PS0 hold nothing that prints a mark: their
# marks are array elements, and __termpilot_p picks the empty ones. A second
# expansion of PS1 without PROMPT_COMMAND before it means that bash refused the
# line (history expansion failed).

# No alias of the user's may slip into the functions. ("if" is read as a whole.)
\builtin shopt -q expand_aliases && __termpilot_x=1 || __termpilot_x=
\builtin shopt -u expand_aliases

if [[ $- == *i* && -z ${__termpilot_p-} && ${TERM-dumb} != dumb &&
	( -n ${__termpilot_n+set} || -z ${ITERM_SHELL_INTEGRATION_INSTALLED-}${VSCODE_SHELL_INTEGRATION-} && ${TERM_PROGRAM-} != termpilot &&
	( -n ${TMUX-} && ( $TERM == tmux* || $TERM == screen* ) ||
	-z ${KITTY_WINDOW_ID-} && ${TERM_PROGRAM-} != vscode && ${TERM_PROGRAM-} != ghostty ) ) ]]; then

__termpilot_p=0          # 0 while a command runs, 1 before the prompt, 2 at the prompt
__termpilot_i=0          # number of the prompt
__termpilot_s=$$.$RANDOM # names this shell
__termpilot_last=0       # the status that D carried last
__termpilot_quiet=0      # prompts in a row that the rest of PROMPT_COMMAND left alone
__termpilot_seen=        # the rest of PROMPT_COMMAND
__termpilot_fixed=       # promptvars is off: the marks stand in the prompts
__termpilot_d=           # bash before 4.4: 1 while a DEBUG trap may be of a command
__termpilot_trap=        # bash before 4.4: the user's DEBUG trap
__termpilot_pipe=        # 1 where prompts go through a pipe
__termpilot_cwd=
__termpilot_m=           # 1 where tmux is told how the shell stands
__termpilot_ended=       # the last command: ";d=PROMPT:STATUS"
__termpilot_key=         # what PROMPT_COMMAND was when all was right
__termpilot_ps=('' '' '') # what PS1, PS2 and PS0 were when all was right
# What holds the secret is an array, which no bash exports.
__termpilot_url=('') __termpilot_a=('' '' '') __termpilot_b=('' '' '') __termpilot_c=('' '' '') __termpilot_e=('' '' '')
__termpilot_n=("${__termpilot_n-}") # ";n=NONCE", or nothing
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then __termpilot_old=1; else __termpilot_old=; fi
[[ -n $__termpilot_n && -z $__termpilot_old && -n ${TMUX-} && ( $TERM == tmux* || $TERM == screen* ) ]] && __termpilot_m=1

# The two hooks. Their output goes nowhere, so that "set -x" and a DEBUG trap
# that prints show nothing of them: marks go to /dev/tty. Descriptor 9 is meanwhile
# where the shell prints its prompts. "&&:" lets a failed command's status through without ending a "set -e" shell.
__termpilot_h=('{ __termpilot_first&&:; } 9>&2 >/dev/null 2>&1' '{ __termpilot_final&&:; } >/dev/null 2>&1')
if [[ -n $__termpilot_old ]]; then
	# Only here, outside a function, bash tells and takes the DEBUG trap.
	__termpilot_h[0]='{ __termpilot_q=$? __termpilot_d= __termpilot_t=$(\builtin trap -p DEBUG);__termpilot_first $__termpilot_q&&:; } 9>&2 >/dev/null 2>&1'
	__termpilot_h[1]='{ \builtin eval "${__termpilot_t-}";__termpilot_final&&:; } >/dev/null 2>&1'
fi

# What goes around PS1 and PS2, and behind PS0.
__termpilot_marks() {
	if [[ -n $__termpilot_fixed ]]; then
		__termpilot_w=("\[${__termpilot_a[1]}\]" "\[${__termpilot_b[1]}\]" "\[${__termpilot_e[1]}\]" "${__termpilot_c[1]}")
	else
		__termpilot_w=('\[${__termpilot_a[__termpilot_p]}${__termpilot_w:__termpilot_p=__termpilot_p?2:0:0}\]' '\[${__termpilot_b[__termpilot_p]}\]'
			'\[${__termpilot_e[__termpilot_p]}\]' '${__termpilot_c[__termpilot_p]}${__termpilot_w:__termpilot_p=0:0}')
	fi
}

# __termpilot_around NAME OLD-BEFORE OLD-AFTER BEFORE AFTER replaces what stands around
# the value of NAME. printf does not stop the shell when the variable is read-only.
__termpilot_around() {
	local text=${!1-}
	[[ -z $2 ]] || text=${text//"$2"/}
	[[ -z $3 ]] || text=${text//"$3"/}
	[[ ${!1-} == "$4$text$5" ]] || builtin printf -v "$1" %s "$4$text$5"
}

__termpilot_wrap() {
	builtin shopt -q promptvars && [[ -z $__termpilot_fixed && ${PS1-} == "${__termpilot_ps[0]}" &&
		${PS2-} == "${__termpilot_ps[1]}" && ${PS0-} == "${__termpilot_ps[2]}" ]] && builtin return
	local -a w
	local fixed=1
	w=("${__termpilot_w[@]}")
	builtin shopt -q promptvars && fixed=
	if [[ -n $fixed || -n $__termpilot_fixed ]]; then
		__termpilot_fixed=$fixed
		__termpilot_marks
	fi
	__termpilot_around PS1 "${w[0]}" "${w[1]}" "${__termpilot_w[0]}" "${__termpilot_w[1]}"
	__termpilot_around PS2 "${w[2]}" "${w[1]}" "${__termpilot_w[2]}" "${__termpilot_w[1]}"
	[[ -n $__termpilot_old ]] || __termpilot_around PS0 '' "${w[3]}" '' "${__termpilot_w[3]}"
	__termpilot_ps=("${PS1-}" "${PS2-}" "${PS0-}")
}

# __termpilot_where sets __termpilot_url to the directory as a file URL.
__termpilot_where() {
	[[ $PWD == "$__termpilot_cwd" && -n $__termpilot_url ]] && builtin return
	local LC_ALL=C i c hex path=
	__termpilot_cwd=$PWD
	if [[ $PWD == *[!A-Za-z0-9_./-]* ]]; then
		for ((i = 0; i < ${#PWD}; i++)); do
			c=${PWD:i:1}
			if [[ $c != [A-Za-z0-9_./-] ]]; then
				builtin printf -v hex %d "'$c"
				builtin printf -v c %%%02X $((hex & 255))
			fi
			path+=$c
		done
	else
		path=$PWD
	fi
	# With a secret the shell is on the terminal's own machine.
	if [[ -n $__termpilot_n ]]; then
		__termpilot_url[0]=file://$path#${__termpilot_n#;}
	else
		__termpilot_url[0]=file://${HOSTNAME-}$path
	fi
}

# __termpilot_hooks keeps one hook at the front of PROMPT_COMMAND and, while
# something else there builds PS1 anew, one at its end. A hook at the end would
# start the clock of those who time commands by a DEBUG trap, so it goes again.
# The elements that bash may just be running are changed in place only.
__termpilot_hooks() {
	if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
		__termpilot_precmds
		builtin return 0
	fi
	local key="$((__termpilot_quiet < 2)) ${PROMPT_COMMAND[*]-}"
	[[ $key != "$__termpilot_key" ]] || builtin return 0
	local first=${__termpilot_h[0]} final=${__termpilot_h[1]} nl=$'\n' i last=0 rest= found= text
	local -a keys
	[[ -n ${PROMPT_COMMAND[*]+set} ]] || PROMPT_COMMAND=
	keys=("${!PROMPT_COMMAND[@]}")
	((${#keys[@]} > 1 && BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) || keys=(0)
	for i in "${keys[@]}"; do
		text=${PROMPT_COMMAND[i]-}
		text=${text//"$first$nl"/}
		text=${text//"$nl$final"/}
		text=${text//"$first"/:}
		text=${text//"$final"/:}
		[[ $text == : ]] || rest+=$text$nl
		last=$i
	done
	rest=${rest%"$nl"}
	if [[ $rest != "$__termpilot_seen" ]]; then
		__termpilot_seen=$rest
		__termpilot_quiet=0
	fi
	text=${PROMPT_COMMAND[last]-}
	if [[ -n $rest && $__termpilot_quiet -lt 2 ]]; then
		[[ $text == *"$final" && $text != "$final$nl"* ]] && final=
	elif [[ -n $__termpilot_old ]]; then
		[[ $text == *"$final" ]] && final=
	else
		found=1
	fi
	# final is empty: it stands; found: it is to go; else it is to be put last.
	if [[ -n $final ]]; then
		for i in "${keys[@]}"; do
			text=${PROMPT_COMMAND[i]-}
			if [[ $text == "$final" && $i -gt 0 ]]; then
				builtin unset "PROMPT_COMMAND[$i]"
			elif [[ $text == *"$final"* ]]; then
				text=${text%"$nl$final"}
				PROMPT_COMMAND[i]=${text//"$final"/:}
			fi
		done
		if [[ -z $found && ${#keys[@]} -gt 1 ]]; then
			PROMPT_COMMAND+=("$final")
		elif [[ -z $found ]]; then
			text=${PROMPT_COMMAND-}
			PROMPT_COMMAND=${text:+$text$nl}$final
		fi
	fi
	for i in "${keys[@]}"; do
		if [[ ${PROMPT_COMMAND[i]-} == "$first"* ]]; then
			__termpilot_key="$((__termpilot_quiet < 2)) ${PROMPT_COMMAND[*]}"
			builtin return 0
		fi
	done
	for i in "${keys[@]}"; do
		text=${PROMPT_COMMAND[i]-}
		[[ $text == *"$first"* ]] && builtin break
		i=0
	done
	text=${PROMPT_COMMAND[i]-}
	text=${text//"$first"/:}
	PROMPT_COMMAND[i]=$first${text:+$nl$text}
	builtin return 1 # it was not the first
}

# __termpilot_precmds does the same with bash-preexec, which keeps itself at
# both ends of PROMPT_COMMAND, by its arrays of functions. It gives each of them
# the status. Its own last function comes in at the first prompt: until then
# the hook at the end of PROMPT_COMMAND stays.
__termpilot_precmds() {
	local i text first=${__termpilot_h[0]} final=${__termpilot_h[1]} nl=$'\n'
	local -a others
	others=()
	for text in ${precmd_functions[@]+"${precmd_functions[@]}"}; do
		[[ $text == __termpilot_* ]] || others+=("$text")
	done
	precmd_functions=(__termpilot_first ${others[@]+"${others[@]}"} __termpilot_final)
	others=()
	if [[ -n $__termpilot_old ]]; then
		for text in ${preexec_functions[@]+"${preexec_functions[@]}"}; do
			[[ $text == __termpilot_* ]] || others+=("$text")
		done
		preexec_functions=(${others[@]+"${others[@]}"} __termpilot_started)
	fi
	((__termpilot_i > 1)) || builtin return 0
	for i in "${!PROMPT_COMMAND[@]}"; do
		text=${PROMPT_COMMAND[i]-}
		[[ $text == *__termpilot_* ]] || continue
		text=${text//"$first$nl"/}
		text=${text//"$nl$final"/}
		text=${text//"$first"/:}
		PROMPT_COMMAND[i]=${text//"$final"/:}
	done
}

# __termpilot_first ends the last command and prepares the marks of the next prompt.
__termpilot_first() {
	local status=$? IFS=$' \t\n' mark= ran=1
	[[ -z ${1-} ]] || status=$1
	[[ $__termpilot_p == 0 || -n $__termpilot_fixed && -z $__termpilot_old ]] || ran=
	if [[ $PS1 == *"${__termpilot_w[1]}"* ]]; then
		((__termpilot_quiet < 9)) && ((__termpilot_quiet += 1))
	else
		__termpilot_quiet=0
	fi
	if __termpilot_hooks; then
		[[ -n $ran || $status != "$__termpilot_last" ]] && mark=";$status"
		# Bash before 4.4 runs no DEBUG trap for a line that is one subshell.
		[[ -z $__termpilot_old || -n $ran || -z $mark || $mark == ';2' || $mark == ';130' || $mark == ';258' ]] ||
			{ [[ $mark == ';1' && ${BASH_VERSINFO[0]} -lt 4 ]] && __termpilot_kept; } || __termpilot_started
	fi # else other commands came first, and the status is not known
	__termpilot_last=$status
	[[ -p /dev/fd/9 ]] && __termpilot_pipe=1 || __termpilot_pipe=
	if ((__termpilot_i > 0)); then
		[[ -z $ran ]] || __termpilot_ended=${mark:+";d=$__termpilot_i:$status"}
		mark=$'\e]133;D'$mark";aid=$__termpilot_s-$__termpilot_i$__termpilot_n"$'\a'
		# Where prompts go through a pipe ("exec > >(tee log) 2>&1"), so does C, and D must not overtake it.
		[[ -z $__termpilot_pipe ]] && { builtin printf %s "$mark" >/dev/tty; } 2>/dev/null && mark=
	else
		mark=
	fi
	((__termpilot_i += 1))
	__termpilot_where
	local id="aid=$__termpilot_s-$__termpilot_i$__termpilot_n"$'\a' at= run= more= url=$'\e]7;'$__termpilot_url
	if [[ -n $__termpilot_m && -z $__termpilot_fixed ]]; then
		__termpilot_bind
		at=";at=$__termpilot_s-$__termpilot_i$__termpilot_ended$at"
		run="$url;run=$__termpilot_s-$__termpilot_i"$'\a'
		more="$url;more=$__termpilot_s-$__termpilot_i"$'\a'
	fi
	url+=$at$'\a'
	__termpilot_a[1]=$mark$url$'\e]133;A;'$id
	__termpilot_a[2]=$'\e]133;D;'$id$url$'\e]133;A;'$id
	__termpilot_b[1]=$'\e]133;B;'$id __termpilot_b[2]=$'\e]133;B;'$id
	# A line that began behind other text was wrapped elsewhere than bash thinks: what it left below the cursor is no output.
	__termpilot_c[1]=$'\e[J\e]133;C;'$id$run __termpilot_c[2]=${__termpilot_c[1]}
	__termpilot_e[1]=$more$'\e]133;A;k=s;'$id __termpilot_e[2]=$more$'\e]133;A;k=s;'$id
	__termpilot_p=1
	__termpilot_wrap
	[[ -z ${1-} ]] || __termpilot_retrap
	builtin return "$status"
}

# __termpilot_bind binds the key by which the line editor is asked. It is done
# anew at each prompt, because a key that is bound no more would be typed.
__termpilot_bind() {
	local map mode=
	[[ -o emacs || -o vi ]] || builtin return 0
	for map in emacs vi-insert vi-command; do
		[[ $map != vi-command ]] || mode=';mode=c'
		builtin bind -m "$map" -x "\"\\e[20257z\": { __termpilot_tell '$mode' \"\$_\"; } >/dev/null 2>&1" || builtin return 0
	done
	at=';tell=1'
}

# __termpilot_tell tells how the line stands. Where the key before it was one
# that takes the next as text, that is taken out again. It is called with $_,
# which is then what it was.
__termpilot_tell() {
	local key=$'\e[20257z' before=${READLINE_LINE:0:READLINE_POINT} mode=$1
	[[ $__termpilot_p == 2 ]] || builtin return 0
	[[ ! -o emacs ]] || mode= # bash before 5.1 takes the last binding for all maps
	if [[ $before == *"$key" ]]; then
		before=${before%"$key"}
		READLINE_LINE=$before${READLINE_LINE:READLINE_POINT} READLINE_POINT=${#before}
	fi
	[[ -z $READLINE_LINE ]] || mode+=';line=1'
	before=
	[[ $(builtin bind -v) == *'enable-bracketed-paste on'* ]] && before=$'\e[?2004h'
	builtin printf %s $'\e]133;S;aid='"$__termpilot_s-$__termpilot_i;drawn=1$mode$__termpilot_n"$'\a'"$before" >/dev/tty
}

# __termpilot_final puts the marks around a prompt that was just built anew.
__termpilot_final() {
	local IFS=$' \t\n'
	[[ $PS1 == *"${__termpilot_w[1]}"* ]] || __termpilot_quiet=-1
	__termpilot_wrap
	__termpilot_hooks || : # others may have put themselves in front meanwhile
	# The last command, and false with the DEBUG trap, which must not meet the ":" of the hook.
	((__termpilot_d = 1, ${#__termpilot_old} == 0))
}

# Bash before 4.4: C comes from the DEBUG trap, which also runs the user's.

# __termpilot_retrap makes of the trap that stands (in __termpilot_t) the command that sets ours.
__termpilot_retrap() {
	local -a words
	local text
	builtin eval "words=($__termpilot_t)"
	if [[ ${words[2]-} != *__termpilot_debug* ]]; then
		__termpilot_trap=${words[2]-}
		text='__termpilot_debug "$_"'
		# The user's trap finds $? and $_ as they were, and meets no command of the hooks.
		[[ -z $__termpilot_trap ]] || text='case $BASH_COMMAND in __termpilot_*|"\\builtin "*__termpilot_*);;*)__termpilot_debug_status $? "$_"&&: "$_"
'$__termpilot_trap'
esac'
		builtin printf -v __termpilot_t '\\builtin trap -- %q DEBUG' "$text"
	else
		__termpilot_t=
	fi
}

# __termpilot_started prints C; descriptor 9 is where the shell prints its prompts.
__termpilot_started() {
	if [[ $__termpilot_p != 0 ]]; then
		__termpilot_d= __termpilot_p=0
		if [[ -n $__termpilot_pipe && -p /dev/fd/9 ]]; then
			builtin printf %s "${__termpilot_c[1]}" >&9
		else
			builtin printf %s "${__termpilot_c[1]}" >/dev/tty
		fi
	fi
}

# __termpilot_kept tells whether the last line in the history is no subshell: then
# Ctrl-C gave up a line, which gives the status 1 in bash 3.
__termpilot_kept() {
	local subshell='^[ 0-9*]*\('
	[[ ! $(HISTTIMEFORMAT= builtin history 1) =~ $subshell ]]
}

# __termpilot_debug is called with $_, which is then what it was.
__termpilot_debug() {
	if [[ -n $__termpilot_d && -z ${COMP_LINE-} && -z ${READLINE_LINE-} && $BASH_SUBSHELL == 0 &&
		$BASH_COMMAND != __termpilot_* && $BASH_COMMAND != '\builtin '*__termpilot_* ]]; then
		__termpilot_started 9>&2 2>/dev/null
	fi
}

# __termpilot_debug_status is called with $?, too.
__termpilot_debug_status() {
	__termpilot_debug
	builtin return "$1"
}

__termpilot_marks
__termpilot_wrap
[[ -n ${PROMPT_COMMAND[*]+set} ]] || PROMPT_COMMAND=
__termpilot_t=("${!PROMPT_COMMAND[@]}")
((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) || __termpilot_t=(0)
if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
	if ((${#__termpilot_t[@]} > 1)); then
		PROMPT_COMMAND+=("${__termpilot_h[1]}")
	else
		PROMPT_COMMAND+=$'\n'${__termpilot_h[1]}
	fi
elif ((${#__termpilot_t[@]} > 1)); then
	PROMPT_COMMAND=("${__termpilot_h[0]}" "${PROMPT_COMMAND[@]}")
fi
builtin unset __termpilot_t
__termpilot_hooks || :

fi

[[ -n $__termpilot_x ]] && \builtin shopt -s expand_aliases
\builtin unset __termpilot_x

# Read by an interactive login bash that termpilot's host started, as $ENV of
# its posix mode or as its rcfile: reads the start-up files that bash itself
# would have read, then termpilot's script. The secret is in a file that is
# gone when the first of them runs.
\builtin set +o posix
\builtin shopt -u inherit_errexit 2>/dev/null # posix mode leaves it on
[[ ${HISTFILE-} == "$HOME/.sh_history" ]] && HISTFILE=$HOME/.bash_history

__termpilot_boot=("$TERMPILOT_INJECT" '')
if [[ -n ${TERMPILOT_ENV+x} ]]; then
	\builtin export ENV="$TERMPILOT_ENV"
else
	\builtin unset ENV
fi
\builtin unset TERMPILOT_INJECT TERMPILOT_ENV
# An array, which "set -a" in a start-up file does not export.
IFS= \builtin read -r '__termpilot_boot[1]' <"${__termpilot_boot[0]}/nonce" 2>/dev/null
\builtin printf '' >|"${__termpilot_boot[0]}/nonce"
\builtin command rm -f -- "${__termpilot_boot[0]}/nonce" 2>/dev/null

[[ -r /etc/profile ]] && \builtin . /etc/profile
if [[ -r ~/.bash_profile ]]; then
	\builtin . ~/.bash_profile
elif [[ -r ~/.bash_login ]]; then
	\builtin . ~/.bash_login
elif [[ -r ~/.profile ]]; then
	\builtin . ~/.profile
fi

__termpilot_n=("${__termpilot_boot[1]:+;n=${__termpilot_boot[1]}}")
\builtin . "${__termpilot_boot[0]}/termpilot.bash"
\builtin unset __termpilot_boot

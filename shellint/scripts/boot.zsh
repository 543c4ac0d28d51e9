# Read as .zshenv by a zsh that termpilot's host started with ZDOTDIR at its
# own folder: puts ZDOTDIR back, reads the user's .zshenv, and takes
# termpilot's script. All later start-up files are read by zsh itself. The
# secret is in a file that is gone when the user's first file runs.
'builtin' 'typeset' '-g' __termpilot_boot=$ZDOTDIR
if [[ -n ${TERMPILOT_ZDOTDIR+x} ]]; then
	'builtin' 'export' ZDOTDIR=$TERMPILOT_ZDOTDIR
else
	'builtin' 'unset' ZDOTDIR
fi
'builtin' 'unset' TERMPILOT_ZDOTDIR
'builtin' 'typeset' '-gH' __termpilot_nonce=
IFS= 'builtin' 'read' '-r' __termpilot_nonce 2>/dev/null <"$__termpilot_boot/nonce"
'builtin' 'print' '-n' >|"$__termpilot_boot/nonce"
'builtin' 'command' 'rm' '-f' '--' "$__termpilot_boot/nonce" 2>/dev/null

[[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && 'builtin' '.' "${ZDOTDIR:-$HOME}/.zshenv"

'builtin' 'typeset' '-gH' __termpilot_n=${__termpilot_nonce:+;n=$__termpilot_nonce}
'builtin' 'unset' __termpilot_nonce
'builtin' '.' "$__termpilot_boot/termpilot.zsh"
'builtin' 'unset' __termpilot_boot

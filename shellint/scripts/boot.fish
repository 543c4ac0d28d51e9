# Run by a fish that termpilot's host started, after the user's start-up files.
set -l __termpilot_boot (builtin status dirname)
set -l __termpilot_nonce ''
builtin read -l __termpilot_line <$__termpilot_boot/nonce
and set __termpilot_nonce $__termpilot_line
builtin printf '' >$__termpilot_boot/nonce
command rm -f -- $__termpilot_boot/nonce
set -l __termpilot_n ''
test -n "$__termpilot_nonce"
and set __termpilot_n ";n=$__termpilot_nonce"
source $__termpilot_boot/termpilot.fish

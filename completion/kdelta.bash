# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for bash; the words come from the program's own tables.
_kdelta() {
	local cur=${COMP_WORDS[COMP_CWORD]} i command=
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
	done
	mapfile -t COMPREPLY < <(compgen -W "$(kdelta help -o words ${command:+"$command"} 2>/dev/null)" -- "$cur")
	[[ $cur == -* || -z $command ]] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _kdelta kdelta

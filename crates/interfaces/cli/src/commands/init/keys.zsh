
# What is chosen goes through a file: the screen needs the terminal as its output.
__backstory_choose() {
  local file
  file=$(mktemp "${TMPDIR:-/tmp}/backstory.XXXXXXXX") || return 1
  command backstory choose "$1" "$file" </dev/tty >/dev/tty
  REPLY=$(<"$file")
  command rm -f -- "$file"
  [[ -n $REPLY ]]
}

# Puts an earlier prompt on the line.
backstory-prompts() {
  local REPLY
  if __backstory_choose prompt; then
    [[ -z $BUFFER ]] && LBUFFER='claude '
    LBUFFER+=${(qq)REPLY}
  fi
  zle reset-prompt
}

# Puts the command for a session on the line.
backstory-sessions() {
  local REPLY
  if __backstory_choose session; then
    BUFFER=$REPLY
    CURSOR=$#BUFFER
  fi
  zle reset-prompt
}

if [[ -o interactive ]]; then
  zle -N backstory-prompts
  zle -N backstory-sessions
  () {
    local keymap
    for keymap in emacs viins vicmd; do
      bindkey -M $keymap '^[r' backstory-prompts
      bindkey -M $keymap '^[j' backstory-sessions
    done
  }
fi


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
__backstory_prompts() {
  local REPLY quoted
  __backstory_choose prompt || return 0
  if [[ -z $READLINE_LINE ]]; then
    READLINE_LINE='claude '
    READLINE_POINT=${#READLINE_LINE}
  fi
  quoted="'${REPLY//\'/\'\\\'\'}'"
  READLINE_LINE="${READLINE_LINE:0:READLINE_POINT}$quoted${READLINE_LINE:READLINE_POINT}"
  READLINE_POINT=$((READLINE_POINT + ${#quoted}))
}

# Puts the command for a session on the line.
__backstory_sessions() {
  local REPLY
  __backstory_choose session || return 0
  READLINE_LINE=$REPLY
  READLINE_POINT=${#READLINE_LINE}
}

if [[ $- == *i* ]]; then
  for __backstory_keymap in emacs vi-insert vi-command; do
    bind -m "$__backstory_keymap" -x '"\er": __backstory_prompts'
    bind -m "$__backstory_keymap" -x '"\ej": __backstory_sessions'
  done
  unset __backstory_keymap
fi

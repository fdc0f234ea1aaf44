// What a worker can be started with.

export const MODELS = [
  ['', 'Default model'],
  ['opus', 'Opus'],
  ['sonnet', 'Sonnet'],
  ['haiku', 'Haiku'],
] as const

export const MODES = [
  ['', 'Asks first'],
  ['acceptEdits', 'Accepts edits'],
  ['plan', 'Plans first'],
  ['auto', 'Decides by itself'],
  ['dontAsk', 'Never asks'],
  ['bypassPermissions', 'May do anything'],
] as const

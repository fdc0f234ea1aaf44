// The mod: a pane that searches all sessions, and a band above the prompt.

import type { Register } from 'claude-code'

import { registerBand } from './band'
import { registerContextCost } from './context-cost'
import { registerPane } from './pane'
import { registerRecall } from './recall'

export const register: Register = (on, options) => {
  registerPane(on, typeof options.pack_tokens === 'number' ? options.pack_tokens : 1500)
  if (options.band !== false) {
    registerBand(on)
    registerContextCost(on)
  }
  if (options.recall === true) registerRecall(on)
}

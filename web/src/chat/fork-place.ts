// Where the next message forks a session: at the message that "Fork here" was pressed at.

import { signal } from '@preact/signals'

export interface ForkPlace {
  session: string
  /** The last message that the fork has. */
  uuid: string
  /** What that says. */
  text: string
}

export const forkPlace = signal<ForkPlace | undefined>(undefined)

// What this browser may do, asked for when something depends on it.

import { signal } from '@preact/signals'
import { get, type Schemas } from './client.ts'

const scope = signal<Schemas['TokenScope'] | undefined>(undefined)
let isAsked = false

/** Whether this browser may do everything; false until that is known. */
export function isAdmin(): boolean {
  if (!isAsked) {
    isAsked = true
    get('/api/v1/scope').then(
      answer => (scope.value = answer.scope),
      () => (isAsked = false),
    )
  }
  return scope.value === 'admin'
}

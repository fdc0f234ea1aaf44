// The outline of a session, made again when it has grown.

import { get } from '../api/client.ts'
import { notYet, useResource } from '../api/resource.ts'

export function useOutline(id: string, mark: number, isThere: boolean) {
  return useResource(signal => (isThere ? get('/api/v1/sessions/{session}/outline', { path: { session: id }, signal }) : notYet), [id, mark, isThere])
}

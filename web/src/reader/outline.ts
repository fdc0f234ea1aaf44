// The outline of a session, made again when it has grown.

import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'

export function useOutline(id: string, mark: number) {
  return useResource(signal => get('/api/v1/sessions/{session}/outline', { path: { session: id }, signal }), [id, mark])
}

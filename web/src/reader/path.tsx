// A file's path, short and with its name always in view.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { baseName, shortPath } from '../format.ts'

/** The directory of the session that is read; paths below it are shown from there. */
export const Directory = createContext<string | undefined>(undefined)

/** Where there is too little room, it is the folder that is cut. */
export function Path({ path }: { path: string }) {
  const shown = shortPath(path, useContext(Directory))
  const name = baseName(shown)
  return (
    <>
      <span class="path-folder">{shown.slice(0, -name.length)}</span>
      <span class="path-name">{name}</span>
    </>
  )
}

// Parts of a page whose script is loaded when they are first shown, and what is said where it does not come: each fails in its
// own place, and the rest goes on.

import type { ComponentChildren, ComponentType, JSX } from 'preact'
import { useErrorBoundary, useLayoutEffect, useState } from 'preact/hooks'
import { checkAccess, isSignedOut } from '../api/client.ts'
import { forgetTyped } from '../keys.ts'
import { fetchModule } from './module.ts'
import { Button, Loading } from './parts.tsx'

interface Places<P> {
  /** What is there while the part comes; grey lines without it. */
  waiting?: (props: P) => ComponentChildren
  /** What is there when it did not come; words and a button without it. */
  failed?: ComponentType<P & Again>
}

type PropsOf<C> = C extends () => unknown ? object : C extends (props: infer P extends object) => unknown ? P : never

interface Again {
  again: () => void
}

/** A part, by its name in its module, that is loaded on first use and asked for again where that failed. */
export function loaded<M, K extends keyof M, P extends object = PropsOf<M[K]>>(load: () => Promise<M>, name: K, { waiting = () => <Loading />, failed: Failed = Broken }: Places<P> = {}): (props: P & JSX.IntrinsicAttributes) => JSX.Element {
  let Part: ComponentType<P> | undefined
  return function Loaded(props) {
    const [isFailed, setFailed] = useState(false)
    const [, show] = useState(false)
    const ask = () => {
      setFailed(false)
      fetchModule(load).then(
        found => ((Part = found[name] as ComponentType<P>), show(true)),
        () => (forgetTyped(), checkAccess(), setFailed(true)),
      )
    }
    useLayoutEffect(() => void (Part || ask()), [])
    if (Part) return <Part {...props} />
    return isFailed ? <Failed {...props} again={() => (askForStyles(), ask())} /> : <>{waiting(props)}</>
  }
}

const missing = new Set<HTMLLinkElement>()
addEventListener('error', event => event.target instanceof HTMLLinkElement && missing.add(event.target), true)

/** The build's own loader asks for each style once, also where it did not come. */
function askForStyles(): void {
  for (const link of missing) link.replaceWith(link.cloneNode())
  missing.clear()
}

/** Says where a page could not be shown, in place of showing nothing. */
export function Boundary({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  return error ? <Broken /> : <>{children}</>
}

/** Says that a part did not come. */
export function Broken({ again }: Partial<Again>) {
  return (
    <p class="error" role="alert">
      A part of this page could not be loaded{isSignedOut.value ? '.' : ': the server does not answer, or it was upgraded since the page was opened.'}{' '}
      {again && <Button onClick={again}>Try again</Button>} <Button onClick={() => location.reload()}>Reload</Button>
    </p>
  )
}

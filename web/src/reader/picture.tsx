// A picture of a transcript, loaded when it is near the screen.

import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../api/client.ts'

export function Picture({ session, offset, number }: { session: string; offset: number; number: number }) {
  const holder = useRef<HTMLDivElement>(null)
  const [address, setAddress] = useState<string>()
  const [isLarge, setLarge] = useState(false)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    const watcher = new IntersectionObserver(
      entries => {
        if (!entries.some(entry => entry.isIntersecting)) return
        watcher.disconnect()
        get('/api/v1/sessions/{session}/pictures/{offset}/{number}', { path: { session, offset, number } })
          .then(picture => setAddress(`data:${picture.media_type};base64,${picture.data}`))
          .catch(() => setFailed(true))
      },
      { rootMargin: '400px' },
    )
    if (holder.current) watcher.observe(holder.current)
    return () => watcher.disconnect()
  }, [session, offset, number])
  return (
    <div ref={holder} class={isLarge ? 'picture large' : 'picture'}>
      {address && (
        <button type="button" aria-label={isLarge ? 'Make the picture smaller' : 'Make the picture larger'} onClick={() => setLarge(!isLarge)}>
          <img src={address} alt="A picture in the session" />
        </button>
      )}
      {failed && <span class="dim">This picture cannot be shown.</span>}
    </div>
  )
}

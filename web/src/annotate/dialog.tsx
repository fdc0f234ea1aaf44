// The dialog in which a session is given a name, tags and a note.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { annotate, edited } from '../live/annotations.ts'
import { typedTags } from '../live/overlay.ts'
import { Button, ErrorLine, Loading } from '../ui/parts.tsx'
import '../style/annotate.css'

interface Props {
  id: string
  field: 'name' | 'tags' | 'note'
}

export function Annotate({ id, field }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const { state, reload } = useResource(
    async signal => {
      const [session, tags] = await Promise.all([get('/api/v1/sessions/{session}', { path: { session: id }, signal }), get('/api/v1/tags', { signal })])
      return { session, tags: tags.tags.map(one => one.tag) }
    },
    [id],
  )
  const close = () => (edited.value = undefined)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    dialog.current?.showModal()
    return () => before?.focus?.()
  }, [])
  const { data, error } = state.value
  return (
    <dialog ref={dialog} class="annotate" aria-labelledby="annotate-title" onClose={close} onClick={event => event.target === dialog.current && close()}>
      <h2 id="annotate-title">Name, tags and note</h2>
      {error && <ErrorLine error={error} retry={reload} />}
      {!data && !error && <Loading lines={3} />}
      {data && <Fields id={id} field={field} session={data.session} known={data.tags} close={close} />}
    </dialog>
  )
}

interface FieldsProps extends Props {
  session: { title?: string | null; annotations?: { name?: string | null; tags: string[]; note?: string | null } | null }
  known: string[]
  close: () => void
}

function Fields({ id, field, session, known, close }: FieldsProps) {
  const before = { name: session.annotations?.name ?? '', tags: session.annotations?.tags ?? [], note: session.annotations?.note ?? '' }
  const name = useSignal(before.name)
  const tags = useSignal(before.tags.join(' '))
  const note = useSignal(before.note)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>(`[name=${field}]`)?.focus(), [])
  const save = async () => {
    const typed = typedTags(tags.value)
    const change = {
      ...(name.value === before.name ? {} : { name: name.value }),
      ...(note.value === before.note ? {} : { note: note.value }),
      add_tags: typed.filter(tag => !before.tags.includes(tag)),
      remove_tags: before.tags.filter(tag => !typed.includes(tag)),
    }
    if (await annotate(id, change)) close()
  }
  const has = typedTags(tags.value)
  const others = known.filter(tag => !has.some(one => one.toLowerCase() === tag.toLowerCase())).slice(0, 12)
  return (
    <form
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <label class="labelled">
        Name, in place of its title
        <input class="field" name="name" maxLength={200} placeholder={session.title ?? ''} value={name.value} onInput={event => (name.value = event.currentTarget.value)} />
      </label>
      <label class="labelled">
        Tags, with spaces between them
        <input class="field" name="tags" autocomplete="off" value={tags.value} onInput={event => (tags.value = event.currentTarget.value)} />
      </label>
      {others.length > 0 && (
        <div class="annotate-tags" role="group" aria-label="Tags of other sessions">
          {others.map(tag => (
            <button key={tag} type="button" class="tag" onClick={() => (tags.value = [...has, tag].join(' '))}>
              + {tag}
            </button>
          ))}
        </div>
      )}
      <label class="labelled">
        Note
        <textarea class="field" name="note" maxLength={4000} rows={4} value={note.value} onInput={event => (note.value = event.currentTarget.value)} onKeyDown={event => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && void save()} />
      </label>
      <div class="ask-buttons">
        <Button kind="main" type="submit">
          Save
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
    </form>
  )
}

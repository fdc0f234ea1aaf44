// Colours for code, made by a worker so that reading never waits for it.

export interface ColourRequest {
  id: number
  code: string
  language: string
}
export interface ColourReply {
  id: number
  html: string
}

/** Longer code is not coloured. */
const LONGEST = 60_000
const waiting = new Map<number, (html: string) => void>()
let worker: Worker | undefined
let next = 0

/** The code as HTML with classes; nothing where the language is not known. */
export function colour(code: string, language: string | undefined): Promise<string | undefined> {
  if (!language || code.length > LONGEST) return Promise.resolve(undefined)
  worker ??= start()
  const id = next++
  worker.postMessage({ id, code, language } satisfies ColourRequest)
  return new Promise(resolve => waiting.set(id, html => resolve(html || undefined)))
}

function start(): Worker {
  const started = new Worker(new URL('./colours.worker.ts', import.meta.url), { type: 'module' })
  started.onmessage = ({ data }: MessageEvent<ColourReply>) => {
    waiting.get(data.id)?.(data.html)
    waiting.delete(data.id)
  }
  return started
}

const ENDINGS: Record<string, string> = {
  rs: 'rust', ts: 'typescript', tsx: 'typescript', js: 'javascript', jsx: 'javascript', mjs: 'javascript', cjs: 'javascript',
  py: 'python', go: 'go', java: 'java', kt: 'java', rb: 'ruby', sh: 'bash', bash: 'bash', zsh: 'bash', json: 'json', jsonl: 'json',
  yml: 'yaml', yaml: 'yaml', toml: 'ini', ini: 'ini', md: 'markdown', css: 'css', scss: 'css', html: 'xml', xml: 'xml', svg: 'xml',
  sql: 'sql', c: 'c', h: 'c', cpp: 'cpp', cc: 'cpp', hpp: 'cpp', diff: 'diff', patch: 'diff',
}

/** The language of a file by its name. */
export function languageOf(path: string): string | undefined {
  return ENDINGS[path.split('.').pop()?.toLowerCase() ?? '']
}

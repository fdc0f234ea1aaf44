/** A session that answers a question, with the place that does so best: what `search` of Backstory says of it. */
export type Hit = {
  session_id: string | null
  /** `claude-sessions`, or `sessions` for OpenClaw's conversations. */
  source: string
  score: number
  title: string | null
  project: string | null
  branch: string | null
  last_modified: string | null
  file: string
  line: number
  /** Where that line begins, in bytes. */
  offset: number
  uuid: string | null
  at: string | null
  snippet: string | null
  /** The arguments of `read_session` that open the cited place. */
  read: Record<string, unknown>
}

/** The answer to a question, or why there is none. */
export type Found = {
  question: string
  hits: Hit[]
  total: number
  /** Why there is no answer, or what is missing from it. */
  note: string | null
}

/** A session of a list. */
export type Session = {
  session_id: string
  title: string | null
  branch: string | null
  last_modified: string | null
}

/** One message of a session: who said what, and where. */
export type Message = {
  role: string
  /** Where its line begins, in bytes. */
  offset: number
  uuid: string | null
  at: string | null
  text: string
}

/** The messages around a cited place. */
export type Passage = {
  of: string
  messages: Message[]
  note: string | null
}

/** What the context of this session costs when its cache is cold. */
export type ContextCost = {
  tokens: number
  usd: number | null
  /** How long the cache lasts after an answer. */
  minutes: number
  isCold: boolean
}

declare module 'claude-code' {
  interface PluginState {
    backstory: {
      found: Shaped<Found>
      chosen: number
      passage: Shaped<Passage | null>
      areLinesShown: boolean
      before: Shaped<Hit | null>
      cost: Shaped<ContextCost | null>
    }
  }
}

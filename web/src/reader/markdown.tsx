// Markdown of a transcript as elements. No text of it is ever read as HTML, so nothing in it can act.

import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Coloured } from './coloured.tsx'
import '../style/prose.css'

/** What is nested deeper is shown as it was written. */
const DEEPEST = 40
/** Other addresses, such as a path or a script, are no links. */
const LINKED = /^(?:https?|mailto):/i

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => lex(text), [text])
  return <div class="prose">{tokens ? parts(tokens, 0) : <p class="as-written">{text}</p>}</div>
}

/** The tokens of a text; none where it is nested too deeply to be taken apart. */
function lex(text: string): Token[] | undefined {
  try {
    return Lexer.lex(text, { gfm: true, breaks: true })
  } catch {
    return undefined
  }
}

function parts(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token, at) => <Part key={at} token={token as MarkedToken} depth={depth + 1} />)
}

function Part({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > DEEPEST) return <>{token.raw}</>
  const inner = () => parts('tokens' in token ? token.tokens : undefined, depth)
  switch (token.type) {
    case 'heading': {
      // The page has its heading; those of a message are below it.
      const Level = `h${Math.min(6, token.depth + 1)}` as 'h2'
      return <Level>{inner()}</Level>
    }
    case 'paragraph':
      return <p>{inner()}</p>
    case 'code':
      return (
        <pre tabIndex={0}>
          <Coloured text={token.text} language={/^[\w+#-]+/.exec(token.lang ?? '')?.[0]} />
        </pre>
      )
    case 'blockquote':
      return <blockquote dir="auto">{inner()}</blockquote>
    case 'list':
      return <List list={token} depth={depth} />
    case 'table':
      return <Table table={token} depth={depth} />
    case 'hr':
      return <hr />
    case 'html':
      // HTML in a transcript is something that was talked about.
      return token.block ? <p class="as-written">{token.text.trimEnd()}</p> : <>{token.text}</>
    case 'text':
      return <>{token.tokens ? inner() : decoded(token.text)}</>
    case 'escape':
      return <>{token.text}</>
    case 'strong':
      return <strong>{inner()}</strong>
    case 'em':
      return <em>{inner()}</em>
    case 'del':
      return <del>{inner()}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link link={token}>{inner()}</Link>
    case 'image':
      // A picture from elsewhere would tell its server that somebody reads.
      return <>{decoded(token.text) || '(picture)'}</>
    case 'checkbox':
      return <>{token.checked ? '☑ ' : '☐ '}</>
    case 'list_item':
      return <li>{inner()}</li>
    case 'space':
    case 'def':
      return null
  }
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = parts(list.items, depth)
  // The signs of a list are on the side at which its text begins.
  return list.ordered ? (
    <ol start={list.start || 1} dir="auto">
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  )
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  const aligned = (at: number) => (table.align[at] ? `to-${table.align[at]}` : undefined)
  return (
    <table tabIndex={0} dir="auto">
      <thead>
        <tr>
          {table.header.map((cell, at) => (
            <th key={at} class={aligned(at)}>
              {parts(cell.tokens, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, line) => (
          <tr key={line}>
            {row.map((cell, at) => (
              <td key={at} class={aligned(at)}>
                {parts(cell.tokens, depth)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Link({ link, children }: { link: Tokens.Link; children: ComponentChildren }) {
  if (!LINKED.test(link.href)) return <>{children}</>
  return (
    <a href={link.href} title={link.title ? decoded(link.title) : undefined} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

const decoder = document.createElement('textarea')

/** A text in which `&lt;` and the like are the characters that they name. */
function decoded(text: string): string {
  return text.replace(/&(?:#\d+|#x[\da-f]+|[a-z]\w*);/gi, reference => {
    decoder.innerHTML = reference
    return decoder.value
  })
}

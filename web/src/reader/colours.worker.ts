// Colours code with highlight.js, away from the page.

import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { ColourReply, ColourRequest } from './colours.ts'

const languages = { bash, c, cpp, css, diff, go, ini, java, javascript, json, python, ruby, rust, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

self.onmessage = ({ data }: MessageEvent<ColourRequest>) => {
  const isKnown = hljs.getLanguage(data.language)
  const html = isKnown ? hljs.highlight(data.code, { language: data.language, ignoreIllegals: true }).value : ''
  self.postMessage({ id: data.id, html } satisfies ColourReply)
}

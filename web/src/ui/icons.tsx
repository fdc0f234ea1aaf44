// Twenty line icons, drawn on a grid of 16.

const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14',
  world: 'M8 1.8 13.8 5v6L8 14.2 2.2 11V5zM2.2 5 8 8.2 13.8 5M8 8.2v6',
  cost: 'M2.5 13.5h11M4.5 13V9.5M8 13V3.5M11.5 13V6.5',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.3 1.6',
  folder: 'M2 4.2A1.2 1.2 0 0 1 3.2 3h3l1.4 1.6h5.2A1.2 1.2 0 0 1 14 5.8v6A1.2 1.2 0 0 1 12.8 13H3.2A1.2 1.2 0 0 1 2 11.8z',
  settings: 'M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.2 3.3v3.4M5.8 9.3v3.4',
  help: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.3 6.4c0-2.4 3.5-2.3 3.5-.1C9.8 7.7 8 7.7 8 9.2M8 11.3h.01',
  plus: 'M8 3v10M3 8h10',
  pin: 'M9.8 2.2 13.8 6.2 11 7.4 8.6 9.8l.2 2.8-5.4-5.4 2.8.2L8.6 5zM6 10l-3.5 3.5',
  fork: 'M4.5 4.5v7M4.5 8c0-2.5 7-1 7-3.5M4.5 2.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM11.5 2.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM4.5 11.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  link: 'M6.8 9.2 9.2 6.8M7 4.8 8.6 3.2a2.6 2.6 0 0 1 3.7 3.7L10.7 8.5M9 11.2l-1.6 1.6a2.6 2.6 0 0 1-3.7-3.7L5.3 7.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  stop: 'M4.5 4.5h7v7h-7z',
  play: 'M5 3.5v9l7.5-4.5z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  send: 'M8 13V3M4 7l4-4 4 4',
  document: 'M4 2h5l3 3v9H4zM9 2v3h3M6 8.5h4M6 11h4',
  agent: 'M4 6.5h8V12H4zM8 4v2.5M8 3.5h.01M6.3 9h.01M9.7 9h.01',
  side: 'M2.5 3h11v10h-11zM10 3v10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
} as const

/** The sign of the program, the same as icon.svg: a picture of its own would be one more thing to load and to draw. */
export function Brand() {
  return (
    <svg viewBox="0 0 64 64" width="20" height="20" aria-hidden="true" focusable="false">
      <rect width="64" height="64" rx="15" fill="#23211e" />
      <path d="M18 16h16a9 9 0 0 1 4 17 10 10 0 0 1-3 19H18z" fill="none" stroke="#f2efe9" stroke-width="5" stroke-linejoin="round" />
      <path d="M18 33h18" stroke="#f2efe9" stroke-width="5" />
      <circle cx="48" cy="17" r="5" fill="#f0634f" />
    </svg>
  )
}

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

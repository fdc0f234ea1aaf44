// Dark or light: as the system says, unless the person chose.

import { persisted } from '../live/persisted.ts'

export type Theme = 'system' | 'light' | 'dark'

export const theme = persisted<Theme>('theme', 'system')

export function startTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const isDark = theme.value === 'dark' || (theme.value === 'system' && system.matches)
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  }
  theme.subscribe(apply)
  system.addEventListener('change', apply)
}

export function isDark(): boolean {
  return document.documentElement.dataset.theme === 'dark'
}

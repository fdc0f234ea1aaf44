// Whether the palette is open; apart from it, because it is loaded on first use.

import { signal } from '@preact/signals'

export const paletteOpen = signal(false)

export function openPalette(): void {
  paletteOpen.value = true
}

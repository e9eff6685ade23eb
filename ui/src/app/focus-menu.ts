// Mantine gives the focus to a menu that opens while that is not visible yet, so that it goes nowhere, and keys with it.

/** Focuses the first item of the menu that is opening, as soon as it can have it. */
export function focusMenu(frames = 60): void {
  requestAnimationFrame(() => {
    const menu = [...document.querySelectorAll('[role="menu"]')].at(-1)
    menu?.querySelector<HTMLElement>('[role^="menuitem"]:not(:disabled)')?.focus({ preventScroll: true })
    if (frames > 0 && !menu?.contains(document.activeElement)) focusMenu(frames - 1)
  })
}

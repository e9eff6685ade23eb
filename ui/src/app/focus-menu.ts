// Mantine focuses a menu before it is visible. The focus is then lost, and key presses with it.

/** Focuses the first item of an opening menu as soon as the item can take the focus. */
export function focusMenu(frames = 60): void {
  requestAnimationFrame(() => {
    const menu = [...document.querySelectorAll('[role="menu"]')].at(-1)
    menu?.querySelector<HTMLElement>('[role^="menuitem"]:not(:disabled)')?.focus({ preventScroll: true })
    if (frames > 0 && !menu?.contains(document.activeElement)) focusMenu(frames - 1)
  })
}

// A browser asks for a style sheet once. If that request breaks, the page stays without its look, although its scripts work. So the page asks
// again.
const FIRST_PAUSE_MS = 500
const PAUSE_MS_MAX = 10_000

/** Loads the style sheets that the page lacks. Scripts of modules begin when each style sheet has either arrived or failed. */
export function completeStyles(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]'))
    if (!isWhole(link)) loadAgain(link, FIRST_PAUSE_MS)
}

/** Chromium keeps an empty style sheet for a request that failed, and nobody may read its rules. Other browsers keep none. */
function isWhole({ sheet }: HTMLLinkElement): boolean {
  try {
    return sheet !== null && sheet.cssRules.length > 0
  } catch {
    return false
  }
}

/** The new element takes the place of the old one, because later style sheets win over earlier ones. */
function loadAgain(failed: HTMLLinkElement, pause_ms: number): void {
  const link = document.createElement('link')
  for (const { name, value } of failed.attributes) link.setAttribute(name, value)
  link.addEventListener('error', () => {
    setTimeout(() => loadAgain(link, Math.min(2 * pause_ms, PAUSE_MS_MAX)), pause_ms)
  })
  failed.replaceWith(link)
}

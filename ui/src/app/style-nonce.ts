// Styles that libraries make while the page runs (Mantine's, for one) are admitted by the nonce of the page's policy. They ask the document
// for a style element, so the document is where they get it with the nonce.
const styleNonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? ''

export function admitOwnStyles(): void {
  const create: unknown = Reflect.get(document, 'createElement')
  if (typeof create !== 'function') return
  Reflect.set(document, 'createElement', (...args: readonly unknown[]): unknown => {
    const element: unknown = Reflect.apply(create, document, args)
    if (element instanceof HTMLStyleElement) element.nonce = styleNonce
    return element
  })
}

// The page's policy only admits style elements with a nonce. Libraries such as Mantine create style elements at run time, through the document.
// So the document adds the nonce to each of them.
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

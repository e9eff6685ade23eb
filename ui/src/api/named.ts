// Objects of /3 have only the requested fields. The console always requests the name.
export type Named<View> = View & { readonly name: string }

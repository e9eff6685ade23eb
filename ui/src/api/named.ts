// Objects of /3 have the fields that were asked for. The console asks for the name of each.
export type Named<View> = View & { readonly name: string }

// The order of names: node2 comes before node10.
export const byName = new Intl.Collator('en', { numeric: true }).compare

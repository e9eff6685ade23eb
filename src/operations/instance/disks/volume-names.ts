// What the names of volumes tell: whose data a volume has that nobody owns.

/** The end of the name of a mirror's volume with data. */
export const DATA = /_data$/
/** That of the old volumes of a mirror that gets new ones. */
export const REPLACED = /_replaced-\d+$/

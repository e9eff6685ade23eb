// Parts of volume names that show whose data a volume without owner has.

/** The end of the name of a mirror's data volume. */
export const DATA = /_data$/
/** The end of the name of a mirror's replaced volume. */
export const REPLACED = /_replaced-\d+$/
/** The end of the name of a mirror's metadata. */
export const META = /_meta$/

// An upgrade that failed.

/** The text says how far the nodes came, and how to continue. */
export class UpgradeFailure extends Error {}

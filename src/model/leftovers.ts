// What messages say of storage that nobody seems to need: it may be the only copy of a disk. Only verify, which knows all disks of the
// configuration, tells how to remove something.

export const KEEP_UNTIL_UNKNOWN =
  "remove nothing that 'gnt-cluster verify' does not call unknown: it says whether a disk may need it, and how to remove it if none does"

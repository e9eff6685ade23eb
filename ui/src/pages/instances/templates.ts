// What can be done with disks of each template: a test compares it with src/model/templates.ts. The words for people are in texts.

interface Template {
  /** Where the same data is: at two nodes, or outside of them. */
  readonly mirror?: 'inside' | 'outside'
  readonly copyable?: true
  readonly growable?: true
  /** Snapshots: beside the disk, where they take room of their own, or within what the storage shares. */
  readonly snapshots?: 'beside' | 'within'
  /** Disks are there before the instance, and are taken as they are. */
  readonly adopted?: true
  readonly empty?: true
}

export const TEMPLATES: Readonly<Record<string, Template>> = {
  diskless: { mirror: 'outside', empty: true },
  file: { growable: true, snapshots: 'within', copyable: true },
  sharedfile: { mirror: 'outside', growable: true, snapshots: 'within' },
  plain: { growable: true, snapshots: 'beside', copyable: true },
  blockdev: { mirror: 'outside', adopted: true },
  drbd: { mirror: 'inside', growable: true, snapshots: 'beside' },
  rbd: { mirror: 'outside', growable: true, snapshots: 'within' },
  ext: { mirror: 'outside', growable: true, snapshots: 'within' },
  gluster: { mirror: 'outside', growable: true },
}

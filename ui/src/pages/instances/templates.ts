// Features of each disk template. A test compares them with src/model/templates.ts. The labels are in texts.

interface Template {
  /** Whether a mirror is on two nodes, or in shared storage outside of the nodes. */
  readonly mirror?: 'inside' | 'outside'
  readonly copyable?: true
  readonly growable?: true
  /** Where snapshots are: beside the disk with their own space, or within the storage, which shares blocks. */
  readonly snapshots?: 'beside' | 'within'
  /** Disks exist before the instance, and are adopted. */
  readonly adopted?: true
  readonly empty?: true
  /** Parameters that one disk may have for itself. */
  readonly own?: readonly string[]
}

export const TEMPLATES: Readonly<Record<string, Template>> = {
  diskless: { mirror: 'outside', empty: true },
  file: { growable: true, snapshots: 'within', copyable: true },
  sharedfile: { mirror: 'outside', growable: true, snapshots: 'within' },
  plain: { growable: true, snapshots: 'beside', copyable: true, own: ['stripes', 'stripe-size'] },
  blockdev: { mirror: 'outside', adopted: true },
  drbd: {
    ...{ mirror: 'inside', growable: true, snapshots: 'beside' },
    own: [
      ...['c-delay-target', 'c-fill-target', 'c-max-rate', 'c-min-rate', 'c-plan-ahead', 'dynamic-resync'],
      ...['data-stripes', 'data-stripe-size', 'meta-stripes', 'meta-stripe-size', 'resync-rate'],
      ...['disk-barriers', 'disk-custom', 'meta-barriers', 'net-custom', 'protocol'],
    ],
  },
  rbd: { mirror: 'outside', growable: true, snapshots: 'within' },
  ext: { mirror: 'outside', growable: true, snapshots: 'within' },
  gluster: { mirror: 'outside', growable: true },
}

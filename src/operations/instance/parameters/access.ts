// How hypervisors reach disks: through a kernel device, or directly.

/** Only KVM reads disks in user space. */
export const readsInUserSpace = (hypervisor: string): boolean => hypervisor === 'kvm'

// How hypervisors reach disks: through a device of the kernel, or by themselves.

/** Only KVM reads disks in user space. */
export const readsInUserSpace = (hypervisor: string): boolean => hypervisor === 'kvm'

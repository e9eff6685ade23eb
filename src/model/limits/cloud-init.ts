// Data for cloud-init in a guest.

/** Bytes of one OS parameter. Every node call about the instance carries it, and the configuration stores it. */
export const CLOUD_INIT_VALUE_BYTES_MAX = 64 << 10
/** Bytes of the disk for a guest's cloud-init; its texts are mostly `user_data` and keys. */
export const SEED_BYTES_MAX = 16 << 20
/** Lines of `ssh_authorized_keys`. */
export const SSH_KEYS_MAX = 100
/** Addresses in `nameservers`; a guest's resolver uses no more than three. */
export const NAMESERVERS_MAX = 3

// Texts of the actions on an instance: labels, explanations, and why an action is not possible now.

/** Words of a field of a form. */
interface FieldTexts {
  readonly label?: string
  readonly text?: string
}

const which = {
  label: 'Disks',
  text: 'Numbers of disks, such as 0. Empty for all disks.',
}

export const instanceActionTexts = {
  groups: { run: 'Running', move: 'Move', change: 'Change', disks: 'Disks', rescue: 'Export, repair, remove' },
  unfit: {
    running: 'The instance is running. Stop it first.',
    stopped: 'The instance is not running.',
    offline: 'The instance is marked offline.',
    nodeOffline: (node: string) => `Its node ${node} is offline. Fail it over to another node.`,
    nodeOfflineAlone: (node: string) => `Its node ${node} is offline.`,
    onOneNode: (template: string) => `Its disks (${template}) are on one node only.`,
    notCopied: (template: string) => `Disks of the template ${template} cannot be copied to another node.`,
    notMirroredInside: (template: string) => `Disks of the template ${template} have no mirror on a second node.`,
    notGrown: (template: string) => `Disks of the template ${template} cannot grow.`,
    noSnapshots: (template: string) => `Disks of the template ${template} do not support snapshots.`,
    noDisks: 'The instance has no disks.',
  },
  hot: (name: string) =>
    `${name} is running. The change takes effect at once if possible, otherwise at the next start.`,
  target: {
    label: 'Target node',
    text: 'Empty for the secondary node, or for a node that the allocator chooses.',
    source: 'nodes' as const,
  },
  /** Fields that several actions have. */
  fields: {
    force: { label: 'Ignore failed checks' },
    force_variant: { label: 'Allow a variant that the OS does not declare' },
    ignore_offline_nodes: { label: 'Ignore offline nodes', text: 'Then only the configuration changes.' },
    no_remember: { label: 'Temporarily', text: 'The watcher later restores its previous state.' },
    shutdown_timeout: { label: 'Shutdown timeout', text: 'After this time, the instance is switched off.', unit: 's' },
    ignore_ipolicy: { label: 'Ignore the instance policy' },
    ignore_consistency: { label: 'Ignore disks that are not in sync', text: 'The latest data may be lost.' },
    ignore_secondaries: { label: 'Ignore errors of secondary nodes' },
    ignore_hvversions: { label: 'Allow different hypervisor versions' },
    allow_runtime_changes: { label: 'Allow less memory if the target node lacks it' },
    cleanup: { label: 'Only clean up after a failed migration' },
    iallocator: { label: 'Allocator', text: 'A dot for the default allocator.' },
    early_release: { label: 'Release the old disks before the new ones are in sync' },
    compress: { label: 'Compression during the copy', text: 'none, gzip, or another tool of the cluster.' },
    mode: { label: 'Mode' },
    wait_for_sync: { label: 'Wait until the disks are in sync' },
    hotplug: { label: 'Apply at once (hotplug)', text: 'Otherwise at the next start.' },
    conflicts_check: { label: 'Check addresses against all networks' },
    ignore_size: { label: 'Ignore the recorded size' },
    name_check: { label: 'The name must resolve' },
    ip_check: { label: 'The address must not answer yet' },
    osparams: { label: 'OS parameters', text: 'For the scripts of the OS.' },
    osparams_private: { label: 'Private OS parameters', text: 'The cluster stores them, but never shows them.' },
    osparams_secret: { label: 'Secret OS parameters', text: 'The cluster does not store them.' },
    pnode: { label: 'New primary node', text: 'Only after you have moved the disks by hand.', source: 'nodes' },
    remove_instance: { label: 'Remove the instance afterwards' },
    ignore_remove_failures: { label: 'Continue if parts cannot be removed' },
    zero_free_space: {
      label: 'Zero free space first',
      text: 'The export then compresses better. The instance stays down while a helper machine boots the zeroing image of the cluster.',
    },
    zeroing_timeout_fixed: { label: 'Zeroing timeout', text: 'Fixed part; default 300 seconds.', unit: 's' },
    zeroing_timeout_per_mib: {
      label: 'Zeroing timeout per MiB',
      text: 'Added for each MiB of disk; default 0.05 seconds.',
      unit: 's',
    },
    long_sleep: { label: 'Stay down during the whole export' },
    file_driver: { label: 'File driver' },
    file_storage_dir: { label: 'File folder', text: 'Below the folder of the cluster.' },
    ext_params: {
      label: 'Provider and its parameters',
      text: 'The parameter provider, and parameters of this provider.',
    },
  } as Readonly<Record<string, FieldTexts>>,
  startup: {
    label: 'Start',
    text: (name: string) => `Starts ${name} on its primary node.`,
    startup_paused: { label: 'Start paused', text: 'The instance continues when its console is opened.' },
    hvparams: { label: 'Hypervisor parameters', text: 'For this start only.' },
    beparams: { label: 'Resources', text: 'For this start only: vcpus, maxmem, minmem.' },
  },
  commit: {
    label: 'Create now',
    text: (name: string) => `Creates the reserved instance ${name} on its nodes.`,
    start: { label: 'Start it after creation' },
  },
  shutdown: {
    label: 'Stop',
    text: (name: string) => `Asks ${name} to shut down, and switches it off after the timeout.`,
    timeout: { label: 'Shutdown timeout', text: 'After this time, the instance is switched off.', unit: 's' },
  },
  reboot: {
    label: 'Reboot',
    text: (name: string) => `Restarts ${name}.`,
    reboot_type: {
      label: 'Type',
      choices: [
        { value: 'soft', label: 'soft: the hypervisor resets it' },
        { value: 'hard', label: 'hard: it is stopped and started with its changed parameters' },
        { value: 'full', label: 'full: like hard, and its disks are deactivated in between' },
      ],
    },
  },
  migrate: {
    label: 'Migrate',
    text: (name: string) => `Moves ${name} to another node while it runs.`,
    allow_failover: { label: 'Fail over if live migration is not possible' },
  },
  failover: {
    label: 'Fail over',
    text: (name: string) => `Stops ${name}, and starts it on another node.`,
    ignore_consistency: { label: 'Ignore disks that are not in sync', text: 'The latest data may be lost.' },
  },
  move: {
    label: 'Move',
    text: (name: string) => `Stops ${name}, copies its disks to another node, and starts it there.`,
    target: 'Any node of the cluster.',
  },
  changeGroup: {
    label: 'Change group',
    text: (name: string) => `Moves ${name} to nodes of another group. The job submits further jobs for this.`,
    target_groups: { label: 'Target groups', text: 'Empty for all other groups.' },
  },
  replaceDisks: {
    label: 'Replace disks',
    text: (name: string) => `Replaces one side of the mirrored disks of ${name}, and synchronises it.`,
    mode: {
      label: 'What to replace',
      choices: [
        { value: 'replace_auto', label: 'The broken side' },
        { value: 'replace_on_primary', label: 'The disks on the primary node' },
        { value: 'replace_on_secondary', label: 'The disks on the secondary node' },
        { value: 'replace_new_secondary', label: 'The secondary node, by a new node' },
      ],
    },
    remote_node: { label: 'New secondary node' },
    iallocator: { label: 'Allocator that chooses this node', text: 'A dot for the default allocator.' },
    early_release: { label: 'Release the old disks before the new ones are in sync' },
    onlyNew: 'A node or an allocator is only needed to replace the secondary node.',
    oneOfBoth: 'Name the new secondary node, or an allocator.',
  },
  resources: {
    label: 'Resources',
    text: (name: string) => `Changes the memory, the vCPUs and other resources of ${name}.`,
    running: (name: string) =>
      `${name} is running. vCPUs and memory change at its next start, or at a reboot by the cluster.`,
    runtime_mem: {
      label: 'Memory now',
      text: 'Changes the memory of the running guest at once, between its minimum and maximum.',
    },
  },
  hypervisor: {
    label: 'Hypervisor parameters',
    text: (name: string) => `Changes the virtual machine of ${name}.`,
    running: (name: string) =>
      `Changes the virtual machine of ${name} at its next start, or at a reboot by the cluster. The instance is running.`,
  },
  osParameters: {
    label: 'OS parameters',
    text: (name: string) => `Parameters for the OS scripts that install, rename or export ${name}.`,
    none: (os: string) => (os === '' ? 'The instance has no OS.' : `${os} declares no parameters.`),
  },
  general: {
    label: 'OS and state',
    text: (name: string) => `Changes the record of ${name} in the configuration. Nothing is installed.`,
    os_name: { label: 'OS' },
    offline: {
      label: 'Offline',
      text: 'It cannot be started, and no memory is reserved for it. It must be stopped first.',
    },
    communication: {
      label: 'Instance communication',
      text: 'A network card through which the guest reads its own metadata.',
    },
  },
  rename: {
    label: 'Rename',
    text: (name: string) => `Renames ${name}. Files of its disks may be renamed, too.`,
    new_name: { label: 'New name' },
  },
  reinstall: {
    label: 'Reinstall',
    text: (name: string) => `Installs an OS on the disks of ${name}. All data on them is lost.`,
    os_type: { label: 'OS', text: 'Empty for its present OS.' },
  },
  tags: {
    label: 'Add tags',
    text: (name: string) => `Adds tags to ${name}.`,
    tags: { label: 'Tags', text: 'Such as customer:web.' },
  },
  removeTag: { label: 'Remove tag', text: (tag: string, name: string) => `Removes the tag ${tag} from ${name}.` },
  export: {
    label: 'Export',
    text: (name: string) =>
      `Writes the disks and parameters of ${name} to a node. An instance can be imported from there.`,
    target_node: { label: 'Node for the export' },
    shutdown: { label: 'Stop it first', text: 'Otherwise the copied disks look as after a power failure.' },
    compress: { label: 'Compression', text: 'none, gzip, or another tool of the cluster.' },
  },
  repair: {
    label: 'Repair',
    text: (name: string) => `Finds faults of the disks and nodes of ${name}, and submits jobs that repair them.`,
    failover: { label: 'Fail over if the primary node is offline' },
  },
  remove: {
    label: 'Remove',
    text: (name: string) => `Removes ${name} and all data on its disks. This cannot be undone.`,
    fields: {
      shutdown_timeout: {
        ...{ label: 'Shutdown timeout', text: 'After this time, the instance is switched off.', unit: 's' },
      },
      ignore_failures: { label: 'Continue if parts cannot be removed' },
    },
  },
  disk: {
    size: { label: 'Size', text: 'Such as 10g.' },
    name: { label: 'Name', text: 'Only a description.' },
    mode: {
      label: 'Access',
      placeholder: 'Read and write',
      choices: [
        { value: 'rw', label: 'Read and write' },
        { value: 'ro', label: 'Read only' },
      ],
    },
    vg: { label: 'Volume group' },
    metavg: { label: 'Volume group for metadata' },
    spindles: { label: 'Spindles' },
    access: { label: 'Access path', text: 'kernelspace or userspace.' },
    provider: { label: 'Provider' },
    adopt: { label: 'Take over', text: 'An existing volume or device. Its data is kept.' },
    add: 'Add disk',
    addText: (name: string) => `Adds a disk. ${name} sees it after its next start.`,
    change: 'Change disk',
    changeText: (disk: string, name: string) => `Changes disk ${disk} of ${name}.`,
    grow: 'Grow',
    growText: (disk: string, name: string, size: string) =>
      `The size of disk ${disk} of ${name} is ${size}. It can only grow. The guest sees the new size after a rescan or its next start.`,
    newSize: { label: 'New size', text: 'The total size, such as 20g.' },
    tooSmall: (size: string) => `New size: must be more than ${size}`,
    remove: 'Remove disk',
    removeText: (disk: string, name: string) => `Removes disk ${disk} of ${name} and all data on it.`,
    activate: 'Activate disks',
    activateText: (name: string) => `Makes the disks of ${name} available on its node, without starting the instance.`,
    deactivate: 'Deactivate disks',
    deactivateText: (name: string) => `Makes the disks of ${name} unavailable on its nodes.`,
    recreate: 'Recreate disks',
    recreateText: (name: string) => `Creates lost disks of ${name} again. They are empty.`,
    which,
    one: (disk: string) => `Disk ${disk}`,
    notAnew: (disk: string) => `Disk ${disk} has new parameters, but is not among the disks above.`,
    noIndex: 'Disks: must be numbers, such as 0',
    nodes: { label: 'On other nodes', text: 'The primary node, then the secondary node.' },
    nodesOrAllocator: 'Name nodes or an allocator, not both.',
    convert: 'Convert disks',
    convertText: (name: string, template: string) =>
      `Copies the disks of ${name} (${template}) to disks of another template.`,
    template: { label: 'New disk template' },
    remoteNode: { label: 'Secondary node', text: 'For drbd.' },
    snapshot: 'Create snapshot',
    snapshotText: (name: string) =>
      `Takes a snapshot of all disks of ${name} at the same moment. The instance may be running.`,
    snapshotName: { label: 'Name of the snapshot', text: 'Identifies the snapshot.' },
    snapshotSize: {
      label: 'Space for changes',
      text: 'Such as 1g. The snapshot becomes invalid when more data has changed.',
    },
    rollBack: 'Roll back',
    rollBackText: (snapshot: string, disk: number, name: string) =>
      `Disk ${disk} of ${name} gets the data of the snapshot ${snapshot} again. All that was written to it since is lost. The snapshot stays.`,
    noRollBack: (template: string) =>
      `Disks of the template ${template} are rolled back with the tools of their storage.`,
    lostSnapshot: {
      invalid: 'The snapshot has run full, so its data is lost. It can only be removed.',
      missing: 'The snapshot is missing in its storage. It can only be removed.',
    },
    removeSnapshot: 'Remove snapshot',
    removeSnapshotText: (snapshot: string, disk: number, name: string) =>
      `Removes the snapshot ${snapshot} of disk ${disk} of ${name}. The disk itself does not change.`,
  },
  nic: {
    network: { label: 'Network', text: 'Empty to set mode and link below.' },
    ip: { label: 'IP address', text: '"pool" for the next free address of the network.' },
    mode: { label: 'Mode' },
    link: { label: 'Link', text: 'Bridge, switch or routing table of the node.' },
    vlan: { label: 'VLAN' },
    mac: { label: 'MAC address', text: '"auto" for a generated address.' },
    name: { label: 'Name' },
    add: 'Add network card',
    addText: (name: string) => `Adds a network card. ${name} sees it after its next start.`,
    change: 'Change network card',
    changeText: (nic: string, name: string) => `Changes network card ${nic} of ${name}.`,
    remove: 'Remove network card',
    removeText: (nic: string, name: string) => `Removes network card ${nic} from ${name}.`,
  },
}

// The help of `npm start`, which scripts/start.mjs shows before anything is built. So it is a text without names, imports and types.
export const USAGE = `usage: npm start -- [options]

Starts a cluster of virtual nodes on this machine and keeps it in the foreground; started again, it goes on where it was.

  --root DIR               where everything of the cluster lives (default: ~/.gantry, or $GANTRY_HOME)
  --nodes N                virtual nodes of a new cluster, 1 to 253 (default: 3)
  --base-address ADDRESS   loopback address that ends in .0 (default: 127.0.1.0): nodes get .1, .2, ..., the cluster .254;
                           another one lets several clusters run side by side
  --hypervisor kvm|fake    default: kvm where QEMU is installed, else fake
  --state DIR              begin with a copy of a Ganeti master's /var/lib/ganeti; its nodes are simulated
  --no-require-authentication  reads over the remote API need no login, as in Ganeti
  --access-log LEVEL       requests in the log of the remote API: none, changes (the default), all
  --take-files NODE        the copies of the configuration disagree, and those of this node are right
  --reset                  throw away the cluster that is in the root
  -h, --help               this text
`

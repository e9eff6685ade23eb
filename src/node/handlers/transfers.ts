// Node calls about exports, and about the transfers that make and read them.
import type { Handlers } from '../context'
import { createTransferCertificate, removeTransferCertificate } from '../certificates'
import { exportInfo, finalizeExport, listExports, removeExport } from '../exports'
import { abortTransfer, cleanUpTransfer, startTransfer, transferStatus } from '../transfer/transfers'

export const transferHandlers = {
  export_list: (context) => listExports(context),
  export_info: (context, directory) => exportInfo(context, directory),

  async export_remove(context, name) {
    await removeExport(context, name)
    return null
  },

  async finalize_export(context, instance, disks) {
    await finalizeExport(context, instance, disks)
    return null
  },

  import_start: (context, options, instance, component, end) =>
    startTransfer(context, { mode: 'import', options, instance, component, end }),

  export_start: (context, options, host, port, instance, component, end) =>
    startTransfer(context, { mode: 'export', options, host, port, instance, component, end }),

  impexp_status: (context, names) => Promise.all(names.map((name) => transferStatus(context, name))),

  async impexp_abort(context, name) {
    await abortTransfer(context, name)
    return null
  },

  async impexp_cleanup(context, name) {
    await cleanUpTransfer(context, name)
    return null
  },

  x509_cert_create: (context, validity_s) => createTransferCertificate(context, validity_s),

  async x509_cert_remove(context, name) {
    await removeTransferCertificate(context, name)
    return null
  },
} satisfies Partial<Handlers>

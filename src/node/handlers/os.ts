// Node calls about OS definitions and storage providers, and calls that run their scripts for an instance.
import { keepSecrets } from '../cloud-init'
import type { Handlers } from '../context'
import { diagnoseProviders } from '../storage/ext/providers'
import { diagnoseAll, findOs } from '../os-definition'
import { packOs } from '../os-package'
import { osCreate, osRename, osValidate } from '../os'

export const osHandlers = {
  os_diagnose: (context) => diagnoseAll(context),

  extstorage_diagnose: (context) => diagnoseProviders(context),

  /** Returns false only for an OS that is missing on this node and not required. */
  async os_validate(context, required, os, checks, parameters, forceVariant) {
    if (!required) {
      const found = await findOs(context, os).catch(() => undefined)
      if (found === undefined) return false
    }
    await osValidate(context, { os, parameters, checks, forceVariant })
    return true
  },

  async instance_os_add(context, instance, reinstall, debug) {
    await osCreate(context, instance, { reinstall, debug })
    await keepSecrets(context, instance)
    return null
  },

  async instance_run_rename(context, instance, oldName, debug) {
    await osRename(context, instance, oldName, debug)
    return null
  },

  os_export: (context, instance, overrides) => packOs(context, instance, overrides),
} satisfies Partial<Handlers>

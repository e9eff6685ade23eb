// OP_BACKUP_PREPARE: returns what another cluster needs before an instance can be sent to it.
import { RIE_CERT_VALIDITY_S } from '../../model/constants/exports'
import { OpBackupPrepare } from '../../opcodes/backup'
import { checkNodeOnline } from '../instance/checks'
import { noteRealSizes } from '../instance/disks/real-sizes'
import { locksOfInstance, readInstance } from '../instance/view'
import { logicalUnit } from '../logical-unit'
import { domainSecret, newHandshake, newSalt, signCertificate, signName } from '../transfer/domain-secret'

export const backupPrepare = logicalUnit(OpBackupPrepare, {
  ...locksOfInstance([]),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    return { view, secret: await domainSecret(ctx) }
  },
  async run(ctx, op, { view, secret }) {
    if (op.mode === 'local') return null
    // The other cluster makes disks as large as the configuration says.
    await noteRealSizes(ctx, view)
    const { primary } = view
    const salt = newSalt(ctx)
    ctx.log.say(`Generating X509 certificate on ${primary.name}`)
    const what = `Can't create X509 key and certificate on ${primary.name}`
    const [name, certificate] = await ctx.nodes.call(primary, what, 'x509_cert_create', [RIE_CERT_VALIDITY_S])
    return {
      handshake: newHandshake(secret, newSalt(ctx)),
      x509_key_name: signName(secret, name, salt),
      x509_ca: signCertificate(secret, certificate, salt),
    }
  },
})

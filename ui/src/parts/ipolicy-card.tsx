// A card with an instance policy.
import { texts } from '../texts'
import { limitsOf, listText } from './ipolicy'
import { Card, Facts } from './page'
import { Rows } from './rows'

const own = texts.groups.limits

export function PolicyCard({ policy }: { policy: unknown }) {
  const title = texts.groups.ipolicy
  return (
    <Card title={title}>
      <Rows
        label={title}
        head={[own.what, own.least, own.standard, own.most]}
        none={texts.groups.value.none}
        rows={limitsOf(policy).map(({ name, least, standard, most }) => [
          own.spec[name] ?? name,
          least,
          standard,
          most,
        ])}
      />
      <Facts facts={Object.entries(own.policy).map(([name, label]) => [label, listText(policy, name)])} />
    </Card>
  )
}

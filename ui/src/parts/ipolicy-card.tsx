// The policy for the sizes of instances.
import { sizeText } from '../format/size'
import { texts } from '../texts'
import { limitsOf, listText } from './ipolicy'
import { Card, Facts } from './page'
import { Rows } from './rows'

const own = texts.groups.limits
const SIZES = new Set(['memory-size', 'disk-size'])

export function PolicyCard({ policy }: { policy: unknown }) {
  const title = texts.groups.ipolicy
  const shown = (name: string, text: string) =>
    SIZES.has(name)
      ? text
          .split(' | ')
          .map((one) => (one === '–' ? one : sizeText(Number(one))))
          .join(' | ')
      : text
  return (
    <Card title={title}>
      <Rows
        label={title}
        head={[own.what, own.least, own.standard, own.most]}
        none={texts.groups.value.none}
        rows={limitsOf(policy).map(({ name, least, standard, most }) => [
          own.spec[name] ?? name,
          shown(name, least),
          shown(name, standard),
          shown(name, most),
        ])}
      />
      <Facts facts={Object.entries(own.policy).map(([name, label]) => [label, listText(policy, name)])} />
    </Card>
  )
}

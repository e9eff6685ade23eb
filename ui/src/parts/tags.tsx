// The tags of an object, with buttons that add and remove tags.
import { Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { texts } from '../texts'
import { type Action, ActionAt } from './action'
import { gntText } from './gnt'
import { IconAction } from './icon-action'
import { Card, Nothing } from './page'

interface TagsProps {
  /** The kind as in permissions and commands. */
  readonly kind: 'node' | 'group' | 'network' | 'cluster'
  /** `/3/nodes/node1` */
  readonly path: string
  readonly name: string
  readonly tags: readonly string[] | null | undefined
}

type Tagged = TagsProps & { readonly tag: string }

const own = texts.tags

export const ADD_TAGS: Action<TagsProps> = {
  ...{ id: 'tags-add', label: own.add, permission: 'tags.set' },
  beyond: ({ kind }) => (kind === 'cluster' ? 'cluster' : undefined),
  text: ({ name }) => own.addText(name),
  fields: [{ ...{ kind: 'words', name: 'tags', initial: [], label: own.title, required: true }, text: own.rule }],
  complaint: (_object, { tags }) => (Array.isArray(tags) && tags.length > 0 ? undefined : own.missing),
  request: (object, body) => ({
    ...{ method: 'POST', path: `${object.path}/tags`, body },
    gnt: gntText(`${object.kind} add-tags`, {}, [...named(object), ...listOf(body['tags'])]),
  }),
}

export const REMOVE_TAG: Action<Tagged> = {
  ...{ id: 'tags-remove', label: own.remove, permission: 'tags.delete', danger: true },
  beyond: ({ kind }) => (kind === 'cluster' ? 'cluster' : undefined),
  text: ({ name, tag }) => own.removeText(tag, name),
  fields: [],
  request: (object) => ({
    ...{ method: 'DELETE', path: `${object.path}/tags/${encodeURIComponent(object.tag)}`, body: {} },
    gnt: gntText(`${object.kind} remove-tags`, {}, [...named(object), object.tag]),
  }),
}

const named = ({ kind, name }: TagsProps): string[] => (kind === 'cluster' ? [] : [name])
const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

export function TagsCard(props: TagsProps) {
  const tags = props.tags ?? []
  return (
    <Card title={own.title} aside={<ActionAt subject={props} action={ADD_TAGS} />}>
      {tags.length === 0 ? (
        <Nothing text={own.none} />
      ) : (
        <Group gap={8} p="12px 14px">
          {tags.map((tag) => (
            <Group key={tag} gap={2} wrap="nowrap">
              <Link to="/tags" search={{ q: tag }} className="tag-link">
                {tag}
              </Link>
              <IconAction subject={{ ...props, tag }} action={REMOVE_TAG} icon="close" label={own.removeNamed(tag)} />
            </Group>
          ))}
        </Group>
      )}
    </Card>
  )
}

// Signing in: on a separate page, or in a dialog over a page whose session has ended. The page below keeps its content.
import { Button, Modal, Paper, PasswordInput, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { adviceFor as usualAdvice, Problem } from '../../api/problem'
import { signIn } from '../../api/session'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'

export function SignInPage({ why }: { why?: string }) {
  return (
    <main className="sign-in">
      <Paper withBorder p="xl" w="min(360px, 100%)">
        <Title order={1} mb={4}>
          {texts.product}
        </Title>
        <Text c="dimmed" size="sm" mb="md">
          {why ?? texts.signIn.title}
        </Text>
        <SignInForm />
      </Paper>
    </main>
  )
}

export function SignInAgain({ opened, user }: { opened: boolean; user: string }) {
  return (
    // Above other dialogs, which may contain typed input.
    <Modal opened={opened} onClose={() => undefined} withCloseButton={false} title={texts.signIn.ended} zIndex={400}>
      <Text size="sm" mb="md">
        {texts.signIn.endedText}
      </Text>
      <SignInForm initialUser={user} />
    </Modal>
  )
}

/** The error itself says what to check. */
const adviceFor = (error: unknown): string | undefined =>
  error instanceof Problem && error.status === 401 ? '' : usualAdvice(error)

function SignInForm({ initialUser = '' }: { initialUser?: string }) {
  const [how, setHow] = useState('password')
  const [user, setUser] = useState(initialUser)
  const [secret, setSecret] = useState('')
  const entering = useMutation({
    mutationFn: () => signIn(how === 'token' ? { token: secret } : { user, password: secret }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        entering.mutate()
      }}
    >
      <Stack gap="sm">
        <SegmentedControl
          size="xs"
          aria-label={texts.signIn.how}
          value={how}
          onChange={(next) => {
            setHow(next)
            setSecret('')
          }}
          data={[
            { value: 'password', label: texts.signIn.withPassword },
            { value: 'token', label: texts.signIn.withToken },
          ]}
        />
        {how === 'password' && (
          <TextInput
            label={texts.signIn.user}
            autoComplete="username"
            required
            withAsterisk={false}
            value={user}
            onChange={(event) => setUser(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          size="xs"
          label={how === 'password' ? texts.signIn.password : texts.signIn.token}
          autoComplete={how === 'password' ? 'current-password' : 'off'}
          required
          withAsterisk={false}
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        <ProblemBox error={entering.error} title={texts.signIn.failed} advice={adviceFor(entering.error)} />
        <Button type="submit" size="sm" loading={entering.isPending}>
          {texts.signIn.submit}
        </Button>
      </Stack>
    </form>
  )
}

// The console for tests: opens and checks pages, signs in, and runs actions to the end of their jobs.
import type { Locator, Page } from 'playwright-core'
import { findings, takePictures } from './browser'
import type { EmbeddedCluster } from './embedded-cluster'

export class ConsolePage {
  constructor(
    private readonly cluster: Pick<EmbeddedCluster, 'url'>,
    readonly page: Page,
  ) {}

  open(path: string): Promise<unknown> {
    return this.page.goto(`${this.cluster.url}/ui${path}`)
  }

  heading(name: string): Promise<void> {
    return this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  }

  async signIn(user: string, password: string): Promise<void> {
    await this.page.getByLabel('User').fill(user)
    await this.page.getByRole('textbox', { name: 'Password' }).fill(password)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
  }

  async signInWithToken(token: string): Promise<void> {
    await this.page.getByText('Token', { exact: true }).click()
    await this.page.getByRole('textbox', { name: 'Token' }).fill(token)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** Checks the page in its present state. */
  async look(name: string): Promise<void> {
    await takePictures(this.page, name)
    expect([name, await findings(this.page)]).toEqual([name, []])
  }

  /** Runs an action of the open page, and waits until its job has succeeded. */
  async act(label: string, change: (dialog: Locator) => Promise<void> = async () => {}): Promise<void> {
    await this.choose(label)
    const dialog = this.page.getByRole('dialog')
    await change(dialog)
    await dialog.getByRole('button', { name: label, exact: true }).click()
    await this.jobDone(label)
  }

  /** Runs an action that is done without a job, and waits until its dialog closes. */
  async actAtOnce(label: string, change: (dialog: Locator) => Promise<void> = async () => {}): Promise<void> {
    await this.choose(label)
    const dialog = this.page.getByRole('dialog')
    await change(dialog)
    await dialog.getByRole('button', { name: label, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  async jobDone(label: string): Promise<void> {
    const entry = this.page
      .getByRole('region', { name: 'Jobs that you started' })
      .locator('.tray-entries > *', { hasText: label })
    await entry.getByText(/^(Done|Failed)/).waitFor()
    expect(await entry.textContent()).toContain('Done')
    await entry.getByRole('button', { name: 'Hide this job' }).click()
  }

  /**
   * Finds the action's button, or its entry in the menu of further actions. The button may appear later than the menu's, with the rows of a
   * table.
   */
  async choose(label: string): Promise<void> {
    const button = this.page.getByRole('button', { name: label, exact: true })
    const more = this.page.getByRole('button', { name: 'More actions' })
    await button.or(more).first().waitFor()
    if ((await button.count()) > 0) return button.first().click()
    await more.click()
    const item = this.page.getByRole('menuitem', { name: `${label} …`, exact: true })
    await item.or(button).first().waitFor()
    if ((await item.count()) > 0) return item.click()
    await this.page.keyboard.press('Escape')
    await button.first().click()
  }
}

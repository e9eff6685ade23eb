// The theme. Its colours have the contrast that WCAG AA requires, in both colour schemes.
import { createTheme, type CSSVariablesResolver } from '@mantine/core'
import { texts } from '../texts'
import { focusMenu } from './focus-menu'

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.35rem' }, h2: { fontSize: '1rem' } } },
  components: {
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
    Modal: {
      defaultProps: {
        ...{ centered: true, closeButtonProps: { 'aria-label': texts.action.close } },
        // A click beside a dialog would throw away what was typed into it.
        closeOnClickOutside: false,
      },
    },
    // A dialog's header is not the banner of the page, which screen readers list.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    // Mantine's placeholder would take the focus, although it is no item of the menu.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, onOpen: () => focusMenu() } },
    Button: { defaultProps: { size: 'xs' } },
    ...Object.fromEntries(
      [
        'TextInput',
        'Select',
        'MultiSelect',
        'NumberInput',
        'TagsInput',
        'Autocomplete',
        'Textarea',
        'Switch',
        'Checkbox',
        'InputWrapper',
      ].map((name) => [name, { defaultProps: { size: 'xs' } }]),
    ),
  },
})

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6270',
    '--mantine-color-placeholder': '#646c78',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-anchor': '#3b5bdb',
    // Under the pointer, Mantine's own are too dark for the text on them.
    '--mantine-color-indigo-light-hover': '#ccd7ff',
    '--mantine-color-red-light-hover': '#ffe3e3',
    '--line': '#dfe3e8',
    '--surface': '#ffffff',
    '--ground': '#f6f7f9',
    '--hover': '#f1f3f8',
    '--series-0': '#3b5bdb',
    '--series-1': '#c2410c',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b0bb',
    '--mantine-color-placeholder': '#98a0ac',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': '#91a7ff',
    '--line': '#363b44',
    '--surface': '#1d2026',
    '--ground': '#16181d',
    '--hover': '#262a32',
    '--series-0': '#91a7ff',
    '--series-1': '#ffa94d',
    '--mantine-color-body': '#1d2026',
  },
})

// How the console is built, and `npm run ui`: the same pages from their sources, in front of a running cluster.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { openapi } from './openapi.mjs'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/ui/',
  plugins: [openapi()],
  build: {
    // Everything is a file of its own: the policy of the page admits no script or font inside of it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries say which of their modules are for browsers: here all are.
      onwarn: (warning, warn) => (warning.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : warn(warning)),
    },
  },
  server: {
    proxy: { '/3': { target: process.env.GANTRY_URL ?? 'https://127.0.1.254:5080', secure: false, ws: true } },
  },
})

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

/**
 * Tells the service worker which files there are, and the page what it is: `build.json` holds the SHA-256 of every file, and one
 * over all of them, by which two copies of a build can be compared.
 */
function inventory(): Plugin {
  return {
    name: 'inventory',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const hash = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
        const contents = Object.values(bundle).map((file) => {
          const content = file.type === 'chunk' ? file.code : file.source
          return [file.fileName, content] as const
        })
        const listed = contents.filter(([name]) => name !== SERVICE && !name.endsWith('.map'))
        const files = Object.fromEntries(listed.map(([name, content]) => [name, hash(content)]).sort())
        const build = hash(JSON.stringify(files))
        const service = bundle[SERVICE]
        if (service?.type !== 'chunk') throw new Error(`there is no ${SERVICE}`)
        // What only some need is kept when it was needed.
        const first = Object.keys(files).filter((name) => !/pdf/.test(name))
        service.code = `const PRECACHE = ${JSON.stringify({ build, files: first })};\n${service.code}`
        const source = `${JSON.stringify({ version, build, files }, null, 1)}\n`
        this.emitFile({ type: 'asset', fileName: 'build.json', source })
      },
    },
  }
}

const SERVICE = 'service.js'

export default defineConfig({
  base: './',
  build: {
    outDir: '../target/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { page: 'index.html', service: 'src/service/worker.ts' },
      output: {
        entryFileNames: ({ name }) => (name === 'service' ? SERVICE : 'assets/[name]-[hash].js'),
      },
    },
  },
  worker: { format: 'es' },
  optimizeDeps: { exclude: ['portaborg'] },
  plugins: [inventory()],
})

// What this page is: its version, and the hash by which two copies of it can be compared.

import { useEffect, useState } from 'preact/hooks'
import { worksOffline } from '../service/page'
import { texts } from '../texts'

interface Build {
  version: string
  build: string
}

export function About() {
  const t = texts.about
  const [build, setBuild] = useState<Build | null>(null)
  useEffect(() => {
    const load = async () => setBuild((await (await fetch('./build.json')).json()) as Build)
    load().catch(() => {}) // a development server has none
  }, [])
  return (
    <footer class="about">
      {build && (
        <span title={t.hashHint}>
          {t.version(build.version)} · <code title={build.build}>{build.build.slice(0, 12)}</code>
        </span>
      )}
      {worksOffline.value && <span>{t.offline}</span>}
      <span>{t.readOnly}</span>
    </footer>
  )
}

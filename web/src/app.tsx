// The page: a bar at the top, a screen below it, and what is being restored over both.

import { Archives } from './archives/archives'
import { Difference } from './search/difference'
import { Files } from './files/files'
import { Open } from './open/open'
import { Tray } from './restore/tray'
import { Search } from './search/search'
import { Versions } from './search/versions'
import { go, screen, type Screen } from './screens'
import { leave, session, type Session } from './session'
import { texts } from './texts'
import { Icon, type IconName } from './ui/icon'
import { Name } from './ui/name'
import { Button } from './ui/parts'
import { Verify } from './verify/verify'

export function App() {
  const { value: open } = session
  const { value: shown } = screen
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {texts.skip}
      </a>
      {open && <Bar session={open} shown={shown} />}
      <main id="main" class={`screen ${shown.name}`}>
        {open ? <Inside session={open} shown={shown} /> : <Open />}
      </main>
      <Tray />
    </>
  )
}

function Inside({ session, shown }: { session: Session; shown: Screen }) {
  switch (shown.name) {
    case 'files':
      return <Files key={shown.archive.id} session={session} {...shown} />
    case 'search':
      return <Search session={session} archive={shown.archive} />
    case 'versions':
      return <Versions session={session} path={shown.path} from={shown.from} />
    case 'difference':
      return <Difference session={session} before={shown.before} after={shown.after} />
    case 'verify':
      return <Verify session={session} />
    default:
      return <Archives session={session} />
  }
}

function Bar({ session, shown }: { session: Session; shown: Screen }) {
  const t = texts.bar
  return (
    <header class="bar">
      <div class="brand">
        <Icon name="archive" />
        <span class="place">
          <Name text={session.place.label} />
        </span>
      </div>
      <nav class="tabs" aria-label={t.label}>
        <Tab icon="list" name="archives" shown={shown} also={['files', 'versions', 'difference']}>
          {t.archives}
        </Tab>
        <Tab icon="search" name="search" shown={shown}>
          {t.search}
        </Tab>
        <Tab icon="shield" name="verify" shown={shown}>
          {t.verify}
        </Tab>
      </nav>
      <Button kind="quiet" icon="lock" class="leave" label={t.leaveHint} onClick={() => void leave()}>
        {t.leave}
      </Button>
    </header>
  )
}

interface TabProps {
  icon: IconName
  name: 'archives' | 'search' | 'verify'
  shown: Screen
  also?: Screen['name'][]
  children: string
}

function Tab({ icon, name, shown, also = [], children }: TabProps) {
  const isHere = shown.name === name
  const current = isHere ? 'page' : also.includes(shown.name) ? 'true' : undefined
  return (
    <button type="button" class="tab" aria-current={current} onClick={() => isHere || go({ name })}>
      <Icon name={icon} />
      <span>{children}</span>
    </button>
  )
}

function skip(event: MouseEvent) {
  event.preventDefault()
  document.querySelector<HTMLElement>('main h1')?.focus()
}

// Looks for damage in one archive, and says what is known of it.

import { texts } from '../texts'
import { size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Button, Progress } from '../ui/parts'
import type { Marks } from './marks'

export function CheckBar({ marks }: { marks: Marks }) {
  const t = texts.check
  const broken = marks.files.value.size
  const { size: total } = marks.archive
  switch (marks.state.value) {
    case 'checking':
      return (
        <div class="check-bar" role="status">
          <Progress value={total ? marks.read.value / total : undefined} label={t.checking} />
          <span class="faint">{t.read(size(marks.read.value), size(total))}</span>
          <Button kind="quiet" onClick={() => marks.stop()}>
            {texts.stop}
          </Button>
        </div>
      )
    case 'checked':
      return broken > 0 || marks.list.value.length > 0 ? (
        <p class="check-bar bad" role="status">
          <Icon name="warning" />
          <span>{t.damaged(broken)}</span>
        </p>
      ) : (
        <p class="check-bar good" role="status">
          <Icon name="check" />
          <span>{t.whole}</span>
        </p>
      )
    default:
      return (
        <div class="check-bar">
          {broken > 0 && (
            <span class="bad">
              <Icon name="warning" /> {t.damaged(broken)}
            </span>
          )}
          <Button kind="quiet" icon="shield" onClick={() => void marks.check()}>
            {t.check}
          </Button>
          <span class="faint">{t.reads(size(total))}</span>
        </div>
      )
  }
}

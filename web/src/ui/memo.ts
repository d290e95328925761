// Components that are drawn anew only when something that they are given differs.

import { Component, type ComponentChild, type ComponentType } from 'preact'

export function memo<Props extends object>(draw: (props: Props) => ComponentChild): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = Object.keys(next) as (keyof Props)[]
      return names.some((name) => !Object.is(next[name], (this.props as Props)[name]))
    }

    override render(): ComponentChild {
      return draw(this.props as Props)
    }
  }
}

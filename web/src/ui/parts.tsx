// Small parts that screens share.

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts, type Advice } from '../texts'
import { Icon, type IconName } from './icon'

interface ButtonProps {
  children?: ComponentChildren
  icon?: IconName
  /** What it does: the name of a button that has only an icon, a hint for others. */
  label?: string
  kind?: 'plain' | 'primary' | 'quiet' | 'danger'
  disabled?: boolean
  pressed?: boolean
  submit?: boolean
  class?: string
  onClick?: (event: MouseEvent) => void
}

export function Button({ children, icon, label, kind = 'plain', disabled, pressed, submit, class: style = '', onClick }: ButtonProps) {
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${kind} ${children ? '' : 'only-icon'} ${style}`}
      aria-label={children ? undefined : label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  )
}

/** A screen's heading, which gets the focus when the screen comes, so that a screen reader tells where one is. */
export function Heading({ children, quiet = false }: { children: ComponentChildren; quiet?: boolean }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!quiet) ref.current?.focus({ preventScroll: true })
  }, [])
  return (
    <h1 ref={ref} tabIndex={-1}>
      {children}
    </h1>
  )
}

/** That something is going on of which no end is known. */
export function Busy({ children }: { children: ComponentChildren }) {
  return (
    <p class="busy" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>{children}</span>
    </p>
  )
}

/** How far something is, from 0 to 1; undefined if that can't be told. */
export function Progress({ value, label }: { value: number | undefined; label: string }) {
  return <progress class="progress" max={1} aria-label={label} {...(value !== undefined && { value: Math.min(1, value) })} />
}

/** What went wrong, and what can be done. */
export function Refusal({ advice, actions }: { advice: Advice; actions?: ComponentChildren }) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => ref.current?.scrollIntoView?.({ block: 'nearest' }), [advice])
  return (
    <div class="refusal" role="alert" ref={ref}>
      <Icon name="warning" />
      <div>
        <p class="refusal-title">{advice.title}</p>
        {advice.text && <p>{advice.text}</p>}
        {advice.steps && advice.steps.length > 0 && (
          <ul>
            {advice.steps.map((step) => (
              <li>{step}</li>
            ))}
          </ul>
        )}
        {actions && <div class="actions">{actions}</div>}
      </div>
    </div>
  )
}

/** A remark that nothing is wrong with. */
export function Notice({ icon = 'info', children, kind = '' }: { icon?: IconName; children: ComponentChildren; kind?: string }) {
  return (
    <div class={`notice ${kind}`}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  )
}

/** A window over the page; Escape closes it. */
export function Dialog({ title, onClose, children }: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) dialog.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === ref.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <Button icon="close" kind="quiet" label={texts.close} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** What there is when there is nothing. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  )
}

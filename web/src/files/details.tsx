// Everything that an archive says of an item.

import type { Item } from 'portaborg'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { texts } from '../texts'
import { count, exact, exactSize, mode, size } from '../ui/format'
import { Name } from '../ui/name'

export function Details({ item }: { item: Item }) {
  const t = texts.details
  const { mtimeNs, atimeNs, ctimeNs, birthtimeNs, user, uid, group, gid, inode, rdev, flags, target, hlid, acl } = item
  const time = (ns: bigint | undefined) => (ns === undefined || ns === 0n ? undefined : exact(ns))
  const owner = (name: string | undefined, id: number | undefined) =>
    name === undefined ? (id === undefined ? undefined : String(id)) : <Name text={id === undefined ? name : `${name} (${id})`} />
  const xattrs = [...item.xattrs]
  const acls = Object.entries(acl).filter(([, text]) => text)
  return (
    <dl class="details">
      <Fact name={t.path}>
        <Name text={item.path} />
      </Fact>
      <Fact name={t.type}>{texts.types[item.type]}</Fact>
      {item.type === 'file' && <Fact name={t.size}>{exactSize(item.size)}</Fact>}
      {target !== undefined && (
        <Fact name={t.target}>
          <Name text={target} />
        </Fact>
      )}
      <Fact name={t.mtime}>{time(mtimeNs)}</Fact>
      <Fact name={t.ctime}>{time(ctimeNs)}</Fact>
      <Fact name={t.atime}>{time(atimeNs)}</Fact>
      <Fact name={t.birthtime}>{time(birthtimeNs)}</Fact>
      <Fact name={t.mode}>
        {item.mode !== undefined && (
          <code>
            {mode(item.mode)} ({(item.mode & 0o7777).toString(8).padStart(4, '0')})
          </code>
        )}
      </Fact>
      <Fact name={t.user}>{owner(user, uid)}</Fact>
      <Fact name={t.group}>{owner(group, gid)}</Fact>
      <Fact name={t.hlid}>{hlid && <code>{hlid.slice(0, 16)}</code>}</Fact>
      <Fact name={t.inode}>{inode === undefined ? undefined : String(inode)}</Fact>
      <Fact name={t.rdev}>{rdev === undefined ? undefined : `${(rdev >> 8n) & 0xfffn}, ${(rdev & 0xffn) | ((rdev >> 12n) & 0xfff00n)}`}</Fact>
      <Fact name={t.flags}>{flags ? `0x${flags.toString(16)}` : undefined}</Fact>
      {xattrs.length > 0 && (
        <Fact name={t.xattrs} long>
          <dl class="xattrs">
            {xattrs.map(([name, value]) => (
              <>
                <dt>
                  <Name text={name} />
                </dt>
                <dd>
                  <Value bytes={value} />
                </dd>
              </>
            ))}
          </dl>
        </Fact>
      )}
      {acls.map(([name, text]) => (
        <Fact name={t.acls[name as keyof typeof t.acls]} long>
          <pre tabIndex={0}>{text}</pre>
        </Fact>
      ))}
      <Chunks item={item} />
    </dl>
  )
}

/** A term with what is known of it; nothing if nothing is. */
function Fact({ name, children, long = false }: { name: string; children?: ComponentChildren; long?: boolean }) {
  if (children === undefined || children === null || children === false || children === '') return null
  return (
    <div class={long ? 'long' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A value as text, if it is some, or as hexadecimal digits. */
function Value({ bytes }: { bytes: Uint8Array }) {
  if (bytes.length === 0) return <span class="faint">{texts.details.noValue}</span>
  const hex = (some: Uint8Array) => [...some].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
  const shown = bytes.subarray(0, LONGEST_VALUE)
  const more = bytes.length > LONGEST_VALUE ? ' …' : ''
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(shown)
    if (!/[\u0000-\u0008\u000e-\u001f]/.test(text)) return <Name text={text + more} />
  } catch {
    // no text
  }
  return <code>{hex(shown) + more}</code>
}

const LONGEST_VALUE = 512

function Chunks({ item }: { item: Item }) {
  const t = texts.details
  const [isOpen, setOpen] = useState(false)
  const { chunks } = item
  if (!chunks) return null
  return (
    <Fact name={t.chunks} long={isOpen}>
      {count(chunks.length)}{' '}
      {chunks.length > 0 && (
        <button type="button" class="more inline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t.hide : t.show}
        </button>
      )}
      {isOpen && (
        <ol class="chunks" tabIndex={0}>
          {chunks.slice(0, MOST_CHUNKS).map(({ id, size: bytes }) => (
            <li>
              <code>{id}</code> <span class="faint">{size(bytes)}</span>
            </li>
          ))}
          {chunks.length > MOST_CHUNKS && <li>{t.moreChunks(chunks.length - MOST_CHUNKS)}</li>}
        </ol>
      )}
    </Fact>
  )
}

const MOST_CHUNKS = 200
